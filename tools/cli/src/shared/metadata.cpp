#include "metadata.hpp"

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string_view>

#include "exit.hpp"
#include "output.hpp"
#include "table.hpp"
#include "text.hpp"

namespace cli {
namespace {

std::string_view key_of(const HurrayFileMetadata& entry) { return {entry.key, static_cast<std::size_t>(entry.key_length)}; }
std::string_view text_of(const HurrayFileMetadata& entry) {
    return {entry.value, static_cast<std::size_t>(entry.value_length)};
}

std::uint64_t count_of(const Input& input) { return input.is_file() ? input.file_info().metadata_count : 0; }

}  // namespace

namespace {

const char* type_text(std::uint8_t type) {
    constexpr const char* names[] = {"", "string", "int64", "uint64", "float64", "bool", "bytes", "array"};
    return type < std::size(names) ? names[type] : "unknown";
}

std::span<const std::uint8_t> bytes_of(const HurrayFileMetadata& entry) { return as_bytes(text_of(entry)); }

void write_value(JsonWriter& json, const Input& input, std::uint64_t index, const HurrayFileMetadata& entry) {
    switch (entry.type) {
        case HURRAY_METADATA_INT64: json.integer(entry.int64_value); break;
        case HURRAY_METADATA_UINT64: json.integer(entry.uint64_value); break;
        case HURRAY_METADATA_FLOAT64: json.number(entry.float64_value); break;
        case HURRAY_METADATA_BOOL: json.boolean(entry.boolean != 0); break;
        case HURRAY_METADATA_BYTES: json.text(hex(bytes_of(entry))); break;
        case HURRAY_METADATA_ARRAY:
            json.begin_array(true);
            for (std::uint64_t i = 0; i < entry.count; ++i) {
                write_value(json, input, index, take(input.file().metadata_element(index, i), input.path()));
            }
            json.end_array();
            break;
        default: json.text(text_of(entry));
    }
}

std::string value_text(const Input& input, std::uint64_t index, const HurrayFileMetadata& entry) {
    switch (entry.type) {
        case HURRAY_METADATA_INT64: return fmt::format("{}", entry.int64_value);
        case HURRAY_METADATA_UINT64: return fmt::format("{}", entry.uint64_value);
        case HURRAY_METADATA_FLOAT64: return fmt::format("{}", entry.float64_value);
        case HURRAY_METADATA_BOOL: return entry.boolean != 0 ? "true" : "false";
        case HURRAY_METADATA_BYTES: return fmt::format("{} bytes {}", entry.value_length, hex(bytes_of(entry)));
        case HURRAY_METADATA_ARRAY: {
            std::string text = "[";
            for (std::uint64_t i = 0; i < entry.count; ++i) {
                if (i != 0) text += ", ";
                text += value_text(input, index, take(input.file().metadata_element(index, i), input.path()));
            }
            return text + "]";
        }
        default: return fmt::format("\"{}\"", printable(text_of(entry)));
    }
}

}  // namespace

void write_metadata(JsonWriter& json, const Input& input) {
    json.begin_array();
    for (std::uint64_t i = 0; i < count_of(input); ++i) {
        const auto entry = take(input.file().metadata(i), input.path());
        json.begin_object().field("key", key_of(entry)).field("type", type_text(entry.type)).key("value");
        write_value(json, input, i, entry);
        json.end_object();
    }
    json.end_array();
}

std::string metadata_count_text(const Input& input) {
    const std::uint64_t count = count_of(input);
    if (count == 0) return "";
    return fmt::format(", {} metadata {}", count, count == 1 ? "entry" : "entries");
}

std::vector<std::pair<std::string, std::string>> metadata_texts(const Input& input) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (std::uint64_t i = 0; i < count_of(input); ++i) {
        const auto entry = take(input.file().metadata(i), input.path());
        texts.emplace_back(key_of(entry), value_text(input, i, entry));
    }
    return texts;
}

void print_metadata(const Input& input) {
    if (count_of(input) == 0) return;
    print("\n");
    Table table({{"KEY", false, Colour::cyan, true}, {"VALUE", false, Colour::none, true}});
    for (const auto& [key, value] : metadata_texts(input)) table.add({printable(key), shortened(value, 200)});
    table.print();
}

}  // namespace cli
