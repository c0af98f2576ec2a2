// Block-paged tensors as dense ones, compared with the format's formula element by element.
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/transcode/tests/dense_oracle.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::DenseLayout;
using test::Shape;
using test::Type;

struct Cache {
    Type type = {test::float32};
    std::uint64_t page_size = 4;
    std::uint64_t num_pages = 9;
    std::uint64_t heads = 2;
    std::uint64_t dim = 3;
    /// Pages of each sequence, and its tokens.
    std::vector<std::vector<std::uint64_t>> pages = {{3, 0, 8}, {}, {5}, {0, 7}};
    std::vector<std::uint64_t> tokens = {10, 0, 4, 7};
    bool wide = false;
    QuantizationFields quantization = {};
    std::vector<std::uint64_t> parameters = {};

    [[nodiscard]] std::uint64_t token_count() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t count : tokens) sum += count;
        return sum;
    }
};

Buffer numbers(const std::vector<std::uint64_t>& values, bool wide) {
    auto buffer = allocate_buffer(values.size() * (wide ? 8 : 4)).value();
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t byte = 0; byte < (wide ? 8U : 4U); ++byte) {
            buffer.data[i * (wide ? 8 : 4) + byte] = static_cast<std::byte>(values[i] >> (8 * byte));
        }
    }
    return buffer;
}

Tensor tensor_of(const Cache& cache, test::Random& random) {
    std::vector<std::uint64_t> table;
    std::vector<std::uint64_t> starts = {0};
    for (const auto& pages : cache.pages) {
        table.insert(table.end(), pages.begin(), pages.end());
        starts.push_back(table.size());
    }
    const Shape shape = {cache.token_count(), cache.heads, cache.dim};
    std::vector<Buffer> buffers;
    buffers.push_back(
        test::random_buffer(cache.type.bytes(cache.num_pages * cache.page_size * cache.heads * cache.dim), random));
    buffers.push_back(numbers(table, cache.wide));
    buffers.push_back(numbers(starts, cache.wide));
    for (const std::uint64_t size : cache.parameters) buffers.push_back(test::random_buffer(size, random));
    DescriptorBuilder builder(cache.type.tag, layout_tag::block_paged, shape);
    builder.set_block_paged({.page_size = static_cast<std::uint32_t>(cache.page_size),
                             .num_pages = cache.num_pages,
                             .num_seqs = static_cast<std::uint32_t>(cache.pages.size()),
                             .index_type = static_cast<std::uint8_t>(cache.wide ? 1 : 0)});
    if (cache.quantization.scheme != 0) builder.set_quantization(cache.quantization);
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto descriptor = builder.build();
    EXPECT_TRUE(descriptor.has_value()) << (descriptor ? "" : descriptor.error().message);
    return {std::move(descriptor.value()), std::move(buffers)};
}

// The bytes of some sequences in a layout.
Bytes expected(const Cache& cache, const Tensor& tensor, std::size_t first, std::size_t end, const DenseLayout& to) {
    std::uint64_t tokens = 0;
    for (std::size_t s = first; s < end; ++s) tokens += cache.tokens[s];
    const Shape shape = {tokens, cache.heads, cache.dim};
    const test::RoomOf room = test::room_of(to, shape);
    Bytes bytes(cache.type.bytes(room.below) + cache.type.bytes(room.from_first));
    const std::uint64_t bits = cache.type.bits();
    std::uint64_t row = 0;
    for (std::size_t s = first; s < end; ++s) {
        for (std::uint64_t t = 0; t < cache.tokens[s]; ++t, ++row) {
            const std::uint64_t page = cache.pages[s][t / cache.page_size];
            for (std::uint64_t h = 0; h < cache.heads; ++h) {
                for (std::uint64_t d = 0; d < cache.dim; ++d) {
                    const std::uint64_t flat =
                        ((page * cache.page_size + t % cache.page_size) * cache.heads + h) * cache.dim + d;
                    const auto place = test::place_of(to, shape, {row, h, d}) * static_cast<std::int64_t>(bits);
                    test::copy_bits(
                        tensor.buffers[0].data, flat * bits, bytes.data(),
                        cache.type.bytes(room.below) * 8 + static_cast<std::uint64_t>(place), bits);
                }
            }
        }
    }
    return bytes;
}

