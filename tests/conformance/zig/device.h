/* What the tests of handoff and exchange see of the devices and libraries that are not there. */
#include "../device/fake_device.h"
#include "../device/stranger.h"
