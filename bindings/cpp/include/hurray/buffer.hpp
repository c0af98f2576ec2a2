// Buffers: memory with shared ownership, and lists of them.
#ifndef HURRAY_BUFFER_HPP_
#define HURRAY_BUFFER_HPP_

#include <cstdint>
#include <utility>

#include "hurray/callback.hpp"
#include "hurray/error.hpp"
#include "hurray/handle.hpp"
#include "hurray/release_queue.hpp"
#include "hurray/span.hpp"

namespace hurray {

class Buffer;

namespace detail {

inline HurrayStatus end_buffer(HurrayBuffer** buffer) noexcept {
    return hurray_buffer_destroy(std::exchange(*buffer, nullptr));
}
inline HurrayStatus end_buffer_deferred(HurrayBuffer** buffer, HurrayError* error) noexcept {
    const HurrayStatus status = hurray_buffer_destroy_deferred(*buffer, error);
    if (status == HURRAY_OK) *buffer = nullptr;
    return status;
}

/// What can be asked of a buffer, owned or borrowed.
template <typename Self>
class BufferFields {
  public:
    /// Size, alignment, device, flags and where the memory is.
    Result<HurrayBufferInfo> info() const noexcept { return fill<HurrayBufferInfo>(hurray_buffer_info, raw()); }
    /// Its entry of a buffer table.
    Result<HurrayBufferHandleBytes> handle_bytes() const noexcept {
        return get_value<HurrayBufferHandleBytes>(hurray_buffer_handle_bytes);
    }
    /// The bytes, without those in front that belong to somebody else. Valid as long as any handle shares the memory.
    Result<Span<const std::uint8_t>> bytes() const noexcept {
        const auto facts = info();
        if (!facts) return facts.error();
        if (facts->byte_size == 0) return Span<const std::uint8_t>();
        return Span<const std::uint8_t>(static_cast<const std::uint8_t*>(facts->data) + facts->prefix,
                                        static_cast<std::size_t>(facts->byte_size - facts->prefix));
    }
    /// As bytes(), to write; refused for read-only memory.
    Result<Span<std::uint8_t>> mutable_bytes() const noexcept {
        const auto facts = info();
        if (!facts) return facts.error();
        if ((facts->flags & HURRAY_BUFFER_READ_ONLY) != 0) {
            return Error(HURRAY_ERR_INVALID_ARGUMENT, "the buffer is read-only");
        }
        if (facts->byte_size == 0) return Span<std::uint8_t>();
        return Span<std::uint8_t>(static_cast<std::uint8_t*>(facts->data) + facts->prefix,
                                  static_cast<std::size_t>(facts->byte_size - facts->prefix));
    }
    /// How many bytes at the start belong to somebody else, because the base was rounded down to an alignment.
    Result<std::uint64_t> prefix() const noexcept { return get_value<std::uint64_t>(hurray_buffer_prefix); }
    /// A further handle for the same memory.
    Result<Buffer> share() const noexcept;
    /// A handle for a part, which starts at a multiple of 64 where it is not empty.
    Result<Buffer> slice(std::uint64_t offset, std::uint64_t byte_size) const noexcept;

  private:
    template <typename Value, typename Function>
    Result<Value> get_value(Function function) const noexcept {
        return detail::get<Value>(function, raw());
    }
    const HurrayBuffer* raw() const noexcept { return static_cast<const Self*>(this)->get(); }
};

}  // namespace detail

/// A buffer that a list or tensor owns; valid as long as that.
class BufferRef : public detail::BufferFields<BufferRef> {
  public:
    explicit BufferRef(HurrayBuffer* buffer) noexcept : buffer_(buffer) {}
    /// For calls of the C API; stays borrowed.
    HurrayBuffer* get() const noexcept { return buffer_; }

