#include "bindings/java/jni/release.hpp"

#include "bindings/java/jni/vm.hpp"

namespace hurray_jni {

// The context is the global reference itself: nothing to allocate, and nothing else to lose.

void* keep_attachment(JNIEnv* env, jobject attachment) noexcept {
    jobject kept = env->NewGlobalRef(attachment);
    if (kept == nullptr) throw_out_of_memory(env, "a reference to the tensor's memory");
    return kept;
}

void forget_attachment(JNIEnv* env, void* context) noexcept { env->DeleteGlobalRef(static_cast<jobject>(context)); }

void release_memory(void*, void* context) noexcept { release_owner(context); }

void release_event(void*, void* context) noexcept { release_owner(context); }

void release_owner(void* owner) noexcept {
    const AttachedEnv attached;
    JNIEnv* env = attached.env();
    if (env == nullptr) return;
    run_release(env, static_cast<jobject>(owner));
    env->DeleteGlobalRef(static_cast<jobject>(owner));
}

}  // namespace hurray_jni
