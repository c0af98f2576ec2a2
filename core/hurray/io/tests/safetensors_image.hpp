// Images of safetensors files, well-formed or not, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/hurray/memory/storage.hpp"

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

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Memory that keeps an image as long as somebody refers to it.
class ImageStorage final : public Storage {
public:
    explicit ImageStorage(std::string image) : image_(std::move(image)) {}

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_of(image_); }

private:
    bool dispose() noexcept override {
        delete this;
        return true;
    }

    std::string image_;
};

}  // namespace hurray
