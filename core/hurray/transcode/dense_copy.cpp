#include "core/hurray/transcode/dense_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "core/hurray/transcode/blocks.hpp"
#include "core/hurray/transcode/copy_table.hpp"
#include "core/hurray/transcode/dense_side.hpp"
#include "core/hurray/transcode/hilbert_copy.hpp"
#include "core/hurray/transcode/place_tables.hpp"

namespace hurray {
namespace transcode_detail {
namespace {

// Walks over the blocks. A loop has as many steps as there is something of the tensor in.
class BlockWalk {
  public:
    explicit BlockWalk(const Blocks& blocks) : blocks_(blocks), start_(blocks.dimensions.size()) {
        std::vector<std::int32_t> latest(blocks.dimensions.size(), -1);
        for (const Digit& loop : blocks.loops) {
            counters_.push_back({.loop = loop, .enclosing = latest[loop.dimension]});
            latest[loop.dimension] = static_cast<std::int32_t>(counters_.size()) - 1;
        }
        enter(0);
    }

    /// Where the block starts in a dimension.
    [[nodiscard]] std::uint64_t start(std::size_t dimension) const noexcept { return start_[dimension]; }
    [[nodiscard]] std::int64_t from() const noexcept { return counters_.empty() ? 0 : counters_.back().from; }
    [[nodiscard]] std::int64_t to() const noexcept { return counters_.empty() ? 0 : counters_.back().to; }

    bool next() noexcept {
        for (std::size_t loop = counters_.size(); loop-- > 0;) {
            Counter& counter = counters_[loop];
            if (counter.taken + 1 == counter.steps) continue;
            ++counter.taken;
            place(loop);
            enter(loop + 1);
            return true;
        }
        return false;
    }

  private:
    struct Counter {
        Digit loop;
        // The loop around this one in the same dimension; -1 for none.
        std::int32_t enclosing;
        // Elements of the dimension that are left to this loop.
        std::uint64_t extent = 0;
        std::uint64_t steps = 0;
        std::uint64_t taken = 0;
        std::uint64_t index = 0;
        // With the loops around it.
        std::int64_t from = 0;
        std::int64_t to = 0;
    };

    void place(std::size_t loop) noexcept {
        Counter& counter = counters_[loop];
        const std::uint64_t base =
            counter.enclosing < 0 ? 0 : counters_[static_cast<std::size_t>(counter.enclosing)].index;
        counter.index = base + counter.taken * counter.loop.unit;
        start_[counter.loop.dimension] = counter.index;
        if (!blocks_.regular) return;
        const auto taken = static_cast<std::int64_t>(counter.taken);
        counter.from = (loop == 0 ? 0 : counters_[loop - 1].from) + taken * counter.loop.from;
        counter.to = (loop == 0 ? 0 : counters_[loop - 1].to) + taken * counter.loop.to;
    }

    void enter(std::size_t loop) noexcept {
        for (; loop < counters_.size(); ++loop) {
            Counter& counter = counters_[loop];
            counter.extent = blocks_.dimensions[counter.loop.dimension].size;
            if (counter.enclosing >= 0) {
                const Counter& around = counters_[static_cast<std::size_t>(counter.enclosing)];
                counter.extent = std::min(around.loop.unit, around.extent - around.taken * around.loop.unit);
            }
            counter.steps = counter.extent / counter.loop.unit + (counter.extent % counter.loop.unit != 0 ? 1 : 0);
            counter.taken = 0;
            place(loop);
        }
    }

    const Blocks& blocks_;
    std::vector<Counter> counters_;
    std::vector<std::uint64_t> start_;
};

// The tables of whole blocks and of those at the edges, made when they are needed.
class BlockTables {
  public:
    BlockTables(const Blocks& blocks, const Packing& packing) : blocks_(blocks), packing_(packing) {
        for (const Digit& loop : blocks.loops) {
            from_at_groups_ = from_at_groups_ && packing.is_first(static_cast<std::uint64_t>(loop.from));
            to_at_groups_ = to_at_groups_ && packing.is_first(static_cast<std::uint64_t>(loop.to));
        }
        for (std::uint32_t k = 0; k < blocks.dimensions.size(); ++k) {
            if (blocks.dimensions[k].size % blocks.dimensions[k].length != 0) cut_.push_back(k);
        }
    }

    // The table of the block where the walk is.
    const CopyTable& find(const BlockWalk& walk) {
        std::uint64_t key = 0;
        for (std::size_t i = 0; i < cut_.size(); ++i) {
            const BlockDimension& dimension = blocks_.dimensions[cut_[i]];
            const bool is_cut = dimension.size - walk.start(cut_[i]) < dimension.length;
            key |= std::uint64_t{is_cut} << i;
        }
        if (current_ != nullptr && current_->key == key) return current_->table;
        for (const auto& entry : entries_) {
            if (entry->key != key) continue;
            current_ = entry.get();
            return entry->table;
        }
        if (entries_.size() == most_entries) entries_.erase(entries_.begin());
        entries_.push_back(std::make_unique<Entry>(key, make(key)));
        current_ = entries_.back().get();
        return current_->table;
    }

  private:
    struct Entry {
        std::uint64_t key;
        CopyTable table;
        Entry(std::uint64_t k, CopyTable&& t) : key(k), table(std::move(t)) {}
    };
    static constexpr std::size_t most_entries = 32;

