// Block-paged tensors for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/memory/buffer.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray::test {

/// Host memory with a copy of the bytes, and not one more.
inline Buffer buffer_of(std::span<const std::byte> bytes) {
    Buffer buffer = allocate_buffer(bytes.size()).value();
    if (!bytes.empty()) std::memcpy(buffer.data, bytes.data(), bytes.size());
    return buffer;
}

template <typename T>
Buffer buffer_of(const std::vector<T>& values) {
    return buffer_of(std::as_bytes(std::span(values)));
}

/// What a block-paged tensor is made of. The pool has bytes that count up from 0, unless it is given.
struct Paged {
    std::uint8_t type = 0x11;
    std::uint64_t tokens = 9;
    std::uint64_t heads = 2;
    std::uint64_t size = 3;
    std::uint32_t page_size = 4;
    std::uint64_t num_pages = 5;
    std::vector<std::uint64_t> table = {3, 1, 3};
    std::vector<std::uint64_t> seq_ptr = {0, 2, 3};
    bool wide = false;
    std::vector<std::byte> pool = {};
    std::uint64_t pool_bytes = 5 * 4 * 2 * 3;
    std::optional<QuantizationFields> quantization = {};
    std::vector<Buffer> parameters = {};

    [[nodiscard]] Buffer index_buffer(const std::vector<std::uint64_t>& values) const {
        if (wide) return buffer_of(values);
        return buffer_of(std::vector<std::uint32_t>(values.begin(), values.end()));
    }

    [[nodiscard]] Tensor make() const {
        std::vector<std::byte> bytes = pool;
        if (bytes.empty()) {
            for (std::uint64_t i = 0; i < pool_bytes; ++i) bytes.push_back(static_cast<std::byte>(i));
        }
        DescriptorBuilder builder(type, layout_tag::block_paged, std::array<std::uint64_t, 3>{tokens, heads, size});
        builder.set_block_paged({.page_size = page_size,
                                 .num_pages = num_pages,
                                 .num_seqs = static_cast<std::uint32_t>(seq_ptr.size() - 1),
                                 .index_type = static_cast<std::uint8_t>(wide ? 1 : 0)});
        if (quantization) builder.set_quantization(*quantization);
        std::vector<Buffer> buffers = {buffer_of(bytes), index_buffer(table), index_buffer(seq_ptr)};
        buffers.insert(buffers.end(), parameters.begin(), parameters.end());
        for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
        auto descriptor = builder.build();
        EXPECT_TRUE(descriptor.has_value()) << descriptor.error().message;
        return {std::move(*descriptor), std::move(buffers)};
    }
};

}  // namespace hurray::test
