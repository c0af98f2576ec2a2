// More than a million tensors, huge arrays, and counts that promise more than there is: time and memory follow the
// header.
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "core/hurray/io/gguf/tests/gguf_image.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool allocations_can_be_counted = false;
#else
constexpr bool allocations_can_be_counted = true;
#endif

std::size_t allocated_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Names are far from being in order.
std::string name_of(std::size_t i, std::size_t count) {
    char name[24];
    std::snprintf(name, sizeof name, "%07zu", (i * 7'919 + 13) % count);
    return name;
}

// Tensor i holds one byte, its number modulo 251, at every eighth place.
std::string image_of(std::size_t count) {
    std::string image = "GGUF" + u32(3) + u64(count) + u64(1) + gguf_entry("general.alignment", 4, u32(8));
    image.reserve(image.size() + count * 55);
    for (std::size_t i = 0; i < count; ++i) image += gguf_info(name_of(i, count), {1}, 24, i * 8);
    image.resize((image.size() + 7) / 8 * 8);
    const std::size_t start = image.size();
    image.resize(start + count * 8);
    for (std::size_t i = 0; i < count; ++i) image[start + i * 8] = static_cast<char>(i % 251);
    return image;
}

void expect_tensors(const GgufFile& file, std::size_t count) {
    ASSERT_EQ(file.tensor_count(), count);
    for (std::size_t i = 0; i < count; i += 997) {
        ASSERT_EQ(file.find(name_of(i, count)), i);
        const auto tensor = file.tensor(i);
        ASSERT_TRUE(tensor.has_value());
        ASSERT_EQ(std::to_integer<std::size_t>(element_bytes(*tensor)[0]), i % 251);
    }
    EXPECT_FALSE(file.find("no such name").has_value());
}

TEST(GgufScale, AMillionTensorsInOneHeader) {
    const TemporaryFolder folder;
    for (const std::size_t count : {1'000U, 10'000U, 100'000U, 1'300'000U}) {
        const std::string path = folder.file("many.gguf", image_of(count));
        const std::size_t header = static_cast<std::size_t>(std::filesystem::file_size(path)) - count * 8;
        for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
            const std::size_t before = allocated_bytes();
            const auto start = std::chrono::steady_clock::now();
            const auto file = open_gguf_file(path, {.access = access});
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
            ASSERT_TRUE(file.has_value()) << file.error().message;
            const std::size_t used = allocated_bytes() - before;
            std::printf("%zu tensors, %s: %.1f ms, %.0f bytes a tensor\n", count,
                        access == FileAccess::map ? "mapped" : "read", took.count(),
                        static_cast<double>(used) / static_cast<double>(count));
            if (allocations_can_be_counted) {
                // The vectors may have grown to twice what they hold; a header that is read is held as well.
                EXPECT_LT(used, 5 * header + 200'000);
            }
            expect_tensors(**file, count);
        }
    }
}

TEST(GgufScale, TwoHundredThousandTensorsAreWritten) {
    const std::size_t count = 200'000;
    const TemporaryFolder folder;
    const std::string source = folder.file("many.gguf", image_of(count));
    const std::string target = folder.path() + "/copy.gguf";
    {
        const auto file = open_gguf_file(source).value();
        auto writer = create_model_file(target, FileFormat::gguf, {.data_alignment = 8}).value();
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(writer->add(file->tensor_info(i).value().name, file->tensor(i).value()).has_value());
        }
        ASSERT_TRUE(writer->finish().has_value());
    }
    EXPECT_TRUE(read_file(source) == read_file(target));
}

TEST(GgufScale, OneNameThatComesTwiceIsFoundInAMillion) {
    const std::size_t count = 1'000'000;
    std::string image = image_of(count);
    const std::string last = name_of(count - 1, count);
    const std::size_t at = image.rfind(last);
    image.replace(at, last.size(), name_of(0, count));
    const auto file = open_gguf_image(image);
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, Status::invalid_format);
    EXPECT_EQ(file.error().offset, at) << file.error().message;
}

TEST(GgufScale, HugeArrays) {
    std::string strings;
    for (int i = 0; i < 3'000'000; ++i) strings += gguf_text(std::to_string(i));
    GgufImage image;
    image.metadata = {gguf_entry("strings", 9, u32(8) + u64(3'000'000) + strings),
                      gguf_entry("bytes", 9, u32(0) + u64(100'000'000) + std::string(100'000'000, '\7'))};
    const std::string bytes = image.bytes();
    const std::size_t before = allocated_bytes();
    const auto file = open_gguf_image(bytes);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    if (allocations_can_be_counted) {
        EXPECT_LT(allocated_bytes() - before, 2'000'000U);
    }
    for (std::uint64_t i = 0; i < 3'000'000; i += 77'777) {
        EXPECT_EQ((*file)->metadata_element(0, i).value().text, std::to_string(i));
    }
    EXPECT_EQ((*file)->metadata_element(1, 99'999'999).value().uint64, 7U);
}

// Files that promise much and are long (sparse), so that counts pass the comparison with their size.
TEST(GgufScale, CountsOfHugeSparseFilesAllocateNothing) {
    const TemporaryFolder folder;
    struct Case {
        const char* what;
        std::string start;
    };
    const std::uint64_t much = std::uint64_t{1} << 37;
    for (const Case& each : {
             Case{"tensors", "GGUF" + u32(3) + u64(much / 32) + u64(0)},
             Case{"entries", "GGUF" + u32(3) + u64(0) + u64(much / 16)},
             Case{"tensors within the limit", "GGUF" + u32(3) + u64(10'000'000) + u64(0)},
             Case{"array of bytes",
                  "GGUF" + u32(3) + u64(0) + u64(1) + gguf_text("k") + u32(9) + u32(0) + u64(much / 2)},
             Case{"array of strings",
                  "GGUF" + u32(3) + u64(0) + u64(1) + gguf_text("k") + u32(9) + u32(8) + u64(much / 16)},
             Case{"string", "GGUF" + u32(3) + u64(0) + u64(1) + gguf_text("k") + u32(8) + u64(much / 2)},
             Case{"key", "GGUF" + u32(3) + u64(0) + u64(1) + u64(much / 2)},
             Case{"name", "GGUF" + u32(3) + u64(1) + u64(0) + u64(much / 2)},
         }) {
        SCOPED_TRACE(each.what);
        const std::string path = folder.file("sparse.gguf", each.start);
        std::filesystem::resize_file(path, much);
        for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
            const std::size_t before = allocated_bytes();
            const auto file = open_gguf_file(path, {.access = access});
            ASSERT_FALSE(file.has_value());
            EXPECT_TRUE(file.error().code == Status::limit_exceeded || file.error().code == Status::invalid_format)
                << file.error().message;
            if (allocations_can_be_counted) {
                EXPECT_LT(allocated_bytes() - before, 1'000'000U);
            }
        }
    }
}

}  // namespace
}  // namespace hurray
