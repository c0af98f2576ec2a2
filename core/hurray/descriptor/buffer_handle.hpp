// The 16-byte buffer handle (format: buffer table) as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"

namespace hurray {

namespace device_tag {
inline constexpr std::uint8_t cpu = 0x00;
inline constexpr std::uint8_t cuda = 0x01;
inline constexpr std::uint8_t rocm = 0x02;
inline constexpr std::uint8_t metal = 0x03;
inline constexpr std::uint8_t vulkan = 0x04;
inline constexpr std::uint8_t webgpu = 0x05;
inline constexpr std::uint8_t hexagon = 0x06;
inline constexpr std::uint8_t level_zero = 0x07;
inline constexpr std::uint8_t opencl = 0x08;
}  // namespace device_tag

namespace sync_mode {
inline constexpr std::uint8_t producer_synced = 0x00;
inline constexpr std::uint8_t event = 0x01;
inline constexpr std::uint8_t consumer_stream = 0x02;
}  // namespace sync_mode

namespace memory_class {
inline constexpr std::uint8_t standard = 0x00;
inline constexpr std::uint8_t host_pinned = 0x01;
inline constexpr std::uint8_t unified = 0x02;
inline constexpr std::uint8_t peer = 0x03;
}  // namespace memory_class

/// Private devices are agreed upon outside the format. They have the class STANDARD and private ones.
constexpr bool is_private_device(std::uint8_t tag) noexcept {
    return tag >= 0xF0 && tag <= 0xFE;
}

/// Whether a reader takes tags of the private range (F0 to FE) that only sender and receiver understand.
enum class PrivateTags : std::uint8_t { refuse, allow };

struct BufferHandle {
    static constexpr std::uint32_t encoded_size = 16;

    std::uint64_t byte_size = 0;
    std::uint32_t alignment = 64;
    std::uint8_t device_tag = 0;
    std::uint8_t sync_mode = 0;
    std::uint8_t memory_class = 0;

    friend bool operator==(const BufferHandle&, const BufferHandle&) = default;
};

/// Checks every rule for a single handle: alignment a power of two, at least 64 for a buffer that is not empty; known
/// device, sync mode and memory class; a memory class that the device has; CPU buffers PRODUCER_SYNCED.
/// @param base_offset where the handle starts; added to the offset of the field in an error
/// @errors invalid_layout (alignment), invalid_type (device_tag, memory_class), invalid_sync_mode
Result<void> check_buffer_handle(const BufferHandle& handle, std::uint64_t base_offset,
                                 PrivateTags private_tags = PrivateTags::refuse);

/// Reads and checks a handle of 16 bytes.
/// @errors as check_buffer_handle; invalid_layout: fewer than 16 bytes, or the reserved byte is not 0
Result<BufferHandle> decode_buffer_handle(std::span<const std::byte> bytes, std::uint64_t base_offset,
                                          PrivateTags private_tags = PrivateTags::refuse);

/// Writes the 16 bytes of a handle, as it is, to the start of `out`, which must have room for them.
void encode_buffer_handle(const BufferHandle& handle, std::span<std::byte> out) noexcept;

}  // namespace hurray
