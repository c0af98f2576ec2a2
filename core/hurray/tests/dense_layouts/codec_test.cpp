// Requirements: tiled, Morton and Hilbert descriptors are read, refused and written as the format says.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/hurray/layout/hilbert.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/tests/dense_layouts/dense_layouts.hpp"
#include "core/hurray/tests/golden.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::dense_vectors;
using test::fault;
using test::fault_of;
using test::json;

Bytes with_length(Bytes bytes, std::uint32_t length) {
    for (std::size_t i = 0; i < 4; ++i) bytes[6 + i] = static_cast<std::byte>(length >> 8 * i);
    bytes.resize(length);
    return bytes;
}

// What the typed readers say, as the vectors have it.
json fields_of(const Descriptor& descriptor) {
    if (descriptor.layout() == layout_tag::morton) return {{"morton_bits", morton_bits(descriptor)}};
    if (descriptor.layout() == layout_tag::hilbert) {
        const HilbertFields fields = hilbert_fields(descriptor);
        return {{"hilbert_order", fields.order}, {"hilbert_rank", fields.rank}};
    }
    json nested;
    const TiledLevels levels = tiled_levels(descriptor);
    for (std::size_t i = levels.size(); i-- > 0;) {
        nested = {{"tile_shape", levels[i].tile_shape},       {"outer_layout", levels[i].outer_layout},
                  {"inner_layout", levels[i].inner_layout},   {"outer_strides", levels[i].outer_strides},
                  {"inner_strides", levels[i].inner_strides}, {"inner_tiled", nested}};
    }
    return nested;
}

std::vector<json> all_valid() {
    std::vector<json> all = dense_vectors().at("valid");
    for (const json& entry : dense_vectors().at("large")) all.push_back(entry);
    return all;
}

TEST(DenseLayouts, ThereAreADozenVectorsOfEachKindForEachLayout) {
    for (const int tag : {0x04, 0x05, 0x40}) {
        const auto valid = all_valid();
        EXPECT_GE(std::count_if(valid.begin(), valid.end(), [&](const json& e) { return e.at("layout_tag") == tag; }), 12);
        const auto& invalid = test::invalid_vectors();
        EXPECT_GE(std::count_if(invalid.begin(), invalid.end(),
                                [&](const auto& e) { return e.bytes.size() > 15 && e.bytes[15] == static_cast<std::byte>(tag); }),
                  12);
    }
}

TEST(DenseLayouts, ValidVectorsDecodeToTheirFieldsAndEncodeToTheSameBytes) {
    for (const json& entry : all_valid()) {
        const Bytes bytes = test::bytes_of(entry);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value()) << entry.at("name") << ": " << decoded.error().message;
        EXPECT_EQ(decoded->layout(), entry.at("layout_tag"));
        EXPECT_EQ(decoded->element_type(), entry.at("type_tag"));
        EXPECT_EQ(json(decoded->shape()), entry.at("shape")) << entry.at("name");
        EXPECT_EQ(decoded->byte_offset(), entry.at("byte_offset")) << entry.at("name");
        EXPECT_EQ(fields_of(*decoded), entry.at("layout_fields")) << entry.at("name");
        EXPECT_EQ(test::encoded(*decoded), bytes) << entry.at("name");
        EXPECT_TRUE(decoded->strides().empty());
    }
}

TEST(DenseLayouts, TheBuilderMakesTheBytesOfTheOtherEncoder) {
    for (const json& entry : all_valid()) {
        const Bytes bytes = test::bytes_of(entry);
        const auto decoded = test::decode_exact(bytes).value();
        DescriptorBuilder builder = test::builder_of(entry, decoded.buffers()[0]);
        if (decoded.has_shard()) builder.set_shard(decoded.parent_shape(), decoded.shard_offset());
        const auto built = builder.build();
        if (entry.at("name") == "tiled_misfit_is_read") {
            // Level 2 starts behind the 20 bytes of level 1, its first size is the one that does not divide.
            EXPECT_EQ(fault(built), fault_of(Status::invalid_layout, 44 + 20));
            continue;
        }
        ASSERT_TRUE(built.has_value()) << entry.at("name") << ": " << built.error().message;
        EXPECT_EQ(test::encoded(*built), bytes) << entry.at("name");
    }
}

TEST(DenseLayouts, EveryTruncationIsRefusedWithinWhatIsThere) {
    for (const json& entry : all_valid()) {
        const Bytes bytes = test::bytes_of(entry);
        std::uint64_t last = 0;
        for (std::uint32_t length = fixed_header_size; length < bytes.size(); ++length) {
            const auto decoded = test::decode_exact(with_length(bytes, length));
            ASSERT_FALSE(decoded.has_value()) << entry.at("name") << " of " << length;
            EXPECT_EQ(decoded.error().code, Status::invalid_layout);
            EXPECT_LE(decoded.error().offset, length) << entry.at("name") << ": " << decoded.error().message;
            EXPECT_GT(decoded.error().offset + 16, length) << entry.at("name") << ": " << decoded.error().message;
            EXPECT_GE(decoded.error().offset, last) << entry.at("name") << ": " << decoded.error().message;
            last = decoded.error().offset;
            // The input ends early instead.
            EXPECT_EQ(fault(test::decode_exact(std::span(bytes).first(length))), fault_of(Status::invalid_layout, 6));
        }
    }
}

