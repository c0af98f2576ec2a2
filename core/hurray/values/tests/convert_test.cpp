// Requirements: format, element types (docs/values.md): errors, refusals, raw bits. What numbers become is compared
// with an independent reference in values_test.py.
#include "core/hurray/values/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace hurray {
namespace {

constexpr std::uint64_t largest_index = ~std::uint64_t{0};

NumberFormat format_of(int tag) {
    auto format = number_format(static_cast<std::uint8_t>(tag));
    EXPECT_TRUE(format) << tag;
    return format.value();
}

std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> out;
    for (const int value : values) out.push_back(static_cast<std::byte>(value));
    return out;
}

void expect_error(const Error& error, Status code, std::uint64_t offset, const std::string& part) {
    EXPECT_EQ(error.code, code) << error.message;
    EXPECT_EQ(error.offset, offset) << error.message;
    EXPECT_NE(std::string(error.message).find(part), std::string::npos) << error.message;
}

TEST(NumberFormat, EveryTypeOfTheFormatHasOneWithItsWidth) {
    for (int tag = 0; tag < 256; ++tag) {
        const ElementTypeInfo* type = find_element_type(static_cast<std::uint8_t>(tag));
        const auto format = number_format(static_cast<std::uint8_t>(tag));
        ASSERT_EQ(format.has_value(), type != nullptr) << tag;
        if (type == nullptr) {
            EXPECT_EQ(format.error().code, Status::invalid_type);
            continue;
        }
        EXPECT_EQ(format->bits, type->bits);
        EXPECT_EQ(format->kind, type->kind);
        if (type->kind == ElementKind::floating_point) {
            EXPECT_EQ(format->floating.bits(), type->bits) << type->name;
        }
    }
}

TEST(NumberFormat, PrivateTypesThatContradictThemselvesAreRefused) {
    struct Case {
        int tag;
        PrivateNumber fields;
        Status code;
        const char* part;
    };
    const PrivateNumber half{16, true, false, 1, 5, 10, 15, true, true};
    ASSERT_TRUE(number_format(0xF0, half));
    ASSERT_TRUE(number_format(0xFE, half));
    const auto with = [&](auto change) {
        PrivateNumber fields = half;
        change(fields);
        return fields;
    };
    const Case cases[] = {
        {0x01, half, Status::invalid_argument, "private tag"},
        {0xFF, half, Status::invalid_argument, "private tag"},
        {0xF0, with([](auto& f) { f.bit_width = 0; }), Status::invalid_argument, "bit_width"},
        {0xF0, with([](auto& f) { f.bit_width = 6; }), Status::invalid_argument, "bit_width"},
        {0xF0, with([](auto& f) { f.bit_width = 12; }), Status::unsupported, "bit_width"},
        {0xF0, with([](auto& f) { f.bit_width = 24; }), Status::invalid_argument, "bit_width"},
        {0xF0, with([](auto& f) { f.bit_width = 136; }), Status::unsupported, "bit_width"},
        {0xF0, with([](auto& f) { f.bit_width = 0xFFFFFFF8; }), Status::unsupported, "bit_width"},
        {0xF0, with([](auto& f) { f.sign_bits = 2; }), Status::invalid_argument, "sign_bits"},
        {0xF0, {16, true, false, 1, 0, 15, 15, false, false}, Status::unsupported, "exponent_bits"},
        {0xF0, {64, true, false, 1, 33, 30, 15, true, true}, Status::unsupported, "exponent_bits"},
        {0xF0, {128, true, false, 1, 14, 113, 15, true, true}, Status::unsupported, "mantissa_bits"},
        {0xF0, {128, true, false, 0, 32, 96, 15, true, true}, Status::unsupported, "127 bits"},
        {0xF0, {8, true, false, 1, 7, 0, 15, true, true}, Status::unsupported, "mantissa_bits"},
        {0xF0, {8, true, false, 1, 4, 3, 7, false, true}, Status::unsupported, "has_nan"},
        {0xF0, {72, false, true, 0, 0, 0, 0, false, false}, Status::unsupported, "integers"},
    };
    for (const Case& c : cases) {
        const auto format = number_format(static_cast<std::uint8_t>(c.tag), c.fields);
        ASSERT_FALSE(format) << c.part << ' ' << c.fields.bit_width;
        expect_error(format.error(), c.code, Error::no_offset, c.part);
    }
    expect_error(number_format(0xF0).error(), Status::invalid_type, Error::no_offset, "extension section");
}

