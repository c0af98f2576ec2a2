// Requirements: format, validation in three levels: each violation with its code, place and message, and no byte read
// that the level before has not shown to be there.
#include "core/hurray/validation/validate.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/tests/block_paged/paged_tensors.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::buffer_of;
using test::Bytes;
using test::fault;
using test::fault_of;
using test::Paged;
using enum ValidationLevel;

constexpr std::uint64_t none = Error::no_offset;
constexpr std::uint8_t int8 = 0x10;
constexpr std::uint8_t uint8 = 0x11;
constexpr std::uint8_t boolean = 0x20;
constexpr std::uint8_t e8m0 = 0x42;
constexpr std::uint8_t float6 = 0x44;
constexpr std::uint8_t uint4 = 0x49;

Bytes bytes_of(std::initializer_list<int> values) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

struct Spec {
    std::uint8_t type = uint8;
    std::uint8_t layout = layout_tag::row_major;
    std::vector<std::uint64_t> shape = {4};
    std::vector<Buffer> buffers = {};
    std::uint64_t byte_offset = 0;
    std::function<void(DescriptorBuilder&)> fields = [](DescriptorBuilder&) {};
    PrivateTags private_tags = PrivateTags::refuse;
};

Tensor make(const Spec& spec) {
    DescriptorBuilder builder(spec.type, spec.layout, spec.shape);
    builder.set_byte_offset(spec.byte_offset);
    spec.fields(builder);
    for (const Buffer& buffer : spec.buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto descriptor = builder.build(spec.private_tags);
    EXPECT_TRUE(descriptor.has_value()) << descriptor.error().message;
    return {std::move(*descriptor), spec.buffers};
}

Tensor plain() {
    return make({.buffers = {buffer_of(bytes_of({1, 2, 3, 4}))}});
}

// The tensor is right up to the level before, and wrong from `level` on.
void expect_fault(const Tensor& tensor, ValidationLevel level, Status code, std::uint64_t offset,
                  const std::string& message) {
    for (const ValidationLevel lower : {descriptor, buffers}) {
        if (lower < level) {
            const auto right = validate(tensor, lower);
            EXPECT_TRUE(right.has_value()) << right.error().message;
        }
    }
    for (const ValidationLevel higher : {level, data}) {
        const auto wrong = validate(tensor, higher);
        EXPECT_EQ(fault(wrong), fault_of(code, offset)) << message;
        if (!wrong) {
            EXPECT_NE(std::string(wrong.error().message).find(message), std::string::npos) << wrong.error().message;
        }
    }
}

void expect_right(const Tensor& tensor) {
    for (const ValidationLevel level : {descriptor, buffers, data}) {
        const auto checked = validate(tensor, level);
        EXPECT_TRUE(checked.has_value()) << checked.error().message;
    }
}

TEST(Validate, LevelsAreOneToThree) {
    expect_right(plain());
    for (const int level : {0, 4, 255}) {
        EXPECT_EQ(fault(validate(plain(), static_cast<ValidationLevel>(level))), fault_of(Status::invalid_argument, none));
    }
}

// Level 1.

TEST(ValidateDescriptor, WhatAPermissiveReaderTookIsRefused) {
    Bytes bytes = test::encoded(plain().descriptor);
    bytes[14] = std::byte{0x47};
    const Tensor type{decode(bytes, {.mode = Mode::permissive}).value(), plain().buffers};
    expect_fault(type, descriptor, Status::invalid_type, 14, "type_tag");
    bytes = test::encoded(plain().descriptor);
    bytes[15] = std::byte{0x41};
    const Tensor layout{decode(bytes, {.mode = Mode::permissive}).value(), {}};
    expect_fault(layout, descriptor, Status::invalid_layout, 15, "layout_tag");
}

TEST(ValidateDescriptor, PrivateTagsAreTheCallersMatter) {
    const Spec spec = {.layout = 0xF4,
                       .buffers = {buffer_of(bytes_of({0xFF}))},
                       .fields = [](DescriptorBuilder& builder) { builder.set_private_layout({.id = 1}); },
                       .private_tags = PrivateTags::allow};
    const Tensor allowed = make(spec);
    expect_right(allowed);
    const Tensor permissive{decode(test::encoded(allowed.descriptor), {.mode = Mode::permissive}).value(),
                            allowed.buffers};
    expect_fault(permissive, descriptor, Status::invalid_layout, 15, "private F4");
}

TEST(ValidateDescriptor, MemoryIsLimited) {
    EXPECT_EQ(fault(validate(plain(), descriptor, {.memory_limit = 52})), fault_of(Status::limit_exceeded, none));
    EXPECT_TRUE(validate(plain(), descriptor, {.memory_limit = 53}).has_value());
}

// Level 2.

TEST(ValidateBuffers, Number) {
    Tensor tensor = plain();
    tensor.buffers.clear();
    expect_fault(tensor, buffers, Status::invalid_layout, none, "buffers: expected 1");
    tensor = plain();
    tensor.buffers.push_back(tensor.buffers[0]);
    expect_fault(tensor, buffers, Status::invalid_layout, none, "got 2");
}

TEST(ValidateBuffers, Size) {
    Tensor tensor = plain();
    tensor.buffers[0].handle.byte_size = 3;
    expect_fault(tensor, buffers, Status::buffer_too_small, none, "buffer 0: byte_size: expected at least 4");
    // Longer ones are right, and nobody looks at what is behind.
    tensor = plain();
    tensor.buffers[0].handle.byte_size = std::uint64_t{1} << 40;
    expect_right(tensor);
}

TEST(ValidateBuffers, Memory) {
    Tensor tensor = plain();
    tensor.buffers[0].data = nullptr;
    expect_fault(tensor, buffers, Status::null_pointer, none, "buffer 0: expected memory");
    expect_right(make({.shape = {0}, .buffers = {Buffer{}}}));
}

TEST(ValidateBuffers, Alignment) {
    Tensor tensor = plain();
    tensor.buffers[0].data += 32;
    expect_fault(tensor, buffers, Status::misaligned, none, "multiple of 64, the alignment of the descriptor");
    tensor = plain();
    tensor.buffers[0].handle.alignment = 32;
    expect_fault(tensor, buffers, Status::invalid_layout, none, "buffer 0: ");
    tensor = plain();
    tensor.buffers[0].handle.alignment = 96;
    expect_fault(tensor, buffers, Status::invalid_layout, none, "buffer 0: ");
    // The descriptor promises more than there is.
    Buffer weak = allocate_buffer(8192, 4096).value();
    weak.data += 64;
    weak.handle.byte_size = 4;
    tensor = make({.buffers = {weak}});
    expect_fault(tensor, buffers, Status::misaligned, none, "multiple of 4096, the alignment of the descriptor");
    Buffer right = weak;
    right.handle.alignment = 64;
    tensor = make({.buffers = {right}});
    expect_right(tensor);
    tensor.buffers[0].handle.alignment = 4096;
    expect_fault(tensor, buffers, Status::misaligned, none, "alignment of its handle");
}

TEST(ValidateBuffers, Place) {
    Tensor tensor = plain();
    tensor.buffers[0].handle.device_tag = device_tag::cuda;
    expect_fault(tensor, buffers, Status::invalid_type, none, "device_tag: expected 00");
    tensor = plain();
    tensor.buffers[0].handle.memory_class = memory_class::unified;
    expect_fault(tensor, buffers, Status::invalid_type, none, "memory_class: expected 00");
    tensor = plain();
    tensor.buffers[0].handle.memory_class = memory_class::peer;
    expect_fault(tensor, buffers, Status::invalid_type, none, "buffer 0: ");
    Buffer device = buffer_of(bytes_of({1, 2, 3, 4}));
    device.handle.device_tag = device_tag::cuda;
    tensor = make({.buffers = {device}});
    tensor.buffers[0].handle.sync_mode = sync_mode::event;
    expect_fault(tensor, buffers, Status::sync_mode_mismatch, none, "sync_mode: expected 00");
    tensor = plain();
    tensor.buffers[0].handle.sync_mode = sync_mode::event;
    expect_fault(tensor, buffers, Status::invalid_sync_mode, none, "buffer 0: ");
}

TEST(ValidateBuffers, BytesOfOthers) {
    Buffer lent = buffer_of(Bytes(20));
    lent.prefix = 8;
    expect_right(make({.buffers = {lent}, .byte_offset = 8}));
    Tensor tensor = make({.buffers = {lent}, .byte_offset = 7});
    expect_fault(tensor, buffers, Status::invalid_layout, none, "first 8 bytes of buffer 0");
    // With strides downwards.
    const auto strides = [](DescriptorBuilder& builder) { builder.set_strides(std::array<std::int64_t, 1>{-2}); };
    tensor = make({.layout = layout_tag::strided, .buffers = {lent}, .byte_offset = 14, .fields = strides});
    expect_right(tensor);
    tensor = make({.layout = layout_tag::strided, .buffers = {lent}, .byte_offset = 13, .fields = strides});
    expect_fault(tensor, buffers, Status::invalid_layout, none, "starts at byte 7");
    // Nothing reaches anywhere without elements.
    expect_right(make({.shape = {0}, .buffers = {lent}, .byte_offset = 0}));
    tensor = plain();
    tensor.buffers[0].prefix = 5;
    expect_fault(tensor, buffers, Status::invalid_argument, none, "prefix: expected at most the 4 bytes");
    // Index arrays and parameters start with their first entry.
    tensor = Paged{}.make();
    for (const std::size_t i : {0U, 1U, 2U}) {
        Tensor paged = tensor;
        paged.buffers[i].prefix = 4;
        expect_fault(paged, buffers, Status::misaligned, none, "buffer " + std::to_string(i) + ": prefix");
    }
}

TEST(ValidateBuffers, DynamicDimensions) {
    const Tensor tensor = make({.shape = {2, dynamic_dimension}, .buffers = {buffer_of(Bytes(8))}});
    expect_fault(tensor, buffers, Status::invalid_layout, 28, "shape[1]");
    const Tensor paged = make({.layout = layout_tag::block_paged,
                               .shape = {dynamic_dimension, 1, 1},
                               .buffers = {buffer_of(Bytes(0)), buffer_of(Bytes(0)), buffer_of(Bytes(4))},
                               .fields = [](DescriptorBuilder& builder) { builder.set_block_paged({}); }});
    expect_fault(paged, buffers, Status::invalid_layout, 20, "shape[0]");
}

// A reader takes tiles that overlap at their word.
TEST(ValidateBuffers, NestedTiles) {
    const std::uint64_t outer[] = {4};
    const std::uint64_t inner[] = {2};
    const TiledLevel levels[] = {{.tile_shape = outer, .inner_layout = layout_tag::tiled}, {.tile_shape = inner}};
    const Spec spec = {.layout = layout_tag::tiled,
                       .buffers = {buffer_of(Bytes(64))},
                       .fields = [&](DescriptorBuilder& builder) { builder.set_tiled(levels); }};
    Tensor tensor = make(spec);
    expect_right(tensor);
    Bytes bytes = test::encoded(tensor.descriptor);
    // tile_shape of the second level: behind 36 bytes of header, shape and byte_offset, and 12 of the first level.
    ASSERT_EQ(bytes[48], std::byte{2});
    bytes[48] = std::byte{3};
    tensor = {decode(bytes).value(), tensor.buffers};
    expect_fault(tensor, buffers, Status::invalid_layout, none, "tile_shape[0] of level 1: expected a divisor of the 4");
}

TEST(ValidateBuffers, ElementsBeyond2To60Bytes) {
    Tensor tensor = plain();
    Buffer huge = tensor.buffers[0];
    huge.handle.byte_size = std::uint64_t{1} << 62;
    tensor = make({.shape = {std::uint64_t{1} << 62}, .buffers = {huge}});
    EXPECT_EQ(fault(validate(tensor, buffers)), fault_of(Status::limit_exceeded, none));
}

// Tensors on devices are right without a look at their bytes, which are not there at all.
TEST(ValidateBuffers, NothingIsRead) {
    Buffer device;
    device.data = reinterpret_cast<std::byte*>(4096);
    device.handle = {.byte_size = 4, .device_tag = device_tag::cuda};
    const Tensor tensor = make({.type = e8m0, .buffers = {device}});
    EXPECT_TRUE(validate(tensor, buffers).has_value());
    expect_fault(tensor, data, Status::unsupported, none, "buffer 0: ");
    device.handle.device_tag = device_tag::cpu;
    EXPECT_TRUE(validate(make({.type = e8m0, .buffers = {device}}), buffers).has_value());
    device.handle = {.byte_size = 4, .device_tag = device_tag::cuda, .sync_mode = 1, .memory_class = memory_class::unified};
    expect_fault(make({.type = e8m0, .buffers = {device}}), data, Status::invalid_sync_mode, none, "buffer 0: ");
}

Tensor quantized(const QuantizationFields& fields, std::vector<Buffer> parameters, std::vector<std::uint64_t> shape,
                 Bytes elements, std::uint8_t type = int8, std::uint8_t layout = layout_tag::row_major) {
    std::vector<Buffer> all = {buffer_of(elements)};
    all.insert(all.end(), parameters.begin(), parameters.end());
    return make({.type = type, .layout = layout, .shape = std::move(shape), .buffers = all, .fields = [&](DescriptorBuilder& builder) {
                     builder.set_quantization(fields);
                 }});
}

constexpr QuantizationFields per_channel = {
    .scheme = scheme_tag::per_channel_affine, .axis = 0, .scale_buffer = 1, .zero_point_buffer = 2};

TEST(ValidateBuffers, ParametersHaveExactlyTheirSize) {
    const Tensor tensor = quantized(per_channel, {buffer_of(std::vector<float>{1, 2}), buffer_of(std::vector<int>{0, 1})},
                                    {2, 2}, Bytes(4));
    expect_right(tensor);
    for (const std::size_t i : {1U, 2U}) {
        Tensor longer = tensor;
        longer.buffers[i].handle.byte_size = 9;
        expect_fault(longer, buffers, Status::invalid_quantization, none,
                     "buffer " + std::to_string(i) + ": byte_size: expected exactly the 8 bytes");
        longer.buffers[i].handle.byte_size = 7;
        expect_fault(longer, buffers, Status::buffer_too_small, none, "buffer " + std::to_string(i));
        Tensor lent = tensor;
        lent.buffers[i].prefix = 1;
        expect_fault(lent, buffers, Status::misaligned, none, "buffer " + std::to_string(i) + ": prefix");
    }
}

// Level 3.

TEST(ValidateData, ScalesAndZeroPointsOfChannels) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float bad : {0.0F, -0.0F, infinity, -infinity, nan}) {
        expect_fault(quantized(per_channel, {buffer_of(std::vector<float>{1, bad}), buffer_of(std::vector<int>{0, 1})},
                               {2, 2}, Bytes(4)),
                     data, Status::invalid_quantization, 4, "scale 1");
    }
    for (const int bad : {-129, 128, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
        expect_fault(quantized(per_channel, {buffer_of(std::vector<float>{1, 1}), buffer_of(std::vector<int>{bad, 1})},
                               {2, 2}, Bytes(4)),
                     data, Status::invalid_quantization, 0, "zero point 0");
    }
    // Of a shared buffer.
    QuantizationFields shared = per_channel;
    shared.zero_point_buffer = 1;
    const auto both = [](int zero) { return buffer_of(std::vector<int>{0x3F800000, 0x3F800000, 0, zero}); };
    expect_right(quantized(shared, {both(127)}, {2, 2}, Bytes(4)));
    expect_fault(quantized(shared, {both(128)}, {2, 2}, Bytes(4)), data, Status::invalid_quantization, 12, "zero point 1");
}