TEST(DenseLayouts, ManyMutationsAreRefusedOrEncodeToTheSameBytes) {
    test::Random random(20260405);
    const auto corpus = all_valid();
    std::vector<Bytes> inputs;
    for (const json& entry : corpus) {
        if (test::bytes_of(entry).size() < 400) inputs.push_back(test::bytes_of(entry));
    }
    int accepted = 0;
    for (int i = 0; i < 200000; ++i) {
        Bytes bytes = inputs[random.below(inputs.size())];
        for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
            // The fields more often than the header.
            bytes[15 + random.below(bytes.size() - 15)] = static_cast<std::byte>(
                random.pick({std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{0xFF}, random.below(256)}));
        }
        const auto decoded = test::decode_exact(bytes);
        if (!decoded) {
            EXPECT_LT(decoded.error().offset, bytes.size() + 1);
            continue;
        }
        ++accepted;
        ASSERT_EQ(test::encoded(*decoded), bytes);
    }
    EXPECT_GT(accepted, 1000);
}

TEST(DenseLayouts, MessagesNameFieldAndExpectation) {
    const auto message = [](const char* name) {
        for (const auto& vector : test::invalid_vectors()) {
            if (vector.name == name) return std::string(test::decode_exact(vector.bytes).error().message);
        }
        return std::string("no such vector");
    };
    EXPECT_EQ(message("tiled_zero_tile_1_level_2"), "tile_shape[1] of level 2: expected at least 1, got 0");
    EXPECT_EQ(message("tiled_outer_04"),
              "outer_layout of level 1: expected 01, 02 or 03 (row_major, col_major, strided), got 04");
    EXPECT_EQ(message("tiled_9_levels"),
              "inner_layout of level 8: expected at most 8 levels of tiles, got 04 (tiled) again");
    EXPECT_EQ(message("tiled_reserved_0080"), "reserved bytes of level 1: expected 00, got 80 in byte 1");
    EXPECT_EQ(message("tiled_edges_short_by_one"),
              "buffer 0: byte_size: expected room for element 47 of float32 from byte_offset 0, got 191");
    EXPECT_EQ(message("morton_too_few_bits"), "morton_bits[1]: expected enough bits for shape[1] = 5, got 2");
    EXPECT_EQ(message("morton_shift_64_rank_2"), "morton_bits[0]: expected 1 to 32, so that codes have 64 bits, got 33");
    EXPECT_EQ(message("morton_3x5_short_by_one"),
              "buffer 0: byte_size: expected room for 37 elements of float32, padding included, from byte_offset 0, got 147");
    EXPECT_EQ(message("hilbert_not_a_cube"), "hilbert_order: expected shape[1] = 2^order, got 2^2 and 8");
    EXPECT_EQ(message("hilbert_rank_3_of_2"), "hilbert_rank: expected the tensor's rank 2, got 3");
}

TEST(DenseLayouts, FieldsOfOtherLayoutsAreEmpty) {
    const auto plain = test::build({.shape = {3, 4}, .buffers = {{.byte_size = 48}}}).value();
    EXPECT_EQ(tiled_levels(plain).size(), 0U);
    EXPECT_TRUE(morton_bits(plain).empty());
    EXPECT_EQ(hilbert_fields(plain).order, 0U);
}

// The builder: what its arguments cannot say on the wire is refused where it would be.

DescriptorBuilder f32(std::uint8_t layout, std::vector<std::uint64_t> shape, std::uint64_t byte_size = 4096) {
    DescriptorBuilder builder(test::float32, layout, shape);
    EXPECT_TRUE(builder.add_buffer({.byte_size = byte_size}).has_value());
    return builder;
}

Result<Descriptor> built_tiled(std::vector<TiledLevel> levels, std::uint64_t byte_offset = 0) {
    return f32(layout_tag::tiled, {8, 8}).set_byte_offset(byte_offset).set_tiled(levels).build();
}

constexpr std::uint64_t two[] = {2, 2};
constexpr std::uint64_t four[] = {4, 4};
constexpr std::uint64_t three[] = {4, 3};
constexpr std::uint64_t one_value[] = {4};
constexpr std::uint64_t with_zero[] = {4, 0};
constexpr std::int64_t strides[] = {2, 1};
constexpr std::int64_t one_stride[] = {2};

