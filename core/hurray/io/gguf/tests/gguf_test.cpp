// What is read from a GGUF file: metadata, tensors in place, blocks in each of their forms.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "core/hurray/io/gguf/raw_scheme.hpp"
#include "core/hurray/io/gguf/tests/gguf_image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {
namespace {

std::string floats(const std::vector<float>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4};
}
std::string bytes_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Gguf, IsRecognisedByItsMagic) {
    const std::string image = gguf_image_of({4}, 0, floats({1, 2, 3, 4}));
    const auto file = open_model_bytes(FileBytes::over(bytes_of(image), {}));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->format(), FileFormat::gguf);
    EXPECT_STREQ(format_name((*file)->format()), "GGUF");
    EXPECT_FALSE(recognises_gguf(bytes_of("GGU"), 3));
    EXPECT_FALSE(recognises_gguf(bytes_of("FUGG"), 4));
}

TEST(Gguf, Version2IsReadAsWell) {
    const std::string image =
        GgufImage{.version = 2, .tensors = {gguf_info("t", {1}, 0, 0)}, .data = floats({5})}.bytes();
    const auto file = open_gguf_image(image).value();
    EXPECT_EQ(file->version(), 2U);
    EXPECT_EQ(bytes_text(element_bytes(file->tensor(0).value())), floats({5}));
}

TEST(Gguf, AFileOfMetadataOnlyNeedsNoPadding) {
    const std::string image = GgufImage{.metadata = {gguf_entry("k", 8, gguf_text("v"))}, .alignment = 0}.bytes();
    const auto file = open_gguf_image(image).value();
    EXPECT_EQ(file->tensor_count(), 0U);
    EXPECT_EQ(file->metadata(0).value().value.text, "v");
    EXPECT_TRUE(open_gguf_image(GgufImage{.alignment = 0}.bytes()).has_value());
}

