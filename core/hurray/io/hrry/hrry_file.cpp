#include "core/hurray/io/hrry/hrry_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/composite/composite_assembler.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/io/hrry/data_region.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/stream_descriptor.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Nearly every descriptor is shorter.
constexpr std::size_t usual_descriptor = 512;
// Words that lists are allocated from at once.
constexpr std::size_t words_at_once = 4096;

constexpr std::size_t descriptor_length_at = 6;

// In front of an error about a tensor, so that it is known which one.
std::unexpected<Error> of_tensor(const hrry::IndexEntry& entry, const Error& error, std::uint64_t base = 0) {
    const std::uint64_t offset = error.offset == Error::no_offset ? entry.descriptor_offset : base + error.offset;
    return fail(error.code, offset, "tensor %s: %s", Quoted(entry.name).c_str(), error.message);
}

// Layouts whose byte_offset may be anything: the elements are found from there.
bool has_byte_offset(const Descriptor& descriptor) noexcept {
    switch (descriptor.layout()) {
        case layout_tag::row_major:
        case layout_tag::col_major:
        case layout_tag::strided:
        case layout_tag::tiled:
        case layout_tag::morton:
        case layout_tag::hilbert:
            return !descriptor.is_opaque();
        default:
            return false;
    }
}

}  // namespace

bool recognises_hrry(std::span<const std::byte> start, std::uint64_t) noexcept {
    return start.size() >= hrry::magic.size() && std::memcmp(start.data(), hrry::magic.data(), hrry::magic.size()) == 0;
}

HrryFile::HrryFile(FileBytes bytes, const FileOptions& options) : bytes_(std::move(bytes)), options_(options) {}

Result<std::unique_ptr<HrryFile>> HrryFile::open(FileBytes bytes, const FileOptions& options) {
    std::unique_ptr<HrryFile> file(new HrryFile(std::move(bytes), options));
    if (auto done = file->read_parts(); !done) return std::unexpected(done.error());
    return file;
}

Result<void> HrryFile::read_parts() {
    std::array<std::byte, hrry::header_size> start{};
    const std::uint64_t size = bytes_.size();
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(start.size(), size));
    if (auto done = bytes_.read_detached(0, std::span(start).first(length)); !done) return done;
    constexpr std::uint64_t least_size = hrry::header_size + sizeof(std::uint64_t) + hrry::trailer_size;
    if (size < least_size && (length < hrry::magic.size() || recognises_hrry(start, size))) {
        return fail(Status::invalid_format, size,
                    "the file ends after %llu bytes, expected at least %llu: a header, an index and a trailer",
                    static_cast<ull>(size), static_cast<ull>(least_size));
    }
    const auto header = hrry::read_header(start);
    if (!header) return std::unexpected(header.error());
    header_ = *header;
    std::array<std::byte, hrry::trailer_size> end{};
    const std::uint64_t trailer_offset = size - hrry::trailer_size;
    if (auto done = bytes_.read_detached(trailer_offset, end); !done) return done;
    const auto trailer = hrry::read_trailer(end, trailer_offset, header_);
    if (!trailer) return std::unexpected(trailer.error());
    if (auto done = read_index(*trailer, trailer_offset); !done) return done;
    return read_metadata(*trailer, trailer_offset);
}

Result<void> HrryFile::read_index(const hrry::Trailer& trailer, std::uint64_t trailer_offset) {
    if (options_.header_limit != 0 && trailer.index_length > options_.header_limit) {
        return fail(Status::limit_exceeded, trailer_offset + 8, "index_length: %llu bytes, the limit is %llu",
                    static_cast<ull>(trailer.index_length), static_cast<ull>(options_.header_limit));
    }
    auto window = bytes_.detached_window(trailer.index_offset, trailer.index_length);
    if (!window) return std::unexpected(window.error());
    index_bytes_ = *std::move(window);
    auto index = hrry::Index::read_checked(index_bytes_.bytes, header_, trailer, trailer_offset, options_.mode);
    if (!index) return std::unexpected(index.error());
    index_ = *std::move(index);
    listed_ = std::make_unique<std::atomic<Listed>[]>(static_cast<std::size_t>(index_.count()));
    return {};
}

Result<void> HrryFile::read_metadata(const hrry::Trailer& trailer, std::uint64_t trailer_offset) {
    if (trailer.metadata_offset == 0) return {};
    const std::uint64_t limit = options_.header_limit != 0 ? options_.header_limit : default_metadata_limit;
    if (trailer.metadata_length > limit) {
        return fail(Status::limit_exceeded, trailer_offset + 24, "kv_length: %u bytes, the limit is %llu",
                    trailer.metadata_length, static_cast<ull>(limit));
    }
    auto window = bytes_.detached_window(trailer.metadata_offset, trailer.metadata_length);
    if (!window) return std::unexpected(window.error());
    metadata_bytes_ = *std::move(window);
    auto metadata = hrry::Metadata::read(metadata_bytes_.bytes, trailer.metadata_offset);
    if (!metadata) return std::unexpected(metadata.error());
    metadata_ = *std::move(metadata);
    return {};
}

