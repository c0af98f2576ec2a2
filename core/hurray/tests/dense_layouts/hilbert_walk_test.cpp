// The walk along the Hilbert curve meets the cells in the order of Skilling's transform.
#include "core/hurray/layout/hilbert_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/hurray/layout/hilbert_curve.hpp"

namespace hurray {
namespace {

std::vector<std::uint64_t> by_transform(std::uint64_t index, std::uint32_t rank, std::uint32_t order) {
    std::vector<std::uint64_t> x(rank);
    hilbert_coordinates(index, x.data(), rank, order);
    return x;
}

std::vector<std::uint64_t> here(const HilbertWalk& walk, std::uint32_t rank) {
    return {walk.coordinates(), walk.coordinates() + rank};
}

TEST(HilbertWalk, AgreesWithTheTransformOnWholeCurves) {
    for (std::uint32_t rank = 2; rank <= 16; ++rank) {
        for (std::uint32_t order = 1; order * rank <= 16; ++order) {
            HilbertWalk walk(rank, order);
            const std::uint64_t count = std::uint64_t{1} << (rank * order);
            for (std::uint64_t i = 0; i < count; ++i) {
                ASSERT_EQ(here(walk, rank), by_transform(i, rank, order)) << rank << ' ' << order << ' ' << i;
                ASSERT_EQ(walk.next(), i + 1 < count);
            }
        }
    }
}

TEST(HilbertWalk, AgreesWithTheTransformAtTheStartOfTheLargestCurves) {
    for (const auto& [rank, order] : {std::pair{2U, 31U}, {3U, 21U}, {4U, 15U}, {7U, 9U}, {21U, 3U}, {31U, 2U}, {63U, 1U}}) {
        HilbertWalk walk(rank, order);
        for (std::uint64_t i = 0; i < 3000; ++i) {
            ASSERT_EQ(here(walk, rank), by_transform(i, rank, order)) << rank << ' ' << order << ' ' << i;
            ASSERT_TRUE(walk.next());
        }
    }
}

// A cell's state is all that a walk inside it needs.
TEST(HilbertWalk, GoesOnInsideItsCells) {
    for (std::uint32_t rank = 2; rank <= 5; ++rank) {
        const std::uint32_t outer = rank < 4 ? 3 : 1;
        const std::uint32_t inner = rank < 4 ? 2 : 1;
        HilbertWalk walk(rank, outer);
        std::uint64_t i = 0;
        do {
            HilbertWalk inside(rank, inner, walk.state());
            do {
                auto x = here(inside, rank);
                for (std::uint32_t k = 0; k < rank; ++k) x[k] += walk.coordinates()[k] << inner;
                ASSERT_EQ(x, by_transform(i, rank, outer + inner)) << rank << ' ' << i;
                ++i;
            } while (inside.next());
        } while (walk.next());
        EXPECT_EQ(i, std::uint64_t{1} << (rank * (outer + inner)));
    }
}

// Equal keys mean equal walks.
TEST(HilbertState, KeysTellStatesApart) {
    for (std::uint32_t rank = 2; rank <= 4; ++rank) {
        std::vector<std::vector<std::vector<std::uint64_t>>> walks(1 << 13);
        HilbertWalk walk(rank, rank == 4 ? 4 : 5);
        do {
            const HilbertState state = walk.state();
            ASSERT_LT(state.small_key(), walks.size());
            std::vector<std::vector<std::uint64_t>> cells;
            HilbertWalk inside(rank, 2, state);
            do cells.push_back(here(inside, rank));
            while (inside.next());
            auto& known = walks[state.small_key()];
            if (known.empty()) known = cells;
            ASSERT_EQ(known, cells);
        } while (walk.next());
    }
}

TEST(HilbertWalk, OrderZeroIsOneCell) {
    HilbertWalk walk(3, 0);
    EXPECT_EQ(here(walk, 3), (std::vector<std::uint64_t>{0, 0, 0}));
    EXPECT_FALSE(walk.next());
}

}  // namespace
}  // namespace hurray
