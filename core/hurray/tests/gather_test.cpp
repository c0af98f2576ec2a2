// Requirements: copies are row-major, packed and keep every bit of every element.
#include "core/hurray/layout/gather.hpp"

#include <gtest/gtest.h>

#include "core/hurray/layout/dense_view.hpp"
#include "core/hurray/tests/support.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;

constexpr std::uint8_t all_types[] = {0x01, 0x02, 0x03, 0x04, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x20,
                                      0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x48, 0x49, 0x4A, 0x4B, 0x50, 0x51};

// Bit by bit, as the format words it: element e starts at bit e * bits behind byte_offset, LSB first.
bool bit_at(const Bytes& bytes, std::int64_t bit) {
    return (static_cast<unsigned>(bytes[static_cast<std::size_t>(bit >> 3)]) >> (bit & 7) & 1) != 0;
}

Bytes gathered_bit_by_bit(const Descriptor& descriptor, const Bytes& buffer) {
    const ElementTypeInfo& type = *find_element_type(descriptor.element_type());
    const std::uint64_t count = descriptor.element_count().value();
    Bytes out(packed_byte_size(type, count).value());
    std::vector<std::int64_t> strides(descriptor.rank());
    EXPECT_TRUE(dense_strides(descriptor, strides).has_value());
    for (std::uint64_t element = 0; element < count; ++element) {
        std::uint64_t rest = element;
        std::int64_t offset = 0;
        for (std::size_t k = descriptor.rank(); k-- > 0;) {
            offset += static_cast<std::int64_t>(rest % descriptor.shape()[k]) * strides[k];
            rest /= descriptor.shape()[k];
        }
        const auto bits = static_cast<std::int64_t>(type.bits);
        for (std::int64_t bit = 0; bit < bits; ++bit) {
            if (!bit_at(buffer, static_cast<std::int64_t>(descriptor.byte_offset()) * 8 + offset * bits + bit))
                continue;
            const std::int64_t to = static_cast<std::int64_t>(element) * bits + bit;
            out[static_cast<std::size_t>(to >> 3)] |= static_cast<std::byte>(1 << (to & 7));
        }
    }
    return out;
}

Bytes noise(std::size_t size, test::Random& random) {
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() & 0xFF);
    return bytes;
}

void expect_gather(const Descriptor& descriptor, test::Random& random) {
    const Bytes buffer = noise(descriptor.buffers()[0].byte_size, random);
    const std::uint64_t size = packed_byte_size(descriptor.element_type(), descriptor.element_count().value()).value();
    Bytes out(size, std::byte{0xAA});
    const auto gathered = gather_row_major(descriptor, buffer, out);
    ASSERT_TRUE(gathered.has_value()) << gathered.error().message;
    ASSERT_EQ(out, gathered_bit_by_bit(descriptor, buffer)) << "type " << int{descriptor.element_type()};
}

TEST(Gather, AgreesWithTheFormatBitByBitForEveryTypeAndLayout) {
    test::Random random(7);
    for (const std::uint8_t type : all_types) {
        for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
            for (const auto& shape :
                 {std::vector<std::uint64_t>{}, {1}, {13}, {3, 5}, {2, 3, 4}, {0, 3}, {1, 7, 1}, {2, 2, 2, 2, 2}}) {
                if (shape.empty() && layout == layout_tag::col_major) continue;
                expect_gather(test::build({.type = type,
                                           .layout = layout,
                                           .shape = shape,
                                           .byte_offset = 5,
                                           .buffers = {{.byte_size = 2000}}})
                                  .value(),
                              random);
            }
        }
    }
}

TEST(Gather, AgreesWithTheFormatForAnyStrides) {
    test::Random random(11);
    for (int i = 0; i < 4000; ++i) {
        const std::uint8_t type = all_types[random.below(std::size(all_types))];
        std::vector<std::uint64_t> shape(1 + random.below(5));
        std::vector<std::int64_t> strides(shape.size());
        for (std::uint64_t& size : shape) size = random.below(5);
        for (std::int64_t& stride : strides) stride = random.between(-9, 9);
        const auto descriptor = test::build({.type = type,
                                             .layout = layout_tag::strided,
                                             .shape = shape,
                                             .strides = strides,
                                             .byte_offset = 3000,
                                             .buffers = {{.byte_size = 6100}}});
        ASSERT_TRUE(descriptor.has_value()) << descriptor.error().message;
        expect_gather(*descriptor, random);
    }
}

TEST(Gather, ReadsOnlyWhatTheElementsReach) {
    test::Random random(13);
    for (const std::uint8_t type : all_types) {
        // The smallest buffer that the strides allow: a sanitizer sees a read beyond it.
        const std::uint64_t below = packed_byte_size(type, 6).value();
        const std::uint64_t above = packed_byte_size(type, 11).value();
        const auto descriptor = test::build({.type = type,
                                             .layout = layout_tag::strided,
                                             .shape = {4, 3},
                                             .strides = {-2, 5},
                                             .byte_offset = below,
                                             .buffers = {{.byte_size = below + above}}});
        ASSERT_TRUE(descriptor.has_value()) << descriptor.error().message;
        expect_gather(*descriptor, random);
    }
}

