// Work that is stopped, memory that is not given, numbers that do not fit, and what is refused otherwise.
#include <algorithm>
#include <limits>

#include "core/hurray/layout/address.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/transcode/dense_copy.hpp"
#include "core/hurray/transcode/tests/dense_oracle.hpp"

namespace hurray {
namespace {

using test::DenseLayout;
using test::Shape;
using test::Strides;
using test::Type;

Status refusal(const Result<Tensor>& result) {
    EXPECT_FALSE(result.has_value());
    if (result) return Status::ok;
    EXPECT_NE(result.error().message[0], '\0');
    return result.error().code;
}

struct Listener {
    std::size_t calls = 0;
    std::size_t stop_at = ~std::size_t{0};
    std::uint64_t last = 0;
    std::uint64_t total = 0;
    bool falls = false;

    static bool hear(void* context, std::uint64_t done, std::uint64_t total) {
        auto& self = *static_cast<Listener*>(context);
        self.falls = self.falls || done < self.last || done > total || (self.calls != 0 && total != self.total);
        self.last = done;
        self.total = total;
        return self.calls++ != self.stop_at;
    }
    WorkOptions options() { return {0, hear, this}; }
};

// Pairs that take each of the ways through the code.
struct Pair {
    Type type;
    Shape shape;
    DenseLayout from;
    DenseLayout to;
};
std::vector<Pair> pairs() {
    using namespace layout_tag;
    const Type float32{test::float32};
    const Shape square = {1024, 1024};
    const DenseLayout rows{"row_major"};
    const DenseLayout columns{"col_major", col_major};
    const DenseLayout tiles{"tiled", tiled, {}, {{{32, 32}}}};
    const DenseLayout odd_tiles{"odd tiles", tiled, {}, {{{6, 10}}}};
    const DenseLayout other_tiles{"other tiles", tiled, {}, {{{4, 7}}}};
    const DenseLayout codes{"morton", morton, {}, {}, {10, 10}};
    const DenseLayout curve{"hilbert", hilbert};
    const Shape cube(5, 16);
    return {{float32, square, rows, rows},       {float32, square, rows, columns}, {float32, square, columns, tiles},
            {float32, square, odd_tiles, other_tiles}, {float32, square, codes, rows},   {float32, square, rows, curve},
            {float32, square, curve, odd_tiles}, {float32, square, curve, curve},  {float32, cube, curve, rows},
            {{0x48}, {2048, 2048}, rows, columns}};
}

TEST(Progress, GoesForwardsToTheEnd) {
    test::Random random(1);
    for (const Pair& pair : pairs()) {
        SCOPED_TRACE(pair.from.name + " to " + pair.to.name);
        const Tensor source = test::random_tensor(pair.type, pair.shape, pair.from, 0, random);
        std::uint64_t bytes = pair.type.bytes(1ULL << 20);
        if (pair.type.tag == 0x48) bytes *= 4;
        Listener listener;
        std::vector<TiledLevel> levels;
        const auto result = transcode(source, test::spec_of(pair.to, levels), listener.options());
        ASSERT_TRUE(result.has_value()) << result.error().message;
        EXPECT_FALSE(listener.falls);
        EXPECT_EQ(listener.last, bytes);
        EXPECT_EQ(listener.total, bytes);
        EXPECT_GE(listener.calls, bytes >> 20);
        EXPECT_LE(listener.calls, (bytes >> 20) + 1);
    }
}

TEST(Progress, EveryReportCanStopTheWork) {
    test::Random random(2);
    for (const Pair& pair : pairs()) {
        SCOPED_TRACE(pair.from.name + " to " + pair.to.name);
        const Tensor source = test::random_tensor(pair.type, pair.shape, pair.from, 0, random);
        std::vector<TiledLevel> levels;
        const TranscodeSpec spec = test::spec_of(pair.to, levels);
        Listener all;
        ASSERT_TRUE(transcode(source, spec, all.options()).has_value());
        for (std::size_t stop = 0; stop < all.calls; ++stop) {
            Listener listener;
            listener.stop_at = stop;
            EXPECT_EQ(refusal(transcode(source, spec, listener.options())), Status::cancelled);
            EXPECT_EQ(listener.calls, stop + 1);
        }
        // Nothing was changed, and nobody else holds the memory.
        EXPECT_EQ(source.buffers[0].storage.get()->references(), 1U);
    }
}

TEST(Progress, SmallWorkCanBeStoppedAtItsEnd) {
    test::Random random(3);
    const Tensor source = test::random_tensor({test::float32}, {3, 4}, {"row_major"}, 0, random);
    Listener listener;
    listener.stop_at = 0;
    EXPECT_EQ(refusal(transcode(source, {}, listener.options())), Status::cancelled);
    EXPECT_EQ(listener.last, 48U);
}

TEST(MemoryLimit, CountsTheResultAndPadding) {
    test::Random random(4);
    const Tensor source = test::random_tensor({test::float32}, {5, 5}, {"row_major"}, 0, random);
    const DenseLayout tiles{"tiled", layout_tag::tiled, {}, {{{4, 4}}}};
    std::vector<TiledLevel> levels;
    const TranscodeSpec spec = test::spec_of(tiles, levels);
    EXPECT_EQ(refusal(transcode(source, spec, {.memory_limit = 255})), Status::limit_exceeded);
    EXPECT_TRUE(transcode(source, spec, {.memory_limit = 256}).has_value());
    EXPECT_EQ(refusal(transcode(source, {}, {.memory_limit = 99})), Status::limit_exceeded);
    EXPECT_TRUE(transcode(source, {}, {.memory_limit = 100}).has_value());
}

// A few bytes that a stride of 0 repeats.
Tensor repeated(const Shape& shape) {
    static std::byte memory[16] = {};
    DescriptorBuilder builder(test::float32, layout_tag::strided, shape);
    builder.set_strides(Strides(shape.size(), 0));
    EXPECT_TRUE(builder.add_buffer({.byte_size = sizeof memory}).has_value());
    Tensor tensor{builder.build().value(), {}};
    Buffer& buffer = tensor.buffers.emplace_back();
    buffer.data = memory;
    buffer.handle.byte_size = sizeof memory;
    return tensor;
}

TEST(MemoryLimit, IsAskedBeforeMemoryIsTaken) {
    // 2^50 bytes, which no machine gives.
    const Tensor source = repeated({1ULL << 24, 1ULL << 24});
    for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major, layout_tag::morton, layout_tag::hilbert}) {
        EXPECT_EQ(refusal(transcode(source, {.layout = layout}, {.memory_limit = 1 << 30})), Status::limit_exceeded);
    }
    const auto tile = Shape{16, 16};
    const TiledLevel level{.tile_shape = tile};
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::tiled, .tiled = {&level, 1}}, {.memory_limit = 1 << 30})),
              Status::limit_exceeded);
}

