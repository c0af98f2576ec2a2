// Streams of tensors over file descriptors, memory and callbacks.
#ifndef HURRAY_STREAM_HPP_
#define HURRAY_STREAM_HPP_

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "hurray/callback.hpp"
#include "hurray/composite.hpp"

namespace hurray {

/// Limits of a stream.
struct StreamOptions {
    /// HURRAY_STREAM_ bits.
    std::uint32_t flags = 0;
    /// Longest descriptor accepted, in bytes; 0 means 16 MiB.
    std::uint64_t max_descriptor_length = 0;
    /// Largest tensor accepted, in bytes over all its buffers; 0 means no limit.
    std::uint64_t max_tensor_bytes = 0;
    /// Largest alignment of a buffer accepted, in bytes; 0 means 2 MiB.
    std::uint32_t max_alignment = 0;
};

namespace detail {
inline HurrayStreamOptions raw_of(const StreamOptions& options) noexcept {
    auto raw = sized<HurrayStreamOptions>();
    raw.flags = options.flags;
    raw.max_descriptor_length = options.max_descriptor_length;
    raw.max_tensor_bytes = options.max_tensor_bytes;
    raw.max_alignment = options.max_alignment;
    return raw;
}
}  // namespace detail

namespace detail {

/// A callable that gives bytes, behind HurrayReadFn.
struct ByteGiver {
    std::unique_ptr<OwnedCall<Result<std::size_t>(Span<std::uint8_t>)>> call;
    Said said;

    static std::int64_t read(void* context, void* into, std::uint64_t capacity) noexcept {
        auto* self = static_cast<ByteGiver*>(context);
        HURRAY_HPP_TRY_ {
            const auto count = (*self->call)({static_cast<std::uint8_t*>(into), static_cast<std::size_t>(capacity)});
            return count ? static_cast<std::int64_t>(*count) : self->said.say(count.error());
        }
        HURRAY_HPP_CATCH_ALL_ {
            return self->said.say(threw());
        }
    }
};

/// A callable that takes bytes, behind HurrayWriteFn.
struct ByteTaker {
    std::unique_ptr<OwnedCall<Result<void>(Span<const std::uint8_t>)>> call;
    Said said;

    static HurrayStatus write(void* context, const void* bytes, std::uint64_t length) noexcept {
        auto* self = static_cast<ByteTaker*>(context);
        HURRAY_HPP_TRY_ {
            const auto done =
                (*self->call)({static_cast<const std::uint8_t*>(bytes), static_cast<std::size_t>(length)});
            return done ? HURRAY_OK : self->said.say(done.error());
        }
        HURRAY_HPP_CATCH_ALL_ {
            return self->said.say(threw());
        }
    }
};

}  // namespace detail

/// Reads a stream of tensors, one after another.
class Reader : public UniqueHandle<HurrayReader, hurray_reader_destroy> {
  public:
    using UniqueHandle::UniqueHandle;
    Reader() noexcept = default;
    Reader(Reader&&) noexcept = default;
    Reader& operator=(Reader&&) noexcept = default;
    // The handle ends before the callable that it calls.
    ~Reader() { reset(); }

