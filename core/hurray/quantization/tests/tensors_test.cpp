// What the functions for whole tensors do besides the numbers: sections, single elements, memory limits, progress.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/quantize.hpp"

namespace hurray {
namespace {

constexpr std::uint8_t float32 = 0x03;
constexpr std::uint8_t int8 = 0x10;

std::uint64_t product(std::span<const std::uint64_t> shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    return count;
}

/// Numbers -1, -0.75, ... 1, and again, as float32: a part of a larger tensor and the base of an overlay.
Tensor numbers(std::span<const std::uint64_t> shape) {
    const std::uint64_t count = product(shape);
    auto buffer = allocate_buffer(count * 4).value();
    for (std::uint64_t i = 0; i < count; ++i) {
        const float number = static_cast<float>(i % 9) / 4 - 1;
        std::memcpy(buffer.data + i * 4, &number, 4);
    }
    DescriptorBuilder builder(float32, layout_tag::row_major, shape);
    std::vector<std::uint64_t> parent(shape.begin(), shape.end());
    parent[0] += 3;
    std::vector<std::uint64_t> offset(shape.size(), 0);
    offset[0] = 2;
    builder.set_shard(parent, offset);
    builder.set_composite_member(MemberRole::base);
    builder.set_statistics(StatisticsFields{});
    EXPECT_TRUE(builder.add_buffer(buffer.handle));
    return {builder.build().value(), {buffer}};
}

constexpr QuantizeSpec per_block{
    .scheme = scheme_tag::per_block_affine, .storage_type = int8, .scale_type = 0x01, .axis = 1, .block_size = 32};

void expect_sections(const Descriptor& descriptor, bool quantized) {
    EXPECT_TRUE(descriptor.has_shard());
    EXPECT_EQ(descriptor.parent_shape()[0], descriptor.shape()[0] + 3);
    EXPECT_EQ(descriptor.shard_offset()[0], 2U);
    ASSERT_TRUE(composite_member_fields(descriptor));
    EXPECT_EQ(composite_member_fields(descriptor)->role, MemberRole::base);
    EXPECT_EQ(descriptor.flags() & descriptor_flag::statistics, 0U);
    EXPECT_EQ(quantization_fields(descriptor).has_value(), quantized);
}

TEST(Tensors, ShardAndMemberStayStatisticsGo) {
    const std::array<std::uint64_t, 2> shape = {4, 70};
    const auto quantized = quantize(numbers(shape), per_block);
    ASSERT_TRUE(quantized) << quantized.error().message;
    expect_sections(quantized->descriptor, true);
    const auto back = dequantize(*quantized, float32);
    ASSERT_TRUE(back) << back.error().message;
    expect_sections(back->descriptor, false);
}

TEST(Tensors, SingleElementsAreThoseOfTheWhole) {
    const std::array<std::uint64_t, 2> shape = {4, 70};
    const Tensor quantized = quantize(numbers(shape), per_block).value();
    const Tensor whole = dequantize(quantized, float32).value();
    for (std::uint64_t row = 0; row < 4; ++row) {
        for (std::uint64_t column = 0; column < 70; ++column) {
            const std::array<std::uint64_t, 2> index = {row, column};
            const auto entry = quantization_entry(quantized.descriptor, index);
            ASSERT_TRUE(entry);
            EXPECT_EQ(*entry, row * 3 + column / 32);
            // Rows are as long as their whole blocks.
            const auto code = std::to_integer<std::uint64_t>(quantized.buffers[0].data[row * 96 + column]);
            const auto number = dequantize_element(quantized, *entry, code);
            ASSERT_TRUE(number);
            float expected = 0;
            std::memcpy(&expected, whole.buffers[0].data + (row * 70 + column) * 4, 4);
            EXPECT_EQ(*number, expected);
        }
    }
    const std::array<std::uint64_t, 2> beyond = {4, 0};
    EXPECT_EQ(quantization_entry(quantized.descriptor, beyond).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(quantization_entry(quantized.descriptor, std::span(beyond).first(1)).error().code,
              Status::invalid_argument);
    EXPECT_EQ(dequantize_element(quantized, 12, 0).error().code, Status::index_out_of_bounds);
}

TEST(Tensors, NoMoreMemoryThanIsAllowed) {
    const std::array<std::uint64_t, 2> shape = {64, 1024};
    const Tensor source = numbers(shape);
    const std::uint64_t result = product(shape) * 4;
    const Tensor quantized = quantize(source, per_block).value();
    EXPECT_EQ(dequantize(quantized, float32, {.memory_limit = result - 1}).error().code, Status::limit_exceeded);
    EXPECT_TRUE(dequantize(quantized, float32, {.memory_limit = result}));
    EXPECT_EQ(quantize(source, per_block, {.memory_limit = product(shape) - 1}).error().code, Status::limit_exceeded);
    EXPECT_TRUE(quantize(source, per_block, {.memory_limit = product(shape) * 2 + (1 << 17)}));
}

struct Reports {
    std::vector<std::uint64_t> done;
    std::uint64_t total = 0;
    std::size_t stop_after = ~std::size_t{0};

    static bool take(void* context, std::uint64_t done, std::uint64_t total) {
        auto& reports = *static_cast<Reports*>(context);
        EXPECT_TRUE(reports.done.empty() || done >= reports.done.back());
        EXPECT_LE(done, total);
        reports.done.push_back(done);
        reports.total = total;
        return reports.done.size() < reports.stop_after;
    }
};

TEST(Tensors, ProgressIsReportedAndCanStop) {
    const std::array<std::uint64_t, 2> shape = {4096, 1024};
    const Tensor source = numbers(shape);
    Reports reports;
    const auto quantized = quantize(source, per_block, {.progress = Reports::take, .context = &reports});
    ASSERT_TRUE(quantized);
    EXPECT_GE(reports.done.size(), 4U);
    EXPECT_EQ(reports.done.back(), reports.total);
    Reports more;
    ASSERT_TRUE(dequantize(*quantized, float32, {.progress = Reports::take, .context = &more}));
    EXPECT_GE(more.done.size(), 4U);
    EXPECT_EQ(more.done.back(), product(shape));
    for (const std::size_t stop : {1, 2, 4}) {
        Reports first{.done = {}, .stop_after = stop};
        EXPECT_EQ(quantize(source, per_block, {.progress = Reports::take, .context = &first}).error().code,
                  Status::cancelled);
        Reports second{.done = {}, .stop_after = stop};
        EXPECT_EQ(dequantize(*quantized, float32, {.progress = Reports::take, .context = &second}).error().code,
                  Status::cancelled);
    }
}

// Large enough to be written past the caches.
TEST(Tensors, LargeOutputs) {
    const std::array<std::uint64_t, 2> shape = {9216, 1024};
    const Tensor quantized = quantize(numbers(shape), per_block).value();
    const Tensor whole = dequantize(quantized, float32).value();
    std::vector<std::byte> other(product(shape) * 4 + 4);
    const auto out = std::span(other).subspan(4);
    ASSERT_TRUE(dequantize_into(quantized, float32, out));
    EXPECT_EQ(std::memcmp(out.data(), whole.buffers[0].data, out.size()), 0);
    for (std::uint64_t i = 0; i < product(shape); i += 997) {
        float number = 0;
        std::memcpy(&number, out.data() + i * 4, 4);
        ASSERT_NEAR(number, static_cast<float>(i % 9) / 4 - 1, 0.005);
    }
}

TEST(Tensors, OutputsOfAnotherSizeAndStrangeBuffersAreRefused) {
    const std::array<std::uint64_t, 2> shape = {4, 70};
    Tensor quantized = quantize(numbers(shape), per_block).value();
    std::vector<std::byte> out(4 * 70 * 4 - 1);
    EXPECT_EQ(dequantize_into(quantized, float32, out).error().code, Status::invalid_argument);
    EXPECT_EQ(dequantized_count(quantized.descriptor).value(), 280U);
    Tensor without{quantized.descriptor, {quantized.buffers[0]}};
    EXPECT_EQ(dequantize(without, float32).error().code, Status::invalid_argument);
    quantized.buffers[1].data = nullptr;
    EXPECT_EQ(dequantize(quantized, float32).error().code, Status::null_pointer);
}

}  // namespace
}  // namespace hurray