std::vector<DenseLayout> layouts(const Shape& shape) {
    using namespace layout_tag;
    test::Strides strides = test::plain_strides(shape, row_major);
    for (std::int64_t& stride : strides) stride *= -3;
    return {{"row_major"},
            {"col_major", col_major},
            {"strided", strided, strides},
            {"tiled", tiled, {}, {{{4, 2, 2}}}},
            {"morton", morton, {}, {}, {5, 2, 2}}};
}

TEST(PagedSources, AllSequencesAndEachOne) {
    test::Random random(1);
    for (const Type& type : {Type{0x03}, Type{0x11}, Type{0x48}, Type{0x20}, Type{0x44}, Type{0x46}}) {
        for (const bool wide : {false, true}) {
            for (const std::uint64_t dim : {3U, 4U}) {
                Cache cache{.type = type, .dim = dim, .wide = wide};
                const Tensor tensor = tensor_of(cache, random);
                for (std::size_t s = 0; s <= cache.pages.size(); ++s) {
                    const bool all = s == cache.pages.size();
                    const Shape shape = {all ? cache.token_count() : cache.tokens[s], cache.heads, dim};
                    for (const DenseLayout& to : layouts(shape)) {
                        SCOPED_TRACE(testing::Message() << to.name << ", type " << int{type.tag} << ", sequence " << s);
                        std::vector<TiledLevel> levels;
                        TranscodeSpec spec = test::spec_of(to, levels);
                        spec.token_counts = cache.tokens;
                        if (!all) spec.sequence = static_cast<std::uint32_t>(s);
                        const auto result = transcode(tensor, spec);
                        ASSERT_TRUE(result.has_value()) << result.error().message;
                        EXPECT_EQ(Shape(result->descriptor.shape().begin(), result->descriptor.shape().end()), shape);
                        ASSERT_EQ(result->buffers.size(), 1U);
                        ASSERT_TRUE(test::same_bytes(
                            result->buffers[0], expected(cache, tensor, all ? 0 : s, all ? cache.pages.size() : s + 1, to)));
                    }
                }
            }
        }
    }
}

TEST(PagedSources, TokensThatTheTablesTell) {
    test::Random random(2);
    // Full pages, and one sequence that has any.
    const Cache full{.pages = {{3, 0}, {5}}, .tokens = {8, 4}};
    const Cache single{.pages = {{}, {3, 0, 4}}, .tokens = {0, 9}};
    for (const Cache& cache : {full, single}) {
        const Tensor tensor = tensor_of(cache, random);
        const auto result = transcode(tensor, {});
        ASSERT_TRUE(result.has_value()) << result.error().message;
        EXPECT_TRUE(test::same_bytes(result->buffers[0], expected(cache, tensor, 0, 2, {"row_major"})));
    }
    // Which of them the missing tokens are those of is not known.
    const Cache open{.pages = {{3, 0}, {5}}, .tokens = {7, 4}};
    const Tensor tensor = tensor_of(open, random);
    EXPECT_EQ(transcode(tensor, {}).error().code, Status::unsupported);
    EXPECT_EQ(transcode(tensor, {.sequence = 1}).error().code, Status::unsupported);
    EXPECT_EQ(transcode(tensor, {.sequence = 2}).error().code, Status::index_out_of_bounds);
    const std::vector<std::uint64_t> wrong = {7, 5};
    EXPECT_EQ(transcode(tensor, {.token_counts = wrong}).error().code, Status::invalid_argument);
}

TEST(PagedSources, EntriesThatNameNoPage) {
    test::Random random(3);
    const Cache cache{.pages = {{3, 9}}, .tokens = {8}};
    const auto result = transcode(tensor_of(cache, random), {});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::invalid_layout);
}

