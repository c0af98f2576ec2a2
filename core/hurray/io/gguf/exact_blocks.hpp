// Q4_0, Q8_0 and MXFP4 as schemes of Hurray, and back. (docs/formats/gguf.md: exact blocks)
//
// Exact means: the numbers that the scheme gives in float32 are those that ggml gives, bit for bit, the sign of zero
// included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/io/gguf/gguf_type.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray::gguf_blocks {

/// Elements of a block of all three.
inline constexpr std::uint32_t exact_block = 32;

/// How the codes and scales of a type lie here.
struct ExactForm {
    /// Bytes of the codes of a block, and of its scale.
    std::uint32_t code_bytes;
    std::uint32_t scale_bytes;
};

/// @param type of exact blocks
[[nodiscard]] ExactForm exact_form(const GgufType& type) noexcept;

/// The quantization section of such a tensor: blocks along the last dimension, their scales in buffer 1.
/// @param rank at least 1
[[nodiscard]] QuantizationFields exact_fields(const GgufType& type, std::uint32_t rank) noexcept;

/// Takes one block apart. Returns what is wrong with it when the scheme cannot say the same, otherwise null.
/// @param block of type.block_bytes
/// @param codes of ExactForm::code_bytes
/// @param scale of ExactForm::scale_bytes
[[nodiscard]] const char* unpack_exact(const GgufType& type, const std::byte* block, std::byte* codes,
                                       std::byte* scale) noexcept;

/// How codes of 4 bits stand for integers.
enum class CodeForm : std::uint8_t {
    /// In two's complement (or as e2m1).
    as_stored,
    /// Counted from -8, as in Q4_0 itself.
    offset,
};

/// The reverse. The code of -0 in MXFP4 stays and is 0 to ggml.
/// @param scale a float16; of MXFP4 an exponent
void pack_exact(const GgufType& type, CodeForm form, const std::byte* codes, const std::byte* scale,
                std::byte* block) noexcept;

}  // namespace hurray::gguf_blocks
