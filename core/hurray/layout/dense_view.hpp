// Where the elements of a tensor with affine addressing (row-major, column-major, strided) lie. (format: layouts)
#pragma once

#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray {

/// The memory that the elements of a dense tensor reach in buffer 0. Packed types count whole groups of elements
/// (a byte; three bytes for 6-bit types).
struct DenseView {
    /// Where element (0, ..., 0) starts, in bytes from the start of the buffer.
    std::uint64_t byte_offset = 0;
    /// Bytes from the lowest to the end of the highest element reached; 0 when there are no elements.
    std::uint64_t byte_size = 0;
    /// How many of the byte_size bytes lie below byte_offset; not 0 with negative strides only.
    std::uint64_t bytes_below = 0;
    /// Product of the shape.
    std::uint64_t element_count = 0;
    /// The elements follow one another in row-major order without gaps. Also true without elements.
    bool contiguous = false;
};

/// Whether dense_view has an answer: the layout is row-major, column-major or strided and no dimension is dynamic.
bool has_dense_view(const Descriptor& descriptor) noexcept;

/// @errors unsupported: another layout; invalid_layout: a dynamic dimension; limit_exceeded: a dimension above 2^63-1,
///     which no signed size can say
Result<DenseView> dense_view(const Descriptor& descriptor);

/// The strides in elements, explicit or implied by the layout. Those of a tensor without elements are 0 where they
/// would not fit.
/// @param out exactly `rank` of them
/// @errors unsupported: another layout; invalid_layout: a dynamic dimension; limit_exceeded: a stride above 2^63-1;
///     invalid_argument: `out` has another size
Result<void> dense_strides(const Descriptor& descriptor, std::span<std::int64_t> out);

/// byte_size of dense_view, of any dimension.
/// @errors unsupported: another layout; invalid_layout: a dynamic dimension
Result<std::uint64_t> dense_extent_bytes(const Descriptor& descriptor);

}  // namespace hurray
