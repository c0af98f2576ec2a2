// Requirements: format, buffer table.
#include "core/hurray/descriptor/buffer_handle.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::fault;
using test::fault_of;
using HandleBytes = std::array<std::byte, BufferHandle::encoded_size>;

constexpr std::uint64_t base = 1000;

// Independent of the library: the fields byte by byte.
HandleBytes handle_bytes(std::uint64_t byte_size, std::uint32_t alignment, int device, int sync, int memory,
                         int reserved) {
    HandleBytes bytes{};
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(byte_size >> (8 * i) & 0xFF);
    for (int i = 0; i < 4; ++i) bytes[8 + i] = static_cast<std::byte>(alignment >> (8 * i) & 0xFF);
    bytes[12] = static_cast<std::byte>(device);
    bytes[13] = static_cast<std::byte>(sync);
    bytes[14] = static_cast<std::byte>(memory);
    bytes[15] = static_cast<std::byte>(reserved);
    return bytes;
}

bool is_private(int tag) {
    return tag >= 0xF0 && tag <= 0xFE;
}

// Rows CPU, CUDA, ROCm, Metal, Vulkan, WebGPU, Hexagon, Level Zero, OpenCL of the format's table.
bool device_has_class(int device, int memory) {
    static const std::array<std::string, 9> rows = {"yyy-", "yyyy", "yyyy", "yyy-", "yyyy",
                                                    "y---", "yyy-", "yyyy", "yyy-"};
    return rows.at(device)[memory] == 'y';
}

// What the format says about a handle, as code and offset; 0, 0 when it is right.
std::pair<int, std::uint64_t> expected_fault(std::uint64_t byte_size, std::uint32_t alignment, int device, int sync,
                                             int memory, int reserved, bool private_allowed) {
    if (std::popcount(alignment) != 1 || (byte_size > 0 && alignment < 64))
        return fault_of(Status::invalid_layout, base + 8);
    if (device > 8 && !(is_private(device) && private_allowed)) return fault_of(Status::invalid_type, base + 12);
    if (sync > 2 || (device == 0 && sync != 0)) return fault_of(Status::invalid_sync_mode, base + 13);
    if (is_private(memory)) {
        if (!is_private(device)) return fault_of(Status::invalid_type, base + 14);
    } else if (memory > 3 || (is_private(device) ? memory != 0 : !device_has_class(device, memory))) {
        return fault_of(Status::invalid_type, base + 14);
    }
    if (reserved != 0) return fault_of(Status::invalid_layout, base + 15);
    return {0, 0};
}

void expect_outcome(std::uint64_t byte_size, std::uint32_t alignment, int device, int sync, int memory, int reserved,
                    PrivateTags private_tags) {
    const HandleBytes bytes = handle_bytes(byte_size, alignment, device, sync, memory, reserved);
    const auto expected =
        expected_fault(byte_size, alignment, device, sync, memory, reserved, private_tags == PrivateTags::allow);
    const auto decoded = decode_buffer_handle(bytes, base, private_tags);
    ASSERT_EQ(fault(decoded), expected) << "size " << byte_size << " alignment " << alignment << " device " << device
                                        << " sync " << sync << " class " << memory << " reserved " << reserved;
    if (reserved == 0) {
        const BufferHandle handle{byte_size, alignment, static_cast<std::uint8_t>(device),
                                  static_cast<std::uint8_t>(sync), static_cast<std::uint8_t>(memory)};
        ASSERT_EQ(fault(check_buffer_handle(handle, base, private_tags)), expected);
    }
    if (!decoded) return;
    HandleBytes again;
    again.fill(std::byte{0xAA});
    encode_buffer_handle(*decoded, again);
    ASSERT_EQ(again, bytes);
}

TEST(BufferHandle, EveryDeviceWithEveryMemoryClass) {
    for (const PrivateTags private_tags : {PrivateTags::refuse, PrivateTags::allow}) {
        for (int device = 0; device < 256; ++device) {
            for (int memory = 0; memory < 256; ++memory) expect_outcome(64, 64, device, 0, memory, 0, private_tags);
        }
    }
}

