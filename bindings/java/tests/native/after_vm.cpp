// A native program with a Java virtual machine inside: takes tensors over memory of Java, an event and a producer, ends the
// virtual machine, and only then all of them. Callbacks can do nothing any more; they must not look for what is gone.
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

// Addresses that a method of the class Pairs made.
template <typename... Arguments>
bool make(JNIEnv* env, std::vector<jlong>& addresses, const char* name, const char* signature, Arguments... arguments) {
    jclass type = env->FindClass("dev/hurray/Pairs");
    if (type == nullptr) return false;
    jmethodID method = env->GetStaticMethodID(type, name, signature);
    if (method == nullptr) return false;
    auto array = static_cast<jlongArray>(env->CallStaticObjectMethod(type, method, arguments...));
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
    std::vector<jlong> event_and_producer(3);
    auto* java = static_cast<JNIEnv*>(env);
    if (!make(java, addresses, "make", "(I)[J", static_cast<jint>(addresses.size())) ||
        !make(java, event_and_producer, "makeEventAndProducer", "()[J")) {
        java->ExceptionDescribe();
        return 1;
    }
    void* library = dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) {
        std::fprintf(stderr, "after_vm: the binding did not load %s\n", argv[2]);
        return 1;
    }
    const auto destroy_list = symbol<decltype(&hurray_buffer_list_destroy)>(library, "hurray_buffer_list_destroy");
    const auto destroy_context = symbol<decltype(&hurray_tensor_context_destroy)>(library, "hurray_tensor_context_destroy");
    const auto request = symbol<decltype(&hurray_producer_request)>(library, "hurray_producer_request");
    const auto release = symbol<decltype(&hurray_producer_release)>(library, "hurray_producer_release");
    if (destroy_list == nullptr || destroy_context == nullptr || request == nullptr || release == nullptr) return 1;
    if (vm->DestroyJavaVM() != JNI_OK) return 1;

    bool good = true;
    const auto end = [&](jlong list_word, jlong context_word) {
        auto* list = reinterpret_cast<HurrayBufferList*>(list_word);
        auto* context = reinterpret_cast<HurrayTensorContext*>(context_word);
        good = destroy_list(&list) == HURRAY_OK && destroy_context(&context) == HURRAY_OK && good;
    };
    end(addresses[0], addresses[1]);
    std::thread([&] { end(addresses[2], addresses[3]); }).join();
    end(event_and_producer[0], event_and_producer[1]);
    // Its struct lies in memory that the virtual machine has not freed.
    auto* producer = reinterpret_cast<HurrayProducer*>(event_and_producer[2]);
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    good = request(producer, nullptr, 0, &tensor, &error) == HURRAY_ERR_UNSUPPORTED && good;
    std::puts(error.message);
    good = release(producer, nullptr) == HURRAY_OK && release(producer, nullptr) == HURRAY_OK && good;
    std::puts(good ? "survived" : "failed");
    return good ? 0 : 1;
}
