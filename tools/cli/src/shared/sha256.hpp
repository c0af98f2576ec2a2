// SHA-256 (FIPS 180-4). Debian has no header-only library for it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace cli {

class Sha256 {
  public:
    void update(std::span<const std::uint8_t> bytes);
    /// Ends it: 64 hex digits.
    std::string finish();

  private:
    void block(const std::uint8_t* bytes);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> rest_{};
    std::size_t rest_length_ = 0;
    std::uint64_t length_ = 0;
};

std::string sha256(std::span<const std::uint8_t> bytes);

}  // namespace cli
