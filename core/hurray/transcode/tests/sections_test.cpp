// What else a tensor has besides its elements: sections, parameters of a quantization scheme, whole blocks, memory.
#include <algorithm>

#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/transcode/tests/dense_oracle.hpp"

namespace hurray {
namespace {

using test::DenseLayout;
using test::Shape;
using test::Type;

constexpr std::uint8_t int8 = 0x10;
constexpr std::uint8_t int4 = 0x48;
constexpr std::uint8_t uint4 = 0x49;
constexpr std::uint8_t e2m1 = 0x43;

std::vector<DenseLayout> some_layouts(const Shape& shape) {
    using namespace layout_tag;
    std::vector<DenseLayout> all = {{"row_major", row_major}, {"col_major", col_major}};
    test::Strides strides = test::plain_strides(shape, col_major);
    for (std::int64_t& stride : strides) stride *= -2;
    all.push_back({"strided", strided, strides});
    all.push_back({"tiled", tiled, {}, {{Shape(shape.size(), 4), col_major, row_major}}});
    all.push_back({"morton", morton, {}, {}, std::vector<std::uint32_t>(shape.size(), 6)});
    return all;
}

// The shape with which a layout counts, when blocks along an axis are whole there.
Shape storage_of(const DenseLayout& layout, Shape shape, const QuantizationFields& fields) {
    const bool implied = layout.layout == layout_tag::row_major || layout.layout == layout_tag::col_major;
    if (implied && fields.block_size != 0) {
        std::uint64_t& size = shape[fields.axis];
        size = (size + fields.block_size - 1) / fields.block_size * fields.block_size;
    }
    return shape;
}

Tensor quantized(const Type& type, const Shape& shape, const DenseLayout& layout, const QuantizationFields& fields,
                 const std::vector<std::uint64_t>& parameters, test::Random& random) {
    const test::RoomOf room = test::room_of(layout, storage_of(layout, shape, fields));
    const std::uint64_t below = type.bytes(room.below);
    std::vector<Buffer> buffers = {test::random_buffer(below + type.bytes(room.from_first), random)};
    for (const std::uint64_t size : parameters) buffers.push_back(test::random_buffer(size, random));
    DescriptorBuilder builder(type.tag, layout.layout, shape);
    builder.set_byte_offset(below);
    test::set_fields(builder, layout, shape);
    builder.set_quantization(fields);
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto descriptor = builder.build();
    EXPECT_TRUE(descriptor.has_value()) << layout.name << ": " << (descriptor ? "" : descriptor.error().message);
    return {std::move(descriptor.value()), std::move(buffers)};
}

struct Scheme {
    const char* name;
    Type type;
    QuantizationFields fields;
    std::vector<std::uint64_t> parameters;
};

// Of shape {6, 20}.
std::vector<Scheme> schemes() {
    using namespace scheme_tag;
    return {
        {"per tensor", {int8}, {.scheme = per_tensor_affine, .scale = 0.5f, .zero_point = 3}, {}},
        {"per channel",
         {int8},
         {.scheme = per_channel_affine, .axis = 1, .scale_buffer = 1, .zero_point_buffer = 2},
         {80, 80}},
        {"per channel, shared buffer",
         {int4},
         {.scheme = per_channel_affine, .axis = 0, .scale_buffer = 1, .zero_point_buffer = 1},
         {48}},
        {"whole blocks",
         {int8},
         {.scheme = per_block_affine,
          .flags = QuantizationFields::symmetric_flag,
          .axis = 1,
          .block_size = 4,
          .scale_buffer = 1},
         {120}},
        {"short last block",
         {int8},
         {.scheme = per_block_affine,
          .flags = QuantizationFields::symmetric_flag,
          .scale_type = 0x01,
          .axis = 1,
          .block_size = 8,
          .scale_buffer = 1},
         {36}},
        {"short last block of the other axis",
         {int4},
         {.scheme = per_block_affine,
          .flags = QuantizationFields::symmetric_flag,
          .axis = 0,
          .block_size = 4,
          .scale_buffer = 1},
         {160}},
        {"NF4 with a short last block", {uint4}, {.scheme = nf4, .axis = 1, .block_size = 8, .scale_buffer = 1}, {72}},
    };
}

TEST(QuantizedTensors, KeepTheirParametersAndWholeBlocks) {
    test::Random random(7);
    const Shape shape = {6, 20};
    for (const Scheme& scheme : schemes()) {
        for (const DenseLayout& from : some_layouts(shape)) {
            for (const DenseLayout& to : some_layouts(shape)) {
                SCOPED_TRACE(testing::Message() << scheme.name << ": " << from.name << " to " << to.name);
                const Tensor source = quantized(scheme.type, shape, from, scheme.fields, scheme.parameters, random);
                std::vector<TiledLevel> levels;
                const auto result = transcode(source, test::spec_of(to, levels));
                ASSERT_TRUE(result.has_value()) << result.error().message;
                ASSERT_EQ(result->buffers.size(), 1 + scheme.parameters.size());
                for (std::size_t i = 1; i < result->buffers.size(); ++i) {
                    EXPECT_EQ(result->buffers[i].data, source.buffers[i].data);
                    EXPECT_EQ(result->buffers[i].handle, source.buffers[i].handle);
                }
                EXPECT_TRUE(std::ranges::equal(result->descriptor.section_words(descriptor_flag::quantization),
                                               source.descriptor.section_words(descriptor_flag::quantization)));
                // Element by element, over the shapes that the layouts count over.
                const Shape from_storage = storage_of(from, shape, scheme.fields);
                const Shape to_storage = storage_of(to, shape, scheme.fields);
                const test::RoomOf room = test::room_of(to, to_storage);
                const std::uint64_t below = scheme.type.bytes(room.below);
                test::Bytes expected(below + scheme.type.bytes(room.from_first));
                const auto bits = static_cast<std::int64_t>(scheme.type.bits());
                test::for_each_index(shape, [&](const Shape& index) {
                    test::copy_bits(source.buffers[0].data,
                                    source.descriptor.byte_offset() * 8 +
                                        static_cast<std::uint64_t>(test::place_of(from, from_storage, index) * bits),
                                    expected.data(),
                                    below * 8 + static_cast<std::uint64_t>(test::place_of(to, to_storage, index) * bits),
                                    scheme.type.bits());
                });
                ASSERT_TRUE(test::same_bytes(result->buffers[0], expected));
            }
        }
    }
}

TEST(QuantizedTensors, Mxfp) {
    test::Random random(8);
    const QuantizationFields fields{.scheme = scheme_tag::mxfp, .axis = 1, .block_size = 16, .scale_buffer = 1};
    const Shape shape = {3, 32};
    const Tensor source = quantized({e2m1}, shape, {"row_major"}, fields, {6}, random);
    const DenseLayout to{"tiled", layout_tag::tiled, {}, {{{2, 8}}}};
    std::vector<TiledLevel> levels;
    const auto result = transcode(source, test::spec_of(to, levels));
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->buffers[1].data, source.buffers[1].data);
    EXPECT_TRUE(test::same_bytes(result->buffers[0], test::expected_copy(source, {"row_major"}, {e2m1}, to)));
}

TEST(QuantizedTensors, ParametersInOtherMemoryAreCopied) {
    test::Random random(9);
    const Shape shape = {6, 20};
    const QuantizationFields fields{
        .scheme = scheme_tag::per_channel_affine, .axis = 1, .scale_buffer = 1, .zero_point_buffer = 2};
    Tensor plain = quantized({int8}, shape, {"row_major"}, fields, {80, 80}, random);
    DescriptorBuilder builder(int8, layout_tag::row_major, shape);
    builder.set_quantization(fields);
    for (Buffer& buffer : plain.buffers) {
        buffer.handle.device_tag = device_tag::cuda;
        buffer.handle.memory_class = memory_class::unified;
        ASSERT_TRUE(builder.add_buffer(buffer.handle).has_value());
    }
    const Tensor source{builder.build().value(), plain.buffers};
    // 120 of the elements, 80 for each of the parameters.
    EXPECT_EQ(transcode(source, {}, {.memory_limit = 279}).error().code, Status::limit_exceeded);
    const auto result = transcode(source, {}, {.memory_limit = 280});
    ASSERT_TRUE(result.has_value()) << result.error().message;
    for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_NE(result->buffers[i].data, source.buffers[i].data);
        EXPECT_EQ(result->buffers[i].handle.device_tag, device_tag::cpu);
        EXPECT_EQ(result->buffers[i].handle.memory_class, memory_class::standard);
        EXPECT_TRUE(std::ranges::equal(result->buffers[i].bytes(), source.buffers[i].bytes()));
    }
}

