// Single elements as bits, wherever in a buffer they start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hurray::transcode_detail {

/// Reads and copies elements of one width: 1, 2, 4, 6 or a multiple of 8 bits. An element is named by the number of its
/// first bit in its buffer, counted from the lowest bit of each byte; those of whole bytes start at whole bytes.
class ElementBits {
  public:
    explicit ElementBits(std::uint64_t bits) noexcept : bits_(bits), bytes_(bits % 8 == 0 ? bits / 8 : 0) {}

    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }

    /// Whether all bits of an element are 0.
    [[nodiscard]] bool is_zero(const std::byte* from, std::uint64_t bit) const noexcept {
        if (bytes_ == 0) return packed(from, bit) == 0;
        from += bit / 8;
        switch (bytes_) {
            case 1:
                return *from == std::byte{0};
            case 2:
                return load<std::uint16_t>(from) == 0;
            case 4:
                return load<std::uint32_t>(from) == 0;
            case 8:
                return load<std::uint64_t>(from) == 0;
            default:
                break;
        }
        for (std::uint64_t i = 0; i < bytes_; ++i) {
            if (from[i] != std::byte{0}) return false;
        }
        return true;
    }

    /// Copies an element to a place whose bits are 0; neighbours keep theirs.
    void copy(const std::byte* from, std::uint64_t from_bit, std::byte* to, std::uint64_t to_bit) const noexcept {
        if (bytes_ == 0) {
            put_packed(to, to_bit, packed(from, from_bit));
            return;
        }
        from += from_bit / 8;
        to += to_bit / 8;
        switch (bytes_) {
            case 1:
                *to = *from;
                return;
            case 2:
                std::memcpy(to, from, 2);
                return;
            case 4:
                std::memcpy(to, from, 4);
                return;
            case 8:
                std::memcpy(to, from, 8);
                return;
            default:
                std::memcpy(to, from, static_cast<std::size_t>(bytes_));
        }
    }

  private:
    template <typename T>
    static T load(const std::byte* from) noexcept {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }

    // Elements of 6 bits may lie in two bytes.
    [[nodiscard]] unsigned packed(const std::byte* from, std::uint64_t bit) const noexcept {
        const auto shift = static_cast<unsigned>(bit % 8);
        from += bit / 8;
        unsigned both = std::to_integer<unsigned>(from[0]);
        if (shift + bits_ > 8) both |= std::to_integer<unsigned>(from[1]) << 8;
        return both >> shift & ((1U << bits_) - 1);
    }
    void put_packed(std::byte* to, std::uint64_t bit, unsigned value) const noexcept {
        const auto shift = static_cast<unsigned>(bit % 8);
        to += bit / 8;
        to[0] |= static_cast<std::byte>(value << shift & 0xFF);
        if (shift + bits_ > 8) to[1] |= static_cast<std::byte>(value << shift >> 8);
    }

    std::uint64_t bits_;
    /// 0 for elements that share bytes.
    std::uint64_t bytes_;
};

}  // namespace hurray::transcode_detail
