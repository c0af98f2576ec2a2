// What stands behind the handles of files and of their writers.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "abi/src/api/handles.hpp"
#include "abi/src/api/io.hpp"
#include "abi/src/internal/handle.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"

struct HurrayFile final : hurray::abi::HandleBase<HURRAY_HANDLE_FILE> {
    explicit HurrayFile(std::unique_ptr<hurray::ModelFile> opened) noexcept : value(std::move(opened)) {}

    std::unique_ptr<hurray::ModelFile> value;
};

struct HurrayFileWriter final : hurray::abi::HandleBase<HURRAY_HANDLE_FILE_WRITER> {
    explicit HurrayFileWriter(std::unique_ptr<hurray::ModelFileWriter> created) noexcept : value(std::move(created)) {}

    hurray::Result<void> add(std::string_view name, const HurrayTensor& tensor);

    std::unique_ptr<hurray::ModelFileWriter> value;
    /// What the writer shares with the tensors that it was given: their memory, and the owners of the contexts that it
    /// came with. The writer holds references of its own, but cannot drop them in the deferred way.
    std::vector<hurray::Ref<hurray::Storage>> kept;
};

namespace hurray::abi {

Result<HurrayFile*> open_file(const char* path, const HurrayFileOptions* options);
HurrayFileInfo file_info(const HurrayFile& file);
Result<HurrayFileTensorInfo> file_tensor_info(const HurrayFile& file, std::uint64_t index);
Result<HurrayFileMetadata> file_metadata(const HurrayFile& file, std::uint64_t index);

/// Drops what a writer shared. False: a callback threw an exception.
bool drop_all(std::vector<Ref<Storage>> kept, bool deferred) noexcept;

/// Ends a writer; deferred: releases that become due wait for a thread that consents. False: a callback threw an exception.
bool destroy_file_writer(HurrayFileWriter* writer, bool deferred) noexcept;

}  // namespace hurray::abi
