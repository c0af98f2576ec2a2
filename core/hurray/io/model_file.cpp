#include "core/hurray/io/model_file.hpp"

#include "core/hurray/io/model_file_writer.hpp"

namespace hurray {

using ull = unsigned long long;

// Not in the table of model_formats.cpp: a program that uses one format only need not link them all.
const char* format_name(FileFormat format) noexcept {
    switch (format) {
        case FileFormat::automatic: return "automatic";
        case FileFormat::safetensors: return "safetensors";
        case FileFormat::hrry: return ".hrry";
        case FileFormat::gguf: return "GGUF";
        case FileFormat::npy: return ".npy";
        case FileFormat::npz: return ".npz";
    }
    return "?";
}

Result<std::shared_ptr<const Composite>> ModelFile::composite(std::uint64_t index) const {
    const auto info = tensor_info(index);
    if (!info) return std::unexpected(info.error());
    return fail(Status::invalid_argument, Error::no_offset,
                "tensor %llu: expected the head of a composite; a %s file has none", static_cast<ull>(index),
                format_name(format()));
}

Result<MetadataView> ModelFile::metadata_element(std::uint64_t index, std::uint64_t) const {
    const auto entry = metadata(index);
    if (!entry) return std::unexpected(entry.error());
    return fail(Status::invalid_argument, Error::no_offset, "metadata entry %llu: expected an array",
                static_cast<ull>(index));
}

Result<void> ModelFileWriter::add_composite(std::string_view, const Composite&) {
    return fail(Status::unsupported, Error::no_offset, "a %s file cannot hold a composite", format_name(format()));
}

}  // namespace hurray
