// CSR and CSC: the values that are stored row by row (column by column), each with its column (row), and where each row
// (column) starts. (format: CSR, CSC)
//
// Layout words: nnz.
#pragma once

#include <cstdint>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec csr_codec;
extern const LayoutCodec csc_codec;

/// The buffers of a CSR or CSC tensor.
namespace compressed_buffer {
inline constexpr std::uint32_t values = 0;
/// col_indices or row_indices: one u64 an entry.
inline constexpr std::uint32_t indices = 1;
/// row_ptr or col_ptr: one u64 a row (column), and one more.
inline constexpr std::uint32_t pointers = 2;
}  // namespace compressed_buffer

struct CompressedFields {
    /// Entries that are stored.
    std::uint64_t nnz = 0;

    friend bool operator==(const CompressedFields&, const CompressedFields&) = default;
};

/// Of CSR and CSC; all 0 for other layouts.
inline CompressedFields compressed_fields(const Descriptor& descriptor) noexcept {
    if (descriptor.layout() != layout_tag::csr && descriptor.layout() != layout_tag::csc) return {};
    return {descriptor.layout_words()[0]};
}

/// The dimension whose slices follow each other in storage: that of the rows in CSR, of the columns in CSC.
constexpr std::uint32_t compressed_major(std::uint8_t layout) noexcept {
    return layout == layout_tag::csc ? 1 : 0;
}

/// What the format calls the buffers.
constexpr const char* compressed_indices_name(std::uint8_t layout) noexcept {
    return layout == layout_tag::csc ? "row_indices" : "col_indices";
}
constexpr const char* compressed_pointers_name(std::uint8_t layout) noexcept {
    return layout == layout_tag::csc ? "col_ptr" : "row_ptr";
}

}  // namespace hurray
