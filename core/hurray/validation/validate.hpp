// Whether a tensor keeps the rules of the format, as far as one wants to look. (format: all validity constraints;
// docs/validation.md has a table of the violations)
#pragma once

#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// How far to look. Each level includes those before it and reads only what they have shown to be there.
enum class ValidationLevel : std::uint8_t {
    /// The descriptor alone: everything that a strict reader checks. An opaque one, which a permissive reader accepted,
    /// is refused for the tag that is not known.
    descriptor = 1,
    /// The descriptor against its buffers: their number, sizes, addresses, devices; whether all elements lie in them.
    /// No byte of them is read, so that they may be anywhere.
    buffers = 2,
    /// What is in the buffers, which must be in memory that the CPU can read: index arrays, scales, zero points, bits
    /// and bytes that must be 0, patterns that are no element.
    data = 3,
};

/// Checks a tensor and reports the first violation: its code, and a message that names the field, or the buffer and the
/// entry in it, and what was expected. The offset is that of the field in the encoded descriptor on level descriptor,
/// on level data that of the entry in its buffer, and Error::no_offset otherwise. Of a composite head the descriptor
/// alone is looked at: its members are tensors of their own.
///
/// The unit of progress is bytes of the buffers, about; on levels below data nothing is reported but the end.
/// Thread rule: any thread; the tensor is only read.
/// @errors level descriptor: as decode. Level buffers: invalid_layout (number of buffers, a dynamic dimension, elements
///     outside buffer 0, tiles that overlap), buffer_too_small, invalid_quantization (a buffer of parameters longer than
///     they are), null_pointer, invalid_argument (a prefix longer than its buffer), misaligned, invalid_type and
///     sync_mode_mismatch (another place than the descriptor says), limit_exceeded (beyond 2^60 bytes). Level data:
///     unsupported and invalid_sync_mode (memory that the CPU cannot read now), invalid_layout (index arrays, unused
///     bits), invalid_type (a pattern that is no element), invalid_quantization (scales, zero points, padding of short
///     blocks). limit_exceeded, out_of_memory, cancelled, as options say
Result<void> validate(const Tensor& tensor, ValidationLevel level, const WorkOptions& options = {});

}  // namespace hurray
