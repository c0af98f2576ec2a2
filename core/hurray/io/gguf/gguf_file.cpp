#include "core/hurray/io/gguf/gguf_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/gguf/exact_blocks.hpp"
#include "core/hurray/io/gguf/raw_scheme.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/types/element_type.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray {
namespace {

using namespace gguf_blocks;
using ull = unsigned long long;

constexpr std::uint8_t float16_tag = 0x01;
constexpr std::uint8_t float32_tag = 0x03;
constexpr std::uint8_t uint8_tag = 0x11;

// Bytes of blocks that are read and converted at once.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

std::uint64_t element_count(std::span<const std::uint64_t> shape) noexcept {
    std::uint64_t count = 1;
    for (const std::uint64_t dimension : shape) count *= dimension;  // checked by the index
    return count;
}

}  // namespace

bool recognises_gguf(std::span<const std::byte> start, std::uint64_t) noexcept {
    return start.size() >= 4 && std::memcmp(start.data(), "GGUF", 4) == 0;
}

Result<std::unique_ptr<ModelFile>> open_gguf(FileBytes bytes, const FileOptions& options) {
    return GgufFile::open(std::move(bytes), options);
}

GgufFile::GgufFile(FileBytes bytes, GgufIndex index, const FileOptions& options)
    : bytes_(std::move(bytes)),
      index_(std::move(index)),
      alignment_(options.alignment),
      inexact_blocks_(options.inexact_blocks),
      exact_schemes_(options.exact_schemes) {
    const auto entries = index_.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (form_of(GgufIndex::type(entries[i])) != Form::raw) continue;
        raw_shapes_.resize(entries.size());
        const auto elements = index_.shape(entries[i]);
        raw_shapes_[i] = static_cast<std::uint32_t>(raw_dimensions_.size());
        raw_dimensions_.insert(raw_dimensions_.end(), elements.begin(), elements.end());
        const GgufType& type = GgufIndex::type(entries[i]);
        raw_dimensions_.back() = elements.back() / type.block_elements * type.block_bytes;
    }
}

Result<std::unique_ptr<GgufFile>> GgufFile::open(FileBytes bytes, const FileOptions& options) {
    if (options.inexact_blocks > InexactBlocks::refuse) {
        return fail(Status::invalid_argument, Error::no_offset, "inexact_blocks: %u is none of its values",
                    static_cast<unsigned>(options.inexact_blocks));
    }
    const std::uint64_t limit = options.header_limit != 0 ? options.header_limit : default_header_limit;
    auto index = GgufIndex::parse(bytes, limit);
    if (!index) return std::unexpected(index.error());
    if (options.inexact_blocks == InexactBlocks::refuse) {
        for (std::size_t i = 0; i < index->entries().size(); ++i) {
            const Entry& entry = index->entries()[i];
            const GgufType& type = GgufIndex::type(entry);
            if (type.kind == GgufKind::plain || (type.kind == GgufKind::exact_blocks && options.exact_schemes))
                continue;
            return gguf_fault(Status::unsupported, GgufIndex::type_at(entry), {"tensor info", i}, "type",
                              "%s is no scheme of Hurray, and inexact_blocks says to refuse such blocks",
                              std::string(type.name).c_str());
        }
    }
    return std::unique_ptr<GgufFile>(new GgufFile(std::move(bytes), *std::move(index), options));
}

GgufFile::Form GgufFile::form_of(const GgufType& type) const noexcept {
    if (type.kind == GgufKind::plain) return Form::plain;
    if (type.kind == GgufKind::exact_blocks && exact_schemes_) return Form::exact;
    if (inexact_blocks_ == InexactBlocks::float32) return Form::float32;
    if (inexact_blocks_ == InexactBlocks::float16) return Form::float16;
    return Form::raw;
}

std::uint8_t GgufFile::type_tag(const GgufType& type) const noexcept {
    switch (form_of(type)) {
        case Form::raw:
            return uint8_tag;
        case Form::float32:
            return float32_tag;
        case Form::float16:
            return float16_tag;
        default:
            return type.type_tag;
    }
}

