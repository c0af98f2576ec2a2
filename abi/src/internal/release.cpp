#include "abi/src/internal/release.hpp"

#include <new>
#include <utility>

namespace hurray::abi {
namespace {

constinit ReleaseQueue default_queue(0);

void defer(ReleasePolicy& policy, PendingRelease* release) noexcept {
    // The reference is held over the call: a release that runs at once may be the last user of the queue.
    const Ref<ReleaseQueue> queue = std::move(policy.queue);
    (queue ? *queue.get() : ReleaseQueue::process_default()).enqueue(release);
}

}  // namespace

ReleaseQueue& ReleaseQueue::process_default() noexcept { return default_queue; }

void ReleaseQueue::reset_default_after_fork() noexcept { new (&default_queue) ReleaseQueue(abi::fork_generation()); }

void ReleaseQueue::drop_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void ReleaseQueue::enqueue(PendingRelease* release) noexcept {
    if (!inherited()) {
        const std::lock_guard lock(mutex_);
        if (!closed_) {
            release->next_ = nullptr;
            (last_ == nullptr ? first_ : last_->next_) = release;
            last_ = release;
            ++pending_;
            return;
        }
    }
    process_default().enqueue(release);
}

ReleaseQueue::Drained ReleaseQueue::drain(std::uint64_t limit) noexcept {
    Drained drained;
    while (drained.releases < limit && !inherited()) {
        PendingRelease* release = nullptr;
        {
            const std::lock_guard lock(mutex_);
            release = first_;
            if (release == nullptr) break;
            first_ = release->next_;
            if (first_ == nullptr) last_ = nullptr;
            --pending_;
        }
        if (!release->run()) drained.clean = false;
        ++drained.releases;
    }
    return drained;
}

std::uint64_t ReleaseQueue::pending() noexcept {
    if (inherited()) return 0;
    const std::lock_guard lock(mutex_);
    return pending_;
}

void ReleaseQueue::close() noexcept {
    if (inherited()) return;
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

bool LentStorage::dispose() noexcept {
    const HurrayReleaseCallback release = release_;
    void* const data = data_;
    void* const context = context_;
    const bool inherited = fork_generation_ != fork_generation();
    delete this;
    if (release == nullptr || inherited) return true;
    return run_callback("release callback", [&] { release(data, context); });
}

bool LentStorage::dispose_deferred() noexcept {
    if (policy.any_thread || release_ == nullptr || fork_generation_ != fork_generation()) return dispose();
    defer(policy, this);
    return true;
}

bool ContextOwner::dispose() noexcept {
    const HurrayOwnerReleaseFn release = release_;
    void* const owner = owner_;
    const bool inherited = fork_generation_ != fork_generation();
    delete this;
    if (release == nullptr || inherited) return true;
    return run_callback("owner release callback", [&] { release(owner); });
}

bool ContextOwner::dispose_deferred() noexcept {
    if (policy.any_thread || release_ == nullptr || fork_generation_ != fork_generation()) return dispose();
    defer(policy, this);
    return true;
}

const SharedBacking* JointOwner::shared_backing() const noexcept {
    const JointOwner* first = this;
    while (first->next_ != nullptr) first = first->next_;
    return first->earlier_ ? first->earlier_->shared_backing() : nullptr;
}

bool JointOwner::end(bool deferred) noexcept {
    // A loop, since contexts may be stacked by the thousand: no level takes stack.
    bool clean = true;
    for (JointOwner* joint = this; joint != nullptr;) {
        Storage* const later = joint->later_.detach();
        Storage* const earlier = joint->earlier_.detach();
        JointOwner* const next = joint->next_;
        delete joint;
        clean = drop(later, deferred) && clean;
        if (next == nullptr) clean = drop(earlier, deferred) && clean;
        joint = next != nullptr && next->give_up_reference() ? next : nullptr;
    }
    return clean;
}

}  // namespace hurray::abi
