#include "abi/src/internal/file_objects.hpp"

#include <cstddef>
#include <utility>

#include "abi/src/internal/foreign.hpp"
#include "core/hurray/host_memory.hpp"

namespace hurray::abi {
namespace {

using ull = unsigned long long;

Result<void> check_choice(const char* field, std::uint32_t value, std::uint32_t most) {
    if (value <= most) return {};
    return fail(Status::invalid_argument, Error::no_offset, "options->%s: expected 0 to %u, got %u", field, most, value);
}

Result<FileOptions> read_file_options(const HurrayFileOptions* options) {
    const auto chosen = read_sized_struct(options, offsetof(HurrayFileOptions, inexact_blocks), "options");
    if (!chosen) return std::unexpected(chosen.error());
    auto checked = check_choice("alignment", chosen->alignment, HURRAY_ALIGN_REQUIRE);
    if (checked) checked = check_choice("access", chosen->access, HURRAY_ACCESS_READ);
    if (checked) checked = check_choice("inexact_blocks", chosen->inexact_blocks, HURRAY_INEXACT_REFUSE);
    if (!checked) return std::unexpected(checked.error());
    if ((chosen->flags & ~(HURRAY_FILE_PRIVATE_TAGS | HURRAY_FILE_PERMISSIVE | HURRAY_FILE_NO_EXACT_SCHEMES)) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "options->flags: unknown bits 0x%x", chosen->flags);
    }
    FileOptions core;
    core.format = static_cast<FileFormat>(chosen->format);
    core.alignment = static_cast<AlignmentPolicy>(chosen->alignment);
    core.access = static_cast<FileAccess>(chosen->access);
    core.inexact_blocks = static_cast<InexactBlocks>(chosen->inexact_blocks);
    if ((chosen->flags & HURRAY_FILE_PRIVATE_TAGS) != 0) core.private_tags = PrivateTags::allow;
    if ((chosen->flags & HURRAY_FILE_PERMISSIVE) != 0) core.mode = Mode::permissive;
    core.exact_schemes = (chosen->flags & HURRAY_FILE_NO_EXACT_SCHEMES) == 0;
    core.header_limit = chosen->header_limit;
    return core;
}

}  // namespace

Result<void> check_index(const char* parameter, std::uint64_t index, std::uint64_t length) {
    if (index < length) return {};
    return fail(Status::index_out_of_bounds, Error::no_offset, "%s: expected less than %llu, got %llu", parameter,
                static_cast<ull>(length), static_cast<ull>(index));
}

Result<HurrayFile*> open_file(const char* path, const HurrayFileOptions* options) {
    const auto chosen = read_file_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    auto opened = open_model_file(path, *chosen);
    if (!opened) return std::unexpected(opened.error());
    return new HurrayFile(*std::move(opened));
}

Result<HurrayFile*> open_file(const HurrayBuffer* buffer, const HurrayFileOptions* options) {
    const auto chosen = read_file_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    auto memory = shared_memory(buffer);
    if (!memory) return std::unexpected(memory.error());
    if (!is_host_accessible(memory->handle)) {
        return fail(Status::unsupported, Error::no_offset, "buffer: memory of device %u, which the CPU cannot read",
                    memory->handle.device_tag);
    }
    if (memory->handle.sync_mode != sync_mode::producer_synced) {
        return fail(Status::invalid_sync_mode, Error::no_offset, "buffer: its sync mode is %u, expected PRODUCER_SYNCED",
                    memory->handle.sync_mode);
    }
    // The bytes in front of lent memory that is not aligned are somebody else's.
    const auto image = memory->bytes().subspan(memory->prefix);
    auto opened = open_model_bytes(FileBytes::over(image, memory->storage), *chosen);
    if (!opened) return std::unexpected(opened.error());
    return new HurrayFile(*std::move(opened), std::move(memory->storage));
}

HurrayFileInfo file_info(const HurrayFile& file) {
    HurrayFileInfo info{};
    info.format = static_cast<std::uint32_t>(file.value->format());
    info.tensor_count = file.value->tensor_count();
    info.metadata_count = file.value->metadata_count();
    info.file_size = file.value->file_size();
    info.copied_bytes = file.value->copied_bytes();
    return info;
}

Result<HurrayFileTensorInfo> file_tensor_info(const HurrayFile& file, std::uint64_t index) {
    const auto tensor = file.value->tensor_info(index);
    if (!tensor) return std::unexpected(tensor.error());
    HurrayFileTensorInfo info{};
    info.element_type = tensor->type_tag;
    info.layout = tensor->layout_tag;
    info.scheme = tensor->scheme_tag;
    info.name = tensor->name.data();
    info.name_length = tensor->name.size();
    info.shape = tensor->shape.empty() ? nullptr : tensor->shape.data();
    info.rank = static_cast<std::uint32_t>(tensor->shape.size());
    info.bits = tensor->bits;
    info.file_offset = tensor->file_offset;
    info.byte_size = tensor->byte_size;
    info.stored_type = tensor->stored_type.data();
    info.stored_type_length = tensor->stored_type.size();
    return info;
}

HurrayFileMetadata metadata_struct(const MetadataView& value) {
    HurrayFileMetadata result{};
    result.type = static_cast<std::uint8_t>(value.type);
    switch (value.type) {
        case MetadataType::string:
        case MetadataType::bytes:
            result.value = value.text.data();
            result.value_length = value.text.size();
            break;
        case MetadataType::int64: result.int64_value = value.int64; break;
        case MetadataType::uint64: result.uint64_value = value.uint64; break;
        case MetadataType::float64: result.float64_value = value.float64; break;
        case MetadataType::boolean: result.boolean = value.boolean ? 1 : 0; break;
        case MetadataType::array:
            result.element_type = static_cast<std::uint8_t>(value.element_type);
            result.count = value.count;
            break;
    }
    return result;
}

Result<HurrayFileMetadata> file_metadata(const HurrayFile& file, std::uint64_t index) {
    const auto entry = file.value->metadata(index);
    if (!entry) return std::unexpected(entry.error());
    HurrayFileMetadata result = metadata_struct(entry->value);
    result.key = entry->key.data();
    result.key_length = entry->key.size();
    return result;
}

bool destroy_file(HurrayFile* file, bool deferred) noexcept {
    Storage* memory = file->kept.detach();
    retire(file);
    return drop(memory, deferred);
}

}  // namespace hurray::abi
