// Writing model files: complete under their name, or not there at all.
#include <memory>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/file.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/callback_io.hpp"
#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/byte_sink.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Starts a model file with the default options of its format. Until hurray_file_writer_finish succeeds a file of that name
/// stays as it was, also when it is the one that the tensors are mapped from.
/// @param path file name, as for hurray_file_open
/// @param format HURRAY_FORMAT_ value, not HURRAY_FORMAT_AUTO
/// @owner caller
/// @errors INVALID_ARGUMENT: no such format, an empty path, or something that is no file is in the way; NOT_FOUND: no such
///     folder; IO
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_create(HG_IN_STRING const char* path, uint32_t format,
                                                  HG_OUT_OWNED(hurray_file_writer_destroy) HurrayFileWriter** out_writer,
                                                  HG_ERROR HurrayError* error) noexcept {
    if (out_writer != nullptr) *out_writer = nullptr;
    HURRAY_REQUIRE(path, error);
    HURRAY_REQUIRE(out_writer, error);
    return guarded(error, [&]() -> Result<void> {
        HurrayFileWriterOptions options{};
        options.struct_size = sizeof options;
        options.format = format;
        auto writer = create_writer(path, options);
        if (!writer) return std::unexpected(writer.error());
        *out_writer = *writer;
        return {};
    });
}

/// Starts a model file, as hurray_file_writer_create does, with options.
/// @param path file name, as for hurray_file_open
/// @owner caller
/// @errors those of hurray_file_writer_create; INVALID_ARGUMENT: options that are not the format's
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_create_with(HG_IN_STRING const char* path,
                                                       HG_IN const HurrayFileWriterOptions* options,
                                                       HG_OUT_OWNED(hurray_file_writer_destroy) HurrayFileWriter** out_writer,
                                                       HG_ERROR HurrayError* error) noexcept {
    if (out_writer != nullptr) *out_writer = nullptr;
    HURRAY_REQUIRE(path, error);
    HURRAY_REQUIRE(options, error);
    HURRAY_REQUIRE(out_writer, error);
    return guarded(error, [&]() -> Result<void> {
        const auto chosen = read_writer_options(options);
        if (!chosen) return std::unexpected(chosen.error());
        auto writer = create_writer(path, *chosen);
        if (!writer) return std::unexpected(writer.error());
        *out_writer = *writer;
        return {};
    });
}

/// Starts a model file that goes to a file descriptor, a pipe or socket, too: from where it stands, front to back, without
/// seeking. What was written stays written, also when the writer does not finish.
/// @param fd stays the caller's, and must stay open until the writer has ended
/// @owner caller
/// @errors INVALID_ARGUMENT: fd is negative, options that are not the format's
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_to_fd(int32_t fd, HG_IN const HurrayFileWriterOptions* options,
                                                 HG_OUT_OWNED(hurray_file_writer_destroy) HurrayFileWriter** out_writer,
                                                 HG_ERROR HurrayError* error) noexcept {
    if (out_writer != nullptr) *out_writer = nullptr;
    HURRAY_REQUIRE(options, error);
    HURRAY_REQUIRE(out_writer, error);
    return guarded(error, [&]() -> Result<void> {
        if (fd < 0) return fail(Status::invalid_argument, Error::no_offset, "fd: expected a file descriptor, got %d", fd);
        auto writer = writer_to_sink(std::make_unique<FdSink>(fd), options);
        if (!writer) return std::unexpected(writer.error());
        *out_writer = *writer;
        return {};
    });
}

/// Starts a model file that a callback takes, front to back, on the threads that write.
/// A callback that throws or fails ends the writer: INTERNAL_PANIC, or the code that it returned (IO, where that is none of the
/// library's).
/// @param context handed to `write`
/// @owner the writer is the caller's; `write` and what `context` stands for must live until the writer is destroyed
/// @errors INVALID_ARGUMENT: options that are not the format's
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_to_callback(HG_CALLBACK HurrayWriteFn write, HG_OPAQUE void* context,
                                                       HG_IN const HurrayFileWriterOptions* options,
                                                       HG_OUT_OWNED(hurray_file_writer_destroy) HurrayFileWriter** out_writer,
                                                       HG_ERROR HurrayError* error) noexcept {
    if (out_writer != nullptr) *out_writer = nullptr;
    HURRAY_REQUIRE(write, error);
    HURRAY_REQUIRE(options, error);
    HURRAY_REQUIRE(out_writer, error);
    return guarded(error, [&]() -> Result<void> {
        auto writer = writer_to_sink(std::make_unique<CallbackSink>(write, context), options);
        if (!writer) return std::unexpected(writer.error());
        *out_writer = *writer;
        return {};
    });
}

/// Writes what is left; a file with a path comes to disk and under its name in one step. Afterwards the writer can only be destroyed.
/// @errors IO: the old file, if any, is as it was; NOT_FOUND: the folder is gone; LIMIT_EXCEEDED: the header would be longer
///     than readers accept; INVALID_ARGUMENT: finished already, another tensor than the announced one, or a callback uses the
///     writer that called it; those of callbacks; INTERNAL_PANIC: a callback threw
/// @thread one thread at a time; releases of tensors of which the writer held the last share run on it
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_finish(HG_INOUT HurrayFileWriter* writer, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_IDLE(writer, error);
    const HurrayStatus finished = guarded(error, [&]() -> Result<void> {
        const BusyMark mark(writer->busy);
        return writer->value->finish();
    });
    return finished == HURRAY_OK ? report_end(drop_kept(*writer), error) : finished;
}

/// Ends a writer. Without a successful finish nothing remains of what it wrote.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed; INVALID_ARGUMENT: a callback uses the writer that called it
/// @thread the thread that runs the releases of tensors of which the writer held the last share
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_destroy(HG_DESTROYED_VAR HurrayFileWriter** writer) noexcept {
    if (writer == nullptr || *writer == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*writer, nullptr);
    if ((*writer)->busy) return HURRAY_ERR_INVALID_ARGUMENT;
    return report_end(destroy_file_writer(std::exchange(*writer, nullptr), false), nullptr);
}

/// Ends a writer on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE; INVALID_ARGUMENT: a callback uses the writer that called it
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_destroy_deferred(HG_DESTROYED_VAR HurrayFileWriter** writer,
                                                            HG_ERROR HurrayError* error) noexcept {
    if (writer == nullptr || *writer == nullptr) return succeed(error);
    HURRAY_REQUIRE_HANDLE(*writer, error);
    HURRAY_REQUIRE_IDLE(*writer, error);
    return report_end(destroy_file_writer(std::exchange(*writer, nullptr), true), error);
}
