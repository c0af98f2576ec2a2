// The library and release queues: see out_of_memory_test.cpp.
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

NEEDS_NO_MEMORY(hurray_c_abi_version, "returns a number") {
    EXPECT_EQ(without_memory([&] { return subject(); }), static_cast<std::uint32_t>(HURRAY_C_ABI_VERSION));
}
NEEDS_NO_MEMORY(hurray_c_abi_supports, "returns a number") { EXPECT_EQ(without_memory([&] { return subject(4); }), 1); }
NEEDS_NO_MEMORY(hurray_build_id, "returns a text of the library") {
    EXPECT_NE(without_memory([&] { return subject(); })[0], '\0');
}
NEEDS_NO_MEMORY(hurray_status_name, "returns a text of the library") {
    EXPECT_STREQ(without_memory([&] { return subject(HURRAY_ERR_OUT_OF_MEMORY); }), "OUT_OF_MEMORY");
    EXPECT_STREQ(without_memory([&] { return subject(12345); }), "UNKNOWN");
}
NEEDS_NO_MEMORY(hurray_runtime_info, "the texts are the library's and the loader's") {
    HurrayRuntimeInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(without_memory([&] { return subject(&info, &report); }), HURRAY_OK);
    info.struct_size = 1;
    EXPECT_EQ(without_memory([&] { return subject(&info, &report); }), HURRAY_ERR_INVALID_ARGUMENT);
}
NEEDS_NO_MEMORY(hurray_live_handles, "the counters are static") {
    std::uint64_t handles = 0;
    std::uint64_t bytes = 0;
    EXPECT_EQ(without_memory([&] { return subject(HURRAY_HANDLE_ANY, &handles, &bytes, &report); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(999, &handles, &bytes, &report); }), HURRAY_ERR_INVALID_ARGUMENT);
}
NEEDS_NO_MEMORY(hurray_handle_checks_set, "sets a flag; the quarantine is static") {
    HurrayRuntimeInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_runtime_info(&info, nullptr), HURRAY_OK);
    const auto before = static_cast<std::uint8_t>(info.handle_checks);
    for (const std::uint8_t checks : {std::uint8_t{1}, std::uint8_t{0}}) {
        EXPECT_EQ(without_memory([&] { return subject(checks, &report); }), HURRAY_OK);
        Lent lent;
        EXPECT_EQ(without_memory([&] { return end_buffer(&lent.buffer.handle); }), HURRAY_OK);
    }
    EXPECT_EQ(without_memory([&] { return subject(before, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_diagnostics_read, "the ring of messages is static") {
    HurrayError entry{};
    EXPECT_EQ(without_memory([&] { return subject(1000, &entry, &report); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_NO_MEMORY(hurray_log_callback_set, "there is one callback, in static memory") {
    EXPECT_EQ(without_memory([&] { return subject([](void*, HurrayStatus, const char*) {}, nullptr, &report); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(nullptr, nullptr, &report); }), HURRAY_OK);
}

NEEDS_MEMORY(hurray_release_queue_new) {
    Queue queue;
    each_allocation_fails([&] { return subject(queue.out(), &report); }, [&] { EXPECT_EQ(queue.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_release_queue_drain, "the queue is a list through the releases themselves") {
    Queue queue;
    ASSERT_EQ(hurray_release_queue_new(queue.out(), nullptr), HURRAY_OK);
    Lent lent;
    ASSERT_EQ(hurray_buffer_set_release_queue(lent.buffer.handle, queue.handle, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_destroy_deferred(std::exchange(lent.buffer.handle, nullptr), nullptr), HURRAY_OK);
    std::uint64_t released = 0;
    EXPECT_EQ(without_memory([&] { return subject(queue.handle, UINT64_MAX, &released, &report); }), HURRAY_OK);
    EXPECT_EQ(released, 1u);
    EXPECT_EQ(lent.releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_release_queue_pending, "returns a number") {
    std::uint64_t pending = 1;
    EXPECT_EQ(without_memory([&] { return subject(nullptr, &pending, &report); }), HURRAY_OK);
    EXPECT_EQ(pending, 0u);
}
NEEDS_NO_MEMORY(hurray_release_queue_destroy, "ends and releases only") {
    HurrayReleaseQueue* queue = nullptr;
    ASSERT_EQ(hurray_release_queue_new(&queue, nullptr), HURRAY_OK);
    Lent lent;
    ASSERT_EQ(hurray_buffer_set_release_queue(lent.buffer.handle, queue, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_destroy_deferred(std::exchange(lent.buffer.handle, nullptr), nullptr), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(&queue); }), HURRAY_OK);
    EXPECT_EQ(lent.releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_buffer_set_release_queue, "takes a reference") {
    Queue queue;
    ASSERT_EQ(hurray_release_queue_new(queue.out(), nullptr), HURRAY_OK);
    Lent lent;
    EXPECT_EQ(without_memory([&] { return subject(lent.buffer.handle, queue.handle, &report); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(lent.buffer.handle, nullptr, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_buffer_set_release_any_thread, "sets a flag") {
    Lent lent;
    EXPECT_EQ(without_memory([&] { return subject(lent.buffer.handle, &report); }), HURRAY_OK);
}

}  // namespace
