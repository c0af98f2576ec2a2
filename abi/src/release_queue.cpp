// Release queues: where releases wait for a thread that consents to run them.
#include "abi/src/api/annotations.hpp"
#include "abi/src/api/buffer.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Makes a release queue. A binding makes one for itself and sets it on the buffers and contexts that it creates.
/// @owner caller
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_release_queue_new(HG_OUT_OWNED(hurray_release_queue_destroy) HurrayReleaseQueue** out_queue,
                                                 HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_queue, error);
    *out_queue = nullptr;
    return guarded(error, [&]() -> Result<void> {
        auto shared = Ref<ReleaseQueue>::adopt(new ReleaseQueue(fork_generation()));
        *out_queue = new HurrayReleaseQueue(std::move(shared));
        return {};
    });
}

/// Runs releases that wait on the queue, oldest first, on the calling thread. Releases may use the library.
/// @param queue null: the process's default queue
/// @param limit most releases to run; UINT64_MAX: all, those included that are added meanwhile
/// @errors INTERNAL_PANIC: a release threw an exception; all others ran, and it counts as one that ran
/// @thread any; the releases run on the calling thread
/// @since 4
HURRAY_API HurrayStatus hurray_release_queue_drain(HG_IN_OPT const HurrayReleaseQueue* queue, uint64_t limit,
                                                   HG_OUT uint64_t* out_released, HG_ERROR HurrayError* error) noexcept {
    if (out_released != nullptr) *out_released = 0;
    HURRAY_REQUIRE(out_released, error);
    if (queue != nullptr) HURRAY_REQUIRE_HANDLE(queue, error);
    // The reference is held over the drain: a release may destroy the queue's handle.
    const Ref<ReleaseQueue> shared = queue == nullptr ? Ref<ReleaseQueue>{} : queue->queue;
    const ReleaseQueue::Drained drained = (shared ? *shared.get() : ReleaseQueue::process_default()).drain(limit);
    *out_released = drained.releases;
    return report_end(drained.clean, error);
}

/// Tells how many releases wait on the queue.
/// @param queue null: the process's default queue
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_release_queue_pending(HG_IN_OPT const HurrayReleaseQueue* queue, HG_OUT uint64_t* out_pending,
                                                     HG_ERROR HurrayError* error) noexcept {
    if (out_pending != nullptr) *out_pending = 0;
    HURRAY_REQUIRE(out_pending, error);
    if (queue != nullptr) HURRAY_REQUIRE_HANDLE(queue, error);
    *out_pending = (queue == nullptr ? ReleaseQueue::process_default() : *queue->queue.get()).pending();
    return succeed(error);
}

/// Ends a release queue: what waits on it is released on the calling thread, and what becomes due later on buffers
/// that name it goes to the default queue.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @thread one thread; the releases run on it
/// @since 4
HURRAY_API HurrayStatus hurray_release_queue_destroy(HG_DESTROYED_VAR HurrayReleaseQueue** queue) noexcept {
    if (queue == nullptr || *queue == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*queue, nullptr);
    if ((*queue)->closing) return HURRAY_ERR_INVALID_HANDLE;
    HurrayReleaseQueue* handle = std::exchange(*queue, nullptr);
    // The handle lives until all is released: a release may still ask it.
    handle->closing = true;
    handle->queue->close();
    const ReleaseQueue::Drained drained = handle->queue->drain(UINT64_MAX);
    retire(handle);
    return report_end(drained.clean, nullptr);
}

/// Sets the queue on which a deferred release of the buffer's memory waits. Holds for all handles that share it.
/// @param queue null: the default queue. The buffer keeps what it needs of the queue; the handle stays the caller's
/// @errors INVALID_ARGUMENT: the library owns the memory or shares exist already
/// @thread one thread, before the buffer is shared
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_set_release_queue(HG_INOUT HurrayBuffer* buffer,
                                                        HG_IN_OPT const HurrayReleaseQueue* queue,
                                                        HG_ERROR HurrayError* error) noexcept {
    HURRAY_DISPATCH(buffer, error, buffer_set_release_queue, buffer, queue, error);
    if (queue != nullptr) HURRAY_REQUIRE_HANDLE(queue, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_sole_lender(*buffer); !checked) return checked;
        buffer->lent->policy.queue = queue == nullptr ? Ref<ReleaseQueue>{} : queue->queue;
        return {};
    });
}

/// Gives the creator's consent to release the buffer's memory at once on whatever thread ends its last handle.
/// @errors INVALID_ARGUMENT: the library owns the memory (and needs no consent) or shares exist already
/// @thread one thread, before the buffer is shared
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_set_release_any_thread(HG_INOUT HurrayBuffer* buffer,
                                                             HG_ERROR HurrayError* error) noexcept {
    HURRAY_DISPATCH(buffer, error, buffer_set_release_any_thread, buffer, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_sole_lender(*buffer); !checked) return checked;
        buffer->lent->policy.any_thread = true;
        return {};
    });
}
