// Every way in which a GGUF header can be wrong, with the code, the place and the words of the refusal.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/hurray/io/gguf/tests/gguf_image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"

namespace hurray {
namespace {

struct Refusal {
    const char* what;
    std::string image;
    Status code;
    /// Byte offset in the file.
    std::uint64_t offset;
    std::vector<std::string> fragments;
};

constexpr auto most = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t two_to_63 = std::uint64_t{1} << 63;
constexpr Status format = Status::invalid_format;
constexpr Status unsupported = Status::unsupported;

// Where the parts of a file with one entry or one tensor and a key or name of one byte are.
constexpr std::uint64_t key_at = 24;
constexpr std::uint64_t type_at = key_at + 9;
constexpr std::uint64_t value_at = type_at + 4;
constexpr std::uint64_t name_at = 24;
constexpr std::uint64_t rank_at = name_at + 9;
constexpr std::uint64_t dimensions_at = rank_at + 4;

std::string start(std::uint64_t tensors, std::uint64_t entries) {
    return "GGUF" + u32(3) + u64(tensors) + u64(entries);
}
std::string entry(std::uint32_t type, std::string_view value) {
    return GgufImage{.metadata = {gguf_entry("k", type, value)}, .alignment = 0}.bytes();
}
std::string alignment(std::uint32_t type, std::string_view value) {
    return GgufImage{.metadata = {gguf_entry("general.alignment", type, value)}}.bytes();
}
constexpr std::uint64_t alignment_at = 24 + 8 + 17 + 4;
std::string tensor(const std::vector<std::uint64_t>& dimensions, std::uint32_t type, std::uint64_t offset,
                   std::size_t data = 64) {
    return GgufImage{.tensors = {gguf_info("t", dimensions, type, offset)}, .data = std::string(data, '\0')}.bytes();
}
std::string tensors(const std::vector<std::string>& infos, std::size_t data) {
    return GgufImage{.tensors = infos, .data = std::string(data, '\0')}.bytes();
}

std::vector<Refusal> header_refusals() {
    return {
        {"empty file", "", format, 0, {"magic", "expected 4 bytes", "ends after 0"}},
        {"3 bytes", "GGU", format, 0, {"magic"}},
        {"another magic",
         "GGJT" + u32(3) + std::string(16, '\0'),
         format,
         0,
         {"magic", "\"GGJT\"", "expected \"GGUF\""}},
        {"no version", "GGUF", format, 4, {"version", "ends after 0"}},
        {"version 0", "GGUF" + u32(0) + std::string(16, '\0'), unsupported, 4, {"version: 0", "expected 2 or 3"}},
        {"version 1", "GGUF" + u32(1) + std::string(16, '\0'), unsupported, 4, {"version: 1"}},
        {"version 4", "GGUF" + u32(4) + std::string(16, '\0'), unsupported, 4, {"version: 4"}},
        {"big-endian",
         "GGUF" + u32(0x03000000) + std::string(16, '\0'),
         unsupported,
         4,
         {"3 in big-endian byte order"}},
        {"big-endian version 2", "GGUF" + u32(0x02000000), unsupported, 4, {"2 in big-endian byte order"}},
        {"no tensor count", "GGUF" + u32(3), format, 8, {"tensor count"}},
        {"no metadata count", "GGUF" + u32(3) + u64(0), format, 16, {"metadata count"}},
        {"tensor count near 2^64", start(most, 0), format, 8, {"18446744073709551615", "only 8 bytes follow"}},
        {"tensor count that wraps", start(most / 24 + 2, 0), format, 8, {"tensor count"}},
        {"metadata count near 2^64", start(0, most - 1), format, 16, {"metadata count", "only 0 bytes follow"}},
        {"one tensor more than there is room for", start(3, 0) + std::string(63, '\0'), format, 8, {"tensor count: 3"}},
        {"one entry more than there is room for",
         start(0, 2) + std::string(27, '\0'),
         format,
         16,
         {"metadata count: 2"}},
    };
}

std::vector<Refusal> metadata_refusals() {
    return {
        {"key longer than the file",
         start(0, 1) + u64(most) + std::string(20, 'k'),
         format,
         key_at,
         {"metadata entry 0: key", "18446744073709551615 bytes"}},
        {"key longer than allowed",
         start(0, 1) + u64(65536) + std::string(70000, 'k'),
         format,
         key_at,
         {"at most 65535"}},
        {"empty key", start(0, 1) + gguf_entry("", 4, u32(1)), format, key_at, {"key: empty"}},
        {"key that is not UTF-8",
         start(0, 1) + gguf_entry("a\xFF", 4, u32(1)),
         format,
         key_at + 9,
         {"key", "invalid UTF-8"}},
        {"unknown type", entry(13, u64(0)), format, type_at, {"type: 13, expected 0 to 12"}},
        {"type near 2^32", entry(0xFFFFFFFF, u64(0)), format, type_at, {"4294967295"}},
        {"value cut off", entry(10, u32(0)), format, value_at, {"value: expected 8 bytes", "ends after 4"}},
        {"bool 2", entry(7, "\2"), format, value_at, {"bool: 2, expected 0 or 1"}},
        {"string longer than the file",
         entry(8, u64(100) + "abc"),
         format,
         value_at,
         {"string length: 100 bytes", "only 3"}},
        {"string length near 2^64", entry(8, u64(most) + "abc"), format, value_at, {"string length"}},
        {"string that is not UTF-8",
         entry(8, gguf_text("ab\xC0\x80")),
         format,
         value_at + 10,
         {"string: invalid UTF-8"}},
        {"array in an array", entry(9, u32(9) + u64(1) + u32(4) + u64(0)), unsupported, value_at, {"arrays in arrays"}},
        {"array of an unknown type", entry(9, u32(77) + u64(1) + u64(0)), format, value_at, {"element type: 77"}},
        {"array length near 2^64",
         entry(9, u32(0) + u64(most)),
         format,
         value_at + 4,
         {"array length: 18446744073709551615"}},
        {"array whose size wraps",
         entry(9, u32(10) + u64(most / 8 + 2) + u64(0)),
         format,
         value_at + 4,
         {"array length"}},
        {"array one too long",
         entry(9, u32(2) + u64(3) + u32(0) + "x"),
         format,
         value_at + 4,
         {"array length: 3", "only 5"}},
        {"array of strings longer than the file",
         entry(9, u32(8) + u64(2) + gguf_text("")),
         format,
         value_at + 4,
         {"array length: 2"}},
        {"string in an array that is cut off",
         entry(9, u32(8) + u64(1) + u64(9) + "12345678"),
         format,
         value_at + 12,
         {"string length: 9"}},
        {"string in an array that is not UTF-8",
         entry(9, u32(8) + u64(2) + gguf_text("a") + gguf_text("\x80")),
         format,
         value_at + 12 + 9 + 8,
         {"invalid UTF-8"}},
        {"bool in an array", entry(9, u32(7) + u64(3) + std::string("\1\0\3", 3)), format, value_at + 14, {"bool: 3"}},
        {"key twice",
         GgufImage{.metadata = {gguf_entry("k", 4, u32(1)), gguf_entry("l", 4, u32(1)), gguf_entry("k", 4, u32(1))}}
             .bytes(),
         format,
         24 + 17 + 17 + 8,
         {"metadata entry 2", "\"k\" is there twice"}},
        {"alignment 0", alignment(4, u32(0)), format, alignment_at, {"general.alignment: 0", "a power of two from 8"}},
        {"alignment 1", alignment(4, u32(1)), format, alignment_at, {"general.alignment: 1"}},
        {"alignment 48", alignment(4, u32(48)), format, alignment_at, {"general.alignment: 48"}},
        {"alignment 2^31", alignment(4, u32(0x80000000)), format, alignment_at, {"general.alignment: 2147483648"}},
        {"alignment near 2^32", alignment(4, u32(0xFFFFFFFF)), format, alignment_at, {"general.alignment: 4294967295"}},
        {"alignment of another type", alignment(10, u64(64)), format, alignment_at, {"type 10, expected 4 (uint32)"}},
        {"alignment that is a string", alignment(8, gguf_text("32")), format, alignment_at, {"type 8"}},
    };
}

std::vector<Refusal> tensor_refusals() {
    const std::string t = gguf_info("t", {4}, 0, 0);
    return {
        {"name longer than the file",
         start(1, 0) + u64(most) + std::string(40, 'n'),
         format,
         name_at,
         {"tensor info 0: name"}},
        {"name that is not UTF-8",
         tensors({gguf_info("t\xED\xA0\x80", {4}, 0, 0)}, 64),
         format,
         name_at + 9,
         {"name: invalid UTF-8"}},
        {"65 dimensions",
         tensors({gguf_info("t", std::vector<std::uint64_t>(65, 1), 0, 0)}, 64),
         unsupported,
         rank_at,
         {"rank: 65", "at most 64"}},
        {"rank near 2^32",
         start(1, 0) + gguf_text("t") + u32(0xFFFFFFFF) + std::string(64, '\0'),
         unsupported,
         rank_at,
         {"rank: 4294967295"}},
        {"dimensions cut off",
         start(1, 0) + gguf_text("t") + u32(4) + std::string(24, '\1'),
         format,
         dimensions_at,
         {"dimensions: expected 32 bytes"}},
        {"dimension near 2^64", tensor({most}, 0, 0), format, dimensions_at, {"2^60 or more"}},
        {"dimension 2^63", tensor({two_to_63}, 24, 0), format, dimensions_at, {"2^60 or more"}},
        {"product that wraps to 0",
         tensor({std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 24, 0),
         format,
         dimensions_at,
         {"2^60 or more"}},
        {"product that wraps to 16", tensor({(std::uint64_t{1} << 60) + 1, 16}, 0, 0), format, dimensions_at, {"2^60"}},
        {"0 beside huge dimensions", tensor({0, most, most}, 0, 0), format, dimensions_at, {"2^60 or more"}},
        {"huge dimensions beside 0",
         tensor({std::uint64_t{1} << 40, std::uint64_t{1} << 40, 0}, 0, 0),
         format,
         dimensions_at,
         {"2^60 or more"}},
        {"type 4, removed", tensor({32}, 4, 0), unsupported, dimensions_at + 8, {"type: 4"}},
        {"type 31, removed", tensor({32}, 31, 0), unsupported, dimensions_at + 8, {"type: 31"}},
        {"type near 2^32", tensor({32}, 0xFFFFFFFF, 0), unsupported, dimensions_at + 8, {"type: 4294967295"}},
        {"row that is no whole block",
         tensor({48, 2}, 8, 0),
         format,
         dimensions_at,
         {"a row of 48 elements", "Q8_0 blocks of 32"}},
        {"scalar of blocks", tensor({}, 2, 0), format, dimensions_at, {"a row of 1 elements", "Q4_0"}},
        {"offset that is not aligned",
         tensor({4}, 0, 16),
         format,
         dimensions_at + 12,
         {"offset: 16", "a multiple of the alignment, 32"}},
        {"offset near 2^64", tensor({4}, 0, most - 31), format, dimensions_at + 12, {"not inside the data"}},
        {"offset behind the data", tensor({4}, 0, 96), format, dimensions_at + 12, {"16 bytes at 96", "which has 64"}},
        {"empty tensor behind the data", tensor({0}, 0, 96), format, dimensions_at + 12, {"0 bytes at 96"}},
        {"data that is cut off", tensor({17}, 0, 0), format, dimensions_at + 12, {"68 bytes at 0", "which has 64"}},
        {"data that is not there",
         start(1, 0) + gguf_info("t", {4}, 0, 0),
         format,
         24 + 9 + 4 + 8 + 4 + 8,
         {"data: expected at byte 64"}},
        {"name twice",
         tensors({t, gguf_info("u", {4}, 0, 32), gguf_info("t", {4}, 0, 64)}, 96),
         format,
         24 + 33 * 2 + 8,
         {"tensor info 2: name", "\"t\" is there twice"}},
        {"the same data twice",
         tensors({t, gguf_info("u", {4}, 0, 0)}, 64),
         format,
         24 + 33 + 25,
         {"overlaps that of \"t\""}},
        {"data that overlaps",
         tensors({gguf_info("a", {24}, 0, 0), gguf_info("b", {4}, 0, 64)}, 96),
         format,
         24 + 33 + 25,
         {"\"b\" overlaps that of \"a\""}},
        {"overlap against the order",
         tensors({gguf_info("a", {4}, 0, 64), gguf_info("b", {24}, 0, 0)}, 96),
         format,
         24 + 25,
         {"\"a\" overlaps that of \"b\""}},
    };
}

void expect_refused(const Refusal& refusal, const Result<std::unique_ptr<GgufFile>>& opened) {
    SCOPED_TRACE(refusal.what);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, refusal.code) << opened.error().message;
    EXPECT_EQ(opened.error().offset, refusal.offset) << opened.error().message;
    const std::string_view message = opened.error().message;
    for (const auto& fragment : refusal.fragments) {
        EXPECT_NE(message.find(fragment), std::string_view::npos) << message << "\nwithout: " << fragment;
    }
}

void expect_all_refused(const std::vector<Refusal>& refusals) {
    const TemporaryFolder folder;
    for (const Refusal& refusal : refusals) {
        expect_refused(refusal, open_gguf_image(refusal.image));
        if (refusal.image.empty()) continue;  // is not mapped
        expect_refused(refusal, open_gguf_file(folder.file("refused", refusal.image), {.access = FileAccess::read}));
    }
}

TEST(GgufRefusal, EveryFaultOfTheHeader) {
    expect_all_refused(header_refusals());
}
TEST(GgufRefusal, EveryFaultOfMetadata) {
    expect_all_refused(metadata_refusals());
}
TEST(GgufRefusal, EveryFaultOfTensors) {
    expect_all_refused(tensor_refusals());
}

// A file with one of everything; cut anywhere it is refused, and never reads beyond its end (the images end where the
// memory ends, for a sanitizer to see).
TEST(GgufRefusal, TruncatedAnywhere) {
    GgufImage image;
    image.metadata = {gguf_entry("a", 0, "\1"), gguf_entry("b", 8, gguf_text("text")),
                      gguf_entry("c", 9, u32(8) + u64(2) + gguf_text("x") + gguf_text("y")),
                      gguf_entry("d", 9, u32(5) + u64(2) + u64(0)), gguf_entry("general.alignment", 4, u32(64))};
    image.tensors = {gguf_info("t", {4, 2}, 0, 0), gguf_info("u", {32}, 8, 64)};
    image.alignment = 64;
    image.data = std::string(64 + 34, '\1');
    const std::string whole = image.bytes();
    ASSERT_TRUE(open_gguf_image(whole).has_value());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        const auto opened = open_gguf_image(std::string_view(part.data(), part.size()));
        ASSERT_FALSE(opened.has_value()) << length;
        EXPECT_EQ(opened.error().code, Status::invalid_format) << length << ": " << opened.error().message;
        EXPECT_LE(opened.error().offset, length) << opened.error().message;
    }
}

// The first fault in the order of the file is the one that is told.
TEST(GgufRefusal, TheFirstFaultIsTold) {
    const std::string bad_key = gguf_entry("k\xFF", 99, "");
    const std::string bad_tensor = gguf_info("t", {most}, 4, 7);
    const auto both = open_gguf_image(GgufImage{.metadata = {bad_key}, .tensors = {bad_tensor}}.bytes());
    ASSERT_FALSE(both.has_value());
    EXPECT_EQ(both.error().offset, 33U);
    const auto second = open_gguf_image(GgufImage{.tensors = {bad_tensor}}.bytes());
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().offset, dimensions_at) << second.error().message;
}

