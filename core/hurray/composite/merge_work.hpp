// Memory and progress of a merge, whose parts have limits and reports of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/memory/buffer.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// A packed run of elements.
struct Packed {
    std::span<const std::byte> bytes;
    /// Keeps them where nobody else does.
    Buffer owned = {};
};

/// Hands the progress of a part of the work on.
struct PartReport {
    const WorkOptions& options;
    std::uint64_t before;
    std::uint64_t unit;
    std::uint64_t total;

    static bool report(void* context, std::uint64_t done, std::uint64_t) {
        const auto& part = *static_cast<const PartReport*>(context);
        const auto bytes = checked_mul(done, part.unit);
        const auto sum = checked_add(part.before, bytes.value_or(part.total)).value_or(part.total);
        return part.options.progress(part.options.context, std::min(sum, part.total), part.total);
    }
};

/// Thread rule: one thread at a time.
class MergeWork {
  public:
    /// @param options outlive it
    /// @param total bytes that are put in place, for reports
    MergeWork(const WorkOptions& options, std::uint64_t total) : options_(options), work_(options, total), total_(total) {}

    Result<Buffer> allocate(std::uint64_t size, Contents contents) {
        auto buffer = work_.allocate(size, minimum_alignment, contents);
        if (buffer) held_ += size;
        return buffer;
    }
    void give_back(Packed& packed) {
        if (!packed.owned.storage) return;
        work_.release(packed.owned.handle.byte_size);
        held_ -= packed.owned.handle.byte_size;
        packed.owned = {};
    }

    /// Reports so many bytes more; false when the work shall stop.
    bool advance(std::uint64_t bytes) {
        done_ += bytes;
        return work_.advance(bytes);
    }
    /// Counts bytes that somebody else has reported to work().
    void count(std::uint64_t bytes) noexcept { done_ += bytes; }

    /// A part whose progress is counted in units of so many bytes; 0: no bytes are put in place meanwhile.
    [[nodiscard]] PartReport part(std::uint64_t unit) const noexcept { return {options_, done_, unit, total_}; }
    /// What is left of the memory, and reports that are handed on.
    WorkOptions options_of_part(PartReport& report) const noexcept {
        WorkOptions part;
        // 0 would be no limit.
        if (options_.memory_limit != 0) part.memory_limit = std::max<std::uint64_t>(options_.memory_limit - held_, 1);
        if (options_.progress != nullptr) {
            part.progress = PartReport::report;
            part.context = &report;
        }
        return part;
    }

    [[nodiscard]] Work& work() noexcept { return work_; }
    [[nodiscard]] std::unexpected<Error> cancelled() const { return work_.cancelled(); }
    Result<void> finish() { return work_.finish(); }

  private:
    const WorkOptions& options_;
    Work work_;
    std::uint64_t total_;
    std::uint64_t done_ = 0;
    std::uint64_t held_ = 0;
};

}  // namespace hurray
