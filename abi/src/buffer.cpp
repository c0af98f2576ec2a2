// Buffers: memory with shared ownership. (seed: Buffer Release Callbacks; format: buffer table)
#include "abi/src/api/buffer.hpp"

#include <bit>

#include "abi/src/api/annotations.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

Result<void> check_range(const HurrayBuffer& buffer, std::uint64_t offset, std::uint64_t byte_size) {
    const std::uint64_t size = buffer.value.handle.byte_size;
    if (offset > size || byte_size > size - offset) {
        return fail(Status::index_out_of_bounds, Error::no_offset,
                    "offset %llu and byte_size %llu: expected a range within the buffer's %llu bytes",
                    static_cast<unsigned long long>(offset), static_cast<unsigned long long>(byte_size),
                    static_cast<unsigned long long>(size));
    }
    return {};
}

}  // namespace

/// Wraps memory of the caller in a buffer handle, without copying.
/// The buffer is of memory class STANDARD and sync mode PRODUCER_SYNCED: the caller has waited for all writes.
/// `release(data, release_context)` runs exactly once, when the last handle that shares the memory goes; a null
/// `release` means that the memory lives for ever. On failure ownership has not moved and `release` does not run.
/// @param data first byte, aligned to `alignment`; may be null when byte_size is 0
/// @param byte_size length in bytes
/// @param alignment a power of two; at least 64 when byte_size is not 0
/// @param device_tag HURRAY_DEVICE_ value
/// @owner the memory belongs to the buffer until its release; the handle belongs to the caller
/// @errors INVALID_LAYOUT: alignment is no power of two or below 64; MISALIGNED: data is not aligned as declared;
///     INVALID_TYPE: unknown device; NULL_POINTER: data is null and byte_size is not 0; INVALID_ARGUMENT: the range wraps
///     around
/// @thread any
/// @since 1
/// @spec ABI: Buffer Release Callbacks
HURRAY_API HurrayStatus hurray_buffer_from_ptr(HG_KEPT void* data, uint64_t byte_size, uint32_t alignment,
                                               uint8_t device_tag, HG_CALLBACK_OPT HurrayReleaseCallback release,
                                               HG_OPAQUE void* release_context,
                                               HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_handle) noexcept {
    HURRAY_REQUIRE(out_handle, nullptr);
    *out_handle = nullptr;
    if (data == nullptr && byte_size != 0) return HURRAY_ERR_NULL_POINTER;
    return guarded(nullptr, [&]() -> Result<void> {
        Buffer buffer;
        buffer.data = static_cast<std::byte*>(data);
        buffer.handle.byte_size = byte_size;
        buffer.handle.alignment = alignment;
        buffer.handle.device_tag = device_tag;
        if (auto checked = check_buffer_handle(buffer.handle, Error::no_offset); !checked) return checked;
        if (auto checked = check_address_range(data, byte_size); !checked) return checked;
        if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
            return fail(Status::misaligned, Error::no_offset, "data: expected alignment to %u bytes", alignment);
        }
        auto handle = lend(std::move(buffer), data, release, release_context);
        if (!handle) return std::unexpected(handle.error());
        *out_handle = *handle;
        return {};
    });
}

/// Wraps host memory of any alignment in a buffer handle, without copying.
/// The buffer starts at `data` rounded down to 64 bytes; `out_byte_offset` is the difference, which belongs into the
/// byte_offset of the descriptor. The bytes before `data` (the prefix) are never read or written by the library.
/// `release(data, release_context)` gets `data` exactly as it was given, exactly once.
/// @param data first byte; may be null when byte_size is 0
/// @param byte_size length in bytes, the prefix not included
/// @param read_only 1 when the memory must not be written, else 0
/// @owner the memory belongs to the buffer until its release; the handle belongs to the caller
/// @errors NULL_POINTER: data is null and byte_size is not 0; INVALID_ARGUMENT: the range wraps around, or read_only
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_from_host(HG_KEPT void* data, uint64_t byte_size, uint8_t read_only,
                                                HG_CALLBACK_OPT HurrayReleaseCallback release,
                                                HG_OPAQUE void* release_context,
                                                HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_handle,
                                                HG_OUT uint64_t* out_byte_offset, HG_ERROR HurrayError* error) noexcept {
    if (out_handle != nullptr) *out_handle = nullptr;
    if (out_byte_offset != nullptr) *out_byte_offset = 0;
    HURRAY_REQUIRE(out_handle, error);
    HURRAY_REQUIRE(out_byte_offset, error);
    if (data == nullptr && byte_size != 0) return report_null("data", error);
    return guarded(error, [&]() -> Result<void> {
        auto buffer = host_buffer(data, byte_size, read_only);
        if (!buffer) return std::unexpected(buffer.error());
        const std::uint32_t prefix = buffer->prefix;
        auto handle = lend(std::move(*buffer), data, release, release_context);
        if (!handle) return std::unexpected(handle.error());
        *out_handle = *handle;
        *out_byte_offset = prefix;
        return {};
    });
}

