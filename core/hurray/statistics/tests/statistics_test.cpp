// Requirements: statistics section; long work: limits, progress, refusals; quantized and block-paged tensors.
#include "core/hurray/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using Shape = std::vector<std::uint64_t>;

constexpr std::uint8_t int8 = 0x10;

template <typename T>
Buffer buffer_of(const std::vector<T>& values) {
    Buffer buffer = allocate_buffer(values.size() * sizeof(T)).value();
    if (!values.empty()) std::memcpy(buffer.data, values.data(), values.size() * sizeof(T));
    return buffer;
}

Tensor tensor_of(DescriptorBuilder& builder, std::vector<Buffer> buffers) {
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build(PrivateTags::allow);
    EXPECT_TRUE(built.has_value()) << built.error().message;
    return {std::move(*built), std::move(buffers)};
}

Tensor floats(const Shape& shape, const std::vector<float>& values) {
    DescriptorBuilder builder(test::float32, layout_tag::row_major, shape);
    return tensor_of(builder, {buffer_of(values)});
}

TEST(Statistics, QuantizedTensorsTellOfTheNumbersThatTheyStandFor) {
    DescriptorBuilder builder(int8, layout_tag::row_major, Shape{2, 4});
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 0.5, .zero_point = 10});
    const Tensor tensor = tensor_of(builder, {buffer_of<std::int8_t>({10, 12, 10, 10, 6, 10, 10, 14})});
    const auto found = compute_statistics(tensor);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(found->computed_mask, statistics_bit::all);
    EXPECT_EQ(found->nnz, 3U);
    EXPECT_EQ(found->sparsity_ratio, 5.0 / 8);
    EXPECT_EQ(found->value_min, -2);
    EXPECT_EQ(found->value_max, 2);
    EXPECT_EQ(found->value_abs_max, 2);
    EXPECT_EQ(found->value_mean, 1.0 / 8);
    EXPECT_DOUBLE_EQ(found->value_stddev, std::sqrt(9.0 / 8 - 1.0 / 64));
    EXPECT_EQ(found->nm_n, 2);
    EXPECT_EQ(found->nm_m, 4);
}

TEST(Statistics, QuantizedSparseTensors) {
    DescriptorBuilder builder(int8, layout_tag::coo, Shape{4, 4});
    builder.set_coo({.nnz = 3, .is_sorted = true});
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 2, .zero_point = 1});
    const Tensor tensor =
        tensor_of(builder, {buffer_of<std::int8_t>({3, 1, -4}), buffer_of<std::uint64_t>({0, 1, 0, 2, 3, 3})});
    const auto found = compute_statistics(tensor);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    // What is stored counts for nnz, and one of these is 0.
    EXPECT_EQ(found->nnz, 3U);
    EXPECT_EQ(found->value_min, -10);
    EXPECT_EQ(found->value_max, 4);
    EXPECT_EQ(found->value_mean, -6.0 / 16);
    EXPECT_EQ(found->nm_n, 1);
    EXPECT_EQ(found->nm_m, 4);
}

// Three tokens on two pages of two, the last slot of which nobody uses; the pool has a page that no sequence has.
Tensor paged(std::uint32_t sequences, const std::vector<std::uint32_t>& table, const std::vector<std::uint64_t>& ptr,
             std::uint64_t tokens) {
    DescriptorBuilder builder(test::float32, layout_tag::block_paged, Shape{tokens, 1, 4});
    builder.set_block_paged({.page_size = 2,
                             .num_pages = 3,
                             .paged_axis = 0,
                             .num_seqs = sequences,
                             .kv_role = 0,
                             .layer_index = 0,
                             .index_type = 0});
    std::vector<float> pool(3 * 2 * 4);
    for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = static_cast<float>(i);
    std::vector<std::uint32_t> pointers(ptr.begin(), ptr.end());
    return tensor_of(builder, {buffer_of(pool), buffer_of(table), buffer_of(pointers)});
}

TEST(Statistics, BlockPagedTensorsTellOfTheirTokens) {
    const auto found = compute_statistics(paged(1, {2, 0}, {0, 2}, 3));
    ASSERT_TRUE(found.has_value()) << found.error().message;
    // Slots 4, 5 and 0: 16 to 23, and 0 to 3.
    EXPECT_EQ(found->nnz, 11U);
    EXPECT_EQ(found->value_min, 0);
    EXPECT_EQ(found->value_max, 23);
    EXPECT_DOUBLE_EQ(found->value_mean, (156.0 + 6.0) / 12);
    // Of which sequence the third token is, the format does not tell.
    EXPECT_EQ(compute_statistics(paged(2, {2, 0}, {0, 1, 2}, 3)).error().code, Status::unsupported);
    // A page that there is not.
    EXPECT_EQ(compute_statistics(paged(1, {2, 3}, {0, 2}, 3)).error().code, Status::invalid_layout);
}

TEST(Statistics, WhatHasNoNumbersIsRefused) {
    const Tensor head{DescriptorBuilder(test::float32, layout_tag::composite, Shape{3})
                          .set_composite({composition_rule::group, 0, 0})
                          .build()
                          .value(),
                      {}};
    EXPECT_EQ(compute_statistics(head).error().code, Status::unsupported);

    DescriptorBuilder wide(0x46, layout_tag::row_major, Shape{1});
    const Tensor float128 = tensor_of(wide, {allocate_buffer(16).value()});
    for (const std::uint32_t mask : {statistics_bit::all, statistics_bit::nnz}) {
        EXPECT_EQ(compute_statistics(float128, mask).error().code, Status::unsupported);
    }

    DescriptorBuilder foreign(test::float32, 0xF0, Shape{1});
    foreign.set_private_layout({.id = 7});
    EXPECT_EQ(compute_statistics(tensor_of(foreign, {allocate_buffer(4).value()})).error().code, Status::unsupported);

    DescriptorBuilder exponents(0x42, layout_tag::row_major, Shape{3});
    const auto invalid = compute_statistics(tensor_of(exponents, {buffer_of<std::uint8_t>({127, 0, 128})}));
    EXPECT_EQ(invalid.error().code, Status::invalid_type);
}

