// Requirements: composite, partition: boxes cover the head exactly, without overlap; an index is found in its box.
#include "core/hurray/composite/boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::Random;
using Kind = CoverFault::Kind;
using Index = std::vector<std::uint64_t>;

// Boxes with the memory that they refer to.
class Pieces {
  public:
    void add(Index low, Index size) {
        memory_.push_back(std::move(low));
        const std::uint64_t* first = memory_.back().data();
        memory_.push_back(std::move(size));
        boxes_.push_back({first, memory_.back().data()});
    }
    std::vector<Box>& boxes() { return boxes_; }
    [[nodiscard]] std::optional<CoverFault> fault(const Index& shape, std::uint64_t budget) const {
        return find_cover_fault(shape, boxes_, budget);
    }

  private:
    std::deque<Index> memory_;
    std::vector<Box> boxes_;
};

// How many boxes each index of a small space is in, one by one.
std::optional<Kind> counted_fault(const Index& shape, const std::vector<Box>& boxes) {
    Index index(shape.size());
    std::optional<Kind> gap;
    if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return std::nullopt;
    while (true) {
        const auto count = std::ranges::count_if(boxes, [&](const Box& box) { return box.contains(index); });
        if (count > 1) return Kind::overlap;
        if (count == 0) gap = Kind::gap;
        std::size_t k = shape.size();
        while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
        if (k == 0) return gap;
    }
}

// Cuts a box again and again.
void cut(Random& random, const Index& low, const Index& size, int times, Pieces& out) {
    const std::size_t k = random.below(size.size());
    if (times == 0 || size[k] < 2) {
        out.add(low, size);
        return;
    }
    Index left = size;
    left[k] = 1 + random.below(size[k] - 1);
    Index right = size;
    right[k] -= left[k];
    Index middle = low;
    middle[k] += left[k];
    cut(random, low, left, times - 1, out);
    cut(random, middle, right, times - 1, out);
}

constexpr std::uint64_t no_sweep = 0;
constexpr std::uint64_t enough = std::uint64_t{1} << 30;

TEST(Boxes, CutSpacesAreCoveredWhicheverWayIsTaken) {
    Random random(1);
    for (int round = 0; round < 300; ++round) {
        const std::size_t rank = 1 + random.below(4);
        Index shape;
        for (std::size_t k = 0; k < rank; ++k) shape.push_back(1 + random.below(7));
        Pieces pieces;
        cut(random, Index(rank), shape, 5, pieces);
        for (std::size_t i = pieces.boxes().size(); i > 1; --i) {
            std::swap(pieces.boxes()[i - 1], pieces.boxes()[random.below(i)]);
        }
        EXPECT_FALSE(pieces.fault(shape, enough).has_value());
        EXPECT_FALSE(pieces.fault(shape, no_sweep).has_value());
    }
}

