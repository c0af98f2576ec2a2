// Requirements: single elements: of block-paged and of quantized tensors, of private types, and every refusal.
#include "core/hurray/element.hpp"

#include <cmath>
#include <functional>

#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/private_layout.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/tests/block_paged/paged_tensors.hpp"
#include "core/hurray/tests/support.hpp"
#include "core/hurray/validation/sparse_data.hpp"

namespace hurray {
namespace {

using test::buffer_of;
using test::Bytes;
using test::fault;
using test::fault_of;
using test::Paged;

constexpr std::uint64_t none = Error::no_offset;
constexpr std::uint8_t int8 = 0x10;
constexpr std::uint8_t uint8 = 0x11;
constexpr std::uint8_t complex64 = 0x50;

using Index = std::vector<std::uint64_t>;
using Sections = std::function<void(DescriptorBuilder&)>;

Tensor make(std::uint8_t type, std::uint8_t layout, Index shape, std::vector<Buffer> buffers,
            const Sections& sections = [](DescriptorBuilder&) {}, std::uint64_t byte_offset = 0) {
    DescriptorBuilder builder(type, layout, shape);
    builder.set_byte_offset(byte_offset);
    sections(builder);
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto descriptor = builder.build(PrivateTags::allow);
    EXPECT_TRUE(descriptor.has_value()) << descriptor.error().message;
    return {std::move(*descriptor), std::move(buffers)};
}

Bytes counting(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

TEST(Elements, OfPagesBySequenceAndByToken) {
    const Paged paged;
    const Tensor tensor = paged.make();
    const std::uint64_t counts[] = {6, 3};
    const auto reader = ElementReader::make(tensor, counts);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    std::uint64_t token = 0;
    for (std::uint64_t s = 0; s < 2; ++s) {
        for (std::uint64_t t = 0; t < counts[s]; ++t, ++token) {
            for (std::uint64_t h = 0; h < 2; ++h) {
                for (std::uint64_t d = 0; d < 3; ++d) {
                    const std::uint64_t page = paged.table[paged.seq_ptr[s] + t / 4];
                    const std::uint64_t flat = ((page * 4 + t % 4) * 2 + h) * 3 + d;
                    for (const Index& index : {Index{s, t, h, d}, Index{token, h, d}}) {
                        EXPECT_EQ(reader->float64(index).value(), static_cast<double>(flat));
                        EXPECT_EQ(reader->bits(index).value().low, flat);
                        EXPECT_EQ(reader->address(index).value(), (ElementAddress{.bits = 8, .byte = flat}));
                    }
                    EXPECT_EQ(get_float64(tensor, Index{s, t, h, d}).value(), static_cast<double>(flat));
                }
            }
        }
    }
    EXPECT_EQ(fault(reader->bits(Index{0, 6, 0, 0})), fault_of(Status::index_out_of_bounds, none));
    EXPECT_EQ(fault(reader->bits(Index{9, 0, 0})), fault_of(Status::index_out_of_bounds, none));
    EXPECT_EQ(fault(reader->bits(Index{0, 0})), fault_of(Status::invalid_argument, none));
    EXPECT_EQ(fault(get_float64(tensor, Index{0, 0, 0})), fault_of(Status::unsupported, none));
    EXPECT_EQ(element_address(tensor, Index{1, 0, 0, 0}).value(), (ElementAddress{.bits = 8, .byte = 72}));
    const std::uint64_t wrong[] = {6, 4};
    EXPECT_EQ(fault(ElementReader::make(tensor, wrong)), fault_of(Status::invalid_argument, none));
}

TEST(Elements, OfQuantizedPages) {
    // 9 tokens of one sequence: pages 3, 1 and 0.
    Paged paged;
    paged.type = int8;
    paged.table = {3, 1, 0};
    paged.seq_ptr = {0, 3};
    std::vector<float> scales(20);
    std::vector<int> zeros(20);
    for (int i = 0; i < 20; ++i) {
        scales[static_cast<std::size_t>(i)] = 0.5F + static_cast<float>(i);
        zeros[static_cast<std::size_t>(i)] = i - 10;
    }
    const auto slot = [&](std::uint64_t token) { return paged.table[token / 4] * 4 + token % 4; };
    const auto stored = [&](std::uint64_t token, std::uint64_t h, std::uint64_t d) {
        return static_cast<int>(static_cast<std::int8_t>(slot(token) * 6 + h * 3 + d));
    };
    const auto check = [&](const std::function<float(std::uint64_t, std::uint64_t, std::uint64_t)>& expected) {
        const Tensor tensor = paged.make();
        for (std::uint64_t token = 0; token < 9; ++token) {
            for (std::uint64_t h = 0; h < 2; ++h) {
                for (std::uint64_t d = 0; d < 3; ++d) {
                    EXPECT_EQ(get_dequantized(tensor, Index{token, h, d}).value(), expected(token, h, d));
                    EXPECT_EQ(get_dequantized(tensor, Index{0, token, h, d}).value(), expected(token, h, d));
                    EXPECT_EQ(get_float64(tensor, Index{token, h, d}).value(), stored(token, h, d));
                }
            }
        }
    };
    paged.quantization = {.scheme = scheme_tag::per_block_affine, .block_size = 4, .scale_buffer = 3, .zero_point_buffer = 4};
    paged.parameters = {buffer_of(scales), buffer_of(zeros)};
    check([&](std::uint64_t token, std::uint64_t h, std::uint64_t d) {
        return scales[slot(token)] * static_cast<float>(stored(token, h, d) - zeros[slot(token)]);
    });
    for (const std::uint32_t axis : {1U, 2U}) {
        paged.quantization = {
            .scheme = scheme_tag::per_channel_affine, .axis = axis, .scale_buffer = 3, .zero_point_buffer = 4};
        const std::size_t channels = axis == 1 ? 2 : 3;
        paged.parameters = {buffer_of(std::vector<float>(scales.begin(), scales.begin() + static_cast<int>(channels))),
                            buffer_of(std::vector<int>(zeros.begin(), zeros.begin() + static_cast<int>(channels)))};
        check([&](std::uint64_t token, std::uint64_t h, std::uint64_t d) {
            const std::uint64_t channel = axis == 1 ? h : d;
            return scales[channel] * static_cast<float>(stored(token, h, d) - zeros[channel]);
        });
    }
    paged.quantization = {.scheme = scheme_tag::per_tensor_affine, .scale = 0.25F, .zero_point = -3};
    paged.parameters = {};
    check([&](std::uint64_t token, std::uint64_t h, std::uint64_t d) {
        return 0.25F * static_cast<float>(stored(token, h, d) + 3);
    });
}

// Single elements against those of the whole tensor, which have an oracle of their own.
TEST(Elements, OfQuantizedDenseTensors) {
    struct Case {
        std::uint8_t type;
        QuantizationFields fields;
        Index shape;
        std::size_t bytes;
        std::vector<Buffer> parameters;
    };
    const std::vector<float> scales = {1, -2, 0.5F, 3, 7, 0.125F, 11, 13};
    const auto first = [&](std::ptrdiff_t count) {
        return buffer_of(std::vector<float>(scales.begin(), scales.begin() + count));
    };
    const Case cases[] = {
        {int8, {.scheme = scheme_tag::per_tensor_affine, .scale = -0.5F, .zero_point = 7}, {3, 5}, 15, {}},
        {0x12, {.scheme = scheme_tag::per_channel_affine, .axis = 1, .scale_buffer = 1, .zero_point_buffer = 2},
         {3, 2}, 12, {first(2), buffer_of(std::vector<int>{-5, 1000})}},
        // A short last block.
        {0x49, {.scheme = scheme_tag::per_block_affine, .flags = 1, .axis = 1, .block_size = 4, .scale_buffer = 1},
         {3, 6}, 12, {first(6)}},
        {0x49, {.scheme = scheme_tag::nf4, .axis = 0, .block_size = 8, .scale_buffer = 1}, {12, 2}, 16,
         {buffer_of(std::vector<float>{1, 2, 3, 4})}},
        {0x44, {.scheme = scheme_tag::mxfp, .axis = 1, .block_size = 16, .scale_buffer = 1}, {2, 32}, 48,
         {buffer_of(Bytes{std::byte{127}, std::byte{1}, std::byte{254}, std::byte{130}})}},
    };
    for (const Case& given : cases) {
        for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
            std::vector<Buffer> buffers = {buffer_of(counting(given.bytes))};
            buffers.insert(buffers.end(), given.parameters.begin(), given.parameters.end());
            const Tensor tensor = make(given.type, layout, given.shape, buffers,
                                       [&](DescriptorBuilder& builder) { builder.set_quantization(given.fields); });
            const auto whole = dequantize(tensor, test::float32);
            ASSERT_TRUE(whole.has_value()) << whole.error().message;
            const auto reader = ElementReader::make(tensor).value();
            for (std::uint64_t i = 0; i < given.shape[0]; ++i) {
                for (std::uint64_t k = 0; k < given.shape[1]; ++k) {
                    const auto number = reader.dequantized(Index{i, k});
                    ASSERT_TRUE(number.has_value()) << number.error().message;
                    EXPECT_EQ(*number, static_cast<float>(get_float64(*whole, Index{i, k}).value()))
                        << int{given.fields.scheme} << " " << i << " " << k;
                    if (given.fields.scheme == scheme_tag::per_tensor_affine) {
                        EXPECT_EQ(*number, -0.5F * static_cast<float>(reader.float64(Index{i, k}).value() - 7));
                    }
                }
            }
            EXPECT_EQ(fault(reader.dequantized(Index{given.shape[0], 0})), fault_of(Status::index_out_of_bounds, none));
        }
    }
    const Tensor plain = make(int8, layout_tag::row_major, {4}, {buffer_of(counting(4))});
    EXPECT_EQ(fault(get_dequantized(plain, Index{0})), fault_of(Status::invalid_argument, none));
}

TEST(Elements, ForbiddenParametersAreRefusedWhereTheyAreUsed) {
    struct Case {
        const char* name;
        std::uint8_t type;
        QuantizationFields fields;
        Index shape;
        std::size_t bytes;
        std::vector<Buffer> parameters;
    };
    const float nan = std::nanf("");
    const float infinity = HUGE_VALF;
    const QuantizationFields channels = {
        .scheme = scheme_tag::per_channel_affine, .flags = 1, .axis = 1, .scale_buffer = 1};
    const QuantizationFields zeros = {
        .scheme = scheme_tag::per_channel_affine, .axis = 1, .scale_buffer = 1, .zero_point_buffer = 2};
    const QuantizationFields together = {
        .scheme = scheme_tag::per_channel_affine, .axis = 1, .scale_buffer = 1, .zero_point_buffer = 1};
    const QuantizationFields blocks = {
        .scheme = scheme_tag::per_block_affine, .flags = 1, .axis = 1, .block_size = 4, .scale_buffer = 1};
    QuantizationFields halves = blocks;
    halves.scale_type = 0x01;
    QuantizationFields brains = blocks;
    brains.scale_type = 0x02;
    const QuantizationFields nf4 = {.scheme = scheme_tag::nf4, .axis = 1, .block_size = 8, .scale_buffer = 1};
    const QuantizationFields mxfp = {.scheme = scheme_tag::mxfp, .axis = 1, .block_size = 16, .scale_buffer = 1};
    const auto scales = [](std::vector<float> numbers) { return buffer_of(numbers); };
    // The parameters of the last element are forbidden, those of the first one are right.
    const Case cases[] = {
        {"NaN for a channel", int8, channels, {2, 2}, 4, {scales({1, nan})}},
        {"infinity for a channel", int8, channels, {2, 2}, 4, {scales({1, -infinity})}},
        {"0 for a channel", int8, channels, {2, 2}, 4, {scales({1, 0})}},
        {"float16", int8, halves, {2, 4}, 8, {buffer_of(std::vector<std::uint16_t>{0x3C00, 0x7C00})}},
        {"bfloat16", int8, brains, {2, 4}, 8, {buffer_of(std::vector<std::uint16_t>{0x3F80, 0x8000})}},
        {"zero point above", int8, zeros, {2, 2}, 4, {scales({1, 1}), buffer_of(std::vector<int>{127, 128})}},
        {"zero point below", uint8, zeros, {2, 2}, 4, {scales({1, 1}), buffer_of(std::vector<int>{0, -1})}},
        {"zero point behind scales", int8, together, {2, 2}, 4,
         {buffer_of(std::vector<std::uint32_t>{0x3F800000, 0x3F800000, 5, 1000})}},
        {"NaN for a block", 0x49, blocks, {2, 8}, 8, {scales({1, 2, 3, nan})}},
        {"0 for a block", 0x49, blocks, {2, 8}, 8, {scales({1, 2, 3, -0.0F})}},
        {"negative absmax", 0x49, nf4, {2, 8}, 8, {scales({1, -1})}},
        {"infinite absmax", 0x49, nf4, {2, 8}, 8, {scales({0, infinity})}},
        {"00 of float8_e8m0", 0x44, mxfp, {2, 16}, 24, {buffer_of(Bytes{std::byte{127}, std::byte{0}})}},
        {"FF of float8_e8m0", 0x44, mxfp, {2, 16}, 24, {buffer_of(Bytes{std::byte{127}, std::byte{255}})}},
    };
    for (const Case& given : cases) {
        std::vector<Buffer> buffers = {buffer_of(counting(given.bytes))};
        buffers.insert(buffers.end(), given.parameters.begin(), given.parameters.end());
        const Tensor tensor = make(given.type, layout_tag::row_major, given.shape, buffers,
                                   [&](DescriptorBuilder& builder) { builder.set_quantization(given.fields); });
        const auto whole = dequantize(tensor, test::float32);
        ASSERT_FALSE(whole.has_value()) << given.name;
        const auto right = get_dequantized(tensor, Index{0, 0});
        EXPECT_TRUE(right.has_value()) << given.name << ": " << right.error().message;
        const auto wrong = get_dequantized(tensor, Index{given.shape[0] - 1, given.shape[1] - 1});
        ASSERT_FALSE(wrong.has_value()) << given.name << ": " << *wrong;
        EXPECT_EQ(wrong.error().code, Status::invalid_quantization) << given.name;
        EXPECT_EQ(wrong.error().offset, whole.error().offset) << given.name;
        EXPECT_STREQ(wrong.error().message, whole.error().message) << given.name;
    }
    // Of pages, too, whose slots dequantize does not check.
    Paged paged;
    paged.type = int8;
    paged.table = {3, 1, 0};
    paged.seq_ptr = {0, 3};
    std::vector<float> slots(20, 1);
    slots[13] = nan;
    paged.quantization = {.scheme = scheme_tag::per_block_affine, .flags = 1, .block_size = 4, .scale_buffer = 3};
    paged.parameters = {buffer_of(slots)};
    const Tensor tensor = paged.make();
    EXPECT_TRUE(get_dequantized(tensor, Index{0, 0, 0}).has_value());
    EXPECT_EQ(fault(get_dequantized(tensor, Index{1, 0, 0})), fault_of(Status::invalid_quantization, 13 * 4));
}

TEST(Elements, OfUnsortedEntriesThatAreTwiceThereAreRefused) {
    const auto unsorted = [](const Index& indices, std::uint64_t nnz) {
        return make(int8, layout_tag::coo, {3, 4}, {buffer_of(counting(nnz)), buffer_of(indices)},
                    [nnz](DescriptorBuilder& builder) { builder.set_coo({.nnz = nnz, .is_sorted = false}); });
    };
    const Tensor twice = unsorted({0, 1, 2, 1, 0, 3, 2, 1}, 4);
    const auto refused = get_bits(twice, Index{2, 1});
    ASSERT_FALSE(refused.has_value());
    // As validation has it.
    const auto checked = check_coo_data(twice);
    ASSERT_FALSE(checked.has_value());
    EXPECT_EQ(refused.error().code, Status::invalid_layout);
    EXPECT_EQ(refused.error().offset, 3 * 2 * 8U);
    EXPECT_EQ(refused.error().offset, checked.error().offset);
    EXPECT_STREQ(refused.error().message, checked.error().message);
    EXPECT_EQ(fault(element_address(twice, Index{2, 1})), fault_of(Status::invalid_layout, 48));
    // What is there once is found.
    EXPECT_EQ(get_bits(twice, Index{0, 3}).value(), (RawBits{2, 0}));
    EXPECT_EQ(get_bits(twice, Index{1, 1}).value(), RawBits{});
    const Tensor once = unsorted({0, 1, 2, 1, 0, 3}, 3);
    EXPECT_EQ(get_bits(once, Index{2, 1}).value(), (RawBits{1, 0}));
    EXPECT_EQ(get_bits(once, Index{0, 3}).value(), (RawBits{2, 0}));
}

TEST(Elements, OfQuantizedSparseTensors) {
    const Tensor tensor = make(int8, layout_tag::coo, {9}, {buffer_of(counting(3)), buffer_of(Index{1, 4, 8})},
                               [](DescriptorBuilder& builder) {
                                   builder.set_coo({.nnz = 3, .is_sorted = true});
                                   builder.set_quantization(
                                       {.scheme = scheme_tag::per_tensor_affine, .scale = 2, .zero_point = 1});
                               });
    EXPECT_EQ(get_dequantized(tensor, Index{4}).value(), 0);
    EXPECT_EQ(get_dequantized(tensor, Index{8}).value(), 2);
    EXPECT_EQ(get_dequantized(tensor, Index{1}).value(), -2);
    // Not stored: 0, and not the number that a stored 0 stands for.
    EXPECT_EQ(get_dequantized(tensor, Index{0}).value(), 0);
    EXPECT_EQ(fault(get_dequantized(tensor, Index{9})), fault_of(Status::index_out_of_bounds, none));
}

TEST(Elements, OfPrivateTypes) {
    const auto with = [](const ExtensionTypeFields& fields, std::size_t bytes) {
        return make(0xF1, layout_tag::row_major, {2}, {buffer_of(counting(bytes))},
                    [&](DescriptorBuilder& builder) { builder.set_extension_type(fields); });
    };
    // 24-bit integers, little-endian.
    const Tensor integers = with({.bit_width = 24, .is_signed = true}, 6);
    EXPECT_EQ(get_float64(integers, Index{1}).value(), 0x050403);
    EXPECT_EQ(get_bits(integers, Index{1}).value().low, 0x050403U);
    EXPECT_EQ(element_address(integers, Index{1}).value(), (ElementAddress{.bits = 24, .byte = 3}));
    // More bits than are read, but a place all the same.
    const Tensor wide = with({.bit_width = 256}, 64);
    EXPECT_EQ(fault(get_bits(wide, Index{1})), fault_of(Status::unsupported, none));
    EXPECT_EQ(get_float64(wide, Index{1}).error().code, Status::unsupported);
    EXPECT_EQ(element_address(wide, Index{1}).value(), (ElementAddress{.bits = 256, .byte = 32}));
}

TEST(Elements, OfScalarsAndEmptyTensors) {
    const Tensor scalar = make(uint8, layout_tag::row_major, {}, {buffer_of(counting(5))}, [](DescriptorBuilder&) {}, 4);
    EXPECT_EQ(get_float64(scalar, Index{}).value(), 4);
    EXPECT_EQ(fault(get_float64(scalar, Index{0})), fault_of(Status::invalid_argument, none));
    const Tensor empty = make(uint8, layout_tag::row_major, {2, 0}, {Buffer{}});
    EXPECT_EQ(fault(get_float64(empty, Index{0, 0})), fault_of(Status::index_out_of_bounds, none));
    EXPECT_EQ(fault(element_address(empty, Index{0, 0})), fault_of(Status::index_out_of_bounds, none));
}

TEST(Elements, IndicesAreChecked) {
    const Tensor tensor = make(uint8, layout_tag::row_major, {2, 3}, {buffer_of(counting(6))});
    for (const Index& index : {Index{2, 0}, Index{0, 3}, Index{~std::uint64_t{0}, 0}, Index{0, std::uint64_t{1} << 63}}) {
        EXPECT_EQ(fault(get_float64(tensor, index)), fault_of(Status::index_out_of_bounds, none));
        EXPECT_EQ(fault(element_address(tensor, index)), fault_of(Status::index_out_of_bounds, none));
    }
    for (const Index& index : {Index{}, Index{0}, Index{0, 0, 0}}) {
        EXPECT_EQ(fault(get_bits(tensor, index)), fault_of(Status::invalid_argument, none));
    }
}

TEST(Elements, ComplexOnesAreNotReal) {
    const Tensor tensor = make(complex64, layout_tag::row_major, {1}, {buffer_of(std::vector<float>{1.5F, -2})});
    EXPECT_EQ(get_complex128(tensor, Index{0}).value(), std::complex<double>(1.5, -2));
    EXPECT_EQ(get_float64(tensor, Index{0}).error().code, Status::unsupported);
    const Tensor sparse = make(complex64, layout_tag::coo, {2}, {Buffer{}, Buffer{}},
                               [](DescriptorBuilder& builder) { builder.set_coo({}); });
    EXPECT_EQ(get_complex128(sparse, Index{1}).value(), std::complex<double>());
    EXPECT_EQ(get_float64(sparse, Index{1}).error().code, Status::unsupported);
}

TEST(Elements, ByteNumbersThatAreNoneAreRefused) {
    const Tensor tensor = make(0x42, layout_tag::row_major, {2}, {buffer_of(Bytes{std::byte{0}, std::byte{127}})});
    EXPECT_EQ(get_float64(tensor, Index{0}).error().code, Status::invalid_type);
    EXPECT_EQ(get_bits(tensor, Index{0}).value().low, 0U);
    EXPECT_EQ(get_float64(tensor, Index{1}).value(), 1);
}

TEST(Elements, BytesOfOthersAreNeverRead) {
    Buffer lent = buffer_of(counting(20));
    lent.prefix = 8;
    const auto strided = [&](std::int64_t stride, std::uint64_t byte_offset) {
        return make(uint8, layout_tag::strided, {4}, {lent},
                    [&](DescriptorBuilder& builder) { builder.set_strides(std::array<std::int64_t, 1>{stride}); },
                    byte_offset);
    };
    EXPECT_EQ(get_float64(strided(-2, 14), Index{3}).value(), 8);
    EXPECT_EQ(fault(get_float64(strided(-2, 13), Index{0})), fault_of(Status::invalid_layout, none));
    EXPECT_EQ(fault(element_address(strided(-2, 13), Index{0})), fault_of(Status::invalid_layout, none));
    EXPECT_EQ(fault(get_float64(strided(1, 7), Index{0})), fault_of(Status::invalid_layout, none));
    EXPECT_EQ(get_float64(strided(1, 8), Index{0}).value(), 8);
}

TEST(Elements, TensorsWithoutElementsAreRefused) {
    const Tensor composite = make(uint8, layout_tag::composite, {2}, {},
                                  [](DescriptorBuilder& builder) { builder.set_composite({.rule = 3}); });
    EXPECT_EQ(fault(get_float64(composite, Index{0})), fault_of(Status::unsupported, none));
    const Tensor unknown = make(uint8, 0xF0, {2}, {buffer_of(counting(2))},
                                [](DescriptorBuilder& builder) { builder.set_private_layout({}); });
    EXPECT_EQ(fault(get_float64(unknown, Index{0})), fault_of(Status::unsupported, none));
    EXPECT_EQ(fault(element_address(unknown, Index{0})), fault_of(Status::unsupported, none));
    const Tensor plain = make(uint8, layout_tag::row_major, {2}, {buffer_of(counting(2))});
    Bytes bytes = test::encoded(plain.descriptor);
    bytes[14] = std::byte{0x47};
    const Tensor opaque{decode(bytes, {.mode = Mode::permissive}).value(), plain.buffers};
    EXPECT_EQ(fault(get_bits(opaque, Index{0})), fault_of(Status::unsupported, none));
    const Tensor dynamic = make(uint8, layout_tag::row_major, {dynamic_dimension}, {buffer_of(counting(2))});
    EXPECT_EQ(get_bits(dynamic, Index{0}).error().code, Status::invalid_layout);
    const std::uint64_t counts[] = {2};
    EXPECT_EQ(fault(ElementReader::make(plain, counts)), fault_of(Status::invalid_argument, none));
}

TEST(Elements, MemoryOfDevicesHasPlacesButNoNumbers) {
    Buffer device;
    device.data = reinterpret_cast<std::byte*>(4096);
    device.handle = {.byte_size = 8, .device_tag = device_tag::cuda};
    const Tensor tensor = make(uint8, layout_tag::row_major, {8}, {device});
    EXPECT_EQ(element_address(tensor, Index{5}).value(), (ElementAddress{.bits = 8, .byte = 5}));
    EXPECT_EQ(fault(get_float64(tensor, Index{5})), fault_of(Status::unsupported, none));
}

}  // namespace
}  // namespace hurray