std::span<const std::uint64_t> GgufFile::shape(std::uint64_t index, const Entry& entry) const noexcept {
    if (form_of(GgufIndex::type(entry)) != Form::raw) return index_.shape(entry);
    return std::span(raw_dimensions_).subspan(raw_shapes_[static_cast<std::size_t>(index)], entry.rank);
}

Result<const GgufIndex::Entry*> GgufFile::entry(std::uint64_t index) const {
    if (index >= tensor_count()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "tensor %llu: the file has %llu",
                    static_cast<ull>(index), static_cast<ull>(tensor_count()));
    }
    return &index_.entries()[static_cast<std::size_t>(index)];
}

Result<ModelTensorInfo> GgufFile::tensor_info(std::uint64_t index) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    const Entry& entry = **found;
    const GgufType& type = GgufIndex::type(entry);
    const Form form = form_of(type);
    ModelTensorInfo info;
    info.name = index_.text(entry.name);
    info.stored_type = type.name;
    info.type_tag = type_tag(type);
    info.layout_tag = layout_tag::row_major;
    info.scheme_tag = form == Form::raw ? raw_scheme_tag : form == Form::exact ? type.scheme_tag : 0;
    info.shape = shape(index, entry);
    info.bits = find_element_type(info.type_tag)->bits;
    info.file_offset = entry.file_offset;
    info.byte_size = entry.byte_size;
    return info;
}

std::optional<std::uint64_t> GgufFile::find(std::string_view name) const noexcept {
    return index_.find(name);
}

// `buffers` empty: as they will be.
Result<Descriptor> GgufFile::describe(std::uint64_t index, const Entry& entry, std::span<const Buffer> buffers) const {
    const GgufType& type = GgufIndex::type(entry);
    const Form form = form_of(type);
    if ((form == Form::float32 || form == Form::float16) && type.dequantize == nullptr) {
        return fail(
            Status::unsupported, GgufIndex::type_at(entry),
            "tensor %s: %s looks its numbers up in tables that are not here; inexact_blocks: raw hands over its bytes",
            Quoted(index_.text(entry.name)).c_str(), std::string(type.name).c_str());
    }
    DescriptorBuilder builder(type_tag(type), layout_tag::row_major, shape(index, entry));
    if (!buffers.empty()) builder.set_byte_offset(buffers.front().prefix);
    const RawPayload payload = raw_payload(type);
    if (form == Form::raw) builder.set_quantization(raw_fields(payload));
    if (form == Form::exact) builder.set_quantization(exact_fields(type, entry.rank));
    Result<void> added;
    const auto add = [&](std::uint64_t size) {
        if (added) added = builder.add_buffer(BufferHandle{.byte_size = size});
    };
    if (!buffers.empty()) {
        for (const Buffer& buffer : buffers) {
            if (added) added = builder.add_buffer(buffer.handle);
        }
    } else if (form == Form::exact) {
        const ExactForm sizes = exact_form(type);
        add(entry.byte_size / type.block_bytes * sizes.code_bytes);
        add(entry.byte_size / type.block_bytes * sizes.scale_bytes);
    } else if (form == Form::plain || form == Form::raw) {
        add(entry.byte_size);
    } else {
        add(element_count(index_.shape(entry)) * (form == Form::float32 ? 4 : 2));
    }
    if (!added) return std::unexpected(added.error());
    auto descriptor = builder.build(PrivateTags::allow);
    if (!descriptor) {
        // Rows of no blocks: the one thing that GGUF can say and the scheme cannot.
        return fail(Status::unsupported, GgufIndex::type_at(entry), "tensor %s: %s: %s",
                    Quoted(index_.text(entry.name)).c_str(), std::string(type.name).c_str(),
                    descriptor.error().message);
    }
    return descriptor;
}

Result<Descriptor> GgufFile::descriptor(std::uint64_t index) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    return describe(index, **found, {});
}

