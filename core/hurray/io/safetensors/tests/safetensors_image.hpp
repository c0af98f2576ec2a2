// Images of safetensors files, well-formed or not, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/io/tests/image.hpp"

namespace hurray {

/// The header behind its length, then the data.
inline std::string safetensors_image(std::string_view header, std::string_view data) {
    const std::uint64_t length = header.size();
    std::string image(sizeof length, '\0');
    std::memcpy(image.data(), &length, sizeof length);
    image += header;
    image += data;
    return image;
}

/// The same with `data_size` bytes of data 0.
inline std::string safetensors_image(std::string_view header, std::size_t data_size) {
    return safetensors_image(header, std::string(data_size, '\0'));
}

/// Opens a file.
inline Result<std::unique_ptr<SafetensorsFile>> open_safetensors_file(std::string_view path, const FileOptions& options = {}) {
    auto bytes = FileBytes::open(path, options.access);
    if (!bytes) return std::unexpected(bytes.error());
    return SafetensorsFile::open(*std::move(bytes), options);
}

/// Opens an image that stays where it is.
inline Result<std::unique_ptr<SafetensorsFile>> open_safetensors_image(std::span<const std::byte> image,
                                                                       const FileOptions& options = {}) {
    return SafetensorsFile::open(FileBytes::over(image, {}), options);
}

/// The text of a metadata entry, if there is one.
inline std::optional<std::string_view> metadata_text(const ModelFile& file, std::string_view key) {
    const auto index = file.find_metadata(key);
    if (!index) return std::nullopt;
    return file.metadata(*index)->value.text;
}

}  // namespace hurray
