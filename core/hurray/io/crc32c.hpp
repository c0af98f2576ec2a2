// CRC-32C (Castagnoli): the checksum of the index of .hrry files. Polynomial 1EDC6F41, reflected, initial value and
// final XOR FFFFFFFF, as in RFC 3720.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hurray {

/// The checksum of `bytes`, or of bytes that were summed up before (`crc`, what was returned for them) and these.
///
/// Computed by the best instructions that the processor has, chosen at the first call. Thread rule: any thread.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0) noexcept;

namespace crc32c_detail {

/// Continues the state of the register, which is not inverted.
using Update = std::uint32_t (*)(std::uint32_t state, const std::byte* data, std::size_t size) noexcept;

struct Kernel {
    /// The instructions that it uses.
    const char* name;
    Update update;
};

/// Every kernel that this processor runs, the best one first; the last one, "table", runs everywhere and is what the
/// others are tested against.
std::span<const Kernel> kernels() noexcept;

}  // namespace crc32c_detail
}  // namespace hurray
