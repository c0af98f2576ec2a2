// The header of a .npy file: its text is a Python literal, read by a parser of its own and never evaluated.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/io/byte_source.hpp"
#include "core/hurray/io/npy/npy_dtype.hpp"

namespace hurray {

/// Where a .npy file lies in the file that is open: offsets of errors are those of the latter.
struct NpyOrigin {
    std::uint64_t offset = 0;
    /// False when it lies there compressed: every error then is at `offset`.
    bool in_place = true;

    [[nodiscard]] std::uint64_t at(std::uint64_t position) const noexcept { return in_place ? offset + position : offset; }
};

struct NpyHeader {
    /// Longest text accepted unless the options say otherwise: far more than 64 dimensions take.
    static constexpr std::uint64_t default_limit = 65'536;

    /// 1, 2 or 3.
    std::uint8_t version = 1;
    NpyType type;
    /// The elements lie in column-major order; a scalar is row-major whatever the file says, since the format has no
    /// column-major one.
    bool fortran_order = false;
    std::uint32_t rank = 0;
    std::array<std::uint64_t, max_rank> dimensions{};
    /// Where the data starts, in bytes from the start of the .npy file.
    std::uint64_t data_offset = 0;
    /// Bytes that the data takes there; at most 2^63-1.
    std::uint64_t data_size = 0;

    [[nodiscard]] std::span<const std::uint64_t> shape() const noexcept { return std::span(dimensions).first(rank); }
    [[nodiscard]] std::uint8_t layout() const noexcept {
        return fortran_order && rank != 0 ? layout_tag::col_major : layout_tag::row_major;
    }
    /// Bytes of the tensor's buffer: those of the data, but for bools.
    [[nodiscard]] std::uint64_t buffer_size() const noexcept {
        return type.is_bool() ? data_size / 8 + (data_size % 8 != 0 ? 1 : 0) : data_size;
    }
};

/// The first bytes of every .npy file.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Reads a header and leaves the source at the first byte of the data. Checked against `size`, the size of the .npy file,
/// before anything is allocated: the length of the text, then the length of the data. What follows the data is ignored,
/// as NumPy does.
/// @param limit longest text accepted, in bytes
/// @errors invalid_format, unsupported (another version or dtype, more than 64 dimensions), limit_exceeded; those of
///     the source
Result<NpyHeader> read_npy_header(ByteSource& source, std::uint64_t size, std::uint64_t limit, const NpyOrigin& origin);

}  // namespace hurray
