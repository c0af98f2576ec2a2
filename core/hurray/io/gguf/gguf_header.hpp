// The bytes of a header whose length is not known before it has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/file_bytes.hpp"

namespace hurray {

/// What a number or text is, for messages: "tensor info 3: name length".
struct GgufPlace {
    const char* part;
    /// Shown unless it is `alone`.
    std::uint64_t index = alone;

    static constexpr std::uint64_t alone = ~std::uint64_t{0};
};

/// The start of a file, as far as it has been asked for: in place, or read in steps that double. Offsets are those of
/// the file. Nothing is read or kept beyond the limit.
///
/// Pointers are valid until the next need().
class GgufHeader {
  public:
    /// @param limit below 4 GiB
    GgufHeader(FileBytes file, std::uint64_t limit) noexcept : file_(std::move(file)), limit_(limit) {}

    [[nodiscard]] std::uint64_t file_size() const noexcept { return file_.size(); }
    [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }

    /// Makes `length` bytes from `at` available.
    /// Errors: invalid_format (the file ends before), limit_exceeded, io, out_of_memory.
    Result<void> need(std::uint64_t at, std::uint64_t length, const GgufPlace& place, const char* field);

    /// A byte that is available.
    [[nodiscard]] const std::byte* at(std::uint64_t offset) const noexcept { return window_.bytes.data() + offset; }
    /// Text that is available.
    [[nodiscard]] std::string_view text(std::uint64_t offset, std::uint64_t length) const noexcept {
        return {reinterpret_cast<const char*>(at(offset)), static_cast<std::size_t>(length)};
    }

  private:
    FileBytes file_;
    std::uint64_t limit_;
    FileWindow window_;
};

/// An error of a field: its place, its name, and what is wrong.
#if defined(__GNUC__)
__attribute__((cold, noinline, format(printf, 5, 6)))
#endif
std::unexpected<Error>
gguf_fault(Status code, std::uint64_t offset, const GgufPlace& place, const char* field, const char* format, ...);

}  // namespace hurray
