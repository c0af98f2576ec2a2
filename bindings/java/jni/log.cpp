// What the library says of its own defects.
#include "bindings/java/jni/scratch.hpp"
#include "bindings/java/jni/vm.hpp"
#include "dev_hurray_Diagnostics.h"

using namespace hurray_jni;

namespace {

// HurrayLogFn
void log_message(void*, HurrayStatus code, const char* message) noexcept {
    const AttachedEnv attached;
    if (attached.env() != nullptr) run_report(attached.env(), code, message);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Java_dev_hurray_Diagnostics_install(JNIEnv* env, jclass, jboolean wanted, jobject scratch_buffer) {
    const Scratch scratch(env, scratch_buffer);
    return hurray_log_callback_set(wanted ? log_message : nullptr, nullptr, scratch.error());
}
