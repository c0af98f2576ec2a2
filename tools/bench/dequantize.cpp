// Quantized tensors to float32, against memset over the same output. `into` writes to memory that was there before, as
// the memset beside it does; `tensor` makes a new tensor, and its memset new memory.
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/types/element_type.hpp"
#include "tools/bench/measure.hpp"

namespace hurray::bench {
namespace {

constexpr std::uint8_t float16 = 0x01;
constexpr std::uint8_t float32 = 0x03;
constexpr std::uint8_t int8 = 0x10;
constexpr std::uint8_t float8_e4m3 = 0x40;
constexpr std::uint8_t float8_e5m2 = 0x41;
constexpr std::uint8_t float8_e8m0 = 0x42;
constexpr std::uint8_t float4_e2m1 = 0x43;
constexpr std::uint8_t float6_e2m3 = 0x44;
constexpr std::uint8_t int4 = 0x48;
constexpr std::uint8_t uint4 = 0x49;

/// A matrix of 1024 columns.
struct Case {
    const char* name;
    std::uint8_t scheme;
    std::uint8_t type;
    std::uint32_t axis = 0;
    std::uint32_t block = 0;
    std::uint8_t scale_type = float32;
    bool symmetric = true;
    /// 0: measured, but no figure to reach.
    double at_least = 0.5;
};

constexpr Case cases[] = {
    {"per_tensor_int8", scheme_tag::per_tensor_affine, int8},
    {"per_channel_int8", scheme_tag::per_channel_affine, int8, 0},
    {"per_channel_int8_asymmetric", scheme_tag::per_channel_affine, int8, 0, 0, float32, false},
    {"per_channel_int8_columns", scheme_tag::per_channel_affine, int8, 1},
    {"per_block_int8_32", scheme_tag::per_block_affine, int8, 1, 32, float16},
    {"per_block_int8_64", scheme_tag::per_block_affine, int8, 1, 64, float16},
    {"per_block_int4_32", scheme_tag::per_block_affine, int4, 1, 32, float16},
    {"per_block_int4_64", scheme_tag::per_block_affine, int4, 1, 64, float16},
    {"per_block_uint4_32_asymmetric", scheme_tag::per_block_affine, uint4, 1, 32, float16, false},
    {"per_block_int4_32_rows", scheme_tag::per_block_affine, int4, 0, 32, float16, true, 0},
    {"nf4_64", scheme_tag::nf4, uint4, 1, 64},
    {"mxfp4_32", scheme_tag::mxfp, float4_e2m1, 1, 32, float8_e8m0},
    {"mxfp8_e4m3_32", scheme_tag::mxfp, float8_e4m3, 1, 32, float8_e8m0},
    {"mxfp8_e5m2_32", scheme_tag::mxfp, float8_e5m2, 1, 32, float8_e8m0},
    {"mxfp6_e2m3_32", scheme_tag::mxfp, float6_e2m3, 1, 32, float8_e8m0, true, 0},
};

Buffer filled(std::uint64_t size, auto&& byte_at) {
    auto buffer = allocate_buffer(size);
    require(buffer);
    for (std::uint64_t i = 0; i < size; ++i) buffer->data[i] = static_cast<std::byte>(byte_at(i));
    return std::move(*buffer);
}

Buffer scales_of(const Case& what, std::uint64_t entries) {
    switch (what.scale_type) {
        case float16:
            return filled(entries * 2, [](std::uint64_t i) { return i % 2 == 0 ? i * 7 % 251 : 0x2C + i % 5; });
        case float8_e8m0:
            return filled(entries, [](std::uint64_t i) { return 110 + i % 30; });
        default:
            return filled(entries * 4, [](std::uint64_t i) { return i % 4 == 3 ? 0x3C + i % 3 : i * 7 % 251; });
    }
}

Tensor tensor_of(const Case& what, std::size_t output_size) {
    const std::uint64_t count = output_size / sizeof(float);
    // As many columns as a small output has elements for.
    const std::uint64_t columns = count < 65536 ? 64 : 1024;
    const std::vector<std::uint64_t> shape = {count / columns, columns};
    QuantizationFields fields{.scheme = what.scheme, .scale_type = what.scale_type, .axis = what.axis, .block_size = what.block};
    DescriptorBuilder builder(what.type, layout_tag::row_major, shape);
    std::vector<Buffer> buffers;
    // Finite numbers of every type.
    const auto size = packed_byte_size(what.type, count);
    require(size);
    buffers.push_back(filled(*size, [](std::uint64_t i) { return i * 37 % 251 & 0xF7; }));
    if (what.scheme == scheme_tag::per_tensor_affine) {
        fields.scale = 0.037F;
    } else {
        const std::uint64_t entries = what.block == 0 ? shape[what.axis] : count / what.block;
        buffers.push_back(scales_of(what, entries));
        fields.scale_buffer = 1;
        if (what.scheme != scheme_tag::nf4 && what.scheme != scheme_tag::mxfp) {
            if (what.symmetric) {
                fields.flags = QuantizationFields::symmetric_flag;
            } else {
                buffers.push_back(filled(entries * 4, [](std::uint64_t i) { return i % 4 == 0 ? i / 4 % 16 : 0; }));
                fields.zero_point_buffer = 2;
            }
        }
    }
    builder.set_quantization(fields);
    for (const Buffer& buffer : buffers) require(builder.add_buffer(buffer.handle));
    auto descriptor = builder.build();
    require(descriptor);
    return {std::move(*descriptor), std::move(buffers)};
}

void into(benchmark::State& state, const Case& what, std::size_t output_size) {
    const Tensor tensor = tensor_of(what, output_size);
    Bytes output(output_size);
    compare_with_memset(state, output.span(), what.at_least,
                        [&] { require(dequantize_into(tensor, float32, output.span())); });
}

void whole(benchmark::State& state, const Case& what, std::size_t output_size) {
    const Tensor tensor = tensor_of(what, output_size);
    compare(
        state, output_size, {"memset", 0}, [&] { require(dequantize(tensor, float32)); },
        [&] {
            const auto memory = allocate_buffer(output_size, 0, Contents::undefined);
            require(memory);
            __builtin_memset(memory->data, 0x5A, output_size);
            benchmark::DoNotOptimize(memory->data);
            benchmark::ClobberMemory();
        });
}

}  // namespace

void add_benchmarks(std::span<const std::size_t> output_sizes) {
    for (const std::size_t size : output_sizes) {
        for (const Case& what : cases) {
            const std::string name = std::string(what.name) + "/" + size_name(size);
            add("dequantize/into/" + name, [&what, size](benchmark::State& state) { into(state, what, size); });
            add("dequantize/tensor/" + name, [&what, size](benchmark::State& state) { whole(state, what, size); });
        }
    }
}

}  // namespace hurray::bench