TEST(MemoryLimit, MortonCodesHaveNoRoomForTheShape) {
    const auto result = transcode(repeated({1ULL << 50, 2}), {.layout = layout_tag::morton});
    EXPECT_EQ(refusal(result), Status::invalid_layout);
    EXPECT_EQ(std::string(result.error().message),
              "shape[0]: expected at most 2^32 for layout morton of rank 2, so that codes have 64 bits, got "
              "1125899906842624");
}

TEST(Overflow, SizesThatDoNotFitAreRefused) {
    const WorkOptions limit{.memory_limit = ~std::uint64_t{0}};
    const std::uint64_t big = 1ULL << 31;
    const Tensor source = repeated({big, big});
    const auto refused = [&](const TranscodeSpec& spec) {
        const auto result = transcode(source, spec, limit);
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().code, Status::limit_exceeded) << result.error().message;
    };
    // 2^64 bytes.
    refused({});
    refused({.layout = layout_tag::col_major});
    refused({.layout = layout_tag::morton});
    refused({.layout = layout_tag::hilbert});
    const Strides strides = {std::numeric_limits<std::int64_t>::max(), 1};
    refused({.layout = layout_tag::strided, .strides = strides});
    const Strides lowest = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min()};
    refused({.layout = layout_tag::strided, .strides = lowest});
    const Shape tile = {1ULL << 40, 1ULL << 40};
    const TiledLevel level{.tile_shape = tile};
    refused({.layout = layout_tag::tiled, .tiled = {&level, 1}});
    // A tile whose size wraps to a small number.
    const Shape wrapping = {1ULL << 33, (1ULL << 31) + 1};
    const TiledLevel wrapped{.tile_shape = wrapping};
    refused({.layout = layout_tag::tiled, .tiled = {&wrapped, 1}});
}

