#include "json_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "output.hpp"

namespace cli {
namespace {

template <typename Float>
std::string shortest(Float value) {
    std::string text = fmt::format("{}", value);
    // A float stays one for whoever reads it.
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

// Length of the well-formed UTF-8 sequence at the start; 0 where there is none.
std::size_t well_formed(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    const std::uint8_t second = byte(1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) || (lead == 0xF0 && second < 0x90) ||
        (lead == 0xF4 && second >= 0x90)) {
        return 0;
    }
    return length;
}

}  // namespace

std::string json_quoted(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        const std::size_t length = well_formed(text);
        const char c = text.front();
        if (length == 0) quoted += "\\ufffd";
        else if (c == '"' || c == '\\') quoted += {'\\', c};
        else if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7F) quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
        else quoted += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    quoted += '"';
    return quoted;
}

void JsonWriter::new_line(std::size_t depth) { standard_output().write(fmt::format("\n{:{}}", "", 2 * depth)); }

void JsonWriter::before_value() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (levels_.empty()) return;
    Level& level = levels_.back();
    if (!level.empty) standard_output().write(level.on_one_line ? ", " : ",");
    if (!level.on_one_line) new_line(levels_.size());
    level.empty = false;
}

JsonWriter& JsonWriter::open(char bracket) {
    before_value();
    standard_output().write({&bracket, 1});
    levels_.push_back({bracket});
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    const Level level = levels_.back();
    levels_.pop_back();
    if (!level.empty && !level.on_one_line) new_line(levels_.size());
    standard_output().write({&bracket, 1});
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    before_value();
    standard_output().write(json_quoted(name) + ": ");
    after_key_ = true;
    return *this;
}

JsonWriter& JsonWriter::token(std::string_view text) {
    before_value();
    standard_output().write(text);
    return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) { return token(json_quoted(value)); }
JsonWriter& JsonWriter::integer(std::uint64_t value) { return token(fmt::format("{}", value)); }
JsonWriter& JsonWriter::integer(std::int64_t value) { return token(fmt::format("{}", value)); }
JsonWriter& JsonWriter::number(double value) { return std::isfinite(value) ? token(shortest(value)) : null(); }
JsonWriter& JsonWriter::number(float value) {
    // As a double: JSON numbers are read as such, and a float in its shortest form is another double.
    return std::isfinite(value) ? token(shortest(static_cast<double>(value))) : null();
}

JsonWriter& JsonWriter::float_field(std::string_view name, double value) {
    key(name).number(value);
    return field(std::string(name) + "_bits", fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value)));
}

JsonWriter& JsonWriter::float_field(std::string_view name, float value) {
    key(name).number(value);
    return field(std::string(name) + "_bits", fmt::format("{:08x}", std::bit_cast<std::uint32_t>(value)));
}

void JsonWriter::finish() { standard_output().write("\n"); }

}  // namespace cli
