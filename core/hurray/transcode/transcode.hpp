// A tensor in another layout. (format: memory layout)
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/layout_tag.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// The layout that is wanted, and its fields. Spans are borrowed for the call.
struct TranscodeSpec {
    /// Layout tag: row_major, col_major, strided, tiled, morton, hilbert, coo, csr, csc or csf.
    std::uint8_t layout = layout_tag::row_major;
    /// strided: in elements, one a dimension, any sign. No two elements may share a place; sorted by size, each must be
    /// larger than all that the smaller ones reach over (strides of dimensions with one element do not count).
    std::span<const std::int64_t> strides = {};
    /// tiled: the levels, the outermost first, at most 8, the tiles of each a multiple of those of the next; strides in
    /// them as above.
    std::span<const TiledLevel> tiled = {};
    /// morton: bits of each index, one number a dimension; empty for as few as will do.
    std::span<const std::uint32_t> morton_bits = {};
    /// csf: the dimensions from the outermost level on; empty for 0, 1, 2, ...
    std::span<const std::uint32_t> mode_order = {};
    /// A block-paged source: the number of the sequence that is wanted; nothing for all of them, one after the other.
    std::optional<std::uint32_t> sequence = std::nullopt;
    /// Of the new buffers, a power of two of at least 64; 0 means 64.
    std::uint32_t alignment = 0;
};

/// Makes a new tensor with the same elements, bit for bit, in another layout: dense to dense, dense to sparse, sparse to
/// dense, sparse to sparse, block-paged to dense. Padding (of tiles, curves, gaps between strides, unused bits) is 0.
/// The result is in host memory and starts where its layout lets it; the sections of the source are kept. Of a
/// quantized tensor the buffers with scales and zero points are shared with the source where they are of standard
/// memory, else copied.
///
/// Work is counted in bytes of the elements. Thread rule: any number of threads at a time.
/// @param tensor in host memory, none of whose dimensions is dynamic; its descriptor fits its buffers
/// @errors unsupported: a pair of layouts that docs/transcode.md does not list, an opaque descriptor, memory that is not
///     the host's; invalid_argument: alignment, missing buffers, strides that share places, fields of another layout;
///     invalid_layout: a dynamic dimension, elements that reach into memory that is not the buffer's, fields that the
///     layout refuses; limit_exceeded: memory_limit, or tensors beyond 2^60 bytes; out_of_memory; cancelled
Result<Tensor> transcode(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options = {});

}  // namespace hurray
