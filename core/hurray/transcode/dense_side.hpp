// One of the two tensors of a copy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/transcode/copy_table.hpp"

namespace hurray::transcode_detail {

/// A buffer counted in elements from a base that lies before all of them, at a whole group.
template <typename Byte>
struct DenseSide {
    Byte* base;
    /// The number of element (0, ..., 0).
    std::uint64_t origin;

    DenseSide(const AddressMap& map, Byte* buffer, const Packing& packing) noexcept {
        // Decode has shown that whole groups for the elements below lie before byte_offset.
        const std::uint64_t below = 0 - static_cast<std::uint64_t>(map.lowest());
        const std::uint64_t in_group = std::uint64_t{1} << packing.group_shift;
        origin = (below + in_group - 1) & ~(in_group - 1);
        base = buffer + (map.byte_offset() - packing.byte_of(origin));
    }
    /// The number of the element at an offset.
    [[nodiscard]] std::uint64_t at(std::int64_t offset) const noexcept {
        return origin + static_cast<std::uint64_t>(offset);
    }
};

using SourceSide = DenseSide<const std::byte>;
using TargetSide = DenseSide<std::byte>;

}  // namespace hurray::transcode_detail