TEST(Refusals, StridesThatSharePlaces) {
    test::Random random(5);
    const Tensor source = test::random_tensor({test::float32}, {3, 4}, {"row_major"}, 0, random);
    for (const Strides& strides : {Strides{0, 1}, Strides{1, 1}, Strides{3, 1}, Strides{-3, 1}, Strides{1, 2}, Strides{4, 0},
                                   Strides{2, 3}}) {
        EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::strided, .strides = strides})),
                  Status::invalid_argument)
            << strides[0] << ' ' << strides[1];
    }
    for (const Strides& strides : {Strides{4, 1}, Strides{-4, 1}, Strides{1, -3}, Strides{7, 2}}) {
        EXPECT_TRUE(transcode(source, {.layout = layout_tag::strided, .strides = strides}).has_value());
    }
    // Those of a dimension with one element, or of a tensor without any, do not count.
    const Tensor flat = test::random_tensor({test::float32}, {1, 4}, {"row_major"}, 0, random);
    EXPECT_TRUE(transcode(flat, {.layout = layout_tag::strided, .strides = Strides{0, 1}}).has_value());
    const Tensor empty = test::random_tensor({test::float32}, {0, 4}, {"row_major"}, 0, random);
    EXPECT_TRUE(transcode(empty, {.layout = layout_tag::strided, .strides = Strides{0, 0}}).has_value());
}

TEST(Refusals, TilesThatSharePlaces) {
    test::Random random(6);
    const Tensor source = test::random_tensor({test::float32}, {6, 6}, {"row_major"}, 0, random);
    const auto with = [&](const Strides& outer, const Strides& inner) {
        const Shape tile = {3, 2};
        const TiledLevel level{.tile_shape = tile,
                               .outer_layout = outer.empty() ? layout_tag::row_major : layout_tag::strided,
                               .inner_layout = inner.empty() ? layout_tag::row_major : layout_tag::strided,
                               .outer_strides = outer,
                               .inner_strides = inner};
        return transcode(source, {.layout = layout_tag::tiled, .tiled = {&level, 1}});
    };
    EXPECT_EQ(refusal(with({0, 1}, {})), Status::invalid_argument);
    EXPECT_EQ(refusal(with({1, 1}, {})), Status::invalid_argument);
    EXPECT_EQ(refusal(with({}, {1, 1})), Status::invalid_argument);
    // Reaches into the next tile.
    EXPECT_EQ(refusal(with({}, {1, 9})), Status::invalid_argument);
    EXPECT_TRUE(with({3, 1}, {}).has_value());
    EXPECT_TRUE(with({5, 2}, {2, 1}).has_value());
    EXPECT_TRUE(with({}, {1, 3}).has_value());
}

