// Ends handles on a thread that no virtual machine ever saw.
#include <dlfcn.h>

#include <cstring>
#include <thread>

#include "dev_hurray_NativeThreads.h"
#include "hurray.h"

namespace {

template <typename Function>
Function symbol(void* library, const char* name) {
    void* found = dlsym(library, name);
    Function function = nullptr;
    std::memcpy(&function, &found, sizeof found);
    return function;
}

}  // namespace

extern "C" JNIEXPORT jboolean JNICALL Java_dev_hurray_NativeThreads_destroyPair(JNIEnv* env, jclass, jstring path, jlong list, jlong context) {
    const char* name = env->GetStringUTFChars(path, nullptr);
    if (name == nullptr) return JNI_FALSE;
    // The copy that the binding has loaded already, and no other.
    void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    env->ReleaseStringUTFChars(path, name);
    if (library == nullptr) return JNI_FALSE;
    const auto destroy_list = symbol<decltype(&hurray_buffer_list_destroy)>(library, "hurray_buffer_list_destroy");
    const auto destroy_context = symbol<decltype(&hurray_tensor_context_destroy)>(library, "hurray_tensor_context_destroy");
    if (destroy_list == nullptr || destroy_context == nullptr) return JNI_FALSE;
    bool destroyed = false;
    std::thread([&] {
        auto* owned_list = reinterpret_cast<HurrayBufferList*>(list);
        auto* owned_context = reinterpret_cast<HurrayTensorContext*>(context);
        destroyed = destroy_list(&owned_list) == HURRAY_OK && destroy_context(&owned_context) == HURRAY_OK;
    }).join();
    return destroyed ? JNI_TRUE : JNI_FALSE;
}