TEST(Gguf, AllThirteenTypesOfValues) {
    const double wide = 0.1;
    const float narrow = 0.1F;
    const std::string image = GgufImage{
        .metadata = {
            gguf_entry("u8", 0, "\xFF"),
            gguf_entry("i8", 1, "\x80"),
            gguf_entry("u16", 2, le<std::uint16_t>(0xFFFF)),
            gguf_entry("i16", 3, le<std::int16_t>(-32768)),
            gguf_entry("u32", 4, u32(0xFFFFFFFF)),
            gguf_entry("i32", 5, le<std::int32_t>(-2147483647)),
            gguf_entry("f32", 6, le(narrow)),
            gguf_entry("bool", 7, std::string(1, '\0')),
            gguf_entry("string", 8, gguf_text(std::string_view("a\0b", 3))),
            gguf_entry("array", 9, u32(3) + u64(2) + le<std::int16_t>(-1) + le<std::int16_t>(7)),
            gguf_entry("u64", 10, u64(~std::uint64_t{0})),
            gguf_entry("i64", 11, le(std::numeric_limits<std::int64_t>::min())),
            gguf_entry("f64", 12, le(wide)),
        }}.bytes();
    const auto file = open_gguf_image(image).value();
    ASSERT_EQ(file->metadata_count(), 13U);
    const auto value = [&](const char* key) { return file->metadata(file->find_metadata(key).value()).value().value; };
    EXPECT_EQ(value("u8").type, MetadataType::uint64);
    EXPECT_EQ(value("u8").uint64, 255U);
    EXPECT_EQ(value("i8").type, MetadataType::int64);
    EXPECT_EQ(value("i8").int64, -128);
    EXPECT_EQ(value("u16").uint64, 65535U);
    EXPECT_EQ(value("i16").int64, -32768);
    EXPECT_EQ(value("u32").type, MetadataType::uint64);
    EXPECT_EQ(value("u32").uint64, 4294967295U);
    EXPECT_EQ(value("i32").int64, -2147483647);
    EXPECT_EQ(value("f32").type, MetadataType::float64);
    EXPECT_EQ(value("f32").float64, double{0.1F});
    EXPECT_EQ(value("bool").type, MetadataType::boolean);
    EXPECT_FALSE(value("bool").boolean);
    EXPECT_EQ(value("string").text, std::string_view("a\0b", 3));
    EXPECT_EQ(value("array").type, MetadataType::array);
    EXPECT_EQ(value("array").element_type, MetadataType::int64);
    EXPECT_EQ(value("array").count, 2U);
    EXPECT_EQ(value("u64").uint64, ~std::uint64_t{0});
    EXPECT_EQ(value("i64").int64, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(value("f64").float64, 0.1);
    // In the order of the file, and by key.
    EXPECT_EQ(file->metadata(8).value().key, "string");
    EXPECT_EQ(file->find_metadata("f64"), 12U);
    EXPECT_FALSE(file->find_metadata("f6").has_value());
    EXPECT_EQ(file->metadata(13).error().code, Status::index_out_of_bounds);
}

TEST(Gguf, ElementsOfArrays) {
    std::string strings;
    for (int i = 0; i < 1000; ++i)
        strings += gguf_text(std::string(static_cast<std::size_t>(i % 7), 'a') + std::to_string(i));
    const std::string image = GgufImage{
        .metadata = {
            gguf_entry("none", 9, u32(8) + u64(0)),
            gguf_entry("strings", 9, u32(8) + u64(1000) + strings),
            gguf_entry("bools", 9, u32(7) + u64(3) + std::string("\1\0\1", 3)),
            gguf_entry("floats", 9, u32(6) + u64(2) + le(1.5F) + le(std::numeric_limits<float>::infinity())),
            gguf_entry("more", 9, u32(8) + u64(2) + gguf_text("") + gguf_text("last")),
            gguf_entry("one", 4, u32(1)),
        }}.bytes();
    const auto file = open_gguf_image(image).value();
    EXPECT_EQ(file->metadata(0).value().value.count, 0U);
    EXPECT_EQ(file->metadata_element(0, 0).error().code, Status::index_out_of_bounds);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(file->metadata_element(1, i).value().text,
                  std::string(static_cast<std::size_t>(i % 7), 'a') + std::to_string(i));
    }
    EXPECT_FALSE(file->metadata_element(2, 1).value().boolean);
    EXPECT_TRUE(file->metadata_element(2, 2).value().boolean);
    EXPECT_EQ(file->metadata_element(3, 0).value().float64, 1.5);
    EXPECT_TRUE(std::isinf(file->metadata_element(3, 1).value().float64));
    EXPECT_EQ(file->metadata_element(4, 1).value().text, "last");
    EXPECT_EQ(file->metadata_element(4, 2).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(file->metadata_element(5, 0).error().code, Status::invalid_argument);
    EXPECT_EQ(file->metadata_element(6, 0).error().code, Status::index_out_of_bounds);
}

// ggml's first dimension is the innermost one.
TEST(Gguf, DimensionsAreReversed) {
    const std::string image = gguf_image_of({2, 3, 1}, 0, floats({0, 1, 2, 3, 4, 5}));
    const auto file = open_gguf_image(image).value();
    const Tensor tensor = file->tensor(0).value();
    EXPECT_EQ(shape_of(tensor), (std::vector<std::uint64_t>{1, 3, 2}));
    EXPECT_EQ(tensor.descriptor.layout(), layout_tag::row_major);
    const auto info = file->tensor_info(0).value();
    EXPECT_EQ(info.stored_type, "F32");
    EXPECT_EQ(info.bits, 32U);
    EXPECT_EQ(info.byte_size, 24U);
    EXPECT_EQ(info.file_offset % 32, 0U);
}

TEST(Gguf, PlainTypesAreInPlace) {
    struct Plain {
        std::uint32_t number;
        std::uint8_t tag;
        std::size_t width;
    };
    const std::vector<Plain> all = {{0, 0x03, 4},  {1, 0x01, 2},  {24, 0x10, 1}, {25, 0x12, 2},
                                    {26, 0x14, 4}, {27, 0x16, 8}, {28, 0x04, 8}, {30, 0x02, 2}};
    for (const Plain& plain : all) {
        std::string data(plain.width * 6, '\0');
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 37 + 1);
        const std::string image = gguf_image_of({3, 2}, plain.number, data);
        for (const bool exact_schemes : {true, false}) {
            const auto file =
                open_gguf_image(image, {.inexact_blocks = InexactBlocks::float32, .exact_schemes = exact_schemes});
            ASSERT_TRUE(file.has_value());
            const Tensor tensor = (*file)->tensor(0).value();
            EXPECT_EQ(tensor.descriptor.element_type(), plain.tag);
            EXPECT_EQ((*file)->tensor_info(0).value().type_tag, plain.tag);
            EXPECT_EQ(bytes_text(element_bytes(tensor)), data);
            EXPECT_EQ(reinterpret_cast<const char*>(element_bytes(tensor).data()),
                      image.data() + image.size() - data.size());
            EXPECT_TRUE(tensor.buffers[0].read_only);
            EXPECT_EQ((*file)->copied_bytes(), 0U);
        }
    }
}

