// Every dense layout to every other one, with elements of every width: compared with a copy made element by element.
#include <algorithm>

#include "core/hurray/transcode/tests/dense_oracle.hpp"

namespace hurray {
namespace {

using test::DenseLayout;
using test::Shape;
using test::Strides;
using test::Tiles;
using test::Type;

constexpr Type types[] = {{0x20}, {0x4A}, {0x48}, {0x44}, {0x40}, {0x01}, {0x03}, {0x17}, {0x46}, {0x51}, {0xF0, 24},
                          {0xF1, 1}, {0xF2, 4}, {0xF3, 72}, {0xF4, 256}};

std::uint32_t least_bits(std::uint64_t size) {
    std::uint32_t bits = 1;
    while (std::uint64_t{1} << bits < size) ++bits;
    return bits;
}

// Strides without overlap: the dimensions in some order, with gaps between them, some of them backwards.
Strides some_strides(const Shape& shape, test::Random& random, bool gaps) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
    Strides strides(shape.size());
    std::int64_t step = gaps ? random.between(1, 3) : 1;
    for (const std::size_t k : order) {
        strides[k] = random.below(2) == 0 ? step : -step;
        step = step * static_cast<std::int64_t>(std::max<std::uint64_t>(shape[k], 1)) + (gaps ? random.between(0, 2) : 0);
    }
    return strides;
}

Shape some_tile(const Shape& shape, test::Random& random, std::uint64_t multiple) {
    Shape tile;
    for (const std::uint64_t size : shape) {
        tile.push_back(multiple * (1 + random.below(std::min<std::uint64_t>(std::max<std::uint64_t>(size, 1), 9))));
    }
    return tile;
}

// Without overlap, so that they may be those of a target.
std::vector<DenseLayout> layouts_of(const Shape& shape, test::Random& random) {
    using namespace layout_tag;
    std::vector<DenseLayout> all = {{"row_major", row_major}};
    if (shape.empty()) return all;
    all.push_back({"col_major", col_major});
    all.push_back({"strided", strided, some_strides(shape, random, true)});
    all.push_back({"strided dense", strided, some_strides(shape, random, false)});
    all.push_back({"tiled", tiled, {}, {{some_tile(shape, random, 1)}}});
    all.push_back({"tiled by 4", tiled, {}, {{some_tile(shape, random, 4), col_major, row_major}}});
    all.push_back({"tiled, columns", tiled, {}, {{Shape(shape.size(), 8), row_major, col_major}}});
    const Shape small(shape.size(), 2);
    Shape large = some_tile(shape, random, 2);
    all.push_back({"tiled twice", tiled, {}, {{large, col_major, tiled}, {small, row_major, col_major}}});
    Shape larger = large;
    for (std::uint64_t& size : larger) size *= 3;
    all.push_back({"tiled three times",
                   tiled,
                   {},
                   {{larger, row_major, tiled}, {large, col_major, tiled}, {small, row_major, row_major}}});
    {
        const Shape tile = some_tile(shape, random, 1);
        Shape grid;
        for (std::size_t k = 0; k < shape.size(); ++k) grid.push_back((shape[k] + tile[k] - 1) / tile[k]);
        all.push_back({"tiled, strides",
                       tiled,
                       {},
                       {{tile, strided, strided, some_strides(grid, random, true), some_strides(tile, random, false)}}});
    }
    std::vector<std::uint32_t> bits;
    for (const std::uint64_t size : shape) bits.push_back(least_bits(size));
    const auto most = *std::ranges::max_element(bits);
    if (most * shape.size() <= 20) {
        all.push_back({"morton", morton, {}, {}, bits});
        bits[0] += 1;
        all.push_back({"morton with a bit more", morton, {}, {}, bits});
    }
    const std::uint64_t side = shape[0];
    if (shape.size() >= 2 && side >= 2 && (side & (side - 1)) == 0 &&
        std::ranges::count(shape, side) == static_cast<std::ptrdiff_t>(shape.size())) {
        all.push_back({"hilbert", hilbert});
    }
    return all;
}

// Those that only a source may have.
std::vector<DenseLayout> sources_of(const Shape& shape, test::Random& random) {
    using namespace layout_tag;
    std::vector<DenseLayout> all;
    if (shape.empty()) return all;
    Strides broadcast = some_strides(shape, random, false);
    broadcast[random.below(shape.size())] = 0;
    all.push_back({"broadcast", strided, broadcast});
    all.push_back({"all one element", strided, Strides(shape.size(), 0)});
    Strides overlapping(shape.size(), 1);
    overlapping[0] = -1;
    all.push_back({"overlapping", strided, overlapping});
    all.push_back(
        {"tiles of one", tiled, {}, {{some_tile(shape, random, 1), strided, row_major, Strides(shape.size(), 0)}}});
    return all;
}

// Compares one copy with the oracle's.
void check(const Type& type, const Shape& shape, const DenseLayout& from, const DenseLayout& to, std::uint64_t gap,
           test::Random& random) {
    SCOPED_TRACE(testing::Message() << from.name << " to " << to.name << ", type " << int{type.tag} << ", shape "
                                    << testing::PrintToString(shape) << ", gap " << gap);
    const Tensor source = test::random_tensor(type, shape, from, gap, random);
    std::vector<TiledLevel> levels;
    const auto result = transcode(source, test::spec_of(to, levels));
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->buffers.size(), 1U);
    EXPECT_EQ(result->descriptor.buffers()[0], result->buffers[0].handle);
    EXPECT_EQ(result->descriptor.layout(), to.layout);
    EXPECT_EQ(result->descriptor.element_type(), type.tag);
    EXPECT_TRUE(std::ranges::equal(result->descriptor.shape(), shape));
    EXPECT_EQ(extension_type_fields(result->descriptor), type.extension());
    ASSERT_TRUE(test::same_bytes(result->buffers[0], test::expected_copy(source, from, type, to)));
}

