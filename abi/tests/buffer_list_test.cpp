// Buffer lists. (seed: Buffer Lists)
#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::buffer_over;
using hurray_test::ReleaseCounter;

class BufferList : public hurray_test::BaseLineTest {
protected:
    AlignedBytes<64> memory_;
    ReleaseCounter counter_;
    HurrayBuffer* make() { return buffer_over(memory_.bytes, 64, counter_); }
};

TEST_F(BufferList, OwnsWhatIsPushedAndDestroysEachOnce) {
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(2, &list), HURRAY_OK);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(hurray_buffer_list_push(list, make()), HURRAY_OK);
    std::uint64_t length = 0;
    EXPECT_EQ(hurray_buffer_list_len(list, &length), HURRAY_OK);
    EXPECT_EQ(length, 5u);
    EXPECT_EQ(counter_.calls, 0);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(list, nullptr) << "destroy writes null through the caller's variable";
    EXPECT_EQ(counter_.calls, 5);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK) << "a repeated destroy is a no-op";
    EXPECT_EQ(counter_.calls, 5);
}

TEST_F(BufferList, KeepsTheOrderOfPushes) {
    AlignedBytes<64> other;
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(0, &list), HURRAY_OK);
    HurrayBuffer* first = make();
    HurrayBuffer* second = buffer_over(other.bytes, 64, counter_);
    ASSERT_EQ(hurray_buffer_list_push(list, first), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_list_push(list, second), HURRAY_OK);
    HurrayBuffer* got = nullptr;
    EXPECT_EQ(hurray_buffer_list_get(list, 0, &got), HURRAY_OK);
    EXPECT_EQ(got, first);
    EXPECT_EQ(hurray_buffer_list_get(list, 1, &got), HURRAY_OK);
    EXPECT_EQ(got, second);
    EXPECT_EQ(hurray_buffer_list_get(list, 2, &got), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(got, nullptr);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
}

TEST_F(BufferList, BorrowedHandleCannotBeDestroyedOrPushed) {
    HurrayBufferList* list = nullptr;
    HurrayBufferList* other = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(0, &list), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_list_new(0, &other), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_list_push(list, make()), HURRAY_OK);
    HurrayBuffer* borrowed = nullptr;
    ASSERT_EQ(hurray_buffer_list_get(list, 0, &borrowed), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(borrowed), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_destroy_deferred(borrowed, nullptr), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_list_push(list, borrowed), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_buffer_list_push(other, borrowed), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(counter_.calls, 0);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(borrowed, &info, nullptr), HURRAY_OK);
    EXPECT_NE(info.flags & HURRAY_BUFFER_BORROWED, 0u);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_destroy(&other), HURRAY_OK);
    EXPECT_EQ(counter_.calls, 1);
}

TEST_F(BufferList, AbsurdCapacityHintIsOnlyAHint) {
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(UINT64_MAX, &list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
}

// A release callback that comes back and destroys the list that is being destroyed finds the door shut.
struct ReentrantRelease {
    HurrayBufferList* list = nullptr;
    int calls = 0;
    HurrayStatus destroy_status = HURRAY_OK;
    HurrayStatus push_status = HURRAY_OK;
    HurrayBuffer* extra = nullptr;

    static void release(void*, void* context) {
        auto* self = static_cast<ReentrantRelease*>(context);
        ++self->calls;
        HurrayBufferList* copy = self->list;
        self->destroy_status = hurray_buffer_list_destroy(&copy);
        self->push_status = hurray_buffer_list_push(self->list, self->extra);
    }
};

TEST_F(BufferList, ReleaseThatReentersCannotCauseADoubleFree) {
    ReentrantRelease state;
    state.extra = make();
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(2, &list), HURRAY_OK);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_from_ptr(memory_.bytes, 64, 64, 0, &ReentrantRelease::release, &state, &buffer), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_list_push(list, make()), HURRAY_OK);
    state.list = list;
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
    EXPECT_EQ(state.calls, 1);
    EXPECT_EQ(state.destroy_status, HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(state.push_status, HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(counter_.calls, 1);
    EXPECT_EQ(hurray_buffer_destroy(state.extra), HURRAY_OK);
    EXPECT_EQ(counter_.calls, 2);
}

}  // namespace
