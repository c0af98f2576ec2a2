#include "core/hurray/io/gguf/encode_value.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "core/hurray/base/utf8.hpp"
#include "core/hurray/io/gguf/gguf_value.hpp"
#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

// Keys that ggml's programs read as uint16.
bool wants_16_bits(std::string_view key) noexcept {
    return key == "split.no" || key == "split.count";
}

// Whether float32 holds the number exactly, the bits of NaN included.
bool is_float32(double number) noexcept {
    const auto narrow = static_cast<float>(number);
    return std::bit_cast<std::uint64_t>(double{narrow}) == std::bit_cast<std::uint64_t>(number);
}

// The type that all of them fit in.
GgufValueType type_of(std::string_view key, MetadataType type, std::span<const MetadataValue> values) {
    using Type = MetadataType;
    const auto all = [&](auto fits) { return std::all_of(values.begin(), values.end(), fits); };
    switch (type) {
        case Type::uint64:
            if (wants_16_bits(key) && all([](const auto& value) { return value.uint64 <= 0xFFFF; })) {
                return GgufValueType::uint16;
            }
            return all([](const auto& value) { return value.uint64 <= 0xFFFFFFFF; }) ? GgufValueType::uint32
                                                                                     : GgufValueType::uint64;
        case Type::int64:
            return all([](const auto& value) {
                return value.int64 >= std::numeric_limits<std::int32_t>::min() &&
                       value.int64 <= std::numeric_limits<std::int32_t>::max();
            })
                       ? GgufValueType::int32
                       : GgufValueType::int64;
        case Type::float64:
            return all([](const auto& value) { return is_float32(value.float64); }) ? GgufValueType::float32
                                                                                    : GgufValueType::float64;
        case Type::boolean:
            return GgufValueType::boolean;
        case Type::array:
            return GgufValueType::array;
        default:
            return GgufValueType::string;
    }
}

void append_value(std::string& out, GgufValueType type, const MetadataValue& value) {
    switch (type) {
        case GgufValueType::uint16:
            append_le(out, static_cast<std::uint16_t>(value.uint64));
            break;
        case GgufValueType::uint32:
            append_le(out, static_cast<std::uint32_t>(value.uint64));
            break;
        case GgufValueType::uint64:
            append_le(out, value.uint64);
            break;
        case GgufValueType::int32:
            append_le(out, static_cast<std::uint32_t>(static_cast<std::int32_t>(value.int64)));
            break;
        case GgufValueType::int64:
            append_le(out, static_cast<std::uint64_t>(value.int64));
            break;
        case GgufValueType::float32:
            append_le(out, std::bit_cast<std::uint32_t>(static_cast<float>(value.float64)));
            break;
        case GgufValueType::float64:
            append_le(out, std::bit_cast<std::uint64_t>(value.float64));
            break;
        case GgufValueType::boolean:
            out += value.boolean ? '\1' : '\0';
            break;
        default:
            append_gguf_string(out, value.text);
            break;
    }
}

Result<void> check_type(std::string_view key, MetadataType type) {
    if (type == MetadataType::bytes) {
        return fail(Status::unsupported, Error::no_offset, "metadata key %s: GGUF has no type for bytes",
                    Quoted(key).c_str());
    }
    if (type < MetadataType::string || type > MetadataType::array) {
        return fail(Status::invalid_argument, Error::no_offset, "metadata key %s: %u is no type of values",
                    Quoted(key).c_str(), static_cast<unsigned>(type));
    }
    return {};
}

Result<void> check_text(std::string_view key, const MetadataValue& value) {
    if (value.type != MetadataType::string) return {};
    if (const auto at = find_invalid_utf8(value.text)) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "metadata key %s: invalid UTF-8 at byte %zu of its value", Quoted(key).c_str(), *at);
    }
    return {};
}

Result<void> check_array(std::string_view key, const MetadataValue& array) {
    if (auto checked = check_type(key, array.element_type); !checked) return checked;
    if (array.element_type == MetadataType::array) {
        return fail(Status::unsupported, Error::no_offset, "metadata key %s: arrays in arrays are not written",
                    Quoted(key).c_str());
    }
    for (std::size_t i = 0; i < array.elements.size(); ++i) {
        if (array.elements[i].type != array.element_type) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "metadata key %s: element %llu has type %u, expected that of the array, %u",
                        Quoted(key).c_str(), static_cast<ull>(i), static_cast<unsigned>(array.elements[i].type),
                        static_cast<unsigned>(array.element_type));
        }
        if (auto checked = check_text(key, array.elements[i]); !checked) return checked;
    }
    return {};
}

}  // namespace

void append_gguf_string(std::string& out, std::string_view text) {
    append_le(out, std::uint64_t{text.size()});
    out += text;
}

Result<std::string> encode_gguf_value(std::string_view key, const MetadataValue& value) {
    auto checked = check_type(key, value.type);
    if (checked) checked = value.type == MetadataType::array ? check_array(key, value) : check_text(key, value);
    if (!checked) return std::unexpected(checked.error());
    std::string out;
    const GgufValueType type = type_of(key, value.type, {&value, 1});
    append_le(out, static_cast<std::uint32_t>(type));
    if (type != GgufValueType::array) {
        append_value(out, type, value);
        return out;
    }
    const GgufValueType element_type = type_of(key, value.element_type, value.elements);
    append_le(out, static_cast<std::uint32_t>(element_type));
    append_le(out, std::uint64_t{value.elements.size()});
    for (const MetadataValue& element : value.elements) append_value(out, element_type, element);
    return out;
}

}  // namespace hurray
