// Reading safetensors files that are well-formed.
#include "core/hurray/io/safetensors/safetensors_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/hurray/io/safetensors/safetensors_dtype.hpp"
#include "core/hurray/io/safetensors/tests/safetensors_image.hpp"
#include "core/hurray/io/tests/shared_data.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

std::unique_ptr<SafetensorsFile> open_image(const std::string& image, const FileOptions& options = {}) {
    auto* storage = new ImageStorage(image);
    auto file = SafetensorsFile::open(FileBytes::over(storage->bytes(), Ref<Storage>::adopt(storage)), options);
    if (!file) throw std::runtime_error(file.error().message);
    return *std::move(file);
}

std::string numbers(std::size_t size) {
    std::string data(size, '\0');
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<char>(i * 7 + 3);
    return data;
}

TEST(Safetensors, TensorsInHeaderOrderWithShapesAndPlaces) {
    // Not in order of names, not in order of data, spaces wherever JSON allows them.
    const std::string header =
        "{ \"z\" : { \"shape\" : [ 2 , 3 ] , \"data_offsets\" : [ 4 , 10 ],\"dtype\":\"U8\" },\n\t\"a\":"
        "{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},\"empty\":{\"dtype\":\"F16\",\"shape\":[5,0,7],"
        "\"data_offsets\":[10,10]}}   ";
    const std::string data = numbers(10);
    const auto file = open_image(safetensors_image(header, data));
    ASSERT_EQ(file->tensor_count(), 3U);
    EXPECT_EQ(file->header_length(), header.size());
    EXPECT_EQ(file->file_size(), 8 + header.size() + 10);
    EXPECT_EQ(file->metadata_count(), 0U);

    const auto z = file->tensor_info(0).value();
    EXPECT_EQ(z.name, "z");
    EXPECT_EQ(z.stored_type, "U8");
    EXPECT_EQ(z.type_tag, 0x11);
    EXPECT_EQ(z.bits, 8U);
    EXPECT_TRUE(std::ranges::equal(z.shape, std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(z.file_offset, 8 + header.size() + 4);
    EXPECT_EQ(z.byte_size, 6U);

    EXPECT_EQ(file->find("a"), 1U);
    EXPECT_EQ(file->find("z"), 0U);
    EXPECT_FALSE(file->find("").has_value());
    EXPECT_FALSE(file->find("b").has_value());
    EXPECT_FALSE(file->find("zz").has_value());

    const Tensor scalar = file->tensor(1).value();
    EXPECT_EQ(scalar.descriptor.rank(), 0U);
    EXPECT_EQ(scalar.descriptor.layout(), layout_tag::row_major);
    EXPECT_EQ(copy_of(element_bytes(scalar)), copy_of(bytes_of(data).first(4)));

    const Tensor empty = file->tensor(2).value();
    EXPECT_EQ(shape_of(empty), (std::vector<std::uint64_t>{5, 0, 7}));
    EXPECT_EQ(empty.buffers.at(0).handle.byte_size, 0U);

    const auto beyond = file->tensor(3);
    ASSERT_FALSE(beyond.has_value());
    EXPECT_EQ(beyond.error().code, Status::index_out_of_bounds);
    EXPECT_EQ(file->tensor_info(~std::uint64_t{0}).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(file->metadata(0).error().code, Status::index_out_of_bounds);
}

TEST(Safetensors, NoTensorsAtAll) {
    EXPECT_EQ(open_image(safetensors_image("{}", 0))->tensor_count(), 0U);
    const auto file = open_image(safetensors_image("{\"__metadata__\":{}}", 0));
    EXPECT_EQ(file->tensor_count(), 0U);
    EXPECT_EQ(file->metadata_count(), 0U);
}

TEST(Safetensors, NamesAndMetadataMayHoldAnything) {
    const std::string header =
        "{\"__metadata__\":{\"\":\"empty key\",\"k\\u0000\":\"v\\u0000\\n\",\"\\ud83d\\ude00\":\"\xE5\x90\x8D\"},"
        "\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},"
        "\"\xE5\x90\x8D\\\"\\\\\\/\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}";
    const auto file = open_image(safetensors_image(header, 3));
    EXPECT_EQ(file->find(""), 0U);
    EXPECT_EQ(file->find(std::string_view("a\0b", 3)), 1U);
    EXPECT_FALSE(file->find("a").has_value());
    EXPECT_EQ(file->find("\xE5\x90\x8D\"\\/"), 2U);
    ASSERT_EQ(file->metadata_count(), 3U);
    EXPECT_EQ(file->metadata(1).value().key, std::string_view("k\0", 2));
    EXPECT_EQ(metadata_text(*file, std::string_view("k\0", 2)), std::string_view("v\0\n", 3));
    EXPECT_EQ(metadata_text(*file, "\xF0\x9F\x98\x80"), "\xE5\x90\x8D");
    EXPECT_EQ(metadata_text(*file, ""), "empty key");
    EXPECT_FALSE(metadata_text(*file, "k").has_value());
}

TEST(Safetensors, EveryDtypeKeepsItsBytes) {
    for (const SafetensorsDtype& dtype : safetensors_dtypes()) {
        const std::size_t bytes = std::size_t{dtype.file_bits} * 8 * 3 / 8;
        std::string data = numbers(bytes);
        if (dtype.name == "BOOL") {
            for (char& byte : data) byte &= 1;
        }
        const std::string header = "{\"t\":{\"dtype\":\"" + std::string(dtype.name) +
                                   "\",\"shape\":[3,8],\"data_offsets\":[0," + std::to_string(bytes) + "]}}";
        const auto file = open_image(safetensors_image(header, data));
        const auto info = file->tensor_info(0).value();
        EXPECT_EQ(info.stored_type, dtype.name);
        const auto tensor = file->tensor(0);
        ASSERT_TRUE(tensor.has_value()) << dtype.name << ": " << tensor.error().message;
        EXPECT_EQ(tensor->descriptor.element_type(), dtype.type_tag);
        const ElementTypeInfo* type = find_element_type(dtype.type_tag);
        ASSERT_NE(type, nullptr) << dtype.name;
        EXPECT_EQ(type->bits, dtype.bits) << dtype.name;
        EXPECT_EQ(info.bits, type->bits) << dtype.name;
        if (dtype.name == "BOOL") {
            for (std::size_t i = 0; i < data.size(); ++i) {
                const auto bit = (std::to_integer<unsigned>(element_bytes(*tensor)[i / 8]) >> (i % 8)) & 1U;
                ASSERT_EQ(bit, static_cast<unsigned>(data[i]));
            }
            EXPECT_EQ(file->copied_bytes(), 3U);
        } else {
            EXPECT_EQ(copy_of(element_bytes(*tensor)), copy_of(bytes_of(data))) << dtype.name;
            EXPECT_EQ(file->copied_bytes(), 0U) << dtype.name;
        }
    }
}

// A file whose data starts at 64k + remainder, through padding of the header.
std::string image_at(std::size_t remainder, std::size_t bytes) {
    std::string header = "{\"t\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(bytes) + "],\"data_offsets\":[0," +
                         std::to_string(bytes) + "]}}";
    while ((8 + header.size()) % 64 != remainder) header += ' ';
    return safetensors_image(header, numbers(bytes));
}

TEST(Safetensors, DataAtAnyOffsetIsHandedOverInPlace) {
    const TemporaryFolder folder;
    for (const std::size_t remainder : {0U, 1U, 7U, 8U, 63U}) {
        const std::string path = folder.file("f", image_at(remainder, 100));
        const auto file = open_safetensors_file(path);
        ASSERT_TRUE(file.has_value()) << file.error().message;
        const Tensor tensor = (*file)->tensor(0).value();
        const Buffer& buffer = tensor.buffers.at(0);
        EXPECT_EQ(buffer.prefix, remainder);
        EXPECT_EQ(tensor.descriptor.byte_offset(), remainder);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data) % 64, 0U);
        EXPECT_EQ(buffer.handle.byte_size, 100 + remainder);
        EXPECT_TRUE(buffer.read_only);
        EXPECT_EQ(copy_of(element_bytes(tensor)), copy_of(bytes_of(numbers(100))));
        EXPECT_EQ((*file)->copied_bytes(), 0U);
    }
}