TEST(Gguf, ScalarsAndEmptyTensors) {
    GgufImage image;
    image.tensors = {gguf_info("scalar", {}, 0, 0),      gguf_info("empty", {0, 3}, 0, 32),
                     gguf_info("rows", {32, 0}, 8, 32),  gguf_info("no columns", {0, 5}, 2, 32),
                     gguf_info("raw", {256, 0}, 12, 32), gguf_info("mx", {32, 0}, 39, 0)};
    image.data = floats({7}) + std::string(28, '\0');
    const std::string bytes = image.bytes();
    const auto file = open_gguf_image(bytes).value();
    const Tensor scalar = file->tensor(0).value();
    EXPECT_EQ(scalar.descriptor.rank(), 0U);
    EXPECT_EQ(bytes_text(element_bytes(scalar)), floats({7}));
    EXPECT_EQ(shape_of(file->tensor(1).value()), (std::vector<std::uint64_t>{3, 0}));
    EXPECT_EQ(shape_of(file->tensor(2).value()), (std::vector<std::uint64_t>{0, 32}));
    EXPECT_EQ(shape_of(file->tensor(3).value()), (std::vector<std::uint64_t>{5, 0}));
    EXPECT_EQ(shape_of(file->tensor(4).value()), (std::vector<std::uint64_t>{0, 144}));
    EXPECT_EQ(shape_of(file->tensor(5).value()), (std::vector<std::uint64_t>{0, 32}));
    EXPECT_EQ(file->tensor(6).error().code, Status::index_out_of_bounds);
    // mxfp needs a block along its axis.
    const std::string none = gguf_image_of({0, 2}, 39, "");
    const auto refused = open_gguf_image(none).value()->tensor(0);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::unsupported);
    EXPECT_TRUE(open_gguf_image(none, {.exact_schemes = false}).value()->tensor(0).has_value());
}

TEST(Gguf, NamesOfAnyCharacters) {
    GgufImage image;
    const std::string nul("a\0b", 3);
    image.tensors = {gguf_info("", {1}, 24, 0), gguf_info("a", {1}, 24, 32), gguf_info(nul, {1}, 24, 64),
                     gguf_info("\xE2\x82\xAC", {1}, 24, 96), gguf_info(std::string(70000, 'n'), {1}, 24, 128)};
    image.data = std::string(129, '\5');
    const std::string bytes = image.bytes();
    const auto file = open_gguf_image(bytes).value();
    EXPECT_EQ(file->find(""), 0U);
    EXPECT_EQ(file->find("a"), 1U);
    EXPECT_EQ(file->find(nul), 2U);
    EXPECT_EQ(file->find("\xE2\x82\xAC"), 3U);
    EXPECT_EQ(file->find(std::string(70000, 'n')), 4U);
    EXPECT_FALSE(file->find("b").has_value());
    EXPECT_EQ(file->tensor_info(2).value().name, nul);
}

