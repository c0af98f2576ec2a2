#include "core/hurray/io/npz/zip_directory.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/npz/zip_end.hpp"
#include "core/hurray/io/npz/zip_extra.hpp"
#include "core/hurray/io/npz/zip_format.hpp"
#include "core/hurray/io/npz/zip_name.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/io/text_order.hpp"

namespace hurray::zip {
namespace {

using ull = unsigned long long;

constexpr std::uint16_t refused_flags = flag::encrypted | flag::strong_encryption | flag::patched | flag::masked;

std::uint16_t word(std::span<const std::byte> record, std::size_t at) noexcept {
    return load_le<std::uint16_t>(record.data() + at);
}
std::uint32_t number(std::span<const std::byte> record, std::size_t at) noexcept {
    return load_le<std::uint32_t>(record.data() + at);
}

std::string_view text(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> check_name(std::string_view name, std::uint16_t flags, const Extra& extra, std::uint64_t offset) {
    if (const char* fault = name_fault(name)) {
        return fail(Status::invalid_format, offset, "member %s: %s", Quoted(name).c_str(), fault);
    }
    if ((flags & flag::utf8) == 0 && !is_ascii(name)) {
        return fail(Status::unsupported, offset, "member %s: a name that is neither ASCII nor marked as UTF-8",
                    Quoted(name).c_str());
    }
    if (extra.unicode_path && *extra.unicode_path != name) {
        return fail(Status::invalid_format, offset, "member %s: a second name, %s", Quoted(name).c_str(),
                    Quoted(*extra.unicode_path).c_str());
    }
    return {};
}

Result<void> check_kind(std::string_view name, const Member& member, std::uint16_t version, std::uint64_t offset) {
    if ((member.flags & refused_flags) != 0) {
        return fail(Status::unsupported, offset + 8, "member %s: flags %04x: encrypted or patched", Quoted(name).c_str(),
                    member.flags);
    }
    if (member.method != method::stored && member.method != method::deflate) {
        return fail(Status::unsupported, offset + 10, "member %s: method %u, expected 0 (stored) or 8 (deflate)",
                    Quoted(name).c_str(), member.method);
    }
    // The upper byte is the system that the attributes are for.
    if ((version & 0xFF) > version_zip64) {
        return fail(Status::unsupported, offset + 6, "member %s: needs version %u.%u, expected at most 4.5",
                    Quoted(name).c_str(), (version & 0xFF) / 10, (version & 0xFF) % 10);
    }
    return {};
}

Result<void> check_sizes(std::string_view name, const Member& member, std::uint64_t offset) {
    if (member.method == method::stored && member.compressed_size != member.size) {
        return fail(Status::invalid_format, offset + 20, "member %s: stored, but %llu bytes as %llu", Quoted(name).c_str(),
                    static_cast<ull>(member.size), static_cast<ull>(member.compressed_size));
    }
    // Refused before a byte of it is unpacked: no stream of deflate gets there.
    if (member.method == method::deflate && member.size / largest_ratio > member.compressed_size) {
        return fail(Status::invalid_format, offset + 24, "member %s: %llu bytes, more than deflate makes of %llu",
                    Quoted(name).c_str(), static_cast<ull>(member.size), static_cast<ull>(member.compressed_size));
    }
    return {};
}

std::unexpected<Error> differs(std::string_view name, const char* field, std::uint64_t offset) {
    return fail(Status::invalid_format, offset, "member %s: %s of the local header is not what the directory says",
                Quoted(name).c_str(), field);
}

/// Whether the numbers behind the data are those of the directory: with or without a signature, in 32 or in 64 bits.
bool descriptor_agrees(std::span<const std::byte> bytes, const Member& member) noexcept {
    const auto agrees = [&](std::size_t at, bool wide) {
        const std::size_t size = wide ? 8 : 4;
        if (bytes.size() < at + 4 + 2 * size || number(bytes, at) != member.crc) return false;
        const auto load = [&](std::size_t from) -> std::uint64_t {
            return wide ? load_le<std::uint64_t>(bytes.data() + from) : number(bytes, from);
        };
        return load(at + 4) == member.compressed_size && load(at + 4 + size) == member.size;
    };
    const bool has_signature = bytes.size() >= 4 && number(bytes, 0) == descriptor_signature;
    return (has_signature && (agrees(4, false) || agrees(4, true))) || agrees(0, false) || agrees(0, true);
}

}  // namespace

Result<std::size_t> Directory::parse_entry(std::span<const std::byte> rest, std::uint64_t offset,
                                            std::uint64_t directory_offset) {
    if (rest.size() < central_size || number(rest, 0) != central_signature) {
        return fail(Status::invalid_format, offset, "central directory: expected an entry (50 4B 01 02)");
    }
    const std::size_t name_length = word(rest, 28);
    const std::size_t extra_length = word(rest, 30);
    const std::size_t total = central_size + name_length + extra_length + word(rest, 32);
    if (total > rest.size()) {
        return fail(Status::invalid_format, offset + 28, "central directory: an entry of %zu bytes, but only %zu are left",
                    total, rest.size());
    }
    const std::string_view name = text(rest.subspan(central_size, name_length));
    const auto extra = parse_extra(rest.subspan(central_size + name_length, extra_length), offset + central_size + name_length);
    if (!extra) return std::unexpected(extra.error());

    Member member;
    member.flags = word(rest, 8);
    member.method = word(rest, 10);
    if (auto checked = check_kind(name, member, word(rest, 6), offset); !checked) return std::unexpected(checked.error());
    if (auto checked = check_name(name, member.flags, *extra, offset + central_size); !checked) {
        return std::unexpected(checked.error());
    }
    member.crc = number(rest, 16);
    Zip64Values values(*extra, offset + central_size + name_length);
    auto size = values.value(number(rest, 24));
    if (!size) return std::unexpected(size.error());
    auto compressed_size = values.value(number(rest, 20));
    if (!compressed_size) return std::unexpected(compressed_size.error());
    auto local_offset = values.value(number(rest, 42));
    if (!local_offset) return std::unexpected(local_offset.error());
    if (word(rest, 34) != 0) return fail(Status::unsupported, offset + 34, "member %s: in another part", Quoted(name).c_str());
    member.size = *size;
    member.compressed_size = *compressed_size;
    member.local_offset = *local_offset;
    if (auto checked = check_sizes(name, member, offset); !checked) return std::unexpected(checked.error());
    if (member.local_offset > directory_offset || directory_offset - member.local_offset < local_size) {
        return fail(Status::invalid_format, offset + 42,
                    "member %s: a local header at byte %llu, expected one in front of byte %llu", Quoted(name).c_str(),
                    static_cast<ull>(member.local_offset), static_cast<ull>(directory_offset));
    }
    member.name_at = static_cast<std::uint32_t>(names_.size());
    member.name_length = static_cast<std::uint16_t>(name_length);
    names_ += name;
    members_.push_back(member);
    return total;
}

Result<void> Directory::parse(std::span<const std::byte> directory, std::uint64_t offset, std::uint64_t entries) {
    members_.reserve(static_cast<std::size_t>(entries));  // at least 46 bytes of the directory each
    std::size_t at = 0;
    for (std::uint64_t k = 0; k < entries; ++k) {
        const auto length = parse_entry(directory.subspan(at), offset + at, offset);
        if (!length) return std::unexpected(length.error());
        at += *length;
    }
    if (at != directory.size()) {
        return fail(Status::invalid_format, offset + at, "central directory: %zu bytes behind its %llu entries",
                    directory.size() - at, static_cast<ull>(entries));
    }
    return {};
}

Result<void> Directory::check_names(std::uint64_t offset) const {
    const auto name_of = [this](std::uint32_t i) { return name(members_[i]); };
    if (const auto duplicate = find_duplicate(order_by_text(members_.size(), name_of), name_of)) {
        return fail(Status::invalid_format, offset, "central directory: two members have the name %s",
                    Quoted(name_of(*duplicate)).c_str());
    }
    return {};
}

Result<void> Directory::check_local_header(const FileBytes& bytes, std::uint64_t directory_offset, Member& member) const {
    const std::string_view own_name = name(member);
    const std::uint64_t offset = member.local_offset;
    std::array<std::byte, local_size> header{};
    if (auto read = bytes.read(offset, header); !read) return read;
    if (number(header, 0) != local_signature) {
        return fail(Status::invalid_format, offset, "member %s: expected a local header (50 4B 03 04)",
                    Quoted(own_name).c_str());
    }
    const std::uint64_t name_length = word(header, 26);
    const std::uint64_t extra_length = word(header, 28);
    const std::uint64_t available = directory_offset - offset - local_size;
    if (name_length + extra_length > available || member.compressed_size > available - name_length - extra_length) {
        return fail(Status::invalid_format, offset, "member %s: %llu bytes of data that reach into the central directory",
                    Quoted(own_name).c_str(), static_cast<ull>(member.compressed_size));
    }
    if (name_length != member.name_length) return differs(own_name, "the name", offset + 26);
    const auto variable = bytes.window(offset + local_size, name_length + extra_length);
    if (!variable) return std::unexpected(variable.error());
    const auto name_bytes = variable->bytes.first(static_cast<std::size_t>(name_length));
    if (text(name_bytes) != own_name) return differs(own_name, "the name", offset + local_size);
    const auto extra = parse_extra(variable->bytes.subspan(name_bytes.size()), offset + local_size + name_length);
    if (!extra) return std::unexpected(extra.error());
    if (extra->unicode_path && *extra->unicode_path != own_name) return differs(own_name, "a second name", offset + local_size);

    if (((word(header, 6) ^ member.flags) & ~flag::effort & 0xFFFF) != 0) return differs(own_name, "the flags", offset + 6);
    if (word(header, 8) != member.method) return differs(own_name, "the method", offset + 8);
    Zip64Values values(*extra, offset + local_size + name_length);
    const auto size = values.value(number(header, 22));
    if (!size) return std::unexpected(size.error());
    const auto compressed_size = values.value(number(header, 18));
    if (!compressed_size) return std::unexpected(compressed_size.error());
    // Where they come behind the data, 0 says so.
    const bool later = (member.flags & flag::descriptor) != 0;
    const auto agrees = [later](std::uint64_t local, std::uint64_t central) { return local == central || (later && local == 0); };
    if (!agrees(number(header, 14), member.crc)) return differs(own_name, "the CRC-32", offset + 14);
    if (!agrees(*compressed_size, member.compressed_size)) return differs(own_name, "the compressed size", offset + 18);
    if (!agrees(*size, member.size)) return differs(own_name, "the size", offset + 22);

    member.data_offset = offset + local_size + name_length + extra_length;
    if (later) {
        constexpr std::uint64_t longest_descriptor = 24;
        const std::uint64_t at = member.data_offset + member.compressed_size;
        const auto behind = bytes.window(at, std::min(longest_descriptor, directory_offset - at));
        if (!behind) return std::unexpected(behind.error());
        if (!descriptor_agrees(behind->bytes, member)) {
            return fail(Status::invalid_format, at, "member %s: expected CRC-32 and sizes behind the data, as in the directory",
                        Quoted(own_name).c_str());
        }
    }
    return {};
}

Result<void> Directory::check_overlaps() const {
    std::vector<std::uint32_t> order(members_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto less = [this](std::uint32_t a, std::uint32_t b) { return members_[a].local_offset < members_[b].local_offset; };
    if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);
    for (std::size_t k = 1; k < order.size(); ++k) {
        const Member& previous = members_[order[k - 1]];
        const Member& member = members_[order[k]];
        if (member.local_offset < previous.data_offset + previous.compressed_size) {
            return fail(Status::invalid_format, member.local_offset, "member %s: overlaps %s, which ends at byte %llu",
                        Quoted(name(member)).c_str(), Quoted(name(previous)).c_str(),
                        static_cast<ull>(previous.data_offset + previous.compressed_size));
        }
    }
    return {};
}

Result<Directory> Directory::read(const FileBytes& bytes, std::uint64_t limit) {
    const auto end = read_end(bytes);
    if (!end) return std::unexpected(end.error());
    // Positions in names are 32 bits wide.
    limit = std::min<std::uint64_t>(limit, std::numeric_limits<std::uint32_t>::max());
    if (end->directory_size > limit) {
        return fail(Status::limit_exceeded, end->directory_offset, "central directory: %llu bytes, the limit is %llu",
                    static_cast<ull>(end->directory_size), static_cast<ull>(limit));
    }
    const auto window = bytes.window(end->directory_offset, end->directory_size);
    if (!window) return std::unexpected(window.error());
    Directory directory;
    auto done = directory.parse(window->bytes, end->directory_offset, end->entries);
    if (done) done = directory.check_names(end->directory_offset);
    for (Member& member : directory.members_) {
        if (!done) break;
        done = directory.check_local_header(bytes, end->directory_offset, member);
    }
    if (done) done = directory.check_overlaps();
    if (!done) return std::unexpected(done.error());
    return directory;
}

}  // namespace hurray::zip
