#include "abi/src/internal/io_objects.hpp"

#include <cstring>

#include "abi/src/internal/growth.hpp"
#include "core/hurray/layout/layout_tag.hpp"

hurray::Result<void> HurrayFileWriter::add(std::string_view name, const HurrayTensor& tensor) {
    hurray::abi::reserve_more(kept, 2 * tensor.buffers->slots.size());
    if (auto added = value.add(name, hurray::abi::core_tensor(tensor)); !added) return added;
    for (const HurrayBuffer* buffer : tensor.buffers->slots) {
        if (buffer->value.storage) kept.push_back(buffer->value.storage);
        if (buffer->context_owner) kept.push_back(hurray::Ref<hurray::Storage>::retain(buffer->context_owner.get()));
    }
    return {};
}

namespace hurray::abi {
namespace {

constexpr std::uint32_t reader_flags = HURRAY_STREAM_PRIVATE_TAGS | HURRAY_STREAM_PERMISSIVE;

Result<void> check_flags(const HurrayStreamOptions& options, std::uint32_t known) {
    if ((options.flags & ~known) == 0) return {};
    return fail(Status::invalid_argument, Error::no_offset, "options->flags: expected none but 0x%x, got 0x%x", known,
                options.flags);
}

Result<FdOwnership> fd_ownership(std::int32_t fd, const HurrayStreamOptions& options, std::uint32_t known) {
    if (fd < 0) return fail(Status::invalid_argument, Error::no_offset, "fd: expected a file descriptor, got %d", fd);
    if (auto checked = check_flags(options, known); !checked) return std::unexpected(checked.error());
    return (options.flags & HURRAY_STREAM_CLOSE_FD) != 0 ? FdOwnership::close : FdOwnership::borrow;
}

Mode reading_mode(const HurrayStreamOptions& options) {
    return (options.flags & HURRAY_STREAM_PERMISSIVE) != 0 ? Mode::permissive : Mode::strict;
}

StreamLimits stream_limits(const HurrayStreamOptions& options) {
    StreamLimits limits;
    if (options.max_descriptor_length != 0) limits.max_descriptor_length = options.max_descriptor_length;
    if (options.max_tensor_bytes != 0) limits.max_tensor_bytes = options.max_tensor_bytes;
    if ((options.flags & HURRAY_STREAM_PRIVATE_TAGS) != 0) limits.private_tags = PrivateTags::allow;
    limits.mode = reading_mode(options);
    return limits;
}

Result<HurrayStreamOptions> read_options(const HurrayStreamOptions* options) {
    return read_sized_struct(options, sizeof(HurrayStreamOptions), "options");
}

}  // namespace

Result<HurrayFile*> open_file(const char* path, const HurrayFileOptions* options) {
    auto chosen = read_sized_struct(options, sizeof(HurrayFileOptions), "options");
    if (!chosen) return std::unexpected(chosen.error());
    if (chosen->format != HURRAY_FORMAT_AUTO && chosen->format != HURRAY_FORMAT_SAFETENSORS) {
        return fail(Status::invalid_argument, Error::no_offset, "options->format: no format has the number %u",
                    chosen->format);
    }
    if (chosen->alignment > HURRAY_ALIGN_REQUIRE) {
        return fail(Status::invalid_argument, Error::no_offset, "options->alignment: expected 0 to %u, got %u",
                    HURRAY_ALIGN_REQUIRE, chosen->alignment);
    }
    if (chosen->reserved != 0) return fail(Status::invalid_argument, Error::no_offset, "options->reserved: expected 0");
    SafetensorsOptions safetensors;
    if (chosen->header_limit != 0) safetensors.header_limit = chosen->header_limit;
    safetensors.alignment = static_cast<AlignmentPolicy>(chosen->alignment);
    auto opened = SafetensorsFile::open(path, safetensors);
    if (!opened) return std::unexpected(opened.error());
    return new HurrayFile(std::move(*opened));
}

HurrayFileInfo file_info(const HurrayFile& file) {
    HurrayFileInfo info{};
    info.format = HURRAY_FORMAT_SAFETENSORS;
    info.tensor_count = file.value.tensor_count();
    info.metadata_count = file.value.metadata_count();
    info.file_size = file.value.file_size();
    info.copied_bytes = file.value.copied_bytes();
    return info;
}

Result<HurrayFileTensorInfo> file_tensor_info(const HurrayFile& file, std::uint64_t index) {
    const auto tensor = file.value.tensor_info(index);
    if (!tensor) return std::unexpected(tensor.error());
    HurrayFileTensorInfo info{};
    info.element_type = tensor->type_tag;
    info.layout = layout_tag::row_major;
    info.name = tensor->name.data();
    info.name_length = tensor->name.size();
    info.shape = tensor->shape.empty() ? nullptr : tensor->shape.data();
    info.rank = static_cast<std::uint32_t>(tensor->shape.size());
    info.bits = tensor->bits;
    info.file_offset = tensor->file_offset;
    info.byte_size = tensor->byte_size;
    return info;
}

Result<HurrayFileMetadata> file_metadata(const HurrayFile& file, std::uint64_t index) {
    const auto entry = file.value.metadata(index);
    if (!entry) return std::unexpected(entry.error());
    HurrayFileMetadata result{};
    result.key = entry->key.data();
    result.key_length = entry->key.size();
    result.value = entry->value.data();
    result.value_length = entry->value.size();
    return result;
}

bool drop_all(std::vector<Ref<Storage>> kept, bool deferred) noexcept {
    bool clean = true;
    for (Ref<Storage>& reference : kept) clean = drop(reference.detach(), deferred) && clean;
    return clean;
}

bool destroy_file_writer(HurrayFileWriter* writer, bool deferred) noexcept {
    std::vector<Ref<Storage>> kept = std::move(writer->kept);
    retire(writer);
    return drop_all(std::move(kept), deferred);
}

Result<HurrayReader*> reader_from_fd(std::int32_t fd, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    auto ownership = fd_ownership(fd, *chosen, HURRAY_STREAM_CLOSE_FD | reader_flags);
    if (!ownership) return std::unexpected(ownership.error());
    return new HurrayReader(StreamReader(std::make_unique<FdSource>(fd, *ownership), stream_limits(*chosen)), reading_mode(*chosen));
}

Result<HurrayReader*> reader_from_memory(const void* bytes, std::uint64_t length, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    if (auto checked = check_flags(*chosen, reader_flags); !checked) return std::unexpected(checked.error());
    const std::span memory(static_cast<const std::byte*>(bytes), static_cast<std::size_t>(length));
    return new HurrayReader(StreamReader(std::make_unique<MemorySource>(memory), stream_limits(*chosen)), reading_mode(*chosen));
}

Result<HurrayWriter*> writer_to_fd(std::int32_t fd, const HurrayStreamOptions* options) {
    auto chosen = read_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    auto ownership = fd_ownership(fd, *chosen, HURRAY_STREAM_CLOSE_FD);
    if (!ownership) return std::unexpected(ownership.error());
    return new HurrayWriter(StreamWriter(std::make_unique<FdSink>(fd, *ownership)), nullptr);
}

Result<HurrayWriter*> writer_to_memory() {
    auto sink = std::make_unique<MemorySink>();
    MemorySink* memory = sink.get();
    return new HurrayWriter(StreamWriter(std::move(sink)), memory);
}

Result<HurrayBuffer*> take_written(HurrayWriter& writer) {
    if (writer.memory == nullptr) {
        return fail(Status::invalid_argument, Error::no_offset, "writer: it does not write into memory");
    }
    const auto written = writer.memory->bytes();
    auto buffer = allocate_buffer(written.size());
    if (!buffer) return std::unexpected(buffer.error());
    if (!written.empty()) std::memcpy(buffer->data, written.data(), written.size());
    auto* handle = new HurrayBuffer(std::move(*buffer));
    writer.memory->take();
    return handle;
}

}  // namespace hurray::abi