TEST(Boxes, AnyBoxesAreJudgedAsByCountingIndexByIndex) {
    Random random(2);
    int partitions = 0;
    for (int round = 0; round < 3000; ++round) {
        const std::size_t rank = 1 + random.below(3);
        Index shape;
        for (std::size_t k = 0; k < rank; ++k) shape.push_back(1 + random.below(4));
        Pieces pieces;
        cut(random, Index(rank), shape, 3, pieces);
        // One box is changed, lost or doubled, or none.
        const std::size_t changed = random.below(pieces.boxes().size());
        const Box old = pieces.boxes()[changed];
        Index low(old.low, old.low + rank);
        Index size(old.size, old.size + rank);
        const std::size_t k = random.below(rank);
        switch (random.below(5)) {
            case 0:
                pieces.boxes().erase(pieces.boxes().begin() + static_cast<std::ptrdiff_t>(changed));
                break;
            case 1:
                pieces.add(low, size);
                break;
            case 2:
                size[k] = random.below(shape[k] - low[k] + 1);
                pieces.add(low, size);
                pieces.boxes()[changed] = pieces.boxes().back();
                pieces.boxes().pop_back();
                break;
            case 3:
                low[k] = random.below(shape[k] - size[k] + 1);
                pieces.add(low, size);
                pieces.boxes()[changed] = pieces.boxes().back();
                pieces.boxes().pop_back();
                break;
            default:
                break;
        }
        const auto expected = counted_fault(shape, pieces.boxes());
        partitions += expected ? 0 : 1;
        const auto swept = pieces.fault(shape, enough);
        ASSERT_EQ(swept.has_value(), expected.has_value()) << round;
        ASSERT_EQ(pieces.fault(shape, no_sweep).has_value(), expected.has_value()) << round;
        if (!swept) continue;
        EXPECT_EQ(swept->kind, *expected);
        if (swept->kind == Kind::overlap) {
            ASSERT_TRUE(swept->pair.has_value());
            EXPECT_LT(swept->pair->first, swept->pair->second);
            EXPECT_EQ(counted_fault(shape, {pieces.boxes()[swept->pair->first], pieces.boxes()[swept->pair->second]}),
                      Kind::overlap);
        }
    }
    EXPECT_GT(partitions, 300);
    EXPECT_LT(partitions, 2000);
}

// The volumes are right, but one index is in two boxes and another in none.
TEST(Boxes, EqualVolumesAreNotEnough) {
    const Index shape = {4, 4};
    Pieces pieces;
    pieces.add({0, 0}, {2, 4});
    pieces.add({2, 0}, {2, 2});
    pieces.add({1, 2}, {2, 2});
    EXPECT_EQ(pieces.fault(shape, enough)->kind, Kind::overlap);
    EXPECT_EQ(pieces.fault(shape, no_sweep)->kind, Kind::overlap);
    EXPECT_FALSE(pieces.fault(shape, no_sweep)->pair.has_value());
}

TEST(Boxes, WithoutASweepTheVolumesTellGapsAndOverlaps) {
    const Index shape = {8};
    Pieces pieces;
    pieces.add({0}, {4});
    pieces.add({3}, {4});
    // Even so there is a gap, as there is no room for 8 indices.
    pieces.add({3}, {0});
    EXPECT_EQ(pieces.fault(shape, enough)->kind, Kind::overlap);
    pieces.add({1}, {7});
    EXPECT_EQ(pieces.fault(shape, no_sweep)->kind, Kind::overlap);
    Pieces small;
    small.add({0}, {4});
    small.add({3}, {3});
    EXPECT_EQ(small.fault(shape, no_sweep)->kind, Kind::gap);
}

TEST(Boxes, VolumesDoNotWrap) {
    const std::uint64_t side = std::uint64_t{1} << 32;
    const Index shape = {side - 1, side};
    Pieces pieces;
    // 2^32 + 1 times this is 2^64 + ..., which is small again.
    for (int i = 0; i < 3; ++i) pieces.add({0, 0}, {side - 1, side});
    EXPECT_EQ(pieces.fault(shape, enough)->kind, Kind::overlap);
    EXPECT_EQ(pieces.fault(shape, no_sweep)->kind, Kind::overlap);
    Pieces halves;
    halves.add({0, 0}, {side - 1, side / 2});
    halves.add({0, side / 2}, {side - 1, side / 2});
    EXPECT_FALSE(halves.fault(shape, enough).has_value());
    EXPECT_FALSE(halves.fault(shape, no_sweep).has_value());
    Pieces largest;
    largest.add({0}, {~std::uint64_t{0} - 1});
    EXPECT_FALSE(largest.fault({~std::uint64_t{0} - 1}, enough).has_value());
}

