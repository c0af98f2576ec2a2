// What long work takes: a limit of memory, and a callback that is told how far it is.
#ifndef HURRAY_WORK_HPP_
#define HURRAY_WORK_HPP_

#include <cstdint>

#include "hurray/callback.hpp"
#include "hurray/error.hpp"

namespace hurray {

/// Told `done` of `total`, now and then; false stops the work, which then fails with HURRAY_ERR_CANCELLED.
using Progress = FunctionRef<bool(std::uint64_t done, std::uint64_t total)>;

/// How long work is done.
struct WorkOptions {
    /// The most bytes of new memory at one time; 0 for no limit.
    std::uint64_t memory_limit = 0;
    /// Refers to a callable that outlives the call. One that throws stops the work with HURRAY_ERR_INTERNAL_PANIC.
    Progress progress = {};
};

namespace detail {

/// HurrayWorkOptions over the caller's progress; lives during one call.
class Work {
  public:
    explicit Work(const WorkOptions& options) noexcept : progress_(options.progress), raw_(sized<HurrayWorkOptions>()) {
        raw_.memory_limit = options.memory_limit;
        if (progress_) {
            raw_.progress = &Work::tell;
            raw_.context = this;
        }
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    const HurrayWorkOptions* get() const noexcept { return &raw_; }
    /// What the call came to, seen that the callback may have thrown.
    template <typename T>
    Result<T> outcome(Result<T> result) noexcept {
        if (threw_ && !result) return threw();
        return result;
    }

  private:
    static std::uint8_t tell(void* context, std::uint64_t done, std::uint64_t total) noexcept {
        auto* self = static_cast<Work*>(context);
        HURRAY_HPP_TRY_ {
            return self->progress_(done, total) ? 1 : 0;
        }
        HURRAY_HPP_CATCH_ALL_ {
            self->threw_ = true;
            return 0;
        }
    }

    Progress progress_;
    bool threw_ = false;
    HurrayWorkOptions raw_;
};

}  // namespace detail
}  // namespace hurray

#endif  // HURRAY_WORK_HPP_
