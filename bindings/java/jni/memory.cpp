// Memory of the library as direct ByteBuffers, and the other way round.
#include <algorithm>

#include "bindings/java/jni/memory.hpp"
#include "bindings/java/jni/scratch.hpp"
#include "bindings/java/jni/vm.hpp"
#include "dev_hurray_NativeMemory.h"

namespace hurray_jni {

jobject share_as_buffer(JNIEnv* env, const HurrayBuffer* buffer, void* address, std::uint64_t length, const Scratch& scratch) {
    HurrayBuffer* share = nullptr;
    if (hurray_buffer_share(buffer, &share, scratch.error()) != HURRAY_OK) return nullptr;
    // The virtual machine cuts a longer capacity to an int without a word.
    const std::uint64_t most = INT32_MAX;
    jobject result = env->NewDirectByteBuffer(address, static_cast<jlong>(std::min(length, most)));
    if (result == nullptr) {
        hurray_buffer_destroy(share);
        throw_out_of_memory(env, "a ByteBuffer");
        return nullptr;
    }
    scratch.set_share(share);
    return result;
}

}  // namespace hurray_jni

using namespace hurray_jni;

extern "C" JNIEXPORT jobject JNICALL Java_dev_hurray_NativeMemory_window(JNIEnv* env, jclass, jlong buffer, jlong address,
                                                                         jlong length, jobject scratch) {
    return share_as_buffer(env, handle<HurrayBuffer>(buffer), handle<void>(address), static_cast<std::uint64_t>(length),
                           Scratch(env, scratch));
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeMemory_address(JNIEnv* env, jclass, jobject buffer) {
    return word(env->GetDirectBufferAddress(buffer));
}

extern "C" JNIEXPORT jbyteArray JNICALL Java_dev_hurray_NativeMemory_copy(JNIEnv* env, jclass, jlong address, jint length) {
    jbyteArray result = env->NewByteArray(length);
    if (result != nullptr && length > 0) env->SetByteArrayRegion(result, 0, length, handle<const jbyte>(address));
    return result;
}

extern "C" JNIEXPORT jbyteArray JNICALL Java_dev_hurray_NativeMemory_text(JNIEnv* env, jclass, jlong address) {
    const char* text = handle<const char>(address);
    const auto length = static_cast<jsize>(text == nullptr ? 0 : std::strlen(text));
    jbyteArray result = env->NewByteArray(length);
    if (result != nullptr && length > 0) env->SetByteArrayRegion(result, 0, length, reinterpret_cast<const jbyte*>(text));
    return result;
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeMemory_number(JNIEnv* env, jclass, jobject file_descriptor) {
    jclass type = env->GetObjectClass(file_descriptor);
    jfieldID field = env->GetFieldID(type, "fd", "I");
    env->DeleteLocalRef(type);
    return field == nullptr ? -1 : env->GetIntField(file_descriptor, field);
}
