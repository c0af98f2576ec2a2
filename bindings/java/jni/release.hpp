// Java objects that the library keeps until it releases them.
#pragma once

#include <jni.h>

namespace hurray_jni {

/// Makes a release context that keeps `attachment` reachable. Null, with an OutOfMemoryError pending, on failure.
void* keep_attachment(JNIEnv* env, jobject attachment) noexcept;

/// Forgets a context that was not handed to the library after all: nothing is released.
void forget_attachment(JNIEnv* env, void* context) noexcept;

/// HurrayReleaseCallback: drops the reference and runs what the user wants to run. Any thread. After the end of the
/// virtual machine there is nothing that could be done, and nothing is.
void release_memory(void* memory, void* context) noexcept;

/// HurrayOwnerReleaseFn: the same for the owner of a tensor context.
void release_owner(void* owner) noexcept;

/// HurrayEventReleaseFn: the same for an event.
void release_event(void* event, void* context) noexcept;

}  // namespace hurray_jni
