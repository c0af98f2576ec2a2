// Ends handles where no virtual machine is: on a thread that it never saw, and in a fork of its process.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

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

// The copy of the library that the binding has loaded already, and no other.
void* loaded(JNIEnv* env, jstring path) {
    const char* name = env->GetStringUTFChars(path, nullptr);
    if (name == nullptr) return nullptr;
    void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    env->ReleaseStringUTFChars(path, name);
    return library;
}

struct Destroyers {
    explicit Destroyers(JNIEnv* env, jstring path) {
        void* library = loaded(env, path);
        if (library == nullptr) return;
        list = symbol<decltype(list)>(library, "hurray_buffer_list_destroy");
        context = symbol<decltype(context)>(library, "hurray_tensor_context_destroy");
    }

    [[nodiscard]] bool complete() const { return list != nullptr && context != nullptr; }

    [[nodiscard]] bool end(jlong list_word, jlong context_word) const {
        auto* owned_list = reinterpret_cast<HurrayBufferList*>(list_word);
        auto* owned_context = reinterpret_cast<HurrayTensorContext*>(context_word);
        return list(&owned_list) == HURRAY_OK && context(&owned_context) == HURRAY_OK;
    }

    decltype(&hurray_buffer_list_destroy) list = nullptr;
    decltype(&hurray_tensor_context_destroy) context = nullptr;
};

}  // namespace

extern "C" JNIEXPORT jboolean JNICALL Java_dev_hurray_NativeThreads_destroyPair(JNIEnv* env, jclass, jstring path, jlong list,
                                                                                jlong context) {
    const Destroyers destroyers(env, path);
    if (!destroyers.complete()) return JNI_FALSE;
    bool destroyed = false;
    std::thread([&] { destroyed = destroyers.end(list, context); }).join();
    return destroyed ? JNI_TRUE : JNI_FALSE;
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeThreads_destroyPairInFork(JNIEnv* env, jclass, jstring path, jlong list,
                                                                                  jlong context) {
    const Destroyers destroyers(env, path);
    if (!destroyers.complete()) return 2;
    const pid_t child = fork();
    if (child == 0) {
        // A callback would go to a virtual machine whose threads are gone, and hang there.
        alarm(20);
        _exit(destroyers.end(list, context) ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_NativeThreads_request(JNIEnv* env, jclass, jstring path, jlong producer,
                                                                        jboolean release) {
    void* library = loaded(env, path);
    if (library == nullptr) return HURRAY_ERR_NOT_FOUND;
    const auto request = symbol<decltype(&hurray_producer_request)>(library, "hurray_producer_request");
    const auto release_producer = symbol<decltype(&hurray_producer_release)>(library, "hurray_producer_release");
    const auto destroy = symbol<decltype(&hurray_tensor_destroy)>(library, "hurray_tensor_destroy");
    if (request == nullptr || release_producer == nullptr || destroy == nullptr) return HURRAY_ERR_NOT_FOUND;
    HurrayStatus status = HURRAY_OK;
    std::thread([&] {
        auto* asked = reinterpret_cast<HurrayProducer*>(producer);
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        status = request(asked, nullptr, 0, &tensor, &error);
        if (status == HURRAY_OK) status = destroy(&tensor);
        if (release && status == HURRAY_OK) status = release_producer(asked, &error);
    }).join();
    return status;
}
