// Model files: opened by mapping, read without copying.
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/api/io.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/quoted.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

Result<void> check_index(std::uint64_t index, std::uint64_t length) {
    if (index >= length) {
        return fail(Status::index_out_of_bounds, Error::no_offset, "index: expected less than %llu, got %llu",
                    static_cast<unsigned long long>(length), static_cast<unsigned long long>(index));
    }
    return {};
}

}  // namespace

/// Opens a model file and maps it read-only; no tensor data is read. Every name, type, shape and range is checked
/// before the call returns. The file must not change while it, or a tensor of it, is in use: a mapped file that
/// is cut raises SIGBUS in whoever reads it.
/// @param path file name, in the encoding of the operating system (UTF-8 on Windows and macOS)
/// @param options null: recognise the format, hand over unaligned data as it lies, header limit 100,000,000 bytes
/// @owner caller
/// @errors IO, NOT_FOUND, INVALID_FORMAT, LIMIT_EXCEEDED, UNSUPPORTED, INVALID_ARGUMENT
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_open(HG_IN_STRING const char* path, HG_IN_OPT const HurrayFileOptions* options,
                                         HG_OUT_OWNED(hurray_file_destroy) HurrayFile** out_file,
                                         HG_ERROR HurrayError* error) noexcept {
    if (out_file != nullptr) *out_file = nullptr;
    HURRAY_REQUIRE(path, error);
    HURRAY_REQUIRE(out_file, error);
    return guarded(error, [&]() -> Result<void> {
        auto opened = open_file(path, options);
        if (!opened) return std::unexpected(opened.error());
        *out_file = *opened;
        return {};
    });
}

/// Fills a struct with facts about the file.
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_info(HG_IN const HurrayFile* file, HG_OUT HurrayFileInfo* out_info,
                                         HG_ERROR HurrayError* error) noexcept {
    if (out_info != nullptr) clear_sized_struct(out_info);
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_info, error);
    return guarded(error, [&]() -> Result<void> {
        return fill_sized_struct(out_info, file_info(*file), sizeof(HurrayFileInfo), "out_info");
    });
}

/// Fills a struct with the name, type, shape and place of a tensor, without touching its data.
/// @param index below HurrayFileInfo.tensor_count; the order is that of the file's header
/// @owner the pointers in the struct belong to `file` and live until it is destroyed
/// @errors INDEX_OUT_OF_BOUNDS, INVALID_ARGUMENT
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_tensor_info(HG_IN const HurrayFile* file, uint64_t index,
                                                HG_OUT HurrayFileTensorInfo* out_info, HG_ERROR HurrayError* error) noexcept {
    if (out_info != nullptr) clear_sized_struct(out_info);
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_info, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index(index, file->value->tensor_count()); !checked) return checked;
        auto info = file_tensor_info(*file, index);
        if (!info) return std::unexpected(info.error());
        return fill_sized_struct(out_info, *info, sizeof *info, "out_info");
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

/// Makes a tensor over the mapped bytes. Nothing is copied, except where the file's form is not that of the format
/// (booleans of one byte each) or the options ask for aligned copies; copies are counted in HurrayFileInfo.copied_bytes.
/// @owner caller; the tensor keeps the mapping alive, also after the file is destroyed
/// @errors INDEX_OUT_OF_BOUNDS; MISALIGNED: under HURRAY_ALIGN_REQUIRE; INVALID_FORMAT: a boolean is neither 0 nor 1;
///     UNSUPPORTED; OUT_OF_MEMORY
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_tensor(HG_IN const HurrayFile* file, uint64_t index,
                                           HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                           HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index(index, file->value->tensor_count()); !checked) return checked;
        auto tensor = file->value->tensor(index);
        if (!tensor) return std::unexpected(tensor.error());
        auto handle = make_tensor(std::move(*tensor));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
}

/// Fills a struct with one metadata entry.
/// @param index below HurrayFileInfo.metadata_count; entries are in the order of the file
/// @owner the pointers in the struct belong to `file` and live until it is destroyed
/// @errors INDEX_OUT_OF_BOUNDS, INVALID_ARGUMENT
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_metadata(HG_IN const HurrayFile* file, uint64_t index,
                                             HG_OUT HurrayFileMetadata* out_entry, HG_ERROR HurrayError* error) noexcept {
    if (out_entry != nullptr) clear_sized_struct(out_entry);
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_entry, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index(index, file->value->metadata_count()); !checked) return checked;
        auto entry = file_metadata(*file, index);
        if (!entry) return std::unexpected(entry.error());
        return fill_sized_struct(out_entry, *entry, sizeof *entry, "out_entry");
    });
}

/// Ends a file. Tensors that were made from it keep the mapping alive.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_destroy(HG_DESTROYED_VAR HurrayFile** file) noexcept {
    if (file == nullptr || *file == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*file, nullptr);
    retire(std::exchange(*file, nullptr));
    return HURRAY_OK;
}
