// A tensor in the form in which streams and .hrry files carry it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// The encoded descriptor, and the bytes of each buffer where they lie: they belong to the tensor.
struct OutgoingTensor {
    std::vector<std::byte> descriptor;
    std::vector<std::span<const std::byte>> buffers;
};

/// Checks that a tensor may leave the process and says what leaves it: a first buffer with a prefix is re-based, so
/// that the bytes that belong to somebody else stay here, and all memory becomes plain CPU memory (see
/// encode_for_stream).
/// @errors those of check_host_buffers; invalid_argument: elements that reach into the prefix, or a prefix of a buffer
///     other than the first
Result<OutgoingTensor> outgoing_tensor(const Tensor& tensor);

}  // namespace hurray
