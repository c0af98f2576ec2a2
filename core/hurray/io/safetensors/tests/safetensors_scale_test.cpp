// More than a million tensors in one header.
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/io/safetensors/tests/safetensors_image.hpp"

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

// Tensor i holds one byte, its number modulo 251. Names are far from being in order.
std::string name_of(std::size_t i, std::size_t count) {
    char name[24];
    std::snprintf(name, sizeof name, "%07zu", (i * 7'919 + 13) % count);
    return name;
}

std::string quoted(const std::string& name) {
    std::string text = "\"";
    text += name;
    text += '"';
    return text;
}

std::string image_of(std::size_t count) {
    std::string header = "{";
    header.reserve(count * 80);
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) header += ',';
        header += quoted(name_of(i, count));
        header += ":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[";
        header += std::to_string(i);
        header += ',';
        header += std::to_string(i + 1);
        header += "]}";
    }
    header += '}';
    std::string data(count, '\0');
    for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<char>(i % 251);
    return safetensors_image(header, data);
}

TEST(SafetensorsScale, AMillionTensorsInOneHeader) {
    for (const std::size_t count : {1'000U, 10'000U, 100'000U, 1'200'000U}) {
        const std::string image = image_of(count);
        ASSERT_LT(image.size() - count, SafetensorsFile::default_header_limit);
        const std::size_t before = allocated_bytes();
        const auto start = std::chrono::steady_clock::now();
        const auto file = open_safetensors_image(bytes_of(image));
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        ASSERT_TRUE(file.has_value()) << file.error().message;
        const std::size_t used = allocated_bytes() - before;
        std::printf("%zu tensors: %.1f ms, %.0f ns and %.0f bytes a tensor\n", count, took.count(),
                    took.count() * 1e6 / static_cast<double>(count),
                    static_cast<double>(used) / static_cast<double>(count));
        ASSERT_EQ((*file)->tensor_count(), count);
        if (allocations_can_be_counted) {
            // The vectors may have grown to twice what they hold.
            EXPECT_LT(used, 200 * count + 4096);
            EXPECT_LT(used, 2 * image.size() + 4096);
        }
        for (std::size_t i = 0; i < count; i += 997) {
            const auto found = (*file)->find(name_of(i, count));
            ASSERT_EQ(found, i);
            const auto tensor = (*file)->tensor(*found);
            ASSERT_TRUE(tensor.has_value());
            const Buffer& buffer = tensor->buffers.at(0);
            ASSERT_EQ(std::to_integer<std::size_t>(buffer.data[buffer.prefix]), i % 251);
        }
        EXPECT_FALSE((*file)->find("no such name").has_value());
    }
}

TEST(SafetensorsScale, OneTensorTooManyIsFoundInAMillion) {
    const std::size_t count = 1'000'000;
    std::string image = image_of(count);
    // The last name becomes the first one.
    const std::string last = quoted(name_of(count - 1, count));
    image.replace(image.rfind(last), last.size(), quoted(name_of(0, count)));
    const auto file = open_safetensors_image(bytes_of(image));
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, Status::invalid_format);
    EXPECT_NE(std::string_view(file.error().message).find("two tensors have the name \"0000013\""), std::string_view::npos)
        << file.error().message;
}

// One name in 50,000,000 bytes of header, and as much of white space: no copy per character.
TEST(SafetensorsScale, HugeNamesAndHugeSpaces) {
    const std::string name(50'000'000, 'n');
    const std::string image = safetensors_image(
        "{" + std::string(40'000'000, ' ') + quoted(name) + ":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1);
    const auto file = open_safetensors_image(bytes_of(image));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->find(name), 0U);
}

}  // namespace
}  // namespace hurray
