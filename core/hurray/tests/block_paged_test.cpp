// Requirements: format, block-paged layout: its fields, buffers, and how it goes together with sections; each refusal
// with its code and offset.
#include "core/hurray/layout/block_paged.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;

constexpr std::uint8_t float16 = 0x01;
constexpr std::uint8_t int8 = 0x10;
constexpr std::uint8_t uint4 = 0x49;

// Offsets of the fields at rank 3.
constexpr std::uint64_t shape_at = 20;
constexpr std::uint64_t byte_offset_at = 44;
constexpr std::uint64_t fields_at = 52;
constexpr std::uint64_t buffer_count_at = fields_at + 32;
constexpr std::uint64_t handle_at(std::uint64_t i) {
    return buffer_count_at + 1 + 16 * i;
}

// The tensor of the format's example: two sequences of 6 and 3 tokens, 5 pages of 4 tokens, 2 heads of 8 elements.
constexpr BlockPagedFields example = {.page_size = 4, .num_pages = 5, .num_seqs = 2, .kv_role = 0, .layer_index = 3};

struct Spec {
    std::uint8_t type = float16;
    std::vector<std::uint64_t> shape = {9, 2, 8};
    BlockPagedFields fields = example;
    std::uint64_t byte_offset = 0;
    // Of buffers 0 to 2, then those of parameters.
    std::vector<std::uint64_t> sizes = {640, 12, 12};
    std::function<void(DescriptorBuilder&)> sections = [](DescriptorBuilder&) {};
};

Result<Descriptor> build(const Spec& spec) {
    DescriptorBuilder builder(spec.type, layout_tag::block_paged, spec.shape);
    builder.set_byte_offset(spec.byte_offset).set_block_paged(spec.fields);
    for (const std::uint64_t size : spec.sizes) EXPECT_TRUE(builder.add_buffer({.byte_size = size}).has_value());
    spec.sections(builder);
    return builder.build();
}

// As they stand on the wire, from the format's table of fields.
Bytes wire_fields(const BlockPagedFields& fields) {
    Bytes bytes;
    const auto put = [&](std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> 8 * i));
    };
    put(fields.page_size, 4);
    put(fields.num_pages, 8);
    put(fields.paged_axis, 4);
    put(fields.num_seqs, 4);
    put(fields.kv_role, 1);
    put(fields.layer_index, 4);
    put(fields.index_type, 1);
    put(0, 6);
    return bytes;
}

Bytes encoded_example() {
    return test::encoded(build({}).value());
}

std::pair<int, std::uint64_t> fault_with_byte(std::uint64_t at, int value) {
    Bytes bytes = encoded_example();
    bytes[at] = static_cast<std::byte>(value);
    return fault(test::decode_exact(bytes));
}

TEST(BlockPaged, EveryFieldIsWrittenAndRead) {
    const BlockPagedFields odd = {.page_size = 0x01020304,
                                  .num_pages = 0,
                                  .num_seqs = 0,
                                  .kv_role = 2,
                                  .layer_index = 0x0A0B0C0D,
                                  .index_type = 1};
    for (const BlockPagedFields& fields :
         {example, odd, BlockPagedFields{.page_size = 1, .num_pages = 0xFFFFFFFFFFFFFFFF, .kv_role = 1}}) {
        const auto built = build({.shape = {0, 2, 0}, .fields = fields, .sizes = {0, 0, 24}});
        ASSERT_TRUE(built.has_value()) << built.error().message;
        EXPECT_EQ(block_paged_fields(*built), fields);
        const Bytes bytes = test::encoded(*built);
        EXPECT_EQ(Bytes(bytes.begin() + fields_at, bytes.begin() + buffer_count_at), wire_fields(fields));
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value());
        EXPECT_EQ(block_paged_fields(*decoded), fields);
        EXPECT_EQ(test::encoded(*decoded), bytes);
    }
    EXPECT_EQ(build({}).value().buffers().size(), 3U);
}

