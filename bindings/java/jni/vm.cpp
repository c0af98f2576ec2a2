#include "bindings/java/jni/vm.hpp"

#include <atomic>
#include <cstring>

#if defined(_WIN32)
#define HURRAY_JNI_EXPORT __declspec(dllexport)
#else
#define HURRAY_JNI_EXPORT __attribute__((visibility("default")))
#endif

namespace hurray_jni {
namespace {

// Null before JNI_OnLoad, and again from the moment when the virtual machine is known to end.
std::atomic<JavaVM*> machine{nullptr};

// A static method that native code calls.
struct Upcall {
    jclass type = nullptr;
    jmethodID method = nullptr;

    bool find(JNIEnv* env, const char* type_name, const char* name, const char* signature) noexcept {
        jclass found = env->FindClass(type_name);
        if (found == nullptr) return false;
        method = env->GetStaticMethodID(found, name, signature);
        if (method == nullptr) return false;
        type = static_cast<jclass>(env->NewGlobalRef(found));
        env->DeleteLocalRef(found);
        return type != nullptr;
    }
};

Upcall releases_run;
Upcall producer_export;
Upcall diagnostics_report;
Upcall callbacks_read;
Upcall callbacks_write;
Upcall callbacks_make;
Upcall callbacks_progress;

// Sets a pending exception of the caller aside for as long as it lives; what is pending then is the callee's and goes.
class Interlude {
public:
    explicit Interlude(JNIEnv* env) noexcept : env_(env), pending_(env->ExceptionOccurred()) {
        if (pending_ != nullptr) env_->ExceptionClear();
    }
    ~Interlude() {
        if (env_->ExceptionCheck()) env_->ExceptionClear();
        if (pending_ == nullptr) return;
        env_->Throw(pending_);
        env_->DeleteLocalRef(pending_);
    }
    Interlude(const Interlude&) = delete;
    Interlude& operator=(const Interlude&) = delete;

private:
    JNIEnv* env_;
    jthrowable pending_;
};

// At the end of the process the destructors of libraries run on a thread that no virtual machine serves any more, and
// what other libraries release from then on must not look for one.
struct EndOfProcess {
    ~EndOfProcess() { machine.store(nullptr); }
} end_of_process;

bool find_upcalls(JNIEnv* env) noexcept {
    return releases_run.find(env, "dev/hurray/Releases", "run", "(Ljava/lang/Object;)V") &&
           producer_export.find(env, "dev/hurray/Producer", "export", "(Ljava/lang/Object;JI[J)[B") &&
           diagnostics_report.find(env, "dev/hurray/Diagnostics", "report", "(I[B)V") &&
           callbacks_read.find(env, "dev/hurray/Callbacks", "read", "(Ljava/lang/Object;Ljava/nio/ByteBuffer;)I") &&
           callbacks_write.find(env, "dev/hurray/Callbacks", "write", "(Ljava/lang/Object;Ljava/nio/ByteBuffer;)I") &&
           callbacks_make.find(env, "dev/hurray/Callbacks", "make", "(Ljava/lang/Object;[J)I") &&
           callbacks_progress.find(env, "dev/hurray/Callbacks", "progress", "(Ljava/lang/Object;JJ)Z");
}

// Calls a method of Callbacks, which catches what it can; what it could not catch, such as a stack overflow, ends here.
jint call_back(JNIEnv* env, const Upcall& upcall, jobject target, jobject argument) noexcept {
    const jint result = env->CallStaticIntMethod(upcall.type, upcall.method, target, argument);
    if (!env->ExceptionCheck()) return result;
    env->ExceptionClear();
    return HURRAY_ERR_INTERNAL_PANIC;
}

jint call_back_with_memory(JNIEnv* env, const Upcall& upcall, jobject target, void* memory, jlong size) noexcept {
    const Interlude interlude(env);
    jobject buffer = env->NewDirectByteBuffer(memory, size);
    if (buffer == nullptr) return HURRAY_ERR_OUT_OF_MEMORY;
    const jint result = call_back(env, upcall, target, buffer);
    // The caller may come again and again before it returns to Java.
    env->DeleteLocalRef(buffer);
    return result;
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
    // Releases.run catches what a release throws; what it could not catch, such as a stack overflow, ends here.
    const Interlude interlude(env);
    env->CallStaticVoidMethod(releases_run.type, releases_run.method, attachment);
}

jbyteArray run_export(JNIEnv* env, jobject attachment, jlong stream, jint device_tag, jlongArray result, bool* failed) noexcept {
    jobject message =
        env->CallStaticObjectMethod(producer_export.type, producer_export.method, attachment, stream, device_tag, result);
    *failed = env->ExceptionCheck();
    if (*failed) env->ExceptionClear();
    return static_cast<jbyteArray>(message);
}

void run_report(JNIEnv* env, jint code, const char* message) noexcept {
    const Interlude interlude(env);
    const auto length = static_cast<jsize>(std::strlen(message));
    jbyteArray text = env->NewByteArray(length);
    if (text == nullptr) return;
    env->SetByteArrayRegion(text, 0, length, reinterpret_cast<const jbyte*>(message));
    env->CallStaticVoidMethod(diagnostics_report.type, diagnostics_report.method, code, text);
    if (env->ExceptionCheck()) env->ExceptionClear();
    env->DeleteLocalRef(text);
}

jint run_read(JNIEnv* env, jobject target, void* into, jlong capacity) noexcept {
    return call_back_with_memory(env, callbacks_read, target, into, capacity);
}

HurrayStatus run_write(JNIEnv* env, jobject target, void* bytes, jlong length) noexcept {
    return call_back_with_memory(env, callbacks_write, target, bytes, length);
}

HurrayStatus run_make(JNIEnv* env, jobject target, jlong* tensor) noexcept {
    const Interlude interlude(env);
    jlongArray result = env->NewLongArray(1);
    if (result == nullptr) return HURRAY_ERR_OUT_OF_MEMORY;
    const HurrayStatus status = call_back(env, callbacks_make, target, result);
    env->GetLongArrayRegion(result, 0, 1, tensor);
    env->DeleteLocalRef(result);
    return status;
}

bool run_progress(JNIEnv* env, jobject target, std::uint64_t done, std::uint64_t total) noexcept {
    const Interlude interlude(env);
    const jboolean goes_on = env->CallStaticBooleanMethod(callbacks_progress.type, callbacks_progress.method, target,
                                                          static_cast<jlong>(done), static_cast<jlong>(total));
    // What it throws is kept in Java; what could not be caught there ends the work, too.
    return !env->ExceptionCheck() && goes_on == JNI_TRUE;
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
    if (!hurray_jni::find_upcalls(static_cast<JNIEnv*>(env))) return JNI_ERR;
    hurray_jni::machine.store(vm);
    return JNI_VERSION_10;
}

extern "C" HURRAY_JNI_EXPORT void JNICALL JNI_OnUnload(JavaVM*, void*) { hurray_jni::machine.store(nullptr); }
