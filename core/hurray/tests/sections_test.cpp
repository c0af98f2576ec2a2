// Requirements: format, quantization, statistics, extension type and composite member sections; see golden_test, which
// reads and builds each of them.
#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/layout/gather.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/tests/golden.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;
using test::Random;

constexpr std::uint8_t int8 = 0x10;
constexpr DecodeOptions allowing = {.private_tags = PrivateTags::allow};

TEST(Sections, EveryTruncationIsRefused) {
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        if (entry.at("descriptor").at("flags") == 0) continue;
        const auto whole = test::decode_exact(bytes, options).value();
        // What a later minor version put behind the sections may be cut off.
        const std::size_t end = bytes.size() - whole.trailing().size();
        for (std::size_t length = 20; length < bytes.size(); ++length) {
            Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
            EXPECT_FALSE(test::decode_exact(cut, options).has_value()) << name;
            store_le(cut.data() + 6, static_cast<std::uint32_t>(length));
            const auto decoded = test::decode_exact(cut, options);
            ASSERT_EQ(decoded.has_value(), length >= end) << name << " cut to " << length;
            if (decoded) continue;
            EXPECT_EQ(decoded.error().code, Status::invalid_layout)
                << name << " cut to " << length << ": " << decoded.error().message;
            EXPECT_LE(decoded.error().offset, length);
        }
    }
}

TEST(Sections, PrivateSchemesAreReadWhenTheCallerAllowsThem) {
    for (const auto& [name, bytes, options, entry] : test::invalid_vectors()) {
        if (name != "scheme_f0" && name != "scheme_fe" && name != "scheme_ff" && name != "scheme_00") continue;
        const auto allowed = test::decode_exact(bytes, allowing);
        ASSERT_EQ(allowed.has_value(), name == "scheme_f0" || name == "scheme_fe") << name;
        if (allowed) {
            EXPECT_EQ(test::encoded(*allowed), bytes);
            EXPECT_EQ(quantization_fields(*allowed)->private_data.size(), 12U);
        }
    }
}

TEST(Sections, ManyRandomQuantizationsSurviveTheWayToBytesAndBack) {
    Random random(31);
    int accepted = 0;
    for (int i = 0; i < 100000; ++i) {
        std::vector<std::uint64_t> shape(random.below(4));
        for (std::uint64_t& size : shape) size = random.below(8) == 0 ? random.below(3) : 1 + random.below(80);
        QuantizationFields fields;
        fields.scheme = static_cast<std::uint8_t>(1 + random.below(5));
        fields.flags = static_cast<std::uint16_t>(random.below(2) & (fields.scheme == 2 || fields.scheme == 3 ? 1 : 0));
        fields.scale = static_cast<float>(random.between(-2, 2)) / 3;
        fields.zero_point = static_cast<std::int32_t>(random.between(-3, 3));
        fields.axis = static_cast<std::uint32_t>(random.below(shape.size() + 1));
        fields.block_size = 1U << random.below(6);
        fields.scale_type = random.pick({std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{3}});
        fields.scale_buffer = static_cast<std::uint32_t>(random.below(3));
        fields.zero_point_buffer = fields.symmetric() ? no_buffer : static_cast<std::uint32_t>(random.below(3));
        const std::uint8_t type = random.pick({std::uint8_t{0x10}, std::uint8_t{0x49}, std::uint8_t{0x40}});
        const std::uint64_t room =
            std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()) + 64 * 80 * 80;
        DescriptorBuilder builder(type, layout_tag::row_major, shape);
        builder.set_quantization(fields);
        ASSERT_TRUE(builder.add_buffer({.byte_size = room}).has_value());
        // The right sizes, worked out by hand, whatever else is wrong.
        std::uint64_t entries = fields.axis < shape.size() ? shape[fields.axis] : 0;
        if (fields.scheme >= 3 && fields.axis < shape.size()) {
            entries = (entries + fields.block_size - 1) / fields.block_size;
            for (std::size_t k = 0; k < shape.size(); ++k) entries *= k == fields.axis ? 1 : shape[k];
        }
        const bool zeros = (fields.scheme == 2 || fields.scheme == 3) && !fields.symmetric();
        std::uint64_t scales = entries * (fields.scheme == 5                             ? 1
                                          : fields.scheme != 3 || fields.scale_type == 3 ? 4
                                                                                         : 2);
        const bool shared = zeros && fields.scale_buffer == fields.zero_point_buffer;
        const std::uint32_t last = fields.scheme == 1 ? 0 : zeros && !shared ? 2 : 1;
        if (shared) scales += entries * 4;
        for (std::uint32_t buffer = 1; buffer <= last; ++buffer) {
            const std::uint64_t size = buffer == fields.scale_buffer ? scales : entries * 4;
            ASSERT_TRUE(builder.add_buffer({.byte_size = size}).has_value());
        }
        const auto built = builder.build();
        const auto blocks_fit = [&] {
            if (fields.scheme < 3) return true;
            const std::uint64_t size = shape[fields.axis];
            const std::uint32_t least = fields.scheme == 3 ? 2 : fields.scheme == 4 ? 8 : 16;
            if (fields.block_size < least) return false;
            if (fields.scheme == 5) return size != 0 && size % fields.block_size == 0;
            return size == 0 || fields.block_size <= size;
        };
        const bool types_fit = fields.scheme == 4 ? type == 0x49 : fields.scheme == 5 ? type != 0x49 : type != 0x40;
        bool right = types_fit;
        if (fields.scheme == 1) {
            right = right && fields.scale != 0 && (type == 0x10 || fields.zero_point >= 0);
        } else {
            right = right && fields.axis < shape.size() && blocks_fit();
            right = right && fields.scale_buffer >= 1 && fields.scale_buffer <= last;
            right = right && (!zeros || (fields.zero_point_buffer >= 1 && fields.zero_point_buffer <= last));
            right = right && (fields.scheme != 2 || fields.scale_type == 3);
        }
        ASSERT_EQ(built.has_value(), right) << i << ": " << (built ? "accepted" : built.error().message);
        if (!built) continue;
        ++accepted;
        const Bytes bytes = test::encoded(*built);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value());
        ASSERT_EQ(test::encoded(*decoded), bytes);
        const auto read = quantization_fields(*decoded).value();
        EXPECT_EQ(read.scheme, fields.scheme);
        EXPECT_EQ(read.axis, fields.scheme == 1 ? 0 : fields.axis);
        EXPECT_EQ(read.scale, fields.scheme == 1 ? fields.scale : 0);
    }
    EXPECT_GT(accepted, 5000);
}