TEST(BlockPaged, OtherLayoutsHaveNoSuchFields) {
    const auto plain = test::build({.shape = {2}, .buffers = {{.byte_size = 8}}});
    EXPECT_EQ(block_paged_fields(plain.value()), BlockPagedFields{});
    DescriptorBuilder builder(float16, layout_tag::row_major, std::array<std::uint64_t, 3>{1, 1, 1});
    builder.set_block_paged(example);
    EXPECT_EQ(fault(builder.build()), fault_of(Status::invalid_layout, fields_at));
    DescriptorBuilder unset(float16, layout_tag::block_paged, std::array<std::uint64_t, 3>{1, 1, 1});
    EXPECT_EQ(fault(unset.build()), fault_of(Status::invalid_layout, fields_at));
}

TEST(BlockPaged, RankIsThree) {
    for (const std::vector<std::uint64_t>& shape : std::vector<std::vector<std::uint64_t>>{{}, {9}, {9, 2}, {9, 2, 8, 1}}) {
        EXPECT_EQ(fault(build({.shape = shape})), fault_of(Status::invalid_layout, 16)) << shape.size();
    }
}

TEST(BlockPaged, ByteOffsetIsZero) {
    EXPECT_EQ(fault(build({.byte_offset = 1})), fault_of(Status::invalid_layout, byte_offset_at));
    EXPECT_EQ(fault(build({.byte_offset = 641})), fault_of(Status::invalid_layout, byte_offset_at));
}

TEST(BlockPaged, EachFieldIsChecked) {
    BlockPagedFields fields = example;
    fields.page_size = 0;
    EXPECT_EQ(fault(build({.fields = fields})), fault_of(Status::invalid_layout, fields_at));
    for (const std::uint32_t axis : {1U, 2U, 3U, 0x80000000U}) {
        fields = example;
        fields.paged_axis = axis;
        EXPECT_EQ(fault(build({.fields = fields})), fault_of(Status::invalid_layout, fields_at + 12));
    }
    for (int role = 3; role < 256; ++role) {
        EXPECT_EQ(fault_with_byte(fields_at + 20, role), fault_of(Status::invalid_layout, fields_at + 20)) << role;
    }
    for (int type = 2; type < 256; ++type) {
        EXPECT_EQ(fault_with_byte(fields_at + 25, type), fault_of(Status::invalid_layout, fields_at + 25)) << type;
    }
    for (std::uint64_t i = 26; i < 32; ++i) {
        for (const int value : {1, 0x80, 0xFF}) {
            EXPECT_EQ(fault_with_byte(fields_at + i, value), fault_of(Status::invalid_layout, fields_at + i)) << i;
        }
    }
}

TEST(BlockPaged, TheFirstOfTwoFaultsIsReported) {
    BlockPagedFields wrong = example;
    wrong.kv_role = 9;
    wrong.index_type = 9;
    EXPECT_EQ(fault(build({.fields = wrong})), fault_of(Status::invalid_layout, fields_at + 20));
    wrong.paged_axis = 1;
    EXPECT_EQ(fault(build({.fields = wrong})), fault_of(Status::invalid_layout, fields_at + 12));
    wrong.page_size = 0;
    EXPECT_EQ(fault(build({.fields = wrong})), fault_of(Status::invalid_layout, fields_at));
    EXPECT_EQ(fault(build({.fields = wrong, .byte_offset = 1})), fault_of(Status::invalid_layout, byte_offset_at));
}

TEST(BlockPaged, EndsEarlyAtTheFieldThatIsCut) {
    const Bytes whole = encoded_example();
    // Where each field starts, from the first of the layout on.
    const std::uint64_t starts[] = {0, 4, 12, 16, 20, 21, 25, 26, 32};
    for (std::uint64_t length = fields_at; length < buffer_count_at; ++length) {
        Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        bytes[6] = static_cast<std::byte>(length);
        std::uint64_t expected = 0;
        for (const std::uint64_t start : starts) {
            if (fields_at + start <= length) expected = fields_at + start;
        }
        EXPECT_EQ(fault(test::decode_exact(bytes)), fault_of(Status::invalid_layout, expected)) << length;
        // What is there of the fields is checked before.
        if (length < fields_at + 4) continue;
        bytes[fields_at] = std::byte{0};
        EXPECT_EQ(fault(test::decode_exact(bytes)), fault_of(Status::invalid_layout, fields_at)) << length;
    }
}