TEST(ValidateData, ScalesOfBlocks) {
    const QuantizationFields nf4 = {.scheme = scheme_tag::nf4, .axis = 0, .block_size = 8, .scale_buffer = 1};
    const auto with = [&](float scale) {
        return quantized(nf4, {buffer_of(std::vector<float>{0, scale})}, {16}, Bytes(8), uint4);
    };
    expect_right(with(0));
    for (const float bad : {-1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        expect_fault(with(bad), data, Status::invalid_quantization, 4, "scale 1");
    }
    const QuantizationFields mxfp = {.scheme = scheme_tag::mxfp, .axis = 0, .block_size = 16, .scale_buffer = 1};
    expect_right(quantized(mxfp, {buffer_of(bytes_of({1, 254}))}, {32}, Bytes(32)));
    expect_fault(quantized(mxfp, {buffer_of(bytes_of({1, 0}))}, {32}, Bytes(32)), data, Status::invalid_quantization, 1,
                 "scale 1");
    expect_fault(quantized(mxfp, {buffer_of(bytes_of({255, 1}))}, {32}, Bytes(32)), data, Status::invalid_quantization, 0,
                 "scale 0");
}

// Every byte of padding for itself, and no other byte.
TEST(ValidateData, PaddingOfShortBlocks) {
    const QuantizationFields fields = {.scheme = scheme_tag::per_block_affine,
                                       .flags = QuantizationFields::symmetric_flag,
                                       .axis = 1,
                                       .block_size = 4,
                                       .scale_buffer = 1};
    const std::vector<float> scales(2 * 2 * 3, 1);
    for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
        for (std::size_t at = 0; at < 2 * 8 * 3; ++at) {
            // Dimension 1 has 6 elements, in storage 8.
            const std::size_t i = layout == layout_tag::row_major ? at / 3 % 8 : at / 2 % 8;
            Bytes elements(48);
            elements[at] = std::byte{0x80};
            const Tensor tensor = quantized(fields, {buffer_of(scales)}, {2, 6, 3}, elements, int8, layout);
            if (i < 6) {
                expect_right(tensor);
            } else {
                expect_fault(tensor, data, Status::invalid_quantization, at, "padding of the last block");
            }
        }
    }
    // Within a byte: rows of 5 elements of 4 bits in storage of 8.
    QuantizationFields narrow = fields;
    narrow.block_size = 4;
    for (std::size_t bit = 0; bit < 64; ++bit) {
        Bytes elements(8);
        elements[bit / 8] = static_cast<std::byte>(1U << bit % 8);
        const Tensor tensor = quantized(narrow, {buffer_of(std::vector<float>(4, 1))}, {2, 5}, elements, uint4);
        if (bit / 4 % 8 < 5) {
            expect_right(tensor);
        } else {
            expect_fault(tensor, data, Status::invalid_quantization, bit / 8, "padding of the last block");
        }
    }
}

