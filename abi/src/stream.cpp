// Streams: tensors one after the other over a file descriptor, in memory or through callbacks. (format: stream)
#include <algorithm>
#include <cstdint>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/api/io.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/io_objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Starts to read a stream from a file descriptor: a pipe, socket or file, from where it stands.
/// @param fd stays the caller's, unless the options say HURRAY_STREAM_CLOSE_FD
/// @param options null: descriptors up to 16 MiB, tensors of any size
/// @owner caller
/// @errors INVALID_ARGUMENT: fd is negative, or the options
/// @thread any
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_reader_from_fd(int32_t fd, HG_IN_OPT const HurrayStreamOptions* options,
                                              HG_OUT_OWNED(hurray_reader_destroy) HurrayReader** out_reader,
                                              HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_reader, error);
    *out_reader = nullptr;
    return guarded(error, [&]() -> Result<void> {
        auto reader = reader_from_fd(fd, options);
        if (!reader) return std::unexpected(reader.error());
        *out_reader = *reader;
        return {};
    });
}

/// Starts to read a stream that lies in memory. Tensors are copied out of it.
/// @param bytes must stay as they are until the reader is destroyed
/// @param options null: the defaults
/// @owner the reader is the caller's; `bytes` stay the caller's and are borrowed until the reader is destroyed
/// @errors INVALID_ARGUMENT: the options
/// @thread any
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_reader_from_memory(HG_KEPT const void* bytes, uint64_t length,
                                                  HG_IN_OPT const HurrayStreamOptions* options,
                                                  HG_OUT_OWNED(hurray_reader_destroy) HurrayReader** out_reader,
                                                  HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_reader, error);
    *out_reader = nullptr;
    if (bytes == nullptr && length != 0) return report_null("bytes", error);
    return guarded(error, [&]() -> Result<void> {
        auto reader = reader_from_memory(bytes, length, options);
        if (!reader) return std::unexpected(reader.error());
        *out_reader = *reader;
        return {};
    });
}

/// Starts to read a stream that a callback gives. It is called on the thread that reads, as often as data is needed, and never
/// for bytes beyond the tensor that was asked for.
/// A callback that throws, that claims to have written more than there was room for, or that fails, ends the reader:
/// INTERNAL_PANIC, INVALID_ARGUMENT, or the code that it returned (IO, where that is none of the library's).
/// @param context handed to `read`
/// @param options null: the defaults
/// @owner the reader is the caller's; `read` and what `context` stands for must live until the reader is destroyed
/// @errors INVALID_ARGUMENT: the options
/// @thread any
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_reader_from_callback(HG_CALLBACK HurrayReadFn read, HG_OPAQUE void* context,
                                                    HG_IN_OPT const HurrayStreamOptions* options,
                                                    HG_OUT_OWNED(hurray_reader_destroy) HurrayReader** out_reader,
                                                    HG_ERROR HurrayError* error) noexcept {
    if (out_reader != nullptr) *out_reader = nullptr;
    HURRAY_REQUIRE(read, error);
    HURRAY_REQUIRE(out_reader, error);
    return guarded(error, [&]() -> Result<void> {
        auto reader = reader_from_callback(read, context, options);
        if (!reader) return std::unexpected(reader.error());
        *out_reader = *reader;
        return {};
    });
}

/// Reads the next tensor. At the clean end of the stream the call succeeds and `out_tensor` is null.
/// @owner caller; independent of the reader
/// @errors those of hurray_descriptor_decode; INVALID_FORMAT: the stream ends within a tensor; LIMIT_EXCEEDED; IO;
///     OUT_OF_MEMORY. The byte offset is that in the stream. After an error the reader can only be destroyed. INVALID_ARGUMENT,
///     upon which nothing has changed: a tensor that was begun is not complete, or a callback uses the reader that called it
/// @thread one thread at a time
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_reader_next(HG_INOUT HurrayReader* reader,
                                           HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                           HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_HANDLE(reader, error);
    HURRAY_REQUIRE(out_tensor, error);
    if (auto checked = check_between_tensors(*reader, false); !checked) return report(checked.error(), error);
    const HurrayStatus status = guarded(error, [&]() -> Result<void> {
        auto next = reader->value.next();
        if (!next) return std::unexpected(next.error());
        if (!next->has_value()) return {};
        auto handle = make_tensor(std::move(**next));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        return {};
    });
    if (status != HURRAY_OK) {
        // A tensor for which no handle could be made is lost; the next one must not stand in its place.
        reader->value.stop(make_error(static_cast<Status>(status), reader->value.offset(), "an earlier tensor of the stream was lost"));
    }
    return status;
}

