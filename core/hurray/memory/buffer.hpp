// A buffer: one entry of a tensor's buffer table together with the memory it names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/buffer_handle.hpp"
#include "core/hurray/memory/storage.hpp"

namespace hurray {

/// The alignment that the format asks of every non-empty buffer (format: buffer table).
inline constexpr std::uint32_t minimum_alignment = 64;

/// A view of shared memory plus the 16-byte handle that describes it. Copies share the memory.
///
/// `data` is aligned to `handle.alignment`. Where the elements of host memory start elsewhere, `data` is rounded
/// down and the first `prefix` bytes belong to somebody else: this library never reads or writes them.
struct Buffer {
    std::byte* data = nullptr;
    BufferHandle handle;
    std::uint32_t prefix = 0;
    bool read_only = false;
    /// Keeps the memory; empty for memory that is borrowed for ever and for buffers without bytes.
    Ref<Storage> storage;

    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return {data, static_cast<std::size_t>(handle.byte_size)};
    }
};

/// What is in new memory.
enum class Contents : std::uint8_t {
    zeroed,
    /// Anything: the caller writes every byte. What rounds the size up to the alignment is zeroed all the same.
    undefined,
};

/// Allocates host memory; `alignment` a power of two (64 when 0 is given). Released on any thread.
/// @errors invalid_layout: alignment; out_of_memory
Result<Buffer> allocate_buffer(std::uint64_t byte_size, std::uint32_t alignment = minimum_alignment,
                               Contents contents = Contents::zeroed);

/// Wraps host memory of which `byte_size` bytes at `data` belong to `storage`, at any alignment: the base is rounded
/// down to 64 bytes and the difference is the buffer's prefix, which the caller puts into byte_offset.
Buffer wrap_host_memory(void* data, std::uint64_t byte_size, Ref<Storage> storage);

}  // namespace hurray
