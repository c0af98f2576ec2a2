// Model files, opened.
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/file.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Opens a model file and, unless the options say HURRAY_ACCESS_READ, maps it read-only; no tensor data is read. Every name,
/// type, shape and range is checked before the call returns (HURRAY_FORMAT_HRRY: descriptors when they are asked for). A mapped
/// file must not change while it, or a tensor of it, is in use: one that is cut raises SIGBUS in whoever reads it.
/// @param path file name, in the encoding of the operating system (UTF-8 on Windows and macOS)
/// @param options null: recognise the format, map, hand over unaligned data as it lies, the format's own limit of the header
/// @owner caller
/// @errors IO, NOT_FOUND, INVALID_FORMAT, LIMIT_EXCEEDED, UNSUPPORTED, INVALID_ARGUMENT
/// @thread any
/// @since 4
/// @spec format: file
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

/// Opens a model file whose bytes are in memory. Its tensors lie in that memory: nothing is copied but what would be of a file,
/// too. The memory must not change while the file, or a tensor of it, is in use.
/// @param buffer the whole file, of whichever copy of the library; shared
/// @param options as for hurray_file_open
/// @owner caller; `buffer` stays the caller's and may be destroyed at once
/// @errors those of hurray_file_open; UNSUPPORTED: memory that the CPU cannot read; INVALID_SYNC_MODE: not PRODUCER_SYNCED
/// @thread any
/// @since 4
/// @spec format: file
HURRAY_API HurrayStatus hurray_file_open_buffer(HG_IN const HurrayBuffer* buffer, HG_IN_OPT const HurrayFileOptions* options,
                                                HG_OUT_OWNED(hurray_file_destroy) HurrayFile** out_file,
                                                HG_ERROR HurrayError* error) noexcept {
    if (out_file != nullptr) *out_file = nullptr;
    HURRAY_REQUIRE_EXCHANGE(buffer, error);
    HURRAY_REQUIRE(out_file, error);
    return guarded(error, [&]() -> Result<void> {
        auto opened = open_file(buffer, options);
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

/// The name of a format, for messages: "safetensors", ".hrry", "GGUF", ".npy", ".npz"; "automatic" for HURRAY_FORMAT_AUTO and
/// "?" for a number that is no format.
/// @owner static storage
/// @thread any
/// @since 4
HURRAY_API HG_INFALLIBLE const char* hurray_format_name(uint32_t format) noexcept {
    return format_name(static_cast<FileFormat>(format));
}

/// Ends a file. Tensors that were made from it keep the mapping, or the memory, alive.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread any; of a file in memory: the thread that runs the memory's release, when the file has the last share of it
/// @since 4
HURRAY_API HurrayStatus hurray_file_destroy(HG_DESTROYED_VAR HurrayFile** file) noexcept {
    if (file == nullptr || *file == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*file, nullptr);
    return report_end(destroy_file(std::exchange(*file, nullptr), false), nullptr);
}

/// Ends a file on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_destroy_deferred(HG_DESTROYED_VAR HurrayFile** file, HG_ERROR HurrayError* error) noexcept {
    if (file == nullptr || *file == nullptr) return succeed(error);
    HURRAY_REQUIRE_HANDLE(*file, error);
    return report_end(destroy_file(std::exchange(*file, nullptr), true), error);
}