TEST(Refusals, FieldsThatDoNotFit) {
    test::Random random(7);
    const Tensor source = test::random_tensor({test::float32}, {4, 4}, {"row_major"}, 0, random);
    const Tensor uneven = test::random_tensor({test::float32}, {4, 8}, {"row_major"}, 0, random);
    const Tensor line = test::random_tensor({test::float32}, {4}, {"row_major"}, 0, random);
    const Tensor scalar = test::random_tensor({test::float32}, {}, {"row_major"}, 0, random);
    const Shape tile = {2, 2};
    const TiledLevel level{.tile_shape = tile};
    const std::uint32_t bits[] = {2, 2};
    const Strides strides = {4, 1};
    using enum Status;
    // Of another layout.
    EXPECT_EQ(refusal(transcode(source, {.strides = strides})), invalid_argument);
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::morton, .tiled = {&level, 1}})), invalid_argument);
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::tiled, .morton_bits = bits})), invalid_argument);
    EXPECT_EQ(refusal(transcode(source, {.sequence = 0})), invalid_argument);
    EXPECT_EQ(refusal(transcode(source, {.token_counts = Shape{4}})), invalid_argument);
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::col_major, .mode_order = std::array{0U, 1U}})),
              invalid_argument);
    // Too few, too many, too small, too large.
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::strided})), invalid_argument);
    EXPECT_EQ(refusal(transcode(line, {.layout = layout_tag::strided, .strides = strides})), invalid_argument);
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::tiled})), invalid_layout);
    EXPECT_EQ(refusal(transcode(line, {.layout = layout_tag::tiled, .tiled = {&level, 1}})), invalid_layout);
    const Shape zero = {2, 0};
    const TiledLevel empty{.tile_shape = zero};
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::tiled, .tiled = {&empty, 1}})), invalid_layout);
    const Shape misfit = {3, 3};
    const TiledLevel nested[] = {{.tile_shape = tile, .inner_layout = layout_tag::tiled}, {.tile_shape = misfit}};
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::tiled, .tiled = nested})), invalid_layout);
    for (const auto& wrong : {std::array{1U, 2U}, std::array{0U, 2U}, std::array{33U, 2U}, std::array{2U, 33U}}) {
        EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::morton, .morton_bits = wrong})), invalid_layout);
    }
    EXPECT_EQ(refusal(transcode(line, {.layout = layout_tag::morton, .morton_bits = bits})), invalid_argument);
    // 64 bits of a code are more than any buffer has.
    EXPECT_EQ(refusal(transcode(source, {.layout = layout_tag::morton, .morton_bits = std::array{32U, 32U}})),
              limit_exceeded);
    for (const std::uint8_t other : {layout_tag::row_major, layout_tag::morton, layout_tag::coo}) {
        EXPECT_EQ(refusal(transcode(source, {.layout = other, .hilbert_order = 2})), invalid_argument);
    }
    test::Random other(11);
    const Tensor square = test::random_tensor({test::float32}, {4, 4}, {"row_major"}, 0, other);
    for (const std::uint32_t order : {1U, 3U, 4U, ~0U}) {
        EXPECT_EQ(refusal(transcode(square, {.layout = layout_tag::hilbert, .hilbert_order = order})),
                  invalid_argument);
    }
    EXPECT_TRUE(transcode(square, {.layout = layout_tag::hilbert, .hilbert_order = 2}).has_value());
    EXPECT_EQ(refusal(transcode(uneven, {.layout = layout_tag::hilbert})), invalid_argument);
    EXPECT_EQ(refusal(transcode(line, {.layout = layout_tag::hilbert})), invalid_argument);
    for (const std::uint8_t layout : {layout_tag::col_major, layout_tag::strided, layout_tag::tiled, layout_tag::morton,
                                      layout_tag::hilbert}) {
        EXPECT_EQ(refusal(transcode(scalar, {.layout = layout})), invalid_argument);
    }
    for (const std::uint32_t alignment : {1U, 32U, 96U}) {
        EXPECT_EQ(refusal(transcode(source, {.alignment = alignment})), invalid_argument);
    }
    const auto aligned = transcode(source, {.alignment = 4096});
    ASSERT_TRUE(aligned.has_value());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned->buffers[0].data) % 4096, 0U);
    EXPECT_EQ(aligned->descriptor.buffers()[0].alignment, 4096U);
    // Nobody writes these.
    for (const int layout : {0x00, 0x0A, 0x0B, 0x0C, 0xF0, 0xFF}) {
        EXPECT_EQ(refusal(transcode(source, {.layout = static_cast<std::uint8_t>(layout)})), unsupported);
    }
}

TEST(Refusals, TensorsWhoseElementsAreNotKnown) {
    // A dynamic dimension.
    const std::uint64_t shape[] = {dynamic_dimension, 2};
    DescriptorBuilder builder(test::float32, layout_tag::row_major, shape);
    ASSERT_TRUE(builder.add_buffer({.byte_size = 0}).has_value());
    EXPECT_EQ(refusal(transcode({builder.build().value(), {Buffer{}}}, {})), Status::invalid_layout);
    // An opaque descriptor.
    test::Random random(8);
    const Tensor plain = test::random_tensor({test::float32}, {2, 2}, {"row_major"}, 0, random);
    test::Bytes bytes = test::encoded(plain.descriptor);
    bytes[14] = std::byte{0x3E};
    const Tensor opaque{test::decode_exact(bytes, {.mode = Mode::permissive}).value(), plain.buffers};
    ASSERT_TRUE(opaque.descriptor.is_opaque());
    EXPECT_EQ(refusal(transcode(opaque, {})), Status::unsupported);
}

