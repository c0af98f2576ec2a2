// The rules of a buffer handle, applied to its bytes. (format: buffer table)
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/buffer_handle.hpp"

namespace hurray {

/// Whether a handle in memory has its fields where they are on the wire, its padding in the place of the reserved byte:
/// then a copy of the bytes reads it.
inline constexpr bool handle_lies_as_on_the_wire =
    std::endian::native == std::endian::little && sizeof(BufferHandle) == BufferHandle::encoded_size &&
    offsetof(BufferHandle, alignment) == 8 && offsetof(BufferHandle, device_tag) == 12 &&
    offsetof(BufferHandle, sync_mode) == 13 && offsetof(BufferHandle, memory_class) == 14;

/// Reads a handle of 16 bytes, without its reserved last one.
inline BufferHandle load_buffer_handle(const std::byte* bytes) noexcept {
    if constexpr (handle_lies_as_on_the_wire) {
        BufferHandle handle;
        std::memcpy(&handle, bytes, sizeof handle);
        return handle;
    }
    return {.byte_size = load_le<std::uint64_t>(bytes),
            .alignment = load_le<std::uint32_t>(bytes + 8),
            .device_tag = static_cast<std::uint8_t>(bytes[12]),
            .sync_mode = static_cast<std::uint8_t>(bytes[13]),
            .memory_class = static_cast<std::uint8_t>(bytes[14])};
}

/// The memory classes that each named device has, a bit each: bit 0 STANDARD, 1 HOST_PINNED, 2 UNIFIED, 3 PEER.
inline constexpr std::array<std::uint8_t, 9> memory_classes_of_device = {
    0b0111,  // CPU
    0b1111,  // CUDA
    0b1111,  // ROCm
    0b0111,  // Metal
    0b1111,  // Vulkan
    0b0001,  // WebGPU
    0b0111,  // Hexagon
    0b1111,  // Level Zero
    0b0111,  // OpenCL
};

/// The least alignment of a buffer that has bytes.
inline constexpr std::uint32_t least_alignment = 64;

/// As std::has_single_bit, which for processors without a population count calls a function of the compiler's library.
constexpr bool is_power_of_two(std::uint32_t value) noexcept {
    return value != 0 && (value & (value - 1)) == 0;
}

/// Whether a handle breaks no rule and has no private tag; find_handle_fault decides about the others.
/// @param first buffer 0, with whose device and memory class those of the others must agree; null for itself
inline bool is_plain_handle(const BufferHandle& handle, std::byte reserved, const BufferHandle* first) noexcept {
    if (!is_power_of_two(handle.alignment)) return false;
    if (handle.alignment < least_alignment && handle.byte_size != 0) return false;
    if (handle.device_tag >= memory_classes_of_device.size() || handle.memory_class > memory_class::peer) return false;
    if ((memory_classes_of_device[handle.device_tag] >> handle.memory_class & 1) == 0) return false;
    if (handle.sync_mode != sync_mode::producer_synced &&
        (handle.device_tag == device_tag::cpu || handle.sync_mode > sync_mode::consumer_stream)) {
        return false;
    }
    if (first != nullptr && (first->device_tag != handle.device_tag || first->memory_class != handle.memory_class)) {
        return false;
    }
    return reserved == std::byte{0};
}

/// The 16 bytes of a handle, read once: byte_size, and alignment, device_tag, sync_mode, memory_class and the reserved
/// byte from the least significant byte on.
struct HandleWords {
    std::uint64_t byte_size;
    std::uint64_t rest;

    explicit HandleWords(const std::byte* bytes) noexcept
        : byte_size(load_le<std::uint64_t>(bytes)), rest(load_le<std::uint64_t>(bytes + 8)) {}

    [[nodiscard]] BufferHandle handle() const noexcept {
        if constexpr (handle_lies_as_on_the_wire) return std::bit_cast<BufferHandle>(std::array{byte_size, rest});
        return {.byte_size = byte_size,
                .alignment = static_cast<std::uint32_t>(rest),
                .device_tag = static_cast<std::uint8_t>(rest >> 32),
                .sync_mode = static_cast<std::uint8_t>(rest >> 40),
                .memory_class = static_cast<std::uint8_t>(rest >> 48)};
    }
    [[nodiscard]] std::byte reserved() const noexcept { return static_cast<std::byte>(rest >> 56); }

    /// Whether it is a handle of the CPU, PRODUCER_SYNCED, STANDARD, with an alignment that all buffers may have, and
    /// so breaks no rule of a single handle: most are. The four last bytes are 0 then, so that `rest` is the alignment,
    /// a power of two; is_plain_handle decides about the others.
    [[nodiscard]] bool is_usual() const noexcept {
        constexpr std::uint64_t alignments = (std::uint64_t{1} << 32) - least_alignment;
        return (rest & (rest - 1)) == 0 && rest - least_alignment < alignments;
    }
};

/// What find_handle_fault is told besides the bytes.
struct HandleFaultQuery {
    /// Offset of the handle, for errors.
    std::uint64_t at = 0;
    /// Its place in the buffer table, for messages; negative outside a table.
    int index = -1;
    PrivateTags private_tags = PrivateTags::refuse;
    /// As in is_plain_handle.
    const BufferHandle* first = nullptr;
};

/// Walks the fields in wire order as far as `present` bytes of the handle are there, and reports the first fault; that
/// the handle ends early is the last one.
[[gnu::cold, gnu::noinline]] Result<void> find_handle_fault(const std::byte* bytes, std::uint32_t present,
                                                            const HandleFaultQuery& query);

}  // namespace hurray