TEST(BlockPaged, HasThreeBuffers) {
    EXPECT_EQ(fault(build({.sizes = {}})), fault_of(Status::invalid_layout, buffer_count_at));
    EXPECT_EQ(fault(build({.sizes = {640}})), fault_of(Status::invalid_layout, buffer_count_at));
    EXPECT_EQ(fault(build({.sizes = {640, 12}})), fault_of(Status::invalid_layout, buffer_count_at));
    EXPECT_EQ(fault(build({.sizes = {640, 12, 12, 64}})), fault_of(Status::invalid_layout, buffer_count_at));
}

TEST(BlockPaged, BuffersHaveRoom) {
    EXPECT_TRUE(build({.sizes = {700, 100, 100}}).has_value());
    EXPECT_EQ(fault(build({.sizes = {639, 12, 12}})), fault_of(Status::invalid_layout, handle_at(0)));
    // 9 tokens take three pages of 4 at least.
    EXPECT_EQ(fault(build({.sizes = {640, 11, 12}})), fault_of(Status::invalid_layout, handle_at(1)));
    EXPECT_EQ(fault(build({.sizes = {640, 12, 11}})), fault_of(Status::invalid_layout, handle_at(2)));
    // Entries of 8 bytes.
    BlockPagedFields wide = example;
    wide.index_type = 1;
    EXPECT_EQ(fault(build({.fields = wide})), fault_of(Status::invalid_layout, handle_at(1)));
    EXPECT_EQ(fault(build({.fields = wide, .sizes = {640, 24, 23}})), fault_of(Status::invalid_layout, handle_at(2)));
    EXPECT_TRUE(build({.fields = wide, .sizes = {640, 24, 24}}).has_value());
    // Packed elements: 5 pages of 4 x 1 x 3 elements, two in a byte.
    EXPECT_TRUE(build({.type = uint4, .shape = {9, 1, 3}, .sizes = {30, 12, 12}}).has_value());
    EXPECT_EQ(fault(build({.type = uint4, .shape = {9, 1, 3}, .sizes = {29, 12, 12}})),
              fault_of(Status::invalid_layout, handle_at(0)));
    // The most sequences that there are.
    BlockPagedFields many = example;
    many.num_seqs = 0xFFFFFFFF;
    EXPECT_TRUE(build({.fields = many, .sizes = {640, 12, std::uint64_t{1} << 34}}).has_value());
    EXPECT_EQ(fault(build({.fields = many, .sizes = {640, 12, (std::uint64_t{1} << 34) - 1}})),
              fault_of(Status::invalid_layout, handle_at(2)));
}

