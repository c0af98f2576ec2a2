// Gigabytes of zeros that take no room: for tests of large files.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/hurray/io/byte_sink.hpp"
#include "core/hurray/io/npy/npy_file.hpp"
#include "core/hurray/io/npy/tests/npy_image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"

namespace hurray {

/// Writes a file and leaves holes where there are only zeros.
class SparseSink final : public ByteSink {
public:
    explicit SparseSink(const std::string& path) : fd_(::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600)) {}
    ~SparseSink() override { ::close(fd_); }

    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override {
        for (const auto piece : pieces) {
            const bool zeros = std::ranges::all_of(piece, [](std::byte byte) { return byte == std::byte{0}; });
            if (!zeros && ::pwrite(fd_, piece.data(), piece.size(), size_) != static_cast<ssize_t>(piece.size())) {
                return fail(Status::io, Error::no_offset, "pwrite");
            }
            size_ += static_cast<off_t>(piece.size());
        }
        return {};
    }
    Result<void> commit() override {
        if (::ftruncate(fd_, size_) != 0) return fail(Status::io, Error::no_offset, "ftruncate");
        return {};
    }

private:
    int fd_;
    off_t size_ = 0;
};

/// Zeros that are a hole in a file.
inline Tensor zeros(const TemporaryFolder& folder, std::uint64_t count) {
    std::string shape = "(";
    shape += std::to_string(count);
    const std::string path = folder.file("zeros.npy", npy_image("|u1", shape += ",)", ""));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + count);
    return NpyFile::open(FileBytes::open(path).value()).value()->tensor(0).value();
}

/// A size that 32 bits do not hold.
inline constexpr std::uint64_t more_than_4_gib = (std::uint64_t{1} << 32) + 12345;

}  // namespace hurray
