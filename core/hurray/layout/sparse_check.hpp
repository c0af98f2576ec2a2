// The rules that the sparse layouts share. Only their files use this.
#pragma once

#include <cstdint>

#include "core/hurray/layout/layout.hpp"

namespace hurray {

/// Bytes of an entry of an index or pointer array.
inline constexpr std::uint64_t index_width = 8;

/// The most entries that can be stored: one for each element, since no two have the same index. 2^64-1 while a
/// dimension is dynamic.
inline std::uint64_t most_entries(const DescriptorAssembler& out) noexcept {
    return out.descriptor().is_dynamic() ? ~std::uint64_t{0} : out.element_count();
}

/// Whether byte_offset and nnz, which is the first field of each sparse layout, are right.
inline bool starts_sparse(const DescriptorAssembler& out, std::uint64_t nnz) noexcept {
    return out.descriptor().byte_offset() == 0 && nnz <= most_entries(out);
}

/// The first fault of byte_offset and nnz, as far as they are there.
/// @param in in front of nnz
[[gnu::cold, gnu::noinline]] Result<void> check_sparse_start(const WireReader& in, const DescriptorAssembler& out);

/// The fault of reserved bytes, as far as they are there. That they end early is the last one.
/// @param at their distance from the place of `in`
[[gnu::cold, gnu::noinline]] Result<void> check_reserved_bytes(const WireReader& in, std::uint32_t at,
                                                               std::uint32_t size, const char* field);

[[gnu::cold, gnu::noinline]] Result<void> values_size_fault(const LayoutContext& context, std::uint64_t nnz,
                                                            std::uint64_t byte_size);

/// Buffer 0 has room for the values, which are packed.
inline Result<void> check_values_size(const LayoutContext& context, std::uint64_t nnz, std::uint64_t byte_size) {
    std::uint64_t needed = 0;
    if (__builtin_mul_overflow(packed_groups(context.type, nnz), context.type.group_bytes, &needed) ||
        needed > byte_size) [[unlikely]]
        return values_size_fault(context, nnz, byte_size);
    return {};
}

[[gnu::cold, gnu::noinline]] Result<void> index_size_fault(const LayoutContext& context, std::uint32_t index,
                                                           std::uint64_t entries, const char* name,
                                                           std::uint64_t byte_size);

/// A buffer has room for so many u64; 2^64-1 stands for more than that, too.
inline Result<void> check_index_size(const LayoutContext& context, std::uint32_t index, std::uint64_t entries,
                                     const char* name, std::uint64_t byte_size) {
    if (entries > byte_size / index_width) [[unlikely]]
        return index_size_fault(context, index, entries, name, byte_size);
    return {};
}

}  // namespace hurray
