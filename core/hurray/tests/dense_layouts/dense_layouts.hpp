// Reads vectors.json, which a program in Python made from the format's text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray::test {

using nlohmann::json;

inline const json& dense_vectors() {
    static const json parsed = [] {
        const Bytes text = read_file("core/hurray/tests/dense_layouts/vectors.json");
        const auto* begin = reinterpret_cast<const char*>(text.data());
        return json::parse(begin, begin + text.size());
    }();
    return parsed;
}

inline Bytes bytes_of(const json& entry) {
    const std::string hex = entry.at("bytes");
    Bytes bytes(hex.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    }
    return bytes;
}

/// Levels of tiles with the memory that they refer to.
class OwnedLevels {
  public:
    explicit OwnedLevels(const json& fields) {
        for (const json* level = &fields; !level->is_null(); level = &level->at("inner_tiled")) {
            levels_.push_back({.tile_shape = keep(shapes_, *level, "tile_shape"),
                               .outer_layout = level->at("outer_layout"),
                               .inner_layout = level->at("inner_layout"),
                               .outer_strides = keep(strides_, *level, "outer_strides"),
                               .inner_strides = keep(strides_, *level, "inner_strides")});
        }
    }
    OwnedLevels(const OwnedLevels&) = delete;
    OwnedLevels& operator=(const OwnedLevels&) = delete;
    [[nodiscard]] std::vector<TiledLevel>& levels() { return levels_; }

  private:
    template <typename T>
    static std::span<const T> keep(std::deque<std::vector<T>>& all, const json& level, const char* key) {
        return all.emplace_back(level.at(key).get<std::vector<T>>());
    }
    std::deque<std::vector<std::uint64_t>> shapes_;
    std::deque<std::vector<std::int64_t>> strides_;
    std::vector<TiledLevel> levels_;
};

/// A vector's builder with its layout's fields set and `buffer` added.
inline DescriptorBuilder builder_of(const json& entry, const BufferHandle& buffer) {
    const std::uint8_t layout = entry.at("layout_tag");
    DescriptorBuilder builder(entry.at("type_tag"), layout, entry.at("shape").get<std::vector<std::uint64_t>>());
    builder.set_byte_offset(entry.at("byte_offset"));
    const json& fields = entry.at("layout_fields");
    if (layout == layout_tag::tiled) {
        OwnedLevels owned(fields);
        builder.set_tiled(owned.levels());
    } else if (layout == layout_tag::morton) {
        builder.set_morton_bits(fields.at("morton_bits").get<std::vector<std::uint32_t>>());
    } else {
        builder.set_hilbert(fields.at("hilbert_order"));
    }
    EXPECT_TRUE(builder.add_buffer(buffer).has_value());
    return builder;
}

/// All indices of a shape in row-major order.
template <typename Use>
void for_each_index(std::span<const std::uint64_t> shape, Use&& use) {
    std::vector<std::uint64_t> index(shape.size());
    for (const std::uint64_t size : shape) {
        if (size == 0) return;
    }
    while (true) {
        use(std::span<const std::uint64_t>(index));
        std::size_t k = shape.size();
        while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
        if (k == 0) return;
    }
}

}  // namespace hurray::test
