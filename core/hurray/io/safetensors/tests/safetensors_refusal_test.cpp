// Every way in which a safetensors header can be wrong, with the code, the place and the words of the refusal.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/hurray/io/safetensors/safetensors_file.hpp"
#include "core/hurray/io/safetensors/tests/safetensors_image.hpp"

namespace hurray {
namespace {

constexpr std::uint64_t any = ~std::uint64_t{0} - 1;

struct Refusal {
    const char* what;
    std::string image;
    Status code;
    /// Byte offset in the file; `any` where it does not matter.
    std::uint64_t offset;
    std::vector<std::string> fragments;
};

std::string with_length(std::uint64_t length, std::string_view rest) {
    std::string image(sizeof length, '\0');
    std::memcpy(image.data(), &length, sizeof length);
    return image + std::string(rest);
}

// A header with one tensor "t" that is F32 [2] at [0,8] but for one field.
std::string dtype(std::string_view text) {
    return safetensors_image("{\"t\":{\"dtype\":" + std::string(text) + ",\"shape\":[2],\"data_offsets\":[0,8]}}", 8);
}
std::string shape(std::string_view text, std::size_t data = 8) {
    return safetensors_image("{\"t\":{\"dtype\":\"F32\",\"shape\":" + std::string(text) +
                                 ",\"data_offsets\":[0," + std::to_string(data) + "]}}",
                             data);
}
std::string offsets(std::string_view text, std::size_t data = 8) {
    return safetensors_image("{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" + std::string(text) + "}}", data);
}
std::string tensor(std::string_view body) { return safetensors_image("{\"t\":" + std::string(body) + "}", 8); }
std::string metadata(std::string_view body) { return safetensors_image("{\"__metadata__\":" + std::string(body) + "}", 0); }
std::string u8(std::string_view name, unsigned begin, unsigned end) {
    return "\"" + std::string(name) + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(end - begin) +
           "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

const std::string good_field = "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}";
constexpr std::uint64_t two_to_63 = std::uint64_t{1} << 63;

std::vector<Refusal> refusals() {
    constexpr Status format = Status::invalid_format;
    const std::string deep(100'000, '[');
    return {
        // The length of the header.
        {"empty file", "", format, 0, {"header length", "ends after 0 bytes", "at least 8"}},
        {"7 bytes", std::string(7, '\0'), format, 7, {"ends after 7 bytes"}},
        {"length 0", with_length(0, "{}"), format, 0, {"header length: 0"}},
        {"length 0, nothing more", with_length(0, ""), format, 0, {"header length: 0"}},
        {"one byte too long", with_length(3, "{}"), format, 0, {"3 bytes, but only 2 bytes follow"}},
        {"2^64-1", with_length(~std::uint64_t{0}, "{}"), format, 0, {"18446744073709551615 bytes"}},
        {"2^64-8: wraps when 8 is added", with_length(~std::uint64_t{0} - 7, "{}"), format, 0, {"only 2 bytes"}},
        {"2^63", with_length(two_to_63, "{}"), format, 0, {"9223372036854775808 bytes"}},
        // JSON.
        {"no object", safetensors_image("[]", 0), format, 8, {"expected '{', got \"[\""}},
        {"space first", safetensors_image(" {}", 0), format, 8, {"expected '{', got \" \""}},
        {"NUL first", safetensors_image(std::string_view("\0{}", 3), 0), format, 8, {"expected '{', got \"\\x00\""}},
        {"byte order mark", safetensors_image("\xEF\xBB\xBF{}", 0), format, 8, {"expected '{'"}},
        {"only a brace", safetensors_image("{", 0), format, 9, {"header:"}},
        {"invalid UTF-8 in a name", safetensors_image("{\"\xFF\":1}", 0), format, 10, {"invalid UTF-8"}},
        {"UTF-8 cut at the end", safetensors_image("{}\xE2\x82", 0), format, 10, {"invalid UTF-8"}},
        {"surrogate in UTF-8", safetensors_image("{\"\xED\xA0\x80\":1}", 0), format, 10, {"invalid UTF-8"}},
        {"half a surrogate pair", safetensors_image("{\"\\uD800\":1}", 0), format, any, {"header:"}},
        {"lone low surrogate", safetensors_image("{\"\\uDC00\":" + good_field + "}", 8), format, any, {""}},
        {"unknown escape", safetensors_image("{\"\\x\":1}", 0), format, any, {"header:"}},
        {"newline in a string", safetensors_image("{\"a\nb\":1}", 0), format, any, {"header:"}},
        {"NUL in a string", safetensors_image(std::string_view("{\"a\0b\":1}", 9), 0), format, any, {"header:"}},
        {"NUL between tokens", safetensors_image(std::string_view("{\0}", 3), 0), format, 9, {"header:"}},
        {"missing comma", safetensors_image("{\"a\":" + good_field + "\"b\":1}", 8), format, any, {"header:"}},
        {"trailing comma", safetensors_image("{\"t\":" + good_field + ",}", 8), format, any, {"header:"}},
        {"comment", safetensors_image("{/**/}", 0), format, any, {"header:"}},
        {"single quotes", safetensors_image("{'t':1}", 0), format, any, {"header:"}},
        {"text behind the object", safetensors_image("{} x", 0), format, 11, {"expected spaces", "\"x\""}},
        {"second object", safetensors_image("{}{}", 0), format, 10, {"expected spaces"}},
        {"padded with NUL", safetensors_image(std::string_view("{}\0\0", 4), 0), format, 10, {"expected spaces", "\\x00"}},
        {"padded with newlines", safetensors_image("{}\n", 0), format, 10, {"expected spaces"}},
        {"padded with tabs", safetensors_image("{} \t", 0), format, 11, {"expected spaces"}},
        {"deep nesting", safetensors_image("{\"t\":" + deep + "}", 0), format, 13, {"expected an object, got an array"}},
        {"deep nesting in a shape", shape(deep), format, any, {"shape: expected unsigned integers, got an array"}},
        {"deep objects", metadata("{\"a\":" + std::string(1000, '{')), format, any, {"key \"a\": expected a string"}},
        // Tensors.
        {"tensor is a number", tensor("1"), format, 13, {"tensor \"t\": expected an object, got a number"}},
        {"tensor is a string", tensor("\"x\""), format, 13, {"expected an object, got a string"}},
        {"tensor is null", tensor("null"), format, 13, {"expected an object, got null"}},
        {"tensor is true", tensor("true"), format, 13, {"expected an object, got true"}},
        {"tensor is an array", tensor("[]"), format, 13, {"expected an object, got an array"}},
        {"no fields", tensor("{}"), format, 14, {"tensor \"t\": field dtype is missing"}},
        {"no shape", tensor("{\"dtype\":\"F32\",\"data_offsets\":[0,8]}"), format, any, {"field shape is missing"}},
        {"no data_offsets", tensor("{\"dtype\":\"F32\",\"shape\":[2]}"), format, any, {"field data_offsets is missing"}},
        {"unknown field", tensor("{\"x\":1," + good_field.substr(1)), format, 14, {"unknown field \"x\"", "expected dtype"}},
        {"field with a NUL", tensor("{\"dtype\\u0000\":\"F32\"}"), format, 14, {"unknown field \"dtype\\x00\""}},
        {"dtype twice", tensor("{\"dtype\":\"F32\"," + good_field.substr(1)), format, any, {"field \"dtype\" is there twice"}},
        {"shape twice", tensor("{\"shape\":[2]," + good_field.substr(1)), format, any, {"field \"shape\" is there twice"}},
        {"data_offsets twice", tensor("{\"data_offsets\":[0,8]," + good_field.substr(1)), format, any,
         {"field \"data_offsets\" is there twice"}},
        {"the same name twice", safetensors_image("{\"t\":" + good_field + ",\"t\":" + good_field + "}", 8), format, any,
         {"two tensors have the name \"t\""}},
        {"the same name, one escaped",
         safetensors_image("{" + u8("t", 0, 1) + "," + u8("x", 1, 2) + "," + u8("\\u0074", 2, 3) + "}", 3), format, any,
         {"two tensors have the name \"t\""}},
        // dtype.
        {"dtype is a number", dtype("1"), format, 22, {"dtype: expected a string, got a number"}},
        {"dtype is null", dtype("null"), format, 22, {"dtype: expected a string, got null"}},
        {"dtype is an array", dtype("[\"F32\"]"), format, 22, {"dtype: expected a string, got an array"}},
        {"dtype is an object", dtype("{}"), format, 22, {"dtype: expected a string, got an object"}},
        {"unknown dtype", dtype("\"Q4\""), Status::unsupported, 22, {"tensor \"t\": dtype: \"Q4\" is unknown"}},
        {"lower case", dtype("\"f32\""), Status::unsupported, 22, {"\"f32\" is unknown"}},
        {"dtype with a NUL", dtype("\"F32\\u0000\""), Status::unsupported, 22, {"\"F32\\x00\" is unknown"}},
        {"empty dtype", dtype("\"\""), Status::unsupported, 22, {"\"\" is unknown"}},
        {"dtype without an exact type", dtype("\"F8_E4M3FNUZ\""), Status::unsupported, 22,
         {"\"F8_E4M3FNUZ\" has no exact Hurray type"}},
        // shape.
        {"shape is a number", shape("2"), format, 36, {"shape: expected an array, got a number"}},
        {"shape is null", shape("null"), format, 36, {"shape: expected an array, got null"}},
        {"shape is an object", shape("{}"), format, 36, {"shape: expected an array, got an object"}},
        {"negative", shape("[-2]"), format, 37, {"shape: \"-2\" is not an unsigned 64-bit integer in digits"}},
        {"minus zero", shape("[-0]", 0), format, 37, {"\"-0\" is not an unsigned"}},
        {"fraction", shape("[2.5]"), format, 37, {"\"2.5\" is not an unsigned"}},
        {"whole number as a fraction", shape("[2.0]"), format, 37, {"\"2.0\" is not an unsigned"}},
        {"exponent", shape("[2e0]"), format, 37, {"\"2e0\" is not an unsigned"}},
        {"1e3", shape("[1e3]"), format, 37, {"\"1e3\" is not an unsigned"}},
        {"leading zero", shape("[02]"), format, any, {"header:"}},
        {"plus sign", shape("[+2]"), format, any, {"header:"}},
        {"2^64", shape("[18446744073709551616]"), format, 37, {"\"18446744073709551616\" is not an unsigned 64-bit"}},
        {"huge", shape("[" + std::string(40, '9') + "]"), format, 37, {"is not an unsigned 64-bit"}},
        {"larger than any double", shape("[" + std::string(400, '9') + "]"), format, any, {""}},
        {"1e999", shape("[1e999]"), format, any, {""}},
        {"NaN", shape("[NaN]"), format, any, {"header:"}},
        {"string in the shape", shape("[\"2\"]"), format, 37, {"expected unsigned integers, got a string"}},
        {"null in the shape", shape("[null]"), format, 37, {"expected unsigned integers, got null"}},
        {"true in the shape", shape("[true]"), format, 37, {"expected unsigned integers, got true"}},
        {"shape not closed", shape("[2"), format, any, {"shape: expected unsigned integers, got a string"}},
        {"product overflows", shape("[4294967296,4294967296]"), format, any, {"shape: the size in bits is more than 2^64-1"}},
        {"product wraps to zero", shape("[9223372036854775808,2]", 0), format, any, {"more than 2^64-1"}},
        {"product wraps to the size", shape("[4611686018427387905,4]"), format, any, {"more than 2^64-1"}},
        {"bits overflow where elements do not", shape("[2305843009213693952]"), format, any, {"more than 2^64-1"}},
        {"zero beside huge", shape("[0,18446744073709551615,18446744073709551615]", 0), format, any, {"more than 2^64-1"}},
        {"huge before zero", shape("[18446744073709551615,0]", 0), format, any, {"more than 2^64-1"}},
        {"rank 65", shape("[2" + [] { std::string ones; for (int i = 0; i < 64; ++i) ones += ",1"; return ones; }() + "]"),
         Status::unsupported, any, {"shape: more than 64 dimensions"}},
        {"half a byte", safetensors_image("{\"t\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2), format,
         any, {"shape: 12 bits of F4 do not end at a byte"}},
        // data_offsets.
        {"offsets are a number", offsets("0"), format, any, {"data_offsets: expected an array, got a number"}},
        {"no offset", offsets("[]"), format, any, {"data_offsets: 0 numbers, expected [begin, end]"}},
        {"one offset", offsets("[0]"), format, any, {"data_offsets: 1 numbers"}},
        {"three offsets", offsets("[0,8,8]"), format, any, {"more than two numbers"}},
        {"negative begin", offsets("[-1,7]"), format, any, {"data_offsets: \"-1\" is not an unsigned"}},
        {"fractional end", offsets("[0,8.0]"), format, any, {"data_offsets: \"8.0\" is not an unsigned"}},
        {"2^64 in the offsets", offsets("[0,18446744073709551616]"), format, any, {"\"18446744073709551616\""}},
        {"string in the offsets", offsets("[\"0\",8]"), format, any, {"expected unsigned integers, got a string"}},
        {"begin beyond end", offsets("[8,0]"), format, any, {"begin 8 is greater than end 0"}},
        {"size wraps", offsets("[18446744073709551608,0]"), format, any, {"is greater than end 0"}},
        {"beyond the file", offsets("[0,9]"), format, any, {"end 9 is beyond the data section of 8 bytes"}},
        {"far beyond the file", offsets("[18446744073709551607,18446744073709551615]"), format, any,
         {"is beyond the data section"}},
        {"too short for the shape", offsets("[0,4]"), format, any, {"4 bytes, but dtype and shape make 8"}},
        {"too long for the shape", offsets("[0,16]", 16), format, any, {"16 bytes, but dtype and shape make 8"}},
        {"empty range of a full tensor", offsets("[8,8]"), format, any, {"0 bytes, but dtype and shape make 8"}},
        // Coverage of the data section.
        {"gap in front", offsets("[1,9]", 9), format, any, {"leave a gap: bytes 0 to 1"}},
        {"gap between", safetensors_image("{" + u8("a", 0, 4) + "," + u8("b", 5, 8) + "}", 8), format, any,
         {"tensor \"b\"", "leave a gap: bytes 4 to 5"}},
        {"overlap", safetensors_image("{" + u8("a", 0, 5) + "," + u8("b", 4, 8) + "}", 8), format, any,
         {"tensor \"b\": data_offsets [4,8] overlap those of \"a\", which end at 5"}},
        {"the same range twice", safetensors_image("{" + u8("a", 0, 8) + "," + u8("b", 0, 8) + "}", 8), format, any,
         {"overlap"}},
        {"one inside the other", safetensors_image("{" + u8("a", 0, 8) + "," + u8("b", 2, 4) + "}", 8), format, any,
         {"tensor \"b\": data_offsets [2,4] overlap those of \"a\""}},
        {"empty tensor inside another", safetensors_image("{" + u8("a", 0, 8) + "," + u8("b", 4, 4) + "}", 8), format, any,
         {"tensor \"b\": data_offsets [4,4] overlap those of \"a\""}},
        {"file longer", safetensors_image("{" + u8("a", 0, 8) + "}", 9), format, any, {"data section: 9 bytes", "cover 8"}},
        {"data without tensors", safetensors_image("{}", 1), format, 10, {"data section: 1 bytes", "cover 0"}},
        {"file shorter", safetensors_image("{" + u8("a", 0, 8) + "}", 7), format, any,
         {"end 8 is beyond the data section of 7 bytes"}},
        // Metadata.
        {"metadata is a string", metadata("\"x\""), format, any, {"__metadata__: expected an object, got a string"}},
        {"metadata is null", metadata("null"), format, any, {"__metadata__: expected an object, got null"}},
        {"metadata is an array", metadata("[]"), format, any, {"__metadata__: expected an object, got an array"}},
        {"number as a value", metadata("{\"a\":1}"), format, any, {"__metadata__: key \"a\": expected a string, got a number"}},
        {"object as a value", metadata("{\"a\":{}}"), format, any, {"expected a string, got an object"}},
        {"array as a value", metadata("{\"a\":[]}"), format, any, {"expected a string, got an array"}},
        {"null as a value", metadata("{\"a\":null}"), format, any, {"expected a string, got null"}},
        {"the same key twice", metadata("{\"a\":\"1\",\"a\":\"2\"}"), format, any, {"the key \"a\" is there twice"}},
        {"metadata twice", safetensors_image("{\"__metadata__\":{},\"__metadata__\":{}}", 0), format, any,
         {"__metadata__ is there twice"}},
        {"lone surrogate in a value", metadata("{\"a\":\"\\uDFFF\"}"), format, any, {""}},
        {"metadata like a tensor", metadata(good_field), format, any, {"key \"shape\": expected a string, got an array"}},
    };
}

TEST(SafetensorsRefusals, AreTypedAndSayWhatIsWrong) {
    for (const Refusal& refusal : refusals()) {
        const auto result = open_safetensors_image(bytes_of(refusal.image));
        ASSERT_FALSE(result.has_value()) << refusal.what;
        const Error& error = result.error();
        EXPECT_EQ(error.code, refusal.code) << refusal.what << ": " << error.message;
        if (refusal.offset != any) {
            EXPECT_EQ(error.offset, refusal.offset) << refusal.what << ": " << error.message;
        }
        for (const std::string& fragment : refusal.fragments) {
            EXPECT_NE(std::string_view(error.message).find(fragment), std::string_view::npos)
                << refusal.what << ": expected \"" << fragment << "\" in: " << error.message;
        }
        EXPECT_NE(error.message[0], '\0') << refusal.what;
    }
}

TEST(SafetensorsRefusals, HeaderLimit) {
    const std::string image = safetensors_image("{" + u8("a", 0, 4) + "}", 4);
    const std::uint64_t length = image.size() - 8 - 4;
    FileOptions options;
    options.header_limit = length;
    EXPECT_TRUE(open_safetensors_image(bytes_of(image), options).has_value());
    options.header_limit = length - 1;
    const auto result = open_safetensors_image(bytes_of(image), options);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Status::limit_exceeded);
    EXPECT_NE(std::strstr(result.error().message, ("the limit is " + std::to_string(length - 1)).c_str()), nullptr)
        << result.error().message;
}

TEST(SafetensorsRefusals, EveryTruncationIsRefused) {
    const std::string image = safetensors_image(
        "{\"__metadata__\":{\"k\":\"v\"}," + u8("a", 0, 4) + ",\"b\":{\"dtype\":\"F16\",\"shape\":[2,1],"
        "\"data_offsets\":[4,8]}}   ",
        8);
    ASSERT_TRUE(open_safetensors_image(bytes_of(image)).has_value());
    for (std::size_t length = 0; length < image.size(); ++length) {
        const auto result = open_safetensors_image(bytes_of(image).first(length));
        ASSERT_FALSE(result.has_value()) << length;
        EXPECT_EQ(result.error().code, Status::invalid_format) << length << ": " << result.error().message;
    }
    EXPECT_FALSE(open_safetensors_image(bytes_of(image + "x")).has_value());
}

// Whatever a byte is changed to: the file opens and all its tensors can be had, or it is refused with an error.
TEST(SafetensorsRefusals, NoMutationDoesHarm) {
    const std::string original = safetensors_image(
        "{\"__metadata__\":{\"k\":\"v\"},\"f\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]},"
        "\"b\\u0041\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[4,8]}} ",
        8);
    std::size_t opened = 0;
    const auto attempt = [&](const std::string& image) {
        const auto file = open_safetensors_image(bytes_of(image));
        if (!file) {
            ASSERT_NE(file.error().message[0], '\0');
            return;
        }
        ++opened;
        for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
            const auto tensor = (*file)->tensor(i);
            ASSERT_TRUE(tensor.has_value() || tensor.error().code == Status::invalid_format);
        }
    };
    for (std::size_t at = 0; at < original.size(); ++at) {
        for (unsigned value = 0; value < 256; ++value) {
            std::string image = original;
            image[at] = static_cast<char>(value);
            attempt(image);
        }
        std::string shorter = original;
        shorter.erase(at, 1);
        attempt(shorter);
        std::string longer = original;
        longer.insert(at, 1, original[at]);
        attempt(longer);
    }
    EXPECT_GT(opened, original.size()) << "some mutations change nothing that matters";
}

}  // namespace
}  // namespace hurray
