#include "core/hurray/composite/boxes.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <numeric>
#include <random>

#include "core/hurray/base/checked.hpp"

namespace hurray {
namespace {

// Dimensions in which boxes differ from the whole space; the others decide nothing.
std::vector<std::size_t> cut_dimensions(std::span<const std::uint64_t> shape, std::span<const Box> boxes) {
    std::vector<std::size_t> cut;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (std::ranges::any_of(boxes, [&](const Box& box) { return box.size[k] != shape[k]; })) cut.push_back(k);
    }
    return cut;
}

// Looks for two boxes with an index in common by a sweep along one dimension.
class Sweep {
  public:
    Sweep(std::span<const std::uint64_t> shape, std::span<const Box> boxes, std::span<const std::size_t> cut,
          std::uint64_t budget)
        : boxes_(boxes), cut_(cut), budget_(budget), along_(thinnest(shape)) {}

    enum class Outcome : std::uint8_t { disjoint, overlap, gave_up };

    Outcome run() {
        std::vector<std::size_t> order(boxes_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, {}, [&](std::size_t i) { return boxes_[i].low[along_]; });
        std::vector<std::size_t> active;
        for (const std::size_t next : order) {
            const std::uint64_t start = boxes_[next].low[along_];
            for (std::size_t i = 0; i < active.size();) {
                if (boxes_[active[i]].high(along_) <= start) {
                    active[i] = active.back();
                    active.pop_back();
                    continue;
                }
                if (steps_ >= budget_) return Outcome::gave_up;
                if (meet(active[i], next)) {
                    pair_ = {std::min(active[i], next), std::max(active[i], next)};
                    return Outcome::overlap;
                }
                ++i;
            }
            active.push_back(next);
        }
        return Outcome::disjoint;
    }
    [[nodiscard]] CoverFault::Pair pair() const noexcept { return pair_; }

  private:
    // The dimension in which the fewest boxes lie side by side on the average.
    [[nodiscard]] std::size_t thinnest(std::span<const std::uint64_t> shape) const {
        std::size_t best = cut_.front();
        double least = -1;
        for (const std::size_t k : cut_) {
            double sum = 0;
            for (const Box& box : boxes_) sum += static_cast<double>(box.size[k]);
            const double thickness = sum / static_cast<double>(shape[k]);
            if (least < 0 || thickness < least) {
                least = thickness;
                best = k;
            }
        }
        return best;
    }

    bool meet(std::size_t a, std::size_t b) {
        for (const std::size_t k : cut_) {
            ++steps_;
            if (boxes_[a].low[k] >= boxes_[b].high(k) || boxes_[b].low[k] >= boxes_[a].high(k)) return false;
        }
        return true;
    }

    std::span<const Box> boxes_;
    std::span<const std::size_t> cut_;
    std::uint64_t budget_;
    std::uint64_t steps_ = 0;
    CoverFault::Pair pair_{};
    std::size_t along_;
};

// Whether boxes cover a space exactly: the numbers of boxes over each index add up to those of the space, 1 everywhere,
// if and only if the signed corners of the boxes add up to those of the space. Corners are monomials, so that this is
// an identity of two polynomials of a degree of at most 64, with a variable for every coordinate of every dimension.
// Its sides are compared at a random point of a field of 2^61 - 1 elements (Schwartz-Zippel).
class CornerIdentity {
  public:
    explicit CornerIdentity(std::size_t rank) : keys_(rank) {
        for (std::uint64_t& key : keys_) key = secret();
    }

    [[nodiscard]] bool holds(std::span<const std::uint64_t> shape, std::span<const Box> boxes,
                             std::span<const std::size_t> cut) const {
        std::uint64_t sum = 0;
        for (const Box& box : boxes) sum = add(sum, corners(box, cut));
        const std::array<std::uint64_t, 64> origin{};
        return sum == corners({origin.data(), shape.data()}, cut);
    }

  private:
    static constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

    static std::uint64_t add(std::uint64_t a, std::uint64_t b) noexcept {
        const std::uint64_t sum = a + b;
        return sum >= prime ? sum - prime : sum;
    }
    static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide product = Wide{a} * b;
        return add(static_cast<std::uint64_t>(product) & prime, static_cast<std::uint64_t>(product >> 61));
    }
    // The value of the variable of a coordinate.
    [[nodiscard]] std::uint64_t value(std::size_t k, std::uint64_t coordinate) const noexcept {
        std::uint64_t z = coordinate ^ keys_[k];
        for (const std::uint64_t factor : {0xBF58476D1CE4E5B9ULL, 0x94D049BB133111EBULL}) {
            z = (z ^ z >> 31) * factor;
            z = (z ^ z >> 29) + keys_[k];
        }
        return (z ^ z >> 32) % prime;
    }
    [[nodiscard]] std::uint64_t corners(const Box& box, std::span<const std::size_t> cut) const noexcept {
        std::uint64_t product = 1;
        for (const std::size_t k : cut) {
            product = multiply(product, add(value(k, box.high(k)), prime - value(k, box.low[k])));
        }
        return product;
    }
    // Nobody who makes boxes knows it.
    static std::uint64_t secret() {
        try {
            std::random_device device;
            return std::uint64_t{device()} << 32 | device();
        } catch (const std::exception&) {
            // A machine without a source of random numbers: what it is left with.
            const std::uint64_t now =
                static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
            return now * 0x9E3779B97F4A7C15 ^ reinterpret_cast<std::uintptr_t>(&now);
        }
    }

