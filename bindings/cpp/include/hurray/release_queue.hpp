// Where releases wait for a thread that consents to run them.
#ifndef HURRAY_RELEASE_QUEUE_HPP_
#define HURRAY_RELEASE_QUEUE_HPP_

#include <cstdint>

#include "hurray/handle.hpp"

namespace hurray {

/// Collects releases that must not run on the thread that dropped the last reference.
class ReleaseQueue : public UniqueHandle<HurrayReleaseQueue, hurray_release_queue_destroy> {
  public:
    using UniqueHandle::UniqueHandle;

    /// An empty queue.
    static Result<ReleaseQueue> create() noexcept { return detail::make<ReleaseQueue>(hurray_release_queue_new); }
    /// Runs at most `limit` releases that wait, oldest first; tells how many.
    Result<std::uint64_t> drain(std::uint64_t limit = UINT64_MAX) const noexcept { return drain(get(), limit); }
    /// How many releases wait.
    Result<std::uint64_t> pending() const noexcept { return pending(get()); }
    /// Of the process's default queue, where releases wait that have no queue of their own.
    static Result<std::uint64_t> drain_default(std::uint64_t limit = UINT64_MAX) noexcept {
        return drain(nullptr, limit);
    }
    /// How many releases wait on the default queue.
    static Result<std::uint64_t> pending_default() noexcept { return pending(nullptr); }

  private:
    static Result<std::uint64_t> drain(const HurrayReleaseQueue* queue, std::uint64_t limit) noexcept {
        return detail::get<std::uint64_t>(hurray_release_queue_drain, queue, limit);
    }
    static Result<std::uint64_t> pending(const HurrayReleaseQueue* queue) noexcept {
        return detail::get<std::uint64_t>(hurray_release_queue_pending, queue);
    }
};

}  // namespace hurray

#endif  // HURRAY_RELEASE_QUEUE_HPP_
