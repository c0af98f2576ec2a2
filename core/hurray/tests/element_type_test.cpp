// Requirements: format, element types.
#include "core/hurray/types/element_type.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

constexpr std::uint64_t largest = ~std::uint64_t{0};

// The format's table, by tag: name and bits.
const std::map<int, std::pair<std::string, unsigned>> format_table = {
    {0x01, {"float16", 16}},    {0x02, {"bfloat16", 16}},    {0x03, {"float32", 32}},    {0x04, {"float64", 64}},
    {0x10, {"int8", 8}},        {0x11, {"uint8", 8}},        {0x12, {"int16", 16}},      {0x13, {"uint16", 16}},
    {0x14, {"int32", 32}},      {0x15, {"uint32", 32}},      {0x16, {"int64", 64}},      {0x17, {"uint64", 64}},
    {0x20, {"bool", 1}},        {0x40, {"float8_e4m3", 8}},  {0x41, {"float8_e5m2", 8}}, {0x42, {"float8_e8m0", 8}},
    {0x43, {"float4_e2m1", 4}}, {0x44, {"float6_e2m3", 6}},  {0x45, {"float6_e3m2", 6}}, {0x46, {"float128", 128}},
    {0x48, {"int4", 4}},        {0x49, {"uint4", 4}},        {0x4A, {"int2", 2}},        {0x4B, {"uint2", 2}},
    {0x50, {"complex64", 64}},  {0x51, {"complex128", 128}},
};

TEST(ElementType, TheTableHoldsExactlyTheTypesOfTheFormat) {
    for (int tag = 0; tag < 256; ++tag) {
        const ElementTypeInfo* type = find_element_type(static_cast<std::uint8_t>(tag));
        const auto expected = format_table.find(tag);
        ASSERT_EQ(type != nullptr, expected != format_table.end()) << tag;
        if (type == nullptr) continue;
        EXPECT_EQ(type->tag, tag);
        EXPECT_EQ(type->name, expected->second.first);
        EXPECT_EQ(type->bits, expected->second.second);
    }
}

TEST(ElementType, NaturalAlignmentIsTheWidthAndThatOfOneHalfForComplexTypes) {
    for (const auto& [tag, row] : format_table) {
        const ElementTypeInfo& type = *find_element_type(static_cast<std::uint8_t>(tag));
        const unsigned expected = type.kind == ElementKind::complex ? type.bits / 16
                                  : type.bits < 8                   ? 1
                                                                    : type.bits / 8;
        EXPECT_EQ(type.alignment, expected) << row.first;
    }
}

TEST(ElementType, KindSaysWhatTheBitsMean) {
    EXPECT_EQ(find_element_type(0x20)->kind, ElementKind::boolean);
    EXPECT_EQ(find_element_type(0x48)->kind, ElementKind::signed_integer);
    EXPECT_EQ(find_element_type(0x4B)->kind, ElementKind::unsigned_integer);
    EXPECT_EQ(find_element_type(0x02)->kind, ElementKind::floating_point);
    EXPECT_EQ(find_element_type(0x42)->kind, ElementKind::exponent);
    EXPECT_EQ(find_element_type(0x51)->kind, ElementKind::complex);
}

TEST(ElementType, PackedSizeRoundsUpToWholeBytesOrSixBitGroups) {
    for (const auto& [tag, row] : format_table) {
        for (std::uint64_t count = 0; count < 40; ++count) {
            const std::uint64_t expected = row.second == 6 ? (count + 3) / 4 * 3 : (count * row.second + 7) / 8;
            EXPECT_EQ(packed_byte_size(static_cast<std::uint8_t>(tag), count).value(), expected) << row.first << count;
        }
    }
}

TEST(ElementType, PackedSizeOfMoreThan2ToThe64BytesIsAnError) {
    EXPECT_EQ(packed_byte_size(0x11, largest).value(), largest);
    EXPECT_EQ(packed_byte_size(0x20, largest).value(), std::uint64_t{1} << 61);
    EXPECT_EQ(packed_byte_size(0x44, largest).value(), (std::uint64_t{1} << 62) * 3);
    EXPECT_EQ(packed_byte_size(0x01, largest / 2).value(), largest - 1);
    EXPECT_EQ(test::fault(packed_byte_size(0x01, largest / 2 + 1)),
              test::fault_of(Status::invalid_layout, Error::no_offset));
    EXPECT_EQ(test::fault(packed_byte_size(0x51, largest)), test::fault_of(Status::invalid_layout, Error::no_offset));
}

TEST(ElementType, PackedSizeOfAnUnknownTagIsAnInvalidType) {
    for (const std::uint8_t tag : {0x00, 0x05, 0x47, 0x80, 0xF0, 0xFF}) {
        EXPECT_EQ(test::fault(packed_byte_size(tag, 1)), test::fault_of(Status::invalid_type, Error::no_offset))
            << int{tag};
    }
}

TEST(ElementType, PrivateTagsAreF0ToFE) {
    for (int tag = 0; tag < 256; ++tag) {
        EXPECT_EQ(is_private_element_type(static_cast<std::uint8_t>(tag)), tag >= 0xF0 && tag <= 0xFE) << tag;
    }
}

}  // namespace
}  // namespace hurray
