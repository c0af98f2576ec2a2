// Sizes and offsets beyond 2 and 4 GiB, in a sparse file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "core/hurray/io/gguf/tests/gguf_image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint64_t first_size = 5 * gib / 2;  // 2.5 GiB
constexpr std::uint64_t second_rows = 5 * gib / 2 / 144;
constexpr std::uint64_t second_size = second_rows * 144;
constexpr std::uint64_t second_at = first_size;
constexpr std::uint64_t third_at = (second_at + second_size + 31) / 32 * 32;

// int8 and Q4_K tensors of 2.5 GiB each and a small one behind them, in a file that takes a few pages of the disk.
std::string sparse_file(const TemporaryFolder& folder, std::uint64_t& data_at) {
    GgufImage image;
    image.tensors = {gguf_info("a", {first_size}, 24, 0), gguf_info("b", {256, second_rows}, 12, second_at),
                     gguf_info("c", {2}, 0, third_at)};
    const std::string front = image.bytes();
    data_at = front.size();
    const std::string path = folder.file("large.gguf", front);
    std::filesystem::resize_file(path, data_at + third_at + 8);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    const auto put = [&](std::uint64_t at, const char* text) {
        EXPECT_EQ(::pwrite(fd, text, std::strlen(text), static_cast<off_t>(data_at + at)),
                  static_cast<ssize_t>(std::strlen(text)));
    };
    put(0, "start");
    put(2 * gib - 2, "2gib");
    put(second_at, "second");
    put(4 * gib - 2, "4gib");
    put(third_at, "smalltwo");
    ::close(fd);
    return path;
}

std::string text_at(const Tensor& tensor, std::uint64_t at, std::size_t length) {
    return {reinterpret_cast<const char*>(element_bytes(tensor).data() + at), length};
}

TEST(GgufLarge, MapsBeyondFourGiB) {
    const TemporaryFolder folder;
    std::uint64_t data_at = 0;
    const auto opened = open_gguf_file(sparse_file(folder, data_at));
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const GgufFile& file = **opened;
    const Tensor a = file.tensor(0).value();
    EXPECT_EQ(text_at(a, 0, 5), "start");
    EXPECT_EQ(text_at(a, 2 * gib - 2, 4), "2gib");
    const Tensor b = file.tensor(1).value();
    EXPECT_EQ(shape_of(b), (std::vector<std::uint64_t>{second_rows, 144}));
    EXPECT_EQ(text_at(b, 0, 6), "second");
    EXPECT_EQ(text_at(b, 4 * gib - 2 - second_at, 4), "4gib");
    EXPECT_EQ(text_at(file.tensor(2).value(), 0, 8), "smalltwo");
    EXPECT_EQ(file.copied_bytes(), 0U);
}

TEST(GgufLarge, ReadsBeyondFourGiBWithoutAMap) {
    const TemporaryFolder folder;
    std::uint64_t data_at = 0;
    const auto file = open_gguf_file(sparse_file(folder, data_at), {.access = FileAccess::read}).value();
    EXPECT_EQ(text_at(file->tensor(2).value(), 0, 8), "smalltwo");
    EXPECT_EQ(file->tensor_info(2).value().file_offset, data_at + third_at);
    EXPECT_EQ(file->copied_bytes(), 8U);
}

}  // namespace
}  // namespace hurray
