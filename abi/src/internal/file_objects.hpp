// What stands behind the handles of files and of their writers.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "abi/src/api/file.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/composite_objects.hpp"
#include "abi/src/internal/handle.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/busy.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"

struct HurrayFile final : hurray::abi::HandleBase<HURRAY_HANDLE_FILE> {
    explicit HurrayFile(std::unique_ptr<hurray::ModelFile> opened, hurray::Ref<hurray::Storage> memory = {}) noexcept
        : kept(std::move(memory)), value(std::move(opened)) {}

    /// The memory of a file that is in some: a reference of its own, since the core's cannot be dropped in the deferred way.
    hurray::Ref<hurray::Storage> kept;
    std::unique_ptr<hurray::ModelFile> value;
};

struct HurrayFileWriter final : hurray::abi::HandleBase<HURRAY_HANDLE_FILE_WRITER> {
    explicit HurrayFileWriter(std::unique_ptr<hurray::ModelFileWriter> created) noexcept : value(std::move(created)) {}

    hurray::Result<void> add(std::string_view name, const HurrayTensor& tensor);
    hurray::Result<void> add_composite(std::string_view name, const hurray::Composite& composite);

    /// Set while a call runs: then its callbacks find the door shut.
    bool busy = false;
    /// Whether no release of a tensor that was announced threw an exception. Outlives `value`, which may hold such tensors.
    bool clean = true;
    std::unique_ptr<hurray::ModelFileWriter> value;
    /// What the writer shares with the tensors that it was given: their memory, and the owners of the contexts that it
    /// came with. The writer holds references of its own, but cannot drop them in the deferred way.
    std::vector<hurray::Ref<hurray::Storage>> kept;
    hurray::abi::KeptMemory kept_composites;
};

namespace hurray::abi {

/// Fails with index_out_of_bounds.
Result<void> check_index(const char* parameter, std::uint64_t index, std::uint64_t length);

Result<HurrayFile*> open_file(const char* path, const HurrayFileOptions* options);
/// @param buffer of whichever copy of the library
Result<HurrayFile*> open_file(const HurrayBuffer* buffer, const HurrayFileOptions* options);
HurrayFileInfo file_info(const HurrayFile& file);
Result<HurrayFileTensorInfo> file_tensor_info(const HurrayFile& file, std::uint64_t index);
Result<HurrayFileMetadata> file_metadata(const HurrayFile& file, std::uint64_t index);
/// Without a key.
HurrayFileMetadata metadata_struct(const MetadataView& value);

/// Ends a file; false: a callback threw an exception.
bool destroy_file(HurrayFile* file, bool deferred) noexcept;

Result<HurrayFileWriterOptions> read_writer_options(const HurrayFileWriterOptions* options);
/// @param options as read_writer_options gave them
Result<HurrayFileWriter*> create_writer(const char* path, const HurrayFileWriterOptions& options);
Result<HurrayFileWriter*> writer_to_sink(std::unique_ptr<ByteSink> sink, const HurrayFileWriterOptions* options);

/// What a caller gave as a value of metadata.
/// Errors: invalid_argument (no such type, an array, a boolean that is none), null_pointer.
Result<MetadataValue> metadata_value(const HurrayFileMetadata& value, const char* parameter);
/// @param elements `count` structs, each as far from the last as its struct_size says
Result<MetadataValue> metadata_array(std::uint8_t element_type, const HurrayFileMetadata* elements, std::uint64_t count);

/// Drops what a writer shared. False: a callback threw an exception, also earlier.
bool drop_kept(HurrayFileWriter& writer) noexcept;

/// Ends a writer; deferred: releases that become due wait for a thread that consents. False: a callback threw an exception.
bool destroy_file_writer(HurrayFileWriter* writer, bool deferred) noexcept;

}  // namespace hurray::abi

/// Returns HURRAY_ERR_INVALID_ARGUMENT from the enclosing function while another call of the writer runs.
#define HURRAY_REQUIRE_IDLE(writer, out_error)                                                                            \
    do {                                                                                                                  \
        if ((writer)->busy) {                                                                                             \
            return ::hurray::abi::report(                                                                                 \
                ::hurray::make_error(::hurray::Status::invalid_argument, ::hurray::Error::no_offset,                      \
                                     "%s: a call of it is running: its callback may not use it", #writer), out_error);    \
        }                                                                                                                 \
    } while (false)