TEST(Boxes, WithoutIndicesThereIsNothingToCover) {
    Pieces none;
    EXPECT_FALSE(none.fault({3, 0}, enough).has_value());
    EXPECT_EQ(none.fault({3, 1}, enough)->kind, Kind::gap);
    Pieces empty;
    empty.add({1, 0}, {2, 0});
    empty.add({1, 0}, {2, 0});
    EXPECT_FALSE(empty.fault({3, 0}, enough).has_value());
    EXPECT_EQ(empty.fault({3, 1}, enough)->kind, Kind::gap);
    empty.add({0, 0}, {3, 1});
    EXPECT_FALSE(empty.fault({3, 1}, enough).has_value());
    // A product that wraps on the way to 0.
    EXPECT_FALSE(none.fault({std::uint64_t{1} << 63, 4, 0}, enough).has_value());
}

TEST(Boxes, EveryIndexIsFoundInItsBox) {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
        const std::size_t rank = 1 + random.below(4);
        Index shape;
        for (std::size_t k = 0; k < rank; ++k) shape.push_back(1 + random.below(6));
        Pieces pieces;
        cut(random, Index(rank), shape, 6, pieces);
        pieces.add(Index(rank), Index(rank));
        const BoxIndex boxes(shape, pieces.boxes());
        Index index(rank);
        while (true) {
            const auto found = boxes.find(index);
            ASSERT_TRUE(found.has_value());
            EXPECT_TRUE(pieces.boxes()[*found].contains(index));
            std::size_t k = rank;
            while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
            if (k == 0) break;
        }
        for (std::size_t k = 0; k < rank; ++k) {
            Index outside(rank);
            outside[k] = shape[k];
            EXPECT_FALSE(boxes.find(outside).has_value());
            outside[k] = ~std::uint64_t{0};
            EXPECT_FALSE(boxes.find(outside).has_value());
        }
    }
    EXPECT_FALSE(BoxIndex().find({}).has_value());
}

// A grid of boxes, too many for comparing them in pairs: 2.5 * 10^11 of these.
TEST(Boxes, ManyBoxesTakeNoLongTime) {
    constexpr std::uint64_t side = 700;
    const Index shape = {side * 2, side * 3};
    Pieces pieces;
    for (std::uint64_t i = 0; i < side; ++i) {
        for (std::uint64_t j = 0; j < side; ++j) pieces.add({2 * i, 3 * j}, {2, 3});
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(pieces.fault(shape, default_cover_budget(pieces.boxes().size())).has_value());
    const BoxIndex boxes(shape, pieces.boxes());
    Random random(4);
    for (int i = 0; i < 100000; ++i) {
        const Index index = {random.below(shape[0]), random.below(shape[1])};
        EXPECT_EQ(boxes.find(index), index[0] / 2 * side + index[1] / 3);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    // One box a step further, over its neighbour.
    pieces.add({2 * 350, 3 * 350 + 1}, {2, 3});
    std::swap(pieces.boxes()[350 * side + 350], pieces.boxes().back());
    pieces.boxes().pop_back();
    EXPECT_EQ(pieces.fault(shape, default_cover_budget(pieces.boxes().size()))->kind, Kind::overlap);
}

// As many dimensions as there can be, and boxes that all lie side by side in each of them.
TEST(Boxes, ManyDimensionsTakeNoLongTime) {
    const Index shape(63, 2);
    Pieces pieces;
    Index low(63);
    Index size = shape;
    // Half of what is left each time, along another dimension.
    for (std::size_t k = 0; k < 63; ++k) {
        size[k] = 1;
        low[k] = 0;
        pieces.add(low, size);
        low[k] = 1;
    }
    EXPECT_EQ(pieces.fault(shape, enough)->kind, Kind::gap);
    EXPECT_EQ(pieces.fault(shape, no_sweep)->kind, Kind::gap);
    pieces.add(low, size);
    EXPECT_FALSE(pieces.fault(shape, enough).has_value());
    EXPECT_FALSE(pieces.fault(shape, no_sweep).has_value());
    const BoxIndex boxes(shape, pieces.boxes());
    EXPECT_EQ(boxes.find(Index(63, 1)), 63U);
    EXPECT_EQ(boxes.find(Index(63, 0)), 0U);
}

}  // namespace
}  // namespace hurray
