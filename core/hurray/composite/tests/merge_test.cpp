// Requirements: composite, composition semantics: elements of partitions and overlays, one by one and as one tensor.
#include "core/hurray/composite/merge.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "core/hurray/composite/element_adder.hpp"
#include "core/hurray/composite/elements.hpp"
#include "core/hurray/composite/tests/support.hpp"
#include "core/hurray/element_format.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {
namespace {

using test::head;
using test::make;
using test::Random;
using test::Shape;

using Index = std::span<const std::uint64_t>;
using Bits = std::function<RawBits(Index)>;

template <typename Use>
void for_each_index(const Shape& shape, Use&& use) {
    Shape index(shape.size());
    if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return;
    while (true) {
        use(Index(index));
        std::size_t k = shape.size();
        while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
        if (k == 0) return;
    }
}

Shape sum(Index a, Index b) {
    Shape result;
    for (std::size_t k = 0; k < a.size(); ++k) result.push_back(a[k] + b[k]);
    return result;
}

// Bits that tell indices apart, of the width of a type and valid as data.
RawBits some_bits(const NumberFormat& format, Index index) {
    std::uint64_t hash = 17;
    for (const std::uint64_t i : index) hash = (hash ^ i) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
    RawBits bits{hash, hash * 0xBF58476D1CE4E5B9};
    if (format.bits <= 64) bits.high = 0;
    if (format.bits < 64) bits.low &= (std::uint64_t{1} << format.bits) - 1;
    return bits;
}

// Where the member of an overlay or a partition lies.
struct Where {
    Shape whole;
    Shape at;
    std::optional<MemberRole> role = {};
};

void set_place(DescriptorBuilder& builder, const Where& where) {
    builder.set_shard(where.whole, where.at);
    if (where.role) builder.set_composite_member(*where.role);
}

// A dense member whose element at an index of the head has the bits that are asked for.
Tensor dense(std::uint8_t type, std::uint8_t layout, const Shape& shape, const Where& where, const Bits& bits,
             std::uint64_t byte_offset = 0) {
    const NumberFormat format = number_format(type).value();
    DescriptorBuilder builder(type, layout, shape);
    set_place(builder, where);
    builder.set_byte_offset(byte_offset);
    std::uint64_t room = 1;
    for (const std::uint64_t size : shape) room *= size;
    std::vector<std::uint64_t> tile(shape.size(), 2);
    std::vector<std::uint32_t> morton(shape.size(), 3);
    std::vector<std::int64_t> strides(shape.size());
    if (layout == layout_tag::strided) {
        // A gap behind each row, the first dimension backwards.
        std::int64_t step = 1;
        for (std::size_t k = shape.size(); k-- > 0;) {
            strides[k] = step;
            step *= static_cast<std::int64_t>(shape[k]) + 1;
        }
        room = static_cast<std::uint64_t>(step);
        builder.set_strides(strides);
    } else if (layout == layout_tag::tiled) {
        const TiledLevel level{
            .tile_shape = tile, .outer_layout = layout_tag::row_major, .inner_layout = layout_tag::col_major};
        builder.set_tiled({&level, 1});
        room = 1;
        for (const std::uint64_t size : shape) room *= size + 1;
    } else if (layout == layout_tag::morton) {
        builder.set_morton_bits(morton);
        room = std::uint64_t{1} << 3 * shape.size();
    }
    Buffer buffer = allocate_buffer(byte_offset + packed_byte_size(type, room).value()).value();
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build();
    EXPECT_TRUE(built.has_value()) << built.error().message;
    const auto map = AddressMap::make(*built);
    EXPECT_TRUE(map.has_value()) << map.error().message;
    for_each_index(shape, [&](Index index) {
        const Shape at = sum(index, where.at);
        const auto offset = static_cast<std::uint64_t>(map->checked_offset(index).value());
        EXPECT_TRUE(store_bits(format, buffer.bytes().subspan(byte_offset), offset, bits(at)).has_value());
    });
    Tensor tensor{std::move(*built), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

void put_u64(Buffer& buffer, std::size_t i, std::uint64_t value) {
    std::memcpy(buffer.data + 8 * i, &value, 8);
}

using Entries = std::map<Shape, RawBits>;

// A sparse member with entries at indices of its own, in row-major order.
Tensor sparse(std::uint8_t type, std::uint8_t layout, const Shape& shape, const Where& where, const Entries& entries) {
    const NumberFormat format = number_format(type).value();
    DescriptorBuilder builder(type, layout, shape);
    set_place(builder, where);
    const std::uint64_t nnz = entries.size();
    std::vector<Buffer> buffers;
    buffers.push_back(allocate_buffer(packed_byte_size(type, nnz).value()).value());
    // Which dimension the pointers are of, and the entries by that.
    const std::size_t major = layout == layout_tag::csc ? 1 : 0;
    std::vector<std::pair<Shape, RawBits>> order(entries.begin(), entries.end());
    if (layout == layout_tag::coo) {
        builder.set_coo({.nnz = nnz, .is_sorted = true});
        buffers.push_back(allocate_buffer(8 * nnz * shape.size()).value());
    } else {
        builder.set_compressed(nnz);
        std::ranges::stable_sort(order, {}, [&](const auto& entry) { return entry.first[major]; });
        buffers.push_back(allocate_buffer(8 * nnz).value());
        buffers.push_back(allocate_buffer(8 * (shape[major] + 1)).value());
        std::vector<std::uint64_t> counts(shape[major] + 1);
        for (const auto& entry : order) ++counts[entry.first[major] + 1];
        for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
        for (std::size_t i = 0; i < counts.size(); ++i) put_u64(buffers[2], i, counts[i]);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_TRUE(store_bits(format, buffers[0].bytes(), i, order[i].second).has_value());
        if (layout == layout_tag::coo) {
            for (std::size_t k = 0; k < shape.size(); ++k) put_u64(buffers[1], i * shape.size() + k, order[i].first[k]);
        } else {
            put_u64(buffers[1], i, order[i].first[1 - major]);
        }
    }
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build();
    EXPECT_TRUE(built.has_value()) << built.error().message;
    return {std::move(*built), std::move(buffers)};
}

RawBits number(std::uint8_t type, double value) {
    std::array<std::byte, 16> bytes{};
    const NumberFormat format = number_format(type).value();
    EXPECT_TRUE(store_float64(format, bytes, 0, value).has_value());
    return load_bits(format, bytes, 0).value();
}

// Compares the merged tensor and each element with what is expected.
void expect_elements(const Composite& composite, const Bits& expected) {
    const auto result = merged(composite);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    const Descriptor& descriptor = result->descriptor;
    EXPECT_EQ(descriptor.layout(), layout_tag::row_major);
    EXPECT_EQ(descriptor.element_type(), composite.head().element_type());
    EXPECT_TRUE(std::ranges::equal(descriptor.shape(), composite.head().shape()));
    const NumberFormat format = element_format(descriptor).value();
    const auto bytes = result->buffers[0].bytes();
    const std::uint64_t count = descriptor.element_count().value();
    ASSERT_EQ(bytes.size(), packed_byte_size(descriptor.element_type(), count).value());
    std::uint64_t at = 0;
    const Shape shape(descriptor.shape().begin(), descriptor.shape().end());
    for_each_index(shape, [&](Index index) {
        const RawBits wanted = expected(index);
        const RawBits found = load_bits(format, bytes, at).value();
        ASSERT_EQ(found, wanted) << "element " << at;
        const auto alone = get_bits(composite, index);
        ASSERT_TRUE(alone.has_value()) << alone.error().message;
        ASSERT_EQ(*alone, wanted) << "element " << at;
        ++at;
    });
    // Bits that no element uses.
    if (format.bits % 8 != 0 && count * format.bits % 8 != 0) {
        EXPECT_EQ(static_cast<unsigned>(bytes[count * format.bits / 8]) >> count * format.bits % 8, 0U);
    }
}

void cut(Random& random, const Shape& low, const Shape& size, int times, std::vector<std::pair<Shape, Shape>>& out) {
    const std::size_t k = random.below(size.size());
    if (times == 0 || size[k] < 2) {
        out.emplace_back(low, size);
        return;
    }
    Shape left = size;
    left[k] = 1 + random.below(size[k] - 1);
    Shape right = size;
    right[k] -= left[k];
    Shape middle = low;
    middle[k] += left[k];
    cut(random, low, left, times - 1, out);
    cut(random, middle, right, times - 1, out);
}

TEST(Merge, PartitionsOfEveryTypeAndLayoutAreMergedBitForBit) {
    Random random(5);
    for (int tag = 0; tag < 256; ++tag) {
        const auto type = static_cast<std::uint8_t>(tag);
        if (find_element_type(type) == nullptr) continue;
        const NumberFormat format = number_format(type).value();
        const Bits bits = [&](Index index) { return some_bits(format, index); };
        for (int round = 0; round < 6; ++round) {
            const Shape shape = round % 2 == 0 ? Shape{5, 7} : Shape{3, 4, 5};
            std::vector<std::pair<Shape, Shape>> boxes;
            cut(random, Shape(shape.size()), shape, 3, boxes);
            std::vector<CompositeMember> members;
            for (const auto& [at, size] : boxes) {
                const std::uint8_t layout = random.pick({layout_tag::row_major, layout_tag::col_major,
                                                         layout_tag::strided, layout_tag::tiled, layout_tag::morton});
                members.emplace_back(dense(type, layout, size, {shape, at}, bits, 64 * random.below(2)));
            }
            const auto count = static_cast<std::uint32_t>(members.size());
            const auto whole = make(head(shape, {composition_rule::partition, 0, count}, type), std::move(members));
            ASSERT_TRUE(whole.has_value()) << whole.error().message;
            expect_elements(**whole, bits);
        }
    }
}

TEST(Merge, PlacesOfPartitionsAreFoundWithoutACopy) {
    const Bits bits = [](Index index) { return number(test::float32, static_cast<double>(10 * index[0] + index[1])); };
    const Shape whole = {8, 8};
    std::vector<CompositeMember> halves;
    halves.emplace_back(dense(test::float32, layout_tag::row_major, {8, 4}, {whole, {0, 0}}, bits));
    halves.emplace_back(dense(test::float32, layout_tag::col_major, {8, 4}, {whole, {0, 4}}, bits));
    const auto made = make(head(whole, {composition_rule::partition, 0, 2}), std::move(halves)).value();
    const auto place = locate(*made, Shape{3, 6});
    ASSERT_TRUE(place.has_value()) << place.error().message;
    EXPECT_EQ(place->tensor, made->members()[1].tensor());
    EXPECT_EQ(Shape(place->index().begin(), place->index().end()), (Shape{3, 2}));
    EXPECT_EQ(get_float64(*made, Shape{3, 6}).value(), 36);
    EXPECT_EQ(get_complex128(*made, Shape{3, 6}).value(), std::complex<double>(36, 0));
    EXPECT_EQ(locate(*made, Shape{8, 0}).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(get_bits(*made, Shape{0, 8}).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(get_bits(*made, Shape{0}).error().code, Status::invalid_argument);
    expect_elements(*made, bits);
}

TEST(Merge, SparseMembersAreZeroWhereNothingIsStored) {
    const Shape whole = {4, 6};
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
        for (const std::uint8_t type : {test::boolean, test::int4, test::float6, test::float32}) {
            const RawBits one = number(type, 1);
            std::vector<CompositeMember> members;
            members.emplace_back(sparse(type, layout, {4, 3}, {whole, {0, 0}},
                                        {{{0, 1}, one}, {{2, 0}, one}, {{2, 2}, one}, {{3, 1}, one}}));
            members.emplace_back(sparse(type, layout, {4, 3}, {whole, {0, 3}}, {{{3, 2}, one}}));
            const auto made = make(head(whole, {composition_rule::partition, 0, 2}, type), std::move(members)).value();
            expect_elements(*made, [&](Index i) {
                const bool stored = (i[0] == 0 && i[1] == 1) || (i[0] == 2 && (i[1] == 0 || i[1] == 2)) ||
                                    (i[0] == 3 && (i[1] == 1 || i[1] == 5));
                return stored ? one : RawBits{};
            });
        }
    }
}

// COO in any order, of float32; entry i is i + 1.
Tensor unsorted(const Shape& shape, const Where& where, const std::vector<Shape>& indices) {
    DescriptorBuilder builder(test::float32, layout_tag::coo, shape);
    set_place(builder, where);
    const std::uint64_t nnz = indices.size();
    builder.set_coo({.nnz = nnz, .is_sorted = false});
    std::vector<Buffer> buffers = {allocate_buffer(4 * nnz).value(), allocate_buffer(8 * nnz * shape.size()).value()};
    for (std::size_t i = 0; i < nnz; ++i) {
        const float value = static_cast<float>(i) + 1;
        std::memcpy(buffers[0].data + 4 * i, &value, 4);
        for (std::size_t k = 0; k < shape.size(); ++k) put_u64(buffers[1], i * shape.size() + k, indices[i][k]);
    }
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build();
    EXPECT_TRUE(built.has_value()) << built.error().message;
    return {std::move(*built), std::move(buffers)};
}

constexpr CompositeFields replace_of(std::uint32_t members) {
    return {composition_rule::overlay, combine_op::replace, members};
}
constexpr CompositeFields add_of(std::uint32_t members) {
    return {composition_rule::overlay, combine_op::add, members};
}

TEST(Merge, UnsortedEntriesThatAreTwiceThereAreRefused) {
    const Shape whole = {4, 6};
    const std::vector<Shape> once = {{3, 1}, {0, 2}, {2, 2}};
    const std::vector<Shape> twice = {{3, 1}, {0, 2}, {3, 1}};
    const auto with = [&](std::uint8_t op, const std::vector<Shape>& indices) {
        std::vector<CompositeMember> members;
        if (op == combine_op::none) {
            members.emplace_back(unsorted(whole, {whole, {0, 0}}, indices));
            return make(head(whole, {composition_rule::partition, 0, 1}), std::move(members)).value();
        }
        members.emplace_back(dense(test::float32, layout_tag::row_major, whole, {whole, {0, 0}, MemberRole::base},
                                   [](Index) { return number(test::float32, 0); }));
        members.emplace_back(unsorted(whole, {whole, {0, 0}, MemberRole::correction}, indices));
        return make(head(whole, {composition_rule::overlay, op, 2}), std::move(members)).value();
    };
    for (const std::uint8_t op : {combine_op::none, combine_op::replace, combine_op::add}) {
        expect_elements(*with(op, once), [](Index i) {
            if (i[0] == 3 && i[1] == 1) return number(test::float32, 1);
            if (i[0] == 0 && i[1] == 2) return number(test::float32, 2);
            return number(test::float32, i[0] == 2 && i[1] == 2 ? 3 : 0);
        });
        const auto made = with(op, twice);
        const auto refused = merged(*made);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, Status::invalid_layout);
        EXPECT_EQ(refused.error().offset, 2 * 2 * 8U);
        const auto alone = get_bits(*made, Shape{3, 1});
        ASSERT_FALSE(alone.has_value());
        EXPECT_EQ(alone.error().code, Status::invalid_layout);
        EXPECT_EQ(alone.error().offset, 2 * 2 * 8U);
        EXPECT_STREQ(alone.error().message, refused.error().message);
        EXPECT_EQ(get_bits(*made, Shape{0, 2}).value(), number(test::float32, 2));
        // A bit for each of the 24 elements besides the 96 bytes of the result.
        const auto right = with(op, once);
        EXPECT_EQ(merged(*right, {.memory_limit = 96}).error().code, Status::limit_exceeded);
        EXPECT_TRUE(merged(*right, {.memory_limit = 100}).has_value());
    }
}

TEST(Merge, LaterCorrectionsReplaceEarlierOnesWithinTheirBoxes) {
    const Shape whole = {5, 6};
    for (const std::uint8_t type : {test::boolean, test::int4, test::float6, test::uint8, test::float32}) {
        const auto constant = [&](double value) { return [=](Index) { return number(type, value); }; };
        const double low = type == test::boolean ? 0 : 1;
        std::vector<CompositeMember> members;
        const Where base{whole, {0, 0}, MemberRole::base};
        const auto at = [&](const Shape& start) { return Where{whole, start, MemberRole::correction}; };
        members.emplace_back(dense(type, layout_tag::col_major, {5, 6}, base, constant(low)));
        members.emplace_back(dense(type, layout_tag::row_major, {2, 3}, at({1, 1}), constant(0)));
        // What it does not store is not covered; what it stores as 0 is.
        members.emplace_back(sparse(type, layout_tag::coo, {4, 4}, at({1, 2}),
                                    {{{0, 0}, number(type, 1)}, {{1, 1}, number(type, 1)}, {{2, 2}, number(type, 0)}}));
        members.emplace_back(dense(type, layout_tag::tiled, {1, 3}, at({4, 3}), constant(1)));
        const auto made = make(head(whole, replace_of(4), type), std::move(members)).value();
        expect_elements(*made, [&](Index i) {
            if (i[0] == 4 && i[1] >= 3) return number(type, 1);
            if (i[0] == 1 && i[1] == 2) return number(type, 1);
            if (i[0] == 2 && i[1] == 3) return number(type, 1);
            if (i[0] == 3 && i[1] == 4) return number(type, 0);
            if (i[0] >= 1 && i[0] <= 2 && i[1] >= 1 && i[1] <= 3) return number(type, 0);
            return number(type, low);
        });
        EXPECT_EQ(locate(*made, Shape{0, 0}).error().code, Status::unsupported);
    }
}

TEST(Merge, SumsAreRoundedAfterEachCorrection) {
    const Shape whole = {2, 3};
    // 2048 + 1 is 2048 in float16 (to even), twice; 2048 + 2 would be 2050.
    const auto constant = [&](double value) { return [=](Index) { return number(test::float16, value); }; };
    std::vector<CompositeMember> members;
    members.emplace_back(
        dense(test::float16, layout_tag::row_major, whole, {whole, {0, 0}, MemberRole::base}, constant(2048)));
    for (int i = 0; i < 2; ++i) {
        members.emplace_back(
            dense(test::float16, layout_tag::col_major, {2, 2}, {whole, {0, 1}, MemberRole::correction}, constant(1)));
    }
    members.emplace_back(sparse(test::float16, layout_tag::csr, whole, {whole, {0, 0}, MemberRole::correction},
                                {{{0, 0}, number(test::float16, 3)}, {{1, 2}, number(test::float16, 60000)}}));
    members.emplace_back(sparse(test::float16, layout_tag::csc, whole, {whole, {0, 0}, MemberRole::correction},
                                {{{1, 2}, number(test::float16, 6000)}}));
    const auto made = make(head(whole, add_of(5), test::float16), std::move(members)).value();
    expect_elements(*made, [&](Index i) {
        if (i[0] == 0 && i[1] == 0) return number(test::float16, 2052);
        // 62048 is 62048, and the sum beyond float16 infinity.
        if (i[0] == 1 && i[1] == 2) return RawBits{0x7C00, 0};
        return number(test::float16, 2048);
    });
}

TEST(Merge, SumsOfEveryTypeThatHasThem) {
    const Shape whole = {3, 5};
    const double terms[] = {1, 2, 0};
    for (int tag = 0; tag < 256; ++tag) {
        const auto type = static_cast<std::uint8_t>(tag);
        const ElementTypeInfo* info = find_element_type(type);
        if (info == nullptr) continue;
        std::vector<CompositeMember> members;
        for (std::size_t i = 0; i < 3; ++i) {
            const bool one = info->kind == ElementKind::exponent || info->kind == ElementKind::boolean;
            const double value = one ? 1 : info->bits == 2 ? terms[i] / 2 : terms[i];
            const RawBits bits = number(type, value);
            const std::uint8_t layout = i == 1 ? layout_tag::col_major : layout_tag::row_major;
            members.emplace_back(
                dense(type, layout, i == 2 ? Shape{3, 2} : whole,
                      {whole, i == 2 ? Shape{0, 1} : Shape{0, 0}, i == 0 ? MemberRole::base : MemberRole::correction},
                      [=](Index) { return bits; }));
        }
        const auto made = make(head(whole, add_of(3), type), std::move(members)).value();
        if (info->kind == ElementKind::boolean || info->kind == ElementKind::exponent || type == 0x46) {
            EXPECT_EQ(merged(*made).error().code, Status::unsupported) << info->name;
            EXPECT_EQ(get_bits(*made, Shape{0, 0}).error().code, Status::unsupported) << info->name;
            continue;
        }
        // 0.5 is 0 in integers.
        const double expected = info->bits == 2 ? 1 : 3;
        expect_elements(*made, [&](Index) { return number(type, expected); });
    }
}

TEST(Merge, IntegerSumsBeyondTheTypeAreRefused) {
    const Shape whole = {2};
    const std::pair<std::uint8_t, RawBits> largest[] = {{test::int8, {0x7F, 0}},        {test::uint8, {0xFF, 0}},
                                                        {test::int4, {0x7, 0}},         {0x14, {0x7FFFFFFF, 0}},
                                                        {0x15, {0xFFFFFFFF, 0}},        {0x16, {0x7FFFFFFFFFFFFFFF, 0}},
                                                        {0x17, {0xFFFFFFFFFFFFFFFF, 0}}};
    for (const auto& [type, most] : largest) {
        for (const bool fits : {true, false}) {
            const RawBits base = fits ? RawBits{most.low - 1, 0} : most;
            std::vector<CompositeMember> members;
            members.emplace_back(
                dense(type, layout_tag::row_major, whole, {whole, {0}, MemberRole::base}, [&, &most = most](Index i) {
                    return i[0] == 1 ? base : RawBits{most.low - 1, 0};
                }));
            members.emplace_back(
                dense(type, layout_tag::row_major, whole, {whole, {0}, MemberRole::correction}, [](Index) {
                    return RawBits{1, 0};
                }));
            const auto made = make(head(whole, add_of(2), type), std::move(members)).value();
            if (fits) {
                expect_elements(*made, [&, &most = most](Index) { return most; });
            } else {
                EXPECT_EQ(merged(*made).error().code, Status::unsupported) << int{type};
                EXPECT_EQ(get_bits(*made, Shape{0}).value(), most) << int{type};
                EXPECT_EQ(get_bits(*made, Shape{1}).error().code, Status::unsupported) << int{type};
            }
        }
    }
}

// int4 in blocks, with float16 scales, and scattered float16 outliers: the use that overlays were made for.
Tensor quantized_base(const Shape& whole, std::uint8_t layout, std::optional<MemberRole> role, const Shape& at,
                      const Shape& shape) {
    DescriptorBuilder builder(test::int4, layout, shape);
    set_place(builder, {whole, at, role});
    builder.set_quantization({.scheme = scheme_tag::per_block_affine,
                              .flags = QuantizationFields::symmetric_flag,
                              .scale_type = test::float16,
                              .axis = 1,
                              .block_size = 4,
                              .scale_buffer = 1});
    std::vector<Buffer> buffers;
    const std::uint64_t blocks = (shape[1] + 3) / 4;
    buffers.push_back(allocate_buffer(packed_byte_size(test::int4, shape[0] * blocks * 4).value()).value());
    buffers.push_back(allocate_buffer(2 * shape[0] * blocks).value());
    for (std::size_t i = 0; i < shape[0] * blocks; ++i) {
        EXPECT_TRUE(
            store_float64(number_format(test::float16).value(), buffers[1].bytes(), i, 0.25 * (1.0 + double(i))));
    }
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build();
    EXPECT_TRUE(built.has_value()) << built.error().message;
    const auto map = AddressMap::make(*built).value();
    for_each_index(shape, [&](Index i) {
        const double code = static_cast<double>((i[0] + 3 * i[1]) % 16) - 8;
        EXPECT_TRUE(store_float64(number_format(test::int4).value(), buffers[0].bytes(),
                                  static_cast<std::uint64_t>(map.checked_offset(i).value()), code));
    });
    return {std::move(*built), std::move(buffers)};
}

double dequantized(Index i, const Shape& shape) {
    const double scale = 0.25 * (1.0 + static_cast<double>(i[0] * ((shape[1] + 3) / 4) + i[1] / 4));
    return scale * (static_cast<double>((i[0] + 3 * i[1]) % 16) - 8);
}

TEST(Merge, AQuantizedBaseWithSparseOutliers) {
    const Shape whole = {6, 10};
    // Those that dequantize makes at once, and one that it does not make.
    for (const std::uint8_t type :
         {test::float16, std::uint8_t{0x02}, test::float32, std::uint8_t{0x04}, std::uint8_t{0x41}}) {
        for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
            for (const std::uint8_t op : {combine_op::replace, combine_op::add}) {
                std::vector<CompositeMember> members;
                members.emplace_back(quantized_base(whole, layout, MemberRole::base, {0, 0}, whole));
                const RawBits outlier = number(type, 40);
                const Where where{whole, {0, 0}, MemberRole::correction};
                members.emplace_back(sparse(type, layout_tag::coo, whole, where,
                                            {{{0, 3}, outlier}, {{2, 9}, outlier}, {{5, 0}, outlier}}));
                const auto made =
                    make(head(whole, {composition_rule::overlay, op, 2}, type), std::move(members)).value();
                expect_elements(*made, [&](Index i) {
                    const RawBits below = number(type, dequantized(i, whole));
                    const bool hit = (i[0] == 0 && i[1] == 3) || (i[0] == 2 && i[1] == 9) || (i[0] == 5 && i[1] == 0);
                    if (!hit) return below;
                    if (op == combine_op::replace) return outlier;
                    const NumberFormat format = number_format(type).value();
                    std::array<std::byte, 16> bytes{};
                    EXPECT_TRUE(store_bits(format, bytes, 0, below));
                    return number(type, load_float64(format, bytes, 0).value() + 40);
                });
            }
        }
    }
}

TEST(Merge, QuantizedPartsAndQuantizedCorrections) {
    const Shape whole = {6, 10};
    std::vector<CompositeMember> parts;
    parts.emplace_back(quantized_base(whole, layout_tag::row_major, {}, {0, 0}, {6, 4}));
    parts.emplace_back(quantized_base(whole, layout_tag::col_major, {}, {0, 4}, {6, 6}));
    const auto made = make(head(whole, {composition_rule::partition, 0, 2}), std::move(parts)).value();
    expect_elements(*made, [&](Index i) {
        if (i[1] < 4) return number(test::float32, dequantized(i, {6, 4}));
        return number(test::float32, dequantized(Shape{i[0], i[1] - 4}, {6, 6}));
    });

    DescriptorBuilder builder(test::int8, layout_tag::coo, whole);
    set_place(builder, {whole, {0, 0}, MemberRole::correction});
    builder.set_coo({.nnz = 2, .is_sorted = true});
    builder.set_quantization({.scheme = scheme_tag::per_tensor_affine, .scale = 0.5, .zero_point = 10});
    std::vector<Buffer> buffers = {allocate_buffer(2).value(), allocate_buffer(32).value()};
    buffers[0].data[0] = std::byte{12};
    buffers[0].data[1] = std::byte{4};
    const std::uint64_t places[] = {1, 1, 4, 9};
    for (std::size_t i = 0; i < 4; ++i) put_u64(buffers[1], i, places[i]);
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto built = builder.build();
    ASSERT_TRUE(built.has_value()) << built.error().message;
    std::vector<CompositeMember> members;
    members.emplace_back(quantized_base(whole, layout_tag::row_major, MemberRole::base, {0, 0}, whole));
    members.emplace_back(Tensor{std::move(*built), std::move(buffers)});
    const auto overlay = make(head(whole, add_of(2)), std::move(members)).value();
    expect_elements(*overlay, [&](Index i) {
        const double more = i[0] == 1 && i[1] == 1 ? 1 : i[0] == 4 && i[1] == 9 ? -3 : 0;
        return number(test::float32, dequantized(i, whole) + more);
    });
}

TEST(Merge, NestedCompositesLieAtTheirPlace) {
    const Shape whole = {4, 9};
    const Bits bits = [](Index i) { return number(test::int4, static_cast<double>((3 * i[0] + i[1]) % 8)); };
    // A partition in a partition, and an overlay in that one.
    const Shape inner = {3, 5};
    const Shape innermost = {3, 2};
    std::vector<CompositeMember> layers;
    layers.emplace_back(
        dense(test::int4, layout_tag::row_major, innermost, {innermost, {0, 0}, MemberRole::base}, bits));
    layers.emplace_back(sparse(test::int4, layout_tag::coo, {2, 1}, {innermost, {1, 1}, MemberRole::correction},
                               {{{1, 0}, number(test::int4, -8)}}));
    std::vector<CompositeMember> parts;
    parts.emplace_back(dense(test::int4, layout_tag::col_major, {3, 3}, {inner, {0, 0}}, bits));
    parts.emplace_back(make(head(innermost, replace_of(2), test::int4, inner, {0, 3}), std::move(layers)).value());
    std::vector<CompositeMember> members;
    members.emplace_back(dense(test::int4, layout_tag::tiled, {4, 4}, {whole, {0, 0}}, bits));
    members.emplace_back(
        make(head(inner, {composition_rule::partition, 0, 2}, test::int4, whole, {1, 4}), std::move(parts)).value());
    members.emplace_back(dense(test::int4, layout_tag::morton, {1, 5}, {whole, {0, 4}}, bits));
    const auto made = make(head(whole, {composition_rule::partition, 0, 3}, test::int4), std::move(members)).value();
    expect_elements(*made, [&](Index i) {
        if (i[0] == 3 && i[1] == 8) return number(test::int4, -8);
        if (i[0] >= 1 && i[1] >= 7) return bits(Shape{i[0] - 1, i[1] - 7});
        if (i[0] >= 1 && i[1] >= 4) return bits(Shape{i[0] - 1, i[1] - 4});
        return bits(i);
    });
    const auto place = locate(*made, Shape{2, 5});
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(Shape(place->index().begin(), place->index().end()), (Shape{1, 1}));
    EXPECT_EQ(locate(*made, Shape{2, 7}).error().code, Status::unsupported);
}

TEST(Merge, EmptyWholesAndEmptyMembers) {
    const Bits zero = [](Index) { return RawBits{}; };
    const auto empty = make(head({3, 0}, {composition_rule::partition, 0, 0}), {}).value();
    const auto result = merged(*empty);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_TRUE(result->buffers[0].bytes().empty());
    std::vector<CompositeMember> members;
    members.emplace_back(dense(test::float32, layout_tag::row_major, {2}, {{2}, {0}}, zero));
    members.emplace_back(dense(test::float32, layout_tag::row_major, {0}, {{2}, {1}}, zero));
    expect_elements(*make(head({2}, {composition_rule::partition, 0, 2}), std::move(members)).value(), zero);
}

TEST(Merge, TheResultIsAPartOfTheHeadsParent) {
    std::vector<CompositeMember> members;
    members.emplace_back(dense(test::float32, layout_tag::row_major, {2}, {{2}, {0}}, [](Index) { return RawBits{}; }));
    const auto made =
        make(head({2}, {composition_rule::partition, 0, 1}, test::float32, Shape{6}, {3}), std::move(members)).value();
    const auto result = merged(*made).value();
    EXPECT_EQ(result.descriptor.parent_shape()[0], 6U);
    EXPECT_EQ(result.descriptor.shard_offset()[0], 3U);
}

TEST(Merge, GroupsAndPrivateRulesAreRefused) {
    const auto group = make(head({1}, {composition_rule::group, 0, 0}), {}).value();
    EXPECT_EQ(merged(*group).error().code, Status::unsupported);
    EXPECT_EQ(get_bits(*group, Shape{0}).error().code, Status::unsupported);
    EXPECT_EQ(locate(*group, Shape{0}).error().code, Status::unsupported);
    const auto other = make(head({1}, {0xF0, 0, 0}), {}).value();
    EXPECT_EQ(merged(*other).error().code, Status::unsupported);
    const auto dynamic = make(head({dynamic_dimension}, {composition_rule::group, 0, 0}), {}).value();
    EXPECT_EQ(merged(*dynamic).error().code, Status::unsupported);
}

TEST(Merge, HugeWholesAreRefusedBeforeMemoryIsTaken) {
    const std::uint64_t half = std::uint64_t{1} << 30;
    std::vector<CompositeMember> members;
    const Shape whole = {half, half};
    members.emplace_back(sparse(test::float32, layout_tag::coo, whole, {whole, {0, 0}}, {}));
    const auto made = make(head(whole, {composition_rule::partition, 0, 1}), std::move(members)).value();
    EXPECT_EQ(merged(*made, {.memory_limit = 1 << 20}).error().code, Status::limit_exceeded);
    EXPECT_EQ(get_float64(*made, Shape{half - 1, 7}).value(), 0);
}

TEST(Merge, BytesOfOthersAreNotRead) {
    auto members = test::parts({4}, {{{0}, {4}}});
    Tensor lent = *members[0].tensor();
    lent.buffers[0].prefix = 4;
    members.clear();
    members.emplace_back(lent);
    const auto made = make(head({4}, {composition_rule::partition, 0, 1}), std::move(members)).value();
    EXPECT_FALSE(merged(*made).has_value());
    EXPECT_FALSE(get_bits(*made, Shape{0}).has_value());
}

struct Reports {
    std::uint64_t calls = 0;
    std::uint64_t last = 0;
    std::uint64_t total = 0;
    std::uint64_t stop_at = ~std::uint64_t{0};

    static bool report(void* context, std::uint64_t done, std::uint64_t total) {
        auto& reports = *static_cast<Reports*>(context);
        EXPECT_GE(done, reports.last);
        EXPECT_LE(done, total);
        EXPECT_TRUE(reports.calls == 0 || total == reports.total);
        reports.last = done;
        reports.total = total;
        return ++reports.calls < reports.stop_at;
    }
};

std::shared_ptr<const Composite> large_overlay(std::uint8_t op) {
    const Shape whole = {512, 1024};
    std::vector<CompositeMember> members;
    members.emplace_back(quantized_base(whole, layout_tag::row_major, MemberRole::base, {0, 0}, whole));
    for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
        members.emplace_back(dense(test::float32, layout, {512, 512}, {whole, {0, 256}, MemberRole::correction},
                                   [](Index) { return number(test::float32, 1); }));
    }
    return make(head(whole, {composition_rule::overlay, op, 3}), std::move(members)).value();
}

TEST(Merge, ProgressIsReportedAndCanStopTheWork) {
    for (const std::uint8_t op : {combine_op::replace, combine_op::add}) {
        const auto made = large_overlay(op);
        Reports all;
        const auto result = merged(*made, {.progress = Reports::report, .context = &all});
        ASSERT_TRUE(result.has_value()) << result.error().message;
        EXPECT_GE(all.calls, 3U);
        EXPECT_EQ(all.last, all.total);
        const std::uint64_t references = made->members()[1].tensor()->buffers[0].storage->references();
        for (std::uint64_t stop = 1; stop <= all.calls; ++stop) {
            Reports some{.stop_at = stop};
            EXPECT_EQ(merged(*made, {.progress = Reports::report, .context = &some}).error().code, Status::cancelled);
            EXPECT_EQ(some.calls, stop);
        }
        EXPECT_EQ(made->members()[1].tensor()->buffers[0].storage->references(), references);
    }
}

TEST(Merge, MemoryIsLimited) {
    const auto made = large_overlay(combine_op::add);
    const std::uint64_t result = 512 * 1024 * 4;
    // The result, and a row-major copy of the column-major correction.
    EXPECT_EQ(merged(*made, {.memory_limit = result}).error().code, Status::limit_exceeded);
    EXPECT_EQ(merged(*made, {.memory_limit = result + result / 2 - 1}).error().code, Status::limit_exceeded);
    const auto enough = merged(*made, {.memory_limit = 2 * result});
    EXPECT_TRUE(enough.has_value()) << enough.error().message;
}

}  // namespace
}  // namespace hurray
