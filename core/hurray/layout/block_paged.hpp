// Block-paged: the tokens of several sequences in pages of one pool, which a table names page by page, as a key-value
// cache keeps them. (format: block-paged)
//
// Layout words: page_size (low half) and paged_axis (high half); num_pages; num_seqs and layer_index; kv_role (bits 0 to
// 7), block_table_index_type (8 to 15) and the reserved bytes (16 to 63).
#pragma once

#include <array>
#include <cstdint>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec block_paged_codec;

/// Of which part of a cache the tensor is.
enum class KvRole : std::uint8_t { key = 0, value = 1, other = 2 };

/// The buffers of the layout. Those with quantization parameters follow.
namespace block_paged_buffer {
inline constexpr std::uint32_t page_pool = 0;
inline constexpr std::uint32_t block_table = 1;
inline constexpr std::uint32_t seq_ptr = 2;
inline constexpr std::uint32_t count = 3;
}  // namespace block_paged_buffer

/// The fields of the layout. The shape is [tokens of all sequences, heads, elements of a head].
struct BlockPagedFields {
    /// layer_index of a tensor that belongs to no layer.
    static constexpr std::uint32_t no_layer = 0xFFFFFFFF;

    /// Tokens of a page, at least 1.
    std::uint32_t page_size = 1;
    /// Pages of the pool.
    std::uint64_t num_pages = 0;
    /// The dimension that is cut into pages: 0.
    std::uint32_t paged_axis = 0;
    std::uint32_t num_seqs = 0;
    /// A KvRole.
    std::uint8_t kv_role = 0;
    std::uint32_t layer_index = no_layer;
    /// Entries of block_table and seq_ptr: 0 uint32, 1 uint64.
    std::uint8_t index_type = 0;

    /// Bytes of an entry of block_table and of seq_ptr.
    [[nodiscard]] std::uint32_t index_width() const noexcept { return index_type == 0 ? 4 : 8; }

    friend bool operator==(const BlockPagedFields&, const BlockPagedFields&) = default;
};

/// The fields of a decoded block-paged tensor; those of no tensor for other layouts.
///
/// Thread rule: any thread.
BlockPagedFields block_paged_fields(const Descriptor& descriptor) noexcept;

/// The layout words of the fields, which are not checked.
std::array<std::uint64_t, 4> block_paged_words(const BlockPagedFields& fields) noexcept;

}  // namespace hurray
