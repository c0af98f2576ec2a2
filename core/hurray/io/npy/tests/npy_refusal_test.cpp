// Every way in which a .npy header can be wrong, with the code, the place and the words of the refusal; and what is
// accepted though NumPy does not write it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/hurray/io/npy/npy_file.hpp"
#include "core/hurray/io/npy/tests/npy_image.hpp"

namespace hurray {
namespace {

constexpr Status format = Status::invalid_format;
std::string ones(int count) {
    std::string shape = "(";
    for (int k = 0; k < count; ++k) shape += "1,";
    return shape + ")";
}

constexpr std::uint64_t text_at = 10;
constexpr std::uint64_t any_place = ~std::uint64_t{0} - 1;

struct Refusal {
    const char* what;
    std::string image;
    Status code;
    std::uint64_t offset;
    std::vector<std::string> fragments;
};

std::string with_text(std::string_view text, std::size_t data = 0) { return npy_prefix(text) + std::string(data, '\0'); }
std::string with_descr(std::string_view descr) { return with_text(npy_dictionary(descr, "(2,)"), 64); }
std::string with_shape(std::string_view shape, std::size_t data = 64) {
    return with_text(npy_dictionary("<f4", shape), data);
}
std::string with_order(std::string_view order) {
    return with_text("{'fortran_order': " + std::string(order) + ", 'descr': '<f4', 'shape': (2,)}", 8);
}
std::string with_length(std::string_view length, unsigned version) {
    return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + std::string(length);
}

// Where the values of npy_dictionary start.
constexpr std::uint64_t descr_at = text_at + 10;
std::uint64_t shape_at(std::string_view descr = "<f4") { return text_at + npy_dictionary(descr, "").find(", }"); }

std::vector<Refusal> refusals() {
    const std::string good = npy_dictionary("<f4", "(2,)");
    const std::string head = good.substr(0, good.size() - 3);  // without ", }"
    const std::string nul(1, '\0');
    return {
        {"empty file", "", format, 0, {"magic", "ends after 0 bytes"}},
        {"half a magic", "\x93NUM", format, 4, {"magic", "ends after 4 bytes"}},
        {"other magic", "\x93NUMPX\x01", format, 0, {"magic: expected"}},
        {"only a magic", "\x93NUMPY", format, 6, {"version"}},
        {"half a version", "\x93NUMPY\x01", format, 7, {"version"}},
        {"version 0", with_length("\x02" + nul + "{}", 0), Status::unsupported, 6, {"got 0.0"}},
        {"version 4", with_length("\x02" + nul + "{}", 4), Status::unsupported, 6, {"got 4.0"}},
        {"version 1.1", "\x93NUMPY\x01\x01" + std::string(80, ' '), Status::unsupported, 6, {"got 1.1"}},
        {"no length", with_length("", 1), format, 8, {"header length"}},
        {"half a length", with_length("\x02", 1), format, 9, {"header length"}},
        {"half a length, version 2", with_length(std::string(3, '\0'), 2), format, 11, {"header length"}},
        {"length beyond the file", with_length("\x03" + nul + "{}", 1), format, 8, {"3 bytes, but only 2 bytes follow"}},
        {"length 65535 in a short file", with_length("\xFF\xFF{}", 1), format, 8, {"65535 bytes"}},
        {"length 2^32-1", with_length("\xFF\xFF\xFF\xFF{}", 2), format, 8, {"4294967295 bytes, but only 2"}},
        {"length 2^32-1, version 3", with_length("\xFF\xFF\xFF\xFF", 3), format, 8, {"4294967295 bytes, but only 0"}},
        {"length beyond the limit", npy_prefix(good + std::string(65'537 - good.size(), ' '), 2), Status::limit_exceeded, 8,
         {"65537 bytes", "limit is 65536"}},
        // The dictionary.
        {"empty text", with_text(""), format, text_at, {"expected '{'", "ends here"}},
        {"only space", with_text("   \n"), format, text_at + 4, {"expected '{'"}},
        {"a list", with_text("[]"), format, text_at, {"expected '{', got \"[]\""}},
        {"NUL", with_text(nul), format, text_at, {"got \"\\x00\""}},
        {"no end", with_text("{"), format, text_at + 1, {"ends here"}},
        {"only a comma", with_text("{,}"), format, text_at + 1, {"expected a key"}},
        {"nothing in it", with_text("{}"), format, text_at + 2, {"'descr' is missing"}},
        {"no comma", with_text("{'descr': '<f4' 'shape': ()}"), format, text_at + 16, {"expected ',' or '}'"}},
        {"two commas", with_text(head + ",, }"), format, text_at + head.size() + 1, {"expected a key"}},
        {"no colon", with_text("{'descr' '<f4'}"), format, text_at + 9, {"expected ':'"}},
        {"key is a number", with_text("{1: 2}"), format, text_at + 1, {"expected a key"}},
        {"key with a prefix", with_text("{u'descr': '<f4'}"), format, text_at + 1, {"expected a key"}},
        {"string without an end", with_text("{'descr"), format, text_at + 1, {"no end"}},
        {"quotes of two kinds", with_text("{'descr\": 1}"), format, text_at + 1, {"no end"}},
        {"escape", with_text("{'d\\x65scr': '<f4'}"), format, text_at + 3, {"escape"}},
        {"line break in a string", with_text("{'de\nscr': '<f4'}"), format, text_at + 4, {"line break"}},
        {"unknown key", with_text("{'order': 1}"), format, text_at + 1, {"unknown key \"order\""}},
        {"empty key", with_text("{'': 1}"), format, text_at + 1, {"unknown key \"\""}},
        {"key with a NUL", with_text("{'shape" + nul + "': ()}"), format, text_at + 1, {"\"shape\\x00\""}},
        {"key twice", with_text("{'shape': (), \"shape\": ()}"), format, text_at + 14, {"'shape' is there twice"}},
        {"descr twice", with_text("{'descr': '<f4', 'descr': '<f4'}"), format, text_at + 17, {"twice"}},
        {"no shape", with_text("{'descr': '<f4', 'fortran_order': False}"), format, text_at + 40, {"'shape' is missing"}},
        {"more behind it", with_text(good + " 1"), format, text_at + good.size() + 1, {"nothing but white space"}},
        {"a second dictionary", with_text(good + good), format, text_at + good.size(), {"nothing but white space"}},
        {"NUL behind it", with_text(good + nul), format, text_at + good.size(), {"nothing but white space"}},
        {"a comment", with_text("{#\n}"), format, text_at + 1, {"expected a key"}},
        {"Latin-1 in version 1", with_text("{'\xE9': 1}"), format, text_at + 1, {"\\xe9"}},
        {"invalid UTF-8 in version 3", npy_prefix("{'\xE9': 1}", 3), format, 12 + 2, {"invalid UTF-8"}},
        // descr.
        {"descr is a number", with_text("{'descr': 4}"), format, descr_at, {"expected a string"}},
        {"descr is None", with_text("{'descr': None}"), format, descr_at, {"expected a string"}},
        {"descr is an expression", with_text("{'descr': '<f'+'4'}"), Status::unsupported, descr_at, {"\"<f\""}},
        {"structured", with_text("{'descr': [('x', '<f4')]}"), Status::unsupported, descr_at, {"structured"}},
        {"nested a million deep", npy_prefix("{'descr': " + std::string(60'000, '['), 2), Status::unsupported, 22,
         {"structured"}},
        {"objects", with_descr("|O"), Status::unsupported, descr_at, {"pickle", "never read"}},
        {"objects with a size", with_descr("|O8"), Status::unsupported, descr_at, {"pickle"}},
        {"strings", with_descr("<U7"), Status::unsupported, descr_at, {"strings"}},
        {"bytes", with_descr("|S7"), Status::unsupported, descr_at, {"strings"}},
        {"void", with_descr("|V2"), Status::unsupported, descr_at, {"raw bytes"}},
        {"datetime", with_descr("<M8[ns]"), Status::unsupported, descr_at, {"times"}},
        {"timedelta", with_descr("<m8[s]"), Status::unsupported, descr_at, {"times"}},
        {"long double", with_descr("<f16"), Status::unsupported, descr_at, {"long double"}},
        {"long double of 32 bits machines", with_descr("<f12"), Status::unsupported, descr_at, {"long double"}},
        {"complex long double", with_descr("<c32"), Status::unsupported, descr_at, {"long double"}},
        {"f1", with_descr("<f1"), Status::unsupported, descr_at, {"expected one of b1"}},
        {"i16", with_descr("<i16"), Status::unsupported, descr_at, {"expected one of b1"}},
        {"b2", with_descr("|b2"), Status::unsupported, descr_at, {"expected one of b1"}},
        {"no dtype", with_descr(""), Status::unsupported, descr_at, {"expected one of b1"}},
        {"order only", with_descr("<"), Status::unsupported, descr_at, {"expected one of b1"}},
        {"two orders", with_descr("<<f4"), Status::unsupported, descr_at, {"expected one of b1"}},
        {"dtype with a NUL", with_descr("<f4" + nul), Status::unsupported, descr_at, {"\\x00"}},
        {"Python's name", with_descr("float32"), Status::unsupported, descr_at, {"expected one of b1"}},
        // fortran_order.
        {"order is a number", with_order("1"), format, text_at + 18, {"expected True or False"}},
        {"order is a string", with_order("'True'"), format, text_at + 18, {"expected True or False"}},
        {"order in small letters", with_order("true"), format, text_at + 18, {"expected True or False"}},
        {"order and more", with_order("Trueish"), format, text_at + 18, {"expected True or False"}},
        {"order is an expression", with_order("True and False"), format, text_at + 23, {"expected ',' or '}'"}},
        // shape.
        {"a list", with_shape("[2]"), format, shape_at(), {"expected a tuple"}},
        {"a number", with_shape("2"), format, shape_at(), {"expected a tuple"}},
        {"a number in parentheses", with_shape("(2)"), format, shape_at() + 3, {"number in parentheses"}},
        {"only a comma", with_shape("(,)"), format, shape_at() + 1, {"expected decimal digits"}},
        {"two commas", with_shape("(2,,)"), format, shape_at() + 3, {"expected decimal digits"}},
        {"no comma", with_shape("(2 3)"), format, shape_at() + 3, {"expected ',' or ')'"}},
        {"no end", with_text("{'shape': (2, 3"), format, text_at + 15, {"expected ',' or ')'", "ends here"}},
        {"nested", with_shape("((2,),)"), format, shape_at() + 1, {"expected decimal digits"}},
        {"negative", with_shape("(-1,)"), format, shape_at() + 1, {"not negative"}},
        {"a sign", with_shape("(+1,)"), format, shape_at() + 1, {"expected decimal digits"}},
        {"a float", with_shape("(2.0,)"), format, shape_at() + 2, {"expected ',' or ')'"}},
        {"an exponent", with_shape("(1e3,)"), format, shape_at() + 2, {"expected ',' or ')'"}},
        {"hexadecimal", with_shape("(0x2,)"), format, shape_at() + 2, {"expected ',' or ')'"}},
        {"an underscore", with_shape("(1_0,)"), format, shape_at() + 2, {"expected ',' or ')'"}},
        {"a leading zero", with_shape("(02,)"), format, shape_at() + 1, {"leading zeros"}},
        {"a string", with_shape("('2',)"), format, shape_at() + 1, {"expected decimal digits"}},
        {"True", with_shape("(True,)"), format, shape_at() + 1, {"expected decimal digits"}},
        {"L in version 3", npy_prefix(npy_dictionary("<f4", "(2L,)"), 3) + std::string(8, '\0'), format, shape_at() + 4,
         {"expected ',' or ')'"}},
        {"two L", with_shape("(2LL,)"), format, shape_at() + 3, {"expected ',' or ')'"}},
        {"2^64", with_shape("(18446744073709551616,)"), format, shape_at() + 1, {"shape[0]", "2^64-1 or more"}},
        {"2^64-1, a dynamic dimension", with_shape("(0, 18446744073709551615)"), format, shape_at() + 4, {"shape[1]"}},
        {"a million digits", npy_prefix(npy_dictionary("<f4", std::string("(").append(60'000, '9') + ",)"), 2), format,
         shape_at() + 3, {"2^64-1 or more"}},
        {"product wraps to 0", with_shape("(4294967296, 4294967296)"), format, 8, {"more than 2^63-1 bytes"}},
        {"product wraps to 4 bytes", with_shape("(4611686018427387905,)"), format, 8, {"more than 2^63-1 bytes"}},
        {"2^63 bytes", with_shape("(2305843009213693952,)"), format, 8, {"more than 2^63-1 bytes"}},
        {"huge beside 0", with_shape("(0, 4294967296, 4294967296)"), format, 8, {"more than 2^63-1 bytes"}},
        {"65 dimensions", with_shape(ones(65)),
         Status::unsupported, shape_at() + 1 + 128, {"more than 64 dimensions"}},
        // Data.
        {"no data", with_shape("(2,)", 0), format, shape_at() + 4 + 3, {"says 8 bytes, but only 0"}},
        {"a byte is missing", with_shape("(2,)", 7), format, shape_at() + 4 + 3, {"says 8 bytes, but only 7"}},
        {"a scalar without data", with_shape("()", 3), format, shape_at() + 2 + 3, {"says 4 bytes, but only 3"}},
        {"2^63-1 bytes", with_text(npy_dictionary("|u1", "(9223372036854775807,)")), format, any_place, {"says 9223372036854775807"}},
    };
}

TEST(NpyRefusal, WhatIsWrongIsRefusedWithItsPlace) {
    for (const Refusal& refusal : refusals()) {
        SCOPED_TRACE(refusal.what);
        const auto file = NpyFile::open(mapped_image(refusal.image));
        ASSERT_FALSE(file.has_value());
        EXPECT_EQ(file.error().code, refusal.code) << file.error().message;
        if (refusal.offset != any_place) {
            EXPECT_EQ(file.error().offset, refusal.offset) << file.error().message;
        }
        for (const auto& fragment : refusal.fragments) {
            EXPECT_NE(std::string_view(file.error().message).find(fragment), std::string_view::npos)
                << fragment << " in: " << file.error().message;
        }
    }
}

TEST(NpyRefusal, EveryTruncationIsRefused) {
    const std::string image = npy_image("<f4", "(2, 3)", std::string(24, 'x'));
    for (std::size_t size = 0; size < image.size(); ++size) {
        const auto file = NpyFile::open(mapped_image(image.substr(0, size)));
        ASSERT_FALSE(file.has_value()) << size;
        EXPECT_EQ(file.error().code, format);
        EXPECT_LE(file.error().offset, size);
    }
    EXPECT_TRUE(NpyFile::open(mapped_image(image)).has_value());
}

TEST(NpyRefusal, TheLimitOfTheHeaderIsAnOption) {
    const std::string image = npy_image("<f4", "(2,)", std::string(8, 'x'));  // 118 bytes of text
    EXPECT_TRUE(NpyFile::open(mapped_image(image), {.header_limit = 118}).has_value());
    const auto refused = NpyFile::open(mapped_image(image), {.header_limit = 117});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::limit_exceeded);
}

struct Accepted {
    const char* what;
    std::string image;
    std::vector<std::uint64_t> shape;
    std::uint8_t layout;
};

TEST(NpyAcceptance, WhatNumPyReadsToo) {
    constexpr std::uint8_t rows = layout_tag::row_major;
    constexpr std::uint8_t columns = layout_tag::col_major;
    const Accepted cases[] = {
        {"keys in another order", with_text("{'shape': (2,), 'fortran_order': True, 'descr': '<f4'}", 8), {2}, columns},
        {"double quotes", with_text("{\"shape\": (2,), \"fortran_order\": False, \"descr\": \"<f4\"}", 8), {2}, rows},
        {"no space", with_text("{'descr':'<f4','fortran_order':False,'shape':(2,3)}", 24), {2, 3}, rows},
        {"much space", with_text(" \t{\n'descr' :\t'<f4'\r\n,'fortran_order'\f: False\n, 'shape': ( 2 , 3 , ) , } \n\n", 24), {2, 3}, rows},
        {"Python 2's long integers", with_shape("(2L, 3L)", 24), {2, 3}, rows},
        {"Python 2's long integers, version 2", npy_prefix(npy_dictionary("<f4", "(2L,)"), 2) + std::string(8, '\0'), {2}, rows},
        {"rank 0", with_shape("()", 4), {}, rows},
        {"rank 0 with spaces", with_shape("(  )", 4), {}, rows},
        {"64 dimensions", with_shape(ones(64), 4), std::vector<std::uint64_t>(64, 1), rows},
        {"no elements", with_shape("(0,)", 0), {0}, rows},
        {"no elements beside a large size", with_shape("(0, 2305843009213693951)", 0), {0, 2305843009213693951}, rows},
        {"version 3", npy_prefix(npy_dictionary("<f4", "(2,)"), 3) + std::string(8, '\0'), {2}, rows},
        {"a header of 65,535 bytes", npy_prefix([] {
             std::string text = npy_dictionary("<f4", "(2,)");
             return text + std::string(65'535 - text.size(), ' ');
         }()) + std::string(8, '\0'), {2}, rows},
        {"bytes behind the data", with_shape("(2,)", 8 + 1000), {2}, rows},
    };
    for (const Accepted& accepted : cases) {
        SCOPED_TRACE(accepted.what);
        const auto file = NpyFile::open(mapped_image(accepted.image));
        ASSERT_TRUE(file.has_value()) << file.error().message;
        const auto info = (*file)->tensor_info(0);
        ASSERT_TRUE(info.has_value());
        EXPECT_EQ(std::vector<std::uint64_t>(info->shape.begin(), info->shape.end()), accepted.shape);
        EXPECT_EQ(info->layout_tag, accepted.layout);
        const auto tensor = (*file)->tensor(0);
        ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
        EXPECT_EQ(tensor->descriptor.layout(), accepted.layout);
    }
}

}  // namespace
}  // namespace hurray