/// Allocates host memory, zeroed. The library owns it and releases it on any thread.
/// @param byte_size length in bytes; 0 is legal
/// @param alignment a power of two; 0 means 64, and less than 64 is raised to 64
/// @owner caller
/// @errors OUT_OF_MEMORY; INVALID_LAYOUT: alignment is no power of two
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_allocate(uint64_t byte_size, uint32_t alignment,
                                               HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_handle,
                                               HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_handle, error);
    *out_handle = nullptr;
    return guarded(error, [&]() -> Result<void> {
        auto buffer = allocate_buffer(byte_size, alignment);
        if (!buffer) return std::unexpected(buffer.error());
        *out_handle = new HurrayBuffer(std::move(*buffer));
        return {};
    });
}

/// Makes a further handle for the same memory. The memory is released when the last of them goes. An event or stream
/// that the buffer was handed off with stays with `buffer`.
/// @owner caller; independent of `buffer`
/// @thread `buffer` by one thread at a time; the two handles may then be used by two threads
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_share(HG_IN const HurrayBuffer* buffer,
                                            HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_handle,
                                            HG_ERROR HurrayError* error) noexcept {
    if (out_handle != nullptr) *out_handle = nullptr;
    HURRAY_DISPATCH(buffer, error, buffer_share, buffer, out_handle, error);
    HURRAY_REQUIRE(out_handle, error);
    return guarded(error, [&]() -> Result<void> {
        *out_handle = share_buffer(*buffer);
        return {};
    });
}

/// Makes a handle for a part of a buffer, sharing its memory.
/// @param offset start of the part, in bytes; what remains of the prefix stays a prefix
/// @param byte_size length of the part in bytes
/// @owner caller; independent of `buffer`
/// @errors INDEX_OUT_OF_BOUNDS: not within the buffer; MISALIGNED: a part that is not empty starts at no multiple of 64
/// @thread as hurray_buffer_share
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_slice(HG_IN const HurrayBuffer* buffer, uint64_t offset, uint64_t byte_size,
                                            HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_handle,
                                            HG_ERROR HurrayError* error) noexcept {
    if (out_handle != nullptr) *out_handle = nullptr;
    HURRAY_DISPATCH(buffer, error, buffer_slice, buffer, offset, byte_size, out_handle, error);
    HURRAY_REQUIRE(out_handle, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_range(*buffer, offset, byte_size); !checked) return checked;
        if (byte_size != 0 && offset % minimum_alignment != 0) {
            return fail(Status::misaligned, Error::no_offset, "offset: expected a multiple of %u, got %llu",
                        minimum_alignment, static_cast<unsigned long long>(offset));
        }
        Buffer slice = buffer->value;
        if (slice.data != nullptr) slice.data += offset;
        slice.handle.byte_size = byte_size;
        slice.prefix = offset >= slice.prefix ? 0 : static_cast<std::uint32_t>(slice.prefix - offset);
        if (slice.prefix > byte_size) slice.prefix = static_cast<std::uint32_t>(byte_size);
        if (offset % slice.handle.alignment != 0) {
            slice.handle.alignment = std::uint32_t{1} << std::countr_zero(offset);
        }
        auto* handle = new HurrayBuffer(std::move(slice));
        handle->context_owner = buffer->context_owner;
        handle->lent = buffer->lent;
        *out_handle = handle;
        return {};
    });
}