TEST(DenseLayoutsBuilder, RefusesLevelsThatTheWireHasNoRoomFor) {
    constexpr std::uint64_t at = 20 + 16 + 8;
    const auto refused = [](std::vector<TiledLevel> levels) { return fault(built_tiled(std::move(levels))); };
    const auto at_field = [](std::uint64_t offset) { return fault_of(Status::invalid_layout, offset); };
    EXPECT_TRUE(built_tiled({{.tile_shape = four}}).has_value());
    EXPECT_EQ(refused({}), at_field(at));
    EXPECT_EQ(refused({{.tile_shape = one_value}}), at_field(at));
    EXPECT_EQ(refused({{.tile_shape = with_zero}}), at_field(at + 8));
    EXPECT_EQ(refused({{.tile_shape = four, .outer_layout = 0x04}}), at_field(at + 16));
    EXPECT_EQ(refused({{.tile_shape = four, .inner_layout = 0x05}}), at_field(at + 17));
    EXPECT_EQ(refused({{.tile_shape = four, .inner_layout = 0x04}}), at_field(at + 17));
    EXPECT_EQ(refused({{.tile_shape = four}, {.tile_shape = two}}), at_field(at + 17));
    EXPECT_EQ(refused({{.tile_shape = four, .inner_layout = 0x04}, {.tile_shape = three}}), at_field(at + 20 + 8));
    EXPECT_EQ(refused({{.tile_shape = four, .outer_layout = 0x03}}), at_field(at + 20));
    EXPECT_EQ(refused({{.tile_shape = four, .outer_layout = 0x03, .outer_strides = one_stride}}), at_field(at + 20));
    EXPECT_EQ(refused({{.tile_shape = four, .outer_strides = strides}}), at_field(at + 20));
    EXPECT_EQ(refused({{.tile_shape = four, .outer_layout = 0x03, .inner_layout = 0x03, .outer_strides = strides}}),
              at_field(at + 36));
    EXPECT_EQ(refused({{.tile_shape = four, .inner_strides = strides}}), at_field(at + 20));
    EXPECT_EQ(refused(std::vector<TiledLevel>(9, {.tile_shape = two, .inner_layout = 0x04})), at_field(at + 7 * 20 + 17));
    EXPECT_TRUE(built_tiled({{.tile_shape = four, .inner_layout = 0x04}, {.tile_shape = two}}).has_value());
}

TEST(DenseLayoutsBuilder, AnEarlierFaultComesFirst) {
    EXPECT_EQ(fault(built_tiled({}, 5000)), fault_of(Status::invalid_layout, 36));
    DescriptorBuilder scalar(test::float32, layout_tag::tiled, {});
    EXPECT_EQ(fault(scalar.set_tiled({}).build()), fault_of(Status::invalid_layout, 16));
    EXPECT_EQ(fault(f32(layout_tag::hilbert, {2}).set_hilbert(1).build()), fault_of(Status::invalid_layout, 16));
    DescriptorBuilder wrapping = f32(layout_tag::morton, {1ULL << 40, 1ULL << 40});
    EXPECT_EQ(fault(wrapping.set_morton_bits({}).build()), fault_of(Status::invalid_layout, 28));
    DescriptorBuilder typeless(0xFF, layout_tag::morton, std::vector<std::uint64_t>{2});
    EXPECT_EQ(fault(typeless.build()), fault_of(Status::invalid_type, 14));
}

TEST(DenseLayoutsBuilder, FieldsOfTheLayoutAreNeededAndThoseOfAnotherRefused) {
    for (const std::uint8_t layout : {layout_tag::tiled, layout_tag::morton, layout_tag::hilbert}) {
        EXPECT_EQ(fault(f32(layout, {4, 4}).build()), fault_of(Status::invalid_layout, 44));
        EXPECT_EQ(fault(f32(layout, {4, 4}).set_strides(strides).build()), fault_of(Status::invalid_layout, 44));
    }
    const std::uint32_t bits[] = {2, 2};
    EXPECT_EQ(fault(f32(layout_tag::row_major, {4, 4}).set_morton_bits(bits).build()),
              fault_of(Status::invalid_layout, 44));
    EXPECT_EQ(fault(f32(layout_tag::morton, {4, 4}).set_morton_bits(std::span(bits).first(1)).build()),
              fault_of(Status::invalid_layout, 44));
    // What is set last counts.
    EXPECT_TRUE(f32(layout_tag::morton, {4, 4}).set_hilbert(2).set_morton_bits(bits).build().has_value());
    EXPECT_TRUE(f32(layout_tag::hilbert, {4, 4}).set_morton_bits({}).set_hilbert(2).build().has_value());
}

TEST(DenseLayouts, MisfitsOfTilesAreFound) {
    const TiledLevel fits[] = {{.tile_shape = four, .inner_layout = 0x04}, {.tile_shape = two}};
    EXPECT_FALSE(find_tile_misfit(fits).has_value());
    const TiledLevel misfits[] = {{.tile_shape = four, .inner_layout = 0x04}, {.tile_shape = three}};
    ASSERT_TRUE(find_tile_misfit(misfits).has_value());
    EXPECT_EQ(find_tile_misfit(misfits)->level, 1U);
    EXPECT_EQ(find_tile_misfit(misfits)->dimension, 1U);
}

}  // namespace
}  // namespace hurray
