// Between the bytes of a descriptor and its values. (format: tensor descriptor)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray {

struct DecodeOptions {
    /// Longest descriptor accepted, in bytes.
    std::uint32_t max_length = 16U << 20;
    /// Private device tags and the memory classes of private devices; private layouts and quantization schemes.
    PrivateTags private_tags = PrivateTags::refuse;
    Mode mode = Mode::strict;
};

/// For another form of a descriptor that somebody has accepted before.
inline constexpr DecodeOptions whatever_was_accepted{
    .max_length = ~std::uint32_t{0}, .private_tags = PrivateTags::allow, .mode = Mode::permissive};

/// Decodes the descriptor that `bytes` starts with and checks everything that needs no data. Exactly its
/// descriptor_length bytes are read; whether others may follow is the caller's matter. Nothing of `bytes` is kept.
///
/// An error's offset is where the field at fault starts. Of several faults the earliest field in wire order is
/// reported. A sum that does not fit is the fault of the field that would have to be larger: byte_offset for elements
/// before the buffer, byte_size of buffer 0 for elements behind it.
/// @errors invalid_magic, version_mismatch; invalid_layout: structure, layout, shape, alignment, shard, truncation;
///     invalid_type: element type, device, memory class; invalid_sync_mode; limit_exceeded: longer than max_length;
///     unsupported: a layout or section that this version knows by name only
Result<Descriptor> decode(std::span<const std::byte> bytes, const DecodeOptions& options = {});

/// As decode, into a descriptor that is already where it shall stay.
/// @param out as Descriptor::vacant() made it; after an error it may only be assigned to or destroyed
Result<void> decode_into(std::span<const std::byte> bytes, Descriptor& out, const DecodeOptions& options = {});

/// Length of the descriptor that `bytes` starts with; for readers that do not have all of it yet. Checks the magic, the
/// version, and the length against its limits.
/// @errors as decode, for these fields; invalid_layout: fewer than the 20 bytes of the fixed header
Result<std::uint32_t> peek_length(std::span<const std::byte> bytes, const DecodeOptions& options = {});

/// Writes the descriptor to the start of `out` and returns its length, encoded_length().
/// @errors buffer_too_small: nothing was written
Result<std::size_t> encode(const Descriptor& descriptor, std::span<std::byte> out);

}  // namespace hurray