TEST(ValidateData, UnusedBits) {
    const auto with = [](std::uint8_t type, std::uint64_t count, Bytes elements) {
        return make({.type = type, .shape = {count}, .buffers = {buffer_of(elements)}});
    };
    expect_right(with(boolean, 10, bytes_of({0xFF, 0x03, 0xFF})));
    expect_fault(with(boolean, 10, bytes_of({0xFF, 0x07})), data, Status::invalid_layout, 1, "bits 2 to 7");
    expect_fault(with(boolean, 1, bytes_of({0x80})), data, Status::invalid_layout, 0, "bits 1 to 7");
    expect_right(with(uint4, 3, bytes_of({0xFF, 0x0F})));
    expect_fault(with(uint4, 3, bytes_of({0xFF, 0x1F})), data, Status::invalid_layout, 1, "bits 4 to 7");
    // One element of 6 bits has three bytes.
    expect_right(with(float6, 1, bytes_of({0x3F, 0, 0})));
    expect_fault(with(float6, 1, bytes_of({0x7F, 0, 0})), data, Status::invalid_layout, 0, "bits 6 to 7");
    expect_fault(with(float6, 1, bytes_of({0x3F, 1, 0})), data, Status::invalid_layout, 1, "bits 0 to 7");
    expect_fault(with(float6, 1, bytes_of({0x3F, 0, 0x80})), data, Status::invalid_layout, 2, "bits 0 to 7");
    expect_fault(with(float6, 3, bytes_of({0, 0, 0x04})), data, Status::invalid_layout, 2, "bits 2 to 7");
    expect_right(with(float6, 4, bytes_of({0xFF, 0xFF, 0xFF})));
    // From byte_offset on; nothing without elements.
    expect_fault(make({.type = boolean, .shape = {1}, .buffers = {buffer_of(bytes_of({0xFF, 0x02}))}, .byte_offset = 1}), data,
                 Status::invalid_layout, 1, "bits 1 to 7");
    expect_right(make({.type = boolean, .shape = {0}, .buffers = {buffer_of(bytes_of({0xFF}))}}));
    // Strided ones may be parts of others.
    expect_right(make({.type = boolean,
                       .layout = layout_tag::strided,
                       .shape = {3},
                       .buffers = {buffer_of(bytes_of({0xFF}))},
                       .fields = [](DescriptorBuilder& builder) { builder.set_strides(std::array<std::int64_t, 1>{1}); }}));
}