  private:
    HurrayBuffer* buffer_;
};

/// Memory with shared ownership: the last handle that shares it releases it.
class Buffer : public UniqueHandle<HurrayBuffer, detail::end_buffer, detail::end_buffer_deferred>,
               public detail::BufferFields<Buffer> {
  public:
    using UniqueHandle::UniqueHandle;

    /// Zeroed host memory of the library.
    static Result<Buffer> allocate(std::uint64_t byte_size, std::uint32_t alignment = 0) noexcept {
        return detail::make<Buffer>(hurray_buffer_allocate, byte_size, alignment);
    }
    /// Zeroed memory that goes through a channel without a copy, see Channel::send.
    static Result<Buffer> allocate_shared(std::uint64_t byte_size, std::uint32_t alignment = 0) noexcept {
        return detail::make<Buffer>(hurray_buffer_allocate_shared, byte_size, alignment);
    }
    /// Wraps memory of the caller, aligned to `alignment` (64 or more), without copying. `release` (a callable that
    /// takes void*, or nothing) runs exactly once, when the last handle that shares the memory goes; after a failure it
    /// does not run.
    template <typename Release>
    static Result<Buffer> from_pointer(void* data, std::uint64_t byte_size, std::uint32_t alignment, Release&& release,
                                       std::uint8_t device = HURRAY_DEVICE_CPU) noexcept {
        auto box = detail::box(std::forward<Release>(release));
        if (!box) return detail::out_of_memory();
        HurrayBuffer* buffer = nullptr;
        const HurrayStatus status = hurray_buffer_from_ptr(data, byte_size, alignment, device,
                                                           decltype(box)::element_type::run, box.get(), &buffer);
        if (status != HURRAY_OK) return Error(status, "hurray_buffer_from_ptr");
        (void)box.release();
        return Buffer(buffer);
    }
    /// Wraps memory that outlives the process's use of it.
    static Result<Buffer> from_static(const void* data, std::uint64_t byte_size, std::uint32_t alignment) noexcept {
        HurrayBuffer* raw = nullptr;
        const HurrayStatus status = hurray_buffer_from_ptr(const_cast<void*>(data), byte_size, alignment,
                                                           HURRAY_DEVICE_CPU, nullptr, nullptr, &raw);
        if (status != HURRAY_OK) return Error(status, "hurray_buffer_from_ptr");
        Buffer buffer(raw);
        if (auto done = buffer.set_read_only(); !done) return done.error();
        return buffer;
    }

    /// Promises that nobody writes to the memory; before it is shared.
    Result<void> set_read_only() noexcept { return detail::call(hurray_buffer_set_read_only, get()); }
    /// Where a deferred release of the memory waits; before it is shared.
    Result<void> set_release_queue(const ReleaseQueue& queue) noexcept {
        return detail::call(hurray_buffer_set_release_queue, get(), static_cast<const HurrayReleaseQueue*>(queue.get()));
    }
    /// Consents to the release on whatever thread ends the last handle.
    Result<void> set_release_any_thread() noexcept { return detail::call(hurray_buffer_set_release_any_thread, get()); }
    /// Borrowed: valid as long as this handle.
    BufferRef ref() const noexcept { return BufferRef(get()); }
};

template <typename Self>
Result<Buffer> detail::BufferFields<Self>::share() const noexcept {
    return make<Buffer>(hurray_buffer_share, raw());
}

template <typename Self>
Result<Buffer> detail::BufferFields<Self>::slice(std::uint64_t offset, std::uint64_t byte_size) const noexcept {
    return make<Buffer>(hurray_buffer_slice, raw(), offset, byte_size);
}

/// Memory of any alignment as a buffer that starts up to 63 bytes before it, and the distance.
struct HostBuffer {
    /// Its first bytes, up to `byte_offset`, belong to somebody else.
    Buffer buffer;
    /// Belongs into the byte_offset of the descriptor.
    std::uint64_t byte_offset = 0;
};

/// Wraps host memory of any alignment, without copying; see Buffer::from_pointer for `release`.
template <typename Release>
Result<HostBuffer> wrap_host(void* data, std::uint64_t byte_size, bool read_only, Release&& release) noexcept {
    auto box = detail::box(std::forward<Release>(release));
    if (!box) return detail::out_of_memory();
    HurrayBuffer* buffer = nullptr;
    std::uint64_t byte_offset = 0;
    const auto done =
        detail::call(hurray_buffer_from_host, data, byte_size, static_cast<std::uint8_t>(read_only),
                     decltype(box)::element_type::run, static_cast<void*>(box.get()), &buffer, &byte_offset);
    if (!done) return done.error();
    (void)box.release();
    return HostBuffer{Buffer(buffer), byte_offset};
}

/// Owns the buffers of one tensor in the order of its buffer table.
class BufferList
    : public UniqueHandle<HurrayBufferList, hurray_buffer_list_destroy, hurray_buffer_list_destroy_deferred> {
  public:
    using UniqueHandle::address;
    using UniqueHandle::UniqueHandle;

    /// An empty list.
    static Result<BufferList> create(std::uint64_t capacity_hint = 0) noexcept {
        HurrayBufferList* list = nullptr;
        if (auto done = detail::outcome(hurray_buffer_list_new(capacity_hint, &list), "hurray_buffer_list_new");
            !done) {
            return done.error();
        }
        return BufferList(list);
    }
    /// Takes the buffer over, on success only.
    Result<void> push(Buffer& buffer) noexcept {
        const auto done = detail::outcome(hurray_buffer_list_push(get(), buffer.get()), "hurray_buffer_list_push");
        if (done) (void)buffer.release();
        return done;
    }
    /// Takes the buffer over, on success only.
    Result<void> push(Buffer&& buffer) noexcept { return push(buffer); }
    /// How many buffers there are.
    Result<std::uint64_t> size() const noexcept {
        std::uint64_t length = 0;
        const auto done = detail::outcome(hurray_buffer_list_len(get(), &length), "hurray_buffer_list_len");
        if (!done) return done.error();
        return length;
    }
    /// Borrowed: valid as long as the list.
    Result<BufferRef> at(std::uint64_t index) const noexcept {
        HurrayBuffer* buffer = nullptr;
        const auto done = detail::outcome(hurray_buffer_list_get(get(), index, &buffer), "hurray_buffer_list_get");
        if (!done) return done.error();
        return BufferRef(buffer);
    }
};

}  // namespace hurray

#endif  // HURRAY_BUFFER_HPP_
