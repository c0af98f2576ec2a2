// Files that ggml wrote, against the numbers that ggml itself makes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/hurray/io/gguf/gguf_writer.hpp"
#include "core/hurray/io/gguf/tests/gguf_image.hpp"
#include "core/hurray/io/tests/shared_data.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray {
namespace {

constexpr std::uint8_t float32_tag = 0x03;

struct Sample {
    const char* name;
    std::vector<std::string> types;
};

const std::vector<Sample>& samples() {
    static const std::vector<Sample> all = {
        {"legacy_quants", {"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"}},
        {"k_quants", {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}},
        {"ints_mxfp4", {"I8", "I16", "I32", "I64", "F64", "MXFP4"}},
    };
    return all;
}

std::string shared_gguf(const char* name, const char* suffix) {
    return std::string("data/gguf/") + name + suffix;
}

// The tensor as float32, by way of its scheme where it has one.
std::string float32_bytes(const Tensor& tensor) {
    std::vector<float> numbers(tensor.descriptor.element_count().value());
    if (quantization_fields(tensor.descriptor)) {
        const auto done = dequantize_into(tensor, float32_tag, std::as_writable_bytes(std::span(numbers)));
        EXPECT_TRUE(done.has_value()) << done.error().message;
    } else {
        const auto format = number_format(tensor.descriptor.element_type()).value();
        const auto done = to_float32(format, element_bytes(tensor), 0, numbers);
        EXPECT_TRUE(done.has_value()) << done.error().message;
    }
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4};
}

void expect_ggml_numbers(const Sample& sample, const FileOptions& options) {
    const auto path = shared_data(shared_gguf(sample.name, ".gguf"));
    if (!path) return;
    const std::string expected = read_file(*shared_data(shared_gguf(sample.name, ".f32")));
    const auto opened = open_gguf_file(*path, options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const GgufFile& file = **opened;
    ASSERT_EQ(file.tensor_count(), sample.types.size());
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
        const auto info = file.tensor_info(i).value();
        EXPECT_EQ(info.stored_type, sample.types[i]);
        const auto tensor = file.tensor(i);
        ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
        EXPECT_EQ(shape_of(*tensor), (std::vector<std::uint64_t>{3, 512})) << info.stored_type;
        const std::string numbers = float32_bytes(*tensor);
        ASSERT_LE(at + numbers.size(), expected.size());
        EXPECT_TRUE(numbers == expected.substr(at, numbers.size()))
            << info.stored_type << " differs from ggml's numbers";
        at += numbers.size();
    }
    EXPECT_EQ(at, expected.size());
}

TEST(GgufShared, NumbersAreThoseOfGgmlBitForBit) {
    for (const Sample& sample : samples()) {
        for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
            SCOPED_TRACE(std::string(sample.name) + (access == FileAccess::map ? ", mapped" : ", read"));
            expect_ggml_numbers(sample, {.access = access, .inexact_blocks = InexactBlocks::float32});
        }
    }
}

TEST(GgufShared, NumbersAreTheSameWithoutTheSchemes) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        expect_ggml_numbers(sample, {.inexact_blocks = InexactBlocks::float32, .exact_schemes = false});
    }
}

TEST(GgufShared, Float16IsGgmlsFloat32RoundedOnce) {
    for (const Sample& sample : samples()) {
        const auto path = shared_data(shared_gguf(sample.name, ".gguf"));
        if (!path) return;
        const auto narrow =
            open_gguf_file(*path, {.inexact_blocks = InexactBlocks::float16, .exact_schemes = false}).value();
        const auto wide =
            open_gguf_file(*path, {.inexact_blocks = InexactBlocks::float32, .exact_schemes = false}).value();
        for (std::uint64_t i = 0; i < narrow->tensor_count(); ++i) {
            const auto info = narrow->tensor_info(i).value();
            if (wide->tensor_info(i).value().type_tag != float32_tag || info.type_tag != 0x01) continue;
            const Tensor expected = wide->tensor(i).value();
            std::vector<float> numbers(expected.descriptor.element_count().value());
            std::memcpy(numbers.data(), element_bytes(expected).data(), numbers.size() * 4);
            std::vector<std::byte> rounded(numbers.size() * 2);
            ASSERT_TRUE(from_float32(number_format(0x01).value(), numbers, rounded, 0).has_value());
            EXPECT_EQ(copy_of(element_bytes(narrow->tensor(i).value())), rounded) << info.stored_type;
        }
    }
}

TEST(GgufShared, MetadataIsReadExactly) {
    for (const Sample& sample : samples()) {
        const auto path = shared_data(shared_gguf(sample.name, ".gguf"));
        if (!path) return;
        const auto file = open_gguf_file(*path).value();
        const auto value = [&](const char* key) {
            return file->metadata(file->find_metadata(key).value()).value().value;
        };
        EXPECT_EQ(file->metadata_count(), 10U);
        EXPECT_EQ(value("general.architecture").text, "test");
        EXPECT_EQ(value("general.name").text, "tiny \xC3\xA9 random");
        EXPECT_EQ(value("test.block_count").uint64, 2U);
        EXPECT_EQ(value("test.eps").float64, double{1e-5F});
        EXPECT_TRUE(value("test.flag").boolean);
        EXPECT_EQ(value("test.i8").int64, -3);
        EXPECT_EQ(value("test.u64").uint64, std::uint64_t{1} << 40);
        EXPECT_EQ(value("test.f64").float64, 0.1);
        const auto numbers = file->find_metadata("test.arr").value();
        EXPECT_EQ(value("test.arr").count, 4U);
        EXPECT_EQ(file->metadata_element(numbers, 3).value().int64, -4);
        const auto strings = file->find_metadata("test.strs").value();
        EXPECT_EQ(file->metadata_element(strings, 1).value().text, "");
        EXPECT_EQ(file->metadata_element(strings, 2).value().text, "\xE2\x82\xAC");
    }
}

// What was read is written again: the data is the same byte for byte, whichever way the blocks went.
TEST(GgufShared, FilesAreWrittenBackAsTheyWere) {
    for (const Sample& sample : samples()) {
        const auto path = shared_data(shared_gguf(sample.name, ".gguf"));
        if (!path) return;
        for (const bool exact_schemes : {true, false}) {
            SCOPED_TRACE(std::string(sample.name) + (exact_schemes ? ", schemes" : ", raw"));
            const auto file = open_gguf_file(*path, {.exact_schemes = exact_schemes}).value();
            const TemporaryFolder folder;
            const std::string copy = folder.path() + "/copy.gguf";
            auto writer = create_model_file(copy, FileFormat::gguf).value();
            for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
                const auto added = writer->add(file->tensor_info(i).value().name, file->tensor(i).value());
                ASSERT_TRUE(added.has_value()) << added.error().message;
            }
            ASSERT_TRUE(writer->finish().has_value());
            const auto again = open_gguf_file(copy).value();
            const std::string before = read_file(*path);
            const std::string after = read_file(copy);
            const auto first = file->tensor_info(0).value().file_offset;
            const auto first_again = again->tensor_info(0).value().file_offset;
            EXPECT_TRUE(before.substr(first) == after.substr(first_again));
            for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
                EXPECT_EQ(again->tensor_info(i).value().stored_type, sample.types[i]);
            }
        }
    }
}

}  // namespace
}  // namespace hurray
