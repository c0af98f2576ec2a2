#include "core/hurray/io/gguf/gguf_value.hpp"

#include <array>
#include <bit>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/base/utf8.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::uint32_t type_count = 13;
constexpr std::array<std::uint8_t, type_count> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::array<MetadataType, type_count> types = {
    MetadataType::uint64, MetadataType::int64,   MetadataType::uint64,  MetadataType::int64,  MetadataType::uint64,
    MetadataType::int64,  MetadataType::float64, MetadataType::boolean, MetadataType::string, MetadataType::array,
    MetadataType::uint64, MetadataType::int64,   MetadataType::float64,
};

// Strings of an array between two marks.
constexpr std::uint64_t mark_distance = 64;
// Bytes of a string's length, the least that it takes.
constexpr std::uint64_t length_size = 8;

Result<GgufValueType> parse_type(GgufHeader& header, std::uint64_t& at, const GgufPlace& place, const char* field) {
    if (auto there = header.need(at, 4, place, field); !there) return std::unexpected(there.error());
    const auto number = load_le<std::uint32_t>(header.at(at));
    if (number >= type_count) {
        return gguf_fault(Status::invalid_format, at, place, field, "%u, expected 0 to 12", number);
    }
    at += 4;
    return static_cast<GgufValueType>(number);
}

Result<void> parse_string(GgufHeader& header, std::uint64_t& at, const GgufPlace& place) {
    if (auto there = header.need(at, length_size, place, "string length"); !there) return there;
    const auto length = load_le<std::uint64_t>(header.at(at));
    const std::uint64_t start = at + length_size;
    if (length > header.file_size() - start) {
        return gguf_fault(Status::invalid_format, at, place, "string length",
                          "%llu bytes, but only %llu follow in the file", static_cast<ull>(length),
                          static_cast<ull>(header.file_size() - start));
    }
    if (auto there = header.need(start, length, place, "string"); !there) return there;
    if (const auto invalid = find_invalid_utf8(header.text(start, length))) {
        return gguf_fault(Status::invalid_format, start + *invalid, place, "string", "invalid UTF-8");
    }
    at = start + length;
    return {};
}

Result<void> check_booleans(const GgufHeader& header, std::uint64_t at, std::uint64_t count, const GgufPlace& place) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto byte = std::to_integer<unsigned>(*header.at(at + i));
        if (byte > 1) return gguf_fault(Status::invalid_format, at + i, place, "bool", "%u, expected 0 or 1", byte);
    }
    return {};
}

// A single value or the elements of an array; `at` moves behind them.
Result<void> parse_numbers(GgufHeader& header, std::uint64_t& at, GgufValueType type, std::uint64_t count,
                           const GgufPlace& place, const char* field) {
    // Neither overflows: the caller has compared the count with the size of the file.
    const std::uint64_t size = count * gguf_value_size(type);
    if (auto there = header.need(at, size, place, field); !there) return there;
    if (type == GgufValueType::boolean) {
        if (auto checked = check_booleans(header, at, count, place); !checked) return checked;
    }
    at += size;
    return {};
}

Result<void> parse_array(GgufHeader& header, std::uint64_t& at, const GgufPlace& place, GgufValue& value,
                         std::vector<std::uint32_t>& marks) {
    const std::uint64_t type_at = at;
    const auto type = parse_type(header, at, place, "element type");
    if (!type) return std::unexpected(type.error());
    if (*type == GgufValueType::array) {
        return gguf_fault(Status::unsupported, type_at, place, "element type",
                          "an array, but arrays in arrays are not read");
    }
    value.element_type = *type;
    if (auto there = header.need(at, 8, place, "array length"); !there) return there;
    const auto count = load_le<std::uint64_t>(header.at(at));
    const bool strings = *type == GgufValueType::string;
    const std::uint64_t left = header.file_size() - at - 8;
    if (count > left / (strings ? length_size : gguf_value_size(*type))) {
        return gguf_fault(Status::invalid_format, at, place, "array length",
                          "%llu, but only %llu bytes follow in the file", static_cast<ull>(count),
                          static_cast<ull>(left));
    }
    if (count > header.limit()) {
        return gguf_fault(Status::limit_exceeded, at, place, "array length",
                          "%llu: the header would be longer than its limit, %llu bytes (header_limit)",
                          static_cast<ull>(count), static_cast<ull>(header.limit()));
    }
    at += 8;
    value.at = static_cast<std::uint32_t>(at);
    value.count = static_cast<std::uint32_t>(count);
    if (!strings) return parse_numbers(header, at, *type, count, place, "array");
    value.first_mark = static_cast<std::uint32_t>(marks.size());
    for (std::uint64_t i = 0; i < count; ++i) {
        if (i % mark_distance == 0) marks.push_back(static_cast<std::uint32_t>(at));
        if (auto parsed = parse_string(header, at, place); !parsed) return parsed;
    }
    return {};
}