Result<void> HrryFile::check_number(std::uint64_t index) const {
    if (index < tensor_count()) return {};
    return fail(Status::index_out_of_bounds, Error::no_offset, "tensor %llu: the file has %llu",
                static_cast<ull>(index), static_cast<ull>(tensor_count()));
}

Result<void> HrryFile::load(const hrry::IndexEntry& entry, std::uint64_t index, Descriptor& out) const {
    const DecodeOptions options{.private_tags = options_.private_tags, .mode = options_.mode};
    if (entry.descriptor_length > options.max_length) {
        return fail(Status::limit_exceeded, index_.length_field(index),
                    "tensor %s: descriptor_length: %u bytes, the limit is %u", Quoted(entry.name).c_str(),
                    entry.descriptor_length, options.max_length);
    }
    std::array<std::byte, usual_descriptor> on_stack;
    std::vector<std::byte> on_heap;
    if (entry.descriptor_length > on_stack.size()) on_heap.resize(entry.descriptor_length);
    const std::span<std::byte> bytes =
        on_heap.empty() ? std::span(on_stack).first(entry.descriptor_length) : std::span(on_heap);
    if (auto done = bytes_.read_detached(entry.descriptor_offset, bytes); !done) return done;
    const auto length = peek_length(bytes, options);
    if (!length) return of_tensor(entry, length.error(), entry.descriptor_offset);
    if (*length != entry.descriptor_length) {
        return fail(Status::invalid_format, entry.descriptor_offset + descriptor_length_at,
                    "tensor %s: descriptor_length: expected %u as the index says, got %u", Quoted(entry.name).c_str(),
                    entry.descriptor_length, *length);
    }
    if (auto done = decode_into(bytes, out, options); !done) {
        return of_tensor(entry, done.error(), entry.descriptor_offset);
    }
    return check_descriptor(entry, index, out);
}

Result<void> HrryFile::check_descriptor(const hrry::IndexEntry& entry, std::uint64_t index,
                                        const Descriptor& descriptor) const {
    // How many buffers a layout that is not known has, nobody knows.
    if (descriptor.is_unread()) return {};
    const auto table = descriptor.buffers();
    if (!table.empty() && entry.data_offset % header_.data_alignment != 0) {
        return fail(Status::invalid_format, index_.data_offset_field(index),
                    "tensor %s: data_offset: expected a multiple of %u, got %llu", Quoted(entry.name).c_str(),
                    header_.data_alignment, static_cast<ull>(entry.data_offset));
    }
    const auto region = hrry::data_region(table, header_.data_alignment);
    if (!region || (entry.data_length != region->length && entry.data_length != region->used)) {
        return fail(Status::invalid_format, index_.data_length_field(index),
                    "tensor %s: data_length: expected %llu, which its buffers take, got %llu",
                    Quoted(entry.name).c_str(), static_cast<ull>(region ? region->length : ~std::uint64_t{0}),
                    static_cast<ull>(entry.data_length));
    }
    if (descriptor.layout() != layout_tag::composite || options_.mode == Mode::permissive) return {};
    const std::uint64_t following = index_.count() - 1 - index_.position_of(index);
    const std::uint32_t members = composite_fields(descriptor).member_count;
    if (members <= following) return {};
    return fail(Status::invalid_composite, entry.descriptor_offset,
                "tensor %s: member_count: %u, but only %llu tensors follow: the composite is torn",
                Quoted(entry.name).c_str(), members, static_cast<ull>(following));
}

Result<Descriptor> HrryFile::descriptor(std::uint64_t index) const {
    if (auto checked = check_number(index); !checked) return std::unexpected(checked.error());
    Result<Descriptor> out(Descriptor::vacant());
    if (auto done = load(index_.entry(index), index, *out); !done) return std::unexpected(done.error());
    return out;
}