Result<FileRange> GgufFile::buffer_range(std::uint64_t index, std::uint64_t buffer) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    const std::uint64_t count = form_of(GgufIndex::type(**found)) == Form::exact ? 2 : 1;
    if (buffer >= count) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "buffer %llu: the tensor has %llu",
                    static_cast<ull>(buffer), static_cast<ull>(count));
    }
    return FileRange{(*found)->file_offset, (*found)->byte_size};
}

template <typename Each>
Result<void> GgufFile::for_each_piece(const Entry& entry, Each each) const {
    const std::uint64_t block = GgufIndex::type(entry).block_bytes;
    const std::uint64_t step = piece_bytes / block * block;
    for (std::uint64_t at = 0; at < entry.byte_size; at += step) {
        const auto window = bytes_.window(entry.file_offset + at, std::min(step, entry.byte_size - at));
        if (!window) return std::unexpected(window.error());
        if (auto done = each(window->bytes, at / block); !done) return done;
    }
    return {};
}

Result<Buffer> GgufFile::in_place(const Entry& entry) const {
    if (entry.byte_size == 0) return Buffer{};
    auto window = bytes_.window(entry.file_offset, entry.byte_size);
    if (!window) return std::unexpected(window.error());
    const auto bytes = window->bytes;
    if (!bytes_.in_place()) copied_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % minimum_alignment != 0) {
        if (alignment_ == AlignmentPolicy::require) {
            return fail(Status::misaligned, entry.file_offset,
                        "tensor %s: its data at byte %llu of the file is not aligned to %u bytes",
                        Quoted(index_.text(entry.name)).c_str(), static_cast<ull>(entry.file_offset),
                        minimum_alignment);
        }
        if (alignment_ == AlignmentPolicy::copy) {
            auto buffer = allocate_buffer(bytes.size(), minimum_alignment, Contents::undefined);
            if (!buffer) return buffer;
            std::memcpy(buffer->data, bytes.data(), bytes.size());
            copied_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
            return buffer;
        }
    }
    // The mapping starts at a page, so rounding down stays in it; in front of other images nothing is touched.
    return wrap_host_memory(const_cast<std::byte*>(bytes.data()), bytes.size(), std::move(window->storage));
}

Result<std::vector<Buffer>> GgufFile::take_apart(const Entry& entry) const {
    const GgufType& type = GgufIndex::type(entry);
    const ExactForm form = exact_form(type);
    const std::uint64_t blocks = entry.byte_size / type.block_bytes;
    auto codes = allocate_buffer(blocks * form.code_bytes, minimum_alignment, Contents::undefined);
    if (!codes) return std::unexpected(codes.error());
    auto scales = allocate_buffer(blocks * form.scale_bytes, minimum_alignment, Contents::undefined);
    if (!scales) return std::unexpected(scales.error());
    const auto done = for_each_piece(entry, [&](std::span<const std::byte> piece, std::uint64_t first) -> Result<void> {
        for (std::uint64_t i = 0; i < piece.size() / type.block_bytes; ++i) {
            const std::uint64_t block = first + i;
            const char* fault =
                unpack_exact(type, piece.data() + i * type.block_bytes, codes->data + block * form.code_bytes,
                             scales->data + block * form.scale_bytes);
            if (fault != nullptr) {
                return fail(
                    Status::unsupported, entry.file_offset + block * type.block_bytes,
                    "tensor %s: block %llu of %s cannot be said exactly: %s; exact_schemes: false hands it over "
                    "as inexact_blocks says",
                    Quoted(index_.text(entry.name), 32).c_str(), static_cast<ull>(block),
                    std::string(type.name).c_str(), fault);
            }
        }
        return {};
    });
    if (!done) return std::unexpected(done.error());
    copied_bytes_.fetch_add(codes->handle.byte_size + scales->handle.byte_size, std::memory_order_relaxed);
    return std::vector<Buffer>{*std::move(codes), *std::move(scales)};
}

