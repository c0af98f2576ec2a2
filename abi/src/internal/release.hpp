// Memory lent by a caller, and the queues on which its release waits for a thread that may run it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "abi/src/api/buffer.hpp"
#include "abi/src/internal/diagnostics.hpp"
#include "abi/src/internal/fork.hpp"
#include "core/hurray/memory/storage.hpp"

namespace hurray::abi {

class ReleaseQueue;

/// Drops a reference (null: none) as the caller of a _destroy or a _destroy_deferred function may. Returns false when a
/// callback that ran because of it threw an exception.
inline bool drop(Storage* storage, bool deferred) noexcept {
    if (storage == nullptr) return true;
    return deferred ? storage->drop_reference_deferred() : storage->drop_reference();
}

/// Runs a callback of the caller that must not throw: one that does anyway goes no further, and its text is kept for
/// hurray_diagnostics_read behind `what`. Returns whether it ended in the ordinary way.
template <typename Callback>
bool run_callback(const char* what, Callback&& callback) noexcept {
    try {
        callback();
        return true;
    } catch (...) {
        keep_diagnostic(HURRAY_ERR_INTERNAL_PANIC, what, exception_text());
    }
    return false;
}

/// A release that is due: an intrusive node, so that queueing one can never fail for lack of memory.
class PendingRelease {
public:
    /// Runs the release and ends the object. Returns false when its callback threw an exception.
    virtual bool run() noexcept = 0;

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
    struct Drained {
        std::uint64_t releases = 0;  ///< how many ran
        bool clean = true;           ///< no callback threw an exception
    };
    /// Runs up to `limit` releases. One that fails keeps none of the others from running.
    Drained drain(std::uint64_t limit) noexcept;
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
    bool dispose() noexcept override;
    bool dispose_deferred() noexcept override;
    bool run() noexcept override { return dispose(); }

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

private:
    ~ContextOwner() override = default;
    bool dispose() noexcept override;
    bool dispose_deferred() noexcept override;
    bool run() noexcept override { return dispose(); }

    HurrayOwnerReleaseFn release_;
    void* owner_;
    const std::uint32_t fork_generation_ = fork_generation();
};

/// Keeps two owners: that of the context that a buffer came with, and that of the one it came with later.
class JointOwner final : public Storage {
public:
    JointOwner(Ref<Storage> earlier, Ref<Storage> later) noexcept
        : earlier_(std::move(earlier)), later_(std::move(later)), next_(dynamic_cast<JointOwner*>(earlier_.get())) {}

    /// That of the memory that was there first.
    [[nodiscard]] const SharedBacking* shared_backing() const noexcept override;

private:
    ~JointOwner() override = default;
    bool dispose() noexcept override { return end(false); }
    bool dispose_deferred() noexcept override { return end(true); }
    bool end(bool deferred) noexcept;

    Ref<Storage> earlier_;
    Ref<Storage> later_;
    /// `earlier_`, when that is of this class, too.
    JointOwner* next_;
};

}  // namespace hurray::abi