    /// `give` takes a Span<std::uint8_t> and returns a Result<std::size_t>: how many bytes it put there; 0 at the end.
    template <typename Give>
    static Result<Reader> from_callback(Give&& give, const StreamOptions& options = {}) noexcept {
        std::unique_ptr<detail::ByteGiver> giver(new (std::nothrow) detail::ByteGiver());
        if (giver) giver->call = detail::own<Result<std::size_t>(Span<std::uint8_t>)>(std::forward<Give>(give));
        if (!giver || !giver->call) return detail::out_of_memory();
        const auto raw = detail::raw_of(options);
        auto reader = detail::make<Reader>(hurray_reader_from_callback, &detail::ByteGiver::read,
                                           static_cast<void*>(giver.get()), &raw);
        if (reader) reader->giver_ = std::move(giver);
        return reader;
    }
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
    Result<Tensor> next() noexcept { return told(detail::make<Tensor>(hurray_reader_next, get())); }
    /// The next tensor or composite; neither at the clean end.
    Result<Item> next_item() noexcept {
        HurrayTensor* tensor = nullptr;
        HurrayComposite* composite = nullptr;
        const auto done = told(detail::call(hurray_reader_next_item, get(), &tensor, &composite));
        if (!done) return done.error();
        return Item{Tensor(tensor), Composite(composite)};
    }
    /// The next descriptor, before its data; an empty one at the clean end. Then read() or skip() until it is complete.
    Result<Descriptor> begin() noexcept { return told(detail::make<Descriptor>(hurray_reader_begin, get())); }
    /// The next bytes of the tensor that was begun; 0: it is complete.
    Result<std::uint64_t> read(Span<std::uint8_t> into) noexcept {
        return told(detail::get<std::uint64_t>(hurray_reader_read, get(), static_cast<void*>(into.data()),
                                               std::uint64_t{into.size()}));
    }
    /// Passes over what is left of the tensor that was begun.
    Result<void> skip() noexcept { return told(detail::call(hurray_reader_skip, get())); }
    /// The name of a tensor of a .hrry file that was read in sequence (HURRAY_STREAM_HRRY_FILE), once its end was reached; lives as
    /// long as the reader.
    Result<std::string_view> name(std::uint64_t index) const noexcept {
        const std::uint8_t* name = nullptr;
        std::uint64_t length = 0;
        const auto done =
            detail::call(hurray_reader_name, static_cast<const HurrayReader*>(get()), index, &name, &length);
        if (!done) return done.error();
        return std::string_view(reinterpret_cast<const char*>(name), static_cast<std::size_t>(length));
    }

  private:
    template <typename T>
    Result<T> told(Result<T> result) const noexcept {
        if (result || !giver_) return result;
        return giver_->said.instead_of(result.error());
    }

    std::unique_ptr<detail::ByteGiver> giver_;
};

/// Writes a stream of tensors, one after another.
class Writer : public UniqueHandle<HurrayWriter, hurray_writer_destroy> {
  public:
    using UniqueHandle::UniqueHandle;
    Writer() noexcept = default;
    Writer(Writer&&) noexcept = default;
    Writer& operator=(Writer&&) noexcept = default;
    ~Writer() { reset(); }

    /// `take` is given each piece of bytes as a Span<const std::uint8_t> and returns a Result<void>.
    template <typename Take>
    static Result<Writer> to_callback(Take&& take, const StreamOptions& options = {}) noexcept {
        std::unique_ptr<detail::ByteTaker> taker(new (std::nothrow) detail::ByteTaker());
        if (taker) taker->call = detail::own<Result<void>(Span<const std::uint8_t>)>(std::forward<Take>(take));
        if (!taker || !taker->call) return detail::out_of_memory();
        const auto raw = detail::raw_of(options);
        auto writer = detail::make<Writer>(hurray_writer_to_callback, &detail::ByteTaker::write,
                                           static_cast<void*>(taker.get()), &raw);
        if (writer) writer->taker_ = std::move(taker);
        return writer;
    }
    /// The descriptor stays the caller's, unless the flags say HURRAY_STREAM_CLOSE_FD.
    static Result<Writer> to_fd(std::int32_t fd, const StreamOptions& options = {}) noexcept {
        const auto raw = detail::raw_of(options);
        return detail::make<Writer>(hurray_writer_to_fd, fd, &raw);
    }
    /// Into memory of the library, which take() gives.
    static Result<Writer> to_memory() noexcept { return detail::make<Writer>(hurray_writer_to_memory); }
    /// Returns when all of it is written.
    Result<void> write(const Tensor& tensor) noexcept {
        return told(detail::call(hurray_writer_write, get(), static_cast<const HurrayTensor*>(tensor.get())));
    }
    /// Returns when all of it is written.
    Result<void> write(const Composite& composite) noexcept {
        return told(
            detail::call(hurray_writer_write_composite, get(), static_cast<const HurrayComposite*>(composite.get())));
    }
    /// What was written into memory so far.
    Result<Buffer> take() noexcept { return detail::make<Buffer>(hurray_writer_take, get()); }

  private:
    Result<void> told(Result<void> result) const noexcept {
        if (result || !taker_) return result;
        return taker_->said.instead_of(result.error());
    }

    std::unique_ptr<detail::ByteTaker> taker_;
};

}  // namespace hurray

#endif  // HURRAY_STREAM_HPP_