TEST(Sections, AreKept) {
    test::Random random(10);
    const Shape shape = {4, 6};
    Buffer buffer = test::random_buffer(24, random);
    StatisticsFields statistics{.computed_mask = statistics_bit::nnz | statistics_bit::range, .nnz = 11};
    statistics.value_min = -2;
    statistics.value_max = 5;
    statistics.value_abs_max = 5;
    DescriptorBuilder builder(0xF3, layout_tag::row_major, shape);
    builder.set_shard(Shape{8, 12}, Shape{4, 6})
        .set_statistics(statistics)
        .set_extension_type({.bit_width = 8, .packing_factor = 1, .is_signed = true})
        .set_composite_member(MemberRole::correction);
    ASSERT_TRUE(builder.add_buffer(buffer.handle).has_value());
    Tensor source{builder.build().value(), {}};
    source.buffers.push_back(std::move(buffer));
    for (const DenseLayout& to : some_layouts(shape)) {
        std::vector<TiledLevel> levels;
        const auto result = transcode(source, test::spec_of(to, levels));
        ASSERT_TRUE(result.has_value()) << result.error().message;
        EXPECT_EQ(result->descriptor.flags(), source.descriptor.flags());
        EXPECT_TRUE(std::ranges::equal(result->descriptor.parent_shape(), source.descriptor.parent_shape()));
        EXPECT_TRUE(std::ranges::equal(result->descriptor.shard_offset(), source.descriptor.shard_offset()));
        EXPECT_EQ(statistics_fields(result->descriptor), statistics);
        EXPECT_EQ(composite_member_fields(result->descriptor)->role, MemberRole::correction);
        EXPECT_EQ(extension_type_fields(result->descriptor), extension_type_fields(source.descriptor));
        // What was made can be written and read.
        EXPECT_TRUE(test::decode_exact(test::encoded(result->descriptor)).has_value());
    }
}

TEST(Sections, OfAHigherMinorVersionAreNotKept) {
    test::Random random(11);
    const Tensor plain = test::random_tensor({int8}, {2, 3}, {"row_major"}, 0, random);
    test::Bytes bytes = test::encoded(plain.descriptor);
    bytes[5] = std::byte{1};
    bytes.resize(bytes.size() + 3, std::byte{0xAB});
    bytes[6] = static_cast<std::byte>(bytes.size());
    const Tensor source{test::decode_exact(bytes).value(), plain.buffers};
    ASSERT_EQ(source.descriptor.trailing().size(), 3U);
    const auto result = transcode(source, {});
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_EQ(result->descriptor.version_minor(), 0);
    EXPECT_TRUE(result->descriptor.trailing().empty());
    EXPECT_TRUE(std::ranges::equal(result->buffers[0].bytes(), source.buffers[0].bytes()));
}

}  // namespace
}  // namespace hurray
