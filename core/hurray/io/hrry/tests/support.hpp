// Files in memory for tests of .hrry.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/crc32c.hpp"
#include "core/hurray/io/hrry/hrry_file.hpp"
#include "core/hurray/io/hrry/hrry_writer.hpp"

namespace hurray {

using Bytes = std::vector<std::byte>;

inline std::string numbered(std::string_view text, std::size_t number) {
    std::string name(text);
    name += std::to_string(number);
    return name;
}

/// What a writer makes, in memory.
class WrittenFile {
  public:
    explicit WrittenFile(const FileWriterOptions& options = {}) {
        auto sink = std::make_unique<MemorySink>();
        sink_ = sink.get();
        writer_ = HrryWriter::create(std::move(sink), options).value();
    }

    HrryWriter* operator->() { return writer_.get(); }

    Bytes finish() {
        const auto done = writer_->finish();
        EXPECT_TRUE(done.has_value()) << done.error().message;
        return sink_->take();
    }

  private:
    MemorySink* sink_;
    std::unique_ptr<HrryWriter> writer_;
};

inline Result<std::unique_ptr<HrryFile>> open_image(const Bytes& image, const FileOptions& options = {}) {
    return HrryFile::open(FileBytes::over(image, {}), options);
}

inline std::string as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The same bytes in a buffer of one tensor and another.
inline bool same_data(const Tensor& a, const Tensor& b) {
    if (a.buffers.size() != b.buffers.size()) return false;
    for (std::size_t i = 0; i < a.buffers.size(); ++i) {
        const auto x = a.buffers[i].bytes().subspan(a.buffers[i].prefix);
        const auto y = b.buffers[i].bytes().subspan(b.buffers[i].prefix);
        if (x.size() != y.size() || (!x.empty() && std::memcmp(x.data(), y.data(), x.size()) != 0)) return false;
    }
    return true;
}

// Fields of an image, for tests that change them.

template <typename T>
T get(const Bytes& image, std::size_t at) {
    return load_le<T>(image.data() + at);
}

template <typename T>
void put(Bytes& image, std::size_t at, T value) {
    store_le(image.data() + at, value);
}

inline std::size_t trailer_at(const Bytes& image) {
    return image.size() - 40;
}
inline std::size_t index_at(const Bytes& image) {
    return get<std::uint64_t>(image, trailer_at(image));
}
inline std::size_t metadata_at(const Bytes& image) {
    return get<std::uint64_t>(image, trailer_at(image) + 16);
}

/// Makes the checksum right again after a change of the index.
inline void seal(Bytes& image) {
    const std::size_t at = index_at(image);
    const std::size_t length = get<std::uint64_t>(image, trailer_at(image) + 8);
    put(image, trailer_at(image) + 28, crc32c(std::span(image).subspan(at, length)));
}

/// Where the entry of a name starts in the image.
inline std::size_t entry_at(const Bytes& image, std::string_view name) {
    std::size_t at = index_at(image) + 8;
    for (auto count = get<std::uint64_t>(image, index_at(image)); count != 0; --count) {
        const std::size_t length = get<std::uint16_t>(image, at);
        if (as_text(std::span(image).subspan(at + 2, length)) == name) return at;
        at += 34 + length;
    }
    ADD_FAILURE() << "no entry " << name;
    return 0;
}

/// Where the fields behind the name start: descriptor_offset 0, descriptor_length 8, data_offset 12, data_length 20,
/// flags 28.
inline std::size_t fields_at(const Bytes& image, std::string_view name) {
    return entry_at(image, name) + 2 + name.size();
}

inline MetadataValue string_value(std::string text) {
    MetadataValue value;
    value.text = std::move(text);
    return value;
}

inline MetadataValue int64_value(std::int64_t number) {
    MetadataValue value;
    value.type = MetadataType::int64;
    value.int64 = number;
    return value;
}

}  // namespace hurray
