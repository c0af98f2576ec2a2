// The Java virtual machine: how native code that it did not call gets at it, and when it must not.
#pragma once

#include <jni.h>

#include <cstdint>

#include "hurray.h"

namespace hurray_jni {

/// The JNI environment of the calling thread; attaches the thread for as long as the object lives when it is not.
/// There is none (env() is null) before the binding was loaded and after the end of the virtual machine.
class AttachedEnv {
public:
    AttachedEnv() noexcept;
    ~AttachedEnv();
    AttachedEnv(const AttachedEnv&) = delete;
    AttachedEnv& operator=(const AttachedEnv&) = delete;

    [[nodiscard]] JNIEnv* env() const noexcept { return env_; }

private:
    JNIEnv* env_ = nullptr;
    bool attached_ = false;
};

/// Runs dev.hurray.Releases.run(attachment). A pending exception of the caller is kept; one of the callee cannot be.
void run_release(JNIEnv* env, jobject attachment) noexcept;

/// Runs dev.hurray.Producer.export: see there. Returns null when no failure was said, which is a failure all the same
/// when `failed` is set: a Throwable that Java could not catch, or no memory for the call.
jbyteArray run_export(JNIEnv* env, jobject attachment, jlong stream, jint device_tag, jlongArray result, bool* failed) noexcept;

/// Runs dev.hurray.Diagnostics.report(code, message) under the same rules as run_release.
void run_report(JNIEnv* env, jint code, const char* message) noexcept;

/// Runs dev.hurray.Callbacks.read(target, into): how many bytes, or a status. The memory is good during the call only.
jint run_read(JNIEnv* env, jobject target, void* into, jlong capacity) noexcept;

/// Runs dev.hurray.Callbacks.write(target, bytes): a status.
HurrayStatus run_write(JNIEnv* env, jobject target, void* bytes, jlong length) noexcept;

/// Runs dev.hurray.Callbacks.make(target, tensor): a status.
HurrayStatus run_make(JNIEnv* env, jobject target, jlong* tensor) noexcept;

/// Runs dev.hurray.Callbacks.progress(target, done, total): whether the work goes on.
bool run_progress(JNIEnv* env, jobject target, std::uint64_t done, std::uint64_t total) noexcept;

/// Throws OutOfMemoryError, for native allocations.
void throw_out_of_memory(JNIEnv* env, const char* what) noexcept;

}  // namespace hurray_jni
