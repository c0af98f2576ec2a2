// Row-major and column-major: no fields, elements packed one after the other. (format: row-major, column-major)
#pragma once

#include "core/hurray/layout/layout.hpp"

namespace hurray {

extern const LayoutCodec contiguous_codec;

/// Whether `byte_size` bytes have room for the elements from byte_offset on, which is at most byte_size.
inline bool contiguous_elements_fit(const ElementTypeInfo& type, std::uint64_t element_count, std::uint64_t byte_offset,
                                    std::uint64_t byte_size) noexcept {
    std::uint64_t needed = 0;
    if (__builtin_mul_overflow(packed_groups(type, element_count), type.group_bytes, &needed)) return false;
    return needed <= byte_size - byte_offset;
}

/// The check of a buffer's size for layouts that have no gaps between the elements.
Result<void> check_contiguous_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size);

/// A dense tensor has exactly one buffer of its own.
Result<void> check_single_buffer(const LayoutContext& context);

}  // namespace hurray
