// A composite as one dense tensor. (format: composite, composition semantics; docs/formats/composites.md)
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// Copies all elements of a partition or an overlay into one new tensor of the head's shape and type: row-major,
/// byte_offset 0, in host memory. The head's shard and extension type sections are kept, no others.
///
/// Elements are those of the members bit for bit; numbers of quantized members are worked out by dequantize and rounded
/// once to the head's type. Corrections of an overlay are applied in their order: `replace` takes the elements that the
/// correction has (those that a sparse one does not store show what lies below), `add` adds as ElementAdder does.
///
/// Takes memory for the result and, for members that are quantized, are added without being row-major, or are of less
/// than a byte and start within one, for a copy of one member at a time; for unsorted COO members what check_coo_data
/// takes, which finds entries with the same index; the unit of progress is bytes that were put in
/// place. Thread rule: any thread.
/// @errors unsupported: a group, a private rule or layout, an opaque descriptor, a head whose numbers have no format
///     where there is something to add or dequantize, sums that are not defined, memory that the CPU cannot read;
///     invalid_layout: more than 2^64-1 bytes, index arrays of sparse members that break a rule; as dequantize for
///     quantized members; limit_exceeded, out_of_memory, cancelled
Result<Tensor> merged(const Composite& composite, const WorkOptions& options = {});

}  // namespace hurray
