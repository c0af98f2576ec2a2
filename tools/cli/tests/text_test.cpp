// Texts for people: names that come from strangers, sizes, patterns.
#include "../src/shared/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "../src/shared/json_writer.hpp"

namespace {

using namespace std::string_literals;

TEST(Printable, KeepsTextAndEscapesWhatATerminalActsUpon) {
    EXPECT_EQ(cli::printable("layers.0.weight"), "layers.0.weight");
    EXPECT_EQ(cli::printable("größe 張"), "größe 張");
    EXPECT_EQ(cli::printable("a\0b"s), "a\\x00b");
    EXPECT_EQ(cli::printable("\x1b[31m"), "\\x1b[31m");
    EXPECT_EQ(cli::printable("\xC2\x9B"), "\\xc2\\x9b");                    // CSI of C1
    EXPECT_EQ(cli::printable("\xE2\x80\xAE"), "\\xe2\\x80\\xae");            // right-to-left override
    EXPECT_EQ(cli::printable("\xFF\xC0\x80"), "\\xff\\xc0\\x80");            // no UTF-8
    EXPECT_EQ(cli::printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");            // a surrogate
    EXPECT_EQ(cli::printable("a\\b"), "a\\\\b");
    EXPECT_EQ(cli::printable("\xE2\x82"), "\\xe2\\x82");                     // cut
}

TEST(Shortened, NeverCutsACharacter) {
    EXPECT_EQ(cli::shortened("weight", 6), "weight");
    EXPECT_EQ(cli::shortened("weights", 6), "weigh…");
    EXPECT_EQ(cli::shortened("größer", 4), "grö…");
    EXPECT_EQ(cli::shortened("x", 0), "");
}

TEST(SizeText, HasUnits) {
    EXPECT_EQ(cli::size_text(0), "0 B");
    EXPECT_EQ(cli::size_text(1023), "1023 B");
    EXPECT_EQ(cli::size_text(1024), "1.0 KiB");
    EXPECT_EQ(cli::size_text(1024 * 1024 - 1), "1.0 MiB");
    EXPECT_EQ(cli::size_text(UINT64_MAX), "16.0 EiB");
}

TEST(Matches, StarsAndQuestionMarks) {
    EXPECT_TRUE(cli::matches("*", ""));
    EXPECT_TRUE(cli::matches("a*c", "abc"));
    EXPECT_TRUE(cli::matches("a*b*c", "aXbYbZc"));
    EXPECT_TRUE(cli::matches("a?c", "abc"));
    EXPECT_FALSE(cli::matches("a?c", "ac"));
    EXPECT_FALSE(cli::matches("a*c", "abd"));
    EXPECT_FALSE(cli::matches("", "a"));
    EXPECT_FALSE(cli::matches("*a*a*a*a*a*b", std::string(200, 'a')));
}

TEST(ParseNumber, RefusesWhatIsNone) {
    std::uint64_t value = 0;
    EXPECT_TRUE(cli::parse_number("18446744073709551615", value));
    EXPECT_EQ(value, UINT64_MAX);
    EXPECT_FALSE(cli::parse_number("18446744073709551616", value));
    EXPECT_TRUE(cli::parse_number("0xfF", value));
    EXPECT_EQ(value, 255U);
    for (const char* text : {"", "-1", "+1", "1 ", "0x", "1e3", "0xg"}) EXPECT_FALSE(cli::parse_number(text, value)) << text;
}

TEST(JsonQuoted, EscapesAndReplaces) {
    EXPECT_EQ(cli::json_quoted("a\"\\\n\0\x7f"s), "\"a\\\"\\\\\\u000a\\u0000\\u007f\"");
    EXPECT_EQ(cli::json_quoted("é\xFF"), "\"é\\ufffd\"");
}

TEST(NumberText, IsShort) {
    EXPECT_EQ(cli::number_text(3), "3");
    EXPECT_EQ(cli::number_text(-0.5), "-0.5");
    EXPECT_EQ(cli::number_text(NAN), "nan");
    EXPECT_EQ(cli::number_text(-INFINITY), "-inf");
}

}  // namespace
