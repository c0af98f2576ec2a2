// Writing a model file of any supported format. A new format is a class of its own and one line in model_formats.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"
#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/metadata.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

struct FileWriterOptions {
    /// .hrry: alignment of every buffer in the file, a power of two from 4096 to 2 MiB; GGUF: a power of two, at least 8;
    /// 0: the default of the format (4096; 32). Others: 0 only.
    std::uint32_t data_alignment = 0;
    /// .hrry: sort the index by name, so that readers find names in O(log n) without a table of their own.
    bool sorted_index = true;
    /// .npz: compress with deflate.
    bool compress = false;
};

/// Makes the tensor that was announced; called at most once, on the thread of the call that writes it.
using TensorSource = std::function<Result<Tensor>()>;

/// Writes one file: add the tensors, set the metadata, finish. A target that is a path appears, or replaces the old file,
/// in one step at finish(); a writer that is destroyed without it leaves the old file and nothing else. The target may be
/// the very file that tensors are mapped from: they keep the old contents.
///
/// Formats that are written front to back (.hrry, .npz) write each tensor when it is added; the others keep shares of the
/// tensors' buffers until finish(). No copy of the model is made either way; what is gathered or converted goes through a
/// small buffer and is counted.
///
/// Thread rule: one thread at a time. After an error of writing (io) the writer can only be destroyed.
class ModelFileWriter {
public:
    ModelFileWriter(const ModelFileWriter&) = delete;
    ModelFileWriter& operator=(const ModelFileWriter&) = delete;
    virtual ~ModelFileWriter() = default;

    [[nodiscard]] virtual FileFormat format() const noexcept = 0;

    /// Whether shares of the tensors that are added are kept until finish(), instead of their being written at once.
    [[nodiscard]] virtual bool keeps_tensors() const noexcept { return true; }

    /// Errors: invalid_argument (a name that is taken or not fit for the format, invalid UTF-8, buffers that do not fit the
    /// descriptor, a writer that has finished), unsupported (what the format cannot hold; memory that the CPU cannot read),
    /// invalid_layout (a dynamic dimension), invalid_sync_mode (anything but PRODUCER_SYNCED), io.
    virtual Result<void> add(std::string_view name, const Tensor& tensor) = 0;

    /// Announces a tensor that is made when it is written, so that a large conversion needs no more memory than one tensor.
    /// `source` must give a tensor of the announced type, shape, layout and buffer sizes: anything else is
    /// invalid_argument. Errors: as add(), and those of the source, now or at finish(); after those the writer can only be
    /// destroyed, so that no file lacks a tensor that was announced.
    virtual Result<void> add(std::string_view name, const Descriptor& descriptor, TensorSource source) = 0;

    /// Adds a composite: its head as `name`, its members, in pre-order, as `name/0`, `name/1`, ..., `name/1/0`, ...
    /// Errors: unsupported: the format has no composites; as add().
    virtual Result<void> add_composite(std::string_view name, const Composite& composite);

    /// Sets a metadata entry; the last value of a key counts. Errors: invalid_argument (invalid UTF-8; an empty key where
    /// the format has none); unsupported (a type of value that the format cannot hold).
    virtual Result<void> set_metadata(std::string_view key, const MetadataValue& value) = 0;

    /// Writes what is left; a path: makes the file durable and moves it into place.
    virtual Result<void> finish() = 0;

    /// Bytes that were gathered, unpacked or converted on their way into the file so far.
    [[nodiscard]] virtual std::uint64_t copied_bytes() const noexcept = 0;

protected:
    ModelFileWriter() = default;
};

/// Starts a file beside `path`, in the same folder, without touching what is at `path`.
/// Errors: invalid_argument (no such format, options that are not the format's, a path as AtomicFile refuses it),
/// not_found, io.
Result<std::unique_ptr<ModelFileWriter>> create_model_file(std::string_view path, FileFormat format,
                                                           const FileWriterOptions& options = {});

/// Writes to any sink, front to back, never seeking. finish() ends the file and does not close the sink.
Result<std::unique_ptr<ModelFileWriter>> write_model_file(std::unique_ptr<ByteSink> sink, FileFormat format,
                                                          const FileWriterOptions& options = {});

}  // namespace hurray