/// Fills a struct with what the buffer stands for.
/// @errors INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_info(HG_IN const HurrayBuffer* buffer, HG_OUT HurrayBufferInfo* out_info,
                                           HG_ERROR HurrayError* error) noexcept {
    if (out_info != nullptr) clear_sized_struct(out_info);
    HURRAY_DISPATCH(buffer, error, buffer_info, buffer, out_info, error);
    HURRAY_REQUIRE(out_info, error);
    return guarded(error, [&]() -> Result<void> {
        HurrayBufferInfo info{};
        info.flags = (buffer->value.read_only ? HURRAY_BUFFER_READ_ONLY : 0) |
                     (buffer->borrowed ? HURRAY_BUFFER_BORROWED : 0);
        if (const SharedBacking* backing = buffer->value.storage ? buffer->value.storage->shared_backing() : nullptr) {
            info.flags |= HURRAY_BUFFER_SHARED | (backing->sealed ? HURRAY_BUFFER_SEALED : 0);
        }
        info.data = buffer->value.data;
        info.byte_size = buffer->value.handle.byte_size;
        info.alignment = buffer->value.handle.alignment;
        info.prefix = buffer->value.prefix;
        info.share_count = buffer->value.storage ? buffer->value.storage->references() : 0;
        return fill_sized_struct(out_info, info, sizeof info, "out_info");
    });
}

/// Writes the 16-byte handle that describes the buffer in a descriptor's buffer table. Its byte 13 is the sync mode.
/// @thread one thread at a time
/// @since 2
/// @spec format: buffer table
HURRAY_API HurrayStatus hurray_buffer_handle_bytes(HG_IN const HurrayBuffer* buffer,
                                                   HG_OUT HurrayBufferHandleBytes* out_handle_bytes,
                                                   HG_ERROR HurrayError* error) noexcept {
    if (out_handle_bytes != nullptr) *out_handle_bytes = HurrayBufferHandleBytes{};
    HURRAY_DISPATCH(buffer, error, buffer_handle_bytes, buffer, out_handle_bytes, error);
    HURRAY_REQUIRE(out_handle_bytes, error);
    return guarded(error, [&]() -> Result<void> {
        encode_buffer_handle(buffer->value.handle, std::as_writable_bytes(std::span(out_handle_bytes->bytes)));
        return {};
    });
}

/// Tells how many bytes at the start of the buffer belong to somebody else, because its base was rounded down.
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_prefix(HG_IN const HurrayBuffer* buffer, HG_OUT uint64_t* out_prefix,
                                             HG_ERROR HurrayError* error) noexcept {
    if (out_prefix != nullptr) *out_prefix = 0;
    HURRAY_DISPATCH(buffer, error, buffer_prefix, buffer, out_prefix, error);
    HURRAY_REQUIRE(out_prefix, error);
    *out_prefix = buffer->value.prefix;
    return succeed(error);
}

/// Marks the memory as not to be written through this handle and those made from it.
/// @errors INVALID_HANDLE: the handle is borrowed
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_set_read_only(HG_INOUT HurrayBuffer* buffer, HG_ERROR HurrayError* error) noexcept {
    HURRAY_DISPATCH(buffer, error, buffer_set_read_only, buffer, error);
    return guarded(error, [&]() -> Result<void> {
        if (buffer->borrowed) return invalid_handle("buffer", "a handle that the caller owns");
        buffer->value.read_only = true;
        return {};
    });
}

/// Ends a buffer handle. When it was the last one that shares its memory, the release callback runs, on this thread.
/// @owner ends the caller's ownership
/// @errors NULL_POINTER; INVALID_HANDLE: borrowed from a list, or (checked builds) already destroyed; INTERNAL_PANIC: a
///     callback threw an exception, and the buffer is ended all the same
/// @thread the thread that runs the release
/// @since 1
/// @spec ABI: Opaque Handles
HURRAY_API HurrayStatus hurray_buffer_destroy(HG_DESTROYED HurrayBuffer* buffer) noexcept {
    HURRAY_DISPATCH(buffer, nullptr, buffer_destroy, buffer);
    if (buffer->borrowed) return HURRAY_ERR_INVALID_HANDLE;
    return report_end(destroy_buffer(buffer, false), nullptr);
}

/// Ends a buffer handle on a thread that must not run callbacks, such as a garbage collector's. A release that
/// becomes due is put on the buffer's release queue (the default queue when none was set) and runs when that is
/// drained; memory of the library, and memory whose creator consented, is released at once.
/// @owner ends the caller's ownership
/// @errors NULL_POINTER; INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_buffer_destroy_deferred(HG_DESTROYED HurrayBuffer* buffer,
                                                       HG_ERROR HurrayError* error) noexcept {
    HURRAY_DISPATCH(buffer, error, buffer_destroy_deferred, buffer, error);
    if (buffer->borrowed) return report(invalid_handle("buffer", "a handle that the caller owns").error(), error);
    return report_end(destroy_buffer(buffer, true), error);
}