TEST(ValidateData, UnusedBitsOfOtherLayouts) {
    const std::uint64_t tile[] = {3};
    const TiledLevel levels[] = {{.tile_shape = tile}};
    const auto tiled = [&](int last) {
        // Two tiles of three, of which the last element is padding.
        return make({.type = boolean,
                     .layout = layout_tag::tiled,
                     .shape = {5},
                     .buffers = {buffer_of(bytes_of({last}))},
                     .fields = [&](DescriptorBuilder& builder) { builder.set_tiled(levels); }});
    };
    expect_right(tiled(0x3F));
    expect_fault(tiled(0x40), data, Status::invalid_layout, 0, "bits 6 to 7");
    const auto coo = [](int last) {
        return make({.type = boolean,
                     .layout = layout_tag::coo,
                     .shape = {9},
                     .buffers = {buffer_of(bytes_of({last})), buffer_of(std::vector<std::uint64_t>{1, 8})},
                     .fields = [](DescriptorBuilder& builder) { builder.set_coo({.nnz = 2, .is_sorted = true}); }});
    };
    expect_right(coo(0x03));
    expect_fault(coo(0x04), data, Status::invalid_layout, 0, "bits 2 to 7");
    Paged paged = {.type = boolean, .tokens = 3, .heads = 1, .size = 3, .page_size = 3, .num_pages = 1, .table = {0}, .seq_ptr = {0, 1}};
    paged.pool = bytes_of({0xFF, 0x01});
    expect_right(paged.make());
    paged.pool = bytes_of({0xFF, 0x03});
    expect_fault(paged.make(), data, Status::invalid_layout, 1, "bits 1 to 7");
}

