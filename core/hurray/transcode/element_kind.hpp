// Copying single elements, for each kind of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/hurray/transcode/copy_table.hpp"
#include "core/hurray/values/packing.hpp"

namespace hurray::transcode_detail {

/// Elements of whole bytes; of `Size` bytes when that is not 0.
template <std::size_t Size>
struct WholeBytes {
    std::size_t size;
    explicit WholeBytes(const Packing& packing) : size(Size != 0 ? Size : packing.group_bytes) {}
    void copy(const std::byte* from_base, std::uint64_t from, std::byte* to_base, std::uint64_t to) const noexcept {
        const std::size_t bytes = Size != 0 ? Size : size;
        std::memcpy(to_base + to * bytes, from_base + from * bytes, bytes);
    }
};

/// Elements that share bytes.
template <unsigned bits>
struct PartsOfBytes {
    explicit PartsOfBytes(const Packing&) {}
    void copy(const std::byte* from_base, std::uint64_t from, std::byte* to_base, std::uint64_t to) const noexcept {
        values_detail::put_bits<bits>(to_base, to, values_detail::get_bits<bits>(from_base, from));
    }
};

/// Calls `use` with the kind of the elements.
template <typename Use>
decltype(auto) with_kind(const Packing& packing, Use&& use) {
    switch (packing.bits) {
        case 1:
            return use(PartsOfBytes<1>(packing));
        case 2:
            return use(PartsOfBytes<2>(packing));
        case 4:
            return use(PartsOfBytes<4>(packing));
        case 6:
            return use(PartsOfBytes<6>(packing));
        case 8:
            return use(WholeBytes<1>(packing));
        case 16:
            return use(WholeBytes<2>(packing));
        case 32:
            return use(WholeBytes<4>(packing));
        case 64:
            return use(WholeBytes<8>(packing));
        case 128:
            return use(WholeBytes<16>(packing));
        default:
            return use(WholeBytes<0>(packing));
    }
}

}  // namespace hurray::transcode_detail
