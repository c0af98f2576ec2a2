// float32 between row-major and the other dense layouts, both ways, against memcpy over the same bytes.
#include <bit>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/transcode/dense_copy.hpp"
#include "tools/bench/measure.hpp"

namespace hurray::bench {
namespace {

constexpr std::uint8_t float32 = 0x03;

struct Case {
    const char* name;
    std::size_t rank;
    std::uint8_t layout;
    /// Side of the tiles, and their order.
    std::uint64_t tile = 0;
    std::uint8_t inner = 0;
    double at_least;
};

constexpr Case cases[] = {
    {"col_major_2d", 2, layout_tag::col_major, 0, 0, 0.1},
    {"tiled_32x32", 2, layout_tag::tiled, 32, layout_tag::row_major, 0.4},
    {"tiled_8x8", 2, layout_tag::tiled, 8, layout_tag::row_major, 0.4},
    {"tiled_64x64", 2, layout_tag::tiled, 64, layout_tag::row_major, 0.4},
    {"tiled_16x16_columns", 2, layout_tag::tiled, 16, layout_tag::col_major, 0.1},
    {"tiled_8x8x8", 3, layout_tag::tiled, 8, layout_tag::row_major, 0.4},
    {"morton_2d", 2, layout_tag::morton, 0, 0, 0.1},
    {"morton_3d", 3, layout_tag::morton, 0, 0, 0.1},
    {"hilbert_2d", 2, layout_tag::hilbert, 0, 0, 0.1},
    {"hilbert_3d", 3, layout_tag::hilbert, 0, 0, 0.1},
};

// The largest cube that fits, so that the curves can be laid through it.
std::uint32_t order_of(std::size_t bytes, std::size_t rank) {
    return static_cast<std::uint32_t>((std::bit_width(bytes / sizeof(float)) - 1) / static_cast<int>(rank));
}

AddressMap map_of(const Case& what, std::uint8_t layout, std::uint32_t order, std::uint64_t byte_size) {
    const std::vector<std::uint64_t> shape(what.rank, std::uint64_t{1} << order);
    DescriptorBuilder builder(float32, layout, shape);
    const std::vector<std::uint64_t> tile(what.rank, what.tile);
    const TiledLevel level{.tile_shape = tile, .inner_layout = what.inner};
    if (layout == layout_tag::tiled) builder.set_tiled({&level, 1});
    if (layout == layout_tag::morton) builder.set_morton_bits(std::vector<std::uint32_t>(what.rank, order));
    if (layout == layout_tag::hilbert) builder.set_hilbert(order);
    require(builder.add_buffer({.byte_size = byte_size}));
    const auto descriptor = builder.build();
    require(descriptor);
    auto map = AddressMap::make(*descriptor);
    require(map);
    return std::move(*map);
}

void transcode(benchmark::State& state, const Case& what, bool back, std::size_t bytes) {
    const std::uint32_t order = order_of(bytes, what.rank);
    const std::size_t size = sizeof(float) << (order * what.rank);
    // Smoke tests have tensors that are smaller than a tile.
    std::size_t stored = 1;
    for (std::size_t k = 0; k < what.rank; ++k) stored *= std::max<std::size_t>(what.tile, std::size_t{1} << order);
    stored *= sizeof(float);
    const AddressMap plain = map_of(what, layout_tag::row_major, order, size);
    const AddressMap other = map_of(what, what.layout, order, stored);
    const AddressMap& from = back ? other : plain;
    const AddressMap& to = back ? plain : other;
    const Bytes input(stored);
    Bytes output(stored);
    const WorkOptions options;
    compare_with_memcpy(state, input.span().first(size), output.span().first(size), what.at_least, [&] {
        Work work(options, size);
        require(copy_dense(from, input.data(), to, output.data(), work));
    });
}

}  // namespace

void add_benchmarks(std::span<const std::size_t> output_sizes) {
    for (const std::size_t size : output_sizes) {
        for (const Case& what : cases) {
            for (const bool back : {false, true}) {
                add(std::string("transcode/") + (back ? what.name : "row_major") + "/to_" +
                        (back ? "row_major" : what.name) + "/" + size_name(size),
                    [&what, back, size](benchmark::State& state) { transcode(state, what, back, size); });
            }
        }
    }
}

}  // namespace hurray::bench