    std::vector<std::uint64_t> keys_;
};

}  // namespace

std::optional<CoverFault> find_cover_fault(std::span<const std::uint64_t> shape, std::span<const Box> boxes,
                                           std::uint64_t budget) {
    using Kind = CoverFault::Kind;
    std::uint64_t space = 1;
    for (const std::uint64_t size : shape) space *= size;
    if (space == 0) return std::nullopt;

    // Those with indices, and which of all they are.
    std::vector<Box> filled;
    std::vector<std::size_t> numbers;
    std::uint64_t covered = 0;
    bool too_much = false;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        // No larger than the space, whose product does not wrap.
        std::uint64_t volume = 1;
        for (std::size_t k = 0; k < shape.size(); ++k) volume *= boxes[i].size[k];
        if (volume == 0) continue;
        filled.push_back(boxes[i]);
        numbers.push_back(i);
        const auto sum = checked_add(covered, volume);
        too_much = too_much || !sum || *sum > space;
        covered = sum.value_or(0);
    }
    if (filled.empty()) return CoverFault{Kind::gap};

    const std::vector<std::size_t> cut = cut_dimensions(shape, filled);
    if (cut.empty()) {
        if (filled.size() == 1) return std::nullopt;
        return CoverFault{Kind::overlap, CoverFault::Pair{numbers[0], numbers[1]}};
    }
    Sweep sweep(shape, filled, cut, budget);
    switch (sweep.run()) {
        case Sweep::Outcome::overlap:
            return CoverFault{Kind::overlap,
                              CoverFault::Pair{numbers[sweep.pair().first], numbers[sweep.pair().second]}};
        case Sweep::Outcome::disjoint:
            if (covered == space) return std::nullopt;
            return CoverFault{Kind::gap};
        case Sweep::Outcome::gave_up:
            break;
    }
    if (too_much) return CoverFault{Kind::overlap};
    if (covered < space) return CoverFault{Kind::gap};
    if (CornerIdentity(shape.size()).holds(shape, filled, cut)) return std::nullopt;
    return CoverFault{Kind::overlap};
}

BoxIndex::BoxIndex(std::span<const std::uint64_t> shape, std::vector<Box> boxes) : boxes_(std::move(boxes)) {
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const std::span size(boxes_[i].size, shape.size());
        if (std::ranges::find(size, std::uint64_t{0}) == size.end()) order_.push_back(i);
    }
    nodes_.resize(order_.size());
    split(0, order_.size(), shape);
}

// Recursion halves the range, so that it is at most 64 deep.
void BoxIndex::split(std::size_t begin, std::size_t end, std::span<const std::uint64_t> shape) {
    if (end - begin <= leaf_size) return;
    // Along the dimension over which the boxes are spread most.
    std::size_t along = 0;
    double widest = -1;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        std::uint64_t least = ~std::uint64_t{0};
        std::uint64_t most = 0;
        for (std::size_t i = begin; i < end; ++i) {
            least = std::min(least, boxes_[order_[i]].low[k]);
            most = std::max(most, boxes_[order_[i]].low[k]);
        }
        const double spread = static_cast<double>(most - least) / static_cast<double>(shape[k]);
        if (spread > widest) {
            widest = spread;
            along = k;
        }
    }
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::ranges::nth_element(at(begin), at(middle), at(end), {}, [&](std::size_t i) { return boxes_[i].low[along]; });
    Node& node = nodes_[middle];
    node.dimension = static_cast<std::uint32_t>(along);
    node.right_low = boxes_[order_[middle]].low[along];
    for (std::size_t i = begin; i < middle; ++i) {
        node.left_high = std::max(node.left_high, boxes_[order_[i]].high(along));
    }
    split(begin, middle, shape);
    split(middle, end, shape);
}

std::optional<std::size_t> BoxIndex::find(std::span<const std::uint64_t> index) const noexcept {
    struct Range {
        std::size_t begin;
        std::size_t end;
    };
    // At each level one range waits while the other is looked at.
    std::array<Range, 65> waiting;
    std::size_t count = 0;
    waiting[count++] = {0, order_.size()};
    while (count != 0) {
        const Range range = waiting[--count];
        if (range.end - range.begin <= leaf_size) {
            for (std::size_t i = range.begin; i < range.end; ++i) {
                if (boxes_[order_[i]].contains(index)) return order_[i];
            }
            continue;
        }
        const std::size_t middle = range.begin + (range.end - range.begin) / 2;
        const Node& node = nodes_[middle];
        const std::uint64_t i = index[node.dimension];
        if (i >= node.right_low) waiting[count++] = {middle, range.end};
        if (i < node.left_high) waiting[count++] = {range.begin, middle};
    }
    return std::nullopt;
}

}  // namespace hurray
