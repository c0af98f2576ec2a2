// Copying elements between places that are listed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hurray::transcode_detail {

/// How the elements of a buffer are packed: groups of 2^group_shift elements fill group_bytes bytes.
struct Packing {
    /// 1, 2, 4, 6 or a multiple of 8.
    std::uint64_t bits = 8;
    std::uint32_t group_shift = 0;
    std::uint64_t group_bytes = 1;

    static Packing of_bits(std::uint64_t bits) noexcept {
        switch (bits) {
            case 1:
                return {1, 3, 1};
            case 2:
                return {2, 2, 1};
            case 4:
                return {4, 1, 1};
            case 6:
                return {6, 2, 3};
            default:
                return {bits, 0, bits / 8};
        }
    }
    /// Whether an element is the first of its group.
    [[nodiscard]] bool is_first(std::uint64_t element) const noexcept {
        return (element & ((std::uint64_t{1} << group_shift) - 1)) == 0;
    }
    /// Bytes that have bits of so many elements.
    [[nodiscard]] std::uint64_t bytes_of(std::uint64_t elements) const noexcept {
        return bits < 8 ? (elements * bits + 7) / 8 : elements * group_bytes;
    }
    /// The byte in which the group of an element starts.
    [[nodiscard]] std::uint64_t byte_of(std::uint64_t element) const noexcept {
        return (element >> group_shift) * group_bytes;
    }
};

/// Elements that lie one after the other, at a place in each buffer: in elements from where a copy starts there.
struct Run {
    std::int64_t from;
    std::int64_t to;
    std::uint64_t count;
};

/// Elements at equal distances: `count` of them.
struct Steps {
    std::int64_t from;
    std::int64_t to;
    std::uint64_t count;
};

/// A list of runs, ready to be copied any number of times, each time from and to another start.
///
/// Thread rule: may be read by any number of threads.
class CopyTable {
  public:
    /// @param runs their targets do not overlap; in any order
    /// @param from_at_groups, to_at_groups whether all copies start at whole groups in the source, in the target
    CopyTable(std::vector<Run>&& runs, const Packing& packing, bool from_at_groups, bool to_at_groups);

    /// Copies. Starts are in elements from the bases, which are those of whole groups; no place lies before a base.
    void copy(const std::byte* from_base, std::uint64_t from_start, std::byte* to_base,
              std::uint64_t to_start) const noexcept {
        kernel_(*this, from_base, from_start, to_base, to_start);
    }
    /// Whether it copies whole bytes and lists the place of each run in both buffers, all runs being equally long.
    [[nodiscard]] bool lists_both_places() const noexcept {
        return whole_bytes_ && size_ == from_.size() && size_ == to_.size() && counts_.empty();
    }
    /// Puts the same runs into another order, if none of them were joined. Only with lists_both_places().
    void reorder(const std::vector<Run>& runs) noexcept;
    [[nodiscard]] std::uint64_t element_count() const noexcept { return element_count_; }

  private:
    using Kernel = void (*)(const CopyTable&, const std::byte*, std::uint64_t, std::byte*, std::uint64_t) noexcept;
    friend struct CopyKernels;
    friend class SquareFinder;
    CopyTable() = default;

    // Places: in bytes where the elements are copied by bytes, else in elements. to_ is empty where the target is filled
    // without gaps, from_ where the source has none.
    std::vector<std::int64_t> from_;
    std::vector<std::int64_t> to_;
    // Of each run, where they differ.
    std::vector<std::uint64_t> counts_;
    // Bytes or elements of a run.
    std::uint64_t run_ = 0;
    std::size_t size_ = 0;
    std::uint64_t element_count_ = 0;
    Packing packing_;
    bool whole_bytes_ = false;
    Kernel kernel_ = nullptr;
    // Of squares: where their rows start in the source, and their columns in the target, in bytes.
    static constexpr std::size_t largest_square = 8;
    std::array<std::int64_t, largest_square> rows_{};
    std::array<std::int64_t, largest_square> columns_{};
};

/// Copies `count` elements that lie one after the other. Starts are counted as in CopyTable::copy.
void copy_run(const std::byte* from_base, std::uint64_t from_start, std::byte* to_base, std::uint64_t to_start,
              std::uint64_t count, const Packing& packing) noexcept;

/// The table of runs of `run` elements at all combinations of steps.
CopyTable make_copy_table(std::vector<Steps>&& steps, std::uint64_t run, const Packing& packing, bool from_at_groups,
                          bool to_at_groups);

}  // namespace hurray::transcode_detail
