// Files in memory, for tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/hurray/memory/storage.hpp"

namespace hurray {

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
