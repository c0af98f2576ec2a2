#include "core/hurray/io/npy/npy_header.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/npy/npy_text.hpp"

static_assert(std::endian::native == std::endian::little, ".npy data in the machine's order is taken for little-endian");

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::size_t version_at = npy_magic.size();
constexpr std::size_t length_at = version_at + 2;

std::unexpected<Error> too_short(const char* field, std::uint64_t size, std::uint64_t wanted, const NpyOrigin& origin) {
    return fail(Status::invalid_format, origin.at(size), "%s: the .npy file ends after %llu bytes, expected at least %llu",
                field, static_cast<ull>(size), static_cast<ull>(wanted));
}

/// Fills `into` from the source; `read` counts what was read so far.
Result<void> take(ByteSource& source, std::span<std::byte> into, const char* field, std::uint64_t& read,
                  const NpyOrigin& origin) {
    const auto count = read_fully(source, into);
    if (!count) return std::unexpected(count.error());
    if (*count != into.size()) return too_short(field, read + *count, read + into.size(), origin);
    read += *count;
    return {};
}

/// Bytes of the data. Computed over the dimensions that are not 0 first, as NumPy does: neither a product that wraps nor
/// a 0 beside huge dimensions passes.
Result<std::uint64_t> size_of_data(const NpyHeader& header, const NpyOrigin& origin) {
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    std::uint64_t size = header.type.dtype->file_bytes;
    bool empty = false;
    for (const std::uint64_t dimension : header.shape()) {
        if (dimension == 0) {
            empty = true;
            continue;
        }
        const auto next = checked_mul(size, dimension);
        if (!next || *next > largest) {
            return fail(Status::invalid_format, origin.at(length_at), "shape: the data takes more than 2^63-1 bytes");
        }
        size = *next;
    }
    return empty ? 0 : size;
}

}  // namespace

Result<NpyHeader> read_npy_header(ByteSource& source, std::uint64_t size, std::uint64_t limit, const NpyOrigin& origin) {
    std::byte prefix[length_at + 4] = {};
    std::uint64_t read = 0;
    const auto magic_size = static_cast<std::size_t>(std::min<std::uint64_t>(size, npy_magic.size()));
    if (auto done = take(source, std::span(prefix).first(magic_size), "magic", read, origin); !done) {
        return std::unexpected(done.error());
    }
    if (std::memcmp(prefix, npy_magic.data(), magic_size) != 0) {
        return fail(Status::invalid_format, origin.at(0), "magic: expected the bytes 93 4E 55 4D 50 59 (\\x93NUMPY)");
    }
    if (size < length_at) return too_short(size < version_at ? "magic" : "version", size, length_at, origin);
    if (auto done = take(source, std::span(prefix).subspan(version_at, 2), "version", read, origin); !done) {
        return std::unexpected(done.error());
    }

    NpyHeader header;
    header.version = std::to_integer<std::uint8_t>(prefix[version_at]);
    const auto minor = std::to_integer<unsigned>(prefix[version_at + 1]);
    if (header.version < 1 || header.version > 3 || minor != 0) {
        return fail(Status::unsupported, origin.at(version_at), "version: expected 1.0, 2.0 or 3.0, got %u.%u",
                    header.version, minor);
    }
    const std::size_t length_size = header.version == 1 ? 2 : 4;
    const std::size_t text_at = length_at + length_size;
    if (size < text_at) return too_short("header length", size, text_at, origin);
    if (auto done = take(source, std::span(prefix).subspan(length_at, length_size), "header length", read, origin); !done) {
        return std::unexpected(done.error());
    }
    const std::uint32_t length = header.version == 1 ? load_le<std::uint16_t>(prefix + length_at)
                                                     : load_le<std::uint32_t>(prefix + length_at);
    if (length > size - text_at) {
        return fail(Status::invalid_format, origin.at(length_at),
                    "header length: %llu bytes, but only %llu bytes follow", static_cast<ull>(length),
                    static_cast<ull>(size - text_at));
    }
    if (length > limit) {
        return fail(Status::limit_exceeded, origin.at(length_at), "header length: %llu bytes, the limit is %llu",
                    static_cast<ull>(length), static_cast<ull>(limit));
    }

    std::string text(length, '\0');
    if (auto done = take(source, std::as_writable_bytes(std::span(text)), "header", read, origin); !done) {
        return std::unexpected(done.error());
    }
    // Text of versions 1 and 2 is Latin-1, in which any byte is a character.
    if (header.version == 3) {
        if (const auto invalid = find_invalid_utf8(text)) {
            return fail(Status::invalid_format, origin.at(text_at + *invalid), "header: invalid UTF-8");
        }
    }
    if (auto done = parse_npy_text(text, text_at, origin, header); !done) return std::unexpected(done.error());

    header.data_offset = text_at + length;
    const auto data_size = size_of_data(header, origin);
    if (!data_size) return std::unexpected(data_size.error());
    header.data_size = *data_size;
    if (header.data_size > size - header.data_offset) {
        return fail(Status::invalid_format, origin.at(header.data_offset),
                    "data: the shape says %llu bytes, but only %llu bytes follow the header",
                    static_cast<ull>(header.data_size), static_cast<ull>(size - header.data_offset));
    }
    return header;
}

}  // namespace hurray