Descriptor short_block(std::uint8_t layout, std::vector<std::uint64_t> shape, std::uint32_t axis, std::uint64_t room,
                       std::uint64_t blocks) {
    DescriptorBuilder builder(int8, layout, shape);
    EXPECT_TRUE(builder.add_buffer({.byte_size = room}).has_value());
    EXPECT_TRUE(builder.add_buffer({.byte_size = blocks * 4}).has_value());
    builder.set_quantization({.scheme = scheme_tag::per_block_affine,
                              .flags = QuantizationFields::symmetric_flag,
                              .axis = axis,
                              .block_size = 4,
                              .scale_buffer = 1});
    return builder.build().value();
}

TEST(Sections, AShortBlockTakesTheRoomOfAWholeOne) {
    // [2, 5] along axis 1 lies in memory as [2, 8].
    const Descriptor rows = short_block(layout_tag::row_major, {2, 5}, 1, 16, 4);
    ASSERT_TRUE(padded_axis(rows).has_value());
    EXPECT_EQ(padded_axis(rows)->stored_size, 8U);
    std::array<std::int64_t, 2> strides{};
    ASSERT_TRUE(dense_strides(rows, strides).has_value());
    EXPECT_EQ(strides, (std::array<std::int64_t, 2>{8, 1}));
    EXPECT_FALSE(dense_view(rows)->contiguous);
    EXPECT_EQ(dense_view(rows)->byte_size, 13U);
    Bytes data(16);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
    Bytes gathered(10);
    ASSERT_TRUE(gather_row_major(rows, data, gathered).has_value());
    EXPECT_EQ(gathered[4], std::byte{4});
    EXPECT_EQ(gathered[5], std::byte{8});
    EXPECT_EQ(AddressMap::make(rows)->checked_offset(std::array<std::uint64_t, 2>{1, 2}).value(), 10);
    // Along axis 0 the elements of a row-major tensor still lie one after the other.
    const Descriptor outer = short_block(layout_tag::row_major, {5, 2}, 0, 16, 4);
    EXPECT_TRUE(dense_view(outer)->contiguous);
    EXPECT_EQ(dense_view(outer)->byte_size, 10U);
    const Descriptor columns = short_block(layout_tag::col_major, {5, 2}, 0, 16, 4);
    ASSERT_TRUE(dense_strides(columns, strides).has_value());
    EXPECT_EQ(strides, (std::array<std::int64_t, 2>{1, 8}));
    EXPECT_FALSE(dense_view(columns)->contiguous);
    EXPECT_FALSE(padded_axis(short_block(layout_tag::row_major, {2, 8}, 1, 16, 4)).has_value());
}

