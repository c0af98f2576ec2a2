// The tensors of a model file.
#include <cstddef>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/file.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/composite_objects.hpp"
#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/quoted.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Fills a struct with the name, type, shape and place of a tensor, without touching its data.
/// @param index below HurrayFileInfo.tensor_count; the order is that of the file's header or index
/// @owner the pointers in the struct belong to `file` and live until it is destroyed
/// @errors INDEX_OUT_OF_BOUNDS; INVALID_ARGUMENT: struct_size; HURRAY_FORMAT_HRRY, whose descriptors are read here: those of
///     hurray_descriptor_decode
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_tensor_info(HG_IN const HurrayFile* file, uint64_t index,
                                                HG_OUT HurrayFileTensorInfo* out_info, HG_ERROR HurrayError* error) noexcept {
    if (out_info != nullptr) clear_sized_struct(out_info);
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_info, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index("index", index, file->value->tensor_count()); !checked) return checked;
        auto info = file_tensor_info(*file, index);
        if (!info) return std::unexpected(info.error());
        return fill_sized_struct(out_info, *info, offsetof(HurrayFileTensorInfo, stored_type), "out_info");
    });
}

/// Finds a tensor by name.
/// @param name UTF-8, need not be terminated, may hold NUL characters
/// @param name_length length of the name in bytes
/// @errors NOT_FOUND
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_find(HG_IN const HurrayFile* file, HG_IN_ARRAY(name_length) const char* name,
                                         uint64_t name_length, HG_OUT uint64_t* out_index,
                                         HG_ERROR HurrayError* error) noexcept {
    if (out_index != nullptr) *out_index = 0;
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_index, error);
    if (name == nullptr && name_length != 0) return report_null("name", error);
    return guarded(error, [&]() -> Result<void> {
        const std::string_view wanted(name, static_cast<std::size_t>(name_length));
        const auto index = file->value->find(wanted);
        if (!index) {
            return fail(Status::not_found, Error::no_offset, "name: the file has no tensor %s", Quoted(wanted).c_str());
        }
        *out_index = *index;
        return {};
    });
}

/// The descriptor of a tensor, without touching its data. Where data that is not aligned is handed over as it lies
/// (HURRAY_ALIGN_OFFSET), the tensor's own may differ from it in byte_offset and in the size of buffer 0, by the bytes in front.
/// @owner caller; independent of the file
/// @errors INDEX_OUT_OF_BOUNDS; HURRAY_FORMAT_HRRY: those of hurray_descriptor_decode
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_descriptor(HG_IN const HurrayFile* file, uint64_t index,
                                               HG_OUT_OWNED(hurray_descriptor_destroy) HurrayDescriptor** out_descriptor,
                                               HG_ERROR HurrayError* error) noexcept {
    if (out_descriptor != nullptr) *out_descriptor = nullptr;
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_descriptor, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index("index", index, file->value->tensor_count()); !checked) return checked;
        auto descriptor = file->value->descriptor(index);
        if (!descriptor) return std::unexpected(descriptor.error());
        *out_descriptor = new HurrayDescriptor(*std::move(descriptor));
        return {};
    });
}

/// Where in the file the bytes of a tensor's buffer come from: for programs that read the file themselves, or ask a system to
/// fetch the range. What is repacked or compressed has its range as it lies there.
/// @param buffer below the number of buffers of the tensor's descriptor
/// @param out_offset bytes from the start of the file
/// @param out_size length of the range in bytes
/// @errors INDEX_OUT_OF_BOUNDS; HURRAY_FORMAT_HRRY: those of hurray_descriptor_decode
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_buffer_range(HG_IN const HurrayFile* file, uint64_t index, uint64_t buffer,
                                                 HG_OUT uint64_t* out_offset, HG_OUT uint64_t* out_size,
                                                 HG_ERROR HurrayError* error) noexcept {
    if (out_offset != nullptr) *out_offset = 0;
    if (out_size != nullptr) *out_size = 0;
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_offset, error);
    HURRAY_REQUIRE(out_size, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index("index", index, file->value->tensor_count()); !checked) return checked;
        const auto range = file->value->buffer_range(index, buffer);
        if (!range) return std::unexpected(range.error());
        *out_offset = range->offset;
        *out_size = range->size;
        return {};
    });
}

/// Makes a tensor over the mapped bytes, read-only. Nothing is copied, except where the file's form is not that of the format
/// (booleans of one byte each, blocks that are repacked, big-endian numbers, compressed data), where the options ask for aligned
/// copies, or where the file is not mapped; copies are counted in HurrayFileInfo.copied_bytes. Of a composite's head this is the
/// head alone: see hurray_file_composite.
/// @owner caller; the tensor keeps the mapping alive, also after the file is destroyed
/// @errors INDEX_OUT_OF_BOUNDS; MISALIGNED: under HURRAY_ALIGN_REQUIRE; INVALID_FORMAT: data that is none of its type, such as a
///     boolean that is neither 0 nor 1, or a file that was cut; UNSUPPORTED; IO: under HURRAY_ACCESS_READ; OUT_OF_MEMORY
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_tensor(HG_IN const HurrayFile* file, uint64_t index,
                                           HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                           HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index("index", index, file->value->tensor_count()); !checked) return checked;
        auto tensor = file->value->tensor(index);
        if (!tensor) return std::unexpected(tensor.error());
        auto handle = make_tensor(std::move(*tensor));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
}

/// Makes a composite of its head and all its members. (format: composite)
/// @param index of the head
/// @owner caller; it keeps the mapping alive, also after the file is destroyed
/// @errors those of hurray_file_tensor; INVALID_ARGUMENT: no head of a composite; INVALID_COMPOSITE
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_file_composite(HG_IN const HurrayFile* file, uint64_t index,
                                              HG_OUT_OWNED(hurray_composite_destroy) HurrayComposite** out_composite,
                                              HG_ERROR HurrayError* error) noexcept {
    if (out_composite != nullptr) *out_composite = nullptr;
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_composite, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index("index", index, file->value->tensor_count()); !checked) return checked;
        auto composite = file->value->composite(index);
        if (!composite) return std::unexpected(composite.error());
        *out_composite = new HurrayComposite(*std::move(composite));
        return {};
    });
}
