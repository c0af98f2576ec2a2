#include "core/hurray/io/stream_writer.hpp"

#include <utility>
#include <vector>

#include "core/hurray/io/outgoing_tensor.hpp"

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
    const auto outgoing = outgoing_tensor(tensor);
    if (!outgoing) return std::unexpected(outgoing.error());

    std::vector<std::span<const std::byte>> pieces;
    pieces.reserve(1 + outgoing->buffers.size());
    pieces.emplace_back(outgoing->descriptor);
    pieces.insert(pieces.end(), outgoing->buffers.begin(), outgoing->buffers.end());
    if (auto written = sink_->write(pieces); !written) {
        broken_ = true;
        return written;
    }
    for (const auto piece : pieces) offset_ += piece.size();
    return {};
}

}  // namespace hurray
