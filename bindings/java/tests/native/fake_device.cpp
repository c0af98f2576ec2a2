// The fake device for Java.
#include "tests/conformance/device/fake_device.h"

#include <string>

#include "dev_hurray_FakeDevice.h"

namespace {

template <typename T = void>
T* pointer(jlong word) {
    return reinterpret_cast<T*>(static_cast<intptr_t>(word));
}

jlong word(const void* pointer) { return static_cast<jlong>(reinterpret_cast<intptr_t>(pointer)); }

FakeDevice* device_of(jlong word) { return pointer<FakeDevice>(word); }

// ASCII only.
class Text {
public:
    Text(JNIEnv* env, jstring text) : env_(env), text_(text), chars_(env->GetStringUTFChars(text, nullptr)) {}
    ~Text() {
        if (chars_ != nullptr) env_->ReleaseStringUTFChars(text_, chars_);
    }
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;
    [[nodiscard]] const char* get() const { return chars_; }

private:
    JNIEnv* env_;
    jstring text_;
    const char* chars_;
};

}  // namespace

#define FAKE(type, name, ...) extern "C" JNIEXPORT type JNICALL Java_dev_hurray_FakeDevice_##name(JNIEnv*, jclass __VA_OPT__(, ) __VA_ARGS__)
#define FAKE_ENV(type, name, ...) \
    extern "C" JNIEXPORT type JNICALL Java_dev_hurray_FakeDevice_##name(JNIEnv* env, jclass __VA_OPT__(, ) __VA_ARGS__)

// Overloaded in Java (an instance method hands its device on), so that the signature is part of the name.
FAKE(jlong, create) { return word(fake_device_new()); }
FAKE(void, destroy, jlong device) { fake_device_destroy(device_of(device)); }
FAKE(jint, finish__J, jlong device) { return static_cast<jint>(fake_device_finish(device_of(device))); }
FAKE_ENV(jlong, newStream__JLjava_lang_String_2, jlong device, jstring name) {
    return word(fake_stream_new(device_of(device), Text(env, name).get()));
}
FAKE(jlong, newEvent__J, jlong device) { return word(fake_event_new(device_of(device))); }
FAKE(jlong, newMemory__JJ, jlong device, jlong size) { return word(fake_memory_new(device_of(device), static_cast<uint64_t>(size))); }
FAKE(jint, record__JJJ, jlong device, jlong event, jlong stream) {
    return static_cast<jint>(fake_event_record(device_of(device), pointer(event), pointer(stream)));
}
FAKE(jint, waitForEvent__JJJ, jlong device, jlong stream, jlong event) {
    return static_cast<jint>(fake_stream_wait_event(device_of(device), pointer(stream), pointer(event)));
}
FAKE(jint, waitForStream__JJJ, jlong device, jlong stream, jlong other) {
    return static_cast<jint>(fake_stream_wait_stream(device_of(device), pointer(stream), pointer(other)));
}
FAKE(jint, hostWait__JJ, jlong device, jlong stream) {
    return static_cast<jint>(fake_host_wait_stream(device_of(device), pointer(stream)));
}
FAKE(jint, read__JJJ, jlong device, jlong stream, jlong data) {
    return static_cast<jint>(fake_stream_read(device_of(device), pointer(stream), pointer(data)));
}
FAKE(jint, write__JJJ, jlong device, jlong stream, jlong data) {
    return static_cast<jint>(fake_stream_write(device_of(device), pointer(stream), pointer(data)));
}
FAKE(jint, handoffBegins__JJIJ, jlong device, jlong data, jint mode, jlong with) {
    return static_cast<jint>(fake_handoff_begin(device_of(device), pointer(data), static_cast<uint8_t>(mode), pointer(with)));
}
FAKE(jint, handoffReturned__JJIJ, jlong device, jlong data, jint mode, jlong with) {
    return static_cast<jint>(fake_handoff_returned(device_of(device), pointer(data), static_cast<uint8_t>(mode), pointer(with)));
}
FAKE(jint, handoffFailed__JJIJ, jlong device, jlong data, jint mode, jlong with) {
    return static_cast<jint>(fake_handoff_failed(device_of(device), pointer(data), static_cast<uint8_t>(mode), pointer(with)));
}
FAKE(void, releaseEvent__JJ, jlong event, jlong device) { fake_event_release(pointer(event), pointer(device)); }
FAKE(void, releaseMemory__JJ, jlong data, jlong device) { fake_memory_release(pointer(data), pointer(device)); }
FAKE(jlong, eventReleases__JJ, jlong device, jlong event) {
    return static_cast<jlong>(fake_event_release_count(device_of(device), pointer(event)));
}
FAKE(jlong, memoryReleases__JJ, jlong device, jlong data) {
    return static_cast<jlong>(fake_memory_release_count(device_of(device), pointer(data)));
}
FAKE(jlong, eventReleaseThread__JJ, jlong device, jlong event) {
    return static_cast<jlong>(fake_event_release_thread(device_of(device), pointer(event)));
}
FAKE(jlong, memoryReleaseThread__JJ, jlong device, jlong data) {
    return static_cast<jlong>(fake_memory_release_thread(device_of(device), pointer(data)));
}
FAKE(jlong, currentThread) { return static_cast<jlong>(fake_current_thread()); }
FAKE(jlong, violations__J, jlong device) { return static_cast<jlong>(fake_violation_count(device_of(device))); }
FAKE(jint, violation, jlong device, jlong index) {
    return static_cast<jint>(fake_violation_kind(device_of(device), static_cast<uint64_t>(index)));
}
FAKE_ENV(jstring, violationName, jint kind) { return env->NewStringUTF(fake_violation_name(static_cast<FakeViolation>(kind))); }
FAKE(void, forgetViolations__J, jlong device) { fake_violations_clear(device_of(device)); }
FAKE_ENV(void, mark__JLjava_lang_String_2, jlong device, jstring text) { fake_log_mark(device_of(device), Text(env, text).get()); }
FAKE_ENV(jstring, log__J, jlong device) {
    std::string text(fake_log_copy(device_of(device), nullptr, 0) + 1, '\0');
    fake_log_copy(device_of(device), text.data(), text.size());
    return env->NewStringUTF(text.c_str());
}
FAKE(jlong, strayCalls) { return static_cast<jlong>(fake_stray_calls()); }
FAKE(jlong, eventReleaseFunction) { return word(fake_event_release_address()); }
