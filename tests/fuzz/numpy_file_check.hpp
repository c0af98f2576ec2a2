// What must hold of a .npy or .npz file that is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/hurray/io/model_file.hpp"
#include "core/hurray/types/element_type.hpp"
#include "tests/fuzz/check.hpp"

namespace hurray::fuzz {

/// Reads all of it: a sanitizer sees what lies outside.
inline unsigned checksum(std::span<const std::byte> bytes) {
    unsigned sum = 0;
    for (const std::byte byte : bytes) sum = sum * 31 + std::to_integer<unsigned>(byte);
    return sum;
}

/// A refusal says why, and where in the file.
inline void check_refusal(const Error& error, std::size_t size) {
    HURRAY_FUZZ_CHECK(error.message[0] != '\0');
    HURRAY_FUZZ_CHECK(error.offset == Error::no_offset || error.offset <= size);
    HURRAY_FUZZ_CHECK(error.code == Status::invalid_format || error.code == Status::unsupported ||
                      error.code == Status::limit_exceeded);
}

/// @param refusable whether tensor() may refuse data that nobody looked at before
/// @param in_place whether the data lies in the image as it is in the tensor, if nothing was copied for it
inline void check_numpy_tensor(const ModelFile& file, std::span<const std::byte> image, std::uint64_t index, bool refusable,
                               bool in_place) {
    const auto info = file.tensor_info(index);
    HURRAY_FUZZ_CHECK(info.has_value());
    HURRAY_FUZZ_CHECK(file.find(info->name) == index);
    HURRAY_FUZZ_CHECK(info->file_offset <= image.size() && info->byte_size <= image.size() - info->file_offset);
    const auto range = file.buffer_range(index, 0);
    HURRAY_FUZZ_CHECK(range.has_value() && range->offset == info->file_offset && range->size == info->byte_size);
    const auto descriptor = file.descriptor(index);
    HURRAY_FUZZ_CHECK(descriptor.has_value());
    const std::uint64_t copied = file.copied_bytes();
    const auto tensor = file.tensor(index);
    if (!tensor) {
        HURRAY_FUZZ_CHECK(refusable && tensor.error().code == Status::invalid_format);
        HURRAY_FUZZ_CHECK(tensor.error().offset <= image.size());
        return;
    }
    HURRAY_FUZZ_CHECK(tensor->buffers.size() == 1);
    HURRAY_FUZZ_CHECK(tensor->descriptor.layout() == info->layout_tag);
    HURRAY_FUZZ_CHECK(descriptor->buffers()[0].byte_size == tensor->descriptor.buffers()[0].byte_size);
    const Buffer& buffer = tensor->buffers[0];
    HURRAY_FUZZ_CHECK(buffer.prefix < minimum_alignment && tensor->descriptor.byte_offset() == buffer.prefix);
    const auto elements = buffer.bytes().subspan(buffer.prefix);
    const auto count = tensor->descriptor.element_count();
    HURRAY_FUZZ_CHECK(count.has_value());
    HURRAY_FUZZ_CHECK(packed_byte_size(info->type_tag, *count).value() == elements.size());
    checksum(elements);
    if (file.copied_bytes() != copied || elements.empty()) return;
    HURRAY_FUZZ_CHECK(in_place && elements.data() == image.data() + info->file_offset);
}

}  // namespace hurray::fuzz
