// Any bytes as a GGUF file: refused with a reason, or open and consistent, whatever becomes of its blocks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/hurray/io/gguf/gguf_file.hpp"
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

unsigned checksum(std::string_view text) {
    return checksum(std::as_bytes(std::span(text)));
}

void check_tensor(const GgufFile& file, std::span<const std::byte> image, std::uint64_t index,
                  const FileOptions& options) {
    const auto info = file.tensor_info(index);
    HURRAY_FUZZ_CHECK(info.has_value());
    HURRAY_FUZZ_CHECK(file.find(info->name) == index);
    HURRAY_FUZZ_CHECK(info->file_offset <= image.size() && info->byte_size <= image.size() - info->file_offset);
    const auto descriptor = file.descriptor(index);
    const auto tensor = file.tensor(index);
    if (!tensor) {
        // Blocks that have no scheme, or no numbers here.
        HURRAY_FUZZ_CHECK(tensor.error().code == Status::unsupported && tensor.error().offset < image.size());
        HURRAY_FUZZ_CHECK(options.exact_schemes || options.inexact_blocks != InexactBlocks::raw);
        return;
    }
    HURRAY_FUZZ_CHECK(descriptor.has_value());
    HURRAY_FUZZ_CHECK(descriptor->element_type() == info->type_tag &&
                      tensor->descriptor.element_type() == info->type_tag);
    HURRAY_FUZZ_CHECK(std::ranges::equal(descriptor->shape(), info->shape));
    HURRAY_FUZZ_CHECK(std::ranges::equal(tensor->descriptor.shape(), info->shape));
    HURRAY_FUZZ_CHECK(tensor->buffers.size() == descriptor->buffers().size());
    for (const Buffer& buffer : tensor->buffers) checksum(buffer.bytes().subspan(buffer.prefix));
    const auto elements = tensor->buffers[0].bytes().subspan(tensor->buffers[0].prefix);
    const auto count = tensor->descriptor.element_count();
    HURRAY_FUZZ_CHECK(count.has_value() && packed_byte_size(info->type_tag, *count).value() == elements.size());
    const bool as_it_lies = info->scheme_tag >= 0xF0 || info->byte_size == elements.size();
    if (as_it_lies && !elements.empty() && tensor->buffers.size() == 1 && file.copied_bytes() == 0) {
        HURRAY_FUZZ_CHECK(std::memcmp(elements.data(), image.data() + info->file_offset, elements.size()) == 0);
    }
}

void check_metadata(const GgufFile& file, std::uint64_t index) {
    const auto entry = file.metadata(index);
    HURRAY_FUZZ_CHECK(entry.has_value() && file.find_metadata(entry->key) == index);
    checksum(entry->value.text);
    if (entry->value.type != MetadataType::array) {
        HURRAY_FUZZ_CHECK(!file.metadata_element(index, 0).has_value());
        return;
    }
    // Not all of a long one.
    const std::uint64_t count = entry->value.count;
    const std::uint64_t step = std::max<std::uint64_t>(1, count / 100);
    for (std::uint64_t i = 0; i < count; i += step) {
        const auto element = file.metadata_element(index, i);
        HURRAY_FUZZ_CHECK(element.has_value() && element->type == entry->value.element_type);
        checksum(element->text);
    }
    HURRAY_FUZZ_CHECK(!file.metadata_element(index, count).has_value());
}

void check_file(std::span<const std::byte> image, const FileOptions& options) {
    const auto file = GgufFile::open(FileBytes::over(image, {}), options);
    if (!file) {
        HURRAY_FUZZ_CHECK(file.error().message[0] != '\0');
        HURRAY_FUZZ_CHECK(file.error().offset <= image.size());
        return;
    }
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) check_tensor(**file, image, i, options);
    for (std::uint64_t i = 0; i < (*file)->metadata_count(); ++i) check_metadata(**file, i);
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hurray;
    const std::span<const std::byte> image(reinterpret_cast<const std::byte*>(data), size);
    check_file(image, {});
    check_file(image, {.inexact_blocks = InexactBlocks::raw, .exact_schemes = false});
    check_file(image, {.inexact_blocks = InexactBlocks::float32, .exact_schemes = false});
    check_file(image, {.inexact_blocks = InexactBlocks::float16});
    return 0;
}
