// Requirements: what else a tensor has besides its elements survives the way to and from sparse layouts, or is refused.
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/transcode/sparse/sparse_transcode.hpp"
#include "core/hurray/transcode/sparse/tests/sparse_oracle.hpp"

namespace hurray {
namespace {

using test::Bytes;

constexpr std::uint8_t int8 = 0x10;
constexpr std::uint8_t uint4 = 0x49;
constexpr std::uint8_t float8 = 0x40;

// A row-major tensor with more set to it.
template <typename Set>
Tensor dense(std::uint8_t type, const test::Index& shape, const Bytes& bytes, const std::vector<Bytes>& parameters,
             Set&& set) {
    DescriptorBuilder builder(type, layout_tag::row_major, shape);
    set(builder);
    std::vector<Buffer> buffers = {test::buffer_of(bytes)};
    for (const Bytes& parameter : parameters) buffers.push_back(test::buffer_of(parameter));
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build(PrivateTags::allow);
    EXPECT_TRUE(built.has_value()) << (built ? "" : built.error().message);
    return {std::move(built.value()), std::move(buffers)};
}

Bytes bytes(std::initializer_list<int> values) {
    Bytes result;
    for (const int value : values) result.push_back(static_cast<std::byte>(value));
    return result;
}

TEST(SparseSections, ParametersAreSharedAndFoundAtTheirNewPlace) {
    const QuantizationFields per_channel{.scheme = scheme_tag::per_channel_affine,
                                         .flags = QuantizationFields::symmetric_flag,
                                         .axis = 1,
                                         .scale_buffer = 1};
    const Tensor source = dense(int8, {2, 3}, bytes({0, 5, 0, -1, 0, 7}), {Bytes(12, std::byte{0x3F})},
                                [&](DescriptorBuilder& builder) { builder.set_quantization(per_channel); });
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
        const std::uint32_t own = *layout_buffer_count(layout, 2);
        const auto sparse = sparse_from_dense(source, {.layout = layout});
        ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
        ASSERT_EQ(sparse->buffers.size(), own + 1);
        EXPECT_EQ(sparse->buffers[own].data, source.buffers[1].data);
        EXPECT_EQ(quantization_fields(sparse->descriptor)->scale_buffer, own);
        EXPECT_EQ(quantization_fields(sparse->descriptor)->zero_point_buffer, no_buffer);
        for (const std::uint8_t other : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
            const auto again = sparse_from_sparse(*sparse, {.layout = other});
            ASSERT_TRUE(again.has_value()) << again.error().message;
            EXPECT_EQ(quantization_fields(again->descriptor)->scale_buffer, *layout_buffer_count(other, 2));
            EXPECT_EQ(again->buffers.back().data, source.buffers[1].data);
        }
        const auto back = dense_from_sparse(*sparse, {});
        ASSERT_TRUE(back.has_value()) << back.error().message;
        ASSERT_EQ(back->buffers.size(), 2U);
        EXPECT_EQ(quantization_fields(back->descriptor)->scale_buffer, 1U);
        EXPECT_EQ(test::bytes_of(back->buffers[0]), test::bytes_of(source.buffers[0]));
        EXPECT_EQ(back->buffers[1].data, source.buffers[1].data);
    }
}

TEST(SparseSections, ShortBlocksAreWholeInDenseStorageOnly) {
    // 2 x 5 in blocks of 4: rows of 8.
    const QuantizationFields per_block{.scheme = scheme_tag::per_block_affine,
                                       .flags = QuantizationFields::symmetric_flag,
                                       .axis = 1,
                                       .block_size = 4,
                                       .scale_buffer = 1};
    const Bytes stored = bytes({1, 0, 0, 2, 3, 0, 0, 0, 0, 0, 4, 0, 5, 0, 0, 0});
    const Tensor source = dense(int8, {2, 5}, stored, {Bytes(16)},
                                [&](DescriptorBuilder& builder) { builder.set_quantization(per_block); });
    const auto sparse = sparse_from_dense(source, {.layout = layout_tag::csr});
    ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
    EXPECT_EQ(test::bytes_of(sparse->buffers[0]), bytes({1, 2, 3, 4, 5}));
    EXPECT_EQ(test::bytes_of(sparse->buffers[1]), test::numbers({0, 3, 4, 2, 4}));
    const auto back = dense_from_sparse(*sparse, {});
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(test::bytes_of(back->buffers[0]), stored);
}

// Whether elements that are not stored may become ones whose bits are 0, and the other way round.
TEST(SparseSections, OnlySchemesInWhichBitsOfZeroAreZeroGoFromDenseToSparse) {
    const auto both_ways = [](const Tensor& source, bool possible, std::vector<Bytes> parameters) {
        const auto sparse = sparse_from_dense(source, {.layout = layout_tag::coo});
        EXPECT_EQ(sparse.has_value(), possible) << (sparse ? "" : sparse.error().message);
        if (!sparse) {
            EXPECT_EQ(sparse.error().code, Status::unsupported);
        }
        // The same as COO, whose entries may go anywhere but to a dense layout.
        DescriptorBuilder builder(source.descriptor.element_type(), layout_tag::coo, source.descriptor.shape());
        builder.set_coo({1, true});
        QuantizationFields fields = *quantization_fields(source.descriptor);
        if (fields.scale_buffer != no_buffer) fields.scale_buffer += 1;
        if (fields.zero_point_buffer != no_buffer) fields.zero_point_buffer += 1;
        builder.set_quantization(fields);
        std::vector<Buffer> buffers = {test::buffer_of(Bytes(1)), test::buffer_of(Bytes(8))};
        for (const Bytes& parameter : parameters) buffers.push_back(test::buffer_of(parameter));
        for (const Buffer& buffer : buffers) ASSERT_TRUE(builder.add_buffer(buffer.handle).has_value());
        const Tensor coo{builder.build(PrivateTags::allow).value(), buffers};
        const bool known = !is_private_scheme(fields.scheme);
        const auto again = sparse_from_sparse(coo, {.layout = layout_tag::coo});
        EXPECT_EQ(again.has_value(), known) << (again ? "" : again.error().message);
        const auto back = dense_from_sparse(coo, {});
        EXPECT_EQ(back.has_value(), possible) << (back ? "" : back.error().message);
        if (!back) {
            EXPECT_EQ(back.error().code, Status::unsupported);
        }
    };
    const auto quantized = [](std::uint8_t type, std::uint64_t size, const QuantizationFields& fields,
                              const std::vector<Bytes>& parameters) {
        return dense(type, {size}, Bytes(packed_byte_size(type, size).value()), parameters,
                     [&](DescriptorBuilder& builder) { builder.set_quantization(fields); });
    };
    using Fields = QuantizationFields;
    const Fields tensor{.scheme = scheme_tag::per_tensor_affine, .scale = 2};
    both_ways(quantized(int8, 4, tensor, {}), true, {});
    Fields moved = tensor;
    moved.zero_point = 1;
    both_ways(quantized(int8, 4, moved, {}), false, {});
    Fields channel{.scheme = scheme_tag::per_channel_affine, .scale_buffer = 1, .zero_point_buffer = 2};
    both_ways(quantized(int8, 4, channel, {Bytes(16), Bytes(16)}), false, {Bytes(16), Bytes(16)});
    channel.zero_point_buffer = 1;
    both_ways(quantized(int8, 4, channel, {Bytes(32)}), false, {Bytes(32)});
    channel.flags = Fields::symmetric_flag;
    channel.zero_point_buffer = no_buffer;
    both_ways(quantized(int8, 4, channel, {Bytes(16)}), true, {Bytes(16)});
    const Fields block{.scheme = scheme_tag::per_block_affine, .block_size = 4, .scale_buffer = 1, .zero_point_buffer = 2};
    both_ways(quantized(int8, 8, block, {Bytes(8), Bytes(8)}), false, {Bytes(8), Bytes(8)});
    const Fields nf4{.scheme = scheme_tag::nf4, .block_size = 8, .scale_buffer = 1};
    both_ways(quantized(uint4, 8, nf4, {Bytes(4)}), false, {Bytes(4)});
    const Fields mxfp{.scheme = scheme_tag::mxfp, .block_size = 32, .scale_buffer = 1};
    both_ways(quantized(float8, 32, mxfp, {Bytes(1, std::byte{127})}), true, {Bytes(1, std::byte{127})});
    const Bytes data(4);
    const Fields other{.scheme = 0xF3, .private_data = data};
    both_ways(quantized(int8, 4, other, {}), false, {});
}

TEST(SparseSections, OtherSectionsAreKept) {
    const StatisticsFields statistics{.computed_mask = statistics_bit::nnz | statistics_bit::range,
                                      .nnz = 2,
                                      .value_min = -1,
                                      .value_max = 7};
    // -0 is stored but is not counted by who counts numbers other than 0.
    Bytes values(24);
    store_le(values.data(), 0x80000000U);
    store_le(values.data() + 8, 0x3F800000U);
    store_le(values.data() + 16, 0x40000000U);
    const Tensor source = dense(test::float32, {2, 3}, values, {}, [&](DescriptorBuilder& builder) {
        builder.set_statistics(statistics).set_composite_member(MemberRole::correction);
        builder.set_shard(std::array<std::uint64_t, 2>{4, 3}, std::array<std::uint64_t, 2>{1, 0});
    });
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
        const auto sparse = sparse_from_dense(source, {.layout = layout, .alignment = 4096});
        ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
        StatisticsFields expected = statistics;
        expected.nnz = 3;
        EXPECT_EQ(statistics_fields(sparse->descriptor), expected);
        EXPECT_EQ(composite_member_fields(sparse->descriptor)->role, MemberRole::correction);
        EXPECT_EQ(sparse->descriptor.parent_shape()[0], 4U);
        EXPECT_EQ(sparse->descriptor.shard_offset()[0], 1U);
        for (const BufferHandle& handle : sparse->descriptor.buffers()) EXPECT_EQ(handle.alignment, 4096U);
        const auto back = dense_from_sparse(*sparse, {});
        ASSERT_TRUE(back.has_value()) << back.error().message;
        EXPECT_EQ(statistics_fields(back->descriptor), expected);
        EXPECT_TRUE(back->descriptor.has_shard());
        EXPECT_EQ(test::bytes_of(back->buffers[0]), values);
    }
}

