#include "core/hurray/io/stream_writer.hpp"

#include <utility>
#include <vector>

#include "core/hurray/host_memory.hpp"
#include "core/hurray/io/stream_descriptor.hpp"

namespace hurray {

StreamWriter::StreamWriter(std::unique_ptr<ByteSink> sink) noexcept : sink_(std::move(sink)) {}

Result<void> StreamWriter::write(const Tensor& tensor) {
    if (busy_) {
        return fail(Status::invalid_argument, offset_, "writer: it is writing: its sink may not call it from within");
    }
    const BusyMark busy(busy_);
    if (broken_) {
        return fail(Status::invalid_argument, offset_, "an earlier write has failed in the middle of a tensor");
    }
    if (auto checked = check_host_buffers(tensor); !checked) return checked;
    for (std::size_t i = 1; i < tensor.buffers.size(); ++i) {
        if (tensor.buffers[i].prefix == 0) continue;
        return fail(Status::invalid_argument, Error::no_offset,
                    "buffer %zu: prefix: %u bytes, but only the first buffer has a byte_offset to skip them", i,
                    tensor.buffers[i].prefix);
    }
    const auto descriptor = encode_for_stream(tensor.descriptor, tensor.buffers.empty() ? 0 : tensor.buffers[0].prefix);
    if (!descriptor) return std::unexpected(descriptor.error());

    std::vector<std::span<const std::byte>> pieces;
    pieces.reserve(1 + tensor.buffers.size());
    pieces.emplace_back(*descriptor);
    for (const Buffer& buffer : tensor.buffers) pieces.emplace_back(buffer.bytes().subspan(buffer.prefix));
    if (auto written = sink_->write(pieces); !written) {
        broken_ = true;
        return written;
    }
    for (const auto piece : pieces) offset_ += piece.size();
    return {};
}

}  // namespace hurray
