// Writes the fields of a descriptor one after the other.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/hurray/base/endian.hpp"

namespace hurray {

/// A position in memory that has room for all that will be written: who makes one checks that once.
class WireWriter {
  public:
    explicit WireWriter(std::byte* to) noexcept : to_(to) {}

    void u8(std::uint8_t value) noexcept { write(value); }
    void u32(std::uint32_t value) noexcept { write(value); }
    void u64(std::uint64_t value) noexcept { write(value); }
    void u64s(std::span<const std::uint64_t> values) noexcept {
        for (const std::uint64_t value : values) write(value);
    }
    void bytes(std::span<const std::byte> values) noexcept {
        if (values.empty()) return;
        std::memcpy(to_, values.data(), values.size());
        to_ += values.size();
    }
    void zeros(std::size_t count) noexcept {
        std::memset(to_, 0, count);
        to_ += count;
    }
    [[nodiscard]] std::byte* here() const noexcept { return to_; }
    void skip(std::size_t count) noexcept { to_ += count; }

  private:
    template <typename T>
    void write(T value) noexcept {
        store_le(to_, value);
        to_ += sizeof(T);
    }

    std::byte* to_;
};

}  // namespace hurray
