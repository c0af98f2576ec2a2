#include "core/hurray/transcode/blocks.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "core/hurray/base/checked.hpp"

namespace hurray::transcode_detail {
namespace {

// Places in a table of a block, and bytes of a block: it shall lie in the processor's nearest cache together with the
// table. Making a table shall take little of the time of the whole copy.
constexpr std::uint64_t most_places = 1024;
constexpr std::uint64_t least_places = 64;
constexpr std::uint64_t elements_for_a_place = 128;
constexpr std::uint64_t most_bytes = 16 << 10;
// How far a block grows in one tensor before it grows in the other.
constexpr std::uint64_t stretch = 32;
// Bytes in a row that are copied at a time.
constexpr std::uint64_t longest_run_bytes = 1 << 20;

struct Joint {
    std::uint64_t size;
    std::uint32_t tensor_dimension;
    // The coarsest first.
    std::vector<Digit> digits;
};

// Strides of digits are within a tensor's reach; only those that are guesses may wrap.
std::int64_t times(std::int64_t stride, std::uint64_t steps) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) * steps);
}

// The largest divisor of `steps` that is at most `most`, or a smaller one where it would take long to find.
std::uint64_t divisor(std::uint64_t steps, std::uint64_t most) noexcept {
    constexpr std::uint64_t tries = 4096;
    const std::uint64_t fewest = steps / most + (steps % most != 0 ? 1 : 0);
    for (std::uint64_t parts = fewest; parts < fewest + tries && parts < steps; ++parts) {
        if (steps % parts == 0) return steps / parts;
    }
    for (std::uint64_t taken = std::min(most, tries); taken > 1; --taken) {
        if (steps % taken == 0) return taken;
    }
    return 1;
}

std::uint64_t magnitude(std::int64_t stride) noexcept {
    return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

// Digits of one dimension; nothing when the units of the layouts do not go into each other.
std::optional<std::vector<Digit>> joint_digits(const AddressMap& from, const AddressMap& to, std::uint32_t k) {
    std::vector<std::uint64_t> units = {1};
    add_units(from, k, units);
    add_units(to, k, units);
    std::ranges::sort(units, std::greater());
    units.erase(std::ranges::unique(units).begin(), units.end());
    const std::uint64_t size = from.shape()[k];
    std::erase_if(units, [&](std::uint64_t unit) { return unit >= size; });
    std::vector<Digit> digits;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (i != 0 && units[i - 1] % units[i] != 0) return std::nullopt;
        digits.push_back({units[i], from.offset_along(k, units[i]), to.offset_along(k, units[i]), 0});
    }
    return digits;
}

// Joins dimensions that follow one another in both tensors, whichever is the slower one.
void join(std::vector<Joint>& dimensions) {
    const auto follows = [](const Joint& slow, const Joint& fast) {
        if (slow.digits.size() != 1 || fast.digits.size() != 1) return false;
        const Digit& s = slow.digits[0];
        const Digit& f = fast.digits[0];
        const auto whole = static_cast<std::int64_t>(fast.size);
        std::int64_t from = 0;
        std::int64_t to = 0;
        return !__builtin_mul_overflow(f.from, whole, &from) && !__builtin_mul_overflow(f.to, whole, &to) &&
               s.from == from && s.to == to;
    };
    for (std::size_t a = 0; a < dimensions.size();) {
        bool joined = false;
        for (std::size_t b = 0; b < dimensions.size() && !joined; ++b) {
            if (a == b || !follows(dimensions[a], dimensions[b])) continue;
            dimensions[b].size *= dimensions[a].size;
            dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(a));
            joined = true;
        }
        a = joined ? 0 : a + 1;
    }
}

// Moves digits of the dimensions, finest first, into the block.
class BlockGrower {
  public:
    BlockGrower(std::vector<Joint>& joint, Blocks& blocks, const AddressMap& from, const AddressMap& to)
        : joint_(joint),
          blocks_(blocks),
          bits_(from.element_bits()),
          elements_(from.element_count()),
          in_target_only_(to.layout() == layout_tag::morton),
          in_source_only_(from.layout() == layout_tag::morton && !in_target_only_),
          closed_(joint.size()) {}

    void grow() {
        take_run();
        most_places_ = std::clamp(elements_ / run_ / elements_for_a_place, least_places, most_places);
        bool in_target = true;
        while (true) {
            const auto k = nearest(in_target_only_ || (in_target && !in_source_only_));
            in_target = !in_target;
            if (!k) break;
            const std::uint64_t room = std::min({stretch, most_places_ / places_, most_bytes * 8 / block_bits()});
            if (take(*k, room) < 2) closed_[*k] = true;
        }
    }

  private:
    [[nodiscard]] std::uint64_t block_bits() const noexcept { return places_ * std::min(run_ * bits_, most_bytes * 8); }

