// Tensors in all dense layouts, made and read by plain code: an element and a bit at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/hilbert_curve.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/tests/support.hpp"
#include "core/hurray/transcode/transcode.hpp"

namespace hurray::test {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

/// One level of tiles.
struct Tiles {
    Shape shape;
    std::uint8_t outer = layout_tag::row_major;
    std::uint8_t inner = layout_tag::row_major;
    Strides outer_strides = {};
    Strides inner_strides = {};
};

/// A dense layout of a tensor of a given shape, as a test writes it down.
struct DenseLayout {
    std::string name;
    std::uint8_t layout = layout_tag::row_major;
    Strides strides = {};
    std::vector<Tiles> tiles = {};
    std::vector<std::uint32_t> bits = {};

    [[nodiscard]] std::vector<TiledLevel> levels() const {
        std::vector<TiledLevel> all;
        for (const Tiles& t : tiles) all.push_back({t.shape, t.outer, t.inner, t.outer_strides, t.inner_strides});
        return all;
    }
};

inline Strides plain_strides(const Shape& shape, std::uint8_t layout) {
    Strides strides(shape.size());
    std::int64_t step = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::size_t k = layout == layout_tag::row_major ? shape.size() - 1 - i : i;
        strides[k] = step;
        step *= static_cast<std::int64_t>(shape[k]);
    }
    return strides;
}

inline std::int64_t dot(const std::uint64_t* index, const Strides& strides) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < strides.size(); ++k) sum += static_cast<std::int64_t>(index[k]) * strides[k];
    return sum;
}

/// The place in a grid of a plain order, or of strides. Takes no memory: it is asked for every element of many tensors.
inline std::int64_t in_grid(const std::uint64_t* index, std::span<const std::uint64_t> grid, std::uint8_t layout,
                            const Strides& strides) {
    if (layout == layout_tag::strided) return dot(index, strides);
    std::int64_t sum = 0;
    std::uint64_t step = 1;
    for (std::size_t i = 0; i < grid.size(); ++i) {
        const std::size_t k = layout == layout_tag::row_major ? grid.size() - 1 - i : i;
        sum += static_cast<std::int64_t>(index[k] * step);
        step *= grid[k];
    }
    return sum;
}

inline std::int64_t in_tiles(const std::uint64_t* index, const Shape& whole, const std::vector<Tiles>& tiles,
                             std::size_t level) {
    const Tiles& t = tiles[level];
    const std::size_t rank = whole.size();
    std::array<std::uint64_t, 8> grid;
    std::array<std::uint64_t, 8> tile;
    std::array<std::uint64_t, 8> inside;
    std::int64_t elements = 1;
    for (std::size_t k = 0; k < rank; ++k) {
        grid[k] = (whole[k] + t.shape[k] - 1) / t.shape[k];
        tile[k] = index[k] / t.shape[k];
        inside[k] = index[k] % t.shape[k];
        elements *= static_cast<std::int64_t>(t.shape[k]);
    }
    const std::int64_t outer =
        in_grid(tile.data(), std::span(grid).first(rank), t.outer, t.outer_strides) * elements;
    if (t.inner == layout_tag::tiled) return outer + in_tiles(inside.data(), t.shape, tiles, level + 1);
    return outer + in_grid(inside.data(), t.shape, t.inner, t.inner_strides);
}

/// The place of an element.
/// @param storage the shape, longer where blocks are padded
inline std::int64_t place_of(const DenseLayout& layout, const Shape& storage, const Shape& index) {
    switch (layout.layout) {
        case layout_tag::strided:
            return dot(index.data(), layout.strides);
        case layout_tag::tiled:
            return in_tiles(index.data(), storage, layout.tiles, 0);
        case layout_tag::morton: {
            std::int64_t code = 0;
            for (std::size_t d = 0; d < index.size(); ++d) {
                for (std::uint32_t b = 0; b < 64 && index[d] >> b != 0; ++b) {
                    if ((index[d] >> b & 1) != 0) code += std::int64_t{1} << (b * index.size() + d);
                }
            }
            return code;
        }
        case layout_tag::hilbert: {
            std::array<std::uint64_t, 8> x;
            std::ranges::copy(index, x.begin());
            std::uint32_t order = 0;
            while (storage[0] >> order != 1) ++order;
            return static_cast<std::int64_t>(hilbert_index(x.data(), static_cast<std::uint32_t>(index.size()), order));
        }
        default:
            return in_grid(index.data(), storage, layout.layout, {});
    }
}

template <typename Use>
void for_each_index(const Shape& shape, Use&& use) {
    Shape index(shape.size());
    for (const std::uint64_t size : shape) {
        if (size == 0) return;
    }
    while (true) {
        use(static_cast<const Shape&>(index));
        std::size_t k = shape.size();
        while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
        if (k == 0) return;
    }
}

/// Copies one element, bit by bit where it shares bytes. Positions are in bits.
inline void copy_bits(const std::byte* from, std::uint64_t from_bit, std::byte* to, std::uint64_t to_bit,
                      std::uint64_t bits) {
    if (bits % 8 == 0) {
        std::memcpy(to + to_bit / 8, from + from_bit / 8, bits / 8);
        return;
    }
    for (std::uint64_t b = 0; b < bits; ++b) {
        const unsigned bit = std::to_integer<unsigned>(from[(from_bit + b) / 8]) >> ((from_bit + b) % 8) & 1;
        const auto mask = static_cast<std::byte>(1U << ((to_bit + b) % 8));
        std::byte& byte = to[(to_bit + b) / 8];
        byte = bit != 0 ? byte | mask : byte & ~mask;
    }
}

/// An element type, a private one perhaps.
struct Type {
    std::uint8_t tag = float32;
    std::uint32_t private_bits = 0;

