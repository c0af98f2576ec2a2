#include "core/hurray/io/safetensors.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/bool_bytes.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/safetensors_index.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

Result<Tensor> row_major_tensor(std::uint8_t type_tag, std::span<const std::uint64_t> shape, Buffer buffer) {
    DescriptorBuilder builder(type_tag, layout_tag::row_major, shape);
    builder.set_byte_offset(buffer.prefix);
    if (auto added = builder.add_buffer(buffer.handle); !added) return std::unexpected(added.error());
    auto descriptor = builder.build();
    if (!descriptor) return std::unexpected(descriptor.error());
    Tensor tensor{*std::move(descriptor), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

}  // namespace

struct SafetensorsFile::State {
    std::span<const std::byte> image;
    Ref<Storage> storage;
    SafetensorsIndex index;
    AlignmentPolicy alignment = AlignmentPolicy::offset;
    std::atomic<std::uint64_t> copied_bytes{0};

    [[nodiscard]] std::span<const std::byte> data(const SafetensorsIndex::Entry& entry) const {
        return image.subspan(static_cast<std::size_t>(index.data_offset() + entry.begin),
                             static_cast<std::size_t>(entry.end - entry.begin));
    }

    Result<Buffer> packed(const SafetensorsIndex::Entry& entry) {
        const auto bytes = data(entry);
        auto buffer = allocate_buffer((std::uint64_t{bytes.size()} + 7) / 8);
        if (!buffer) return buffer;
        if (const auto bad = pack_bool_bytes(bytes, buffer->bytes())) {
            return fail(Status::invalid_format, index.data_offset() + entry.begin + *bad,
                        "tensor %s: BOOL element %llu is the byte %u, expected 0 or 1",
                        Quoted(index.text(entry.name)).c_str(), static_cast<ull>(*bad),
                        std::to_integer<unsigned>(bytes[*bad]));
        }
        copied_bytes.fetch_add(buffer->handle.byte_size, std::memory_order_relaxed);
        return buffer;
    }

    Result<Buffer> copied(std::span<const std::byte> bytes) {
        auto buffer = allocate_buffer(bytes.size());
        if (!buffer) return buffer;
        std::memcpy(buffer->data, bytes.data(), bytes.size());
        copied_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
        return buffer;
    }

    Result<Buffer> buffer(const SafetensorsIndex::Entry& entry) {
        const auto bytes = data(entry);
        if (bytes.empty()) return Buffer{};
        if (SafetensorsIndex::dtype(entry).file_bits != SafetensorsIndex::dtype(entry).bits) return packed(entry);
        if (reinterpret_cast<std::uintptr_t>(bytes.data()) % minimum_alignment != 0) {
            if (alignment == AlignmentPolicy::copy) return copied(bytes);
            if (alignment == AlignmentPolicy::require) {
                return fail(Status::misaligned, index.data_offset() + entry.begin,
                            "tensor %s: its data at byte %llu of the file is not aligned to %u bytes",
                            Quoted(index.text(entry.name)).c_str(), static_cast<ull>(index.data_offset() + entry.begin),
                            minimum_alignment);
            }
        }
        // The mapping starts at a page, so rounding down stays in it; in front of other images nothing is touched.
        return wrap_host_memory(const_cast<std::byte*>(bytes.data()), bytes.size(), storage);
    }
};

SafetensorsFile::SafetensorsFile(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

Result<SafetensorsFile> SafetensorsFile::open(std::string_view path, const SafetensorsOptions& options) {
    const auto file = MappedFile::open(path);
    if (!file) return std::unexpected(file.error());
    return open_memory(file->bytes(), file->storage(), options);
}

Result<SafetensorsFile> SafetensorsFile::open_memory(std::span<const std::byte> image, Ref<Storage> storage,
                                                     const SafetensorsOptions& options) {
    auto index = SafetensorsIndex::parse(image, options.header_limit);
    if (!index) return std::unexpected(index.error());
    auto state = std::make_unique<State>();
    state->image = image;
    state->storage = std::move(storage);
    state->index = *std::move(index);
    state->alignment = options.alignment;
    return SafetensorsFile(std::move(state));
}

std::uint64_t SafetensorsFile::file_size() const noexcept { return state_->image.size(); }
std::uint64_t SafetensorsFile::header_length() const noexcept { return state_->index.header_length(); }
std::uint64_t SafetensorsFile::tensor_count() const noexcept { return state_->index.entries().size(); }
std::uint64_t SafetensorsFile::metadata_count() const noexcept { return state_->index.metadata().size(); }

std::uint64_t SafetensorsFile::copied_bytes() const noexcept {
    return state_->copied_bytes.load(std::memory_order_relaxed);
}

Result<SafetensorsTensorInfo> SafetensorsFile::tensor_info(std::uint64_t index) const {
    if (index >= tensor_count()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "tensor %llu: the file has %llu",
                    static_cast<ull>(index), static_cast<ull>(tensor_count()));
    }
    const auto& entry = state_->index.entries()[static_cast<std::size_t>(index)];
    const SafetensorsDtype& dtype = SafetensorsIndex::dtype(entry);
    return SafetensorsTensorInfo{state_->index.text(entry.name),
                                 dtype.name,
                                 state_->index.shape(entry),
                                 dtype.type_tag,
                                 dtype.bits,
                                 state_->index.data_offset() + entry.begin,
                                 entry.end - entry.begin};
}

std::optional<std::uint64_t> SafetensorsFile::find(std::string_view name) const noexcept {
    return state_->index.find(name);
}

Result<SafetensorsMetadata> SafetensorsFile::metadata(std::uint64_t index) const {
    if (index >= metadata_count()) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "metadata entry %llu: the file has %llu",
                    static_cast<ull>(index), static_cast<ull>(metadata_count()));
    }
    const auto& entry = state_->index.metadata()[static_cast<std::size_t>(index)];
    return SafetensorsMetadata{state_->index.text(entry.key), state_->index.text(entry.value)};
}

std::optional<std::string_view> SafetensorsFile::find_metadata(std::string_view key) const noexcept {
    const auto found = state_->index.find_metadata(key);
    if (!found) return std::nullopt;
    return state_->index.text(state_->index.metadata()[*found].value);
}

Result<Tensor> SafetensorsFile::tensor(std::uint64_t index) const {
    const auto info = tensor_info(index);
    if (!info) return std::unexpected(info.error());
    auto buffer = state_->buffer(state_->index.entries()[static_cast<std::size_t>(index)]);
    if (!buffer) return std::unexpected(buffer.error());
    buffer->read_only = true;
    return row_major_tensor(info->type_tag, info->shape, *std::move(buffer));
}

}  // namespace hurray
