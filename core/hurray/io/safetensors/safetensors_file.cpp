#include "core/hurray/io/safetensors/safetensors_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/bool_bytes.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Bools that are read at once from a file that is not mapped; a multiple of 8, so that their bits end at a byte.
constexpr std::uint64_t bools_at_once = 64 * 1024;

Result<Descriptor> row_major_descriptor(std::uint8_t type_tag, std::span<const std::uint64_t> shape, const Buffer& buffer) {
    DescriptorBuilder builder(type_tag, layout_tag::row_major, shape);
    builder.set_byte_offset(buffer.prefix);
    if (auto added = builder.add_buffer(buffer.handle); !added) return std::unexpected(added.error());
    return builder.build();
}

bool is_packed(const SafetensorsDtype& dtype) noexcept { return dtype.file_bits != dtype.bits; }

bool is_aligned(const std::byte* data) noexcept { return reinterpret_cast<std::uintptr_t>(data) % minimum_alignment == 0; }

}  // namespace

bool recognises_safetensors(std::span<const std::byte> start, std::uint64_t) noexcept {
    return start.size() > SafetensorsIndex::prefix_size && start[SafetensorsIndex::prefix_size] == std::byte{'{'};
}

SafetensorsFile::SafetensorsFile(FileBytes bytes, SafetensorsIndex index, AlignmentPolicy alignment) noexcept
    : bytes_(std::move(bytes)), index_(std::move(index)), alignment_(alignment) {}

Result<std::unique_ptr<SafetensorsFile>> SafetensorsFile::open(FileBytes bytes, const FileOptions& options) {
    auto index = SafetensorsIndex::parse(bytes, options.header_limit == 0 ? default_header_limit : options.header_limit);
    if (!index) return std::unexpected(index.error());
    return std::unique_ptr<SafetensorsFile>(new SafetensorsFile(std::move(bytes), *std::move(index), options.alignment));
}

Result<std::unique_ptr<ModelFile>> open_safetensors(FileBytes bytes, const FileOptions& options) {
    return SafetensorsFile::open(std::move(bytes), options);
}

Result<const SafetensorsFile::Entry*> SafetensorsFile::entry(std::uint64_t index) const {
    if (index >= tensor_count()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "tensor %llu: the file has %llu",
                    static_cast<ull>(index), static_cast<ull>(tensor_count()));
    }
    return &index_.entries()[static_cast<std::size_t>(index)];
}

Result<ModelTensorInfo> SafetensorsFile::tensor_info(std::uint64_t index) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    const SafetensorsDtype& dtype = SafetensorsIndex::dtype(**found);
    ModelTensorInfo info;
    info.name = index_.text((*found)->name);
    info.stored_type = dtype.name;
    info.type_tag = dtype.type_tag;
    info.layout_tag = layout_tag::row_major;
    info.shape = index_.shape(**found);
    info.bits = dtype.bits;
    info.file_offset = file_offset(**found);
    info.byte_size = (*found)->end - (*found)->begin;
    return info;
}

std::optional<std::uint64_t> SafetensorsFile::find(std::string_view name) const noexcept { return index_.find(name); }

std::optional<std::uint64_t> SafetensorsFile::find_metadata(std::string_view key) const noexcept {
    return index_.find_metadata(key);
}

Result<hurray::MetadataEntry> SafetensorsFile::metadata(std::uint64_t index) const {
    if (index >= metadata_count()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "metadata entry %llu: the file has %llu",
                    static_cast<ull>(index), static_cast<ull>(metadata_count()));
    }
    const auto& found = index_.metadata()[static_cast<std::size_t>(index)];
    hurray::MetadataEntry result;
    result.key = index_.text(found.key);
    result.value.text = index_.text(found.value);
    return result;
}