class EveryPair : public testing::TestWithParam<Shape> {};

TEST_P(EveryPair, IsCopiedElementByElement) {
    const Shape& shape = GetParam();
    test::Random random(shape.size() * 1000 + (shape.empty() ? 0 : shape[0]));
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    // Pairs of every type where that does not take long, else every pair with some type.
    const bool all_types = count <= 32;
    for (const Type& each : types) {
        if (!all_types && &each != types) break;
        const auto targets = layouts_of(shape, random);
        auto sources = layouts_of(shape, random);
        for (DenseLayout& more : sources_of(shape, random)) sources.push_back(std::move(more));
        for (const DenseLayout& from : sources) {
            for (const DenseLayout& to : targets) {
                if (all_types && random.below(8) != 0) continue;
                const Type& type = all_types ? each : types[random.below(std::size(types))];
                check(type, shape, from, to, random.below(3) * (1 + random.below(40)), random);
                if (HasFatalFailure()) return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryPair,
                         testing::Values(Shape{}, Shape{1}, Shape{7}, Shape{1000}, Shape{0}, Shape{1, 1}, Shape{5, 3},
                                         Shape{3, 0}, Shape{2, 2}, Shape{16, 16}, Shape{37, 45}, Shape{1, 200}, Shape{70, 2},
                                         Shape{2, 2, 2}, Shape{4, 4, 4}, Shape{9, 4, 7}, Shape{0, 4, 7}, Shape{1, 40, 1},
                                         Shape{3, 4, 5, 2}, Shape{4, 4, 4, 4}, Shape{2, 1, 3, 1, 4}, Shape{3, 3, 3, 3, 3},
                                         Shape{2, 2, 2, 2, 2}, Shape{2, 2, 2, 2, 2, 2}));

// Larger than the blocks in which copies are made.
TEST(LargePairs, AreCopiedElementByElement) {
    test::Random random(5);
    for (const Shape& shape : {Shape{70, 257}, Shape{128, 128}, Shape{13, 35, 37}, Shape{16, 16, 16}, Shape{20000},
                               Shape{8, 8, 8, 8}, Shape{4, 4, 4, 4, 4}, Shape{1031, 40}}) {
        const auto targets = layouts_of(shape, random);
        const auto sources = layouts_of(shape, random);
        for (const DenseLayout& from : sources) {
            for (const DenseLayout& to : targets) {
                if (random.below(8) != 0) continue;
                check(types[random.below(std::size(types))], shape, from, to, 0, random);
                if (HasFatalFailure()) return;
            }
        }
    }
}

// Tiles that are no multiple of the tiles in them, which are read as they are. No builder makes them.
TEST(Misfits, AreReadAsTheyAre) {
    test::Random random(6);
    const Shape shape = {13, 11};
    const auto tiles_of = [](Shape inner) {
        return DenseLayout{"misfit",
                           layout_tag::tiled,
                           {},
                           {{{6, 4}, layout_tag::row_major, layout_tag::tiled}, {std::move(inner), layout_tag::col_major}}};
    };
    const Type type{0x11};
    const Buffer buffer = test::random_buffer(4096, random);
    DescriptorBuilder builder(type.tag, layout_tag::tiled, shape);
    const DenseLayout fits = tiles_of({3, 2});
    builder.set_tiled(fits.levels());
    ASSERT_TRUE(builder.add_buffer(buffer.handle).has_value());
    test::Bytes bytes = test::encoded(builder.build().value());
    // tile_shape of level 2 lies behind the header, the shape, byte_offset and level 1.
    constexpr std::size_t inner_at = 20 + 16 + 8 + 20;
    ASSERT_EQ(bytes[inner_at], std::byte{3});
    ASSERT_EQ(bytes[inner_at + 8], std::byte{2});
    for (const Shape& inner : {Shape{4, 3}, Shape{4, 2}, Shape{12, 3}, Shape{5, 5}}) {
        bytes[inner_at] = static_cast<std::byte>(inner[0]);
        bytes[inner_at + 8] = static_cast<std::byte>(inner[1]);
        Tensor source{test::decode_exact(bytes).value(), {buffer}};
        const DenseLayout from = tiles_of(inner);
        for (const DenseLayout& to : layouts_of(shape, random)) {
            SCOPED_TRACE(to.name + ", tiles of " + testing::PrintToString(inner));
            std::vector<TiledLevel> levels;
            const auto result = transcode(source, test::spec_of(to, levels));
            ASSERT_TRUE(result) << result.error().message;
            ASSERT_TRUE(test::same_bytes(result->buffers[0], test::expected_copy(source, from, type, to)));
        }
    }
}

}  // namespace
}  // namespace hurray
