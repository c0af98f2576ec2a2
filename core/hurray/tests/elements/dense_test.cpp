// Requirements: elements of dense tensors are read from where the format puts them, bit by bit.
#include <algorithm>
#include <cstring>

#include "core/hurray/element.hpp"
#include "core/hurray/tests/dense_layouts/dense_layouts.hpp"

namespace hurray {
namespace {

using test::json;

Tensor with_random_bytes(Descriptor&& descriptor, std::uint64_t seed) {
    Buffer buffer = allocate_buffer(descriptor.buffers()[0].byte_size, descriptor.buffers()[0].alignment).value();
    test::Random random(seed);
    for (std::byte& byte : buffer.bytes()) byte = static_cast<std::byte>(random.next());
    return {std::move(descriptor), {buffer}};
}

// The bits of a run, one by one.
RawBits plain_bits(const Buffer& buffer, std::uint64_t first, std::uint32_t count) {
    RawBits bits;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t at = first + i;
        const auto bit = std::to_integer<std::uint64_t>(buffer.data[at / 8]) >> at % 8 & 1;
        (i < 64 ? bits.low : bits.high) |= bit << i % 64;
    }
    return bits;
}

TEST(DenseElements, AreThoseOfTheVectors) {
    int compared = 0;
    for (const json& entry : test::dense_vectors().at("valid")) {
        if (!entry.contains("offsets")) continue;
        const Tensor tensor = with_random_bytes(test::decode_exact(test::bytes_of(entry)).value(), compared);
        const auto reader = ElementReader::make(tensor);
        ASSERT_TRUE(reader.has_value()) << entry.at("name") << ": " << reader.error().message;
        const std::uint32_t bits = find_element_type(tensor.descriptor.element_type())->bits;
        std::size_t i = 0;
        test::for_each_index(tensor.descriptor.shape(), [&](std::span<const std::uint64_t> index) {
            const std::int64_t offset = entry.at("offsets")[i++];
            const std::int64_t first = static_cast<std::int64_t>(tensor.descriptor.byte_offset() * 8) + offset * bits;
            const auto bit = static_cast<std::uint64_t>(first);
            const ElementAddress expected = {
                .bits = bits, .bit = static_cast<std::uint32_t>(bit % 8), .byte = bit / 8};
            ASSERT_EQ(reader->address(index).value(), expected) << entry.at("name");
            ASSERT_EQ(element_address(tensor, index).value(), expected);
            ASSERT_EQ(reader->bits(index).value(), plain_bits(tensor.buffers[0], bit, bits)) << entry.at("name");
            ASSERT_EQ(get_bits(tensor, index).value(), reader->bits(index).value());
            ++compared;
        });
    }
    EXPECT_GT(compared, 1000);
}

// Every type, forwards and backwards, from the middle of the buffer: element i of a run of known numbers.
TEST(DenseElements, OfEveryTypeInBothDirections) {
    for (int tag = 0; tag < 256; ++tag) {
        const ElementTypeInfo* type = find_element_type(static_cast<std::uint8_t>(tag));
        if (type == nullptr) continue;
        for (const std::int64_t stride : {1, 3, -1, -2, 0}) {
            // Room for 64 elements on both sides of byte_offset, which is at whole groups.
            const std::uint64_t half = packed_size(*type, 64).value();
            auto descriptor = test::build({.type = static_cast<std::uint8_t>(tag),
                                           .layout = layout_tag::strided,
                                           .shape = {20},
                                           .strides = {stride},
                                           .byte_offset = half,
                                           .buffers = {{.byte_size = 2 * half}}});
            const Tensor tensor = with_random_bytes(std::move(*descriptor), static_cast<std::uint64_t>(tag));
            const auto reader = ElementReader::make(tensor).value();
            for (std::uint64_t i = 0; i < 20; ++i) {
                const std::uint64_t index[] = {i};
                const std::int64_t offset = static_cast<std::int64_t>(i) * stride;
                const auto place = static_cast<std::uint64_t>(64 + offset);
                EXPECT_EQ(reader.bits(index).value(), plain_bits(tensor.buffers[0], place * type->bits, type->bits))
                    << type->name << " " << i;
                const auto format = number_format(static_cast<std::uint8_t>(tag)).value();
                const auto expected = load_complex128(format, tensor.buffers[0].bytes(), place);
                const auto got = reader.complex128(index);
                ASSERT_EQ(got.has_value(), expected.has_value()) << type->name;
                if (got) {
                    EXPECT_EQ(std::memcmp(&*got, &*expected, sizeof *got), 0) << type->name << " " << i;
                }
                const auto real = reader.float64(index);
                if (type->kind == ElementKind::complex) {
                    EXPECT_EQ(real.error().code, Status::unsupported);
                } else if (real) {
                    const double value = expected->real();
                    EXPECT_EQ(std::memcmp(&*real, &value, sizeof value), 0) << type->name;
                }
            }
        }
    }
}

}  // namespace
}  // namespace hurray