TEST(ValidateData, PatternsThatAreNoElement) {
    for (const int bad : {0x00, 0xFF}) {
        for (std::size_t at = 0; at < 6; ++at) {
            Bytes elements(6, std::byte{0x7F});
            elements[at] = static_cast<std::byte>(bad);
            expect_fault(make({.type = e8m0, .shape = {2, 3}, .buffers = {buffer_of(elements)}}), data, Status::invalid_type,
                         at, "byte " + std::to_string(at));
            // Every other byte, from the end on.
            const auto strides = [](DescriptorBuilder& builder) { builder.set_strides(std::array<std::int64_t, 1>{-2}); };
            const Tensor strided = make({.type = e8m0,
                                         .layout = layout_tag::strided,
                                         .shape = {3},
                                         .buffers = {buffer_of(elements)},
                                         .byte_offset = 5,
                                         .fields = strides});
            if (at % 2 == 0) {
                expect_right(strided);
            } else {
                expect_fault(strided, data, Status::invalid_type, at, "byte " + std::to_string(at));
            }
        }
    }
    // Padding of tiles is no element.
    const std::uint64_t tile[] = {2};
    const TiledLevel levels[] = {{.tile_shape = tile}};
    expect_right(make({.type = e8m0,
                       .layout = layout_tag::tiled,
                       .shape = {3},
                       .buffers = {buffer_of(bytes_of({1, 1, 1, 0}))},
                       .fields = [&](DescriptorBuilder& builder) { builder.set_tiled(levels); }}));
    const Tensor coo = make({.type = e8m0,
                             .layout = layout_tag::coo,
                             .shape = {9},
                             .buffers = {buffer_of(bytes_of({1, 0, 0})), buffer_of(std::vector<std::uint64_t>{1, 8})},
                             .fields = [](DescriptorBuilder& builder) { builder.set_coo({.nnz = 2, .is_sorted = true}); }});
    expect_fault(coo, data, Status::invalid_type, 1, "byte 1");
    expect_right(make({.type = e8m0, .shape = {0}, .buffers = {buffer_of(bytes_of({0}))}}));
    // An element that is repeated without end is looked at once.
    expect_right(make({.type = e8m0,
                       .layout = layout_tag::strided,
                       .shape = {std::uint64_t{1} << 50},
                       .buffers = {buffer_of(bytes_of({1}))},
                       .fields = [](DescriptorBuilder& builder) { builder.set_strides(std::array<std::int64_t, 1>{0}); }}));
}

