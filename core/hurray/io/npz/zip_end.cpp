#include "core/hurray/io/npz/zip_end.hpp"

#include <algorithm>
#include <array>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/npz/zip_format.hpp"

namespace hurray::zip {
namespace {

using ull = unsigned long long;

constexpr std::uint64_t longest_comment = 0xFFFF;

/// Offset of the end record in the file.
struct Found {
    std::uint64_t offset = 0;
    std::array<std::byte, end_size> record{};
};

Result<Found> find_end(const FileBytes& bytes) {
    const std::uint64_t size = bytes.size();
    if (size < end_size) {
        return fail(Status::invalid_format, size, "end record: the file has %llu bytes, expected at least %zu",
                    static_cast<ull>(size), end_size);
    }
    const std::uint64_t length = std::min(size, end_size + longest_comment);
    const std::uint64_t start = size - length;
    const auto tail = bytes.window(start, length);
    if (!tail) return std::unexpected(tail.error());
    for (std::size_t at = tail->bytes.size() - end_size + 1; at-- > 0;) {
        const std::byte* record = tail->bytes.data() + at;
        if (load_le<std::uint32_t>(record) != end_signature) continue;
        const std::uint64_t comment = load_le<std::uint16_t>(record + 20);
        if (at + end_size + comment != tail->bytes.size()) {
            return fail(Status::invalid_format, start + at + 20,
                        "end record: a comment of %llu bytes, but %llu bytes follow in the file", static_cast<ull>(comment),
                        static_cast<ull>(tail->bytes.size() - at - end_size));
        }
        Found found{start + at, {}};
        std::copy_n(record, end_size, found.record.begin());
        return found;
    }
    return fail(Status::invalid_format, start, "end record: not found: the archive is cut off, or no archive");
}

std::unexpected<Error> in_parts(std::uint64_t offset) {
    return fail(Status::unsupported, offset, "end record: an archive in several parts");
}

/// Takes the values of ZIP64 over those of the end record; those that the latter has itself must be the same.
Result<void> take_zip64(const FileBytes& bytes, std::uint64_t locator_offset, std::span<const std::byte> locator,
                        const Found& found, End& end, std::uint64_t& records_offset) {
    if (load_le<std::uint32_t>(locator.data() + 4) != 0 || load_le<std::uint32_t>(locator.data() + 16) > 1) {
        return in_parts(locator_offset + 4);
    }
    const std::uint64_t offset = load_le<std::uint64_t>(locator.data() + 8);
    if (offset > locator_offset || locator_offset - offset < zip64_end_size) {
        return fail(Status::invalid_format, locator_offset + 8,
                    "ZIP64 locator: a record at byte %llu, expected one that ends at byte %llu", static_cast<ull>(offset),
                    static_cast<ull>(locator_offset));
    }
    std::array<std::byte, zip64_end_size> record{};
    if (auto read = bytes.read(offset, record); !read) return read;
    if (load_le<std::uint32_t>(record.data()) != zip64_end_signature) {
        return fail(Status::invalid_format, offset, "ZIP64 end record: expected the signature 50 4B 06 06");
    }
    // The size does not count the signature and itself.
    const std::uint64_t size = load_le<std::uint64_t>(record.data() + 4);
    if (size != locator_offset - offset - 12) {
        return fail(Status::invalid_format, offset + 4, "ZIP64 end record: %llu bytes, expected %llu",
                    static_cast<ull>(size), static_cast<ull>(locator_offset - offset - 12));
    }
    if (load_le<std::uint32_t>(record.data() + 16) != 0 || load_le<std::uint32_t>(record.data() + 20) != 0) {
        return in_parts(offset + 16);
    }
    const End own = end;
    const std::uint64_t on_this_disk = load_le<std::uint64_t>(record.data() + 24);
    end.entries = load_le<std::uint64_t>(record.data() + 32);
    end.directory_size = load_le<std::uint64_t>(record.data() + 40);
    end.directory_offset = load_le<std::uint64_t>(record.data() + 48);
    if (on_this_disk != end.entries) return in_parts(offset + 24);
    if ((own.entries != in_zip64_16 && own.entries != end.entries) ||
        (own.directory_size != in_zip64_32 && own.directory_size != end.directory_size) ||
        (own.directory_offset != in_zip64_32 && own.directory_offset != end.directory_offset)) {
        return fail(Status::invalid_format, found.offset + 8, "end record: other values than in the ZIP64 end record");
    }
    records_offset = offset;
    return {};
}

}  // namespace

Result<End> read_end(const FileBytes& bytes) {
    const auto found = find_end(bytes);
    if (!found) return std::unexpected(found.error());
    const std::byte* record = found->record.data();
    if (load_le<std::uint16_t>(record + 4) != 0 || load_le<std::uint16_t>(record + 6) != 0) return in_parts(found->offset + 4);
    End end;
    end.entries = load_le<std::uint16_t>(record + 10);
    end.directory_size = load_le<std::uint32_t>(record + 12);
    end.directory_offset = load_le<std::uint32_t>(record + 16);
    if (load_le<std::uint16_t>(record + 8) != end.entries) return in_parts(found->offset + 8);

    std::uint64_t records_offset = found->offset;
    if (found->offset >= zip64_locator_size) {
        const std::uint64_t locator_offset = found->offset - zip64_locator_size;
        std::array<std::byte, zip64_locator_size> locator{};
        if (auto read = bytes.read(locator_offset, locator); !read) return std::unexpected(read.error());
        // Without the signature there is none, and what looks saturated is meant as it is.
        if (load_le<std::uint32_t>(locator.data()) == zip64_locator_signature) {
            auto done = take_zip64(bytes, locator_offset, locator, *found, end, records_offset);
            if (!done) return std::unexpected(done.error());
        }
    }
    if (end.directory_offset > records_offset || end.directory_size != records_offset - end.directory_offset) {
        return fail(Status::invalid_format, found->offset + 12,
                    "end record: a central directory of %llu bytes at byte %llu, expected one that ends at byte %llu",
                    static_cast<ull>(end.directory_size), static_cast<ull>(end.directory_offset),
                    static_cast<ull>(records_offset));
    }
    if (end.entries > end.directory_size / central_size) {
        return fail(Status::invalid_format, found->offset + 10, "end record: %llu entries in %llu bytes",
                    static_cast<ull>(end.entries), static_cast<ull>(end.directory_size));
    }
    return end;
}

}  // namespace hurray::zip