// An element or single value that was parsed.
MetadataView view_at(const GgufHeader& header, GgufValueType type, std::uint64_t at) noexcept {
    MetadataView view;
    view.type = metadata_type(type);
    const std::byte* from = header.at(at);
    switch (type) {
        case GgufValueType::uint8:
            view.uint64 = load_le<std::uint8_t>(from);
            break;
        case GgufValueType::uint16:
            view.uint64 = load_le<std::uint16_t>(from);
            break;
        case GgufValueType::uint32:
            view.uint64 = load_le<std::uint32_t>(from);
            break;
        case GgufValueType::uint64:
            view.uint64 = load_le<std::uint64_t>(from);
            break;
        case GgufValueType::int8:
            view.int64 = static_cast<std::int8_t>(load_le<std::uint8_t>(from));
            break;
        case GgufValueType::int16:
            view.int64 = static_cast<std::int16_t>(load_le<std::uint16_t>(from));
            break;
        case GgufValueType::int32:
            view.int64 = static_cast<std::int32_t>(load_le<std::uint32_t>(from));
            break;
        case GgufValueType::int64:
            view.int64 = static_cast<std::int64_t>(load_le<std::uint64_t>(from));
            break;
        case GgufValueType::float32:
            view.float64 = double{std::bit_cast<float>(load_le<std::uint32_t>(from))};
            break;
        case GgufValueType::float64:
            view.float64 = std::bit_cast<double>(load_le<std::uint64_t>(from));
            break;
        case GgufValueType::boolean:
            view.boolean = *from != std::byte{0};
            break;
        case GgufValueType::string:
            view.text = header.text(at + length_size, load_le<std::uint64_t>(from));
            break;
        case GgufValueType::array:
            break;
    }
    return view;
}

}  // namespace

std::uint32_t gguf_value_size(GgufValueType type) noexcept {
    return sizes[static_cast<std::size_t>(type)];
}

MetadataType metadata_type(GgufValueType type) noexcept {
    return types[static_cast<std::size_t>(type)];
}

Result<GgufValue> GgufValue::parse(GgufHeader& header, std::uint64_t& at, const GgufPlace& place,
                                   std::vector<std::uint32_t>& marks) {
    const auto type = parse_type(header, at, place, "type");
    if (!type) return std::unexpected(type.error());
    GgufValue value;
    value.type = *type;
    value.at = static_cast<std::uint32_t>(at);
    const auto parsed = *type == GgufValueType::array    ? parse_array(header, at, place, value, marks)
                        : *type == GgufValueType::string ? parse_string(header, at, place)
                                                         : parse_numbers(header, at, *type, 1, place, "value");
    if (!parsed) return std::unexpected(parsed.error());
    return value;
}

MetadataView GgufValue::view(const GgufHeader& header) const noexcept {
    if (type != GgufValueType::array) return view_at(header, type, at);
    MetadataView view;
    view.type = MetadataType::array;
    view.element_type = metadata_type(element_type);
    view.count = count;
    return view;
}

MetadataView GgufValue::element(const GgufHeader& header, std::span<const std::uint32_t> marks,
                                std::uint64_t element) const noexcept {
    if (element_type != GgufValueType::string) {
        return view_at(header, element_type, at + element * gguf_value_size(element_type));
    }
    std::uint64_t place = marks[first_mark + static_cast<std::size_t>(element / mark_distance)];
    for (std::uint64_t i = element % mark_distance; i != 0; --i) {
        place += length_size + load_le<std::uint64_t>(header.at(place));
    }
    return view_at(header, GgufValueType::string, place);
}

}  // namespace hurray
