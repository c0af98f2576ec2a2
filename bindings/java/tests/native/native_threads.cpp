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

// The functions of the copy that the binding has loaded already, and of no other.
struct Destroyers {
    explicit Destroyers(JNIEnv* env, jstring path) {
        const char* name = env->GetStringUTFChars(path, nullptr);
        if (name == nullptr) return;
        void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
        env->ReleaseStringUTFChars(path, name);
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
