// What the tests of descriptors share.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray::test {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint8_t float32 = 0x03;
inline constexpr std::uint8_t uint8 = 0x11;
inline constexpr std::uint8_t boolean = 0x20;
inline constexpr std::uint8_t float6 = 0x44;
inline constexpr std::uint8_t int4 = 0x48;

inline Bytes encoded(const Descriptor& descriptor) {
    Bytes bytes(descriptor.encoded_length());
    const auto length = encode(descriptor, bytes);
    EXPECT_TRUE(length.has_value());
    EXPECT_EQ(length.value_or(0), bytes.size());
    return bytes;
}

/// Decodes a copy that has no byte to spare on either side, so that a sanitizer sees every read outside.
inline Result<Descriptor> decode_exact(std::span<const std::byte> bytes, const DecodeOptions& options = {}) {
    const std::unique_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), copy.get());
    return decode({copy.get(), bytes.size()}, options);
}

struct DescriptorSpec {
    std::uint8_t type = float32;
    std::uint8_t layout = layout_tag::row_major;
    std::vector<std::uint64_t> shape = {};
    std::vector<std::int64_t> strides = {};
    std::uint64_t byte_offset = 0;
    std::vector<BufferHandle> buffers = {};
    std::optional<std::vector<std::uint64_t>> parent_shape = {};
    std::vector<std::uint64_t> shard_offset = {};
};

inline Result<Descriptor> build(const DescriptorSpec& spec) {
    DescriptorBuilder builder(spec.type, spec.layout, spec.shape);
    builder.set_byte_offset(spec.byte_offset);
    if (spec.layout == layout_tag::strided || !spec.strides.empty()) builder.set_strides(spec.strides);
    if (spec.parent_shape) builder.set_shard(*spec.parent_shape, spec.shard_offset);
    for (const BufferHandle& buffer : spec.buffers) {
        if (auto added = builder.add_buffer(buffer); !added) return std::unexpected(added.error());
    }
    return builder.build();
}

/// An error's code and offset, for comparison.
template <typename T>
std::pair<int, std::uint64_t> fault(const Result<T>& result) {
    if (result) return {0, 0};
    EXPECT_NE(result.error().message[0], '\0');
    return {static_cast<int>(result.error().code), result.error().offset};
}

inline std::pair<int, std::uint64_t> fault_of(Status code, std::uint64_t offset) {
    return {static_cast<int>(code), offset};
}

inline Bytes read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Bytes bytes(text.size());
    std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.begin());
    return bytes;
}

inline const std::filesystem::path golden_folder = "tests/golden/descriptors";

/// A pseudo-random sequence that is the same everywhere (SplitMix64).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
    /// 0 to bound - 1.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
    }
    template <typename T>
    const T& pick(std::initializer_list<T> values) {
        return *(values.begin() + below(values.size()));
    }

  private:
    std::uint64_t state_;
};

/// The folder of the project's shared data, or nothing when this machine does not have it.
inline std::optional<std::filesystem::path> shared_folder() {
    const char* given = std::getenv("HURRAY_SHARED");
    if (given != nullptr && std::filesystem::is_directory(given)) return given;
    return std::nullopt;
}

}  // namespace hurray::test
