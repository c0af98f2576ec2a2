#include "bindings/java/jni/vm.hpp"

#include <atomic>

#if defined(_WIN32)
#define HURRAY_JNI_EXPORT __declspec(dllexport)
#else
#define HURRAY_JNI_EXPORT __attribute__((visibility("default")))
#endif

namespace hurray_jni {
namespace {

// Null before JNI_OnLoad, and again from the moment when the virtual machine is known to end.
std::atomic<JavaVM*> machine{nullptr};
jclass releases_class = nullptr;
jmethodID releases_run = nullptr;

// At the end of the process the destructors of libraries run on a thread that no virtual machine serves any more, and
// what other libraries release from then on must not look for one.
struct EndOfProcess {
    ~EndOfProcess() { machine.store(nullptr); }
} end_of_process;

bool find_upcall(JNIEnv* env) noexcept {
    jclass found = env->FindClass("dev/hurray/Releases");
    if (found == nullptr) return false;
    releases_run = env->GetStaticMethodID(found, "run", "(Ljava/lang/Object;)V");
    if (releases_run == nullptr) return false;
    releases_class = static_cast<jclass>(env->NewGlobalRef(found));
    env->DeleteLocalRef(found);
    return releases_class != nullptr;
}

}  // namespace

AttachedEnv::AttachedEnv() noexcept {
    JavaVM* vm = machine.load();
    if (vm == nullptr) return;
    void* env = nullptr;
    const jint state = vm->GetEnv(&env, JNI_VERSION_10);
    if (state == JNI_OK) {
        env_ = static_cast<JNIEnv*>(env);
    } else if (state == JNI_EDETACHED) {
        // A daemon, so that the end of the virtual machine does not wait for a thread that it does not own. After its
        // end attaching fails.
        JavaVMAttachArgs arguments{JNI_VERSION_10, const_cast<char*>("hurray-release"), nullptr};
        attached_ = vm->AttachCurrentThreadAsDaemon(&env, &arguments) == JNI_OK;
        if (attached_) env_ = static_cast<JNIEnv*>(env);
    }
}

AttachedEnv::~AttachedEnv() {
    if (!attached_) return;
    if (JavaVM* vm = machine.load()) vm->DetachCurrentThread();
}

void run_release(JNIEnv* env, jobject attachment) noexcept {
    jthrowable pending = env->ExceptionOccurred();
    if (pending != nullptr) env->ExceptionClear();
    env->CallStaticVoidMethod(releases_class, releases_run, attachment);
    // Releases.run catches what a release throws; this is what it could not catch, such as a stack overflow.
    if (env->ExceptionCheck()) env->ExceptionClear();
    if (pending != nullptr) {
        env->Throw(pending);
        env->DeleteLocalRef(pending);
    }
}

void throw_out_of_memory(JNIEnv* env, const char* what) noexcept {
    if (env->ExceptionCheck()) return;
    jclass error = env->FindClass("java/lang/OutOfMemoryError");
    if (error == nullptr) return;
    env->ThrowNew(error, what);
    env->DeleteLocalRef(error);
}

}  // namespace hurray_jni

extern "C" HURRAY_JNI_EXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
    void* env = nullptr;
    if (vm->GetEnv(&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
    if (!hurray_jni::find_upcall(static_cast<JNIEnv*>(env))) return JNI_ERR;
    hurray_jni::machine.store(vm);
    return JNI_VERSION_10;
}

extern "C" HURRAY_JNI_EXPORT void JNICALL JNI_OnUnload(JavaVM*, void*) { hurray_jni::machine.store(nullptr); }