TEST(NumberFormat, Float128IsConvertedButNotReckonedWith) {
    EXPECT_EQ(check_arithmetic(format_of(0x46)).error().code, Status::unsupported);
    const auto wide = number_format(0xF0, {80, true, false, 1, 15, 64, 16383, true, true});
    ASSERT_TRUE(wide);
    EXPECT_EQ(check_arithmetic(*wide).error().code, Status::unsupported);
    for (const int tag : {0x01, 0x03, 0x04, 0x17, 0x20, 0x42, 0x44, 0x50, 0x51}) {
        EXPECT_TRUE(check_arithmetic(format_of(tag))) << tag;
    }
}

TEST(Convert, TheExampleOfSixBitPackingReadsAsTheFormatSays) {
    const auto data = bytes({0x81, 0x40, 0x20});
    for (std::uint64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(load_bits(format_of(0x44), data, i).value(), (RawBits{std::uint64_t{1} << i, 0}));
        // All of them are at most 1: subnormals in eighths, the last one the first with a hidden 1.
        EXPECT_EQ(load_float32(format_of(0x44), data, i).value(), (1 << i) / 8.0f);
    }
    auto written = bytes({0, 0, 0});
    const float numbers[] = {0.125f, 0.25f, 0.5f, 1.0f};
    ASSERT_TRUE(from_float32(format_of(0x44), numbers, written, 0));
    EXPECT_EQ(written, data);
}

TEST(Convert, ElementsBeyondTheMemoryAreRefusedBeforeAnythingIsTouched) {
    for (int tag = 0; tag < 256; ++tag) {
        const auto format = number_format(static_cast<std::uint8_t>(tag));
        if (!format) continue;
        // As many bits as there are, and one element more; counts that would wrap.
        std::vector<std::byte> data(48);
        const std::uint64_t room = data.size() * 8 / format->bits;
        EXPECT_TRUE(load_bits(*format, data, room - 1)) << format->name;
        EXPECT_TRUE(store_bits(*format, data, room - 1, {1, 0})) << format->name;
        for (const std::uint64_t index : {room, room + 1, largest_index / 16, largest_index / 8 + 1, largest_index}) {
            EXPECT_EQ(load_bits(*format, data, index).error().code, Status::index_out_of_bounds) << format->name;
            EXPECT_EQ(store_bits(*format, data, index, {}).error().code, Status::index_out_of_bounds);
            EXPECT_EQ(load_complex128(*format, data, index).error().code, Status::index_out_of_bounds);
            EXPECT_EQ(store_float32(*format, data, index, 1).error().code, Status::index_out_of_bounds);
            EXPECT_EQ(store_float64(*format, data, index, 1).error().code, Status::index_out_of_bounds);
        }
        std::vector<std::complex<double>> out(2, {7, 7});
        EXPECT_EQ(to_complex128(*format, data, room - 1, out).error().code, Status::index_out_of_bounds);
        EXPECT_EQ(out[0], std::complex<double>(7, 7));
        const std::vector<double> ones(2, 1.0);
        const auto before = data;
        EXPECT_EQ(from_float64(*format, ones, data, room - 1).error().code, Status::index_out_of_bounds);
        EXPECT_EQ(data, before);
    }
}

TEST(Convert, NothingIsConvertedFromNowhere) {
    for (const int tag : {0x01, 0x03, 0x20, 0x40, 0x42, 0x44, 0x46}) {
        EXPECT_TRUE(to_float32(format_of(tag), {}, 0, {}));
        EXPECT_TRUE(to_float64(format_of(tag), {}, 0, {}));
        EXPECT_TRUE(from_float32(format_of(tag), {}, {}, 0));
        EXPECT_EQ(load_float32(format_of(tag), {}, 0).error().code, Status::index_out_of_bounds);
    }
    EXPECT_TRUE(to_complex128(format_of(0x51), {}, 0, {}));
}

TEST(Convert, InvalidExponentsNameTheirElement) {
    const NumberFormat exponent = format_of(0x42);
    for (const int invalid : {0x00, 0xFF}) {
        auto data = bytes({1, 127, 128, invalid, 254});
        std::vector<float> out(5, 9.0f);
        const auto done = to_float32(exponent, data, 0, out);
        ASSERT_FALSE(done);
        expect_error(done.error(), Status::invalid_type, 3, invalid == 0 ? "element 3 of float8_e8m0" : "got FF");
        EXPECT_EQ(out[1], 1.0f);
        EXPECT_EQ(out[2], 2.0f);
        EXPECT_EQ(out[4], 9.0f);
        EXPECT_EQ(load_float64(exponent, data, 3).error().code, Status::invalid_type);
        EXPECT_EQ(load_complex128(exponent, data, 3).error().code, Status::invalid_type);
        EXPECT_EQ(load_float64(exponent, data, 4).value(), std::ldexp(1.0, 127));
        // As bits it is as good as any other.
        EXPECT_EQ(load_bits(exponent, data, 3).value().low, static_cast<std::uint64_t>(invalid));
    }
}

