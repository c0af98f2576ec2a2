// Writing model files: complete under their name, or not there at all.
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/api/io.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Starts a model file. Until hurray_file_writer_finish succeeds a file of that name stays as it was, also when it is
/// the one that the tensors are mapped from.
/// @param path file name, as for hurray_file_open
/// @param format HURRAY_FORMAT_SAFETENSORS
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
        if (format != HURRAY_FORMAT_SAFETENSORS) {
            return fail(Status::invalid_argument, Error::no_offset, "format: expected HURRAY_FORMAT_SAFETENSORS, got %u",
                        format);
        }
        auto writer = create_model_file(path, FileFormat::safetensors);
        if (!writer) return std::unexpected(writer.error());
        *out_writer = new HurrayFileWriter(*std::move(writer));
        return {};
    });
}

/// Adds a tensor. Its memory is shared, not copied, until the file is finished or the writer destroyed.
/// @param name UTF-8, need not be terminated, may hold NUL characters
/// @param name_length length of the name in bytes
/// @owner `tensor` stays the caller's and may be destroyed at once
/// @errors INVALID_ARGUMENT: a name that is taken or no UTF-8; UNSUPPORTED: the format cannot hold such a tensor
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_add(HG_INOUT HurrayFileWriter* writer, HG_IN_ARRAY(name_length) const char* name,
                                               uint64_t name_length, HG_IN const HurrayTensor* tensor,
                                               HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    if (name == nullptr && name_length != 0) return report_null("name", error);
    return guarded(error, [&]() -> Result<void> {
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        return writer->add({name, static_cast<std::size_t>(name_length)}, **local);
    });
}

/// Sets a metadata entry; both texts are copied, and the last value of a key counts.
/// @errors INVALID_ARGUMENT: a text that is no UTF-8
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_set_metadata(HG_INOUT HurrayFileWriter* writer,
                                                        HG_IN_ARRAY(key_length) const char* key, uint64_t key_length,
                                                        HG_IN_ARRAY(value_length) const char* value, uint64_t value_length,
                                                        HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    if (key == nullptr && key_length != 0) return report_null("key", error);
    if (value == nullptr && value_length != 0) return report_null("value", error);
    return guarded(error, [&]() -> Result<void> {
        MetadataValue entry;
        entry.text.assign(value, static_cast<std::size_t>(value_length));
        return writer->value->set_metadata({key, static_cast<std::size_t>(key_length)}, entry);
    });
}

/// Writes the file to disk and puts it under its name in one step. Afterwards the writer can only be destroyed.
/// @errors IO: the old file, if any, is as it was; NOT_FOUND: the folder is gone; LIMIT_EXCEEDED: the header would be longer
///     than readers accept; INVALID_ARGUMENT: finished already
/// @thread one thread at a time; releases of tensors of which the writer held the last share run on it
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_finish(HG_INOUT HurrayFileWriter* writer, HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    const HurrayStatus finished = guarded(error, [&]() -> Result<void> { return writer->value->finish(); });
    return finished == HURRAY_OK ? report_end(drop_all(std::exchange(writer->kept, {}), false), error) : finished;
}

/// Ends a writer. Without a successful finish nothing remains of what it wrote.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread the thread that runs the releases of tensors of which the writer held the last share
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_destroy(HG_DESTROYED_VAR HurrayFileWriter** writer) noexcept {
    if (writer == nullptr || *writer == nullptr) return HURRAY_OK;
    HURRAY_REQUIRE_HANDLE(*writer, nullptr);
    return report_end(destroy_file_writer(std::exchange(*writer, nullptr), false), nullptr);
}

/// Ends a writer on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_destroy_deferred(HG_DESTROYED_VAR HurrayFileWriter** writer,
                                                            HG_ERROR HurrayError* error) noexcept {
    if (writer == nullptr || *writer == nullptr) return succeed(error);
    HURRAY_REQUIRE_HANDLE(*writer, error);
    return report_end(destroy_file_writer(std::exchange(*writer, nullptr), true), error);
}