    [[nodiscard]] CopyTable make_whole() const {
        std::vector<Steps> steps;
        std::uint64_t run = 1;
        for (std::uint32_t k = 0; k < blocks_.dimensions.size(); ++k) {
            const BlockDimension& dimension = blocks_.dimensions[k];
            std::uint64_t above = dimension.length;
            for (const Digit& digit : dimension.digits) {
                const std::uint64_t count = above / digit.unit;
                above = digit.unit;
                if (k == blocks_.run_dimension && digit.unit == 1) {
                    run = count;
                } else {
                    steps.push_back({digit.from, digit.to, count});
                }
            }
        }
        return make_copy_table(std::move(steps), run, packing_, from_at_groups_, to_at_groups_);
    }

    [[nodiscard]] CopyTable make(std::uint64_t key) const {
        if (key == 0) return make_whole();
        std::vector<Run> runs = {{0, 0, 1}};
        for (std::uint32_t k = 0; k < blocks_.dimensions.size(); ++k) {
            const BlockDimension& dimension = blocks_.dimensions[k];
            std::uint64_t length = dimension.length;
            for (std::size_t i = 0; i < cut_.size(); ++i) {
                if (cut_[i] == k && (key >> i & 1) != 0) length = dimension.size % dimension.length;
            }
            if (length > 1) extend(runs, k, length);
        }
        return CopyTable(std::move(runs), packing_, from_at_groups_, to_at_groups_);
    }

    void extend(std::vector<Run>& runs, std::uint32_t k, std::uint64_t length) const {
        const BlockDimension& dimension = blocks_.dimensions[k];
        const std::uint64_t run = k == blocks_.run_dimension ? blocks_.run : 1;
        std::vector<Run> longer;
        longer.reserve(runs.size() * ((length + run - 1) / run));
        for (const Run& inner : runs) {
            for (std::uint64_t i = 0; i < length; i += run) {
                std::int64_t from = inner.from;
                std::int64_t to = inner.to;
                std::uint64_t rest = i;
                for (const Digit& digit : dimension.digits) {
                    const auto steps = static_cast<std::int64_t>(rest / digit.unit);
                    from += steps * digit.from;
                    to += steps * digit.to;
                    rest %= digit.unit;
                }
                // The other dimensions come before or after the one with runs, each of which is whole.
                if (run == 1) {
                    longer.push_back({from, to, inner.count});
                } else {
                    longer.push_back({from, to, std::min(run, length - i)});
                }
            }
        }
        runs = std::move(longer);
    }

    const Blocks& blocks_;
    Packing packing_;
    bool from_at_groups_ = true;
    bool to_at_groups_ = true;
    // Dimensions whose last block is not whole.
    std::vector<std::uint32_t> cut_;
    std::vector<std::unique_ptr<Entry>> entries_;
    const Entry* current_ = nullptr;
};

bool copy_by_table(const Blocks& blocks, const SourceSide& from, const TargetSide& to, const Packing& packing,
                   Work& work) {
    BlockTables tables(blocks, packing);
    BlockWalk walk(blocks);
    do {
        const CopyTable& table = tables.find(walk);
        table.copy(from.base, from.at(walk.from()), to.base, to.at(walk.to()));
        if (!work.advance(packing.bytes_of(table.element_count()))) return false;
    } while (walk.next());
    return true;
}

// Where the units of the layouts do not go into each other: a table of places for each dimension of a block.
bool copy_by_dimension(const AddressMap& from_map, const AddressMap& to_map, const Blocks& blocks,
                       const SourceSide& from, const TargetSide& to, const Packing& packing, Work& work) {
    std::vector<PlaceTable> places;
    for (const BlockDimension& dimension : blocks.dimensions) {
        places.emplace_back(from_map, to_map, dimension.tensor_dimension, std::min(dimension.length, dimension.size));
    }
    BlockWalk walk(blocks);
    do {
        std::uint64_t count = 1;
        for (std::size_t k = 0; k < places.size(); ++k) {
            const std::uint64_t start = walk.start(k);
            const std::uint64_t length =
                std::min(blocks.dimensions[k].length, blocks.dimensions[k].size - start);
            places[k].fill(start, length);
            count *= length;
        }
        copy_places(places, from, to, packing);
        if (!work.advance(packing.bytes_of(count))) return false;
    } while (walk.next());
    return true;
}

}  // namespace
}  // namespace transcode_detail

Result<void> copy_dense(const AddressMap& from, const std::byte* source, const AddressMap& to, std::byte* target,
                        Work& work) {
    using namespace transcode_detail;
    if (!std::ranges::equal(from.shape(), to.shape()) || from.element_bits() != to.element_bits()) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "tensors: expected the same shape and the same size of elements");
    }
    if (from.element_count() == 0) return {};
    const Packing packing = Packing::of_bits(from.element_bits());
    const SourceSide source_side(from, source, packing);
    const TargetSide target_side(to, target, packing);
    bool done = false;
    if (!from.is_separable() || !to.is_separable()) {
        done = copy_hilbert(from, source_side, to, target_side, packing, work);
    } else {
        const Blocks blocks = make_blocks(from, to);
        done = blocks.regular ? copy_by_table(blocks, source_side, target_side, packing, work)
                              : copy_by_dimension(from, to, blocks, source_side, target_side, packing, work);
    }
    if (!done) return work.cancelled();
    return {};
}

}  // namespace hurray
