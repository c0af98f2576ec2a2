// Requirements: format, row-major, column-major, strided; where elements lie.
#include "core/hurray/layout/dense_view.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::fault;
using test::fault_of;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

Descriptor dense(std::uint8_t layout, std::vector<std::uint64_t> shape, std::vector<std::int64_t> strides = {},
                 std::uint64_t byte_offset = 0, std::uint8_t type = test::float32) {
    return test::build({.type = type,
                        .layout = layout,
                        .shape = std::move(shape),
                        .strides = std::move(strides),
                        .byte_offset = byte_offset,
                        .buffers = {{.byte_size = ~std::uint64_t{0}}}})
        .value();
}

std::vector<std::int64_t> strides_of(const Descriptor& descriptor) {
    std::vector<std::int64_t> strides(descriptor.rank(), 77);
    EXPECT_TRUE(dense_strides(descriptor, strides).has_value());
    return strides;
}

using Strides = std::vector<std::int64_t>;

TEST(DenseStrides, RowMajorStepsThroughTheLastDimensionFirst) {
    EXPECT_EQ(strides_of(dense(layout_tag::row_major, {2, 3, 4})), (Strides{12, 4, 1}));
    EXPECT_EQ(strides_of(dense(layout_tag::row_major, {5})), (Strides{1}));
    EXPECT_EQ(strides_of(dense(layout_tag::row_major, {})), Strides{});
}

TEST(DenseStrides, ColumnMajorStepsThroughTheFirstDimensionFirst) {
    EXPECT_EQ(strides_of(dense(layout_tag::col_major, {2, 3, 4})), (Strides{1, 2, 6}));
}

TEST(DenseStrides, StridedGivesItsOwn) {
    EXPECT_EQ(strides_of(dense(layout_tag::strided, {2, 3}, {-7, 0}, 64)), (Strides{-7, 0}));
    EXPECT_EQ(strides_of(dense(layout_tag::strided, {1, 0}, {least, most})), (Strides{least, most}));
}

TEST(DenseStrides, DimensionsOfSize0CountAs1) {
    EXPECT_EQ(strides_of(dense(layout_tag::row_major, {2, 0, 4})), (Strides{4, 4, 1}));
    EXPECT_EQ(strides_of(dense(layout_tag::col_major, {2, 0, 4})), (Strides{1, 2, 2}));
}

TEST(DenseStrides, ThoseOfAnEmptyTensorAre0WhereTheyDoNotFit) {
    EXPECT_EQ(strides_of(dense(layout_tag::row_major, {0, 1ULL << 63, 2})), (Strides{0, 2, 1}));
    EXPECT_EQ(strides_of(dense(layout_tag::row_major, {3, 0, 1ULL << 63})), (Strides{0, 0, 1}));
    EXPECT_EQ(strides_of(dense(layout_tag::row_major, {5, 0, 1ULL << 62, 1ULL << 62})), (Strides{0, 0, 1LL << 62, 1}));
}

TEST(DenseStrides, AStrideAbove2ToThe63IsRefusedOtherwise) {
    const auto large = dense(layout_tag::row_major, {1, 1ULL << 63}, {}, 0, test::boolean);
    Strides strides(2);
    EXPECT_EQ(fault(dense_strides(large, strides)), fault_of(Status::limit_exceeded, Error::no_offset));
    const auto fits = dense(layout_tag::row_major, {1, static_cast<std::uint64_t>(most)}, {}, 0, test::boolean);
    EXPECT_EQ(strides_of(fits), (Strides{most, 1}));
}

TEST(DenseStrides, WantsRoomForExactlyItsRank) {
    const auto descriptor = dense(layout_tag::row_major, {2, 3});
    Strides strides(3);
    EXPECT_EQ(fault(dense_strides(descriptor, strides)), fault_of(Status::invalid_argument, Error::no_offset));
    EXPECT_EQ(fault(dense_strides(descriptor, std::span(strides).first(1))),
              fault_of(Status::invalid_argument, Error::no_offset));
}

void expect_view(const Descriptor& descriptor, std::uint64_t below, std::uint64_t size, bool contiguous) {
    ASSERT_TRUE(has_dense_view(descriptor));
    const auto view = dense_view(descriptor);
    ASSERT_TRUE(view.has_value()) << view.error().message;
    EXPECT_EQ(view->byte_offset, descriptor.byte_offset());
    EXPECT_EQ(view->bytes_below, below);
    EXPECT_EQ(view->byte_size, size);
    EXPECT_EQ(view->element_count, descriptor.element_count().value());
    EXPECT_EQ(view->contiguous, contiguous);
    EXPECT_EQ(dense_extent_bytes(descriptor).value(), size);
}

