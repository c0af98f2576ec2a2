// The metadata of a model file.
#include <cstddef>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/file.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/file_objects.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/io/quoted.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

// The struct as it was when it was introduced.
constexpr std::uint32_t first_metadata_size = offsetof(HurrayFileMetadata, int64_value);

}  // namespace

/// Fills a struct with one metadata entry.
/// @param index below HurrayFileInfo.metadata_count; entries are in the order of the file
/// @owner the pointers in the struct belong to `file` and live until it is destroyed
/// @errors INDEX_OUT_OF_BOUNDS; INVALID_ARGUMENT: struct_size
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_metadata(HG_IN const HurrayFile* file, uint64_t index,
                                             HG_OUT HurrayFileMetadata* out_entry, HG_ERROR HurrayError* error) noexcept {
    if (out_entry != nullptr) clear_sized_struct(out_entry);
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_entry, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index("index", index, file->value->metadata_count()); !checked) return checked;
        auto entry = file_metadata(*file, index);
        if (!entry) return std::unexpected(entry.error());
        return fill_sized_struct(out_entry, *entry, first_metadata_size, "out_entry");
    });
}

/// Finds a metadata entry by its key.
/// @param key UTF-8, need not be terminated, may hold NUL characters
/// @param key_length length of the key in bytes
/// @param out_index for hurray_file_metadata
/// @errors NOT_FOUND
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_find_metadata(HG_IN const HurrayFile* file, HG_IN_ARRAY(key_length) const char* key,
                                                  uint64_t key_length, HG_OUT uint64_t* out_index,
                                                  HG_ERROR HurrayError* error) noexcept {
    if (out_index != nullptr) *out_index = 0;
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_index, error);
    if (key == nullptr && key_length != 0) return report_null("key", error);
    return guarded(error, [&]() -> Result<void> {
        const std::string_view wanted(key, static_cast<std::size_t>(key_length));
        const auto index = file->value->find_metadata(wanted);
        if (!index) {
            return fail(Status::not_found, Error::no_offset, "key: the file has no metadata %s", Quoted(wanted).c_str());
        }
        *out_index = *index;
        return {};
    });
}

/// Fills a struct with one element of an array; its key is null.
/// @param index of the entry, whose type is HURRAY_METADATA_ARRAY
/// @param element below HurrayFileMetadata.count of that entry
/// @owner the pointers in the struct belong to `file` and live until it is destroyed
/// @errors INDEX_OUT_OF_BOUNDS; INVALID_ARGUMENT: not an array, struct_size
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_file_metadata_element(HG_IN const HurrayFile* file, uint64_t index, uint64_t element,
                                                     HG_OUT HurrayFileMetadata* out_element,
                                                     HG_ERROR HurrayError* error) noexcept {
    if (out_element != nullptr) clear_sized_struct(out_element);
    HURRAY_REQUIRE_HANDLE(file, error);
    HURRAY_REQUIRE(out_element, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_index("index", index, file->value->metadata_count()); !checked) return checked;
        const auto value = file->value->metadata_element(index, element);
        if (!value) return std::unexpected(value.error());
        return fill_sized_struct(out_element, metadata_struct(*value), first_metadata_size, "out_element");
    });
}
