// What is put into a model file that is written.
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/file.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/composite_objects.hpp"
#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"
#include "abi/src/internal/tensor_source.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Adds a tensor. HURRAY_FORMAT_HRRY and HURRAY_FORMAT_NPZ, which are written front to back, write it at once; the others share its
/// memory until the file is finished or the writer destroyed. No copy of it is made.
/// @param name UTF-8, need not be terminated, may hold NUL characters
/// @param name_length length of the name in bytes
/// @owner `tensor` stays the caller's and may be destroyed at once
/// @errors INVALID_ARGUMENT: a name that is taken, not fit for the format or no UTF-8, a writer that has finished, or a callback
///     uses the writer that called it; UNSUPPORTED: the format cannot hold such a tensor; IO, upon which the writer can only be
///     destroyed; those of the callback
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_add(HG_INOUT HurrayFileWriter* writer, HG_IN_ARRAY(name_length) const char* name,
                                               uint64_t name_length, HG_IN const HurrayTensor* tensor,
                                               HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    if (name == nullptr && name_length != 0) return report_null("name", error);
    HURRAY_REQUIRE_IDLE(writer, error);
    return guarded(error, [&]() -> Result<void> {
        auto local = LocalTensor::of(tensor);
        if (!local) return std::unexpected(local.error());
        return writer->add({name, static_cast<std::size_t>(name_length)}, **local);
    });
}

/// Announces a tensor that a callback makes when it is written: at once, or when the file is finished, as hurray_file_writer_add
/// says. A conversion so needs memory for one tensor at a time. The library destroys the tensor when it is written.
/// The tensor must have the type, layout, shape and sections of `descriptor`, and buffers of its sizes (the bytes of other
/// owners in front of memory that is not aligned do not count). A callback that throws or fails ends the writer: INTERNAL_PANIC,
/// or the code that it returned (IO, where that is none of the library's).
/// @param name UTF-8, need not be terminated, may hold NUL characters
/// @param name_length length of the name in bytes
/// @param descriptor copied
/// @param context handed to `make`
/// @owner the tensor that `make` gives is the library's; `make` and what `context` stands for must live until the call that
///     writes the tensor has returned, or the writer is destroyed
/// @errors those of hurray_file_writer_add; of the callback; NULL_POINTER, INVALID_HANDLE: it gave no tensor, or no live one;
///     INVALID_ARGUMENT: it gave another tensor than the announced one
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_add_source(HG_INOUT HurrayFileWriter* writer,
                                                      HG_IN_ARRAY(name_length) const char* name, uint64_t name_length,
                                                      HG_IN const HurrayDescriptor* descriptor,
                                                      HG_CALLBACK HurrayTensorSourceFn make, HG_OPAQUE void* context,
                                                      HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(make, error);
    if (name == nullptr && name_length != 0) return report_null("name", error);
    HURRAY_REQUIRE_IDLE(writer, error);
    return guarded(error, [&]() -> Result<void> {
        const BusyMark mark(writer->busy);
        return writer->value->add({name, static_cast<std::size_t>(name_length)}, descriptor->value,
                                  tensor_source(make, context, writer->clean));
    });
}

/// Adds a composite: its head under `name`, its members, in pre-order, as `name/0`, `name/1`, ..., those of an inner composite as
/// `name/1/0`, ...
/// @param name UTF-8, need not be terminated, may hold NUL characters
/// @param name_length length of the name in bytes
/// @owner `composite` stays the caller's and may be destroyed at once
/// @errors those of hurray_file_writer_add; UNSUPPORTED: the format has no composites (all but HURRAY_FORMAT_HRRY)
/// @thread one thread at a time
/// @since 4
/// @spec format: composite
HURRAY_API HurrayStatus hurray_file_writer_add_composite(HG_INOUT HurrayFileWriter* writer,
                                                         HG_IN_ARRAY(name_length) const char* name, uint64_t name_length,
                                                         HG_IN const HurrayComposite* composite,
                                                         HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_HANDLE(composite, error);
    if (name == nullptr && name_length != 0) return report_null("name", error);
    HURRAY_REQUIRE_IDLE(writer, error);
    return guarded(error, [&]() -> Result<void> {
        return writer->add_composite({name, static_cast<std::size_t>(name_length)}, *composite->value);
    });
}

