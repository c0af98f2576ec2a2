// Streams of tensors over file descriptors and memory.
#ifndef HURRAY_STREAM_HPP_
#define HURRAY_STREAM_HPP_

#include <cstdint>

#include "hurray/composite.hpp"

namespace hurray {

struct StreamOptions {
    /// HURRAY_STREAM_ bits.
    std::uint32_t flags = 0;
    /// Longest descriptor accepted, in bytes; 0 means 16 MiB.
    std::uint64_t max_descriptor_length = 0;
    /// Largest tensor accepted, in bytes over all its buffers; 0 means no limit.
    std::uint64_t max_tensor_bytes = 0;
};

namespace detail {
inline HurrayStreamOptions raw_of(const StreamOptions& options) noexcept {
    auto raw = sized<HurrayStreamOptions>();
    raw.flags = options.flags;
    raw.max_descriptor_length = options.max_descriptor_length;
    raw.max_tensor_bytes = options.max_tensor_bytes;
    return raw;
}
}  // namespace detail

class Reader : public UniqueHandle<HurrayReader, hurray_reader_destroy> {
  public:
    using UniqueHandle::UniqueHandle;

    /// The descriptor stays the caller's, unless the flags say HURRAY_STREAM_CLOSE_FD.
    static Result<Reader> from_fd(std::int32_t fd, const StreamOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<Reader>(hurray_reader_from_fd, fd, &raw);
    }
    /// The bytes stay as they are until the reader ends.
    static Result<Reader> from_memory(Span<const std::uint8_t> bytes, const StreamOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<Reader>(hurray_reader_from_memory, static_cast<const void*>(bytes.data()),
                                    std::uint64_t{bytes.size()}, &raw);
    }
    /// The next tensor, heads and members one by one; an empty one at the clean end.
    Result<Tensor> next() noexcept { return detail::make<Tensor>(hurray_reader_next, get()); }
    /// The next tensor or composite; neither at the clean end.
    Result<Item> next_item() noexcept {
        HurrayTensor* tensor = nullptr;
        HurrayComposite* composite = nullptr;
        if (auto done = detail::call(hurray_reader_next_item, get(), &tensor, &composite); !done) return done.error();
        return Item{Tensor(tensor), Composite(composite)};
    }
};

class Writer : public UniqueHandle<HurrayWriter, hurray_writer_destroy> {
  public:
    using UniqueHandle::UniqueHandle;

    /// The descriptor stays the caller's, unless the flags say HURRAY_STREAM_CLOSE_FD.
    static Result<Writer> to_fd(std::int32_t fd, const StreamOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<Writer>(hurray_writer_to_fd, fd, &raw);
    }
    static Result<Writer> to_memory() noexcept { return detail::make<Writer>(hurray_writer_to_memory); }
    Result<void> write(const Tensor& tensor) noexcept {
        return detail::call(hurray_writer_write, get(), static_cast<const HurrayTensor*>(tensor.get()));
    }
    Result<void> write(const Composite& composite) noexcept {
        return detail::call(hurray_writer_write_composite, get(), static_cast<const HurrayComposite*>(composite.get()));
    }
    /// What was written into memory so far.
    Result<Buffer> take() noexcept { return detail::make<Buffer>(hurray_writer_take, get()); }
};

}  // namespace hurray

#endif  // HURRAY_STREAM_HPP_
