// Archives in memory, for tests: every field may be wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/npz/zip_format.hpp"
#include "core/hurray/io/npz/zip_source.hpp"

namespace hurray {

template <typename T>
void append_number(std::string& to, T value) {
    std::byte bytes[sizeof(T)];
    store_le(bytes, value);
    to.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

/// What one of an entry's two headers says.
struct ZipHeader {
    std::uint16_t version = zip::version_plain;
    std::uint16_t flags = 0;
    std::uint16_t method = zip::method::stored;
    std::uint32_t crc = 0;
    std::uint32_t compressed_size = 0;
    std::uint32_t size = 0;
    std::string name = {};
    std::string extra = {};
    std::string comment = {};
    std::uint16_t disk = 0;
    /// Of the local header; what it really is when not set.
    std::optional<std::uint32_t> local_offset = {};
    /// Written instead of the lengths of the strings.
    std::optional<std::uint16_t> name_length = {};
    std::optional<std::uint16_t> extra_length = {};
};

struct ZipEntry {
    ZipHeader local;
    std::string data;
    /// Behind the data.
    std::string behind = {};
    ZipHeader central;
};

/// A stored member, consistent in itself.
inline ZipEntry zip_entry(std::string_view name, std::string_view contents) {
    ZipEntry entry;
    entry.local.name = name;
    entry.local.crc = zip::crc32(0, std::as_bytes(std::span(contents)));
    entry.local.size = entry.local.compressed_size = static_cast<std::uint32_t>(contents.size());
    entry.data = contents;
    entry.central = entry.local;
    return entry;
}

/// Both headers changed in the same way.
inline ZipEntry with(ZipEntry entry, const std::function<void(ZipHeader&)>& change) {
    change(entry.local);
    change(entry.central);
    return entry;
}

inline std::string extra_field(std::uint16_t id, std::string_view content) {
    std::string field;
    append_number(field, id);
    append_number(field, static_cast<std::uint16_t>(content.size()));
    return field + std::string(content);
}

/// The fields that records of the end may have wrong.
struct ZipEnd {
    std::uint16_t disk = 0;
    std::optional<std::uint16_t> entries_here = {};
    std::optional<std::uint16_t> entries = {};
    std::optional<std::uint32_t> directory_size = {};
    std::optional<std::uint32_t> directory_offset = {};
    std::string comment = {};
    std::optional<std::uint16_t> comment_length = {};
    /// Between the directory and the record.
    std::string in_front = {};
    /// Behind everything.
    std::string behind = {};
};

struct ZipParts {
    std::string members;
    std::string directory;
    std::uint64_t count = 0;
};

inline ZipParts zip_parts(const std::vector<ZipEntry>& entries) {
    ZipParts parts;
    const auto common = [](std::string& to, const ZipHeader& header) {
        append_number(to, header.version);
        append_number(to, header.flags);
        append_number(to, header.method);
        append_number(to, std::uint32_t{0x00210000});
        append_number(to, header.crc);
        append_number(to, header.compressed_size);
        append_number(to, header.size);
        append_number(to, header.name_length.value_or(static_cast<std::uint16_t>(header.name.size())));
        append_number(to, header.extra_length.value_or(static_cast<std::uint16_t>(header.extra.size())));
    };
    for (const ZipEntry& entry : entries) {
        const auto offset = static_cast<std::uint32_t>(parts.members.size());
        append_number(parts.members, zip::local_signature);
        common(parts.members, entry.local);
        parts.members += entry.local.name + entry.local.extra + entry.data + entry.behind;

        append_number(parts.directory, zip::central_signature);
        append_number(parts.directory, std::uint16_t{20});
        common(parts.directory, entry.central);
        append_number(parts.directory, static_cast<std::uint16_t>(entry.central.comment.size()));
        append_number(parts.directory, entry.central.disk);
        append_number(parts.directory, std::uint16_t{0});
        append_number(parts.directory, std::uint32_t{0});
        append_number(parts.directory, entry.central.local_offset.value_or(offset));
        parts.directory += entry.central.name + entry.central.extra + entry.central.comment;
        ++parts.count;
    }
    return parts;
}

inline std::string zip_image(const ZipParts& parts, const ZipEnd& end = {}) {
    std::string image = parts.members + parts.directory + end.in_front;
    const auto count = static_cast<std::uint16_t>(parts.count);
    append_number(image, zip::end_signature);
    append_number(image, end.disk);
    append_number(image, std::uint16_t{0});
    append_number(image, end.entries_here.value_or(end.entries.value_or(count)));
    append_number(image, end.entries.value_or(count));
    append_number(image, end.directory_size.value_or(static_cast<std::uint32_t>(parts.directory.size())));
    append_number(image, end.directory_offset.value_or(static_cast<std::uint32_t>(parts.members.size())));
    append_number(image, end.comment_length.value_or(static_cast<std::uint16_t>(end.comment.size())));
    return image + end.comment + end.behind;
}

inline std::string zip_image(const std::vector<ZipEntry>& entries, const ZipEnd& end = {}) {
    return zip_image(zip_parts(entries), end);
}

/// The record of ZIP64 and its locator.
struct Zip64End {
    std::uint64_t record_size = 44;
    std::uint32_t disk = 0;
    std::optional<std::uint64_t> entries_here = {};
    std::optional<std::uint64_t> entries = {};
    std::optional<std::uint64_t> directory_size = {};
    std::optional<std::uint64_t> directory_offset = {};
    std::optional<std::uint64_t> record_offset = {};
    std::uint32_t disks = 1;
};

inline std::string zip64_end(const ZipParts& parts, const Zip64End& end = {}) {
    std::string record;
    append_number(record, zip::zip64_end_signature);
    append_number(record, end.record_size);
    append_number(record, std::uint32_t{0x002D002D});
    append_number(record, end.disk);
    append_number(record, std::uint32_t{0});
    append_number(record, end.entries_here.value_or(end.entries.value_or(parts.count)));
    append_number(record, end.entries.value_or(parts.count));
    append_number(record, end.directory_size.value_or(parts.directory.size()));
    append_number(record, end.directory_offset.value_or(parts.members.size()));
    append_number(record, zip::zip64_locator_signature);
    append_number(record, std::uint32_t{0});
    append_number(record, end.record_offset.value_or(parts.members.size() + parts.directory.size()));
    append_number(record, end.disks);
    return record;
}

/// A raw stream of deflate without any compression.
inline std::string stored_blocks(std::string_view contents) {
    std::string stream;
    do {
        const auto length = static_cast<std::uint16_t>(std::min<std::size_t>(contents.size(), 0xFFFF));
        stream += contents.size() == length ? '\1' : '\0';
        append_number(stream, length);
        append_number(stream, static_cast<std::uint16_t>(~length));
        stream += contents.substr(0, length);
        contents.remove_prefix(length);
    } while (!contents.empty());
    return stream;
}

/// A compressed member, consistent in itself.
inline ZipEntry deflated_entry(std::string_view name, std::string_view contents) {
    ZipEntry entry = zip_entry(name, contents);
    entry.data = stored_blocks(contents);
    return with(entry, [&](ZipHeader& header) {
        header.method = zip::method::deflate;
        header.compressed_size = static_cast<std::uint32_t>(entry.data.size());
    });
}

}  // namespace hurray