TEST(Refusals, PrivateSchemesWhoseParametersAreNotKnown) {
    const std::byte data[4] = {};
    const Shape shape = {2, 3};
    DescriptorBuilder builder(0x10, layout_tag::row_major, shape);
    builder.set_quantization({.scheme = 0xF3, .private_data = data});
    ASSERT_TRUE(builder.add_buffer({.byte_size = 6}).has_value());
    test::Random random(12);
    const Tensor source{builder.build(PrivateTags::allow).value(), {test::random_buffer(6, random)}};
    for (const std::uint8_t layout :
         {layout_tag::row_major, layout_tag::col_major, layout_tag::morton, layout_tag::coo}) {
        const auto result = transcode(source, {.layout = layout});
        EXPECT_EQ(refusal(result), Status::unsupported) << unsigned{layout};
        EXPECT_EQ(result.error().offset, Error::no_offset);
    }
}

TEST(Refusals, MemoryThatCannotBeRead) {
    test::Random random(9);
    Tensor source = test::random_tensor({test::float32}, {2, 2}, {"row_major"}, 0, random);
    Tensor none{source.descriptor, {}};
    EXPECT_EQ(refusal(transcode(none, {})), Status::invalid_argument);
    Tensor null = source;
    null.buffers[0].data = nullptr;
    EXPECT_EQ(refusal(transcode(null, {})), Status::null_pointer);
    Tensor shorter = source;
    shorter.buffers[0].handle.byte_size = 12;
    EXPECT_EQ(refusal(transcode(shorter, {})), Status::invalid_argument);
    Tensor device = source;
    device.buffers[0].handle.device_tag = device_tag::cuda;
    EXPECT_EQ(refusal(transcode(device, {})), Status::unsupported);
}

// Bytes in front of a buffer's own are somebody else's.
TEST(Refusals, ElementsInFrontOfTheBuffer) {
    test::Random random(10);
    const auto with = [&](const Strides& strides, std::uint64_t byte_offset, std::uint32_t prefix) {
        const std::uint64_t shape[] = {4};
        DescriptorBuilder builder(test::float32, layout_tag::strided, shape);
        builder.set_strides(strides).set_byte_offset(byte_offset);
        Buffer buffer = test::random_buffer(64, random);
        buffer.prefix = prefix;
        EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
        Tensor tensor{builder.build().value(), {}};
        tensor.buffers.push_back(std::move(buffer));
        return transcode(tensor, {});
    };
    EXPECT_EQ(refusal(with({1}, 8, 12)), Status::invalid_layout);
    EXPECT_TRUE(with({1}, 12, 12).has_value());
    EXPECT_EQ(refusal(with({-1}, 20, 12)), Status::invalid_layout);
    EXPECT_EQ(refusal(with({-2}, 24, 12)), Status::invalid_layout);
    EXPECT_TRUE(with({-1}, 24, 12).has_value());
}

TEST(CopyDense, RefusesTensorsThatDiffer) {
    test::Random random(11);
    const auto map_of = [&](const Type& type, const Shape& shape) {
        return AddressMap::make(test::random_tensor(type, shape, {"row_major"}, 0, random).descriptor).value();
    };
    const WorkOptions options;
    Work work(options, 0);
    std::byte memory[64] = {};
    const auto refused = [&](const AddressMap& from, const AddressMap& to) {
        const auto copied = copy_dense(from, memory, to, memory + 32, work);
        ASSERT_FALSE(copied.has_value());
        EXPECT_EQ(copied.error().code, Status::invalid_argument);
    };
    refused(map_of({0x11}, {4}), map_of({0x11}, {5}));
    refused(map_of({0x11}, {4}), map_of({0x11}, {4, 1}));
    refused(map_of({0x11}, {4}), map_of({0x01}, {4}));
    EXPECT_TRUE(copy_dense(map_of({0x10}, {4}), memory, map_of({0x11}, {4}), memory + 32, work).has_value());
}

}  // namespace
}  // namespace hurray