TEST(ValidateData, PagesWithPatternsThatAreNoElement) {
    // Sequence 0 has pages 3 and 1, sequence 1 page 3 again. How far the last pages are filled is not known.
    for (std::size_t at = 0; at < 120; ++at) {
        Paged paged;
        paged.type = e8m0;
        paged.pool = Bytes(120, std::byte{1});
        paged.pool[at] = std::byte{0};
        const bool full = at / 24 == 3;
        if (full) {
            expect_fault(paged.make(), data, Status::invalid_type, at, "byte " + std::to_string(at));
        } else {
            expect_right(paged.make());
        }
        // One sequence with 9 tokens: pages 3 and 1, and one token of page 0.
        paged.table = {3, 1, 0};
        paged.seq_ptr = {0, 3};
        if (full || at / 24 == 1 || at < 6) {
            expect_fault(paged.make(), data, Status::invalid_type, at, "byte " + std::to_string(at));
        } else {
            expect_right(paged.make());
        }
    }
}

TEST(ValidateData, TablesOfPages) {
    const auto with = [](std::vector<std::uint64_t> table, std::vector<std::uint64_t> seq_ptr, bool wide = false) {
        Paged paged;
        paged.table = std::move(table);
        paged.seq_ptr = std::move(seq_ptr);
        paged.wide = wide;
        return paged.make();
    };
    expect_right(with({3, 1, 3}, {0, 2, 3}));
    // What no sequence refers to is not looked at.
    expect_right(with({3, 1, 3, 99}, {0, 2, 3}));
    expect_fault(with({3, 1, 5}, {0, 2, 3}), data, Status::invalid_layout, 8, "buffer 1 (block_table): entry 2");
    expect_fault(with({3, 5, 3}, {0, 2, 3}, true), data, Status::invalid_layout, 8, "buffer 1 (block_table): entry 1");
    expect_fault(with({3, 1, 3}, {1, 2, 3}), data, Status::invalid_layout, 0, "buffer 2 (seq_ptr): entry 0");
    expect_fault(with({3, 1, 3}, {0, 4, 3}), data, Status::invalid_layout, 4, "buffer 2 (seq_ptr): entry 1");
    expect_fault(with({3, 1, 3}, {0, 2, 1, 3}), data, Status::invalid_layout, 8, "buffer 2 (seq_ptr): entry 2");
    expect_fault(with({3, 1, 3}, {0, 2, 4}), data, Status::invalid_layout, 8, "buffer 2 (seq_ptr): entry 2");
    expect_fault(with({3, 1, 3}, {0, 2, 2}), data, Status::invalid_layout, 8, "expected pages for 9 tokens");
    expect_right(Paged{.tokens = 0, .num_pages = 0, .table = {}, .seq_ptr = {0}, .pool_bytes = 0}.make());
    expect_fault(Paged{.tokens = 0, .num_pages = 0, .table = {7}, .seq_ptr = {1}, .pool_bytes = 0}.make(), data,
                 Status::invalid_layout, 0, "buffer 2 (seq_ptr): entry 0");
}