TEST(Gguf, GapsAndAnyOrderOfTheData) {
    GgufImage image;
    image.tensors = {gguf_info("late", {1}, 26, 256), gguf_info("early", {1}, 26, 64)};
    image.data = std::string(260, '\0');
    image.data[64] = 1;
    image.data[256] = 2;
    const std::string bytes = image.bytes();
    const auto file = open_gguf_image(bytes).value();
    EXPECT_EQ(element_bytes(file->tensor(0).value())[0], std::byte{2});
    EXPECT_EQ(element_bytes(file->tensor(1).value())[0], std::byte{1});
}

TEST(Gguf, GeneralAlignmentSaysWhereTheDataStarts) {
    for (const std::uint32_t alignment : {8U, 32U, 64U, 4096U, 1U << 24}) {
        GgufImage image;
        image.metadata = {gguf_entry("general.alignment", 4, u32(alignment))};
        image.tensors = {gguf_info("t", {1}, 0, 0), gguf_info("u", {1}, 0, alignment)};
        image.alignment = alignment;
        image.data = floats({1}) + std::string(alignment - 4, '\0') + floats({2});
        const std::string bytes = image.bytes();
        const auto file = open_gguf_image(bytes).value();
        EXPECT_EQ(file->alignment(), alignment);
        EXPECT_EQ(bytes_text(element_bytes(file->tensor(0).value())), floats({1}));
        EXPECT_EQ(bytes_text(element_bytes(file->tensor(1).value())), floats({2}));
        EXPECT_EQ(file->tensor_info(0).value().file_offset % alignment, 0U);
    }
}

TEST(Gguf, AlignmentPolicies) {
    const TemporaryFolder folder;
    GgufImage image;
    image.tensors = {gguf_info("t", {4}, 0, 0), gguf_info("u", {4}, 0, 32)};
    image.data = floats({1, 2, 3, 4}) + std::string(16, '\0') + floats({5, 6, 7, 8});
    const std::string path = folder.file("a.gguf", image.bytes());
    const std::uint64_t misaligned = open_gguf_file(path).value()->tensor_info(0).value().file_offset % 64 != 0 ? 0 : 1;
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
        const auto offset = open_gguf_file(path, {.access = access}).value();
        const Tensor in_place = offset->tensor(misaligned).value();
        const bool mapped = access == FileAccess::map;
        EXPECT_EQ(in_place.descriptor.byte_offset(), mapped ? 32U : 0U);
        EXPECT_EQ(in_place.buffers[0].prefix, mapped ? 32U : 0U);
        EXPECT_EQ(offset->copied_bytes(), mapped ? 0U : 16U);
        const auto copy = open_gguf_file(path, {.alignment = AlignmentPolicy::copy, .access = access}).value();
        const Tensor copied = copy->tensor(misaligned).value();
        EXPECT_EQ(copied.descriptor.byte_offset(), 0U);
        EXPECT_EQ(copy->copied_bytes(), 16U);
        EXPECT_EQ(copy_of(element_bytes(copied)), copy_of(element_bytes(in_place)));
        const auto require = open_gguf_file(path, {.alignment = AlignmentPolicy::require, .access = access}).value();
        EXPECT_TRUE(require->tensor(1 - misaligned).has_value());
        const auto refused = require->tensor(misaligned);
        EXPECT_EQ(refused.has_value(), !mapped);
        if (!refused) {
            EXPECT_EQ(refused.error().code, Status::misaligned);
            EXPECT_EQ(refused.error().offset, require->tensor_info(misaligned).value().file_offset);
        }
    }
}

TEST(Gguf, TensorsOutliveTheFile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.gguf", gguf_image_of({4}, 0, floats({1, 2, 3, 4})));
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
        auto file = open_gguf_file(path, {.access = access}).value();
        const Tensor tensor = file->tensor(0).value();
        file.reset();
        EXPECT_EQ(bytes_text(element_bytes(tensor)), floats({1, 2, 3, 4}));
    }
}

