// CRC-32C: the vectors of RFC 3720, and every kernel against the table for every length and offset.
#include "core/hurray/io/crc32c.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace hurray {
namespace {

std::uint32_t of(std::string_view text) {
    return crc32c(std::as_bytes(std::span(text)));
}

std::vector<std::byte> noise(std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::uint64_t state = 1;
    for (auto& byte : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<std::byte>(state >> 56);
    }
    return bytes;
}

TEST(Crc32c, VectorsOfRfc3720) {
    EXPECT_EQ(of(""), 0U);
    EXPECT_EQ(of("123456789"), 0xE3069283U);
    EXPECT_EQ(of(std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(of(std::string(32, '\xFF')), 0x62A8AB43U);
    std::string ascending(32, '\0');
    for (int i = 0; i < 32; ++i) ascending[static_cast<std::size_t>(i)] = static_cast<char>(i);
    EXPECT_EQ(of(ascending), 0x46DD794EU);
    EXPECT_EQ(of(std::string(ascending.rbegin(), ascending.rend())), 0x113FDB5CU);
    // An iSCSI SCSI Read (10) command PDU.
    constexpr unsigned char command[] = {0x01, 0xC0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,    0, 0, 0, 0,
                                         0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                         0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,    0, 0, 0, 0};
    EXPECT_EQ(crc32c(std::as_bytes(std::span(command))), 0xD9963A56U);
}

TEST(Crc32c, EveryKernelAgreesWithTheTableForEveryLengthAndOffset) {
    const auto kernels = crc32c_detail::kernels();
    ASSERT_FALSE(kernels.empty());
    const auto& table = kernels.back();
    ASSERT_STREQ(table.name, "table");
    for (const auto& kernel : kernels) {
        for (std::size_t offset = 0; offset < 16; ++offset) {
            for (std::size_t length = 0; length < 700; ++length) {
                // Of exactly its size, so that a sanitizer sees a read behind its end.
                std::vector<std::byte> bytes(offset + length);
                const auto from = noise(offset + length);
                if (!from.empty()) std::memcpy(bytes.data(), from.data(), from.size());
                const auto state = static_cast<std::uint32_t>(offset * 0x9E3779B9U + length);
                ASSERT_EQ(kernel.update(state, bytes.data() + offset, length),
                          table.update(state, bytes.data() + offset, length))
                    << kernel.name << " " << offset << " " << length;
            }
        }
    }
}

TEST(Crc32c, EveryKernelAgreesWithTheTableForLongInputs) {
    const auto bytes = noise(100'000);
    const auto kernels = crc32c_detail::kernels();
    for (const auto& kernel : kernels) {
        // Around three runs of the checksum instruction, and beyond.
        for (const std::size_t length : {4'095U, 4'096U, 12'287U, 12'288U, 12'289U, 24'576U, 30'000U, 99'999U}) {
            EXPECT_EQ(kernel.update(7, bytes.data() + 1, length), kernels.back().update(7, bytes.data() + 1, length))
                << kernel.name << " " << length;
        }
    }
}

TEST(Crc32c, PartsAddUpToTheWhole) {
    const auto bytes = noise(5'000);
    const std::uint32_t whole = crc32c(bytes);
    for (std::size_t cut = 0; cut <= bytes.size(); cut += 37) {
        EXPECT_EQ(crc32c(std::span(bytes).subspan(cut), crc32c(std::span(bytes).first(cut))), whole);
    }
}

}  // namespace
}  // namespace hurray