TEST(Safetensors, AlignmentPolicies) {
    const TemporaryFolder folder;
    const std::string off = folder.file("off", image_at(8, 100));
    const std::string on = folder.file("on", image_at(0, 100));
    FileOptions options;
    options.alignment = AlignmentPolicy::copy;
    const auto copied = open_safetensors_file(off, options);
    ASSERT_TRUE(copied.has_value());
    const Tensor tensor = (*copied)->tensor(0).value();
    EXPECT_EQ(tensor.buffers.at(0).prefix, 0U);
    EXPECT_EQ(tensor.descriptor.byte_offset(), 0U);
    EXPECT_EQ(copy_of(element_bytes(tensor)), copy_of(bytes_of(numbers(100))));
    EXPECT_EQ((*copied)->copied_bytes(), 100U);
    ASSERT_TRUE((*copied)->tensor(0).has_value());
    EXPECT_EQ((*copied)->copied_bytes(), 200U);
    const auto in_place = open_safetensors_file(on, options);
    ASSERT_TRUE((*in_place)->tensor(0).has_value());
    EXPECT_EQ((*in_place)->copied_bytes(), 0U);

    options.alignment = AlignmentPolicy::require;
    const auto refusing = open_safetensors_file(off, options);
    ASSERT_TRUE(refusing.has_value());
    const auto refused = (*refusing)->tensor(0);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::misaligned);
    EXPECT_EQ(refused.error().offset, (*refusing)->tensor_info(0)->file_offset);
    EXPECT_NE(std::strstr(refused.error().message, "not aligned to 64"), nullptr);
    EXPECT_TRUE((*open_safetensors_file(on, options))->tensor(0).has_value());
}

