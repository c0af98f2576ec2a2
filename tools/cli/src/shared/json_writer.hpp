// JSON, written as it comes: no tree is built, so that a file of a million tensors takes no memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cli {

class JsonWriter {
  public:
    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    /// The elements of an `inline_elements` array stand on one line.
    JsonWriter& begin_array(bool inline_elements = false) {
        open('[');
        levels_.back().on_one_line = inline_elements;
        return *this;
    }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name);

    JsonWriter& null() { return token("null"); }
    JsonWriter& boolean(bool value) { return token(value ? "true" : "false"); }
    JsonWriter& text(std::string_view value);
    JsonWriter& integer(std::uint64_t value);
    JsonWriter& integer(std::int64_t value);
    template <std::integral T>
    JsonWriter& integer(T value) {
        if constexpr (std::is_signed_v<T>) return integer(static_cast<std::int64_t>(value));
        else return integer(static_cast<std::uint64_t>(value));
    }
    /// The shortest number that reads back as the value; null where it is not finite.
    JsonWriter& number(double value);
    JsonWriter& number(float value);

    template <typename T>
    JsonWriter& field(std::string_view name, T value) {
        key(name);
        if constexpr (std::same_as<T, bool>) return boolean(value);
        else if constexpr (std::same_as<T, double>) return number(value);
        else if constexpr (std::integral<T>) return integer(value);
        else return text(value);
    }
    /// A float twice: as a number where it is finite, and as NAME_bits, its IEEE bits.
    JsonWriter& float_field(std::string_view name, double value);
    JsonWriter& float_field(std::string_view name, float value);
    /// Ends the text with a line end.
    void finish();

  private:
    struct Level {
        char kind;
        bool empty = true;
        bool on_one_line = false;
    };

    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    JsonWriter& token(std::string_view text);
    void before_value();
    void new_line(std::size_t depth);

    std::vector<Level> levels_;
    bool after_key_ = false;
};

/// The text as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace cli
