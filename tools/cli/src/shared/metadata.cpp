#include "metadata.hpp"

#include <fmt/format.h>

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

void write_metadata(JsonWriter& json, const Input& input) {
    json.begin_array();
    for (std::uint64_t i = 0; i < count_of(input); ++i) {
        const auto entry = take(input.file().metadata(i), input.path());
        json.begin_object().field("key", key_of(entry)).field("type", "string").field("value", text_of(entry)).end_object();
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
        texts.emplace_back(key_of(entry), fmt::format("\"{}\"", printable(text_of(entry))));
    }
    return texts;
}

void print_metadata(const Input& input) {
    if (count_of(input) == 0) return;
    print("\n");
    Table table({{"KEY", false, Colour::cyan, true}, {"VALUE", false, Colour::none, true}});
    for (const auto& [key, value] : metadata_texts(input)) table.add({printable(key), shortened(value, 1000)});
    table.print();
}

}  // namespace cli