HrryFile::Listed HrryFile::keep(std::uint64_t index, const Descriptor& descriptor) const {
    const std::lock_guard lock(lists_lock_);
    // Somebody else may have been faster; what that one found is the same.
    if (Listed there = listed_[static_cast<std::size_t>(index)].load(std::memory_order_relaxed)) return there;
    const std::size_t size = 1 + descriptor.rank();
    if (words_left_ < size) {
        lists_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(words_at_once));
        words_left_ = words_at_once;
    }
    std::uint64_t* words = lists_.back().get() + (words_at_once - words_left_);
    words_left_ -= size;
    std::uint8_t scheme = 0;
    if ((descriptor.flags() & descriptor_flag::quantization) != 0) {
        if (const auto fields = quantization_fields(descriptor)) scheme = fields->scheme;
    }
    words[0] = std::uint64_t{descriptor.element_type()} | std::uint64_t{descriptor.layout()} << 8 |
               std::uint64_t{scheme} << 16 | std::uint64_t{descriptor.rank()} << 24 |
               std::uint64_t{element_type_info(descriptor).bits} << 32;
    std::ranges::copy(descriptor.shape(), words + 1);
    listed_[static_cast<std::size_t>(index)].store(words, std::memory_order_release);
    return words;
}

Result<HrryFile::Listed> HrryFile::listed(const hrry::IndexEntry& entry, std::uint64_t index) const {
    if (Listed there = listed_[static_cast<std::size_t>(index)].load(std::memory_order_acquire)) return there;
    Descriptor descriptor = Descriptor::vacant();
    if (auto done = load(entry, index, descriptor); !done) return std::unexpected(done.error());
    return keep(index, descriptor);
}

Result<ModelTensorInfo> HrryFile::tensor_info(std::uint64_t index) const {
    if (auto checked = check_number(index); !checked) return std::unexpected(checked.error());
    const hrry::IndexEntry entry = index_.entry(index);
    const auto words = listed(entry, index);
    if (!words) return std::unexpected(words.error());
    const std::uint64_t first = **words;
    ModelTensorInfo info;
    info.name = entry.name;
    info.type_tag = static_cast<std::uint8_t>(first);
    info.layout_tag = static_cast<std::uint8_t>(first >> 8);
    info.scheme_tag = static_cast<std::uint8_t>(first >> 16);
    info.shape = {*words + 1, static_cast<std::uint8_t>(first >> 24)};
    info.bits = static_cast<std::uint32_t>(first >> 32);
    info.file_offset = entry.data_offset;
    info.byte_size = entry.data_length;
    return info;
}

Result<FileRange> HrryFile::buffer_range(std::uint64_t index, std::uint64_t buffer) const {
    const auto loaded = descriptor(index);
    if (!loaded) return std::unexpected(loaded.error());
    const auto table = loaded->buffers();
    if (buffer >= table.size()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "buffer %llu: tensor %llu has %zu",
                    static_cast<ull>(buffer), static_cast<ull>(index), table.size());
    }
    hrry::BufferWalk walk(header_.data_alignment);
    FileRange range;
    // Their sum was checked.
    for (std::uint64_t i = 0; i <= buffer; ++i) range = walk.next(table[static_cast<std::size_t>(i)].byte_size).value();
    range.offset += index_.entry(index).data_offset;
    return range;
}

Result<Buffer> HrryFile::read_buffer(std::uint64_t offset, const BufferHandle& handle) const {
    if (handle.alignment > greatest_alignment) {
        return fail(Status::limit_exceeded, Error::no_offset, "alignment: %u bytes, the limit is %u", handle.alignment,
                    greatest_alignment);
    }
    auto buffer = allocate_buffer(handle.byte_size, handle.alignment, Contents::undefined);
    if (!buffer) return buffer;
    if (auto done = bytes_.read(offset, buffer->bytes()); !done) return std::unexpected(done.error());
    copied_bytes_.fetch_add(handle.byte_size, std::memory_order_relaxed);
    return buffer;
}

Result<Buffer> HrryFile::buffer_at(std::uint64_t offset, const BufferHandle& handle, bool may_have_prefix) const {
    if (handle.byte_size == 0) {
        Buffer buffer;
        buffer.handle.alignment = handle.alignment;
        return buffer;
    }
    if (!bytes_.in_place()) return read_buffer(offset, handle);
    auto window = bytes_.window(offset, handle.byte_size);
    if (!window) return std::unexpected(window.error());
    std::byte* data = const_cast<std::byte*>(window->bytes.data());
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    if (address % handle.alignment != 0) {
        if (options_.alignment == AlignmentPolicy::require) {
            return fail(Status::misaligned, offset, "data at byte %llu of the file is not aligned to %u bytes",
                        static_cast<ull>(offset), handle.alignment);
        }
        const bool aligned_at_all = address % minimum_alignment == 0;
        if (options_.alignment == AlignmentPolicy::copy || !(aligned_at_all || may_have_prefix)) {
            return read_buffer(offset, handle);
        }
    }
    // In front of an image that is not aligned there may be no memory at all: what is a prefix is never touched.
    Buffer buffer = wrap_host_memory(data, handle.byte_size, std::move(window->storage));
    const auto base = reinterpret_cast<std::uintptr_t>(buffer.data);
    const std::uint64_t true_alignment = std::uint64_t{1} << std::min(std::countr_zero(base), 31);
    buffer.handle.alignment = static_cast<std::uint32_t>(std::min<std::uint64_t>(handle.alignment, true_alignment));
    return buffer;
}