TEST(Convert, NumbersThatDoNotFitNameTheirElementAndKeepWhatWasWritten) {
    std::vector<std::byte> data(8);
    const double numbers[] = {7, -8, 7.5, 1};
    const auto done = from_float64(format_of(0x48), numbers, data, 3);
    ASSERT_FALSE(done);
    // Element 5 starts in byte 2.
    expect_error(done.error(), Status::invalid_argument, 2, "element 5 of int4: expected a number within");
    EXPECT_EQ(load_float64(format_of(0x48), data, 3).value(), 7);
    EXPECT_EQ(load_float64(format_of(0x48), data, 4).value(), -8);
    ASSERT_TRUE(from_float64(format_of(0x48), numbers, data, 3, Overflow::saturate));
    EXPECT_EQ(load_float64(format_of(0x48), data, 5).value(), 7);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Overflow overflow : {Overflow::to_infinity, Overflow::saturate, Overflow::refuse}) {
        for (const int tag : {0x10, 0x17, 0x20, 0x42, 0x43, 0x44, 0x45, 0x4B}) {
            expect_error(store_float64(format_of(tag), data, 0, nan, overflow).error(), Status::invalid_argument, 0,
                         "NaN");
        }
    }
    expect_error(store_float32(format_of(0x11), data, 1, -1).error(), Status::invalid_argument, 1, "not negative");
    expect_error(store_float32(format_of(0x42), data, 1, 0).error(), Status::invalid_argument, 1, "above 0");
}

TEST(Convert, ComplexIsNotMadeReal) {
    std::vector<std::byte> data(32);
    for (const int tag : {0x50, 0x51}) {
        const NumberFormat format = format_of(tag);
        expect_error(load_float32(format, data, 0).error(), Status::unsupported, Error::no_offset, format.name);
        EXPECT_EQ(load_float64(format, data, 0).error().code, Status::unsupported);
        ASSERT_TRUE(store_complex128(format, data, 1, {1.5, -2}));
        EXPECT_EQ(load_complex128(format, data, 1).value(), std::complex<double>(1.5, -2));
        ASSERT_TRUE(store_float32(format, data, 1, 3));
        EXPECT_EQ(load_complex128(format, data, 1).value(), std::complex<double>(3, 0));
    }
    // Not even when the imaginary part is 0.
    EXPECT_EQ(store_complex128(format_of(0x04), data, 0, {1, 0}).error().code, Status::unsupported);
    EXPECT_EQ(store_complex128(format_of(0x10), data, 0, {1, 0}).error().code, Status::unsupported);
    // Each half rounds as its type does.
    ASSERT_TRUE(store_complex128(format_of(0x50), data, 0, {1e300, -1e300}));
    EXPECT_EQ(load_complex128(format_of(0x50), data, 0).value().imag(), -std::numeric_limits<double>::infinity());
    expect_error(store_complex128(format_of(0x50), data, 1, {1, -1e300}, Overflow::refuse).error(),
                 Status::invalid_argument, 8, "-1.0000000000000001e+300");
}

TEST(Convert, BitsArePutAndTakenAsTheyAre) {
    std::vector<std::byte> data(16);
    const NumberFormat wide = format_of(0x46);
    const RawBits bits{0x0123456789ABCDEF, 0xFEDCBA9876543210};
    ASSERT_TRUE(store_bits(wide, data, 0, bits));
    EXPECT_EQ(load_bits(wide, data, 0).value(), bits);
    EXPECT_EQ(data[0], std::byte{0xEF});
    EXPECT_EQ(data[15], std::byte{0xFE});
    expect_error(store_bits(format_of(0x44), data, 5, {64, 0}).error(), Status::invalid_argument, 3, "at most 6 bits");
    expect_error(store_bits(format_of(0x04), data, 1, {0, 1}).error(), Status::invalid_argument, 8, "at most 64 bits");
    EXPECT_EQ(load_bits(wide, data, 0).value(), bits);
}

TEST(Convert, SignallingNaNsKeepTheirBits) {
    for (const std::uint32_t pattern : {0x7F800001U, 0xFFA00000U, 0x7FC12345U}) {
        std::vector<std::byte> data(8);
        ASSERT_TRUE(store_bits(format_of(0x03), data, 0, {pattern, 0}));
        std::vector<double> number(1);
        ASSERT_TRUE(to_float64(format_of(0x03), data, 0, number));
        ASSERT_TRUE(from_float64(format_of(0x03), number, data, 1));
        EXPECT_EQ(load_bits(format_of(0x03), data, 1).value().low, pattern);
    }
}

}  // namespace
}  // namespace hurray
