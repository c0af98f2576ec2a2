#include "core/hurray/io/bool_bytes.hpp"

#include <cstring>

namespace hurray {
namespace {

constexpr std::uint64_t low_bits = 0x0101010101010101;
// Moves bit 8i of a product to bit 56+i, for all i at once; no two of the partial products meet.
constexpr std::uint64_t gather_factor = 0x0102040810204080;

}  // namespace

std::optional<std::size_t> pack_bool_bytes(std::span<const std::byte> bytes, std::span<std::byte> bits) noexcept {
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if ((word & ~low_bits) != 0) break;  // the loop below finds the byte
        bits[at / 8] = static_cast<std::byte>((word * gather_factor) >> 56);
    }
    unsigned packed = 0;
    for (; at < bytes.size(); ++at) {
        const auto value = std::to_integer<unsigned>(bytes[at]);
        if (value > 1) return at;
        packed |= value << (at % 8);
        if (at % 8 == 7 || at + 1 == bytes.size()) {
            bits[at / 8] = static_cast<std::byte>(packed);
            packed = 0;
        }
    }
    return std::nullopt;
}

void unpack_bool_bits(std::span<const std::byte> bits, std::span<std::byte> bytes) noexcept {
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        const auto byte = std::to_integer<std::uint64_t>(bits[at / 8]);
        // A copy of the byte in each place, of which only the bit of that place stays; adding 0x7F carries it to bit 7.
        const std::uint64_t chosen = (byte * low_bits) & 0x8040201008040201;
        const std::uint64_t word = ((chosen + 0x7F7F7F7F7F7F7F7F) >> 7) & low_bits;
        std::memcpy(bytes.data() + at, &word, sizeof word);
    }
    for (; at < bytes.size(); ++at) {
        bytes[at] = static_cast<std::byte>((std::to_integer<unsigned>(bits[at / 8]) >> (at % 8)) & 1U);
    }
}

}  // namespace hurray