// Without a map: read into aligned memory, counted, and an error where a mapping would raise SIGBUS.
TEST(Safetensors, FilesThatAreRead) {
    const TemporaryFolder folder;
    std::string data = numbers(200'000);
    for (std::size_t i = 0; i < 150'000; ++i) data[i] &= 1;
    const std::string header = "{\"b\":{\"dtype\":\"BOOL\",\"shape\":[150000],\"data_offsets\":[0,150000]},"
                               "\"u\":{\"dtype\":\"U8\",\"shape\":[50000],\"data_offsets\":[150000,200000]}}";
    const std::string path = folder.file("f", safetensors_image(header, data));
    FileOptions options;
    options.access = FileAccess::read;
    options.alignment = AlignmentPolicy::require;
    const auto file = open_safetensors_file(path, options);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const auto mapped = open_safetensors_file(path);
    const auto bools = (*file)->tensor(0);
    ASSERT_TRUE(bools.has_value()) << bools.error().message;
    EXPECT_EQ((*file)->copied_bytes(), 18'750U);
    EXPECT_EQ(copy_of(element_bytes(*bools)), copy_of(element_bytes((*mapped)->tensor(0).value())));
    const auto tensor = (*file)->tensor(1);
    ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
    EXPECT_EQ(tensor->buffers.at(0).prefix, 0U);
    EXPECT_EQ(copy_of(element_bytes(*tensor)), copy_of(bytes_of(data).subspan(150'000)));
    EXPECT_EQ((*file)->copied_bytes(), 68'750U);
    EXPECT_EQ((*file)->descriptor(1)->buffers()[0].byte_size, 50'000U);

    data[149'999] = 2;
    (void)folder.file("f", safetensors_image(header, data));
    const auto neither = (*file)->tensor(0);
    ASSERT_FALSE(neither.has_value());
    EXPECT_EQ(neither.error().code, Status::invalid_format);
    EXPECT_EQ(neither.error().offset, 8 + header.size() + 149'999) << "far behind the first part that is read";

    std::filesystem::resize_file(path, 8 + header.size() + 100'000);
    for (const std::uint64_t index : {0U, 1U}) {
        const auto cut = (*file)->tensor(index);
        ASSERT_FALSE(cut.has_value());
        EXPECT_EQ(cut.error().code, Status::invalid_format) << cut.error().message;
    }
}

TEST(Safetensors, IsRecognisedByItsFirstBrace) {
    const std::string image = safetensors_image("{}", 0);
    const auto recognised = [](std::string_view start) { return recognises_safetensors(bytes_of(start), start.size()); };
    EXPECT_TRUE(recognised(image));
    EXPECT_FALSE(recognised(image.substr(0, 8)));
    EXPECT_FALSE(recognised(""));
    EXPECT_FALSE(recognised(safetensors_image("[]", 0)));
    EXPECT_TRUE(open_model_bytes(FileBytes::over(bytes_of(image), {})).has_value());
}

TEST(Safetensors, BoolThatIsNeitherZeroNorOne) {
    std::string data(20, '\1');
    data[13] = 2;
    const std::string header = "{\"t\":{\"dtype\":\"BOOL\",\"shape\":[20],\"data_offsets\":[0,20]}}";
    const auto file = open_image(safetensors_image(header, data));
    const auto result = file->tensor(0);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::invalid_format);
    EXPECT_EQ(result.error().offset, 8 + header.size() + 13);
    EXPECT_NE(std::strstr(result.error().message, "element 13 is the byte 2"), nullptr) << result.error().message;
    EXPECT_EQ(file->copied_bytes(), 0U);
}

TEST(Safetensors, TensorsOutliveTheFileObjectAndTheFile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", image_at(9, 5000));
    std::vector<Tensor> kept;
    {
        const auto file = open_safetensors_file(path);
        ASSERT_TRUE(file.has_value());
        kept.push_back((*file)->tensor(0).value());
        kept.push_back(kept[0]);
    }
    std::filesystem::remove(path);
    kept.erase(kept.begin());
    EXPECT_EQ(kept[0].buffers[0].storage->references(), 1U);
    EXPECT_EQ(copy_of(element_bytes(kept[0])), copy_of(bytes_of(numbers(5000))));
}

TEST(Safetensors, ManyThreadsAtOnce) {
    const std::string header = "{\"t\":{\"dtype\":\"BOOL\",\"shape\":[800],\"data_offsets\":[0,800]}}";
    const auto file = open_image(safetensors_image(header, std::string(800, '\1')));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                ASSERT_TRUE(file->tensor(0).has_value());
                ASSERT_EQ(file->find("t"), 0U);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(file->copied_bytes(), 4 * 50 * 100U);
}

TEST(Safetensors, FilesOfOtherPrograms) {
    const auto folder = shared_data("data/safetensors");
    if (!folder) GTEST_SKIP();
    std::size_t files = 0;
    std::size_t unaligned = 0;
    for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
        if (entry.path().extension() != ".safetensors") continue;
        ++files;
        const std::string raw = read_file(entry.path());
        const auto file = open_safetensors_file(entry.path().string());
        ASSERT_TRUE(file.has_value()) << entry.path() << ": " << file.error().message;
        bool all_aligned = true;
        for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
            const auto info = (*file)->tensor_info(i).value();
            EXPECT_EQ((*file)->find(info.name), i);
            const auto tensor = (*file)->tensor(i);
            ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
            EXPECT_EQ(copy_of(element_bytes(*tensor)), copy_of(bytes_of(raw).subspan(info.file_offset, info.byte_size)));
            all_aligned = all_aligned && tensor->buffers.at(0).prefix == 0;
        }
        EXPECT_EQ((*file)->copied_bytes(), 0U);
        if (!all_aligned) ++unaligned;
    }
    EXPECT_EQ(files, 12U);
    EXPECT_EQ(unaligned, 12U) << "files with a tensor that is not aligned to 64 bytes";
    const auto voices = open_safetensors_file(*folder + "/voices.safetensors");
    ASSERT_TRUE(voices.has_value());
    ASSERT_EQ((*voices)->tensor_count(), 2U);
    EXPECT_EQ(shape_of((*voices)->tensor((*voices)->find("tokens").value()).value()), (std::vector<std::uint64_t>{1, 982, 33}));
    const auto sample = open_safetensors_file(*folder + "/sample_overall.safetensors");
    ASSERT_TRUE(sample.has_value());
    EXPECT_EQ(metadata_text(**sample, "test"), "a");
}

}  // namespace
}  // namespace hurray