TEST(SparseSections, ShardsCannotBeCsf) {
    const Tensor source = dense(test::uint8, {1, 2, 2}, Bytes(4), {}, [](DescriptorBuilder& builder) {
        builder.set_shard(std::array<std::uint64_t, 3>{4, 3, 3}, std::array<std::uint64_t, 3>{1, 0, 0});
    });
    EXPECT_EQ(sparse_from_dense(source, {.layout = layout_tag::csf}).error().code, Status::unsupported);
    const auto coo = sparse_from_dense(source, {.layout = layout_tag::coo});
    ASSERT_TRUE(coo.has_value());
    EXPECT_EQ(sparse_from_sparse(*coo, {.layout = layout_tag::csf}).error().code, Status::unsupported);
}

TEST(SparseSections, PrivateTypesOfAnyWidthGoThereAndBack) {
    for (const std::uint32_t width : {1U, 2U, 4U, 8U, 24U, 72U, 512U, 1000U}) {
        ExtensionTypeFields extension{.bit_width = width};
        if (width < 8) extension.packing_factor = static_cast<std::uint8_t>(8 / width);
        // An element of ones in the middle, and one of a single bit at the end.
        const std::uint64_t count = 9;
        Bytes values((count * width + 7) / 8);
        const auto set = [&](std::uint64_t bit) { values[bit / 8] |= static_cast<std::byte>(1U << bit % 8); };
        for (std::uint64_t b = 0; b < width; ++b) set(4 * width + b);
        set(9 * width - 1);
        const Tensor source = dense(0xF1, {3, 3}, values, {},
                                    [&](DescriptorBuilder& builder) { builder.set_extension_type(extension); });
        for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
            const auto sparse = sparse_from_dense(source, {.layout = layout});
            ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
            EXPECT_EQ(extension_type_fields(sparse->descriptor), extension);
            EXPECT_EQ(sparse->buffers[0].handle.byte_size, (2 * width + 7) / 8);
            const auto csc = sparse_from_sparse(*sparse, {.layout = layout_tag::csc});
            ASSERT_TRUE(csc.has_value()) << csc.error().message;
            const auto back = dense_from_sparse(*csc, {});
            ASSERT_TRUE(back.has_value()) << back.error().message;
            EXPECT_EQ(test::bytes_of(back->buffers[0]), values) << width;
        }
    }
}

}  // namespace
}  // namespace hurray
