// Sizes and offsets beyond 2 and 4 GiB, in a sparse file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>

#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/io/stream_reader.hpp"
#include "core/hurray/io/stream_writer.hpp"
#include "core/hurray/io/safetensors/tests/safetensors_image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"

namespace hurray {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint64_t first_size = 5 * gib / 2;  // 2.5 GiB
constexpr std::uint64_t total_size = 5 * gib;

// Two uint8 tensors of 2.5 GiB each and a small one behind them, in a file that takes a few pages of the disk.
std::string sparse_file(const TemporaryFolder& folder, std::uint64_t& data_offset) {
    const std::string header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(first_size) +
                               "],\"data_offsets\":[0," + std::to_string(first_size) +
                               "]},\"b\":{\"dtype\":\"I64\",\"shape\":[2," + std::to_string(first_size / 16) +
                               "],\"data_offsets\":[" + std::to_string(first_size) + "," + std::to_string(total_size) +
                               "]},\"c\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[" + std::to_string(total_size) +
                               "," + std::to_string(total_size + 8) + "]}}";
    const std::string front = safetensors_image(header, 0);
    data_offset = front.size();
    const std::string path = folder.file("large", front);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(data_offset + total_size + 8)), 0);
    const auto put = [&](std::uint64_t at, const char* text) {
        EXPECT_EQ(::pwrite(fd, text, std::strlen(text), static_cast<off_t>(data_offset + at)),
                  static_cast<ssize_t>(std::strlen(text)));
    };
    put(0, "start");
    put(2 * gib - 2, "2gib");
    put(first_size - 3, "end");
    put(first_size, "second");
    put(4 * gib - 2, "4gib");
    put(total_size, "smalltwo");
    ::close(fd);
    return path;
}

std::string text_at(const Tensor& tensor, std::uint64_t at, std::size_t length) {
    const std::byte* start = tensor.buffers.at(0).data + tensor.descriptor.byte_offset() + at;
    return {reinterpret_cast<const char*>(start), length};
}

TEST(SafetensorsLarge, MapsBeyondFourGiB) {
    const TemporaryFolder folder;
    std::uint64_t data_offset = 0;
    const auto file = open_safetensors_file(sparse_file(folder, data_offset));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->file_size(), data_offset + total_size + 8);
    const Tensor a = (*file)->tensor(0).value();
    EXPECT_EQ(text_at(a, 0, 5), "start");
    EXPECT_EQ(text_at(a, 2 * gib - 2, 4), "2gib");
    EXPECT_EQ(text_at(a, first_size - 3, 3), "end");
    const Tensor b = (*file)->tensor(1).value();
    EXPECT_EQ(text_at(b, 0, 6), "second");
    EXPECT_EQ(text_at(b, 4 * gib - 2 - first_size, 4), "4gib");
    EXPECT_EQ((*file)->tensor_info(2)->file_offset, data_offset + total_size);
    EXPECT_EQ(text_at((*file)->tensor(2).value(), 0, 8), "smalltwo");
    EXPECT_EQ((*file)->copied_bytes(), 0U);
}

TEST(SafetensorsLarge, StreamsMoreThanTwoGiB) {
    const TemporaryFolder folder;
    std::uint64_t data_offset = 0;
    const auto file = open_safetensors_file(sparse_file(folder, data_offset));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    std::thread producer([&] {
        StreamWriter writer(std::make_unique<FdSink>(ends[1], FdOwnership::close));
        const auto first = writer.write((*file)->tensor(0).value());
        EXPECT_TRUE(first.has_value()) << first.error().message;
        EXPECT_TRUE(writer.write((*file)->tensor(2).value()).has_value());
        EXPECT_GT(writer.offset(), first_size);
    });
    StreamReader reader(std::make_unique<FdSource>(ends[0], FdOwnership::close));
    {
        const auto a = reader.next();
        EXPECT_TRUE(a.has_value() && a->has_value());
        if (a && *a) {
            EXPECT_EQ((*a)->buffers.at(0).handle.byte_size, first_size);
            EXPECT_EQ(text_at(**a, 0, 5), "start");
            EXPECT_EQ(text_at(**a, 2 * gib - 2, 4), "2gib");
            EXPECT_EQ(text_at(**a, first_size - 3, 3), "end");
        }
    }
    const auto c = reader.next();
    EXPECT_TRUE(c.has_value() && c->has_value());
    if (c && *c) {
        EXPECT_EQ(text_at(**c, 0, 8), "smalltwo");
    }
    producer.join();
}

}  // namespace
}  // namespace hurray
