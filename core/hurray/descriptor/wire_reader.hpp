// Reads the fields of a descriptor one after the other, within its descriptor_length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/error.hpp"

namespace hurray {

/// A position in the bytes of a descriptor. Ask has() once for a run of fields, then read them.
class WireReader {
  public:
    WireReader(const std::byte* bytes, std::uint32_t length, std::uint32_t at) noexcept
        : bytes_(bytes), at_(at), end_(length) {}

    /// Offset of the next field from the start of the descriptor.
    [[nodiscard]] std::uint32_t offset() const noexcept { return at_; }
    [[nodiscard]] std::uint32_t remaining() const noexcept { return end_ - at_; }
    [[nodiscard]] bool has(std::uint64_t size) const noexcept { return size <= remaining(); }
    /// The next bytes; at most remaining() of them may be read.
    [[nodiscard]] const std::byte* here() const noexcept { return bytes_ + at_; }

    void skip(std::uint32_t size) noexcept { at_ += size; }
    [[nodiscard]] std::uint8_t u8() noexcept { return read<std::uint8_t>(); }
    [[nodiscard]] std::uint32_t u32() noexcept { return read<std::uint32_t>(); }
    [[nodiscard]] std::uint64_t u64() noexcept { return read<std::uint64_t>(); }

  private:
    template <typename T>
    T read() noexcept {
        const T value = load_le<T>(bytes_ + at_);
        at_ += sizeof(T);
        return value;
    }

    const std::byte* bytes_;
    std::uint32_t at_;
    std::uint32_t end_;
};

/// The error of a field of `size` bytes at `offset` that the `left` bytes there do not hold.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> truncated_field(const char* field, std::uint64_t offset,
                                                                    std::uint64_t size, std::uint64_t left);

/// The error of an array of `count` elements of `size` bytes that ends early, at its first incomplete element.
[[gnu::cold, gnu::noinline]] std::unexpected<Error> truncated_array(const char* field, std::uint64_t size,
                                                                    std::uint64_t count, const WireReader& in);

}  // namespace hurray