    void take_run() {
        blocks_.run_dimension = static_cast<std::uint32_t>(joint_.size());
        if (!blocks_.regular) return;
        for (std::size_t k = 0; k < joint_.size(); ++k) {
            const auto& digits = joint_[k].digits;
            if (digits.empty() || digits.back().from != 1 || digits.back().to != 1) continue;
            const std::uint64_t run = take(k, std::max<std::uint64_t>(longest_run_bytes * 8 / bits_, 1));
            places_ = 1;
            if (run < 2) return;
            run_ = run;
            blocks_.run_dimension = static_cast<std::uint32_t>(k);
            blocks_.run = run;
            return;
        }
    }

    // The dimension whose next digit makes the smallest step.
    [[nodiscard]] std::optional<std::size_t> nearest(bool in_target) const {
        std::optional<std::size_t> best;
        std::uint64_t least = 0;
        for (std::size_t k = 0; k < joint_.size(); ++k) {
            if (closed_[k] || joint_[k].digits.empty()) continue;
            const Digit& digit = joint_[k].digits.back();
            const std::uint64_t step = magnitude(in_target ? digit.to : digit.from);
            if (best && step >= least) continue;
            best = k;
            least = step;
        }
        return best;
    }

    // Takes the next digit of a dimension into the block, or a part of it when it has more than `most` steps. Returns
    // how many steps were taken; fewer than 2 are not.
    std::uint64_t take(std::size_t k, std::uint64_t most) {
        auto& digits = joint_[k].digits;
        const Digit digit = digits.back();
        const bool top = digits.size() == 1;
        const std::uint64_t steps = top ? joint_[k].size / digit.unit + (joint_[k].size % digit.unit != 0 ? 1 : 0)
                                        : digits[digits.size() - 2].unit / digit.unit;
        std::uint64_t taken = steps;
        if (steps > most) {
            // Below the top, blocks must not reach over the end of the digit.
            taken = top || most < 2 ? most : divisor(steps, most);
            // A prime number of steps is taken whole rather than not at all.
            if (taken == 1 && most > 1 && steps <= most_places / places_) taken = steps;
        }
        if (taken < 2) return 0;
        digits.pop_back();
        if (taken < steps) {
            digits.push_back(
                {digit.unit * taken, times(digit.from, taken), times(digit.to, taken), digit.dimension});
        }
        auto& block = blocks_.dimensions[k];
        block.digits.insert(block.digits.begin(), digit);
        block.length *= taken;
        places_ *= taken;
        return taken;
    }

    std::vector<Joint>& joint_;
    Blocks& blocks_;
    std::uint64_t bits_;
    std::uint64_t elements_;
    std::uint64_t most_places_ = most_places;
    // Codes that go up by one stay close together in the other tensor: a block without gaps is best.
    bool in_target_only_;
    bool in_source_only_;
    std::vector<bool> closed_;
    std::uint64_t places_ = 1;
    std::uint64_t run_ = 1;
};

// The loops over the blocks so that the target is written as forwards as can be.
std::vector<Digit> order_loops(const std::vector<Joint>& joint) {
    std::vector<Digit> loops;
    for (const Joint& dimension : joint) loops.insert(loops.end(), dimension.digits.begin(), dimension.digits.end());
    std::ranges::sort(loops, [](const Digit& a, const Digit& b) {
        return std::pair(magnitude(b.to), a.dimension) < std::pair(magnitude(a.to), b.dimension);
    });
    // Within a dimension from coarse to fine, whatever the strides say.
    std::vector<std::size_t> next(joint.size());
    for (Digit& loop : loops) loop = joint[loop.dimension].digits[next[loop.dimension]++];
    return loops;
}

}  // namespace

void add_units(const AddressMap& map, std::uint32_t k, std::vector<std::uint64_t>& units) {
    for (const AddressMap::Loop& loop : map.loops()) {
        if (loop.dimension == k) units.push_back(loop.unit);
    }
}

Blocks make_blocks(const AddressMap& from, const AddressMap& to) {
    Blocks blocks;
    std::vector<Joint> joint;
    for (std::uint32_t k = 0; k < from.shape().size(); ++k) {
        if (from.shape()[k] == 1) continue;
        auto digits = joint_digits(from, to, k);
        if (!digits) {
            blocks.regular = false;
            digits = {{1, from.offset_along(k, 1), to.offset_along(k, 1), 0}};
        }
        joint.push_back({from.shape()[k], k, std::move(*digits)});
    }
    if (blocks.regular) join(joint);
    for (std::size_t k = 0; k < joint.size(); ++k) {
        for (Digit& digit : joint[k].digits) digit.dimension = static_cast<std::uint32_t>(k);
        BlockDimension& dimension = blocks.dimensions.emplace_back();
        dimension.size = joint[k].size;
        dimension.tensor_dimension = joint[k].tensor_dimension;
    }
    BlockGrower(joint, blocks, from, to).grow();
    blocks.loops = order_loops(joint);
    return blocks;
}

}  // namespace hurray::transcode_detail
