// Producers: those of Java as HurrayProducer structs, and requests to whoever is behind one.
#include <algorithm>
#include <cstdio>

#include "bindings/java/jni/release.hpp"
#include "bindings/java/jni/scratch.hpp"
#include "bindings/java/jni/vm.hpp"
#include "dev_hurray_NativeProducer.h"

using namespace hurray_jni;

namespace {

HurrayStatus report(HurrayError* error, HurrayStatus status, const char* message) noexcept {
    if (error != nullptr) {
        error->code = status;
        std::snprintf(error->message, sizeof error->message, "%s", message);
    }
    return status;
}

HurrayStatus report(JNIEnv* env, HurrayError* error, HurrayStatus status, jbyteArray message) noexcept {
    char text[sizeof HurrayError::message] = {};
    const jsize length = std::min<jsize>(env->GetArrayLength(message), sizeof text - 1);
    env->GetByteArrayRegion(message, 0, length, reinterpret_cast<jbyte*>(text));
    return report(error, status, text);
}

// What Java made, or why it did not. `result` is list, context and status.
HurrayStatus take(JNIEnv* env, jobject attachment, void* stream, std::uint8_t device_tag, HurrayBufferList** out_list,
                  HurrayTensorContext** out_context, HurrayError* error) noexcept {
    jlongArray result = env->NewLongArray(3);
    if (result == nullptr) return report(error, HURRAY_ERR_OUT_OF_MEMORY, "producer: no memory for a call of Java");
    bool failed = false;
    jbyteArray message = run_export(env, attachment, word(stream), device_tag, result, &failed);
    if (failed) return report(error, HURRAY_ERR_INTERNAL_PANIC, "producer: what it threw could not be caught in Java");
    jlong made[3] = {};
    env->GetLongArrayRegion(result, 0, 3, made);
    if (message != nullptr) {
        const auto status = static_cast<HurrayStatus>(made[2]);
        return report(env, error, status == HURRAY_OK ? HURRAY_ERR_INTERNAL_PANIC : status, message);
    }
    *out_list = handle<HurrayBufferList>(made[0]);
    *out_context = handle<HurrayTensorContext>(made[1]);
    return HURRAY_OK;
}

// HurrayExportTensorFn
HurrayStatus export_tensor(void* context, void* stream, std::uint8_t device_tag, HurrayBufferList** out_list,
                           HurrayTensorContext** out_context, HurrayError* error) noexcept {
    const AttachedEnv attached;
    JNIEnv* env = attached.env();
    if (env == nullptr) return report(error, HURRAY_ERR_UNSUPPORTED, "producer: its virtual machine of Java has ended");
    // The consumer may be Java that is in the middle of a call: what was pending there stays, and local references go.
    jthrowable pending = env->ExceptionOccurred();
    if (pending != nullptr) env->ExceptionClear();
    HurrayStatus status = HURRAY_OK;
    if (env->PushLocalFrame(8) != 0) {
        env->ExceptionClear();
        status = report(error, HURRAY_ERR_OUT_OF_MEMORY, "producer: no memory for a call of Java");
    } else {
        status = take(env, static_cast<jobject>(context), stream, device_tag, out_list, out_context, error);
        if (env->ExceptionCheck()) env->ExceptionClear();
        env->PopLocalFrame(nullptr);
    }
    if (pending != nullptr) {
        env->Throw(pending);
        env->DeleteLocalRef(pending);
    }
    return status;
}

}  // namespace

extern "C" JNIEXPORT void JNICALL Java_dev_hurray_NativeProducer_fill(JNIEnv* env, jclass, jobject memory, jobject attachment) {
    auto* producer = static_cast<HurrayProducer*>(env->GetDirectBufferAddress(memory));
    void* context = keep_attachment(env, attachment);
    if (context == nullptr) return;
    *producer = HurrayProducer{};
    producer->struct_size = sizeof *producer;
    producer->abi_version = HURRAY_C_ABI_VERSION;
    producer->context = context;
    producer->export_tensor = export_tensor;
    producer->release = release_owner;
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeProducer_request(JNIEnv* env, jclass, jlong queue, jlong producer, jlong stream,
                                                                          jint device_tag, jobject scratch_buffer) {
    drain(queue);
    const Scratch scratch(env, scratch_buffer);
    HurrayTensor* tensor = nullptr;
    hurray_producer_request(handle<HurrayProducer>(producer), handle<void>(stream), static_cast<std::uint8_t>(device_tag), &tensor,
                            scratch.error());
    return word(tensor);
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeProducer_release(JNIEnv*, jclass, jlong producer) {
    return hurray_producer_release(handle<HurrayProducer>(producer), nullptr);
}
