// Tensors for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/memory/buffer.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {

struct TensorSpec {
    std::uint8_t type = 0x03;
    std::uint8_t layout = layout_tag::row_major;
    std::vector<std::uint64_t> shape = {};
    std::vector<std::int64_t> strides = {};
    std::uint64_t byte_offset = 0;
    /// Size of the buffer; 0: what row-major elements take.
    std::uint64_t byte_size = 0;
    BufferHandle handle = {};
    unsigned seed = 1;
};

/// A tensor over memory of its own, filled with numbers that depend on the seed.
inline Tensor make_tensor(const TensorSpec& spec) {
    std::uint64_t count = 1;
    for (const auto dimension : spec.shape) count *= dimension;
    const std::uint64_t size =
        spec.byte_size != 0 ? spec.byte_size : spec.byte_offset + packed_byte_size(spec.type, count).value();
    Buffer buffer = allocate_buffer(size, spec.handle.alignment).value();
    std::uint32_t state = spec.seed;
    for (auto& byte : buffer.bytes()) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::byte>(state >> 24);
    }
    const std::uint32_t used_bits = find_element_type(spec.type)->bits;
    if (spec.layout == layout_tag::row_major && spec.byte_size == 0 && (count * used_bits) % 8 != 0 && used_bits < 6) {
        buffer.bytes().back() &= static_cast<std::byte>((1U << (count * used_bits) % 8) - 1);  // unused bits are 0
    }
    buffer.handle.device_tag = spec.handle.device_tag;
    buffer.handle.memory_class = spec.handle.memory_class;
    buffer.handle.sync_mode = spec.handle.sync_mode;
    DescriptorBuilder builder(spec.type, spec.layout, spec.shape);
    builder.set_byte_offset(spec.byte_offset);
    if (spec.layout == layout_tag::strided) builder.set_strides(spec.strides);
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto descriptor = builder.build();
    EXPECT_TRUE(descriptor.has_value()) << descriptor.error().message;
    Tensor tensor{*std::move(descriptor), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

/// The bytes of a row-major tensor's elements.
inline std::span<const std::byte> element_bytes(const Tensor& tensor) {
    const std::uint64_t size =
        packed_byte_size(tensor.descriptor.element_type(), tensor.descriptor.element_count().value()).value();
    if (size == 0) return {};
    return tensor.buffers.at(0).bytes().subspan(tensor.descriptor.byte_offset(), size);
}

inline std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

inline std::vector<std::uint64_t> shape_of(const Tensor& tensor) {
    return {tensor.descriptor.shape().begin(), tensor.descriptor.shape().end()};
}

/// A tensor of uint8 whose buffer starts `prefix` bytes before its elements; those bytes are 0xEE.
inline Tensor make_prefixed_tensor(std::uint32_t prefix, std::string_view contents) {
    Buffer whole = allocate_buffer(prefix + contents.size()).value();
    std::memset(whole.data, 0xEE, prefix);
    std::memcpy(whole.data + prefix, contents.data(), contents.size());
    Buffer buffer = wrap_host_memory(whole.data + prefix, contents.size(), whole.storage);
    EXPECT_EQ(buffer.prefix, prefix);
    const std::uint64_t shape[] = {contents.size()};
    DescriptorBuilder builder(0x11, layout_tag::row_major, shape);
    builder.set_byte_offset(prefix);
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    Tensor tensor{builder.build().value(), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

}  // namespace hurray
