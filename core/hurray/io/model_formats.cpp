// The table of formats: one line each. Everything else about a format is in its own folder.
#include <algorithm>
#include <array>
#include <utility>

#include "core/hurray/io/atomic_file.hpp"
#include "core/hurray/io/gguf/gguf_file.hpp"
#include "core/hurray/io/gguf/gguf_writer.hpp"
#include "core/hurray/io/hrry/hrry_file.hpp"
#include "core/hurray/io/hrry/hrry_writer.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/io/npy/npy_file.hpp"
#include "core/hurray/io/npy/npy_writer.hpp"
#include "core/hurray/io/npz/npz_file.hpp"
#include "core/hurray/io/npz/npz_writer.hpp"
#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/io/safetensors/safetensors_writer.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

/// Bytes at the start of a file that formats are recognised by.
constexpr std::size_t recognised_length = 16;

using Start = std::span<const std::byte>;

struct Format {
    FileFormat format;
    /// Whether a file that starts with these bytes is one, well-formed or not. There are fewer than recognised_length of
    /// them only when the file is shorter.
    bool (*recognises)(Start start, std::uint64_t file_size);
    Result<std::unique_ptr<ModelFile>> (*open)(FileBytes bytes, const FileOptions& options);
    Result<std::unique_ptr<ModelFileWriter>> (*write)(std::unique_ptr<ByteSink> sink, const FileWriterOptions& options);
};

// In the order in which they are tried: what has a magic number before what has none.
constexpr std::array<Format, 5> formats{{
    {FileFormat::hrry, recognises_hrry, open_hrry, write_hrry},
    {FileFormat::gguf, recognises_gguf, open_gguf, write_gguf},
    {FileFormat::npy, recognises_npy, open_npy, write_npy},
    {FileFormat::npz, recognises_npz, open_npz, write_npz},
    {FileFormat::safetensors, recognises_safetensors, open_safetensors, write_safetensors},
}};

const Format* find_format(FileFormat wanted) {
    for (const Format& format : formats) {
        if (format.format == wanted) return &format;
    }
    return nullptr;
}

const Format* recognise(Start start, std::uint64_t file_size) {
    for (const Format& format : formats) {
        if (format.recognises(start, file_size)) return &format;
    }
    return nullptr;
}

std::unexpected<Error> no_such_format(FileFormat format) {
    return fail(Status::invalid_argument, Error::no_offset, "format: no format has the number %u",
                static_cast<unsigned>(format));
}

}  // namespace

Result<std::unique_ptr<ModelFile>> open_model_bytes(FileBytes bytes, const FileOptions& options) {
    const Format* format = find_format(options.format);
    if (options.format == FileFormat::automatic) {
        std::array<std::byte, recognised_length> start{};
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(start.size(), bytes.size()));
        if (auto read = bytes.read(0, std::span(start).first(length)); !read) return std::unexpected(read.error());
        format = recognise(std::span(start).first(length), bytes.size());
        if (format == nullptr) {
            return fail(Status::invalid_format, 0, "the file is of no format that is known here (%llu bytes)",
                        static_cast<ull>(bytes.size()));
        }
    } else if (format == nullptr) {
        return no_such_format(options.format);
    }
    return format->open(std::move(bytes), options);
}

Result<std::unique_ptr<ModelFile>> open_model_file(std::string_view path, const FileOptions& options) {
    if (options.format != FileFormat::automatic && find_format(options.format) == nullptr) {
        return no_such_format(options.format);
    }
    auto bytes = FileBytes::open(path, options.access);
    if (!bytes) return std::unexpected(bytes.error());
    return open_model_bytes(*std::move(bytes), options);
}

Result<std::unique_ptr<ModelFileWriter>> write_model_file(std::unique_ptr<ByteSink> sink, FileFormat format,
                                                          const FileWriterOptions& options) {
    const Format* found = find_format(format);
    if (found == nullptr) return no_such_format(format);
    return found->write(std::move(sink), options);
}

Result<std::unique_ptr<ModelFileWriter>> create_model_file(std::string_view path, FileFormat format,
                                                           const FileWriterOptions& options) {
    if (find_format(format) == nullptr) return no_such_format(format);
    auto file = AtomicFile::create(path);
    if (!file) return std::unexpected(file.error());
    return write_model_file(*std::move(file), format, options);
}

}  // namespace hurray
