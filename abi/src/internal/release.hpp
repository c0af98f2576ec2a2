// Memory lent by a caller, and the queues on which its release waits for a thread that may run it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "abi/src/api/buffer.hpp"
#include "abi/src/internal/fork.hpp"
#include "core/hurray/memory/storage.hpp"

namespace hurray::abi {

class ReleaseQueue;

/// Drops a reference (null: none) as the caller of a _destroy or a _destroy_deferred function may.
inline void drop(Storage* storage, bool deferred) noexcept {
    if (storage == nullptr) return;
    deferred ? storage->drop_reference_deferred() : storage->drop_reference();
}

/// A release that is due: an intrusive node, so that queueing one can never fail for lack of memory.
class PendingRelease {
public:
    /// Runs the release and ends the object.
    virtual void run() noexcept = 0;

protected:
    ~PendingRelease() = default;

private:
    friend class ReleaseQueue;
    PendingRelease* next_ = nullptr;
};

/// First in, first out. Thread rule: any thread may enqueue; draining runs the releases on the draining thread, with
/// no lock held.
class ReleaseQueue final {
public:
    /// The queue of releases that were given none.
    static ReleaseQueue& process_default() noexcept;

    /// `fork_generation`: that of the process that makes it. In a fork of that process the queue is not touched any
    /// more, since nobody may be left to unlock it.
    constexpr explicit ReleaseQueue(std::uint32_t fork_generation) noexcept : fork_generation_(fork_generation) {}

    /// Gives the child of a fork an empty default queue.
    static void reset_default_after_fork() noexcept;

    void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void drop_reference() noexcept;

    /// Puts a release on the queue, or on the default queue once this one is closed.
    void enqueue(PendingRelease* release) noexcept;
    /// Runs up to `limit` releases and returns how many ran.
    std::uint64_t drain(std::uint64_t limit) noexcept;
    [[nodiscard]] std::uint64_t pending() noexcept;
    /// Nothing is put here any more.
    void close() noexcept;

private:
    [[nodiscard]] bool inherited() const noexcept { return fork_generation_ != abi::fork_generation(); }

    const std::uint32_t fork_generation_;
    std::mutex mutex_;
    PendingRelease* first_ = nullptr;
    PendingRelease* last_ = nullptr;
    std::uint64_t pending_ = 0;
    bool closed_ = false;
    std::atomic<std::uint64_t> references_{1};
};

/// Who may run a release, set by the creator.
struct ReleasePolicy {
    Ref<ReleaseQueue> queue;  ///< empty: the default queue
    bool any_thread = false;  ///< consent to release at once on whatever thread
};

/// Memory that a caller lent with a release callback (null: borrowed for ever).
class LentStorage final : public Storage, private PendingRelease {
public:
    LentStorage(HurrayReleaseCallback release, void* data, void* context) noexcept
        : release_(release), data_(data), context_(context) {}

    ReleasePolicy policy;

    /// Deleter for one that was never handed to a buffer: its release does not run, the memory stays the caller's.
    struct Forget {
        void operator()(LentStorage* storage) const noexcept { delete storage; }
    };

private:
    ~LentStorage() override = default;
    void dispose() noexcept override;
    void dispose_deferred() noexcept override;
    void run() noexcept override { dispose(); }

    HurrayReleaseCallback release_;
    void* data_;
    void* context_;
    const std::uint32_t fork_generation_ = fork_generation();
};

/// Owner of a tensor context, kept as long as anything needs the memory that it stands for.
class ContextOwner final : public Storage, private PendingRelease {
public:
    ContextOwner(HurrayOwnerReleaseFn release, void* owner) noexcept : release_(release), owner_(owner) {}

    ReleasePolicy policy;

    /// An owner that keeps two others.
    static Ref<ContextOwner> both(Ref<ContextOwner> first, Ref<ContextOwner> second) {
        auto* joint = new ContextOwner(nullptr, nullptr);
        joint->kept_[0] = std::move(first);
        joint->kept_[1] = std::move(second);
        return Ref<ContextOwner>::adopt(joint);
    }

    /// Whether anything happens when the last reference goes.
    [[nodiscard]] bool has_release() const noexcept { return release_ != nullptr || kept_[0] || kept_[1]; }

private:
    ~ContextOwner() override = default;
    void dispose() noexcept override;
    void dispose_deferred() noexcept override;
    void run() noexcept override { dispose(); }

    HurrayOwnerReleaseFn release_;
    void* owner_;
    const std::uint32_t fork_generation_ = fork_generation();
    Ref<ContextOwner> kept_[2];
};

}  // namespace hurray::abi
