// Images of GGUF files, well-formed or not, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hurray/io/gguf/gguf_file.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/tests/image.hpp"

namespace hurray {

template <typename T>
std::string le(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}
inline std::string u32(std::uint32_t value) {
    return le(value);
}
inline std::string u64(std::uint64_t value) {
    return le(value);
}
inline std::string gguf_text(std::string_view text) {
    return u64(text.size()) + std::string(text);
}

/// A file, part by part.
struct GgufImage {
    std::uint32_t version = 3;
    /// Entries and infos as they are in the file.
    std::vector<std::string> metadata = {};
    std::vector<std::string> tensors = {};
    std::string data = {};
    std::uint64_t alignment = 32;
    std::optional<std::uint64_t> tensor_count = {};
    std::optional<std::uint64_t> metadata_count = {};

    [[nodiscard]] std::string header() const {
        std::string image = "GGUF" + u32(version) + u64(tensor_count.value_or(tensors.size())) +
                            u64(metadata_count.value_or(metadata.size()));
        for (const auto& entry : metadata) image += entry;
        for (const auto& info : tensors) image += info;
        return image;
    }
    [[nodiscard]] std::string bytes() const {
        std::string image = header();
        if (alignment != 0) image.resize((image.size() + alignment - 1) / alignment * alignment);
        return image + data;
    }
};

/// A metadata entry: key, type, the value's bytes.
inline std::string gguf_entry(std::string_view key, std::uint32_t type, std::string_view value) {
    return gguf_text(key) + u32(type) + std::string(value);
}

/// A tensor info; dimensions as in the file, the innermost first.
inline std::string gguf_info(std::string_view name, const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                             std::uint64_t offset) {
    std::string info = gguf_text(name) + u32(static_cast<std::uint32_t>(dimensions.size()));
    for (const auto dimension : dimensions) info += u64(dimension);
    return info + u32(type) + u64(offset);
}

/// A file with one tensor "t".
inline std::string gguf_image_of(const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                                 std::string_view data) {
    return GgufImage{.tensors = {gguf_info("t", dimensions, type, 0)}, .data = std::string(data)}.bytes();
}

/// Opens a file.
inline Result<std::unique_ptr<GgufFile>> open_gguf_file(std::string_view path, const FileOptions& options = {}) {
    auto bytes = FileBytes::open(path, options.access);
    if (!bytes) return std::unexpected(bytes.error());
    return GgufFile::open(*std::move(bytes), options);
}

/// Opens an image that stays where it is.
inline Result<std::unique_ptr<GgufFile>> open_gguf_image(std::string_view image, const FileOptions& options = {}) {
    return GgufFile::open(FileBytes::over(bytes_of(image), {}), options);
}

}  // namespace hurray
