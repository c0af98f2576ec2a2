// Requirements: every element is found where the format puts it, in every dense layout.
#include "core/hurray/layout/address.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/hurray/layout/morton.hpp"
#include "core/hurray/tests/dense_layouts/dense_layouts.hpp"

namespace hurray {
namespace {

using test::fault;
using test::fault_of;
using test::json;

using Shape = std::vector<std::uint64_t>;

AddressMap map_of(const test::DescriptorSpec& spec) {
    return AddressMap::make(test::build(spec).value()).value();
}

TEST(AddressMap, FindsTheElementsOfTheVectors) {
    int compared = 0;
    for (const json& entry : test::dense_vectors().at("valid")) {
        if (!entry.contains("offsets")) continue;
        const auto descriptor = test::decode_exact(test::bytes_of(entry)).value();
        const auto map = AddressMap::make(descriptor);
        ASSERT_TRUE(map.has_value()) << entry.at("name") << ": " << map.error().message;
        std::size_t i = 0;
        const json& offsets = entry.at("offsets");
        ASSERT_EQ(map->element_count(), offsets.size());
        test::for_each_index(descriptor.shape(), [&](std::span<const std::uint64_t> index) {
            const std::int64_t expected = offsets[i++];
            ASSERT_EQ(map->offset(index.data()), expected) << entry.at("name") << " element " << i - 1;
            ASSERT_EQ(map->checked_offset(index).value(), expected);
            EXPECT_LE(map->lowest(), expected);
            EXPECT_GE(map->highest(), expected);
            if (!map->is_separable()) return;
            std::int64_t sum = 0;
            for (std::size_t k = 0; k < index.size(); ++k) sum += map->offset_along(k, index[k]);
            ASSERT_EQ(sum, expected) << entry.at("name");
            ++compared;
        });
        EXPECT_EQ(i, offsets.size());
    }
    EXPECT_GT(compared, 1000);
}

TEST(AddressMap, ElementsOfTheVectorsLieInTheirBufferAndNoByteFurther) {
    for (const json& entry : test::dense_vectors().at("valid")) {
        const auto descriptor = test::decode_exact(test::bytes_of(entry)).value();
        if (descriptor.is_dynamic() || descriptor.element_count().value() == 0) continue;
        const auto map = AddressMap::make(descriptor).value();
        const ElementTypeInfo& type = *find_element_type(descriptor.element_type());
        EXPECT_EQ(packed_size(type, static_cast<std::uint64_t>(-map.lowest())), entry.at("below").get<std::uint64_t>())
            << entry.at("name");
        EXPECT_EQ(packed_size(type, static_cast<std::uint64_t>(map.highest()) + 1), entry.at("above").get<std::uint64_t>())
            << entry.at("name");
        test::for_each_index(descriptor.shape(), [&](std::span<const std::uint64_t> index) {
            const std::uint64_t bit = map.bit_of(map.offset(index.data()));
            ASSERT_LE(bit + map.element_bits(), descriptor.buffers()[0].byte_size * 8) << entry.at("name");
        });
    }
}

TEST(AddressMap, RowAndColumnMajorAndStridesAreTheirFormulas) {
    const Shape shape = {3, 4, 5};
    const AddressMap rows = map_of({.shape = shape, .buffers = {{.byte_size = 240}}});
    const AddressMap columns = map_of({.layout = layout_tag::col_major, .shape = shape, .buffers = {{.byte_size = 240}}});
    const AddressMap strided = map_of({.layout = layout_tag::strided,
                                       .shape = shape,
                                       .strides = {-20, 0, 3},
                                       .byte_offset = 160,
                                       .buffers = {{.byte_size = 240}}});
    test::for_each_index(shape, [&](std::span<const std::uint64_t> i) {
        const auto at = [&](std::size_t k) { return static_cast<std::int64_t>(i[k]); };
        EXPECT_EQ(rows.offset(i.data()), (at(0) * 4 + at(1)) * 5 + at(2));
        EXPECT_EQ(columns.offset(i.data()), at(0) + 3 * (at(1) + 4 * at(2)));
        EXPECT_EQ(strided.offset(i.data()), -20 * at(0) + 3 * at(2));
        EXPECT_EQ(strided.byte_of(strided.offset(i.data())),
                  static_cast<std::uint64_t>(160 + 4 * (-20 * at(0) + 3 * at(2))));
    });
    EXPECT_EQ(strided.lowest(), -40);
    EXPECT_EQ(strided.highest(), 12);
}

TEST(AddressMap, AScalarHasOneElement) {
    const AddressMap map = map_of({.byte_offset = 12, .buffers = {{.byte_size = 16}}});
    EXPECT_EQ(map.element_count(), 1U);
    EXPECT_EQ(map.offset(nullptr), 0);
    EXPECT_EQ(map.bit_of(0), 96U);
    EXPECT_EQ(map.checked_offset({}).value(), 0);
}

TEST(AddressMap, BitsOfPackedElementsAreCountedFromTheLowest) {
    const auto bits = [](std::uint8_t type, std::uint64_t byte_offset) {
        const AddressMap map = map_of({.type = type, .shape = {9}, .byte_offset = byte_offset, .buffers = {{.byte_size = 64}}});
        std::vector<std::uint64_t> all;
        for (std::uint64_t i = 0; i < 9; ++i) all.push_back(map.bit_of(map.offset(&i)));
        return all;
    };
    EXPECT_EQ(bits(test::boolean, 3), (Shape{24, 25, 26, 27, 28, 29, 30, 31, 32}));
    EXPECT_EQ(bits(test::int4, 0), (Shape{0, 4, 8, 12, 16, 20, 24, 28, 32}));
    EXPECT_EQ(bits(0x4A, 1), (Shape{8, 10, 12, 14, 16, 18, 20, 22, 24}));
    EXPECT_EQ(bits(test::float6, 0), (Shape{0, 6, 12, 18, 24, 30, 36, 42, 48}));
    EXPECT_EQ(bits(0x01, 5), (Shape{40, 56, 72, 88, 104, 120, 136, 152, 168}));
}

TEST(AddressMap, NegativeStridesOfPackedElementsReachBelowByteOffset) {
    const AddressMap map = map_of({.type = test::boolean,
                                   .layout = layout_tag::strided,
                                   .shape = {10},
                                   .strides = {-1},
                                   .byte_offset = 2,
                                   .buffers = {{.byte_size = 3}}});
    const std::uint64_t last = 9;
    EXPECT_EQ(map.bit_of(map.offset(&last)), 7U);
    EXPECT_EQ(map.byte_of(map.offset(&last)), 0U);
}

TEST(AddressMap, IndicesFromOutsideAreChecked) {
    const AddressMap map = map_of({.shape = {2, 3}, .buffers = {{.byte_size = 24}}});
    EXPECT_EQ(map.checked_offset(Shape{1, 2}).value(), 5);
    EXPECT_EQ(map.checked_offset(Shape{2, 0}).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(map.checked_offset(Shape{0, 3}).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(map.checked_offset(Shape{0, ~std::uint64_t{0}}).error().code, Status::index_out_of_bounds);
    EXPECT_STREQ(map.checked_offset(Shape{0, 3}).error().message, "index[1]: expected less than 3, got 3");
    EXPECT_EQ(map.checked_offset(Shape{0}).error().code, Status::invalid_argument);
    EXPECT_EQ(map.checked_offset(Shape{0, 0, 0}).error().code, Status::invalid_argument);
    const AddressMap empty = map_of({.shape = {0, 3}, .buffers = {{.byte_size = 0}}});
    EXPECT_EQ(empty.checked_offset(Shape{0, 0}).error().code, Status::index_out_of_bounds);
}

TEST(AddressMap, WhatCannotBeAddressedIsRefused) {
    const auto make = [](const test::DescriptorSpec& spec) { return AddressMap::make(test::build(spec).value()); };
    EXPECT_EQ(fault(make({.shape = {4, dynamic_dimension}, .buffers = {{.byte_size = 64}}})),
              fault_of(Status::invalid_layout, 28));
    // Beyond 2^60 bytes a bit's number has more than 63 bits.
    const std::uint64_t limit = 1ULL << 60;
    EXPECT_TRUE(make({.type = test::uint8, .shape = {limit - 1}, .buffers = {{.byte_size = limit}}}).has_value());
    EXPECT_EQ(fault(make({.type = test::uint8, .shape = {limit}, .buffers = {{.byte_size = limit}}})),
              fault_of(Status::limit_exceeded, Error::no_offset));
    EXPECT_EQ(fault(make({.type = test::uint8, .shape = {1}, .byte_offset = limit, .buffers = {{.byte_size = 2 * limit}}})),
              fault_of(Status::limit_exceeded, Error::no_offset));
}

TEST(AddressMap, LargeAndWildDescriptorsAreAddressedOrRefused) {
    for (const json& entry : test::dense_vectors().at("large")) {
        const auto descriptor = test::decode_exact(test::bytes_of(entry)).value();
        const auto map = AddressMap::make(descriptor);
        if (!map) {
            EXPECT_EQ(map.error().code, Status::limit_exceeded) << entry.at("name");
            EXPECT_GE(descriptor.buffers()[0].byte_size, 1ULL << 60) << entry.at("name");
            continue;
        }
        if (descriptor.element_count().value() == 0) continue;
        Shape last(descriptor.shape().begin(), descriptor.shape().end());
        for (std::uint64_t& i : last) --i;
        const std::int64_t offset = map->offset(last.data());
        EXPECT_LE(offset, map->highest()) << entry.at("name");
        EXPECT_GE(offset, map->lowest()) << entry.at("name");
    }
    const auto over_4_gib = test::decode_exact(test::bytes_of(test::dense_vectors().at("large")[0])).value();
    const std::uint64_t last[] = {(1 << 20) - 1, (1 << 13) - 1};
    EXPECT_EQ(AddressMap::make(over_4_gib).value().offset(last), (1LL << 33) - 1);
}

TEST(AddressMap, AnotherTypeAndALargerStorageShapeAreCheckedAgainstTheBuffer) {
    const auto descriptor = test::build({.type = test::uint8, .shape = {2, 5}, .buffers = {{.byte_size = 16}}}).value();
    const ElementTypeInfo& byte = *find_element_type(test::uint8);
    const ElementTypeInfo& wide = *find_element_type(test::float32);
    const std::uint64_t at[] = {1, 4};
    EXPECT_EQ(AddressMap::make(descriptor, byte, Shape{2, 5}).value().offset(at), 9);
    EXPECT_EQ(AddressMap::make(descriptor, byte, Shape{2, 8}).value().offset(at), 12);
    EXPECT_EQ(AddressMap::make(descriptor, byte, Shape{2, 9}).error().code, Status::invalid_layout);
    EXPECT_EQ(AddressMap::make(descriptor, byte, Shape{2, 4}).error().code, Status::invalid_argument);
    EXPECT_EQ(AddressMap::make(descriptor, byte, Shape{10}).error().code, Status::invalid_argument);
    EXPECT_EQ(AddressMap::make(descriptor, byte, Shape{1ULL << 33, 1ULL << 33}).error().code, Status::invalid_layout);
    EXPECT_EQ(AddressMap::make(descriptor, wide, Shape{2, 5}).error().code, Status::invalid_layout);
}

TEST(AddressMap, CopiesAndMovesKeepTheirPlaces) {
    const auto descriptor = test::decode_exact(test::bytes_of(test::dense_vectors().at("valid")[0])).value();
    AddressMap map = AddressMap::make(descriptor).value();
    const std::uint64_t index[] = {3, 5};
    const AddressMap copy = map;
    const AddressMap moved = std::move(map);
    EXPECT_EQ(copy.offset(index), 29);
    EXPECT_EQ(moved.offset(index), 29);
}

TEST(Morton, CodesOfTheMapAreThoseOfTheBitLoop) {
    test::Random random(5);
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t rank = 1 + random.below(12);
        Shape bits(rank);
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < rank; ++k) sum += bits[k] = 1 + random.below((63 - k) / rank + 1);
        const MortonAddress address(rank);
        Shape index(rank);
        for (std::size_t k = 0; k < rank; ++k) index[k] = random.next() >> (64 - bits[k]);
        ASSERT_EQ(static_cast<std::uint64_t>(address(index.data())), morton_code(index, bits)) << rank << " " << sum;
    }
}

// Hilbert.

TEST(Hilbert, Order2IsTheTableOfTheFormat) {
    const char* table[] = {"00", "10", "11", "01", "02", "03", "13", "12", "22", "23", "33", "32", "31", "21", "20", "30"};
    for (std::uint64_t place = 0; place < 16; ++place) {
        std::uint64_t x[2];
        hilbert_coordinates(place, x, 2, 2);
        EXPECT_EQ(x[0], static_cast<std::uint64_t>(table[place][0] - '0')) << place;
        EXPECT_EQ(x[1], static_cast<std::uint64_t>(table[place][1] - '0')) << place;
        EXPECT_EQ(hilbert_index(x, 2, 2), place);
    }
}

TEST(Hilbert, VisitsEveryPlaceOnceInStepsOfOne) {
    for (std::uint32_t rank = 2; rank <= 6; ++rank) {
        for (std::uint32_t order = 1; order * rank <= 16; ++order) {
            const std::uint64_t count = std::uint64_t{1} << order * rank;
            std::vector<bool> seen(count);
            Shape before(rank);
            for (std::uint64_t place = 0; place < count; ++place) {
                Shape x(rank);
                hilbert_coordinates(place, x.data(), rank, order);
                std::uint64_t row_major = 0;
                std::uint64_t distance = 0;
                for (std::uint32_t k = 0; k < rank; ++k) {
                    ASSERT_LT(x[k], std::uint64_t{1} << order);
                    row_major = row_major << order | x[k];
                    distance += x[k] > before[k] ? x[k] - before[k] : before[k] - x[k];
                }
                ASSERT_FALSE(seen[row_major]) << rank << " " << order << " " << place;
                seen[row_major] = true;
                ASSERT_EQ(distance, place == 0 ? 0U : 1U) << rank << " " << order << " " << place;
                before = x;
                ASSERT_EQ(hilbert_index(x.data(), rank, order), place);
            }
        }
    }
}

TEST(Hilbert, LargeOrdersAndRanksAreInverses) {
    test::Random random(9);
    for (const auto& [rank, order] : {std::pair{2U, 31U}, {3U, 21U}, {7U, 9U}, {31U, 2U}, {63U, 1U}}) {
        for (int i = 0; i < 500; ++i) {
            const std::uint64_t place = random.next() >> (64 - rank * order);
            std::uint64_t x[64];
            hilbert_coordinates(place, x, rank, order);
            ASSERT_EQ(hilbert_index(x, rank, order), place) << rank << " " << order;
        }
    }
}

}  // namespace
}  // namespace hurray
