// Counts native methods of the binding that a thread enters: an agent, since only the virtual machine sees them all.
#include <jvmti.h>

#include <atomic>
#include <cstring>

namespace {

jvmtiEnv* tools = nullptr;
std::atomic<jlong> entered{0};

void JNICALL method_entry(jvmtiEnv* env, JNIEnv* jni, jthread, jmethodID method) {
    jboolean native = JNI_FALSE;
    if (env->IsMethodNative(method, &native) != JVMTI_ERROR_NONE || native == JNI_FALSE) return;
    jclass type = nullptr;
    if (env->GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE) return;
    char* signature = nullptr;
    if (env->GetClassSignature(type, &signature, nullptr) == JVMTI_ERROR_NONE) {
        if (std::strncmp(signature, "Ldev/hurray/", 12) == 0 && std::strcmp(signature, "Ldev/hurray/Transitions;") != 0) ++entered;
        env->Deallocate(reinterpret_cast<unsigned char*>(signature));
    }
    jni->DeleteLocalRef(type);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char*, void*) {
    if (vm->GetEnv(reinterpret_cast<void**>(&tools), JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
    jvmtiCapabilities wanted{};
    wanted.can_generate_method_entry_events = 1;
    if (tools->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) return JNI_ERR;
    jvmtiEventCallbacks callbacks{};
    callbacks.MethodEntry = method_entry;
    return tools->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}

// Counts on the calling thread from now on.
extern "C" JNIEXPORT void JNICALL Java_dev_hurray_Transitions_begin(JNIEnv*, jclass) {
    entered = 0;
    tools->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, nullptr);
}

// Ends it; how many there were.
extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_Transitions_end(JNIEnv*, jclass) {
    tools->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_METHOD_ENTRY, nullptr);
    return entered;
}
