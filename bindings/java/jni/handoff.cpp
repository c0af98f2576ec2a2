// Handoff of memory of any device, with its event or stream. (seed: Buffer Handoff Synchronisation)
#include "bindings/java/jni/release.hpp"
#include "bindings/java/jni/scratch.hpp"
#include "dev_hurray_NativeHandoff.h"

using namespace hurray_jni;

namespace {

// Keeps an attachment for as long as it is not let go; nothing when there is none.
class Kept {
public:
    Kept(JNIEnv* env, jobject attachment) noexcept
        : env_(env), context_(attachment == nullptr ? nullptr : keep_attachment(env, attachment)), wanted_(attachment != nullptr) {}
    ~Kept() {
        if (context_ != nullptr) forget_attachment(env_, context_);
    }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    [[nodiscard]] bool failed() const noexcept { return wanted_ && context_ == nullptr; }
    [[nodiscard]] void* context() const noexcept { return context_; }
    /// The library has it now.
    void let_go() noexcept { context_ = nullptr; }

private:
    JNIEnv* env_;
    void* context_;
    bool wanted_;
};

}  // namespace

extern "C" JNIEXPORT jlong JNICALL Java_dev_hurray_NativeHandoff_handOff(JNIEnv* env, jclass, jlong queue, jlong address,
                                                                         jobject attachment, jboolean has_event, jlong event,
                                                                         jint event_device_tag, jobject event_attachment,
                                                                         jboolean has_stream, jlong stream, jint stream_device_tag,
                                                                         jobject scratch_buffer) {
    drain(queue);
    const Scratch scratch(env, scratch_buffer);
    Kept memory(env, attachment);
    Kept event_owner(env, event_attachment);
    if (memory.failed() || event_owner.failed()) return 0;
    HurrayEventPayload event_payload{};
    event_payload.sync_handle = handle<void>(event);
    event_payload.sync_handle_device_tag = static_cast<std::uint8_t>(event_device_tag);
    if (event_owner.context() != nullptr) {
        event_payload.event_release_fn = release_event;
        event_payload.event_release_context = event_owner.context();
    }
    HurrayStreamPayload stream_payload{};
    stream_payload.consumer_stream = handle<void>(stream);
    stream_payload.consumer_stream_device_tag = static_cast<std::uint8_t>(stream_device_tag);
    HurrayBuffer* buffer = nullptr;
    if (hurray_buffer_handoff(scratch.as<HurrayBufferHandleBytes>(), handle<void>(address),
                              memory.context() == nullptr ? nullptr : release_memory, memory.context(),
                              has_event ? &event_payload : nullptr, has_stream ? &stream_payload : nullptr, &buffer,
                              scratch.error()) != HURRAY_OK) {
        return 0;
    }
    // Cannot fail where there is a release: the buffer was lent just now and nobody shares it.
    hurray_buffer_set_release_queue(buffer, handle<HurrayReleaseQueue>(queue), nullptr);
    memory.let_go();
    event_owner.let_go();
    return word(buffer);
}
