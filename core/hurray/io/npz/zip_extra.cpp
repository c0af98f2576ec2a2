#include "core/hurray/io/npz/zip_extra.hpp"

#include <algorithm>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/io/npz/zip_format.hpp"

namespace hurray::zip {
namespace {

constexpr std::size_t field_header = 4;
// Version and CRC-32 in front of the name.
constexpr std::size_t unicode_path_header = 5;

}  // namespace

Result<Extra> parse_extra(std::span<const std::byte> field, std::uint64_t offset) {
    Extra extra;
    std::size_t at = 0;
    while (field.size() - at >= field_header) {
        const auto id = load_le<std::uint16_t>(field.data() + at);
        const std::size_t size = load_le<std::uint16_t>(field.data() + at + 2);
        if (size > field.size() - at - field_header) {
            return fail(Status::invalid_format, offset + at + 2, "extra field %04x: %zu bytes, but only %zu follow", id, size,
                        field.size() - at - field_header);
        }
        const auto content = field.subspan(at + field_header, size);
        if (id == extra::zip64) {
            if (extra.zip64) return fail(Status::invalid_format, offset + at, "extra field 0001 (ZIP64) is there twice");
            extra.zip64 = content;
        } else if (id == extra::unicode_path) {
            if (extra.unicode_path || size < unicode_path_header) {
                return fail(Status::invalid_format, offset + at, "extra field 7075 (a name): too short, or there twice");
            }
            const auto name = content.subspan(unicode_path_header);
            extra.unicode_path = std::string_view(reinterpret_cast<const char*>(name.data()), name.size());
        }
        at += field_header + size;
    }
    if (!std::ranges::all_of(field.subspan(at), [](std::byte byte) { return byte == std::byte{0}; })) {
        return fail(Status::invalid_format, offset + at, "extra field: %zu bytes are none", field.size() - at);
    }
    return extra;
}

Result<std::uint64_t> Zip64Values::value(std::uint32_t field) {
    if (field != in_zip64_32 || rest_.data() == nullptr) return field;
    if (rest_.size() < 8) {
        return fail(Status::invalid_format, offset_, "extra field 0001 (ZIP64): a value is missing");
    }
    const auto value = load_le<std::uint64_t>(rest_.data());
    rest_ = rest_.subspan(8);
    return value;
}

}  // namespace hurray::zip