TEST(Gguf, DescriptorsAreThoseOfTheTensors) {
    GgufImage image;
    image.tensors = {gguf_info("plain", {32, 2}, 1, 0), gguf_info("exact", {32, 2}, 2, 128),
                     gguf_info("mx", {64}, 39, 192), gguf_info("inexact", {256, 2}, 14, 256)};
    image.data = std::string(256 + 420, '\1');
    const std::string bytes = image.bytes();
    for (const auto inexact : {InexactBlocks::raw, InexactBlocks::float32, InexactBlocks::float16}) {
        const auto file = open_gguf_image(bytes, {.inexact_blocks = inexact}).value();
        for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
            const Descriptor told = file->descriptor(i).value();
            const Tensor tensor = file->tensor(i).value();
            const auto info = file->tensor_info(i).value();
            EXPECT_EQ(told.element_type(), tensor.descriptor.element_type());
            EXPECT_EQ(told.element_type(), info.type_tag);
            EXPECT_TRUE(std::ranges::equal(told.shape(), tensor.descriptor.shape()));
            EXPECT_TRUE(std::ranges::equal(told.shape(), info.shape));
            EXPECT_EQ(told.flags(), tensor.descriptor.flags());
            const auto fields = quantization_fields(told);
            EXPECT_EQ(fields ? fields->scheme : 0, info.scheme_tag);
            ASSERT_EQ(told.buffers().size(), tensor.buffers.size());
            for (std::size_t b = 0; b < tensor.buffers.size(); ++b) {
                EXPECT_EQ(told.buffers()[b].byte_size, tensor.buffers[b].handle.byte_size - tensor.buffers[b].prefix);
                const FileRange range = file->buffer_range(i, b).value();
                EXPECT_EQ(range.offset, info.file_offset);
                EXPECT_EQ(range.size, info.byte_size);
            }
            EXPECT_EQ(file->buffer_range(i, tensor.buffers.size()).error().code, Status::index_out_of_bounds);
        }
    }
}

TEST(Gguf, RawBlocksAreRowsOfBytesUnderAPrivateScheme) {
    std::string data(2 * 2 * 144, '\0');
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 11);
    const std::string image = gguf_image_of({512, 2}, 12, data);
    const auto file = open_gguf_image(image).value();
    const Tensor tensor = file->tensor(0).value();
    EXPECT_EQ(tensor.descriptor.element_type(), 0x11);
    EXPECT_EQ(shape_of(tensor), (std::vector<std::uint64_t>{2, 288}));
    EXPECT_EQ(bytes_text(element_bytes(tensor)), data);
    EXPECT_EQ(file->copied_bytes(), 0U);
    const auto fields = quantization_fields(tensor.descriptor).value();
    EXPECT_EQ(fields.scheme, 0xF0);
    EXPECT_EQ(fields.version, 1);
    EXPECT_EQ(fields.flags, 0);
    EXPECT_EQ(bytes_text(fields.private_data), "GGUF" + u32(12) + u32(256) + u32(144));
    EXPECT_EQ(gguf_blocks::raw_type(tensor.descriptor)->name, "Q4_K");
}

TEST(Gguf, TypesThatNeedTablesAreRawOnly) {
    struct Type {
        std::uint32_t number;
        std::size_t bytes;
        const char* name;
    };
    for (const Type& type :
         {Type{16, 66, "IQ2_XXS"}, Type{17, 74, "IQ2_XS"}, Type{18, 98, "IQ3_XXS"}, Type{19, 50, "IQ1_S"},
          Type{21, 110, "IQ3_S"}, Type{22, 82, "IQ2_S"}, Type{29, 56, "IQ1_M"}}) {
        const std::string data(type.bytes, '\3');
        const std::string image = gguf_image_of({256}, type.number, data);
        const auto raw = open_gguf_image(image).value();
        EXPECT_EQ(raw->tensor_info(0).value().stored_type, type.name);
        EXPECT_EQ(bytes_text(element_bytes(raw->tensor(0).value())), data);
        for (const auto inexact : {InexactBlocks::float32, InexactBlocks::float16}) {
            const auto file = open_gguf_image(image, {.inexact_blocks = inexact}).value();
            for (const auto& error : {file->tensor(0).error(), file->descriptor(0).error()}) {
                EXPECT_EQ(error.code, Status::unsupported);
                EXPECT_NE(std::string_view(error.message).find("inexact_blocks: raw"), std::string_view::npos)
                    << error.message;
            }
        }
    }
}

