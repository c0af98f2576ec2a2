// Other copies of the library and strangers, for Java.
#include <string>

#include "dev_hurray_Spy.h"
#include "tests/conformance/device/stranger.h"

namespace {

template <typename T = void>
T* pointer(jlong word) {
    return reinterpret_cast<T*>(static_cast<intptr_t>(word));
}

jlong word(const void* pointer) { return static_cast<jlong>(reinterpret_cast<intptr_t>(pointer)); }

Spy* spy_of(jlong word) { return pointer<Spy>(word); }

void give(JNIEnv* env, jlongArray addresses, void* list, void* context) {
    const jlong words[2] = {word(list), word(context)};
    env->SetLongArrayRegion(addresses, 0, 2, words);
}

}  // namespace

#define SPY(type, name, ...) extern "C" JNIEXPORT type JNICALL Java_dev_hurray_Spy_##name([[maybe_unused]] JNIEnv* env, jclass __VA_OPT__(, ) __VA_ARGS__)

// Overloaded in Java (an instance method hands its spy on), so that the signature is part of the name.
SPY(jlong, create, jint version) { return word(spy_new(static_cast<uint32_t>(version))); }
SPY(void, destroy, jlong spy) { spy_destroy(spy_of(spy)); }
SPY(void, vouch__JII, jlong spy, jint lowest, jint highest) {
    spy_vouch(spy_of(spy), static_cast<uint32_t>(lowest), static_cast<uint32_t>(highest));
}
SPY(void, pair__J_3J, jlong spy, jlongArray addresses) {
    void* list = nullptr;
    void* context = nullptr;
    spy_pair_new(spy_of(spy), &list, &context);
    give(env, addresses, list, context);
}
SPY(void, eventPair__JJJJ_3J, jlong spy, jlong event, jlong release, jlong release_context, jlongArray addresses) {
    void* list = nullptr;
    void* context = nullptr;
    spy_event_pair_new(spy_of(spy), pointer(event), pointer(release), pointer(release_context), &list, &context);
    give(env, addresses, list, context);
}
SPY(void, streamPair__JJ_3J, jlong spy, jlong stream, jlongArray addresses) {
    void* list = nullptr;
    void* context = nullptr;
    spy_stream_pair_new(spy_of(spy), pointer(stream), &list, &context);
    give(env, addresses, list, context);
}
SPY(jlong, liveHandles__J, jlong spy) { return static_cast<jlong>(spy_live_handles(spy_of(spy))); }
SPY(jlong, misuses__J, jlong spy) { return static_cast<jlong>(spy_misuses(spy_of(spy))); }
SPY(jlong, accessorCalls__J, jlong spy) { return static_cast<jlong>(spy_accessor_calls(spy_of(spy))); }
SPY(jstring, log__J, jlong spy) {
    std::string text(spy_log_copy(spy_of(spy), nullptr, 0) + 1, '\0');
    spy_log_copy(spy_of(spy), text.data(), text.size());
    return env->NewStringUTF(text.c_str());
}
SPY(void, clearLog__J, jlong spy) { spy_log_clear(spy_of(spy)); }
SPY(jlong, newForeigner) { return word(stranger_foreign_new()); }
SPY(jlong, newGeneration, jint kind) { return word(stranger_generation_new(static_cast<uint32_t>(kind))); }
SPY(void, freeStranger, jlong stranger) { stranger_free(pointer(stranger)); }