TEST(PagedSources, ParametersMoveDownInTheTable) {
    test::Random random(4);
    const Type int8{0x10};
    const Cache per_channel{.type = int8,
                            .quantization = {.scheme = scheme_tag::per_channel_affine,
                                             .axis = 2,
                                             .scale_buffer = 3,
                                             .zero_point_buffer = 4},
                            .parameters = {12, 12}};
    const Tensor tensor = tensor_of(per_channel, random);
    const auto result = transcode(tensor, {.token_counts = per_channel.tokens});
    ASSERT_TRUE(result.has_value()) << result.error().message;
    ASSERT_EQ(result->buffers.size(), 3U);
    EXPECT_EQ(result->buffers[1].data, tensor.buffers[3].data);
    EXPECT_EQ(result->buffers[2].data, tensor.buffers[4].data);
    const auto fields = quantization_fields(result->descriptor);
    ASSERT_TRUE(fields.has_value());
    EXPECT_EQ(fields->scale_buffer, 1U);
    EXPECT_EQ(fields->zero_point_buffer, 2U);
    EXPECT_EQ(fields->axis, 2U);
    EXPECT_TRUE(test::same_bytes(result->buffers[0], expected(per_channel, tensor, 0, 4, {"row_major"})));

    const Cache per_block{.type = int8,
                          .quantization = {.scheme = scheme_tag::per_block_affine,
                                           .flags = QuantizationFields::symmetric_flag,
                                           .axis = 0,
                                           .block_size = 4,
                                           .scale_buffer = 3},
                          .parameters = {36 * 4}};
    const auto refused = transcode(tensor_of(per_block, random), {.token_counts = per_block.tokens});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::unsupported);
}

TEST(PagedSources, LimitsAndProgress) {
    test::Random random(5);
    Cache cache{.page_size = 64, .num_pages = 40, .heads = 8, .dim = 64, .pages = {{}}, .tokens = {40 * 64 - 3}};
    for (std::uint64_t page = 0; page < 40; ++page) cache.pages[0].push_back(39 - page);
    const Tensor tensor = tensor_of(cache, random);
    const std::uint64_t bytes = cache.token_count() * 8 * 64 * 4;
    EXPECT_EQ(transcode(tensor, {}, {.memory_limit = bytes - 1}).error().code, Status::limit_exceeded);
    EXPECT_TRUE(transcode(tensor, {}, {.memory_limit = bytes}).has_value());
    // By way of rows.
    const TranscodeSpec columns{.layout = layout_tag::col_major};
    EXPECT_EQ(transcode(tensor, columns, {.memory_limit = 2 * bytes - 1}).error().code, Status::limit_exceeded);
    EXPECT_TRUE(transcode(tensor, columns, {.memory_limit = 2 * bytes}).has_value());
    struct Listener {
        std::size_t calls = 0;
        std::size_t stop_at = ~std::size_t{0};
        std::uint64_t last = 0;
        std::uint64_t total = 0;
        static bool hear(void* context, std::uint64_t done, std::uint64_t total) {
            auto& self = *static_cast<Listener*>(context);
            EXPECT_LE(self.last, done);
            self.last = done;
            self.total = total;
            return self.calls++ != self.stop_at;
        }
    };
    for (const TranscodeSpec& spec : {TranscodeSpec{}, columns}) {
        Listener all;
        ASSERT_TRUE(transcode(tensor, spec, {0, Listener::hear, &all}).has_value());
        EXPECT_EQ(all.last, all.total);
        EXPECT_GE(all.calls, 5U);
        for (std::size_t stop = 0; stop < all.calls; ++stop) {
            Listener listener;
            listener.stop_at = stop;
            EXPECT_EQ(transcode(tensor, spec, {0, Listener::hear, &listener}).error().code, Status::cancelled);
        }
    }
}

}  // namespace
}  // namespace hurray