TEST(ValidateData, ParametersOfSlots) {
    const QuantizationFields fields = {.scheme = scheme_tag::per_block_affine,
                                       .axis = 0,
                                       .block_size = 4,
                                       .scale_buffer = 3,
                                       .zero_point_buffer = 4};
    const auto with = [&](std::size_t slot, float scale, int zero) {
        std::vector<float> scales(20, 1);
        std::vector<int> zeros(20, 0);
        scales[slot] = scale;
        zeros[slot] = zero;
        Paged paged;
        paged.type = int8;
        // 9 tokens of one sequence: pages 3 and 1, and one slot of page 0.
        paged.table = {3, 1, 0};
        paged.seq_ptr = {0, 3};
        paged.quantization = fields;
        paged.parameters = {buffer_of(scales), buffer_of(zeros)};
        return paged.make();
    };
    for (std::size_t slot = 0; slot < 20; ++slot) {
        const bool used = slot / 4 == 3 || slot / 4 == 1 || slot == 0;
        for (const float bad : {0.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
            if (used) {
                expect_fault(with(slot, bad, 0), data, Status::invalid_quantization, slot * 4,
                             "buffer 3: scale " + std::to_string(slot));
            } else {
                expect_right(with(slot, bad, 0));
            }
        }
        for (const int bad : {-129, 128}) {
            if (used) {
                expect_fault(with(slot, 1, bad), data, Status::invalid_quantization, slot * 4,
                             "buffer 4: zero point " + std::to_string(slot));
            } else {
                expect_right(with(slot, 1, bad));
            }
        }
        expect_right(with(slot, -1, -128));
        expect_right(with(slot, 1, 127));
    }
    // Both in one buffer, of float16.
    Paged paged;
    paged.type = int8;
    paged.table = {3, 1, 0};
    paged.seq_ptr = {0, 3};
    paged.quantization = fields;
    paged.quantization->zero_point_buffer = 3;
    paged.quantization->scale_type = 0x01;
    std::vector<std::uint16_t> both(20 + 40, 0);
    for (std::size_t i = 0; i < 20; ++i) both[i] = 0x3C00;
    paged.parameters = {buffer_of(both)};
    expect_right(paged.make());
    both[12] = 0x7C00;
    paged.parameters = {buffer_of(both)};
    expect_fault(paged.make(), data, Status::invalid_quantization, 24, "buffer 3: scale 12");
    both[12] = 0x3C00;
    both[20 + 24] = 0x0080;
    paged.parameters = {buffer_of(both)};
    expect_fault(paged.make(), data, Status::invalid_quantization, 40 + 48, "buffer 3: zero point 12");
}

TEST(ValidateData, IndexArraysOfSparseTensors) {
    const auto coo = [](std::vector<std::uint64_t> indices) {
        return make({.layout = layout_tag::coo,
                     .shape = {9},
                     .buffers = {buffer_of(bytes_of({1, 2})), buffer_of(indices)},
                     .fields = [](DescriptorBuilder& builder) { builder.set_coo({.nnz = 2, .is_sorted = false}); }});
    };
    expect_right(coo({8, 1}));
    expect_fault(coo({8, 9}), data, Status::invalid_layout, 8, "");
    expect_fault(coo({8, 8}), data, Status::invalid_layout, 8, "");
    const auto csr = [](std::vector<std::uint64_t> columns, std::vector<std::uint64_t> pointers) {
        return make({.layout = layout_tag::csr,
                     .shape = {2, 3},
                     .buffers = {buffer_of(bytes_of({1, 2})), buffer_of(columns), buffer_of(pointers)},
                     .fields = [](DescriptorBuilder& builder) { builder.set_compressed(2); }});
    };
    expect_right(csr({0, 2}, {0, 2, 2}));
    expect_fault(csr({2, 0}, {0, 2, 2}), data, Status::invalid_layout, 8, "");
    expect_fault(csr({0, 2}, {0, 3, 2}), data, Status::invalid_layout, 8, "");
    const auto csf = [](std::uint64_t coordinate) {
        const auto one = [](std::uint64_t value) { return buffer_of(std::vector<std::uint64_t>{value}); };
        const auto ends = [] { return buffer_of(std::vector<std::uint64_t>{0, 1}); };
        return make({.layout = layout_tag::csf,
                     .shape = {2, 3, 4},
                     .buffers = {buffer_of(bytes_of({1})), ends(), one(1), ends(), one(2), ends(), one(coordinate)},
                     .fields = [](DescriptorBuilder& builder) {
                         builder.set_csf(1, std::array<std::uint32_t, 3>{0, 1, 2});
                     }});
    };
    expect_right(csf(3));
    expect_fault(csf(4), data, Status::invalid_layout, 0, "");
}

TEST(ValidateData, CompositeHeadsHaveNone) {
    expect_right(make({.layout = layout_tag::composite,
                       .shape = {2},
                       .buffers = {},
                       .fields = [](DescriptorBuilder& builder) { builder.set_composite({.rule = 3, .member_count = 0}); }}));
}

struct Reports {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    std::size_t most = ~std::size_t{0};

    static bool note(void* context, std::uint64_t done, std::uint64_t total) {
        auto* self = static_cast<Reports*>(context);
        self->all.emplace_back(done, total);
        return self->all.size() <= self->most;
    }
};

TEST(ValidateData, ProgressRisesToTheEndAndMayStop) {
    Buffer large = allocate_buffer(5 << 20).value();
    std::memset(large.data, 1, 5 << 20);
    const Tensor tensor = make({.type = e8m0, .shape = {5 << 20}, .buffers = {large}});
    Reports reports;
    EXPECT_TRUE(validate(tensor, data, {.progress = Reports::note, .context = &reports}).has_value());
    ASSERT_GE(reports.all.size(), 5U);
    for (std::size_t i = 1; i < reports.all.size(); ++i) {
        EXPECT_GE(reports.all[i].first, reports.all[i - 1].first);
        EXPECT_EQ(reports.all[i].second, 5U << 20);
    }
    EXPECT_EQ(reports.all.back().first, 5U << 20);
    EXPECT_LT(reports.all[reports.all.size() - 2].first, 5U << 20);
    const std::size_t count = reports.all.size();
    for (std::size_t most = 0; most < count; ++most) {
        Reports stopped;
        stopped.most = most;
        EXPECT_EQ(validate(tensor, data, {.progress = Reports::note, .context = &stopped}).error().code, Status::cancelled);
        EXPECT_EQ(stopped.all.size(), most + 1);
    }
    Reports once;
    EXPECT_TRUE(validate(tensor, buffers, {.progress = Reports::note, .context = &once}).has_value());
    EXPECT_EQ(once.all.size(), 1U);
}

TEST(ValidateData, MemoryIsLimited) {
    Paged paged;
    paged.type = e8m0;
    paged.pool = Bytes(120, std::byte{1});
    const Tensor tensor = paged.make();
    const std::uint64_t length = tensor.descriptor.encoded_length();
    EXPECT_TRUE(validate(tensor, data, {.memory_limit = length}).has_value());
    Paged many;
    many.type = e8m0;
    many.num_pages = 1000;
    many.pool = Bytes(24000, std::byte{1});
    EXPECT_EQ(fault(validate(many.make(), data, {.memory_limit = 3999})), fault_of(Status::limit_exceeded, none));
    EXPECT_TRUE(validate(many.make(), data, {.memory_limit = 4000}).has_value());
}

// Any bytes in the buffers of any kind of tensor: an error, or none. The address sanitizer sees the rest.
TEST(ValidateData, AnyDataIsSafe) {
    test::Random random(11);
    for (int round = 0; round < 3000; ++round) {
        Paged paged;
        paged.type = random.pick<std::uint8_t>({e8m0, int8, boolean, float6});
        paged.wide = round % 3 == 0;
        for (std::uint64_t& entry : paged.table) entry = random.below(6) == 0 ? random.next() : random.below(5);
        for (std::uint64_t& entry : paged.seq_ptr) entry = random.below(6) == 0 ? random.next() : random.below(4);
        if (paged.type == int8) {
            paged.quantization = {.scheme = scheme_tag::per_block_affine,
                                  .flags = QuantizationFields::symmetric_flag,
                                  .block_size = 4,
                                  .scale_buffer = 3};
            paged.parameters = {buffer_of(std::vector<float>(20, 1))};
        }
        const auto checked = validate(paged.make(), data);
        if (!checked) {
            EXPECT_NE(checked.error().code, Status::internal);
        }
    }
}

}  // namespace
}  // namespace hurray