TEST(Statistics, BuffersAreThoseOfTheDescriptor) {
    Tensor tensor = floats({4}, {1, 2, 3, 4});
    tensor.buffers[0].handle.byte_size = 12;
    EXPECT_EQ(compute_statistics(tensor).error().code, Status::invalid_argument);
    tensor.buffers[0].handle.byte_size = 16;
    tensor.buffers[0].prefix = 4;
    EXPECT_FALSE(compute_statistics(tensor).has_value());
    tensor.buffers.clear();
    EXPECT_EQ(compute_statistics(tensor).error().code, Status::invalid_argument);
    const auto dynamic = DescriptorBuilder(test::float32, layout_tag::row_major, Shape{dynamic_dimension});
    DescriptorBuilder builder = dynamic;
    EXPECT_EQ(compute_statistics(tensor_of(builder, {allocate_buffer(0).value()})).error().code,
              Status::invalid_layout);
}

TEST(Statistics, HostileIndicesAreRefused) {
    DescriptorBuilder builder(test::float32, layout_tag::coo, Shape{4, 4});
    builder.set_coo({.nnz = 2, .is_sorted = true});
    const Tensor tensor = tensor_of(builder, {buffer_of<float>({1, 2}), buffer_of<std::uint64_t>({0, 1, 9, 2})});
    EXPECT_EQ(compute_statistics(tensor).error().code, Status::invalid_layout);
    // Without the groups nobody looks at them.
    EXPECT_EQ(compute_statistics(tensor, statistics_bit::range)->value_max, 2);
}

TEST(Statistics, WhatIsFoundMakesASection) {
    const auto found = compute_statistics(floats({2, 4}, {1, 0, 0, -3, NAN, 0, 0, 0}));
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(found->computed_mask, statistics_bit::all & ~statistics_bit::moments);
    DescriptorBuilder builder(test::float32, layout_tag::row_major, Shape{2, 4});
    EXPECT_TRUE(builder.add_buffer({.byte_size = 32}).has_value());
    const auto built = builder.set_statistics(*found).build();
    ASSERT_TRUE(built.has_value()) << built.error().message;
    EXPECT_EQ(statistics_fields(*built), *found);
}

struct Reports {
    std::uint64_t calls = 0;
    std::uint64_t last = 0;
    std::uint64_t stop_at = ~std::uint64_t{0};

    static bool report(void* context, std::uint64_t done, std::uint64_t total) {
        auto& reports = *static_cast<Reports*>(context);
        EXPECT_GE(done, reports.last);
        EXPECT_LE(done, total);
        reports.last = done;
        return ++reports.calls < reports.stop_at;
    }
};

TEST(Statistics, ProgressIsReportedAndCanStopTheWork) {
    DescriptorBuilder builder(int8, layout_tag::row_major, Shape{1 << 20});
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 1});
    const Tensor quantized = tensor_of(builder, {allocate_buffer(1 << 20).value()});
    DescriptorBuilder columns(test::float32, layout_tag::col_major, Shape{1 << 10, 1 << 10});
    const Tensor plain = tensor_of(columns, {allocate_buffer(4 << 20).value()});
    for (const Tensor* tensor : {&quantized, &plain}) {
        Reports all;
        ASSERT_TRUE(compute_statistics(*tensor, statistics_bit::all, {.progress = Reports::report, .context = &all}));
        EXPECT_GE(all.calls, 4U);
        EXPECT_EQ(all.last, std::uint64_t{4} << 20);
        for (std::uint64_t stop = 1; stop <= all.calls; ++stop) {
            Reports some{.stop_at = stop};
            const auto stopped =
                compute_statistics(*tensor, statistics_bit::all, {.progress = Reports::report, .context = &some});
            EXPECT_EQ(stopped.error().code, Status::cancelled);
            EXPECT_EQ(some.calls, stop);
        }
    }
}

TEST(Statistics, MemoryIsLimited) {
    DescriptorBuilder builder(int8, layout_tag::row_major, Shape{1 << 10});
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 1});
    const Tensor quantized = tensor_of(builder, {allocate_buffer(1 << 10).value()});
    EXPECT_EQ(compute_statistics(quantized, statistics_bit::all, {.memory_limit = 4095}).error().code,
              Status::limit_exceeded);
    EXPECT_TRUE(compute_statistics(quantized, statistics_bit::all, {.memory_limit = 1 << 14}).has_value());
    DescriptorBuilder sparse(test::float32, layout_tag::coo, Shape{4, 4});
    sparse.set_coo({.nnz = 2, .is_sorted = false});
    const Tensor unsorted = tensor_of(sparse, {buffer_of<float>({1, 2}), buffer_of<std::uint64_t>({3, 1, 0, 2})});
    EXPECT_EQ(compute_statistics(unsorted, statistics_bit::all, {.memory_limit = 15}).error().code,
              Status::limit_exceeded);
    EXPECT_TRUE(compute_statistics(unsorted, statistics_bit::all, {.memory_limit = 16}).has_value());
    EXPECT_TRUE(compute_statistics(unsorted, statistics_bit::range, {.memory_limit = 1}).has_value());
}

}  // namespace
}  // namespace hurray
