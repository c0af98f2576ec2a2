// Blocks without blocks in them. In most, byte i holds the codes of elements i (low nibble) and i + 16 (high nibble).
#include "core/hurray/io/gguf/block_parts.hpp"
#include "core/hurray/io/gguf/dequantize_blocks.hpp"

namespace hurray::gguf_blocks {
namespace {

constexpr std::size_t half_block = 16;

// The fifth bits of 32 codes, those of element i at bit i.
unsigned fifth_bit(std::uint32_t bits, std::size_t element) noexcept {
    return (bits >> element & 1) << 4;
}

}  // namespace

// scale (2) | codes (16), 8 stands for 0
void q4_0(const std::byte* block, float* out) {
    const float scale = half_at(block);
    const std::byte* codes = block + 2;
    for (std::size_t i = 0; i < half_block; ++i) {
        out[i] = static_cast<float>(static_cast<int>(low_nibble(codes, i)) - 8) * scale;
        out[i + half_block] = static_cast<float>(static_cast<int>(high_nibble(codes, i)) - 8) * scale;
    }
}

// scale (2) | minimum (2) | codes (16)
void q4_1(const std::byte* block, float* out) {
    const float scale = half_at(block);
    const float minimum = half_at(block + 2);
    const std::byte* codes = block + 4;
    for (std::size_t i = 0; i < half_block; ++i) {
        out[i] = static_cast<float>(low_nibble(codes, i)) * scale + minimum;
        out[i + half_block] = static_cast<float>(high_nibble(codes, i)) * scale + minimum;
    }
}

// scale (2) | fifth bits (4) | codes (16), 16 stands for 0
void q5_0(const std::byte* block, float* out) {
    const float scale = half_at(block);
    const auto fifth = load_le<std::uint32_t>(block + 2);
    const std::byte* codes = block + 6;
    for (std::size_t i = 0; i < half_block; ++i) {
        const unsigned low = low_nibble(codes, i) | fifth_bit(fifth, i);
        const unsigned high = high_nibble(codes, i) | fifth_bit(fifth, i + half_block);
        out[i] = static_cast<float>(static_cast<int>(low) - 16) * scale;
        out[i + half_block] = static_cast<float>(static_cast<int>(high) - 16) * scale;
    }
}

// scale (2) | minimum (2) | fifth bits (4) | codes (16)
void q5_1(const std::byte* block, float* out) {
    const float scale = half_at(block);
    const float minimum = half_at(block + 2);
    const auto fifth = load_le<std::uint32_t>(block + 4);
    const std::byte* codes = block + 8;
    for (std::size_t i = 0; i < half_block; ++i) {
        const unsigned low = low_nibble(codes, i) | fifth_bit(fifth, i);
        const unsigned high = high_nibble(codes, i) | fifth_bit(fifth, i + half_block);
        out[i] = static_cast<float>(low) * scale + minimum;
        out[i + half_block] = static_cast<float>(high) * scale + minimum;
    }
}

// scale (2) | codes (32)
void q8_0(const std::byte* block, float* out) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < 2 * half_block; ++i) out[i] = static_cast<float>(signed_at(block + 2, i)) * scale;
}

// scale (2) | scale times the sum of the codes (2) | codes (32)
void q8_1(const std::byte* block, float* out) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < 2 * half_block; ++i) out[i] = static_cast<float>(signed_at(block + 4, i)) * scale;
}

// exponent (1) | codes (16)
void mxfp4(const std::byte* block, float* out) {
    const float scale = half_power(byte_at(block, 0));
    const std::byte* codes = block + 1;
    for (std::size_t i = 0; i < half_block; ++i) {
        out[i] = static_cast<float>(doubled_e2m1[low_nibble(codes, i)]) * scale;
        out[i + half_block] = static_cast<float>(doubled_e2m1[high_nibble(codes, i)]) * scale;
    }
}

// scales (4) | codes (4 times 8): in each of the four parts as above, with 8 for 16
void nvfp4(const std::byte* block, float* out) {
    constexpr std::size_t half_part = 8;
    const std::byte* codes = block + 4;
    for (std::size_t part = 0; part < 4; ++part, codes += half_part, out += 2 * half_part) {
        const unsigned bits = byte_at(block, part);
        // Half of the number, which goes with the doubled codes. The sign bit does not count, and NaN is 0.
        const int exponent = static_cast<int>(bits >> 3 & 0xF);
        const auto mantissa = static_cast<float>(bits & 7);
        const auto power = [](int of) { return std::bit_cast<float>(static_cast<std::uint32_t>(of + 127) << 23); };
        float scale = exponent == 0 ? mantissa * power(-10) : (1.0F + mantissa / 8.0F) * power(exponent - 8);
        if (bits == 0x7F) scale = 0;
        for (std::size_t i = 0; i < half_part; ++i) {
            out[i] = static_cast<float>(doubled_e2m1[low_nibble(codes, i)]) * scale;
            out[i + half_part] = static_cast<float>(doubled_e2m1[high_nibble(codes, i)]) * scale;
        }
    }
}

// scale (2) | a bit an element (16), set for plus
void q1_0(const std::byte* block, float* out) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < 128; ++i) out[i] = (byte_at(block + 2, i / 8) >> i % 8 & 1) != 0 ? scale : -scale;
}

}  // namespace hurray::gguf_blocks
