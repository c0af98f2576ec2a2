// What the sparse layouts have in common. (format: COO, CSR, CSC, CSF)
#pragma once

#include <cstdint>

#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/layout/layout_tag.hpp"

namespace hurray {

/// Whether elements that are not stored are 0.
constexpr bool is_sparse_layout(std::uint8_t tag) noexcept {
    return tag >= layout_tag::coo && tag <= layout_tag::csf;
}

/// How many elements a sparse tensor stores (nnz), which its buffers have room for; 0 for other layouts. All sparse
/// layouts have it as their first word.
inline std::uint64_t stored_element_count(const Descriptor& descriptor) noexcept {
    return is_sparse_layout(descriptor.layout()) ? descriptor.layout_words()[0] : 0;
}

}  // namespace hurray
