#include "abi/src/internal/file_objects.hpp"

#include <utility>

#include "abi/src/internal/growth.hpp"

hurray::Result<void> HurrayFileWriter::add(std::string_view name, const HurrayTensor& tensor) {
    hurray::abi::reserve_more(kept, 2 * tensor.buffers->slots.size());
    if (auto added = value->add(name, hurray::abi::core_tensor(tensor)); !added) return added;
    for (const HurrayBuffer* buffer : tensor.buffers->slots) {
        if (buffer->value.storage) kept.push_back(buffer->value.storage);
        if (buffer->context_owner) kept.push_back(hurray::Ref<hurray::Storage>::retain(buffer->context_owner.get()));
    }
    return {};
}

namespace hurray::abi {

Result<HurrayFile*> open_file(const char* path, const HurrayFileOptions* options) {
    auto chosen = read_sized_struct(options, sizeof(HurrayFileOptions), "options");
    if (!chosen) return std::unexpected(chosen.error());
    if (chosen->alignment > HURRAY_ALIGN_REQUIRE) {
        return fail(Status::invalid_argument, Error::no_offset, "options->alignment: expected 0 to %u, got %u",
                    HURRAY_ALIGN_REQUIRE, chosen->alignment);
    }
    if (chosen->reserved != 0) return fail(Status::invalid_argument, Error::no_offset, "options->reserved: expected 0");
    FileOptions core;
    core.format = static_cast<FileFormat>(chosen->format);
    core.alignment = static_cast<AlignmentPolicy>(chosen->alignment);
    core.header_limit = chosen->header_limit;
    auto opened = open_model_file(path, core);
    if (!opened) return std::unexpected(opened.error());
    return new HurrayFile(*std::move(opened));
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
    const auto entry = file.value->metadata(index);
    if (!entry) return std::unexpected(entry.error());
    HurrayFileMetadata result{};
    result.key = entry->key.data();
    result.key_length = entry->key.size();
    result.value = entry->value.text.data();
    result.value_length = entry->value.text.size();
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

}  // namespace hurray::abi