TEST(BufferHandle, EveryDeviceWithEverySyncMode) {
    for (const PrivateTags private_tags : {PrivateTags::refuse, PrivateTags::allow}) {
        for (int device = 0; device < 256; ++device) {
            for (int sync = 0; sync < 256; ++sync) expect_outcome(64, 64, device, sync, 0, 0, private_tags);
        }
    }
}

TEST(BufferHandle, AlignmentIsAPowerOfTwoAndAtLeast64WhenNotEmpty) {
    for (const std::uint64_t byte_size : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        expect_outcome(byte_size, 0, 0, 0, 0, 0, PrivateTags::refuse);
        for (int power = 0; power < 32; ++power) {
            for (const std::uint32_t step : {0U, 1U, ~0U}) {
                expect_outcome(byte_size, (std::uint32_t{1} << power) + step, 0, 0, 0, 0, PrivateTags::refuse);
            }
        }
    }
}

TEST(BufferHandle, ReservedByteIsZero) {
    for (int reserved = 0; reserved < 256; ++reserved) expect_outcome(64, 64, 1, 1, 3, reserved, PrivateTags::refuse);
}

TEST(BufferHandle, OfSeveralFaultsTheEarliestFieldIsReported) {
    test::Random random(1);
    for (int i = 0; i < 200000; ++i) {
        expect_outcome(random.below(2), random.pick({0U, 1U, 32U, 64U, 96U, 4096U}),
                       random.pick({0, 1, 3, 5, 8, 9, 0xEF, 0xF0, 0xFE, 0xFF}), random.pick({0, 1, 2, 3, 0xFF}),
                       random.pick({0, 1, 2, 3, 4, 0xEF, 0xF0, 0xFE, 0xFF}), random.pick({0, 0, 1}),
                       random.pick({PrivateTags::refuse, PrivateTags::allow}));
    }
}

TEST(BufferHandle, EndingEarlyIsAFaultOfTheFirstIncompleteField) {
    const HandleBytes bytes = handle_bytes(64, 64, 0, 0, 0, 0);
    constexpr std::array<std::uint64_t, 16> field_of_length = {0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 12, 13, 14, 15};
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        const auto decoded = decode_buffer_handle(std::span(bytes).first(length), base);
        EXPECT_EQ(fault(decoded), fault_of(Status::invalid_layout, base + field_of_length[length])) << length;
    }
}

TEST(BufferHandle, BytesBehindTheHandleAreNotReadOrWritten) {
    std::array<std::byte, 17> bytes{};
    encode_buffer_handle({.byte_size = 5, .alignment = 128}, bytes);
    bytes[16] = std::byte{0xFF};
    EXPECT_EQ(decode_buffer_handle(bytes, 0).value(), (BufferHandle{.byte_size = 5, .alignment = 128}));
    encode_buffer_handle({}, bytes);
    EXPECT_EQ(bytes[16], std::byte{0xFF});
}

TEST(BufferHandle, MessagesNameTheFieldAndTheExpectation) {
    const auto message = [](const BufferHandle& handle) {
        return std::string(check_buffer_handle(handle, 0).error().message);
    };
    EXPECT_EQ(message({.byte_size = 1, .alignment = 32}),
              "buffer handle: alignment: expected at least 64 for a buffer that is not empty (1 bytes), got 32");
    EXPECT_EQ(message({.device_tag = 0x09}), "buffer handle: device_tag: expected 00 to 08 or a private tag, got 09");
    EXPECT_EQ(message({.sync_mode = 1}), "buffer handle: sync_mode: expected 00 (PRODUCER_SYNCED) for the CPU, got 01");
    EXPECT_EQ(message({.memory_class = 3}), "buffer handle: memory_class: device 00 has no class 03");
}

}  // namespace
}  // namespace hurray
