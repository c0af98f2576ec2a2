// The element types that safetensors and Hurray have in common.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hurray {

/// A dtype of safetensors and the Hurray type that holds the same values, bit for bit.
struct SafetensorsDtype {
    std::string_view name;
    std::uint8_t type_tag;
    /// Bits of one element in the file.
    std::uint8_t file_bits;
    /// Bits of one element in a Hurray buffer: differs for BOOL only.
    std::uint8_t bits;
    /// Natural alignment of an element in bytes; orders the tensors of a file that is written.
    std::uint8_t alignment;
};

/// All of them.
[[nodiscard]] std::span<const SafetensorsDtype> safetensors_dtypes() noexcept;

/// By the name in the header; null for a name that is unknown or has no exact Hurray type.
[[nodiscard]] const SafetensorsDtype* find_safetensors_dtype(std::string_view name) noexcept;

/// By the Hurray type; null for a type that safetensors does not have.
[[nodiscard]] const SafetensorsDtype* find_safetensors_dtype(std::uint8_t type_tag) noexcept;

/// Whether a dtype exists in safetensors but differs from every Hurray type (for a better message).
[[nodiscard]] bool is_foreign_safetensors_dtype(std::string_view name) noexcept;

}  // namespace hurray
