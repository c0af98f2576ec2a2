// hurray.hpp: the Hurray tensor format in C++17, over hurray.h alone.
//
// Handles are classes that move and end what they hold exactly once. A call that can fail gives a Result: the value, or
// an Error with code and message; nothing here throws (std::bad_alloc of a std::vector aside), and what a callback of
// yours throws never gets into the library. Works without exceptions and without RTTI. Threads: a handle is used by one
// thread at a time; shares of it may be used by others. Link with libhurray.so.1.
#ifndef HURRAY_HPP_
#define HURRAY_HPP_

#include "hurray/buffer.hpp"         // IWYU pragma: export
#include "hurray/channel.hpp"        // IWYU pragma: export
#include "hurray/composite.hpp"      // IWYU pragma: export
#include "hurray/descriptor.hpp"     // IWYU pragma: export
#include "hurray/dlpack.hpp"         // IWYU pragma: export
#include "hurray/error.hpp"          // IWYU pragma: export
#include "hurray/file.hpp"           // IWYU pragma: export
#include "hurray/handoff.hpp"        // IWYU pragma: export
#include "hurray/library.hpp"        // IWYU pragma: export
#include "hurray/names.hpp"          // IWYU pragma: export
#include "hurray/producer.hpp"       // IWYU pragma: export
#include "hurray/release_queue.hpp"  // IWYU pragma: export
#include "hurray/stream.hpp"         // IWYU pragma: export
#include "hurray/tensor.hpp"         // IWYU pragma: export
#include "hurray/view.hpp"           // IWYU pragma: export
#include "hurray/work.hpp"           // IWYU pragma: export

#endif  // HURRAY_HPP_