/// Begins the next tensor: gives its descriptor, checked, before any of its data is there. Its data follows with
/// hurray_reader_read, or is passed over with hurray_reader_skip; one of them must have reached its end before the next tensor.
/// At the clean end of the stream the call succeeds and `out_descriptor` is null.
/// The head of a composite, which has no data, comes first, then its members, each begun in its turn. A composite is checked
/// when the last of its members is begun, and a stream that ends within one is torn; a permissive reader takes no notice.
/// @owner caller; independent of the reader
/// @errors those of hurray_reader_next; INVALID_COMPOSITE; LIMIT_EXCEEDED: a composite of more than 2^20 descriptors. After an
///     error the reader can only be destroyed. INVALID_ARGUMENT, upon which nothing has changed: as for hurray_reader_next
/// @thread one thread at a time
/// @since 4
/// @spec format: stream, composite
HURRAY_API HurrayStatus hurray_reader_begin(HG_INOUT HurrayReader* reader,
                                            HG_OUT_OWNED(hurray_descriptor_destroy) HurrayDescriptor** out_descriptor,
                                            HG_ERROR HurrayError* error) noexcept {
    if (out_descriptor != nullptr) *out_descriptor = nullptr;
    HURRAY_REQUIRE_HANDLE(reader, error);
    HURRAY_REQUIRE(out_descriptor, error);
    if (auto checked = check_between_tensors(*reader, true); !checked) return report(checked.error(), error);
    const HurrayStatus status = guarded(error, [&]() -> Result<void> {
        auto begun = begin_tensor(*reader);
        if (!begun) return std::unexpected(begun.error());
        if (begun->has_value()) *out_descriptor = new HurrayDescriptor(**std::move(begun));
        return {};
    });
    if (status != HURRAY_OK) {
        reader->value.stop(make_error(static_cast<Status>(status), reader->value.offset(), "an earlier tensor of the stream was lost"));
    }
    return status;
}

/// Reads the next bytes of the tensor that was begun: those of its buffers in the order of its table, never of two buffers in
/// one call. Waits for the first byte and returns what is there; 0 bytes: the tensor is complete.
/// @param capacity length of `into` in bytes
/// @param out_count how many bytes were read
/// @errors INVALID_ARGUMENT: no tensor was begun, or a callback uses the reader that called it; INVALID_FORMAT: the stream ends
///     within the tensor; IO. After one of the latter two the reader can only be destroyed
/// @thread one thread at a time
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_reader_read(HG_INOUT HurrayReader* reader, HG_OUT_ARRAY(capacity) void* into, uint64_t capacity,
                                           HG_OUT uint64_t* out_count, HG_ERROR HurrayError* error) noexcept {
    if (out_count != nullptr) *out_count = 0;
    HURRAY_REQUIRE_HANDLE(reader, error);
    HURRAY_REQUIRE(out_count, error);
    if (into == nullptr && capacity != 0) return report_null("into", error);
    return guarded(error, [&]() -> Result<void> {
        const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(capacity, PTRDIFF_MAX));
        const auto count = reader->value.read({static_cast<std::byte*>(into), room});
        if (!count) return std::unexpected(count.error());
        *out_count = *count;
        return {};
    });
}

/// Passes over what is left of the tensor that was begun; in a regular file nothing is read for it.
/// @errors as hurray_reader_read
/// @thread one thread at a time
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_reader_skip(HG_INOUT HurrayReader* reader, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(reader, error);
    return guarded(error, [&] { return reader->value.skip(); });
}

/// The name of a tensor of a .hrry file that was read in sequence (HURRAY_STREAM_HRRY_FILE). Names stand at the end of the file:
/// they are there once a call has told the end.
/// @param index of the tensor, in the order in which they came; heads and members of composites count each
/// @param out_name UTF-8, not terminated, may hold NUL characters
/// @param out_length length of the name in bytes
/// @errors INVALID_ARGUMENT: no .hrry file, the end was not reached, or a callback uses the reader that called it;
///     INDEX_OUT_OF_BOUNDS
/// @owner the name belongs to `reader` and lives until it is destroyed
/// @thread one thread at a time
/// @since 4
/// @spec format: file
HURRAY_API HurrayStatus hurray_reader_name(HG_IN const HurrayReader* reader, uint64_t index,
                                           HG_OUT_BORROWED(reader) const uint8_t** out_name, HG_OUT uint64_t* out_length,
                                           HG_ERROR HurrayError* error) noexcept {
    if (out_name != nullptr) *out_name = nullptr;
    if (out_length != nullptr) *out_length = 0;
    HURRAY_REQUIRE_HANDLE(reader, error);
    HURRAY_REQUIRE(out_name, error);
    HURRAY_REQUIRE(out_length, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto idle = check_idle(*reader, "reader"); !idle) return idle;
        const auto name = name_in_sequence(*reader, index);
        if (!name) return std::unexpected(name.error());
        *out_name = reinterpret_cast<const uint8_t*>(name->data());
        *out_length = name->size();
        return {};
    });
}

