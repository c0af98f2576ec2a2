// Buffer lists and tensor contexts: see out_of_memory_test.cpp.
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

NEEDS_MEMORY(hurray_buffer_list_new) {
    List list;
    each_allocation_fails([&] { return subject(3, list.out()); }, [&] { EXPECT_EQ(list.handle, nullptr); });
}
NEEDS_MEMORY(hurray_buffer_list_push) {
    List list;
    ASSERT_EQ(hurray_buffer_list_new(0, list.out()), HURRAY_OK);
    Lent lent;
    each_allocation_fails([&] { return subject(list.handle, lent.buffer.handle); },
                          [&] {
                              EXPECT_FALSE(borrowed(lent.buffer.handle)) << "ownership moves only on success";
                              std::uint64_t length = 1;
                              EXPECT_EQ(hurray_buffer_list_len(list.handle, &length), HURRAY_OK);
                              EXPECT_EQ(length, 0u);
                          });
    EXPECT_TRUE(borrowed(lent.buffer.handle));
    lent.buffer.handle = nullptr;
    list.end();
    EXPECT_EQ(lent.releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_buffer_list_len, "returns a number") {
    Pair pair;
    std::uint64_t length = 0;
    EXPECT_EQ(without_memory([&] { return subject(pair.list, &length); }), HURRAY_OK);
    EXPECT_EQ(length, 1u);
}
NEEDS_NO_MEMORY(hurray_buffer_list_get, "lends a handle that is there") {
    Pair pair;
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(without_memory([&] { return subject(pair.list, 0, &buffer); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(pair.list, 1, &buffer); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_NO_MEMORY(hurray_buffer_list_destroy, "ends and releases only") {
    Pair pair;
    EXPECT_EQ(without_memory([&] { return subject(&pair.list); }), HURRAY_OK);
    EXPECT_EQ(pair.releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_buffer_list_destroy_deferred, "what waits is the release itself, linked into its queue") {
    Pair pair;
    EXPECT_EQ(without_memory([&] { return subject(&pair.list, &report); }), HURRAY_OK);
    EXPECT_EQ(pair.releases.calls, 0);
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(pair.releases.calls, 1);
}

NEEDS_MEMORY(hurray_tensor_context_new) {
    ReleaseCounter owner;
    const auto bytes = long_descriptor();
    Context context;
    each_allocation_fails(
        [&] { return subject(4, bytes.data(), bytes.size(), &owner, &ReleaseCounter::release_owner, context.out()); },
        [&] {
            EXPECT_EQ(context.handle, nullptr);
            EXPECT_EQ(owner.calls, 0);
        });
    context.end();
    EXPECT_EQ(owner.calls, 1);
}
NEEDS_NO_MEMORY(hurray_tensor_context_abi_version, "returns a number") {
    Pair pair;
    std::uint32_t version = 0;
    EXPECT_EQ(without_memory([&] { return subject(pair.context, &version); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_tensor_context_supports, "asks the table of the context's copy") {
    Pair pair;
    std::uint8_t supported = 0;
    EXPECT_EQ(without_memory([&] { return subject(pair.context, 4, &supported, &report); }), HURRAY_OK);
    EXPECT_EQ(supported, 1);
}
NEEDS_NO_MEMORY(hurray_tensor_context_descriptor, "lends bytes that are there") {
    Pair pair;
    const std::uint8_t* bytes = nullptr;
    std::uint64_t length = 0;
    EXPECT_EQ(without_memory([&] { return subject(pair.context, &bytes, &length); }), HURRAY_OK);
    EXPECT_NE(length, 0u);
}
NEEDS_NO_MEMORY(hurray_tensor_context_destroy, "ends and releases only") {
    Pair pair;
    EXPECT_EQ(without_memory([&] { return subject(&pair.context); }), HURRAY_OK);
    EXPECT_EQ(pair.owner_releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_tensor_context_destroy_deferred, "what waits is the release itself, linked into its queue") {
    Pair pair;
    EXPECT_EQ(without_memory([&] { return subject(&pair.context, &report); }), HURRAY_OK);
    EXPECT_EQ(pair.owner_releases.calls, 0);
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(pair.owner_releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_tensor_context_set_release_queue, "takes a reference") {
    Queue queue;
    ASSERT_EQ(hurray_release_queue_new(queue.out(), nullptr), HURRAY_OK);
    Pair pair;
    EXPECT_EQ(without_memory([&] { return subject(pair.context, queue.handle, &report); }), HURRAY_OK);
}

}  // namespace
