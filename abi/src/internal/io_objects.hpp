// What stands behind the handles of files and streams.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "abi/src/api/handles.hpp"
#include "abi/src/api/io.hpp"
#include "abi/src/internal/handle.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/safetensors.hpp"
#include "core/hurray/io/safetensors_writer.hpp"
#include "core/hurray/composite/composite_assembler.hpp"
#include "core/hurray/io/stream_reader.hpp"
#include "core/hurray/io/stream_writer.hpp"

struct HurrayFile final : hurray::abi::HandleBase<HURRAY_HANDLE_FILE> {
    explicit HurrayFile(hurray::SafetensorsFile opened) noexcept : value(std::move(opened)) {}

    hurray::SafetensorsFile value;
};

struct HurrayFileWriter final : hurray::abi::HandleBase<HURRAY_HANDLE_FILE_WRITER> {
    explicit HurrayFileWriter(hurray::SafetensorsWriter created) noexcept : value(std::move(created)) {}

    hurray::Result<void> add(std::string_view name, const HurrayTensor& tensor);

    hurray::SafetensorsWriter value;
    /// What the writer shares with the tensors that it was given: their memory, and the owners of the contexts that it
    /// came with. The writer holds references of its own, but cannot drop them in the deferred way.
    std::vector<hurray::Ref<hurray::Storage>> kept;
};

struct HurrayReader final : hurray::abi::HandleBase<HURRAY_HANDLE_READER> {
    HurrayReader(hurray::StreamReader reader, hurray::Mode reading) noexcept
        : value(std::move(reader)), assembler({.mode = reading}), mode(reading) {}

    hurray::StreamReader value;
    /// The composite that is open, for hurray_reader_next_item.
    hurray::CompositeAssembler assembler;
    /// What came of composites that are torn, in a permissive reader, the next one last.
    std::vector<hurray::Tensor> loose;
    hurray::Mode mode;
};

struct HurrayWriter final : hurray::abi::HandleBase<HURRAY_HANDLE_WRITER> {
    HurrayWriter(hurray::StreamWriter writer, hurray::MemorySink* sink) noexcept
        : value(std::move(writer)), memory(sink) {}

    hurray::StreamWriter value;
    /// The sink of `value` when that is memory, else null.
    hurray::MemorySink* memory;
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

Result<HurrayReader*> reader_from_fd(std::int32_t fd, const HurrayStreamOptions* options);
Result<HurrayReader*> reader_from_memory(const void* bytes, std::uint64_t length, const HurrayStreamOptions* options);
Result<HurrayWriter*> writer_to_fd(std::int32_t fd, const HurrayStreamOptions* options);
Result<HurrayWriter*> writer_to_memory();

/// What a memory writer has written so far, as a buffer of its own.
Result<HurrayBuffer*> take_written(HurrayWriter& writer);

}  // namespace hurray::abi
