// The element types of GGUF (ggml's numbers) and what becomes of each. (docs/formats/gguf.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hurray {

/// What a tensor of a ggml type is here.
enum class GgufKind : std::uint8_t {
    /// Elements that Hurray has as they are.
    plain,
    /// Blocks that are a scheme of Hurray, once codes and scales lie apart.
    exact_blocks,
    /// Blocks that are none.
    inexact_blocks,
};

/// A ggml type. Elements lie in blocks of block_elements that take block_bytes; those of plain types are blocks of
/// their own. A row is a whole number of blocks.
struct GgufType {
    std::uint32_t number;
    std::string_view name;
    std::uint32_t block_elements;
    std::uint32_t block_bytes;
    GgufKind kind;
    /// Of a plain type and of an exact scheme's codes; 0 for others.
    std::uint8_t type_tag;
    /// Of an exact scheme; 0 for others.
    std::uint8_t scheme_tag;
    /// Makes block_elements numbers of one block, bit for bit those of ggml. Null for plain types, and for blocks whose
    /// numbers are looked up in large tables.
    void (*dequantize)(const std::byte* block, float* out);
};

/// All of them.
[[nodiscard]] std::span<const GgufType> gguf_types() noexcept;

/// By ggml's number; null for one that was never given or is not used in files any more.
[[nodiscard]] const GgufType* find_gguf_type(std::uint32_t number) noexcept;

/// The plain type with these elements; null where GGUF has none.
[[nodiscard]] const GgufType* find_plain_gguf_type(std::uint8_t type_tag) noexcept;

/// The numbers of the types that the writer names itself.
namespace gguf_number {
inline constexpr std::uint32_t q4_0 = 2;
inline constexpr std::uint32_t q8_0 = 8;
inline constexpr std::uint32_t mxfp4 = 39;
}  // namespace gguf_number

}  // namespace hurray
