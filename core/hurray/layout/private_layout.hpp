// Private layouts: an identifier and bytes whose meaning sender and receiver agreed upon elsewhere. (format: extension
// layouts)
//
// Layout words: extension_layout_id; the length of extension_data in bytes; its bytes as they stand on the wire, zeros
// behind them up to a whole word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec private_layout_codec;

/// Private tags are agreed upon outside the format.
constexpr bool is_private_layout(std::uint8_t tag) noexcept {
    return tag >= layout_tag::private_first && tag <= layout_tag::private_last;
}

/// The fields of every private layout. What they say, and what lies in the buffers, is not known here.
struct PrivateLayoutFields {
    std::uint64_t id = 0;
    /// Belongs to the descriptor that it was read from.
    std::span<const std::byte> data = {};
};

/// Bytes of id and length, which come before the data.
inline constexpr std::uint32_t private_layout_header_size = 12;
/// The most bytes of data that the encoded form can tell.
inline constexpr std::uint64_t max_private_layout_data = 0xFFFFFFFF - private_layout_header_size;

/// The fields of a decoded tensor of a private layout; those of no tensor for other layouts. `data` is valid as long as
/// the descriptor.
///
/// Thread rule: any thread.
PrivateLayoutFields private_layout_fields(const Descriptor& descriptor) noexcept;

/// The layout words of the fields.
/// @param fields of at most max_private_layout_data bytes
std::vector<std::uint64_t> private_layout_words(const PrivateLayoutFields& fields);

}  // namespace hurray
