// A tensor on its way out of the process: what of it is passed where it lies, and what must be copied. (docs/channel.md)
#pragma once

#include <cstdint>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/channel/channel_message.hpp"
#include "core/hurray/io/fd.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

struct OutgoingTensorMessage {
    /// All but the id.
    TensorMessage message;
    /// The descriptors of the message's objects; they belong to `passed` and `copy`.
    std::vector<int> files;
    /// The buffers that the peer maps where they lie: they are kept until it releases the tensor.
    std::vector<Buffer> passed;
    /// Sealed shared memory with the bytes of all others.
    FdHolder copy;
    std::uint64_t passed_bytes = 0;
    std::uint64_t copied_bytes = 0;
};

/// Prepares a tensor. Memory that another process can map and that nobody changes any more (sealed shared memory, a mapped file,
/// what came through a channel) is passed by its descriptor, with its byte_offset and prefix; all else is copied once, without the
/// prefix of the first buffer.
/// @param copy_files mapped files are copied, too: a peer that has a file's descriptor can read all of the file
/// @errors those of check_host_buffers; invalid_argument: elements that reach into the prefix, or a prefix of a buffer other than
///     the first; out_of_memory, io
Result<OutgoingTensorMessage> outgoing_tensor_message(const Tensor& tensor, bool copy_files);

}  // namespace hurray
