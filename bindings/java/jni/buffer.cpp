// Buffers over memory of Java, and tensor contexts with an owner in Java.
#include "bindings/java/jni/release.hpp"
#include "bindings/java/jni/scratch.hpp"
#include "dev_hurray_NativeBuffer.h"

using namespace hurray_jni;

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeBuffer_wrap(JNIEnv* env, jclass, jlong queue, jlong address, jlong size,
                                                                     jboolean read_only, jobject attachment, jlongArray byte_offset,
                                                                     jobject scratch_buffer) {
    drain(queue);
    const Scratch scratch(env, scratch_buffer);
    void* context = keep_attachment(env, attachment);
    if (context == nullptr) return 0;
    HurrayBuffer* buffer = nullptr;
    std::uint64_t offset = 0;
    if (hurray_buffer_from_host(handle<void>(address), static_cast<std::uint64_t>(size), read_only ? 1 : 0, release_memory, context,
                                &buffer, &offset, scratch.error()) != HURRAY_OK) {
        forget_attachment(env, context);
        return 0;
    }
    // Cannot fail: the buffer was lent just now and nobody shares it.
    hurray_buffer_set_release_queue(buffer, handle<HurrayReleaseQueue>(queue), scratch.error());
    const auto difference = static_cast<jlong>(offset);
    env->SetLongArrayRegion(byte_offset, 0, 1, &difference);
    return word(buffer);
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeBuffer_newContext(JNIEnv* env, jclass, jlong queue, jint version,
                                                                           jobject descriptor, jint length, jobject attachment,
                                                                           jobject scratch_buffer) {
    drain(queue);
    const Scratch scratch(env, scratch_buffer);
    const auto* bytes = static_cast<const std::uint8_t*>(env->GetDirectBufferAddress(descriptor));
    void* owner = nullptr;
    if (attachment != nullptr) {
        owner = keep_attachment(env, attachment);
        if (owner == nullptr) return 0;
    }
    HurrayTensorContext* context = nullptr;
    const HurrayStatus status =
        hurray_tensor_context_new(static_cast<std::uint32_t>(version), bytes, static_cast<std::uint64_t>(length), owner,
                                  owner == nullptr ? nullptr : release_owner, &context);
    if (status != HURRAY_OK) {
        if (owner != nullptr) forget_attachment(env, owner);
        scratch.fail(status, status == HURRAY_ERR_VERSION_MISMATCH ? "abi_version: expected 1 or more, got 0" : "");
        return 0;
    }
    hurray_tensor_context_set_release_queue(context, handle<HurrayReleaseQueue>(queue), scratch.error());
    return word(context);
}
