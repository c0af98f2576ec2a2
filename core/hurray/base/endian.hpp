// Little-endian integers at any address.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace hurray {

namespace detail {
template <std::unsigned_integral T>
constexpr T little_endian(T value) noexcept {
    if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) return std::byteswap(value);
    return value;
}
}  // namespace detail

/// Reads a little-endian integer; the address needs no alignment.
template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return detail::little_endian(value);
}

/// Writes a little-endian integer; the address needs no alignment.
template <std::unsigned_integral T>
inline void store_le(std::byte* to, T value) noexcept {
    value = detail::little_endian(value);
    std::memcpy(to, &value, sizeof value);
}

}  // namespace hurray