TEST(BlockPaged, SizesBeyond64BitsAreTheFaultOfThePool) {
    BlockPagedFields huge = example;
    for (const std::uint64_t pages : {std::uint64_t{1} << 62, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
        huge.num_pages = pages;
        EXPECT_EQ(fault(build({.fields = huge, .sizes = {~std::uint64_t{0}, 12, 12}})),
                  fault_of(Status::invalid_layout, handle_at(0)));
    }
    // Pages without elements take no room, however many they are.
    EXPECT_TRUE(build({.shape = {9, 0, 8}, .fields = huge, .sizes = {0, 12, 12}}).has_value());
    EXPECT_TRUE(build({.shape = {9, 8, 0}, .fields = huge, .sizes = {0, 0, 12}}).has_value());
}

TEST(BlockPaged, AnEmptyBatchHasOnePointer) {
    const BlockPagedFields empty = {.page_size = 16, .num_pages = 0, .num_seqs = 0};
    EXPECT_TRUE(build({.shape = {0, 2, 8}, .fields = empty, .sizes = {0, 0, 4}}).has_value());
    EXPECT_EQ(fault(build({.shape = {0, 2, 8}, .fields = empty, .sizes = {0, 0, 3}})),
              fault_of(Status::invalid_layout, handle_at(2)));
    // Tokens without a page.
    EXPECT_EQ(fault(build({.shape = {1, 2, 8}, .fields = empty, .sizes = {0, 0, 4}})),
              fault_of(Status::invalid_layout, handle_at(1)));
}

TEST(BlockPaged, DynamicDimensionsLeaveSizesOpen) {
    EXPECT_TRUE(build({.shape = {dynamic_dimension, 2, 8}, .sizes = {640, 0, 12}}).has_value());
    EXPECT_EQ(fault(build({.shape = {dynamic_dimension, 2, 8}, .sizes = {639, 0, 12}})),
              fault_of(Status::invalid_layout, handle_at(0)));
    EXPECT_TRUE(build({.shape = {9, dynamic_dimension, 8}, .sizes = {0, 0, 12}}).has_value());
    EXPECT_TRUE(build({.shape = {9, 2, dynamic_dimension}, .sizes = {0, 0, 12}}).has_value());
}

TEST(BlockPaged, IsNoShard) {
    const auto shard = [](DescriptorBuilder& builder) {
        builder.set_shard(std::array<std::uint64_t, 3>{9, 2, 8}, std::array<std::uint64_t, 3>{0, 0, 0});
    };
    EXPECT_EQ(fault(build({.sections = shard})), fault_of(Status::invalid_layout, handle_at(3)));
}

TEST(BlockPaged, MayHaveStatistics) {
    EXPECT_TRUE(build({.sections = [](DescriptorBuilder& builder) { builder.set_statistics({}); }}).has_value());
}

// Quantization: the section starts behind the table.
constexpr std::uint64_t payload_at(std::uint64_t buffers) {
    return handle_at(buffers) + 4;
}

Spec quantized(const QuantizationFields& fields, std::vector<std::uint64_t> parameters, std::uint8_t type = int8) {
    Spec spec;
    spec.type = type;
    spec.sizes = {320, 12, 12};
    spec.sizes.insert(spec.sizes.end(), parameters.begin(), parameters.end());
    spec.sections = [fields](DescriptorBuilder& builder) { builder.set_quantization(fields); };
    return spec;
}

constexpr QuantizationFields per_block = {.scheme = scheme_tag::per_block_affine,
                                          .flags = QuantizationFields::symmetric_flag,
                                          .axis = 0,
                                          .block_size = 4,
                                          .scale_buffer = 3};

TEST(BlockPaged, BlocksHaveAScaleForEachPlaceOfTheirPage) {
    const auto built = build(quantized(per_block, {80}));
    ASSERT_TRUE(built.has_value()) << built.error().message;
    const auto sizes = parameter_sizes(*built, *quantization_fields(*built));
    ASSERT_TRUE(sizes.has_value());
    EXPECT_EQ(sizes->entries, 20U);
    EXPECT_EQ(sizes->scale_bytes, 80U);
    // By the rule of other layouts there would be 3 blocks for each of 16 columns.
    for (const std::uint64_t size : {79U, 81U, 192U, 0U}) {
        EXPECT_EQ(fault(build(quantized(per_block, {size}))), fault_of(Status::invalid_quantization, payload_at(4) + 12));
    }
    QuantizationFields zeros = per_block;
    zeros.flags = 0;
    zeros.zero_point_buffer = 4;
    zeros.scale_type = 0x01;
    EXPECT_TRUE(build(quantized(zeros, {40, 80})).has_value());
    EXPECT_EQ(fault(build(quantized(zeros, {40, 79}))), fault_of(Status::invalid_quantization, payload_at(5) + 16));
    zeros.zero_point_buffer = 3;
    EXPECT_TRUE(build(quantized(zeros, {120})).has_value());
    EXPECT_EQ(fault(build(quantized(zeros, {80}))), fault_of(Status::invalid_quantization, payload_at(4) + 12));
    zeros.scale_buffer = 2;
    EXPECT_EQ(fault(build(quantized(zeros, {120, 0}))), fault_of(Status::invalid_quantization, payload_at(5) + 12));
}

TEST(BlockPaged, BlocksAreThePages) {
    for (const std::uint32_t axis : {1U, 2U}) {
        QuantizationFields fields = per_block;
        fields.axis = axis;
        fields.block_size = 2;
        EXPECT_EQ(fault(build(quantized(fields, {80}))), fault_of(Status::invalid_quantization, payload_at(4) + 4));
    }
    for (const std::uint32_t block : {2U, 8U}) {
        QuantizationFields fields = per_block;
        fields.block_size = block;
        EXPECT_EQ(fault(build(quantized(fields, {80}))), fault_of(Status::invalid_quantization, payload_at(4) + 8));
    }
    // Fewer tokens than a block has: refused as in other layouts.
    Spec few = quantized(per_block, {80});
    few.shape[0] = 3;
    EXPECT_EQ(fault(build(few)), fault_of(Status::invalid_quantization, payload_at(4) + 8));
    few.shape[0] = 0;
    EXPECT_TRUE(build(few).has_value());
}

TEST(BlockPaged, ScalesBeyond64BitsAreRefused) {
    Spec spec = quantized(per_block, {80});
    spec.shape = {9, 2, 0};
    spec.fields.num_pages = ~std::uint64_t{0};
    EXPECT_EQ(fault(build(spec)), fault_of(Status::invalid_quantization, payload_at(4) + 12));
    spec.fields.num_pages = std::uint64_t{1} << 60;
    EXPECT_EQ(fault(build(spec)), fault_of(Status::invalid_quantization, payload_at(4) + 12));
}

TEST(BlockPaged, ChannelsAreHeadsOrTheirElements) {
    QuantizationFields fields = {.scheme = scheme_tag::per_channel_affine,
                                 .flags = QuantizationFields::symmetric_flag,
                                 .axis = 1,
                                 .scale_buffer = 3};
    EXPECT_TRUE(build(quantized(fields, {8})).has_value());
    fields.axis = 2;
    EXPECT_TRUE(build(quantized(fields, {32})).has_value());
    fields.axis = 0;
    EXPECT_EQ(fault(build(quantized(fields, {36}))), fault_of(Status::invalid_quantization, payload_at(4) + 4));
}

TEST(BlockPaged, OneScaleForTheWholeTensor) {
    EXPECT_TRUE(build(quantized({.scheme = scheme_tag::per_tensor_affine, .scale = 1}, {})).has_value());
    EXPECT_EQ(fault(build(quantized({.scheme = scheme_tag::per_tensor_affine, .scale = 1}, {4}))),
              fault_of(Status::invalid_layout, buffer_count_at));
}

TEST(BlockPaged, SchemesWithoutARuleForPagesAreUnsupported) {
    QuantizationFields fields = {.scheme = scheme_tag::nf4, .axis = 0, .block_size = 8, .scale_buffer = 3};
    EXPECT_EQ(fault(build(quantized(fields, {80}, uint4))), fault_of(Status::unsupported, payload_at(4)));
    fields.scheme = scheme_tag::mxfp;
    fields.block_size = 16;
    EXPECT_EQ(fault(build(quantized(fields, {20}))), fault_of(Status::unsupported, payload_at(4)));
}

TEST(BlockPaged, NoChangeOfAByteIsMisread) {
    const Bytes whole = encoded_example();
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (int value = 0; value < 256; ++value) {
            Bytes bytes = whole;
            bytes[i] = static_cast<std::byte>(value);
            const auto decoded = test::decode_exact(bytes);
            if (decoded) {
                EXPECT_EQ(test::encoded(*decoded), bytes) << i;
            } else {
                EXPECT_LE(decoded.error().offset, bytes.size());
            }
        }
    }
}

}  // namespace
}  // namespace hurray
