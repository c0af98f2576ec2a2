// A native program with a Java virtual machine inside: takes a tensor over memory of Java, ends the virtual machine, and
// only then the tensor. The release can do nothing any more; it must not look for what is gone.
//
// Usage: after_vm LIBJVM LIBHURRAY VM_OPTION...
#include <dlfcn.h>
#include <jni.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "hurray.h"

namespace {

template <typename Function>
Function symbol(void* library, const char* name) {
    void* found = dlsym(library, name);
    Function function = nullptr;
    std::memcpy(&function, &found, sizeof found);
    if (function == nullptr) std::fprintf(stderr, "after_vm: no symbol %s\n", name);
    return function;
}

bool make_pairs(JNIEnv* env, std::vector<jlong>& addresses) {
    jclass type = env->FindClass("dev/hurray/Pairs");
    if (type == nullptr) return false;
    jmethodID make = env->GetStaticMethodID(type, "make", "(I)[J");
    if (make == nullptr) return false;
    auto array = static_cast<jlongArray>(env->CallStaticObjectMethod(type, make, static_cast<jint>(addresses.size())));
    if (env->ExceptionCheck() || array == nullptr) return false;
    env->GetLongArrayRegion(array, 0, static_cast<jsize>(addresses.size()), addresses.data());
    return !env->ExceptionCheck();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    void* jvm = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (jvm == nullptr) {
        std::fprintf(stderr, "after_vm: %s\n", dlerror());
        return 1;
    }
    std::vector<JavaVMOption> options;
    for (int i = 3; i < argc; ++i) options.push_back({argv[i], nullptr});
    JavaVMInitArgs arguments{JNI_VERSION_10, static_cast<jint>(options.size()), options.data(), JNI_FALSE};
    const auto create = symbol<jint(JNICALL*)(JavaVM**, void**, void*)>(jvm, "JNI_CreateJavaVM");
    JavaVM* vm = nullptr;
    void* env = nullptr;
    if (create == nullptr || create(&vm, &env, &arguments) != JNI_OK) return 1;

    std::vector<jlong> addresses(4);
    if (!make_pairs(static_cast<JNIEnv*>(env), addresses)) {
        static_cast<JNIEnv*>(env)->ExceptionDescribe();
        return 1;
    }
    void* library = dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) {
        std::fprintf(stderr, "after_vm: the binding did not load %s\n", argv[2]);
        return 1;
    }
    const auto destroy_list = symbol<decltype(&hurray_buffer_list_destroy)>(library, "hurray_buffer_list_destroy");
    const auto destroy_context = symbol<decltype(&hurray_tensor_context_destroy)>(library, "hurray_tensor_context_destroy");
    if (destroy_list == nullptr || destroy_context == nullptr || vm->DestroyJavaVM() != JNI_OK) return 1;

    bool good = true;
    const auto end = [&](std::size_t at) {
        auto* list = reinterpret_cast<HurrayBufferList*>(addresses[at]);
        auto* context = reinterpret_cast<HurrayTensorContext*>(addresses[at + 1]);
        good = destroy_list(&list) == HURRAY_OK && destroy_context(&context) == HURRAY_OK && good;
    };
    end(0);
    std::thread([&] { end(2); }).join();
    std::puts(good ? "survived" : "failed");
    return good ? 0 : 1;
}
