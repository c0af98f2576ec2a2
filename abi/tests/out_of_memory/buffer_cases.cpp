// Buffers: see out_of_memory_test.cpp.
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

NEEDS_MEMORY(hurray_buffer_from_ptr) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    Buffer buffer;
    each_allocation_fails(
        [&] { return subject(memory.bytes, 64, 64, 0, &ReleaseCounter::release, &counter, buffer.out()); },
        [&] {
            EXPECT_EQ(buffer.handle, nullptr);
            EXPECT_EQ(counter.calls, 0);
        });
    buffer.end();
    EXPECT_EQ(counter.calls, 1);
}
NEEDS_MEMORY(hurray_buffer_from_host) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    Buffer buffer;
    std::uint64_t offset = 0;
    each_allocation_fails(
        [&] { return subject(memory.bytes + 3, 61, 0, &ReleaseCounter::release, &counter, buffer.out(), &offset, &report); },
        [&] {
            EXPECT_EQ(buffer.handle, nullptr);
            EXPECT_EQ(offset, 0u);
            EXPECT_EQ(counter.calls, 0);
        });
    EXPECT_EQ(offset, 3u);
    buffer.end();
    EXPECT_EQ(counter.calls, 1);
}
NEEDS_MEMORY(hurray_buffer_allocate) {
    Buffer buffer;
    each_allocation_fails([&] { return subject(100, 4096, buffer.out(), &report); }, [&] { EXPECT_EQ(buffer.handle, nullptr); });
}
NEEDS_MEMORY(hurray_buffer_share) {
    Lent lent;
    Buffer share;
    each_allocation_fails([&] { return subject(lent.buffer.handle, share.out(), &report); },
                          [&] { EXPECT_EQ(share.handle, nullptr); });
    lent.buffer.end();
    EXPECT_EQ(lent.releases.calls, 0);
    share.end();
    EXPECT_EQ(lent.releases.calls, 1);
}
NEEDS_MEMORY(hurray_buffer_slice) {
    Lent lent;
    Buffer slice;
    each_allocation_fails([&] { return subject(lent.buffer.handle, 0, 10, slice.out(), &report); },
                          [&] { EXPECT_EQ(slice.handle, nullptr); });
    lent.buffer.end();
    slice.end();
    EXPECT_EQ(lent.releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_buffer_info, "fills the caller's struct") {
    Lent lent;
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(without_memory([&] { return subject(lent.buffer.handle, &info, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_buffer_handle_bytes, "fills the caller's struct") {
    Lent lent;
    HurrayBufferHandleBytes bytes{};
    EXPECT_EQ(without_memory([&] { return subject(lent.buffer.handle, &bytes, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_buffer_prefix, "returns a number") {
    Lent lent;
    std::uint64_t prefix = 0;
    EXPECT_EQ(without_memory([&] { return subject(lent.buffer.handle, &prefix, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_buffer_set_read_only, "sets a flag") {
    Lent lent;
    EXPECT_EQ(without_memory([&] { return subject(lent.buffer.handle, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_buffer_destroy, "ends and releases only") {
    Lent lent;
    EXPECT_EQ(without_memory([&] { return subject(std::exchange(lent.buffer.handle, nullptr)); }), HURRAY_OK);
    EXPECT_EQ(lent.releases.calls, 1);
    // With an event that is still there, and from a list.
    AlignedBytes<64> memory;
    ReleaseCounter releases;
    ReleaseCounter events;
    const HurrayEventPayload event = event_of(events);
    HurrayBuffer* buffer = handed_off(memory, releases, &event, nullptr);
    EXPECT_EQ(without_memory([&] { return subject(buffer); }), HURRAY_OK);
    EXPECT_EQ(events.calls, 1);
    EXPECT_EQ(releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_buffer_destroy_deferred, "what waits is the release itself, linked into its queue") {
    Lent lent;
    EXPECT_EQ(without_memory([&] { return subject(std::exchange(lent.buffer.handle, nullptr), &report); }), HURRAY_OK);
    EXPECT_EQ(lent.releases.calls, 0);
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(lent.releases.calls, 1);
}

}  // namespace
