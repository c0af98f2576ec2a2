// The element types that NumPy and Hurray have in common.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"

namespace hurray {

/// A dtype of NumPy and the Hurray type that holds the same values, bit for bit.
struct NpyDtype {
    /// As NumPy writes it into a header: little-endian, big-endian.
    std::string_view little;
    std::string_view big;
    std::uint8_t type_tag;
    /// Bytes of one element in the file.
    std::uint8_t file_bytes;
    /// Bytes of the numbers whose bytes the other byte order reverses: half an element for complex types.
    std::uint8_t number_bytes;
};

/// The type of a file's elements.
struct NpyType {
    const NpyDtype* dtype = nullptr;
    /// The numbers are big-endian, and longer than a byte.
    bool big_endian = false;

    [[nodiscard]] std::string_view name() const noexcept { return big_endian ? dtype->big : dtype->little; }
    /// A byte each in the file, a bit each in a Hurray buffer.
    [[nodiscard]] bool is_bool() const noexcept { return dtype->type_tag == 0x20; }
    /// The bytes in the file are those of a Hurray buffer.
    [[nodiscard]] bool is_direct() const noexcept { return !big_endian && !is_bool(); }
};

/// All of them.
[[nodiscard]] std::span<const NpyDtype> npy_dtypes() noexcept;

/// Reads a type string: byte order ('<', '>', '=', '|' or none), kind, bytes. As in NumPy '=', '|' and none mean the
/// machine's own order, which is little-endian wherever this library runs.
/// @param offset of the text in the file, for the error
/// @errors unsupported: a type that Hurray does not have (objects, strings, times, records, long double, ...)
Result<NpyType> parse_npy_type(std::string_view descr, std::uint64_t offset);

/// By the Hurray type; null for a type that NumPy does not have.
[[nodiscard]] const NpyDtype* find_npy_dtype(std::uint8_t type_tag) noexcept;

}  // namespace hurray
