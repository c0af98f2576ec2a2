// Copies of dense tensors in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Copies the elements of a dense tensor, in row-major order and packed, to the start of `out`; unused high bits of the
/// last byte are 0. The bytes of the elements are not changed otherwise.
/// @param descriptor of a layout with a dense view
/// @param buffer the bytes of its buffer 0, in host memory
/// @param out exactly packed_byte_size bytes; does not overlap `buffer`
/// @errors as dense_view; invalid_argument: wrong size of `buffer` or `out`
Result<void> gather_row_major(const Descriptor& descriptor, std::span<const std::byte> buffer,
                              std::span<std::byte> out);

/// Copies a dense tensor into new host memory: row-major, byte_offset 0, no prefix. A shard stays a shard.
/// @param alignment of the new memory, a power of two of at least 64; 0 means 64
/// @errors as dense_view; unsupported: quantized, or memory that is not the host's; invalid_argument: alignment;
///     out_of_memory
Result<Tensor> copy_row_major(const Tensor& tensor, std::uint32_t alignment = 0);

}  // namespace hurray
