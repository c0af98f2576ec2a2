// Walking through the elements of a dense tensor in the order in which they are stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/hilbert_walk.hpp"

namespace hurray {

/// Elements that lie at equal distances and differ in one index.
struct StorageRun {
    /// Of the first one, in elements from byte_offset.
    std::int64_t offset = 0;
    /// From one to the next, in elements; never negative, 0 where a stride repeats an element.
    std::int64_t stride = 0;
    std::uint64_t count = 0;
    /// Which index differs; by +1 from one element to the next, by -1 when it is `descending`.
    std::uint32_t dimension = 0;
    bool descending = false;
};

/// Hands out every element that exists once, padding of tiles and curves left out, in runs. Offsets ascend within a run
/// and, where the loops of the layout do not overlap in memory, from run to run: always for row-major, column-major,
/// Morton and Hilbert, and for strides and tiles of which each step reaches over all that the smaller steps reach over.
/// Others are handed out in the order of their strides, the largest one's loop the slowest.
///
/// Takes memory once, when it is made; none while it walks. Refers to the map. Thread rule: one thread at a time.
class StorageOrder {
  public:
    explicit StorageOrder(const AddressMap& map);

    /// The next run; false when there is none.
    bool next(StorageRun& run) noexcept;
    /// The index of the first element of the run that next() returned: one value a dimension.
    [[nodiscard]] std::span<const std::uint64_t> index() const noexcept { return index_; }

  private:
    // A loop while it runs.
    struct Counter {
        AddressMap::Loop loop;
        /// The loop before this one that walks the same dimension; -1 for none.
        std::int32_t enclosing;
        /// Elements of the dimension that the enclosing loop leaves to this one.
        std::uint64_t extent;
        /// Steps, and how many were taken.
        std::uint64_t steps;
        std::uint64_t taken;
        /// Where the loop is: in the dimension, and in memory with the loops around it.
        std::uint64_t index;
        std::int64_t offset;

        // Backwards through the index where that is forwards through memory.
        [[nodiscard]] std::uint64_t step() const noexcept { return loop.stride < 0 ? steps - 1 - taken : taken; }
    };

    void place(std::size_t loop) noexcept;
    void enter(std::size_t loop) noexcept;
    bool advance() noexcept;

    const AddressMap* map_;
    std::optional<HilbertWalk> hilbert_;
    std::vector<Counter> counters_;
    std::vector<std::uint64_t> index_;
    std::uint64_t place_ = 0;
    bool started_ = false;
};

/// Calls `use(offset, index)` for every element, as StorageOrder hands them out; `index` is one value a dimension.
template <typename Use>
void for_each_in_storage_order(const AddressMap& map, Use&& use) {
    StorageOrder order(map);
    StorageRun run;
    std::array<std::uint64_t, max_rank> index;
    const std::size_t rank = map.shape().size();
    while (order.next(run)) {
        for (std::size_t k = 0; k < rank; ++k) index[k] = order.index()[k];
        for (std::uint64_t i = 0; i < run.count; ++i) {
            use(run.offset + static_cast<std::int64_t>(i) * run.stride, std::span<const std::uint64_t>(index.data(), rank));
            if (rank != 0) index[run.dimension] += run.descending ? ~std::uint64_t{0} : 1;
        }
    }
}

}  // namespace hurray