Result<Tensor> HrryFile::tensor(std::uint64_t index) const {
    auto loaded = descriptor(index);
    if (!loaded) return std::unexpected(loaded.error());
    const hrry::IndexEntry entry = index_.entry(index);
    if (loaded->is_unread()) {
        return fail(Status::unsupported, entry.descriptor_offset,
                    "tensor %s: layout_tag: %02X is not known, and so is how many buffers it has",
                    Quoted(entry.name).c_str(), loaded->layout());
    }
    Tensor tensor{*std::move(loaded), {}};
    const auto table = tensor.descriptor.buffers();
    tensor.buffers.reserve(table.size());
    std::vector<BufferHandle> handles;
    handles.reserve(table.size());
    hrry::BufferWalk walk(header_.data_alignment);
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (auto checked = hrry::check_plain_buffer(table[i], i); !checked) return of_tensor(entry, checked.error());
        const FileRange range = walk.next(table[i].byte_size).value();
        auto buffer =
            buffer_at(entry.data_offset + range.offset, table[i], i == 0 && has_byte_offset(tensor.descriptor));
        if (!buffer) {
            if (buffer.error().code == Status::out_of_memory) return std::unexpected(buffer.error());
            return of_tensor(entry, buffer.error());
        }
        buffer->read_only = true;
        handles.push_back(buffer->handle);
        tensor.buffers.push_back(*std::move(buffer));
    }
    if (std::ranges::equal(handles, table)) return tensor;
    const std::uint64_t byte_offset = tensor.descriptor.byte_offset() + tensor.buffers.front().prefix;
    auto placed = with_buffers(tensor.descriptor, byte_offset, handles);
    if (!placed) return of_tensor(entry, placed.error());
    tensor.descriptor = *std::move(placed);
    return tensor;
}

std::optional<std::uint64_t> HrryFile::first_in_file() const noexcept {
    if (index_.count() == 0) return std::nullopt;
    return index_.at_position(0);
}

std::optional<std::uint64_t> HrryFile::next_in_file(std::uint64_t index) const noexcept {
    if (index >= index_.count()) return std::nullopt;
    const std::uint64_t position = index_.position_of(index) + 1;
    if (position >= index_.count()) return std::nullopt;
    return index_.at_position(position);
}

Result<std::shared_ptr<const Composite>> HrryFile::composite(std::uint64_t index) const {
    const auto head = tensor_info(index);
    if (!head) return std::unexpected(head.error());
    const hrry::IndexEntry entry = index_.entry(index);
    if (head->layout_tag != layout_tag::composite) {
        return fail(Status::invalid_argument, entry.descriptor_offset, "tensor %s: expected the head of a composite",
                    Quoted(entry.name).c_str());
    }
    CompositeAssembler assembler({.max_descriptors = index_.count()});
    for (std::optional<std::uint64_t> next = index; next; next = next_in_file(*next)) {
        auto part = tensor(*next);
        if (!part) return std::unexpected(part.error());
        auto added = assembler.add(*std::move(part));
        if (!added) return of_tensor(entry, added.error());
        if (*added) return (*added)->shared_composite();
    }
    return of_tensor(entry, assembler.finish().error());
}

Result<MetadataEntry> HrryFile::metadata(std::uint64_t index) const {
    if (index >= metadata_count()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "metadata entry %llu: the file has %llu",
                    static_cast<ull>(index), static_cast<ull>(metadata_count()));
    }
    return MetadataEntry{metadata_.key(index), metadata_.value(index)};
}

Result<MetadataView> HrryFile::metadata_element(std::uint64_t index, std::uint64_t element) const {
    const auto entry = metadata(index);
    if (!entry) return std::unexpected(entry.error());
    if (entry->value.type != MetadataType::array) {
        return fail(Status::invalid_argument, Error::no_offset, "metadata key %s: expected an array",
                    Quoted(entry->key).c_str());
    }
    if (element >= entry->value.count) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "metadata key %s: element %llu: the array has %llu",
                    Quoted(entry->key).c_str(), static_cast<ull>(element), static_cast<ull>(entry->value.count));
    }
    return metadata_.element(index, element);
}

Result<std::unique_ptr<ModelFile>> open_hrry(FileBytes bytes, const FileOptions& options) {
    return HrryFile::open(std::move(bytes), options);
}

}  // namespace hurray