TEST(GgufRefusal, HeadersBeyondTheLimit) {
    GgufImage image;
    image.metadata = {gguf_entry("a", 8, gguf_text(std::string(2000, 'x'))),
                      gguf_entry("b", 9, u32(0) + u64(3000) + std::string(3000, '\0'))};
    const std::string bytes = image.bytes();
    ASSERT_TRUE(open_gguf_image(bytes, {.header_limit = 6000}).has_value());
    for (const std::uint64_t limit : {20U, 1000U, 2100U, 4000U}) {
        const auto opened = open_gguf_image(bytes, {.header_limit = limit});
        ASSERT_FALSE(opened.has_value()) << limit;
        EXPECT_EQ(opened.error().code, Status::limit_exceeded) << opened.error().message;
    }
    const std::string many = start(1000, 0) + std::string(24000, '\0');
    const auto counted = open_gguf_image(many, {.header_limit = 20000});
    ASSERT_FALSE(counted.has_value());
    EXPECT_EQ(counted.error().code, Status::limit_exceeded);
    EXPECT_EQ(counted.error().offset, 8U);
}

TEST(GgufRefusal, BlocksThatTheOptionsRefuse) {
    const std::string inexact = gguf_image_of({32}, 3, std::string(20, '\0'));
    const auto refused = open_gguf_image(inexact, {.inexact_blocks = InexactBlocks::refuse});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, unsupported);
    EXPECT_EQ(refused.error().offset, dimensions_at + 8);
    EXPECT_NE(std::string_view(refused.error().message).find("Q4_1"), std::string_view::npos)
        << refused.error().message;
    const std::string exact = gguf_image_of({32}, 8, std::string(34, '\1'));
    EXPECT_TRUE(open_gguf_image(exact, {.inexact_blocks = InexactBlocks::refuse}).has_value());
    EXPECT_FALSE(open_gguf_image(exact, {.inexact_blocks = InexactBlocks::refuse, .exact_schemes = false}).has_value());
    const auto none = open_gguf_image(exact, {.inexact_blocks = static_cast<InexactBlocks>(4)});
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().code, Status::invalid_argument);
}

}  // namespace
}  // namespace hurray
