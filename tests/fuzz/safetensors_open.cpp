// Any bytes as a safetensors file: refused with a reason, or open and consistent.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/types/element_type.hpp"
#include "tests/fuzz/check.hpp"

namespace hurray {
namespace {

// Reads all of it: a sanitizer sees what lies outside.
unsigned checksum(std::span<const std::byte> bytes) {
    unsigned sum = 0;
    for (const std::byte byte : bytes) sum = sum * 31 + std::to_integer<unsigned>(byte);
    return sum;
}

void check_tensor(const SafetensorsFile& file, std::span<const std::byte> image, std::uint64_t index) {
    const auto info = file.tensor_info(index);
    HURRAY_FUZZ_CHECK(info.has_value());
    HURRAY_FUZZ_CHECK(file.find(info->name) == index);
    HURRAY_FUZZ_CHECK(info->file_offset <= image.size() && info->byte_size <= image.size() - info->file_offset);
    const auto range = file.buffer_range(index, 0);
    HURRAY_FUZZ_CHECK(range.has_value() && range->offset == info->file_offset && range->size == info->byte_size);
    const auto descriptor = file.descriptor(index);
    HURRAY_FUZZ_CHECK(descriptor.has_value());
    const auto tensor = file.tensor(index);
    if (!tensor) {
        // Only the bytes of bools are looked at, and only now.
        HURRAY_FUZZ_CHECK(info->stored_type == "BOOL" && tensor.error().code == Status::invalid_format);
        HURRAY_FUZZ_CHECK(tensor.error().offset < image.size());
        return;
    }
    HURRAY_FUZZ_CHECK(tensor->buffers.size() == 1);
    HURRAY_FUZZ_CHECK(descriptor->buffers()[0].byte_size == tensor->descriptor.buffers()[0].byte_size);
    const Buffer& buffer = tensor->buffers[0];
    HURRAY_FUZZ_CHECK(buffer.prefix < minimum_alignment && tensor->descriptor.byte_offset() == buffer.prefix);
    const auto elements = buffer.bytes().subspan(buffer.prefix);
    const auto count = tensor->descriptor.element_count();
    HURRAY_FUZZ_CHECK(count.has_value());
    HURRAY_FUZZ_CHECK(packed_byte_size(info->type_tag, *count).value() == elements.size());
    checksum(elements);
    if (info->stored_type != "BOOL" && !elements.empty()) {
        HURRAY_FUZZ_CHECK(std::memcmp(elements.data(), image.data() + info->file_offset, elements.size()) == 0);
    }
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hurray;
    const std::span<const std::byte> image(reinterpret_cast<const std::byte*>(data), size);
    const auto opened = SafetensorsFile::open(FileBytes::over(image, {}));
    if (!opened) {
        HURRAY_FUZZ_CHECK(opened.error().message[0] != '\0');
        HURRAY_FUZZ_CHECK(opened.error().offset == Error::no_offset || opened.error().offset <= size);
        return 0;
    }
    const SafetensorsFile& file = **opened;
    std::uint64_t covered = 0;
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
        check_tensor(file, image, i);
        covered += file.tensor_info(i)->byte_size;
    }
    HURRAY_FUZZ_CHECK(covered + 8 + file.header_length() == size);
    for (std::uint64_t i = 0; i < file.metadata_count(); ++i) {
        const auto entry = file.metadata(i);
        HURRAY_FUZZ_CHECK(entry.has_value() && file.find_metadata(entry->key) == i);
    }
    return 0;
}