// One block of 32 elements under its scheme, dequantized.
std::vector<float> scheme_numbers(const GgufFile& file) {
    const Tensor tensor = file.tensor(0).value();
    std::vector<float> numbers(32);
    EXPECT_TRUE(dequantize_into(tensor, 0x03, std::as_writable_bytes(std::span(numbers))).has_value());
    return numbers;
}

// What ggml makes of the block.
std::vector<float> ggml_numbers(const std::string& image) {
    const auto file =
        open_gguf_image(image, {.inexact_blocks = InexactBlocks::float32, .exact_schemes = false}).value();
    std::vector<float> numbers(32);
    std::memcpy(numbers.data(), element_bytes(file->tensor(0).value()).data(), 128);
    return numbers;
}

struct Block {
    const char* what;
    std::uint32_t type;
    std::string bytes;
    /// Empty: exact. Otherwise what the refusal says.
    std::string refusal;
};

std::string half(std::uint16_t bits) {
    return le(bits);
}
std::string exponent(int code) {
    return std::string(1, static_cast<char>(code));
}
std::string codes(std::size_t count, std::initializer_list<int> values) {
    std::string out;
    const std::vector<int> all(values);
    for (std::size_t i = 0; i < count; ++i) out += static_cast<char>(all[i % all.size()]);
    return out;
}

TEST(Gguf, ExactBlocksAreThoseThatTheSchemeSaysBitForBit) {
    const std::vector<Block> blocks = {
        {"ordinary", 8, half(0x3555) + codes(32, {-128, 127, 0, 1, -1, 64}), ""},
        {"negative scale", 8, half(0xB555) + codes(32, {-128, 127, 0, 1, -1, 64}), ""},
        {"smallest scale", 8, half(0x0001) + codes(32, {-128, 127, 0, 3}), ""},
        {"largest scale", 8, half(0x7BFF) + codes(32, {-128, 127, 0, 3}), ""},
        {"scale 0, codes 0", 8, half(0x0000) + codes(32, {0}), ""},
        {"scale 0, codes above", 8, half(0x0000) + codes(32, {0, 5, 127}), ""},
        {"scale 0, codes below", 8, half(0x0000) + codes(32, {-5, -128}), ""},
        {"scale -0, codes 0", 8, half(0x8000) + codes(32, {0}), ""},
        {"scale -0, codes above", 8, half(0x8000) + codes(32, {0, 9}), ""},
        {"scale 0, codes of both signs", 8, half(0x0000) + codes(32, {1, -1}),
         "its scale is 0 and its codes have both signs"},
        {"scale NaN", 8, half(0x7E00) + codes(32, {1}), "its scale is NaN"},
        {"scale infinite", 8, half(0xFC00) + codes(32, {1}), "its scale is infinite"},
        {"ordinary", 2, half(0xB111) + codes(16, {0x0F, 0xF0, 0x87, 0x78, 0x12}), ""},
        {"scale -0, all 8: ggml's block of zeros", 2, half(0x8000) + codes(16, {0x88}), ""},
        {"scale 0, codes of both signs", 2, half(0x0000) + codes(16, {0x79}), "both signs"},
        {"scale 0, codes below", 2, half(0x0000) + codes(16, {0x70}), ""},
        {"scale NaN", 2, half(0x7C01) + codes(16, {0x88}), "NaN"},
        {"ordinary", 39, exponent(0x7F) + codes(16, {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE}), ""},
        {"code of -0 is 0 to ggml", 39, exponent(0x80) + codes(16, {0x88, 0x08}), ""},
        {"smallest scale allowed", 39, exponent(0x01) + codes(16, {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE}),
         ""},
        {"largest scale allowed", 39, exponent(0xFE) + codes(16, {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE}), ""},
        {"scale 00, zeros: ggml's block of zeros", 39, exponent(0) + codes(16, {0x00}), ""},
        {"scale 00, even codes", 39, exponent(0) + codes(16, {0x42, 0x65, 0x70, 0xCA, 0xFE}), ""},
        {"scale 00, code 1", 39, exponent(0) + codes(16, {0x01}), "its scale is 00"},
        {"scale 00, code 3", 39, exponent(0) + codes(16, {0x30}), "its scale is 00"},
        {"scale FF", 39, exponent(0xFF) + codes(16, {0x00}), "its scale is FF"},
    };
    for (const Block& block : blocks) {
        SCOPED_TRACE(std::string(block.what) + ", type " + std::to_string(block.type));
        const std::string image = gguf_image_of({32}, block.type, block.bytes);
        const auto file = open_gguf_image(image).value();
        const auto tensor = file->tensor(0);
        ASSERT_EQ(tensor.has_value(), block.refusal.empty());
        if (!tensor) {
            EXPECT_EQ(tensor.error().code, Status::unsupported);
            EXPECT_EQ(tensor.error().offset, file->tensor_info(0).value().file_offset);
            const std::string_view message = tensor.error().message;
            EXPECT_NE(message.find(block.refusal), std::string_view::npos) << message;
            EXPECT_NE(message.find("exact_schemes"), std::string_view::npos) << message;
            // The option that it names helps.
            EXPECT_TRUE(open_gguf_image(image, {.exact_schemes = false}).value()->tensor(0).has_value());
            continue;
        }
        const auto numbers = scheme_numbers(*file);
        const auto expected = ggml_numbers(image);
        for (std::size_t i = 0; i < 32; ++i) {
            EXPECT_EQ(std::bit_cast<std::uint32_t>(numbers[i]), std::bit_cast<std::uint32_t>(expected[i]))
                << "element " << i << ": " << numbers[i] << ", ggml: " << expected[i];
        }
    }
}

