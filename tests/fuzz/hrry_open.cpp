// Any bytes as a .hrry file: refused with a reason, or open and consistent; and what the sequential reader accepts the
// other one accepts, too, with the same tensors.
//
// Buffers start at multiples of 4096, so that files are mostly zeros, in which mutations go astray: F5 F5 n in the
// input stands for n * 64 zeros. Where the checksum of the index is wrong the file is tried again with the right one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/crc32c.hpp"
#include "core/hurray/io/hrry/hrry_file.hpp"
#include "core/hurray/io/hrry/hrry_sequence.hpp"
#include "tests/fuzz/check.hpp"

namespace hurray {
namespace {

constexpr std::size_t longest_file = std::size_t{1} << 18;
constexpr std::size_t trailer_size = 40;

std::vector<std::byte> expanded(std::span<const std::byte> input) {
    constexpr std::byte mark{0xF5};
    std::vector<std::byte> file;
    for (std::size_t i = 0; i < input.size() && file.size() < longest_file; ++i) {
        if (i + 2 < input.size() && input[i] == mark && input[i + 1] == mark) {
            file.resize(file.size() + std::to_integer<std::size_t>(input[i + 2]) * 64);
            i += 2;
        } else {
            file.push_back(input[i]);
        }
    }
    file.shrink_to_fit();
    return file;
}

// Whether there was a checksum to correct.
bool correct_checksum(std::vector<std::byte>& file) {
    if (file.size() < 64 + trailer_size || (file[12] & std::byte{4}) == std::byte{0}) return false;
    std::byte* trailer = file.data() + file.size() - trailer_size;
    const auto offset = load_le<std::uint64_t>(trailer);
    const auto length = load_le<std::uint64_t>(trailer + 8);
    if (offset > file.size() || length > file.size() - offset) return false;
    const std::uint32_t right = crc32c(std::span(file).subspan(offset, length));
    if (load_le<std::uint32_t>(trailer + 28) == right) return false;
    store_le(trailer + 28, right);
    return true;
}

void check_error(const Error& error, std::size_t size) {
    HURRAY_FUZZ_CHECK(error.message[0] != '\0');
    // A descriptor can name a place behind the end of a file that is too short for it.
    HURRAY_FUZZ_CHECK(error.offset == Error::no_offset || error.offset <= size);
}

void check_value(const HrryFile& file, std::uint64_t i, const MetadataView& value) {
    if (value.type != MetadataType::array) {
        HURRAY_FUZZ_CHECK(!file.metadata_element(i, 0).has_value());
        return;
    }
    for (std::uint64_t e = 0; e < value.count; ++e) {
        const auto element = file.metadata_element(i, e);
        HURRAY_FUZZ_CHECK(element.has_value() && element->type == value.element_type);
    }
    HURRAY_FUZZ_CHECK(!file.metadata_element(i, value.count).has_value());
}

void check_tensor(const HrryFile& file, std::span<const std::byte> image, std::uint64_t i) {
    const auto tensor = file.tensor(i);
    if (!tensor) {
        check_error(tensor.error(), image.size());
        return;
    }
    const auto info = file.tensor_info(i);
    HURRAY_FUZZ_CHECK(info.has_value() && file.find(info->name) == i);
    HURRAY_FUZZ_CHECK(info->file_offset <= image.size() && info->byte_size <= image.size() - info->file_offset);
    HURRAY_FUZZ_CHECK(std::ranges::equal(info->shape, tensor->descriptor.shape()));
    HURRAY_FUZZ_CHECK(tensor->buffers.size() == tensor->descriptor.buffers().size());
    for (std::size_t b = 0; b < tensor->buffers.size(); ++b) {
        const Buffer& buffer = tensor->buffers[b];
        HURRAY_FUZZ_CHECK(buffer.handle == tensor->descriptor.buffers()[b]);
        HURRAY_FUZZ_CHECK(reinterpret_cast<std::uintptr_t>(buffer.data) % buffer.handle.alignment == 0);
        const auto range = file.buffer_range(i, b);
        HURRAY_FUZZ_CHECK(range.has_value() && range->size == buffer.handle.byte_size - buffer.prefix);
        if (range->size == 0) continue;
        HURRAY_FUZZ_CHECK(range->offset <= image.size() && range->size <= image.size() - range->offset);
        HURRAY_FUZZ_CHECK(std::memcmp(buffer.data + buffer.prefix, image.data() + range->offset, range->size) == 0);
    }
    const auto composite = file.composite(i);
    if (!composite) check_error(composite.error(), image.size());
}

std::unique_ptr<HrryFile> check_file(std::span<const std::byte> image, const FileOptions& options) {
    auto opened = HrryFile::open(FileBytes::over(image, {}), options);
    if (!opened) {
        check_error(opened.error(), image.size());
        return nullptr;
    }
    const HrryFile& file = **opened;
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) check_tensor(file, image, i);
    for (std::uint64_t i = 0; i < file.metadata_count(); ++i) {
        const auto entry = file.metadata(i);
        HURRAY_FUZZ_CHECK(entry.has_value() && file.find_metadata(entry->key) == i);
        check_value(file, i, entry->value);
    }
    return *std::move(opened);
}

void check_sequence(std::span<const std::byte> image, const HrryFile* file) {
    HrryStreamReader reader(std::make_unique<MemorySource>(image), {.max_tensor_bytes = 2 * longest_file});
    std::vector<Tensor> tensors;
    for (;;) {
        auto next = reader.next();
        if (!next) {
            check_error(next.error(), image.size());
            return;
        }
        if (!*next) break;
        tensors.push_back(**std::move(next));
    }
    const HrrySequence& sequence = reader.sequence();
    HURRAY_FUZZ_CHECK(sequence.complete() && sequence.tensor_count() == tensors.size());
    HURRAY_FUZZ_CHECK(file != nullptr && file->tensor_count() == tensors.size());
    HURRAY_FUZZ_CHECK(sequence.metadata().count() == file->metadata_count());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto name = sequence.name(i);
        HURRAY_FUZZ_CHECK(name.has_value() && sequence.find(*name) == i);
        const auto other = file->tensor(file->find(*name).value());
        if (!other) {
            // That composites are whole is not a matter of the sequence.
            HURRAY_FUZZ_CHECK(other.error().code == Status::invalid_composite);
            continue;
        }
        HURRAY_FUZZ_CHECK(other->buffers.size() == tensors[i].buffers.size());
        for (std::size_t b = 0; b < other->buffers.size(); ++b) {
            const auto x = other->buffers[b].bytes().subspan(other->buffers[b].prefix);
            const auto y = tensors[i].buffers[b].bytes();
            HURRAY_FUZZ_CHECK(x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0));
        }
    }
}

void check_image(std::span<const std::byte> image) {
    const auto file = check_file(image, {});
    check_sequence(image, file.get());
    const auto loose = check_file(image, {.private_tags = PrivateTags::allow, .mode = Mode::permissive});
    HURRAY_FUZZ_CHECK(file == nullptr || loose != nullptr);
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hurray;
    std::vector<std::byte> file = expanded({reinterpret_cast<const std::byte*>(data), size});
    check_image(file);
    if (correct_checksum(file)) check_image(file);
    return 0;
}