/// Sets a metadata entry to a text; both texts are copied, and the last value of a key counts.
/// @errors INVALID_ARGUMENT: a text that is no UTF-8, an empty key where the format has none; UNSUPPORTED: the format has no
///     metadata
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_set_metadata(HG_INOUT HurrayFileWriter* writer,
                                                        HG_IN_ARRAY(key_length) const char* key, uint64_t key_length,
                                                        HG_IN_ARRAY(value_length) const char* value, uint64_t value_length,
                                                        HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE_IDLE(writer, error);
    if (key == nullptr && key_length != 0) return report_null("key", error);
    if (value == nullptr && value_length != 0) return report_null("value", error);
    return guarded(error, [&]() -> Result<void> {
        MetadataValue entry;
        entry.text.assign(value, static_cast<std::size_t>(value_length));
        const BusyMark mark(writer->busy);
        return writer->value->set_metadata({key, static_cast<std::size_t>(key_length)}, entry);
    });
}

/// Sets a metadata entry to a value of any type but HURRAY_METADATA_ARRAY; it is copied, and the last value of a key counts.
/// @param value its key and count are not looked at
/// @errors those of hurray_file_writer_set_metadata; INVALID_ARGUMENT: a type that is none, an array, a boolean that is neither 0
///     nor 1; NULL_POINTER: value->value with a length; UNSUPPORTED: the format cannot hold such a value
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_set_value(HG_INOUT HurrayFileWriter* writer, HG_IN_ARRAY(key_length) const char* key,
                                                     uint64_t key_length, HG_IN const HurrayFileMetadata* value,
                                                     HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE(value, error);
    if (key == nullptr && key_length != 0) return report_null("key", error);
    HURRAY_REQUIRE_IDLE(writer, error);
    return guarded(error, [&]() -> Result<void> {
        auto entry = metadata_value(*value, "value");
        if (!entry) return std::unexpected(entry.error());
        const BusyMark mark(writer->busy);
        return writer->value->set_metadata({key, static_cast<std::size_t>(key_length)}, *entry);
    });
}

/// Sets a metadata entry to an array; it is copied, and the last value of a key counts.
/// @param element_type HURRAY_METADATA_ value, not HURRAY_METADATA_ARRAY
/// @param elements each of that type and with the struct_size of the first, which is the distance from one to the next in memory,
///     in bytes; keys and counts are not looked at
/// @errors those of hurray_file_writer_set_value
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_set_array(HG_INOUT HurrayFileWriter* writer, HG_IN_ARRAY(key_length) const char* key,
                                                     uint64_t key_length, uint8_t element_type,
                                                     HG_IN_ARRAY(count) const HurrayFileMetadata* elements, uint64_t count,
                                                     HG_ERROR HurrayError* error) noexcept {
    HURRAY_REQUIRE_HANDLE(writer, error);
    if (key == nullptr && key_length != 0) return report_null("key", error);
    if (elements == nullptr && count != 0) return report_null("elements", error);
    HURRAY_REQUIRE_IDLE(writer, error);
    return guarded(error, [&]() -> Result<void> {
        auto entry = metadata_array(element_type, elements, count);
        if (!entry) return std::unexpected(entry.error());
        const BusyMark mark(writer->busy);
        return writer->value->set_metadata({key, static_cast<std::size_t>(key_length)}, *entry);
    });
}

/// How many bytes were gathered, unpacked or converted on their way into the file so far; all others were written from where
/// they lie.
/// @errors none but those of the handle
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_writer_copied_bytes(HG_IN const HurrayFileWriter* writer, HG_OUT uint64_t* out_bytes,
                                                        HG_ERROR HurrayError* error) noexcept {
    if (out_bytes != nullptr) *out_bytes = 0;
    HURRAY_REQUIRE_HANDLE(writer, error);
    HURRAY_REQUIRE(out_bytes, error);
    *out_bytes = writer->value->copied_bytes();
    return succeed(error);
}