TEST(Gguf, TheSecondOfManyBlocksIsNamedByItsPlace) {
    std::string data;
    for (int i = 0; i < 40'000; ++i) data += half(i == 39'000 ? 0x7E00 : 0x3C00) + codes(32, {i % 100});
    const std::string image = gguf_image_of({32, 40'000}, 8, data);
    const auto file = open_gguf_image(image).value();
    const auto refused = file->tensor(0);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().offset, file->tensor_info(0).value().file_offset + 39'000 * 34);
    EXPECT_NE(std::string_view(refused.error().message).find("block 39000 of Q8_0"), std::string_view::npos);
}

TEST(Gguf, RepackedBytesAreCounted) {
    const std::string image = gguf_image_of({64, 2}, 2, std::string(4 * 18, '\1'));
    const auto file = open_gguf_image(image).value();
    const Tensor tensor = file->tensor(0).value();
    EXPECT_EQ(tensor.buffers[0].handle.byte_size, 64U);
    EXPECT_EQ(tensor.buffers[1].handle.byte_size, 8U);
    EXPECT_EQ(file->copied_bytes(), 72U);
    EXPECT_TRUE(file->tensor(0).has_value());
    EXPECT_EQ(file->copied_bytes(), 144U);
    const auto numbers =
        open_gguf_image(image, {.inexact_blocks = InexactBlocks::float32, .exact_schemes = false}).value();
    EXPECT_TRUE(numbers->tensor(0).has_value());
    EXPECT_EQ(numbers->copied_bytes(), 512U);
}

TEST(Gguf, ManyThreadsAtOnce) {
    GgufImage image;
    image.tensors = {gguf_info("a", {32, 8}, 8, 0), gguf_info("b", {256}, 12, 288), gguf_info("c", {8}, 0, 448)};
    image.data = std::string(448 + 32, '\1');
    const std::string bytes = image.bytes();
    const auto file = open_gguf_image(bytes, {.inexact_blocks = InexactBlocks::float32}).value();
    std::atomic<int> faults{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                for (std::uint64_t tensor = 0; tensor < 3; ++tensor) faults += file->tensor(tensor).has_value() ? 0 : 1;
                faults += file->find("b") == 1U ? 0 : 1;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(faults, 0);
    EXPECT_EQ(file->copied_bytes(), 200U * (256 + 16 + 1024));
}

}  // namespace
}  // namespace hurray
