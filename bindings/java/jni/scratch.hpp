// The direct buffer that a Java thread lends to a call, for structs and error reports: its parts as Scratch.java has them.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dev_hurray_Scratch.h"
#include "hurray.h"

namespace hurray_jni {

class Scratch {
public:
    Scratch(JNIEnv* env, jobject buffer) noexcept : base_(static_cast<unsigned char*>(env->GetDirectBufferAddress(buffer))) {}

    [[nodiscard]] HurrayError* error() const noexcept { return reinterpret_cast<HurrayError*>(base_ + dev_hurray_Scratch_ERROR); }

    template <typename Struct>
    [[nodiscard]] Struct* as() const noexcept {
        static_assert(sizeof(Struct) <= dev_hurray_Scratch_SHARE - dev_hurray_Scratch_STRUCT);
        return reinterpret_cast<Struct*>(base_ + dev_hurray_Scratch_STRUCT);
    }

    /// Tells Java which buffer handle a new ByteBuffer owns.
    void set_share(const HurrayBuffer* buffer) const noexcept {
        const auto word = static_cast<jlong>(reinterpret_cast<std::intptr_t>(buffer));
        std::memcpy(base_ + dev_hurray_Scratch_SHARE, &word, sizeof word);
    }

    /// Where array `index` starts; arrays of up to HURRAY_MAX_RANK elements of 8 bytes follow one another.
    [[nodiscard]] unsigned char* array(std::size_t index) const noexcept {
        return base_ + dev_hurray_Scratch_ARRAYS + index * dev_hurray_Scratch_ARRAY_SIZE;
    }

    void put_array(std::size_t index, const void* values, std::uint32_t rank) const noexcept {
        if (values != nullptr && rank <= HURRAY_MAX_RANK) std::memcpy(array(index), values, std::size_t{8} * rank);
    }

    /// Reports a failure that the library did not: code and text.
    HurrayStatus fail(HurrayStatus status, const char* message) const noexcept {
        HurrayError* report = error();
        *report = HurrayError{};
        report->code = status;
        std::strncpy(report->message, message, sizeof report->message - 1);
        return status;
    }

private:
    unsigned char* base_;
};

static_assert(dev_hurray_Scratch_STRUCT - dev_hurray_Scratch_ERROR >= sizeof(HurrayError));
static_assert(dev_hurray_Scratch_ARRAY_SIZE == 8 * HURRAY_MAX_RANK);
static_assert(dev_hurray_Scratch_SIZE >= dev_hurray_Scratch_ARRAYS + 4 * dev_hurray_Scratch_ARRAY_SIZE + 255 * 16);

/// A handle as Java holds it.
template <typename Handle>
Handle* handle(jlong word) noexcept {
    return reinterpret_cast<Handle*>(static_cast<std::intptr_t>(word));
}

inline jlong word(const void* handle) noexcept { return static_cast<jlong>(reinterpret_cast<std::intptr_t>(handle)); }

/// Runs the releases that wait on the binding's queue. They run Java code, which takes scratches of its own.
inline void drain(jlong queue) noexcept {
    std::uint64_t released = 0;
    hurray_release_queue_drain(handle<HurrayReleaseQueue>(queue), UINT64_MAX, &released, nullptr);
}

}  // namespace hurray_jni
