// Loads the shared library and asks for its version before anything else of it.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "bindings/java/jni/forward.h"
#include "dev_hurray_NativeLoader.h"

namespace {

void* library = nullptr;

void* find(const char* name) { return dlsym(library, name); }

jbyteArray bytes_of(JNIEnv* env, const char* text) {
    const auto length = static_cast<jsize>(std::strlen(text));
    jbyteArray result = env->NewByteArray(length);
    if (result != nullptr) env->SetByteArrayRegion(result, 0, length, reinterpret_cast<const jbyte*>(text));
    return result;
}

template <typename Function>
Function symbol(const char* name) {
    void* found = find(name);
    Function function = nullptr;
    static_assert(sizeof function == sizeof found);
    std::memcpy(&function, &found, sizeof found);
    return function;
}

}  // namespace

extern "C" JNIEXPORT jboolean JNICALL Java_dev_hurray_NativeLoader_embedded(JNIEnv*, jclass) { return JNI_FALSE; }

extern "C" JNIEXPORT jbyteArray JNICALL Java_dev_hurray_NativeLoader_open(JNIEnv* env, jclass, jobject path) {
    const auto* name = static_cast<const char*>(env->GetDirectBufferAddress(path));
    // Never closed: handles of the library may outlive every class loader.
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? bytes_of(env, dlerror()) : nullptr;
}

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeLoader_version(JNIEnv*, jclass) {
    const auto function = symbol<std::uint32_t (*)()>("hurray_c_abi_version");
    return function == nullptr ? -1 : static_cast<jlong>(function());
}

extern "C" JNIEXPORT jboolean JNICALL Java_dev_hurray_NativeLoader_supports(JNIEnv*, jclass, jint version) {
    const auto function = symbol<std::uint8_t (*)(std::uint32_t)>("hurray_c_abi_supports");
    return function != nullptr && function(static_cast<std::uint32_t>(version)) == 1 ? JNI_TRUE : JNI_FALSE;
}

extern "C" JNIEXPORT jbyteArray JNICALL Java_dev_hurray_NativeLoader_bind(JNIEnv* env, jclass) {
    const char* missing = hurray_jni_bind(find);
    return missing == nullptr ? nullptr : bytes_of(env, missing);
}
