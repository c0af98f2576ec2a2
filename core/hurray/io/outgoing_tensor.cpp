#include "core/hurray/io/outgoing_tensor.hpp"

#include <utility>

#include "core/hurray/host_memory.hpp"
#include "core/hurray/io/stream_descriptor.hpp"

namespace hurray {

Result<OutgoingTensor> outgoing_tensor(const Tensor& tensor) {
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    for (std::size_t i = 1; i < tensor.buffers.size(); ++i) {
        if (tensor.buffers[i].prefix == 0) continue;
        return fail(Status::invalid_argument, Error::no_offset,
                    "buffer %zu: prefix: %u bytes, but only the first buffer has a byte_offset to skip them", i,
                    tensor.buffers[i].prefix);
    }
    auto descriptor = encode_for_stream(tensor.descriptor, tensor.buffers.empty() ? 0 : tensor.buffers[0].prefix);
    if (!descriptor) return std::unexpected(descriptor.error());
    OutgoingTensor outgoing;
    outgoing.descriptor = *std::move(descriptor);
    outgoing.buffers.reserve(tensor.buffers.size());
    for (const Buffer& buffer : tensor.buffers) outgoing.buffers.emplace_back(buffer.bytes().subspan(buffer.prefix));
    return outgoing;
}

}  // namespace hurray
