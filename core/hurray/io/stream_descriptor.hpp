// The form in which descriptors travel in a stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray {

/// The encoded descriptor of a tensor as a receiver must see it: its first buffer without `prefix` bytes at its start
/// (byte_offset and byte_size less so much), and all buffers as plain CPU memory, for what they were in this process is
/// of no meaning to another. Everything else stays as it is, byte for byte.
/// Errors: invalid_argument (the elements reach into the prefix, or the layout has no byte_offset that leads past it).
Result<std::vector<std::byte>> encode_for_stream(const Descriptor& descriptor, std::uint32_t prefix);

/// The descriptor of the same tensor in other memory: with another byte_offset and another buffer table. Everything else
/// stays as it is, byte for byte.
/// @param table as many handles as the descriptor has
/// @errors those of decoding what that makes
Result<Descriptor> with_buffers(const Descriptor& descriptor, std::uint64_t byte_offset,
                                std::span<const BufferHandle> table);

}  // namespace hurray
