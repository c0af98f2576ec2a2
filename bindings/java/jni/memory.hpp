// A direct ByteBuffer over memory of the library.
#pragma once

#include <jni.h>

#include <cstdint>

#include "bindings/java/jni/scratch.hpp"

namespace hurray_jni {

/// Makes a share of `buffer` and a ByteBuffer over up to 2^31-1 of `length` bytes at `address`, which lie in it. Java
/// frees the share, which the scratch names, when nobody can reach the ByteBuffer. Null on failure: the scratch's error
/// or a pending OutOfMemoryError says why.
jobject share_as_buffer(JNIEnv* env, const HurrayBuffer* buffer, void* address, std::uint64_t length, const Scratch& scratch);

}  // namespace hurray_jni