TEST(Sections, PrivateTypesHaveTheSizeThatTheirSectionSays) {
    DescriptorBuilder builder(0xF1, layout_tag::strided, std::array<std::uint64_t, 2>{2, 3});
    builder.set_strides(std::array<std::int64_t, 2>{1, 2}).set_extension_type({.bit_width = 24, .is_signed = true});
    ASSERT_TRUE(builder.add_buffer({.byte_size = 18}).has_value());
    const Descriptor descriptor = builder.build().value();
    EXPECT_EQ(element_type_info(descriptor).group_bytes, 3U);
    EXPECT_EQ(element_type_info(descriptor).kind, ElementKind::signed_integer);
    Bytes data(18);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
    Bytes gathered(18);
    ASSERT_TRUE(gather_row_major(descriptor, data, gathered).has_value());
    EXPECT_EQ(gathered[3], std::byte{6});
    EXPECT_EQ(gathered[9], std::byte{3});
    EXPECT_EQ(AddressMap::make(descriptor)->element_bits(), 24U);
}

TEST(Sections, ABufferThatTheBuilderWasNotGivenIsMissed) {
    DescriptorBuilder builder(int8, layout_tag::row_major, std::array<std::uint64_t, 1>{4});
    builder.set_quantization(
        {.scheme = scheme_tag::per_channel_affine, .axis = 0, .scale_buffer = 1, .zero_point_buffer = 2});
    ASSERT_TRUE(builder.add_buffer({.byte_size = 4}).has_value());
    EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_layout, 36));
    EXPECT_EQ(fault(DescriptorBuilder(builder).set_quantization({.scheme = 0x60}).build()),
              fault_of(Status::invalid_quantization, 36 + 17 + 4));
}

TEST(Sections, ParametersOfMoreBytesThanThereAreNumbers) {
    DescriptorBuilder builder(int8, layout_tag::strided, std::array<std::uint64_t, 1>{1ULL << 62});
    builder.set_strides(std::array<std::int64_t, 1>{0})
        .set_quantization(
            {.scheme = scheme_tag::per_channel_affine, .flags = QuantizationFields::symmetric_flag, .scale_buffer = 1});
    for (const std::uint64_t size : {1, 16}) ASSERT_TRUE(builder.add_buffer({.byte_size = size}).has_value());
    const auto built = builder.build();
    ASSERT_FALSE(built.has_value());
    EXPECT_EQ(built.error().code, Status::invalid_quantization);
    EXPECT_EQ(
        std::string(built.error().message),
        "scale_buffer_index: expected buffer 1 to have the bytes of 4611686018427387904 entries, which are more than "
        "2^64-1, got 16");
}

TEST(Sections, MessagesNameFieldAndExpectation) {
    const auto message = [](std::string_view name) {
        for (const auto& vector : test::invalid_vectors()) {
            if (vector.name == name) return std::string(test::decode_exact(vector.bytes).error().message);
        }
        return std::string("no such vector");
    };
    EXPECT_EQ(message("parameter_size_3_-1"),
              "scale_buffer_index: expected buffer 1 to have exactly 16 bytes for 4 entries, got 15");
    EXPECT_EQ(message("buffer_missing_3"),
              "buffer_count: expected 2: 1 of the layout and 1 with parameters of per_block_affine, got 1");
    EXPECT_EQ(message("type_4_int8"), "scheme: nf4 expects elements of uint4, got int8 (10)");
    EXPECT_EQ(message("scheme_f0"), "scheme: expected the tag of a known scheme, got the private F0");
    EXPECT_EQ(message("extension_of_public_type"),
              "type_tag: expected a private type since flags tell of an extension_type section, got 10");
}

}  // namespace
}  // namespace hurray
