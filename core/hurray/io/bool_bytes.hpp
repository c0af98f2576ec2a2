// Between a byte for each bool (safetensors, NumPy) and a bit for each (Hurray: LSB-first).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hurray {

/// Packs bytes that are 0 or 1, eight to a byte of `bits` (at least ceil(bytes.size() / 8) bytes); unused high bits of
/// the last byte become 0. Returns the position of the first byte that is neither 0 nor 1, if there is one; then `bits`
/// is of no use.
[[nodiscard]] std::optional<std::size_t> pack_bool_bytes(std::span<const std::byte> bytes,
                                                         std::span<std::byte> bits) noexcept;

/// The reverse: bytes.size() bits, from the lowest of bits[0].
void unpack_bool_bits(std::span<const std::byte> bits, std::span<std::byte> bytes) noexcept;

}  // namespace hurray
