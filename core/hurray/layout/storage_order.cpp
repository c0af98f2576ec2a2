#include "core/hurray/layout/storage_order.hpp"

#include <algorithm>
#include <type_traits>

namespace hurray {

StorageOrder::StorageOrder(const AddressMap& map) : map_(&map), index_(map.shape().size()) {
    map.visit([&](const auto& address) {
        if constexpr (std::is_same_v<decltype(address), const HilbertAddress&>) {
            hilbert_.emplace(address.rank(), address.order());
        }
    });
    std::array<std::int32_t, max_rank> latest;
    latest.fill(-1);
    counters_.reserve(map.loops().size());
    for (const AddressMap::Loop& loop : map.loops()) {
        counters_.push_back({.loop = loop,
                             .enclosing = latest[loop.dimension],
                             .extent = 0,
                             .steps = 0,
                             .taken = 0,
                             .index = 0,
                             .offset = 0});
        latest[loop.dimension] = static_cast<std::int32_t>(counters_.size()) - 1;
    }
}

// Works out where a loop is after its step was chosen.
void StorageOrder::place(std::size_t loop) noexcept {
    Counter& counter = counters_[loop];
    const std::uint64_t step = counter.step();
    const std::uint64_t base = counter.enclosing < 0 ? 0 : counters_[static_cast<std::size_t>(counter.enclosing)].index;
    counter.index = base + step * counter.loop.unit;
    counter.offset = (loop == 0 ? 0 : counters_[loop - 1].offset) + static_cast<std::int64_t>(step) * counter.loop.stride;
    index_[counter.loop.dimension] = counter.index;
}

// Starts a loop and those within it. A tile at an edge has fewer elements than its shape says, never none.
void StorageOrder::enter(std::size_t loop) noexcept {
    for (; loop < counters_.size(); ++loop) {
        Counter& counter = counters_[loop];
        if (counter.enclosing < 0) {
            counter.extent = map_->shape()[counter.loop.dimension];
        } else {
            const Counter& around = counters_[static_cast<std::size_t>(counter.enclosing)];
            counter.extent = std::min(around.loop.unit, around.extent - around.step() * around.loop.unit);
        }
        counter.steps = counter.extent / counter.loop.unit + (counter.extent % counter.loop.unit != 0 ? 1 : 0);
        counter.taken = 0;
        place(loop);
    }
}

bool StorageOrder::advance() noexcept {
    // The fastest loop is handed out as a run.
    for (std::size_t loop = counters_.size() - 1; loop-- > 0;) {
        Counter& counter = counters_[loop];
        if (counter.taken + 1 == counter.steps) continue;
        ++counter.taken;
        place(loop);
        enter(loop + 1);
        return true;
    }
    return false;
}

bool StorageOrder::next(StorageRun& run) noexcept {
    if (hilbert_) {
        if (place_ == map_->element_count() || (place_ != 0 && !hilbert_->next())) return false;
        std::copy_n(hilbert_->coordinates(), index_.size(), index_.data());
        run = {.offset = static_cast<std::int64_t>(place_), .count = 1};
        ++place_;
        return true;
    }
    const bool first = !started_;
    started_ = true;
    if (first) {
        if (map_->element_count() == 0) return false;
        if (counters_.empty()) {
            // A single element without a loop: a scalar, or a Morton cube of sizes 1.
            run = {.count = 1};
            return true;
        }
        enter(0);
    } else if (counters_.empty() || map_->element_count() == 0 || !advance()) {
        return false;
    }
    const Counter& fastest = counters_.back();
    const bool descending = fastest.loop.stride < 0;
    run = {.offset = fastest.offset,
           .stride = descending ? -fastest.loop.stride : fastest.loop.stride,
           .count = fastest.steps,
           .dimension = fastest.loop.dimension,
           .descending = descending};
    return true;
}

}  // namespace hurray