Result<Buffer> GgufFile::numbers(const Entry& entry) const {
    const GgufType& type = GgufIndex::type(entry);
    const bool half = form_of(type) == Form::float16;
    const std::uint64_t width = half ? 2 : 4;
    const std::uint64_t blocks = entry.byte_size / type.block_bytes;
    auto buffer = allocate_buffer(blocks * type.block_elements * width, minimum_alignment, Contents::undefined);
    if (!buffer) return buffer;
    const auto float16 = number_format(float16_tag);
    if (!float16) return std::unexpected(float16.error());
    const auto done = for_each_piece(entry, [&](std::span<const std::byte> piece, std::uint64_t first) -> Result<void> {
        // The largest block.
        std::array<float, 256> block_numbers;
        for (std::uint64_t i = 0; i < piece.size() / type.block_bytes; ++i) {
            type.dequantize(piece.data() + i * type.block_bytes, block_numbers.data());
            std::byte* out = buffer->data + (first + i) * type.block_elements * width;
            const auto numbers = std::span(block_numbers).first(type.block_elements);
            if (!half) {
                std::memcpy(out, numbers.data(), numbers.size_bytes());
            } else if (auto converted = from_float32(*float16, numbers, {out, numbers.size() * width}, 0); !converted) {
                return converted;
            }
        }
        return {};
    });
    if (!done) return std::unexpected(done.error());
    copied_bytes_.fetch_add(buffer->handle.byte_size, std::memory_order_relaxed);
    return buffer;
}

Result<Tensor> GgufFile::tensor(std::uint64_t index) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    const Entry& entry = **found;
    const Form form = form_of(GgufIndex::type(entry));
    // What the descriptor refuses needs no data.
    if (form != Form::plain && form != Form::raw) {
        if (const auto possible = describe(index, entry, {}); !possible) return std::unexpected(possible.error());
    }
    std::vector<Buffer> buffers;
    if (form == Form::exact) {
        auto parts = take_apart(entry);
        if (!parts) return std::unexpected(parts.error());
        buffers = *std::move(parts);
    } else {
        auto buffer = form == Form::plain || form == Form::raw ? in_place(entry) : numbers(entry);
        if (!buffer) return std::unexpected(buffer.error());
        buffers.push_back(*std::move(buffer));
    }
    for (Buffer& buffer : buffers) buffer.read_only = true;
    auto descriptor = describe(index, entry, buffers);
    if (!descriptor) return std::unexpected(descriptor.error());
    return Tensor{*std::move(descriptor), std::move(buffers)};
}

Result<hurray::MetadataEntry> GgufFile::metadata(std::uint64_t index) const {
    if (index >= metadata_count()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "metadata entry %llu: the file has %llu",
                    static_cast<ull>(index), static_cast<ull>(metadata_count()));
    }
    const auto& entry = index_.metadata()[static_cast<std::size_t>(index)];
    return hurray::MetadataEntry{index_.text(entry.key), index_.value(entry)};
}

Result<MetadataView> GgufFile::metadata_element(std::uint64_t index, std::uint64_t element) const {
    const auto found = metadata(index);
    if (!found) return std::unexpected(found.error());
    if (found->value.type != MetadataType::array) {
        return fail(Status::invalid_argument, Error::no_offset, "metadata entry %llu (%s): expected an array",
                    static_cast<ull>(index), Quoted(found->key).c_str());
    }
    if (element >= found->value.count) {
        return fail(Status::index_out_of_bounds, Error::no_offset,
                    "element %llu of metadata entry %llu (%s): it has %llu", static_cast<ull>(element),
                    static_cast<ull>(index), Quoted(found->key).c_str(), static_cast<ull>(found->value.count));
    }
    return index_.element(index_.metadata()[static_cast<std::size_t>(index)], element);
}

std::optional<std::uint64_t> GgufFile::find_metadata(std::string_view key) const noexcept {
    return index_.find_metadata(key);
}

}  // namespace hurray