    [[nodiscard]] std::optional<ExtensionTypeFields> extension() const {
        if (private_bits == 0) return std::nullopt;
        return ExtensionTypeFields{.bit_width = private_bits,
                                   .packing_factor = static_cast<std::uint8_t>(private_bits < 8 ? 8 / private_bits : 1)};
    }
    [[nodiscard]] std::uint64_t bits() const { return private_bits != 0 ? private_bits : find_element_type(tag)->bits; }
    [[nodiscard]] std::uint64_t bytes(std::uint64_t count) const {
        if (bits() == 6) return (count + 3) / 4 * 3;
        return bits() < 8 ? (count * bits() + 7) / 8 : count * (bits() / 8);
    }
};

/// A buffer of exactly so many bytes of the heap, so that a sanitizer sees every access outside. Filled at random.
Buffer random_buffer(std::uint64_t size, Random& random);

/// How much room a layout takes.
struct RoomOf {
    std::uint64_t below = 0;
    std::uint64_t from_first = 0;
};
inline RoomOf room_of(const DenseLayout& layout, const Shape& storage) {
    for (const std::uint64_t size : storage) {
        if (size == 0) return {};
    }
    StridedReach reach;
    switch (layout.layout) {
        case layout_tag::strided:
            reach = strided_reach(storage, layout.strides);
            break;
        case layout_tag::tiled:
            reach = tiled_reach(storage, layout.levels());
            break;
        case layout_tag::morton: {
            const std::vector<std::uint64_t> wide(layout.bits.begin(), layout.bits.end());
            return {0, morton_room(storage, wide).value()};
        }
        default: {
            std::uint64_t count = 1;
            for (const std::uint64_t size : storage) count *= size;
            return {0, count};
        }
    }
    return {reach.below, reach.above + 1};
}

class HeapBytes final : public Storage {
  public:
    explicit HeapBytes(std::size_t size) : bytes_(new std::byte[size]) {}
    [[nodiscard]] std::byte* data() const { return bytes_.get(); }

  private:
    bool dispose() noexcept override {
        delete this;
        return true;
    }
    std::unique_ptr<std::byte[]> bytes_;
};

inline Buffer random_buffer(std::uint64_t size, Random& random) {
    Buffer buffer;
    buffer.handle.byte_size = size;
    if (size == 0) return buffer;
    auto* storage = new HeapBytes(size);
    for (std::uint64_t i = 0; i < size; ++i) storage->data()[i] = static_cast<std::byte>(random.next());
    buffer.data = storage->data();
    buffer.storage = Ref<Storage>::adopt(storage);
    return buffer;
}

inline void set_fields(DescriptorBuilder& builder, const DenseLayout& layout, const Shape& shape) {
    if (layout.layout == layout_tag::strided) builder.set_strides(layout.strides);
    if (layout.layout == layout_tag::tiled) builder.set_tiled(layout.levels());
    if (layout.layout == layout_tag::morton) builder.set_morton_bits(layout.bits);
    if (layout.layout == layout_tag::hilbert) {
        std::uint32_t order = 0;
        while (shape[0] >> order != 1) ++order;
        builder.set_hilbert(order);
    }
}

/// A tensor with random bytes, padding included.
/// @param gap bytes in front of all that the layout reaches
inline Tensor random_tensor(const Type& type, const Shape& shape, const DenseLayout& layout, std::uint64_t gap,
                            Random& random) {
    const RoomOf room = room_of(layout, shape);
    const std::uint64_t below = type.bytes(room.below);
    Buffer buffer = random_buffer(gap + below + type.bytes(room.from_first), random);
    DescriptorBuilder builder(type.tag, layout.layout, shape);
    builder.set_byte_offset(gap + below);
    set_fields(builder, layout, shape);
    if (const auto extension = type.extension()) builder.set_extension_type(*extension);
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto descriptor = builder.build();
    EXPECT_TRUE(descriptor.has_value()) << layout.name << ": " << (descriptor ? "" : descriptor.error().message);
    Tensor tensor{std::move(descriptor.value()), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

/// What the bytes of the copy shall be.
inline Bytes expected_copy(const Tensor& source, const DenseLayout& from, const Type& type, const DenseLayout& to) {
    const Shape shape(source.descriptor.shape().begin(), source.descriptor.shape().end());
    const RoomOf room = room_of(to, shape);
    const std::uint64_t below = type.bytes(room.below);
    Bytes bytes(below + type.bytes(room.from_first));
    const auto bits = static_cast<std::int64_t>(type.bits());
    for_each_index(shape, [&](const Shape& index) {
        const std::int64_t from_bit =
            static_cast<std::int64_t>(source.descriptor.byte_offset()) * 8 + place_of(from, shape, index) * bits;
        const std::int64_t to_bit = static_cast<std::int64_t>(below) * 8 + place_of(to, shape, index) * bits;
        copy_bits(source.buffers[0].data, static_cast<std::uint64_t>(from_bit), bytes.data(),
                  static_cast<std::uint64_t>(to_bit), type.bits());
    });
    return bytes;
}

/// The spec of a layout. Refers to `levels`, which it fills, and to the layout.
inline TranscodeSpec spec_of(const DenseLayout& layout, std::vector<TiledLevel>& levels) {
    levels = layout.levels();
    TranscodeSpec spec{.layout = layout.layout};
    spec.strides = layout.strides;
    spec.tiled = levels;
    spec.morton_bits = layout.bits;
    return spec;
}

inline bool same_bytes(const Buffer& buffer, const Bytes& expected) {
    return buffer.handle.byte_size == expected.size() &&
           (expected.empty() || std::memcmp(buffer.data, expected.data(), expected.size()) == 0);
}

}  // namespace hurray::test