Result<Buffer> SafetensorsFile::packed(const Entry& entry) const {
    const std::uint64_t size = entry.end - entry.begin;
    auto buffer = allocate_buffer(size / 8 + (size % 8 != 0 ? 1 : 0));
    if (!buffer) return buffer;
    std::vector<std::byte> chunk(bytes_.in_place() ? 0 : static_cast<std::size_t>(std::min(size, bools_at_once)));
    const std::uint64_t step = bytes_.in_place() ? size : bools_at_once;
    for (std::uint64_t done = 0; done < size; done += step) {
        const std::uint64_t count = std::min(step, size - done);
        std::span<const std::byte> bools;
        if (bytes_.in_place()) {
            auto window = bytes_.window(file_offset(entry), count);
            if (!window) return std::unexpected(window.error());
            bools = window->bytes;
        } else {
            const auto into = std::span(chunk).first(static_cast<std::size_t>(count));
            if (auto read = bytes_.read(file_offset(entry) + done, into); !read) return std::unexpected(read.error());
            bools = into;
        }
        if (const auto bad = pack_bool_bytes(bools, buffer->bytes().subspan(static_cast<std::size_t>(done / 8)))) {
            return fail(Status::invalid_format, file_offset(entry) + done + *bad,
                        "tensor %s: BOOL element %llu is the byte %u, expected 0 or 1",
                        Quoted(index_.text(entry.name)).c_str(), static_cast<ull>(done + *bad),
                        std::to_integer<unsigned>(bools[*bad]));
        }
    }
    copied_bytes_.fetch_add(buffer->handle.byte_size, std::memory_order_relaxed);
    return buffer;
}

Result<Buffer> SafetensorsFile::buffer(const Entry& entry) const {
    const std::uint64_t size = entry.end - entry.begin;
    if (size == 0) return Buffer{};
    if (is_packed(SafetensorsIndex::dtype(entry))) return packed(entry);
    auto window = bytes_.window(file_offset(entry), size);
    if (!window) return std::unexpected(window.error());
    if (!bytes_.in_place()) {
        copied_bytes_.fetch_add(size, std::memory_order_relaxed);
    } else if (!is_aligned(window->bytes.data())) {
        if (alignment_ == AlignmentPolicy::copy) {
            auto copy = allocate_buffer(size, minimum_alignment, Contents::undefined);
            if (!copy) return copy;
            std::memcpy(copy->data, window->bytes.data(), window->bytes.size());
            copied_bytes_.fetch_add(size, std::memory_order_relaxed);
            return copy;
        }
        if (alignment_ == AlignmentPolicy::require) {
            return fail(Status::misaligned, file_offset(entry),
                        "tensor %s: its data at byte %llu of the file is not aligned to %u bytes",
                        Quoted(index_.text(entry.name)).c_str(), static_cast<ull>(file_offset(entry)), minimum_alignment);
        }
    }
    // The mapping starts at a page, so rounding down stays in it; in front of other images nothing is touched.
    return wrap_host_memory(const_cast<std::byte*>(window->bytes.data()), size, std::move(window->storage));
}

Result<Tensor> SafetensorsFile::tensor(std::uint64_t index) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    auto made = buffer(**found);
    if (!made) return std::unexpected(made.error());
    made->read_only = true;
    auto descriptor = row_major_descriptor(SafetensorsIndex::dtype(**found).type_tag, index_.shape(**found), *made);
    if (!descriptor) return std::unexpected(descriptor.error());
    Tensor tensor{*std::move(descriptor), {}};
    tensor.buffers.push_back(*std::move(made));
    return tensor;
}

Result<Descriptor> SafetensorsFile::descriptor(std::uint64_t index) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    const SafetensorsDtype& dtype = SafetensorsIndex::dtype(**found);
    const std::uint64_t size = (*found)->end - (*found)->begin;
    Buffer shown;
    shown.handle.byte_size = is_packed(dtype) ? size / 8 + (size % 8 != 0 ? 1 : 0) : size;
    if (size != 0 && !is_packed(dtype) && bytes_.in_place() && alignment_ == AlignmentPolicy::offset) {
        // Where the data lies is known: the very descriptor that tensor() gives.
        const auto window = bytes_.window(file_offset(**found), size);
        if (!window) return std::unexpected(window.error());
        shown = wrap_host_memory(const_cast<std::byte*>(window->bytes.data()), size, {});
    }
    return row_major_descriptor(dtype.type_tag, index_.shape(**found), shown);
}

Result<FileRange> SafetensorsFile::buffer_range(std::uint64_t index, std::uint64_t buffer) const {
    const auto found = entry(index);
    if (!found) return std::unexpected(found.error());
    if (buffer != 0) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "buffer %llu: the tensor has 1", static_cast<ull>(buffer));
    }
    return FileRange{file_offset(**found), (*found)->end - (*found)->begin};
}

}  // namespace hurray