/// Ends a reader. Tensors that it gave out are not affected.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed; INVALID_ARGUMENT: a callback uses the reader that called it
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_reader_destroy(HG_DESTROYED_VAR HurrayReader** reader) noexcept {
    if (reader == nullptr || *reader == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*reader, nullptr);
    if ((*reader)->value.busy()) return HURRAY_ERR_INVALID_ARGUMENT;
    retire(std::exchange(*reader, nullptr));
    return HURRAY_OK;
}

/// Starts to write a stream to a file descriptor. Writing to a pipe that nobody reads is an error, not a signal.
/// @param fd stays the caller's, unless the options say HURRAY_STREAM_CLOSE_FD
/// @param options null: the defaults; the limits are not used
/// @owner caller
/// @errors INVALID_ARGUMENT: fd is negative, or the options
/// @thread any
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_writer_to_fd(int32_t fd, HG_IN_OPT const HurrayStreamOptions* options,
                                            HG_OUT_OWNED(hurray_writer_destroy) HurrayWriter** out_writer,
                                            HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_writer, error);
    *out_writer = nullptr;
    return guarded(error, [&]() -> Result<void> {
        auto writer = writer_to_fd(fd, options);
        if (!writer) return std::unexpected(writer.error());
        *out_writer = *writer;
        return {};
    });
}

/// Starts to write a stream into memory that grows; see hurray_writer_take.
/// @owner caller
/// @errors OUT_OF_MEMORY
/// @thread any
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_writer_to_memory(HG_OUT_OWNED(hurray_writer_destroy) HurrayWriter** out_writer,
                                                HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE(out_writer, error);
    *out_writer = nullptr;
    return guarded(error, [&]() -> Result<void> {
        auto writer = writer_to_memory();
        if (!writer) return std::unexpected(writer.error());
        *out_writer = *writer;
        return {};
    });
}

/// Starts to write a stream that a callback takes. It is called on the thread that writes: for a descriptor, and for each buffer
/// with the whole of it, from where it lies.
/// A callback that throws or fails ends the writer: INTERNAL_PANIC, or the code that it returned (IO, where that is none of the
/// library's).
/// @param context handed to `write`
/// @param options null: the defaults; the limits are not used, and no flag is
/// @owner the writer is the caller's; `write` and what `context` stands for must live until the writer is destroyed
/// @errors INVALID_ARGUMENT: the options
/// @thread any
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_writer_to_callback(HG_CALLBACK HurrayWriteFn write, HG_OPAQUE void* context,
                                                  HG_IN_OPT const HurrayStreamOptions* options,
                                                  HG_OUT_OWNED(hurray_writer_destroy) HurrayWriter** out_writer,
                                                  HG_ERROR HurrayError* error) noexcept {
    if (out_writer != nullptr) *out_writer = nullptr;
    HURRAY_REQUIRE(write, error);
    HURRAY_REQUIRE(out_writer, error);
    return guarded(error, [&]() -> Result<void> {
        auto writer = writer_to_callback(write, context, options);
        if (!writer) return std::unexpected(writer.error());
        *out_writer = *writer;
        return {};
    });
}

/// Writes a tensor: its descriptor and the bytes of its buffers. Bytes before the data that belong to somebody else
/// (a buffer's prefix) are left out and the descriptor says so.
/// @errors IO; UNSUPPORTED: not host memory; INVALID_SYNC_MODE: not PRODUCER_SYNCED. After an error in mid-tensor the writer can only
///     be destroyed
/// @thread one thread at a time
/// @since 4
/// @spec format: stream
HURRAY_API HurrayStatus hurray_writer_write(HG_INOUT HurrayWriter* writer, HG_IN const HurrayTensor* tensor,
                                            HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    return guarded(error, [&]() -> Result<void> {
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        return writer->value.write(core_tensor(**local));
    });
}

/// Takes the bytes that were written into memory so far, as a buffer; the writer goes on with an empty one.
/// @owner caller
/// @errors INVALID_ARGUMENT: the writer does not write into memory; OUT_OF_MEMORY
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_writer_take(HG_INOUT HurrayWriter* writer,
                                           HG_OUT_OWNED(hurray_buffer_destroy) HurrayBuffer** out_buffer,
                                           HG_ERROR HurrayError* error) noexcept {
    if (out_buffer != nullptr) *out_buffer = nullptr;
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE(out_buffer, error);
    return guarded(error, [&]() -> Result<void> {
        auto buffer = take_written(*writer);
        if (!buffer) return std::unexpected(buffer.error());
        *out_buffer = *buffer;
        return {};
    });
}

/// Ends a writer. What was written stays written.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed; INVALID_ARGUMENT: a callback uses the writer that called it
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_writer_destroy(HG_DESTROYED_VAR HurrayWriter** writer) noexcept {
    if (writer == nullptr || *writer == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*writer, nullptr);
    if ((*writer)->value.busy()) return HURRAY_ERR_INVALID_ARGUMENT;
    retire(std::exchange(*writer, nullptr));
    return HURRAY_OK;
}
