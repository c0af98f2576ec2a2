// Requirements: walking in storage order meets every element once, none that does not exist, and memory forwards.
#include "core/hurray/layout/storage_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <set>

#include "core/hurray/layout/morton.hpp"
#include "core/hurray/tests/dense_layouts/dense_layouts.hpp"

namespace {
// Counts what the test itself allocates, to see that a walk does not.
std::uint64_t allocations = 0;
}  // namespace

// Not inlined: the compiler would take the pair for one of malloc and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace hurray {
namespace {

using test::json;
using Shape = std::vector<std::uint64_t>;

// Walks through a tensor and compares with the map: every element once, each where the map has it.
std::vector<std::int64_t> walk(const AddressMap& map) {
    std::set<Shape> seen;
    std::vector<std::int64_t> offsets;
    for_each_in_storage_order(map, [&](std::int64_t offset, std::span<const std::uint64_t> index) {
        for (std::size_t k = 0; k < index.size(); ++k) EXPECT_LT(index[k], map.shape()[k]);
        EXPECT_TRUE(seen.emplace(index.begin(), index.end()).second);
        EXPECT_EQ(map.offset(index.data()), offset);
        offsets.push_back(offset);
    });
    EXPECT_EQ(seen.size(), map.element_count());
    return offsets;
}

TEST(StorageOrder, MeetsEveryElementOfTheVectorsOnce) {
    for (const json& entry : test::dense_vectors().at("valid")) {
        if (!entry.contains("offsets")) continue;
        SCOPED_TRACE(entry.at("name").get<std::string>());
        const AddressMap map = AddressMap::make(test::decode_exact(test::bytes_of(entry)).value()).value();
        const auto offsets = walk(map);
        // Memory forwards, but where tiles reach into each other.
        const std::string name = entry.at("name");
        if (name != "tiled_misfit_is_read" && name != "tiled_inner_strides_wide" &&
            name != "tiled_inner_strides_negative" && name != "tiled_outer_broadcast") {
            EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
        }
    }
}

TEST(StorageOrder, StridesOfAnySign) {
    const auto map = [](Shape shape, std::vector<std::int64_t> strides, std::uint64_t byte_offset, std::uint8_t type = test::uint8) {
        return AddressMap::make(test::build({.type = type,
                                             .layout = layout_tag::strided,
                                             .shape = std::move(shape),
                                             .strides = std::move(strides),
                                             .byte_offset = byte_offset,
                                             .buffers = {{.byte_size = 4096}}})
                                    .value())
            .value();
    };
    EXPECT_EQ(walk(map({2, 3}, {3, 1}, 0)), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(walk(map({2, 3}, {1, 2}, 0)), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(walk(map({2, 3}, {-3, 1}, 64)), (std::vector<std::int64_t>{-3, -2, -1, 0, 1, 2}));
    EXPECT_EQ(walk(map({2, 3}, {3, -1}, 64)), (std::vector<std::int64_t>{-2, -1, 0, 1, 2, 3}));
    EXPECT_EQ(walk(map({2, 3}, {-1, -2}, 64, test::boolean)), (std::vector<std::int64_t>{-5, -4, -3, -2, -1, 0}));
    EXPECT_EQ(walk(map({2, 3}, {0, 1}, 0)), (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2}));
    EXPECT_EQ(walk(map({2, 2}, {0, 0}, 0)), (std::vector<std::int64_t>{0, 0, 0, 0}));
    EXPECT_EQ(walk(map({1, 3, 1}, {100, -7, -(1LL << 62)}, 64)), (std::vector<std::int64_t>{-14, -7, 0}));
}

TEST(StorageOrder, ScalarsAndEmptyTensors) {
    const AddressMap scalar = AddressMap::make(test::build({.buffers = {{.byte_size = 4}}}).value()).value();
    EXPECT_EQ(walk(scalar), std::vector<std::int64_t>{0});
    StorageOrder order(scalar);
    StorageRun run;
    EXPECT_TRUE(order.next(run));
    EXPECT_EQ(run.count, 1U);
    EXPECT_FALSE(order.next(run));
    EXPECT_FALSE(order.next(run));
    for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
        const auto empty = test::build({.layout = layout, .shape = {3, 0}, .buffers = {{.byte_size = 0}}}).value();
        const AddressMap map = AddressMap::make(empty).value();
        EXPECT_TRUE(walk(map).empty());
        StorageOrder none(map);
        EXPECT_FALSE(none.next(run));
        EXPECT_FALSE(none.next(run));
    }
}

TEST(StorageOrder, RunsAreAsLongAsTheFastestLoop) {
    const AddressMap map =
        AddressMap::make(test::build({.shape = {2, 100, 1}, .buffers = {{.byte_size = 800}}}).value()).value();
    StorageOrder order(map);
    StorageRun run;
    for (std::int64_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(order.next(run));
        EXPECT_EQ(run.offset, 100 * i);
        EXPECT_EQ(run.count, 100U);
        EXPECT_EQ(run.stride, 1);
        EXPECT_EQ(run.dimension, 1U);
        EXPECT_FALSE(run.descending);
        EXPECT_EQ(order.index()[0], static_cast<std::uint64_t>(i));
    }
    EXPECT_FALSE(order.next(run));
}

TEST(StorageOrder, DoesNotAllocateWhileItWalks) {
    for (const json& entry : test::dense_vectors().at("valid")) {
        if (!entry.contains("offsets")) continue;
        const AddressMap map = AddressMap::make(test::decode_exact(test::bytes_of(entry)).value()).value();
        StorageOrder order(map);
        StorageRun run;
        std::int64_t sum = 0;
        const std::uint64_t before = allocations;
        while (order.next(run)) {
            for (std::uint64_t i = 0; i < run.count; ++i) sum += run.offset + static_cast<std::int64_t>(i) * run.stride;
            sum -= map.offset(order.index().data());
        }
        EXPECT_EQ(allocations, before) << entry.at("name") << " " << sum;
    }
    EXPECT_GT(allocations, 0U);
}

// Any tensor whose layout is one of those with fields of their own.
Result<Descriptor> some_descriptor(test::Random& random) {
    const std::uint8_t type = random.pick({test::uint8, test::float32, test::boolean, test::float6, test::int4});
    const std::uint8_t layout = random.pick({layout_tag::tiled, layout_tag::tiled, layout_tag::morton, layout_tag::hilbert});
    Shape shape(1 + random.below(layout == layout_tag::tiled ? 4 : 3) + (layout == layout_tag::hilbert ? 1 : 0));
    for (std::uint64_t& size : shape) size = 1 + random.below(shape.size() > 2 ? 5 : 12);
    const std::size_t rank = shape.size();
    const auto order = static_cast<std::uint32_t>(1 + random.below(rank > 2 ? 2 : 3));
    if (layout == layout_tag::hilbert) shape.assign(rank, std::uint64_t{1} << order);
    DescriptorBuilder builder(type, layout, shape);
    builder.set_byte_offset(2048);
    EXPECT_TRUE(builder.add_buffer({.byte_size = 1 << 20}).has_value());
    if (layout == layout_tag::hilbert) {
        builder.set_hilbert(order);
    } else if (layout == layout_tag::morton) {
        std::vector<std::uint32_t> bits(rank);
        for (std::size_t k = 0; k < rank; ++k) {
            while (std::uint64_t{1} << bits[k] < shape[k]) ++bits[k];
            bits[k] = std::max(1U, bits[k] + static_cast<std::uint32_t>(random.below(2)));
        }
        builder.set_morton_bits(bits);
    } else {
        std::vector<Shape> shapes(1 + random.below(4));
        std::vector<std::vector<std::int64_t>> strides(shapes.size() + 1, std::vector<std::int64_t>(rank));
        std::vector<TiledLevel> levels;
        for (std::size_t level = shapes.size(); level-- > 0;) {
            shapes[level].resize(rank);
            for (std::size_t k = 0; k < rank; ++k) {
                shapes[level][k] = (level + 1 == shapes.size() ? 1 : shapes[level + 1][k]) * (1 + random.below(3));
            }
        }
        for (auto& all : strides) {
            for (std::int64_t& stride : all) stride = random.between(-6, 6);
        }
        for (std::size_t level = 0; level < shapes.size(); ++level) {
            const bool last = level + 1 == shapes.size();
            TiledLevel next{.tile_shape = shapes[level],
                            .outer_layout = static_cast<std::uint8_t>(1 + random.below(3)),
                            .inner_layout = static_cast<std::uint8_t>(last ? 1 + random.below(3) : 4)};
            if (next.outer_layout == layout_tag::strided) next.outer_strides = strides[level];
            if (next.inner_layout == layout_tag::strided) next.inner_strides = strides.back();
            levels.push_back(next);
        }
        builder.set_tiled(levels);
    }
    return builder.build();
}

TEST(StorageOrder, ManyLayoutsSurviveTheWayToBytesAndAreWalkedWhole) {
    test::Random random(77);
    std::map<std::uint8_t, int> walked;
    for (int i = 0; i < 3000; ++i) {
        const auto built = some_descriptor(random);
        if (!built) {
            // Strides may reach outside; nothing else is wrong.
            ASSERT_EQ(built.error().code, Status::invalid_layout);
            ASSERT_NE(std::string(built.error().message).find("byte_"), std::string::npos) << built.error().message;
            continue;
        }
        const auto bytes = test::encoded(*built);
        const auto decoded = test::decode_exact(bytes).value();
        ASSERT_EQ(test::encoded(decoded), bytes);
        const auto offsets = walk(AddressMap::make(decoded).value());
        if (built->layout() != layout_tag::tiled) {
            EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
            EXPECT_EQ(std::adjacent_find(offsets.begin(), offsets.end()), offsets.end());
        }
        ++walked[built->layout()];
    }
    EXPECT_GT(walked[layout_tag::tiled], 500);
    EXPECT_GT(walked[layout_tag::morton], 300);
    EXPECT_GT(walked[layout_tag::hilbert], 300);
}

// Padding may be most of a curve: it is left out without being looked at.
TEST(StorageOrder, SkipsPaddingWithoutLookingAtIt) {
    const std::uint64_t size = 1 << 16;
    DescriptorBuilder builder(test::boolean, layout_tag::morton, Shape{1, size});
    const std::uint32_t bits[] = {20, 20};
    builder.set_morton_bits(bits);
    ASSERT_TRUE(builder.add_buffer({.byte_size = 1ULL << 37}).has_value());
    const AddressMap map = AddressMap::make(builder.build().value()).value();
    std::uint64_t count = 0;
    std::int64_t last = -1;
    for_each_in_storage_order(map, [&](std::int64_t offset, std::span<const std::uint64_t> index) {
        EXPECT_GT(offset, last);
        EXPECT_EQ(index[0], 0U);
        last = offset;
        ++count;
    });
    EXPECT_EQ(count, size);
    EXPECT_EQ(last, static_cast<std::int64_t>(morton_code(Shape{0, size - 1}, Shape{20, 20})));
}

}  // namespace
}  // namespace hurray
