// UTF-8, quoting, and bools as bytes and as bits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/hurray/io/bool_bytes.hpp"
#include "core/hurray/io/quoted.hpp"
#include "core/hurray/base/utf8.hpp"

namespace hurray {
namespace {

// The definition, code point by code point: an oracle for the table of bounds in the code.
std::string encode(std::uint32_t point) {
    std::string text;
    const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0 | point >> 6);
        put(0x80 | (point & 63));
    } else if (point < 0x10000) {
        put(0xE0 | point >> 12);
        put(0x80 | (point >> 6 & 63));
        put(0x80 | (point & 63));
    } else {
        put(0xF0 | point >> 18);
        put(0x80 | (point >> 12 & 63));
        put(0x80 | (point >> 6 & 63));
        put(0x80 | (point & 63));
    }
    return text;
}

TEST(Utf8, AcceptsEveryCodePointButSurrogates) {
    for (std::uint32_t point = 0; point < 0x120000; ++point) {
        const std::string text = encode(point);
        const bool valid = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
        ASSERT_EQ(utf8_character_length(text), valid ? text.size() : 0) << std::hex << point;
    }
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
    for (const std::string text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80",
                                   "\xF0\x8F\xBF\xBF", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98",
                                   "\xC3(", "\xE2\x82(", "\xF0\x9F\x98("}) {
        EXPECT_EQ(utf8_character_length(text), 0U);
        for (const std::size_t front : {0, 1, 7, 8, 9, 15}) {
            EXPECT_EQ(find_invalid_utf8(std::string(front, 'a') + text + "tail of ascii"), front);
            EXPECT_EQ(find_invalid_utf8(std::string(front, 'a') + text), front);
        }
    }
    EXPECT_FALSE(find_invalid_utf8("").has_value());
    EXPECT_FALSE(find_invalid_utf8("aaaaaaa\xF0\x9F\x98\x80" "aaaaaaaaaaaaa\xC3\xA9").has_value());
}

TEST(Quoted, EscapesAndCuts) {
    EXPECT_STREQ(Quoted("plain").c_str(), "\"plain\"");
    EXPECT_STREQ(Quoted("").c_str(), "\"\"");
    EXPECT_STREQ(Quoted(std::string("a\0b\n\x7F\"\\\xFF\xC3\xA9", 10)).c_str(),
                 "\"a\\x00b\\x0a\\x7f\\\"\\\\\\xff\xC3\xA9\"");
    EXPECT_STREQ(Quoted("abcdef", 3).c_str(), "\"abc...\"");
    EXPECT_STREQ(Quoted("ab\xE2\x82\xAC", 4).c_str(), "\"ab...\"") << "never half a character";
    EXPECT_LT(std::string(Quoted(std::string(1000, '\x01'), 100'000).c_str()).size(), Quoted::capacity);
}

TEST(BoolBytes, PackAndUnpackAgreeWithTheDefinition) {
    for (std::size_t count = 0; count < 70; ++count) {
        for (unsigned seed = 0; seed < 8; ++seed) {
            std::vector<std::byte> bytes(count);
            std::uint32_t state = seed * 2654435761U + 1;
            for (auto& byte : bytes) {
                state = state * 1664525U + 1013904223U;
                byte = static_cast<std::byte>(state >> 31);
            }
            std::vector<std::byte> bits((count + 7) / 8, std::byte{0xFF});
            ASSERT_FALSE(pack_bool_bytes(bytes, bits).has_value());
            for (std::size_t i = 0; i < bits.size() * 8; ++i) {
                const unsigned bit = (std::to_integer<unsigned>(bits[i / 8]) >> (i % 8)) & 1U;
                ASSERT_EQ(bit, i < count ? std::to_integer<unsigned>(bytes[i]) : 0U) << count << " " << i;
            }
            std::vector<std::byte> back(count, std::byte{7});
            unpack_bool_bits(bits, back);
            ASSERT_EQ(back, bytes);
        }
    }
}

TEST(BoolBytes, FindsTheFirstByteThatIsNoBool) {
    for (std::size_t count = 1; count < 40; ++count) {
        for (std::size_t bad = 0; bad < count; ++bad) {
            for (const unsigned value : {2U, 3U, 0x80U, 0xFFU}) {
                std::vector<std::byte> bytes(count, std::byte{1});
                bytes[bad] = static_cast<std::byte>(value);
                bytes[count - 1] = bad == count - 1 ? bytes[count - 1] : std::byte{9};
                std::vector<std::byte> bits((count + 7) / 8);
                ASSERT_EQ(pack_bool_bytes(bytes, bits), bad) << count << " " << value;
            }
        }
    }
}

}  // namespace
}  // namespace hurray
