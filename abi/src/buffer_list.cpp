// Buffer lists: all buffers of one tensor together. (seed: Buffer Lists)
#include <limits>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Makes an empty list.
/// @param capacity_hint how many buffers are expected; only a hint, at most 4,096 of it are reserved
/// @owner caller
/// @thread any
/// @since 3
/// @spec ABI: Buffer Lists
HURRAY_API HurrayStatus hurray_buffer_list_new(uint64_t capacity_hint,
                                               HG_OUT_OWNED(hurray_buffer_list_destroy) HurrayBufferList** out_list) noexcept {
    HURRAY_REQUIRE(out_list, nullptr);
    *out_list = nullptr;
    return guarded(nullptr, [&]() -> Result<void> {
        auto list = std::make_unique<HurrayBufferList>();
        constexpr std::uint64_t most_reserved = 4096;
        list->slots.reserve(static_cast<std::size_t>(capacity_hint < most_reserved ? capacity_hint : most_reserved));
        *out_list = list.release();
        return {};
    });
}

/// Appends a buffer. Buffers are pushed in the order of the descriptor's buffer table.
/// @owner the handle moves into the list on success and becomes a borrowed one (that of another copy of the library is
///     kept by a list of its copy; use hurray_buffer_list_get); on failure it stays the caller's
/// @errors INVALID_HANDLE: the buffer is borrowed, or the list is part of a tensor or being destroyed
/// @thread one thread at a time
/// @since 3
/// @spec ABI: Buffer Lists
HURRAY_API HurrayStatus hurray_buffer_list_push(HG_INOUT HurrayBufferList* list, HG_CONSUMED HurrayBuffer* buffer) noexcept {
    HURRAY_DISPATCH(list, nullptr, buffer_list_push, list, buffer);
    HURRAY_REQUIRE_EXCHANGE(buffer, nullptr);
    if (list->borrowed || list->closing) return HURRAY_ERR_INVALID_HANDLE;
    return guarded(nullptr, [&]() -> Result<void> {
        if (origin_of(buffer) == Origin::foreign) return push_foreign(*list, buffer);
        if (buffer->borrowed) return invalid_handle("buffer", "a handle that the caller owns");
        list->slots.push_back(buffer);
        buffer->borrowed = true;
        return {};
    });
}

/// Tells how many buffers are in the list.
/// @thread one thread at a time
/// @since 3
HURRAY_API HurrayStatus hurray_buffer_list_len(HG_IN const HurrayBufferList* list, HG_OUT uint64_t* out_length) noexcept {
    if (out_length != nullptr) *out_length = 0;
    HURRAY_DISPATCH(list, nullptr, buffer_list_len, list, out_length);
    HURRAY_REQUIRE(out_length, nullptr);
    *out_length = list->slots.size();
    return HURRAY_OK;
}

/// Borrows a buffer of the list.
/// @owner the list; valid until it is destroyed, and not to be destroyed or pushed
/// @errors INDEX_OUT_OF_BOUNDS
/// @thread one thread at a time
/// @since 3
/// @spec ABI: Buffer Lists
HURRAY_API HurrayStatus hurray_buffer_list_get(HG_IN const HurrayBufferList* list, uint64_t index,
                                               HG_OUT_BORROWED(list) HurrayBuffer** out_buffer) noexcept {
    if (out_buffer != nullptr) *out_buffer = nullptr;
    HURRAY_DISPATCH(list, nullptr, buffer_list_get, list, index, out_buffer);
    HURRAY_REQUIRE(out_buffer, nullptr);
    if (index >= list->slots.size()) return HURRAY_ERR_INDEX_OUT_OF_BOUNDS;
    *out_buffer = list->slots[static_cast<std::size_t>(index)];
    return *out_buffer == nullptr ? HURRAY_ERR_INVALID_HANDLE : HURRAY_OK;
}

/// Ends a list and every buffer in it, each exactly once and in order.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: borrowed from a tensor, being destroyed, or (checked builds) already destroyed; INTERNAL_PANIC: a
///     callback threw an exception, and all is ended all the same
/// @thread the thread that runs the releases
/// @since 3
/// @spec ABI: Buffer Lists
HURRAY_API HurrayStatus hurray_buffer_list_destroy(HG_DESTROYED_VAR HurrayBufferList** list) noexcept {
    if (list == nullptr || *list == nullptr) return HURRAY_OK;
    HURRAY_DISPATCH(*list, nullptr, buffer_list_destroy, list);
    if ((*list)->borrowed || (*list)->closing) return HURRAY_ERR_INVALID_HANDLE;
    return report_end(destroy_list(std::exchange(*list, nullptr), false), nullptr);
}

/// Ends a list on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_list_destroy_deferred(HG_DESTROYED_VAR HurrayBufferList** list,
                                                            HG_ERROR HurrayError* error) noexcept {
    if (list == nullptr || *list == nullptr) return succeed(error);
    HURRAY_DISPATCH(*list, error, buffer_list_destroy_deferred, list, error);
    if ((*list)->borrowed || (*list)->closing) {
        return report(invalid_handle("list", "a list that the caller owns").error(), error);
    }
    return report_end(destroy_list(std::exchange(*list, nullptr), true), error);
}
