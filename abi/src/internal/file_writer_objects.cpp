#include <cstddef>
#include <cstdio>
#include <utility>

#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/growth.hpp"

hurray::Result<void> HurrayFileWriter::add(std::string_view name, const HurrayTensor& tensor) {
    const bool keeps = value->keeps_tensors();
    if (keeps) hurray::abi::reserve_more(kept, 2 * tensor.buffers->slots.size());
    {
        const hurray::BusyMark mark(busy);
        if (auto added = value->add(name, hurray::abi::core_tensor(tensor)); !added) return added;
    }
    if (!keeps) return {};
    for (const HurrayBuffer* buffer : tensor.buffers->slots) {
        if (buffer->value.storage) kept.push_back(buffer->value.storage);
        if (buffer->context_owner) kept.push_back(hurray::Ref<hurray::Storage>::retain(buffer->context_owner.get()));
    }
    return {};
}

hurray::Result<void> HurrayFileWriter::add_composite(std::string_view name, const hurray::Composite& composite) {
    if (value->keeps_tensors()) kept_composites.add(composite);
    const hurray::BusyMark mark(busy);
    return value->add_composite(name, composite);
}

namespace hurray::abi {
namespace {

using ull = unsigned long long;

FileWriterOptions core_options(const HurrayFileWriterOptions& options) {
    FileWriterOptions core;
    core.data_alignment = options.data_alignment;
    core.sorted_index = (options.flags & HURRAY_FILE_WRITER_UNSORTED_INDEX) == 0;
    core.compress = (options.flags & HURRAY_FILE_WRITER_COMPRESS) != 0;
    return core;
}

}  // namespace

Result<HurrayFileWriterOptions> read_writer_options(const HurrayFileWriterOptions* options) {
    auto chosen = read_sized_struct(options, sizeof(HurrayFileWriterOptions), "options");
    if (!chosen) return chosen;
    if ((chosen->flags & ~(HURRAY_FILE_WRITER_UNSORTED_INDEX | HURRAY_FILE_WRITER_COMPRESS)) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "options->flags: unknown bits 0x%x", chosen->flags);
    }
    return chosen;
}

Result<HurrayFileWriter*> create_writer(const char* path, const HurrayFileWriterOptions& options) {
    auto writer = create_model_file(path, static_cast<FileFormat>(options.format), core_options(options));
    if (!writer) return std::unexpected(writer.error());
    return new HurrayFileWriter(*std::move(writer));
}

Result<HurrayFileWriter*> writer_to_sink(std::unique_ptr<ByteSink> sink, const HurrayFileWriterOptions* options) {
    const auto chosen = read_writer_options(options);
    if (!chosen) return std::unexpected(chosen.error());
    auto writer = write_model_file(std::move(sink), static_cast<FileFormat>(chosen->format), core_options(*chosen));
    if (!writer) return std::unexpected(writer.error());
    return new HurrayFileWriter(*std::move(writer));
}

Result<MetadataValue> metadata_value(const HurrayFileMetadata& value, const char* parameter) {
    const auto given = read_sized_struct(&value, offsetof(HurrayFileMetadata, count), parameter);
    if (!given) return std::unexpected(given.error());
    if (given->reserved != 0) return fail(Status::invalid_argument, Error::no_offset, "%s->reserved: expected 0", parameter);
    MetadataValue result;
    result.type = static_cast<MetadataType>(given->type);
    switch (given->type) {
        case HURRAY_METADATA_STRING:
        case HURRAY_METADATA_BYTES:
            if (given->value == nullptr && given->value_length != 0) {
                return fail(Status::null_pointer, Error::no_offset, "%s->value: null, but value_length is %llu", parameter,
                            static_cast<ull>(given->value_length));
            }
            result.text.assign(given->value == nullptr ? "" : given->value, static_cast<std::size_t>(given->value_length));
            return result;
        case HURRAY_METADATA_INT64: result.int64 = given->int64_value; return result;
        case HURRAY_METADATA_UINT64: result.uint64 = given->uint64_value; return result;
        case HURRAY_METADATA_FLOAT64: result.float64 = given->float64_value; return result;
        case HURRAY_METADATA_BOOL:
            if (given->boolean > 1) {
                return fail(Status::invalid_argument, Error::no_offset, "%s->boolean: expected 0 or 1, got %u", parameter,
                            given->boolean);
            }
            result.boolean = given->boolean != 0;
            return result;
        default: break;
    }
    return fail(Status::invalid_argument, Error::no_offset, "%s->type: expected a HURRAY_METADATA_ value but an array, got %u",
                parameter, given->type);
}

Result<MetadataValue> metadata_array(std::uint8_t element_type, const HurrayFileMetadata* elements, std::uint64_t count) {
    if (element_type < HURRAY_METADATA_STRING || element_type >= HURRAY_METADATA_ARRAY) {
        return fail(Status::invalid_argument, Error::no_offset, "element_type: expected %u to %u, got %u",
                    HURRAY_METADATA_STRING, HURRAY_METADATA_BYTES, element_type);
    }
    MetadataValue result;
    result.type = MetadataType::array;
    result.element_type = static_cast<MetadataType>(element_type);
    const auto* at = reinterpret_cast<const std::byte*>(elements);
    const std::uint32_t step = count == 0 ? 0 : elements->struct_size;
    for (std::uint64_t i = 0; i < count; ++i, at += step) {
        const auto& element = *reinterpret_cast<const HurrayFileMetadata*>(at);
        char parameter[40];
        std::snprintf(parameter, sizeof parameter, "elements[%llu]", static_cast<ull>(i));
        if (element.struct_size != step) {
            return fail(Status::invalid_argument, Error::no_offset, "%s->struct_size: expected that of the first, %u, got %u",
                        parameter, step, element.struct_size);
        }
        auto value = metadata_value(element, parameter);
        if (!value) return value;
        if (element.type != element_type) {
            return fail(Status::invalid_argument, Error::no_offset, "%s->type: expected element_type %u, got %u", parameter,
                        element_type, element.type);
        }
        result.elements.push_back(*std::move(value));
    }
    return result;
}

bool drop_kept(HurrayFileWriter& writer) noexcept {
    bool clean = writer.clean;
    for (Ref<Storage>& reference : std::exchange(writer.kept, {})) clean = drop(reference.detach(), false) && clean;
    return KeptMemory::drop(std::exchange(writer.kept_composites, {}), false) && clean;
}

bool destroy_file_writer(HurrayFileWriter* writer, bool deferred) noexcept {
    std::vector<Ref<Storage>> kept = std::move(writer->kept);
    KeptMemory kept_composites = std::move(writer->kept_composites);
    retire(writer);
    bool clean = true;
    for (Ref<Storage>& reference : kept) clean = drop(reference.detach(), deferred) && clean;
    return KeptMemory::drop(std::move(kept_composites), deferred) && clean;
}

}  // namespace hurray::abi