TEST(DenseView, SpansFromTheLowestToTheEndOfTheHighestElement) {
    expect_view(dense(layout_tag::row_major, {3, 4}, {}, 12), 0, 48, true);
    expect_view(dense(layout_tag::col_major, {3, 4}), 0, 48, false);
    expect_view(dense(layout_tag::row_major, {}), 0, 4, true);
    expect_view(dense(layout_tag::strided, {3, 4}, {-4, 1}, 100), 32, 48, false);
    expect_view(dense(layout_tag::strided, {3, 4}, {-8, 2}, 100), 64, 64 + 28, false);
    expect_view(dense(layout_tag::strided, {1000, 4}, {0, 1}), 0, 16, false);
    expect_view(dense(layout_tag::strided, {5}, {-1}, 16), 16, 20, false);
}

TEST(DenseView, OfNoElementsIsEmpty) {
    for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
        expect_view(dense(layout, {3, 0}, {}, 64), 0, 0, true);
    }
    expect_view(dense(layout_tag::strided, {0, 7}, {most, least}, 64), 0, 0, true);
}

TEST(DenseView, CountsWholeGroupsOfPackedElements) {
    expect_view(dense(layout_tag::row_major, {3, 3}, {}, 0, test::boolean), 0, 2, true);
    expect_view(dense(layout_tag::strided, {10}, {-1}, 2, test::boolean), 2, 3, false);
    expect_view(dense(layout_tag::strided, {9}, {-1}, 2, test::boolean), 1, 2, false);
    expect_view(dense(layout_tag::strided, {2, 3}, {-4, 1}, 2, test::int4), 2, 4, false);
    expect_view(dense(layout_tag::strided, {6}, {-1}, 6, test::float6), 6, 9, false);
    expect_view(dense(layout_tag::row_major, {5}, {}, 0, test::float6), 0, 6, true);
}

TEST(DenseView, ContiguousMeansRowMajorOrderWithoutGaps) {
    const auto contiguous = [](std::uint8_t layout, std::vector<std::uint64_t> shape, Strides strides = {}) {
        return dense_view(dense(layout, std::move(shape), std::move(strides), 4096)).value().contiguous;
    };
    EXPECT_TRUE(contiguous(layout_tag::strided, {3, 4}, {4, 1}));
    EXPECT_FALSE(contiguous(layout_tag::strided, {3, 4}, {1, 3}));
    EXPECT_FALSE(contiguous(layout_tag::strided, {3, 4}, {5, 1}));
    EXPECT_FALSE(contiguous(layout_tag::strided, {3, 4}, {8, 2}));
    EXPECT_FALSE(contiguous(layout_tag::strided, {3, 4}, {4, -1}));
    EXPECT_FALSE(contiguous(layout_tag::strided, {3, 4}, {0, 1}));
    EXPECT_TRUE(contiguous(layout_tag::strided, {3, 1, 4}, {4, -99, 1}));
    EXPECT_TRUE(contiguous(layout_tag::strided, {1, 1}, {least, most}));
    EXPECT_TRUE(contiguous(layout_tag::strided, {1, 4}, {0, 1}));
    EXPECT_TRUE(contiguous(layout_tag::col_major, {4}));
    EXPECT_TRUE(contiguous(layout_tag::col_major, {1, 4, 1}));
    EXPECT_FALSE(contiguous(layout_tag::col_major, {2, 4, 1}));
}

TEST(DenseView, DynamicShapesHaveNone) {
    const auto descriptor = dense(layout_tag::row_major, {3, dynamic_dimension});
    EXPECT_FALSE(has_dense_view(descriptor));
    EXPECT_EQ(fault(dense_view(descriptor)), fault_of(Status::invalid_layout, 28));
    EXPECT_EQ(fault(dense_extent_bytes(descriptor)), fault_of(Status::invalid_layout, 28));
    Strides strides(2);
    EXPECT_EQ(fault(dense_strides(descriptor, strides)), fault_of(Status::invalid_layout, 28));
}

TEST(DenseView, DimensionsAbove2ToThe63AreRefused) {
    const auto descriptor = dense(layout_tag::row_major, {1, 1ULL << 63}, {}, 0, test::boolean);
    EXPECT_EQ(fault(dense_view(descriptor)), fault_of(Status::limit_exceeded, 28));
    EXPECT_EQ(dense_extent_bytes(descriptor).value(), 1ULL << 60);
    EXPECT_EQ(fault(dense_view(dense(layout_tag::row_major, {0, 1ULL << 63}))), fault_of(Status::limit_exceeded, 28));
}

}  // namespace
}  // namespace hurray
