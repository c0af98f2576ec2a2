// Blocks of 256 elements. Where an element takes fewer bits than a nibble, or more, its bits lie in several places.
#include "core/hurray/io/gguf/block_parts.hpp"
#include "core/hurray/io/gguf/dequantize_blocks.hpp"

namespace hurray::gguf_blocks {
namespace {

// A number and what is taken off, for the 32 elements of a part: six bits each, packed in 12 bytes.
struct ScaleAndMinimum {
    unsigned scale;
    unsigned minimum;
};

ScaleAndMinimum scale_and_minimum(const std::byte* packed, std::size_t part) noexcept {
    if (part < 4) return {byte_at(packed, part) & 63, byte_at(packed, part + 4) & 63};
    // The low four bits of both in one byte; the high two are the high bits of the bytes above.
    return {low_nibble(packed, part + 4) | byte_at(packed, part - 4) >> 6 << 4,
            high_nibble(packed, part + 4) | byte_at(packed, part) >> 6 << 4};
}

// The steps of IQ4_NL and IQ4_XS.
constexpr std::array<int, 16> uneven_steps = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void uneven(const std::byte* codes, float scale, float* out) noexcept {
    for (std::size_t i = 0; i < 16; ++i) {
        out[i] = scale * static_cast<float>(uneven_steps[low_nibble(codes, i)]);
        out[i + 16] = scale * static_cast<float>(uneven_steps[high_nibble(codes, i)]);
    }
}

}  // namespace

// scales and minimums, a nibble each (16) | codes (64) | scale of the scales (2) | of the minimums (2)
void q2_k(const std::byte* block, float* out) {
    const std::byte* codes = block + 16;
    const float scale = half_at(block + 80);
    const float minimum = half_at(block + 82);
    // Two halves of 128 elements in 32 bytes; bits 2k and 2k+1 of a byte belong to the k-th 32 of a half.
    for (std::size_t part = 0; part < 16; ++part) {
        const float step = scale * static_cast<float>(low_nibble(block, part));
        const float least = minimum * static_cast<float>(high_nibble(block, part));
        const std::byte* from = codes + part / 8 * 32 + part % 2 * 16;
        const unsigned shift = static_cast<unsigned>(part % 8 / 2 * 2);
        for (std::size_t i = 0; i < 16; ++i) {
            out[part * 16 + i] = step * static_cast<float>(byte_at(from, i) >> shift & 3) - least;
        }
    }
}

// third bits (32), set for numbers that are not negative | codes (64) | scales, six bits each (12) | scale (2)
void q3_k(const std::byte* block, float* out) {
    const std::byte* codes = block + 32;
    const std::byte* scales = block + 96;
    const float scale = half_at(block + 108);
    for (std::size_t part = 0; part < 16; ++part) {
        const unsigned low = part < 8 ? low_nibble(scales, part) : high_nibble(scales, part - 8);
        const unsigned high = byte_at(scales, 8 + part % 4) >> part / 4 * 2 & 3;
        const float step = scale * static_cast<float>(static_cast<int>(low | high << 4) - 32);
        const std::byte* from = codes + part / 8 * 32 + part % 2 * 16;
        const std::byte* third = block + part % 2 * 16;
        const unsigned shift = static_cast<unsigned>(part % 8 / 2 * 2);
        const unsigned bit = static_cast<unsigned>(part / 2);
        for (std::size_t i = 0; i < 16; ++i) {
            const int code = static_cast<int>(byte_at(from, i) >> shift & 3);
            const int below = (byte_at(third, i) >> bit & 1) != 0 ? 0 : 4;
            out[part * 16 + i] = step * static_cast<float>(code - below);
        }
    }
}

// scale of the scales (2) | of the minimums (2) | scales and minimums (12) | codes (128)
void q4_k(const std::byte* block, float* out) {
    const float scale = half_at(block);
    const float minimum = half_at(block + 2);
    const std::byte* codes = block + 16;
    // The low nibbles of 32 bytes are a part, the high ones the next.
    for (std::size_t part = 0; part < 8; ++part) {
        const auto packed = scale_and_minimum(block + 4, part);
        const float step = scale * static_cast<float>(packed.scale);
        const float least = minimum * static_cast<float>(packed.minimum);
        const std::byte* from = codes + part / 2 * 32;
        const unsigned shift = part % 2 == 0 ? 0 : 4;
        for (std::size_t i = 0; i < 32; ++i) {
            out[part * 32 + i] = step * static_cast<float>(byte_at(from, i) >> shift & 0xF) - least;
        }
    }
}

// as q4_k, with the fifth bits (32) before the codes: bit k of byte i belongs to element i of part k
void q5_k(const std::byte* block, float* out) {
    const float scale = half_at(block);
    const float minimum = half_at(block + 2);
    const std::byte* fifth = block + 16;
    const std::byte* codes = block + 48;
    for (std::size_t part = 0; part < 8; ++part) {
        const auto packed = scale_and_minimum(block + 4, part);
        const float step = scale * static_cast<float>(packed.scale);
        const float least = minimum * static_cast<float>(packed.minimum);
        const std::byte* from = codes + part / 2 * 32;
        const unsigned shift = part % 2 == 0 ? 0 : 4;
        for (std::size_t i = 0; i < 32; ++i) {
            const unsigned code = (byte_at(from, i) >> shift & 0xF) | (byte_at(fifth, i) >> part & 1) << 4;
            out[part * 32 + i] = step * static_cast<float>(code) - least;
        }
    }
}

// low nibbles (128) | high two bits (64) | scales (16) | scale (2); 32 stands for 0
void q6_k(const std::byte* block, float* out) {
    const std::byte* high = block + 128;
    const std::byte* scales = block + 192;
    const float scale = half_at(block + 208);
    // Two halves of four times 32 elements: the low nibbles of 64 bytes, then their high ones.
    for (std::size_t part = 0; part < 8; ++part) {
        const std::size_t half = part / 4;
        const std::size_t quarter = part % 4;
        const std::byte* from = block + half * 64 + quarter % 2 * 32;
        const unsigned shift = quarter < 2 ? 0 : 4;
        for (std::size_t i = 0; i < 32; ++i) {
            const unsigned code = (byte_at(from, i) >> shift & 0xF) | (byte_at(high + half * 32, i) >> quarter * 2 & 3)
                                                                          << 4;
            const float step = scale * static_cast<float>(signed_at(scales, part * 2 + i / 16));
            out[part * 32 + i] = step * static_cast<float>(static_cast<int>(code) - 32);
        }
    }
}

// scale, a float32 (4) | codes (256) | sums of 16 codes each (32)
void q8_k(const std::byte* block, float* out) {
    const auto scale = std::bit_cast<float>(load_le<std::uint32_t>(block));
    for (std::size_t i = 0; i < 256; ++i) out[i] = scale * static_cast<float>(signed_at(block + 4, i));
}

// scale (2) | codes (16)
void iq4_nl(const std::byte* block, float* out) {
    uneven(block + 2, half_at(block), out);
}

// scale (2) | high two bits of the scales (2) | their low nibbles (4) | codes (8 times 16)
void iq4_xs(const std::byte* block, float* out) {
    const float scale = half_at(block);
    const unsigned high = load_le<std::uint16_t>(block + 2);
    for (std::size_t part = 0; part < 8; ++part) {
        const unsigned low = byte_at(block + 4, part / 2) >> part % 2 * 4 & 0xF;
        const int steps = static_cast<int>(low | (high >> part * 2 & 3) << 4) - 32;
        uneven(block + 8 + part * 16, scale * static_cast<float>(steps), out + part * 32);
    }
}

// codes, five a byte (48) | four a byte (4) | scale (2)
void tq1_0(const std::byte* block, float* out) {
    const float scale = half_at(block + 52);
    // A byte is a fraction of 256, in base 3: its digits come out in front when it is multiplied by powers of 3.
    const auto digits = [&](const std::byte* from, std::size_t bytes, unsigned count) {
        unsigned power = 1;
        for (unsigned digit = 0; digit < count; ++digit, power *= 3) {
            for (std::size_t i = 0; i < bytes; ++i) {
                const unsigned rest = byte_at(from, i) * power & 0xFF;
                *out++ = static_cast<float>(static_cast<int>(rest * 3 >> 8) - 1) * scale;
            }
        }
    };
    digits(block, 32, 5);
    digits(block + 32, 16, 5);
    digits(block + 48, 4, 4);
}

// codes (64) | scale (2); bits 2k and 2k+1 of 32 bytes are 32 elements
void tq2_0(const std::byte* block, float* out) {
    const float scale = half_at(block + 64);
    for (std::size_t part = 0; part < 8; ++part) {
        const std::byte* from = block + part / 4 * 32;
        const unsigned shift = static_cast<unsigned>(part % 4 * 2);
        for (std::size_t i = 0; i < 32; ++i) {
            out[part * 32 + i] = static_cast<float>(static_cast<int>(byte_at(from, i) >> shift & 3) - 1) * scale;
        }
    }
}

}  // namespace hurray::gguf_blocks
