// Callbacks of a careless C++ program: they throw, which the library must not let any further. Each counts its calls.
#include <cstdint>
#include <stdexcept>

#include "hurray.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

[[noreturn]] void fail(void* count) {
    ++*static_cast<std::uint32_t*>(count);
    throw std::runtime_error("a careless callback");
}

}  // namespace

EXPORTED void throwing_release(void*, void* count) { fail(count); }
EXPORTED void throwing_event_release(void*, void* count) { fail(count); }
EXPORTED HurrayStatus throwing_export_tensor(void* count, void*, std::uint8_t, HurrayBufferList**, HurrayTensorContext**,
                                             HurrayError*) {
    fail(count);
}
