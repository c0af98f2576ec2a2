#include "core/hurray/channel/outgoing_tensor_message.hpp"

#include <algorithm>
#include <utility>

#include "core/hurray/channel/shared_object.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/io/stream_descriptor.hpp"

namespace hurray {
namespace {

// The memory that another process can map in place of the buffer's; null when it must be copied.
const SharedBacking* passable(const Buffer& buffer, bool copy_files) {
    const SharedBacking* backing = buffer.storage ? buffer.storage->shared_backing() : nullptr;
    if (backing == nullptr || backing->writable || (copy_files && !backing->sealed)) return nullptr;
    // A storage may stand for more than the mapping, such as memory beside it.
    const auto base = reinterpret_cast<std::uintptr_t>(backing->base);
    const auto data = reinterpret_cast<std::uintptr_t>(buffer.data);
    if (data < base || data - base > backing->size || buffer.handle.byte_size > backing->size - (data - base)) return nullptr;
    return backing;
}

std::uint32_t object_of(std::vector<int>& files, int fd) {
    const auto found = std::ranges::find(files, fd);
    if (found == files.end()) {
        files.push_back(fd);
        return static_cast<std::uint32_t>(files.size() - 1);
    }
    return static_cast<std::uint32_t>(found - files.begin());
}

}  // namespace

Result<OutgoingTensorMessage> outgoing_tensor_message(const Tensor& tensor, bool copy_files) {
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    OutgoingTensorMessage outgoing;
    std::vector<SharedObject::Piece> pieces;
    std::vector<std::size_t> piece_buffers;
    std::uint64_t copy_size = 0;
    std::uint32_t dropped_prefix = 0;
    const auto table = tensor.descriptor.buffers();
    for (std::size_t i = 0; i < tensor.buffers.size(); ++i) {
        const Buffer& buffer = tensor.buffers[i];
        if (i != 0 && buffer.prefix != 0) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "buffer %zu: prefix: %u bytes, but only the first buffer has a byte_offset to skip them", i, buffer.prefix);
        }
        BufferPlace place{.size = buffer.handle.byte_size};
        if (const SharedBacking* backing = place.size == 0 ? nullptr : passable(buffer, copy_files)) {
            place.object = object_of(outgoing.files, backing->fd);
            place.offset = backing->file_offset + static_cast<std::uint64_t>(buffer.data - backing->base);
            place.prefix = buffer.prefix;
            outgoing.passed.push_back(buffer);
            outgoing.passed_bytes += place.size;
        } else if (place.size != 0) {
            if (i == 0) dropped_prefix = buffer.prefix;
            const std::uint64_t alignment = std::max(table[i].alignment, minimum_alignment);
            place.offset = (copy_size + alignment - 1) / alignment * alignment;
            place.size -= buffer.prefix;
            if (place.size == 0) {
                place.offset = 0;
            } else {
                pieces.push_back({place.offset, buffer.bytes().subspan(buffer.prefix)});
                piece_buffers.push_back(i);
                copy_size = place.offset + place.size;
                outgoing.copied_bytes += place.size;
            }
        }
        outgoing.message.buffers.push_back(place);
    }
    // What is wrong with the tensor is found before anything is copied.
    auto descriptor = encode_for_stream(tensor.descriptor, dropped_prefix);
    if (!descriptor) return std::unexpected(descriptor.error());
    outgoing.message.descriptor = std::move(*descriptor);
    if (!pieces.empty()) {
        auto copy = SharedObject::sealed_copy(copy_size, pieces);
        if (!copy) return std::unexpected(copy.error());
        outgoing.copy = std::move(*copy);
        outgoing.files.push_back(outgoing.copy.get());
        for (const std::size_t i : piece_buffers) {
            outgoing.message.buffers[i].object = static_cast<std::uint32_t>(outgoing.files.size() - 1);
        }
    }
    outgoing.message.object_count = outgoing.files.size();
    return outgoing;
}

}  // namespace hurray
