#include "core/hurray/transcode/copy_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/hurray/transcode/copy_kernels.hpp"
#include "core/hurray/transcode/element_kind.hpp"
#include "core/hurray/transcode/run_order.hpp"
#include "core/hurray/transcode/square_finder.hpp"

namespace hurray::transcode_detail {
namespace {

// Elements whose places are listed one by one.
constexpr std::uint64_t most_single_places = 8192;

// Joins what lies one after the other in both buffers. The runs are sorted by target.
void join(std::vector<Run>& runs) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        Run& previous = runs[last];
        const auto length = static_cast<std::int64_t>(previous.count);
        if (runs[i].from == previous.from + length && runs[i].to == previous.to + length) {
            previous.count += runs[i].count;
        } else {
            runs[++last] = runs[i];
        }
    }
    runs.resize(last + 1);
}

bool are_equally_long(const std::vector<Run>& runs) {
    return std::ranges::all_of(runs, [&](const Run& run) { return run.count == runs[0].count; });
}

template <std::int64_t Run::*place>
bool fill_without_gaps(const std::vector<Run>& runs) {
    for (std::size_t i = 1; i < runs.size(); ++i) {
        if (runs[i].*place != runs[i - 1].*place + static_cast<std::int64_t>(runs[i - 1].count)) return false;
    }
    return true;
}

template <std::int64_t Run::*place>
bool are_at_groups(const std::vector<Run>& runs, const Packing& packing) {
    return std::ranges::all_of(
        runs, [&](const Run& run) { return packing.is_first(static_cast<std::uint64_t>(run.*place)); });
}

}  // namespace

void copy_run(const std::byte* from_base, std::uint64_t from_start, std::byte* to_base, std::uint64_t to_start,
              std::uint64_t count, const Packing& packing) noexcept {
    // Whole groups, then what is left of the last one.
    std::uint64_t done = 0;
    if (packing.is_first(from_start) && packing.is_first(to_start)) {
        const std::uint64_t groups = count >> packing.group_shift;
        if (groups != 0) {
            std::memcpy(to_base + packing.byte_of(to_start), from_base + packing.byte_of(from_start),
                        groups * packing.group_bytes);
        }
        done = groups << packing.group_shift;
    }
    with_kind(packing, [&](const auto& kind) {
        for (; done < count; ++done) kind.copy(from_base, from_start + done, to_base, to_start + done);
    });
}

CopyTable make_copy_table(std::vector<Steps>&& steps, std::uint64_t run, const Packing& packing, bool from_at_groups,
                          bool to_at_groups) {
    if (run == 1) {
        if (auto squares = SquareFinder(steps, packing).find()) return std::move(*squares);
    }
    CopyTable table(combine(steps, run), packing, from_at_groups, to_at_groups);
    constexpr std::uint64_t line = 64;
    if (table.lists_both_places() && packing.byte_of(run) < line && pair_first(steps, run)) {
        table.reorder(combine_in_order(steps, run));
    }
    return table;
}

CopyTable::CopyTable(std::vector<Run>&& runs, const Packing& packing, bool from_at_groups, bool to_at_groups)
    : packing_(packing) {
    if (!std::ranges::is_sorted(runs, {}, &Run::to)) std::ranges::sort(runs, {}, &Run::to);
    join(runs);
    for (const Run& run : runs) element_count_ += run.count;
    const bool even = are_equally_long(runs);
    const bool whole_groups =
        from_at_groups && to_at_groups && are_at_groups<&Run::from>(runs, packing) &&
        are_at_groups<&Run::to>(runs, packing) &&
        std::ranges::all_of(runs, [&](const Run& run) { return packing.is_first(run.count); });
    if (!whole_groups) {
        if (to_at_groups && fill_without_gaps<&Run::to>(runs) && runs[0].to == 0 &&
            packing.is_first(element_count_) && element_count_ <= most_single_places) {
            for (const Run& run : runs) {
                for (std::uint64_t i = 0; i < run.count; ++i) from_.push_back(run.from + static_cast<std::int64_t>(i));
            }
            size_ = from_.size();
            kernel_ = CopyKernels::packed_gather_of(packing.bits);
            return;
        }
        for (const Run& run : runs) {
            from_.push_back(run.from);
            to_.push_back(run.to);
            counts_.push_back(run.count);
        }
        size_ = runs.size();
        kernel_ = CopyKernels::packed_of(packing.bits);
        return;
    }
    whole_bytes_ = true;
    size_ = runs.size();
    const bool fills = even && runs[0].to == 0 && fill_without_gaps<&Run::to>(runs);
    bool empties = false;
    if (even && !fills) {
        std::ranges::sort(runs, {}, &Run::from);
        empties = runs[0].from == 0 && fill_without_gaps<&Run::from>(runs);
        if (!empties) std::ranges::sort(runs, {}, &Run::to);
    }
    const auto bytes = [&](std::int64_t place) {
        // Rounds down, for negative places, too.
        return (place >> packing.group_shift) * static_cast<std::int64_t>(packing.group_bytes);
    };
    if (!empties) from_.reserve(runs.size());
    if (!fills) to_.reserve(runs.size());
    for (const Run& run : runs) {
        if (!empties) from_.push_back(bytes(run.from));
        if (!fills) to_.push_back(bytes(run.to));
        if (!even) counts_.push_back(packing.byte_of(run.count));
    }
    run_ = packing.byte_of(runs[0].count);
    kernel_ = !even     ? CopyKernels::uneven
              : fills   ? CopyKernels::of_size<CopyKernels::Gather>(run_)
              : empties ? CopyKernels::of_size<CopyKernels::Scatter>(run_)
                        : CopyKernels::of_size<CopyKernels::Both>(run_);
}

void CopyTable::reorder(const std::vector<Run>& runs) noexcept {
    // Some were joined.
    if (runs.size() != size_) return;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        from_[i] = (runs[i].from >> packing_.group_shift) * static_cast<std::int64_t>(packing_.group_bytes);
        to_[i] = (runs[i].to >> packing_.group_shift) * static_cast<std::int64_t>(packing_.group_bytes);
    }
}

}  // namespace hurray::transcode_detail
