// Handles that the cases need, each of which ends with its scope.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "abi/tests/out_of_memory/memory_cases.hpp"

namespace hurray_test {

inline std::string file_name(const char* name) { return ::testing::TempDir() + "/out_of_memory_" + name; }

/// A live handle that ends with the scope.
template <class Handle, HurrayStatus (*Destroy)(Handle**)>
struct Scoped {
    Handle* handle = nullptr;
    Scoped() = default;
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;
    ~Scoped() { end(); }
    void end() { EXPECT_EQ(Destroy(&handle), HURRAY_OK); }
    Handle** out() {
        EXPECT_EQ(handle, nullptr);
        return &handle;
    }
};
using Tensor = Scoped<HurrayTensor, hurray_tensor_destroy>;
using List = Scoped<HurrayBufferList, hurray_buffer_list_destroy>;
using Context = Scoped<HurrayTensorContext, hurray_tensor_context_destroy>;
using Descriptor = Scoped<HurrayDescriptor, hurray_descriptor_destroy>;
using Builder = Scoped<HurrayDescriptorBuilder, hurray_descriptor_builder_destroy>;
using Queue = Scoped<HurrayReleaseQueue, hurray_release_queue_destroy>;
using Reader = Scoped<HurrayReader, hurray_reader_destroy>;
using Writer = Scoped<HurrayWriter, hurray_writer_destroy>;
using File = Scoped<HurrayFile, hurray_file_destroy>;
using FileWriter = Scoped<HurrayFileWriter, hurray_file_writer_destroy>;

inline HurrayStatus end_buffer(HurrayBuffer** buffer) {
    const HurrayStatus status = *buffer == nullptr ? HURRAY_OK : hurray_buffer_destroy(*buffer);
    *buffer = nullptr;
    return status;
}
using Buffer = Scoped<HurrayBuffer, end_buffer>;

/// 64 bytes that a buffer was made over, and how often they were released.
struct Lent {
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    Buffer buffer;

    Lent() { buffer.handle = buffer_over(memory.bytes, 64, releases); }
};

/// float32 [3, 4] over memory that was lent, with an owner beside it.
struct Imported {
    Pair pair;
    Tensor tensor;

    Imported() { EXPECT_EQ(hurray_tensor_import(&pair.list, &pair.context, tensor.out(), nullptr), HURRAY_OK); }
    int releases() const { return pair.releases.calls + pair.owner_releases.calls; }
};

/// So many dimensions that a descriptor needs memory of its own for them.
inline const std::vector<std::uint64_t>& many_dimensions() {
    static const std::vector<std::uint64_t> shape(40, 1);
    return shape;
}
inline std::vector<std::uint8_t> long_descriptor() { return row_major_descriptor(HURRAY_TYPE_FLOAT32, many_dimensions(), 64); }

inline HurrayBufferHandleBytes handle_bytes(std::uint8_t device = 0, std::uint8_t mode = 0) {
    return {{64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, device, mode, 0, 0}};
}

inline HurrayBuffer* handed_off(AlignedBytes<64>& memory, ReleaseCounter& releases, const HurrayEventPayload* event,
                         const HurrayStreamPayload* stream) {
    HurrayBuffer* buffer = nullptr;
    const auto handle = handle_bytes(HURRAY_DEVICE_CUDA, event != nullptr ? HURRAY_SYNC_EVENT : HURRAY_SYNC_CONSUMER_STREAM);
    EXPECT_EQ(hurray_buffer_handoff(&handle, memory.bytes, &ReleaseCounter::release, &releases, event, stream, &buffer, nullptr),
              HURRAY_OK);
    return buffer;
}

inline HurrayEventPayload event_of(ReleaseCounter& releases) {
    HurrayEventPayload event{};
    event.sync_handle = &releases;
    event.sync_handle_device_tag = HURRAY_DEVICE_CUDA;
    event.event_release_fn = &ReleaseCounter::release;
    event.event_release_context = &releases;
    return event;
}

inline HurrayStreamPayload stream_of(void* stream) {
    HurrayStreamPayload payload{};
    payload.consumer_stream = stream;
    payload.consumer_stream_device_tag = HURRAY_DEVICE_CUDA;
    return payload;
}

inline bool borrowed(const HurrayBuffer* buffer) {
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
    return (info.flags & HURRAY_BUFFER_BORROWED) != 0;
}

}  // namespace hurray_test