TEST(Gather, RefusesWrongSizes) {
    const auto descriptor = test::build({.shape = {3}, .buffers = {{.byte_size = 16}}}).value();
    Bytes buffer(16);
    Bytes out(12);
    EXPECT_TRUE(gather_row_major(descriptor, buffer, out).has_value());
    EXPECT_EQ(fault(gather_row_major(descriptor, std::span(buffer).first(15), out)),
              fault_of(Status::invalid_argument, Error::no_offset));
    EXPECT_EQ(fault(gather_row_major(descriptor, buffer, std::span(out).first(11))),
              fault_of(Status::invalid_argument, Error::no_offset));
}

Tensor tensor_of(const test::DescriptorSpec& spec, test::Random& random) {
    Tensor tensor{test::build(spec).value(), {}};
    tensor.buffers.push_back(allocate_buffer(spec.buffers[0].byte_size, spec.buffers[0].alignment).value());
    tensor.buffers[0].handle = spec.buffers[0];
    if (spec.buffers[0].byte_size != 0) {
        const Bytes bytes = noise(spec.buffers[0].byte_size, random);
        std::copy(bytes.begin(), bytes.end(), tensor.buffers[0].data);
    }
    return tensor;
}

TEST(CopyRowMajor, MakesAnAlignedRowMajorTensorWithByteOffset0) {
    test::Random random(17);
    const Tensor source = tensor_of({.layout = layout_tag::strided,
                                     .shape = {3, 4},
                                     .strides = {-4, 1},
                                     .byte_offset = 39,
                                     .buffers = {{.byte_size = 100}},
                                     .parent_shape = {{6, 4}},
                                     .shard_offset = {3, 0}},
                                    random);
    for (const std::uint32_t alignment : {0U, 64U, 4096U}) {
        const auto copy = copy_row_major(source, alignment);
        ASSERT_TRUE(copy.has_value()) << copy.error().message;
        EXPECT_EQ(copy->descriptor.layout(), layout_tag::row_major);
        EXPECT_EQ(copy->descriptor.byte_offset(), 0U);
        EXPECT_EQ(copy->descriptor.parent_shape()[0], 6U);
        EXPECT_EQ(copy->descriptor.shard_offset()[0], 3U);
        ASSERT_EQ(copy->buffers.size(), 1U);
        EXPECT_EQ(copy->buffers[0].prefix, 0U);
        EXPECT_EQ(copy->buffers[0].handle, copy->descriptor.buffers()[0]);
        EXPECT_EQ(copy->buffers[0].handle.byte_size, 48U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy->buffers[0].data) % (alignment == 0 ? 64 : alignment), 0U);
        const Bytes buffer(source.buffers[0].data, source.buffers[0].data + 100);
        EXPECT_EQ(Bytes(copy->buffers[0].data, copy->buffers[0].data + 48),
                  gathered_bit_by_bit(source.descriptor, buffer));
    }
}

TEST(CopyRowMajor, OfAScalarAndOfNothing) {
    test::Random random(19);
    EXPECT_EQ(
        copy_row_major(tensor_of({.byte_offset = 4, .buffers = {{.byte_size = 8}}}, random)).value().descriptor.rank(),
        0U);
    const auto empty =
        copy_row_major(tensor_of({.shape = {0, 3}, .buffers = {{.byte_size = 0, .alignment = 1}}}, random));
    ASSERT_TRUE(empty.has_value());
    EXPECT_EQ(empty->buffers[0].handle.byte_size, 0U);
}

TEST(CopyRowMajor, RefusesWhatItCannotCopy) {
    test::Random random(23);
    const Tensor source = tensor_of({.shape = {3}, .buffers = {{.byte_size = 12}}}, random);
    for (const std::uint32_t alignment : {1U, 32U, 96U, 65U}) {
        EXPECT_EQ(fault(copy_row_major(source, alignment)), fault_of(Status::invalid_argument, Error::no_offset))
            << alignment;
    }
    EXPECT_EQ(fault(copy_row_major({source.descriptor, {}})), fault_of(Status::invalid_argument, Error::no_offset));
    EXPECT_EQ(fault(copy_row_major(tensor_of({.shape = {dynamic_dimension}, .buffers = {{.byte_size = 12}}}, random))),
              fault_of(Status::invalid_layout, 20));
    Tensor device{test::build({.shape = {3}, .buffers = {{.byte_size = 12, .device_tag = device_tag::cuda}}}).value(),
                  {}};
    device.buffers.emplace_back();
    device.buffers[0].handle = device.descriptor.buffers()[0];
    EXPECT_EQ(fault(copy_row_major(device)), fault_of(Status::unsupported, Error::no_offset));
    // One element repeated over more memory than there is.
    EXPECT_EQ(fault(copy_row_major(tensor_of({.layout = layout_tag::strided,
                                              .shape = {std::uint64_t{1} << 61},
                                              .strides = {0},
                                              .buffers = {{.byte_size = 4}}},
                                             random))),
              fault_of(Status::out_of_memory, Error::no_offset));
}

}  // namespace
}  // namespace hurray
