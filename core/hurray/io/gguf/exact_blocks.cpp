#include "core/hurray/io/gguf/exact_blocks.hpp"

#include <array>
#include <cstring>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/gguf/block_parts.hpp"

namespace hurray::gguf_blocks {
namespace {

constexpr std::size_t half_block = exact_block / 2;

// float16 patterns.
constexpr std::uint16_t sign_bit = 0x8000;
constexpr std::uint16_t infinity = 0x7C00;
constexpr std::uint16_t one = 0x3C00;

using Codes = std::array<std::uint8_t, exact_block>;

// ggml has elements i and i + 16 in a byte, Hurray 2i and 2i + 1; the first in the low nibble in both.
Codes split_nibbles(const std::byte* from) noexcept {
    Codes codes;
    for (std::size_t i = 0; i < half_block; ++i) {
        codes[i] = static_cast<std::uint8_t>(low_nibble(from, i));
        codes[i + half_block] = static_cast<std::uint8_t>(high_nibble(from, i));
    }
    return codes;
}

void join_nibbles(const Codes& codes, std::byte* out) noexcept {
    for (std::size_t i = 0; i < half_block; ++i) out[i] = static_cast<std::byte>(codes[2 * i] | codes[2 * i + 1] << 4);
}

// An affine block with a scale that Hurray does not allow. All its numbers are +0 or -0 when the scale is; those of one
// sign are 0 times a scale of that sign. `negative` says how many codes are below 0.
const char* replace_scale(std::uint16_t& scale, std::size_t negative, bool& all_zero) noexcept {
    const auto magnitude = static_cast<std::uint16_t>(scale & ~sign_bit);
    all_zero = false;
    if (magnitude > infinity) return "its scale is NaN";
    if (magnitude == infinity) return "its scale is infinite";
    if (magnitude != 0) return nullptr;
    if (negative != 0 && negative != exact_block) return "its scale is 0 and its codes have both signs";
    all_zero = true;
    const auto sign = static_cast<std::uint16_t>(scale & sign_bit);
    scale = static_cast<std::uint16_t>(one | (negative == 0 ? sign : sign ^ sign_bit));
    return nullptr;
}

const char* unpack_q8_0(const std::byte* block, std::byte* codes, std::byte* scale) noexcept {
    auto bits = load_le<std::uint16_t>(block);
    std::size_t negative = 0;
    for (std::size_t i = 0; i < exact_block; ++i) negative += signed_at(block + 2, i) < 0 ? 1 : 0;
    bool all_zero = false;
    if (const char* fault = replace_scale(bits, negative, all_zero)) return fault;
    store_le(scale, bits);
    if (all_zero) {
        std::memset(codes, 0, exact_block);
    } else {
        std::memcpy(codes, block + 2, exact_block);
    }
    return nullptr;
}

const char* unpack_q4_0(const std::byte* block, std::byte* codes, std::byte* scale) noexcept {
    auto bits = load_le<std::uint16_t>(block);
    Codes numbers = split_nibbles(block + 2);
    std::size_t negative = 0;
    for (std::uint8_t& code : numbers) {
        negative += code < 8 ? 1 : 0;
        code ^= 8;  // code - 8 in two's complement
    }
    bool all_zero = false;
    if (const char* fault = replace_scale(bits, negative, all_zero)) return fault;
    store_le(scale, bits);
    if (all_zero) numbers.fill(0);
    join_nibbles(numbers, codes);
    return nullptr;
}

// ggml's number is doubled_e2m1[code] * 2^(e - 128), the format's e2m1(code) * 2^(e - 127): the same.
const char* unpack_mxfp4(const std::byte* block, std::byte* codes, std::byte* scale) noexcept {
    unsigned exponent = byte_at(block, 0);
    if (exponent == 255) return "its scale is FF, which is NaN here and 2^128 in ggml";
    Codes numbers = split_nibbles(block + 1);
    for (std::uint8_t& code : numbers) {
        if (code == 8) code = 0;
    }
    if (exponent == 0) {
        // Half the codes with twice the scale, where those codes exist. ggml makes blocks of zeros so.
        constexpr std::uint8_t none = 0xFF;
        constexpr std::array<std::uint8_t, 8> half_code = {0, none, 1, none, 2, 3, 4, 5};
        for (std::uint8_t& code : numbers) {
            const std::uint8_t half = half_code[code & 7];
            if (half == none) return "its scale is 00, which is not allowed here, and no other fits its codes";
            code = static_cast<std::uint8_t>(half | (code & 8));
        }
        exponent = 1;
    }
    *scale = static_cast<std::byte>(exponent);
    join_nibbles(numbers, codes);
    return nullptr;
}

}  // namespace

ExactForm exact_form(const GgufType& type) noexcept {
    return {type.number == gguf_number::q8_0 ? exact_block : exact_block / 2,
            type.number == gguf_number::mxfp4 ? 1U : 2U};
}

QuantizationFields exact_fields(const GgufType& type, std::uint32_t rank) noexcept {
    QuantizationFields fields;
    fields.scheme = type.scheme_tag;
    fields.axis = rank - 1;
    fields.block_size = exact_block;
    fields.scale_buffer = 1;
    if (type.scheme_tag == scheme_tag::per_block_affine) {
        fields.flags = QuantizationFields::symmetric_flag;
        fields.scale_type = 0x01;
    }
    return fields;
}

const char* unpack_exact(const GgufType& type, const std::byte* block, std::byte* codes, std::byte* scale) noexcept {
    if (type.number == gguf_number::q8_0) return unpack_q8_0(block, codes, scale);
    if (type.number == gguf_number::q4_0) return unpack_q4_0(block, codes, scale);
    return unpack_mxfp4(block, codes, scale);
}

void pack_exact(const GgufType& type, CodeForm form, const std::byte* codes, const std::byte* scale,
                std::byte* block) noexcept {
    const std::uint32_t scale_bytes = exact_form(type).scale_bytes;
    std::memcpy(block, scale, scale_bytes);
    std::byte* out = block + scale_bytes;
    if (type.number == gguf_number::q8_0) {
        std::memcpy(out, codes, exact_block);
        return;
    }
    const unsigned flip = type.number == gguf_number::q4_0 && form == CodeForm::as_stored ? 0x88 : 0;
    for (std::size_t i = 0; i < half_block; ++i) {
        const unsigned first = byte_at(codes, i / 2) >> i % 2 * 4 & 0xF;
        const unsigned second = byte_at(codes, (i + half_block) / 2) >> i % 2 * 4 & 0xF;
        out[i] = static_cast<std::byte>((first | second << 4) ^ flip);
    }
}

}  // namespace hurray::gguf_blocks
