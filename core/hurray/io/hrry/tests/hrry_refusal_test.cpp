// What is wrong with a .hrry file is an error that says what, where and what was expected: each field by itself, and
// files that are cut anywhere.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "core/hurray/composite/composite_builder.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/hrry/tests/support.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/private_layout.hpp"

namespace hurray {
namespace {

// Tensors "a" (24 bytes of data), "b" (empty) and "c" (40), and three entries of metadata.
Bytes sample(bool sorted = true) {
    WrittenFile out({.sorted_index = sorted});
    EXPECT_TRUE(out->add("a", make_tensor({.shape = {2, 3}})).has_value());
    EXPECT_TRUE(out->add("b", make_tensor({.shape = {0}})).has_value());
    EXPECT_TRUE(out->add("c", make_tensor({.type = 0x16, .shape = {5}})).has_value());
    EXPECT_TRUE(out->set_metadata("flag",
                                  [] {
                                      MetadataValue value;
                                      value.type = MetadataType::boolean;
                                      return value;
                                  }())
                    .has_value());
    EXPECT_TRUE(out->set_metadata("name", string_value("text")).has_value());
    MetadataValue list;
    list.type = MetadataType::array;
    list.elements = {string_value("x"), string_value("yz")};
    EXPECT_TRUE(out->set_metadata("list", list).has_value());
    return out.finish();
}

struct Mutation {
    const char* what;
    std::function<void(Bytes&)> change;
    Status code;
    /// Of the field at fault.
    std::function<std::size_t(const Bytes&)> offset;
    const char* message;
    bool sorted = true;
    bool seal = true;
};

std::function<std::size_t(const Bytes&)> at(std::size_t offset) {
    return [offset](const Bytes&) { return offset; };
}
std::function<std::size_t(const Bytes&)> in_trailer(std::size_t offset) {
    return [offset](const Bytes& image) { return trailer_at(image) + offset; };
}
std::function<std::size_t(const Bytes&)> in_index(std::size_t offset) {
    return [offset](const Bytes& image) { return index_at(image) + offset; };
}
std::function<std::size_t(const Bytes&)> in_metadata(std::size_t offset) {
    return [offset](const Bytes& image) { return metadata_at(image) + offset; };
}

// In the index: count 8, then entries of 35 bytes: length 2, name 1, descriptor_offset 8, descriptor_length 4,
// data_offset 8, data_length 8, flags 4. In the metadata: count 4; "flag": 2 + 4 + 1 + 1; "name": 2 + 4 + 1 + 4 + 4;
// "list": 2 + 4 + 1 + 1 + 4 + (4 + 1) + (4 + 2).
constexpr std::size_t a_entry = 8;
constexpr std::size_t b_entry = 8 + 35;
constexpr std::size_t c_entry = 8 + 70;
constexpr std::size_t a_fields = a_entry + 3;
constexpr std::size_t b_fields = b_entry + 3;
constexpr std::size_t c_fields = c_entry + 3;
constexpr std::size_t flag_at = 4;
constexpr std::size_t name_at = flag_at + 8;
constexpr std::size_t list_at = name_at + 15;

template <typename T>
std::function<void(Bytes&)> set(std::function<std::size_t(const Bytes&)> where, T value) {
    return [where, value](Bytes& image) { put(image, where(image), value); };
}

const std::vector<Mutation>& mutations() {
    using u8 = std::uint8_t;
    using u16 = std::uint16_t;
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    constexpr Status bad = Status::invalid_format;
    constexpr u64 top = ~u64{0};
    static const std::vector<Mutation> all = {
        {"magic", set(at(3), u8{'X'}), Status::invalid_magic, at(0), "magic"},
        {"major 0", set(at(8), u8{0}), Status::version_mismatch, at(8), "container_version_major"},
        {"major 2", set(at(8), u8{2}), Status::version_mismatch, at(8), "container_version_major"},
        {"header reserved 10", set(at(10), u8{1}), bad, at(10), "reserved"},
        {"header reserved 11", set(at(11), u8{1}), bad, at(11), "reserved"},
        {"flag 3", set(at(12), u32{15}), bad, at(12), "file_flags"},
        {"flag 31", set(at(12), u32{0x80000007}), bad, at(12), "file_flags"},
        {"alignment 0", set(at(16), u32{0}), bad, at(16), "data_buffer_alignment"},
        {"alignment 2048", set(at(16), u32{2048}), bad, at(16), "data_buffer_alignment"},
        {"alignment 4097", set(at(16), u32{4097}), bad, at(16), "data_buffer_alignment"},
        {"alignment 4 MiB", set(at(16), u32{4U << 20}), bad, at(16), "data_buffer_alignment"},
        {"alignment 2^31", set(at(16), u32{1U << 31}), bad, at(16), "data_buffer_alignment"},
        {"alignment of another file", set(at(16), u32{8192}), bad, in_index(a_fields + 12), "data_offset"},
        {"first descriptor 56", set(at(20), u64{56}), bad, at(20), "first_descriptor_offset"},
        {"first descriptor 65", set(at(20), u64{65}), bad, at(20), "first_descriptor_offset"},
        {"first descriptor 72", set(at(20), u64{72}), bad, in_index(a_fields), "descriptor_offset"},
        {"first descriptor far away", set(at(20), top - 7), bad, in_trailer(0), "index_offset"},
        {"header reserved 36", set(at(36), u8{1}), bad, at(36), "reserved"},
        {"header reserved 63", set(at(63), u8{1}), bad, at(63), "reserved"},

        {"trailer magic", set(in_trailer(36), u32{0}), Status::invalid_magic, in_trailer(36), "trailer_magic", true, false},
        {"trailer reserved", set(in_trailer(35), u8{1}), bad, in_trailer(35), "reserved"},
        {"index_offset odd", set(in_trailer(0), u64{4097}), bad, in_trailer(0), "index_offset", true, false},
        {"index_offset 0", set(in_trailer(0), u64{0}), bad, in_trailer(0), "index_offset", true, false},
        {"index_offset behind the trailer", set(in_trailer(0), u64{1} << 40), bad, in_trailer(0), "index_offset", true, false},
        {"index_offset top", set(in_trailer(0), top - 7), bad, in_trailer(0), "index_offset", true, false},
        {"index_length 7", set(in_trailer(8), u64{7}), bad, in_trailer(8), "index_length", true, false},
        {"index_length into the trailer", set(in_trailer(8), u64{8 + 3 * 35 + 1}), bad, in_trailer(8), "index_length", true, false},
        {"index_length top", set(in_trailer(8), top), bad, in_trailer(8), "index_length", true, false},
        {"index_length short", set(in_trailer(8), u64{8 + 3 * 35 - 1}), bad, in_index(0), "index_entry_count"},
        {"kv_offset 0 with the flag", set(in_trailer(16), u64{0}), bad, in_trailer(16), "kv_offset"},
        {"kv_offset odd", [](Bytes& image) { put(image, trailer_at(image) + 16, u64{metadata_at(image) + 4}); }, bad, in_trailer(16), "kv_offset"},
        {"kv_offset in the header", set(in_trailer(16), u64{8}), bad, in_trailer(16), "kv_offset"},
        {"kv_offset behind the index", [](Bytes& image) { put(image, trailer_at(image) + 16, u64{index_at(image) + 8}); }, bad, in_trailer(16), "kv_offset"},
        {"kv_length 0", set(in_trailer(24), u32{0}), bad, in_trailer(24), "kv_length"},
        {"kv_length 3", set(in_trailer(24), u32{3}), bad, in_trailer(24), "kv_length"},
        {"kv_length into the index", set(in_trailer(24), u32{100'000}), bad, in_trailer(24), "kv_length"},
        {"kv_length top", set(in_trailer(24), ~u32{0}), bad, in_trailer(24), "kv_length"},
        {"checksum", [](Bytes& image) { image[trailer_at(image) + 28] ^= std::byte{1}; }, bad, in_trailer(28), "index_crc32c", true, false},
        {"checksum without its flag", set(at(12), u32{3}), bad, in_trailer(28), "index_crc32c", true, false},
        {"index changed under its checksum", set(in_index(a_fields + 20), u64{20}), bad, in_trailer(28), "index_crc32c", true, false},

        {"count 2", set(in_index(0), u64{2}), bad, in_index(c_entry), "expected its end"},
        {"count 4", set(in_index(0), u64{4}), bad, in_index(0), "index_entry_count"},
        {"count top", set(in_index(0), top), bad, in_index(0), "index_entry_count"},
        {"name_length 0", set(in_index(a_entry), u16{0}), bad, in_index(a_entry), "name_length"},
        {"name_length top", set(in_index(a_entry), u16{0xFFFF}), bad, in_index(a_entry), "index entry 0"},
        {"name_length 2", set(in_index(c_entry), u16{2}), bad, in_index(c_entry), "index entry 2"},
        {"name no UTF-8", set(in_index(b_entry + 2), u8{0xFF}), bad, in_index(b_entry + 2), "UTF-8"},
        {"name twice", set(in_index(b_entry + 2), u8{'a'}), bad, in_index(b_entry + 2), "two tensors"},
        {"name twice, unsorted", set(in_index(c_entry + 2), u8{'a'}), bad, in_index(c_entry + 2), "two tensors", false},
        {"names out of order", set(in_index(c_entry + 2), u8{'A'}), bad, in_index(c_entry + 2), "order"},
        {"descriptor_offset odd", set(in_index(b_fields), u64{4099}), bad, in_index(b_fields), "descriptor_offset"},
        {"descriptor_offset in the header", set(in_index(a_fields), u64{56}), bad, in_index(a_fields), "descriptor_offset"},
        {"descriptor_offset top", set(in_index(a_fields), top - 7), bad, in_index(a_fields), "descriptor_offset"},
        {"descriptor_length 19", set(in_index(a_fields + 8), u32{19}), bad, in_index(a_fields + 8), "descriptor_length"},
        {"descriptor_length top", set(in_index(a_fields + 8), ~u32{0}), bad, in_index(a_fields + 8), "descriptor_length"},
        {"data_offset before the descriptor", set(in_index(c_fields + 12), u64{4096}), bad, in_index(c_fields + 12), "data_offset"},
        {"data_offset not aligned", set(in_index(a_fields + 12), u64{4096 + 64}), bad, in_index(a_fields + 12), "data_offset"},
        {"data_offset further on", set(in_index(a_fields + 12), u64{8192}), bad, in_index(a_fields + 12), "data_offset"},
        {"data_offset top", set(in_index(a_fields + 12), top & ~u64{4095}), bad, in_index(a_fields + 12), "data_offset"},
        {"data_offset of nothing", set(in_index(b_fields + 12), u64{1} << 50), bad, in_index(b_fields + 12), "data_offset"},
        {"data_length into the metadata", [](Bytes& image) { put(image, index_at(image) + c_fields + 20, u64{metadata_at(image)}); }, bad, in_index(c_fields + 20), "data_length"},
        {"data_length top", set(in_index(a_fields + 20), top), bad, in_index(a_fields + 20), "data_length"},
        {"overlap", set(in_index(a_fields + 20), u64{5000}), bad, in_index(b_fields), "lies in tensor \"a\""},
        {"the same place twice", [](Bytes& image) {
             std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(index_at(image) + a_fields), 28,
                         image.begin() + static_cast<std::ptrdiff_t>(index_at(image) + b_fields));
         }, bad, in_index(b_fields), "lies in tensor \"a\""},
        {"entry flags", set(in_index(b_fields + 28), u32{1}), bad, in_index(b_fields + 28), "flags"},
        {"a tensor that is not in the index", [](Bytes& image) {
             // c's entry goes; what it left behind is no padding.
             const std::size_t index = index_at(image);
             put(image, index, u64{2});
             image.erase(image.begin() + static_cast<std::ptrdiff_t>(index + c_entry), image.begin() + static_cast<std::ptrdiff_t>(index + c_entry + 35));
             put(image, trailer_at(image) + 8, u64{8 + 70});
         }, bad, in_index(0), "belong to none"},

        {"kv_count 4", set(in_metadata(0), u32{4}), bad, [](const Bytes& image) {
             return metadata_at(image) + get<u32>(image, trailer_at(image) + 24);
         }, "key_length"},
        {"kv_count 2", set(in_metadata(0), u32{2}), bad, in_metadata(list_at), "expected the end"},
        {"kv_count top", set(in_metadata(0), ~u32{0}), bad, in_metadata(0), "kv_count"},
        {"key_length 0", set(in_metadata(flag_at), u16{0}), bad, in_metadata(flag_at), "key_length"},
        {"key_length top", set(in_metadata(flag_at), u16{0xFFFF}), bad, in_metadata(flag_at + 2), "key"},
        {"key no UTF-8", set(in_metadata(flag_at + 3), u8{0x80}), bad, in_metadata(flag_at + 3), "UTF-8"},
        {"key twice", [](Bytes& image) {
             std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(metadata_at(image) + flag_at + 2), 4,
                         image.begin() + static_cast<std::ptrdiff_t>(metadata_at(image) + name_at + 2));
         }, bad, in_metadata(name_at + 2), "twice"},
        {"tag 0", set(in_metadata(flag_at + 6), u8{0}), bad, in_metadata(flag_at + 6), "value_tag"},
        {"tag 8", set(in_metadata(flag_at + 6), u8{8}), bad, in_metadata(flag_at + 6), "value_tag"},
        {"tag F0", set(in_metadata(flag_at + 6), u8{0xF0}), bad, in_metadata(flag_at + 6), "value_tag"},
        {"tag FF", set(in_metadata(flag_at + 6), u8{0xFF}), bad, in_metadata(flag_at + 6), "value_tag"},
        {"bool 2", set(in_metadata(flag_at + 7), u8{2}), bad, in_metadata(flag_at + 7), "bool"},
        {"string longer than the section", set(in_metadata(name_at + 7), ~u32{0}), bad, in_metadata(name_at + 7), "length"},
        {"string no UTF-8", set(in_metadata(name_at + 11), u8{0xC0}), bad, in_metadata(name_at + 11), "UTF-8"},
        {"array of nothing", set(in_metadata(list_at + 7), u8{0}), bad, in_metadata(list_at + 7), "element type"},
        {"array of arrays", set(in_metadata(list_at + 7), u8{7}), bad, in_metadata(list_at + 7), "element type"},
        {"array of too many", set(in_metadata(list_at + 8), ~u32{0}), bad, in_metadata(list_at + 8), "elements"},
        {"array of one less", set(in_metadata(list_at + 8), u32{1}), bad, in_metadata(list_at + 17), "expected the end"},
        {"array with a long element", set(in_metadata(list_at + 17), u32{3}), bad, in_metadata(list_at + 17), "length"},
        {"array with an element that is no UTF-8", set(in_metadata(list_at + 22), u8{0xFF}), bad, in_metadata(list_at + 22), "UTF-8"},
    };
    return all;
}

TEST(HrryRefusal, EveryFieldIsChecked) {
    for (const Mutation& mutation : mutations()) {
        Bytes image = sample(mutation.sorted);
        ASSERT_TRUE(open_image(image).has_value());
        mutation.change(image);
        if (mutation.seal) seal(image);
        const auto file = open_image(image);
        ASSERT_FALSE(file.has_value()) << mutation.what;
        EXPECT_EQ(file.error().code, mutation.code) << mutation.what << ": " << file.error().message;
        EXPECT_EQ(file.error().offset, mutation.offset(image)) << mutation.what << ": " << file.error().message;
        EXPECT_NE(std::string_view(file.error().message).find(mutation.message), std::string_view::npos)
            << mutation.what << ": " << file.error().message;
    }
}

TEST(HrryRefusal, WhatOthersMayWriteIsAccepted) {
    const auto opens = [](Bytes image) {
        const auto file = open_image(image);
        EXPECT_TRUE(file.has_value()) << file.error().message;
        if (!file) return;
        for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) EXPECT_TRUE((*file)->tensor(i).has_value());
    };
    Bytes minor = sample();
    minor[9] = std::byte{7};
    opens(minor);
    Bytes hint = sample();
    put(hint, 28, std::uint64_t{12345});
    opens(hint);
    Bytes no_flag = sample();
    put(no_flag, 12, std::uint32_t{6});
    opens(no_flag);
    Bytes no_checksum = sample();
    put(no_checksum, 12, std::uint32_t{3});
    put(no_checksum, trailer_at(no_checksum) + 28, std::uint32_t{0});
    opens(no_checksum);
    // An index in order without the flag.
    Bytes unsorted = sample();
    put(unsorted, 12, std::uint32_t{5});
    opens(unsorted);
    EXPECT_EQ(open_image(unsorted).value()->find("c"), 2U);
}

TEST(HrryRefusal, EveryBitOfHeaderIndexAndTrailerThatMattersIsNoticed) {
    const Bytes good = sample();
    std::size_t accepted = 0;
    const auto flip = [&](std::size_t from, std::size_t to) {
        for (std::size_t byte = from; byte < to; ++byte) {
            for (int bit = 0; bit < 8; ++bit) {
                Bytes image = good;
                image[byte] ^= static_cast<std::byte>(1 << bit);
                const auto file = open_image(image);
                if (!file) {
                    EXPECT_TRUE(file.error().offset == Error::no_offset || file.error().offset <= image.size());
                    continue;
                }
                ++accepted;
                // Minor version, count hint, and the flags that say less than there is.
                EXPECT_TRUE(byte == 9 || (byte >= 28 && byte < 36) || (byte == 12 && bit < 2)) << byte << " " << bit;
            }
        }
    };
    flip(0, 64);
    flip(index_at(good), good.size());
    EXPECT_EQ(accepted, 8U + 64U + 2U);
}

TEST(HrryRefusal, AFileThatIsCutAnywhereIsRefused) {
    const Bytes good = sample();
    for (std::size_t length = 0; length < good.size(); ++length) {
        // A copy of exactly its size, so that a sanitizer sees a read behind its end.
        const Bytes image(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
        const auto file = open_image(image);
        ASSERT_FALSE(file.has_value()) << length;
        ASSERT_TRUE(file.error().code == Status::invalid_format || file.error().code == Status::invalid_magic)
            << file.error().message;
        ASSERT_LE(file.error().offset, length);
    }
}

TEST(HrryRefusal, BytesBehindTheTrailerAreRefused) {
    Bytes image = sample();
    image.push_back(std::byte{0});
    EXPECT_EQ(open_image(image).error().code, Status::invalid_magic);
}

TEST(HrryRefusal, DescriptorsAreCheckedAgainstTheIndexWhenTheyAreRead) {
    const Bytes good = sample();
    const auto refused = [&](const std::function<void(Bytes&)>& change, Status code, std::size_t offset,
                             const char* message) {
        Bytes image = good;
        change(image);
        seal(image);
        const auto opened = open_image(image);
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        const HrryFile& file = **opened;
        for (const Error& error : {file.tensor_info(0).error(), file.descriptor(0).error(), file.tensor(0).error(),
                                   file.buffer_range(0, 0).error(), file.composite(0).error()}) {
            EXPECT_EQ(error.code, code) << error.message;
            EXPECT_EQ(error.offset, offset) << error.message;
            EXPECT_NE(std::string_view(error.message).find(message), std::string_view::npos) << error.message;
            EXPECT_NE(std::string_view(error.message).find("\"a\""), std::string_view::npos) << error.message;
        }
        EXPECT_TRUE(file.tensor(2).has_value());
    };
    const std::size_t index = index_at(good);
    refused([](Bytes& image) { image[64] = std::byte{'X'}; }, Status::invalid_magic, 64, "magic");
    refused([](Bytes& image) { image[68] = std::byte{2}; }, Status::version_mismatch, 68, "version");
    refused([](Bytes& image) { put(image, 70, std::uint32_t{60}); }, Status::invalid_format, 70, "descriptor_length");
    refused([](Bytes& image) { put(image, 70, ~std::uint32_t{0}); }, Status::limit_exceeded, 70, "descriptor_length");
    refused([](Bytes& image) { image[64 + 14] = std::byte{0}; }, Status::invalid_type, 64 + 14, "type_tag");
    refused([&](Bytes& image) { put(image, index + a_fields + 8, std::uint32_t{62}); }, Status::invalid_format, 70,
            "descriptor_length");
    refused([&](Bytes& image) { put(image, index + a_fields + 20, std::uint64_t{23}); }, Status::invalid_format,
            index + a_fields + 20, "data_length");
    refused([&](Bytes& image) { put(image, index + a_fields + 20, std::uint64_t{25}); }, Status::invalid_format,
            index + a_fields + 20, "data_length");
    // byte_size of the buffer: behind header 20, shape 16, byte_offset 8, count 1
    refused([](Bytes& image) { put(image, 64 + 45, ~std::uint64_t{0}); }, Status::invalid_format, index + a_fields + 20,
            "data_length");
}

TEST(HrryRefusal, DataOfAnEmptyTensorIsAlignedAsItsBufferIs) {
    Bytes image = sample();
    const std::size_t field = fields_at(image, "b") + 12;
    put(image, field, std::uint64_t{get<std::uint64_t>(image, field) - 8});
    seal(image);
    const auto file = open_image(image);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const auto info = (*file)->tensor_info(1);
    ASSERT_FALSE(info.has_value());
    EXPECT_EQ(info.error().offset, field);
}

Bytes with_composite() {
    const std::uint64_t whole[] = {2, 4};
    const std::uint64_t first[] = {0, 0};
    const std::uint64_t second[] = {0, 2};
    CompositeBuilder builder(0x03, whole, composition_rule::partition);
    EXPECT_TRUE(builder.add_at(CompositeMember(make_tensor({.shape = {2, 2}})), first).has_value());
    EXPECT_TRUE(builder.add_at(CompositeMember(make_tensor({.shape = {2, 2}})), second).has_value());
    WrittenFile out;
    EXPECT_TRUE(out->add_composite("c", **builder.build()).has_value());
    return out.finish();
}

TEST(HrryRefusal, ATornCompositeIsRefusedAndItsMembersAreLooseToAPermissiveReader) {
    Bytes image = with_composite();
    ASSERT_TRUE(open_image(image).value()->composite(0).has_value());
    // member_count: behind header 20, shape 16, byte_offset 8, rule 1, combine_op 1, reserved 2
    put(image, 64 + 48, std::uint32_t{3});
    const auto strict = open_image(image).value();
    for (const Error& error :
         {strict->tensor_info(0).error(), strict->tensor(0).error(), strict->composite(0).error()}) {
        EXPECT_EQ(error.code, Status::invalid_composite) << error.message;
        EXPECT_EQ(error.offset, 64U);
    }
    const auto permissive = open_image(image, {.mode = Mode::permissive}).value();
    EXPECT_TRUE(permissive->tensor_info(0).has_value());
    EXPECT_EQ(permissive->composite(0).error().code, Status::invalid_composite);
    EXPECT_TRUE(permissive->tensor(1).has_value());
    EXPECT_TRUE(permissive->tensor(2).has_value());
}

TEST(HrryRefusal, MembersThatDoNotFitAreRefused) {
    Bytes image = with_composite();
    // shard_offset[1] of the second member: behind header 20, shape 16, byte_offset 8, table 17, parent_shape 16
    const std::size_t second = get<std::uint64_t>(image, fields_at(image, "c/1"));
    put(image, second + 77 + 8, std::uint64_t{1});
    const auto file = open_image(image).value();
    const auto composite = file->composite(0);
    ASSERT_FALSE(composite.has_value());
    EXPECT_EQ(composite.error().code, Status::invalid_composite) << composite.error().message;
    EXPECT_TRUE(file->tensor(2).has_value());
}

TEST(HrryRefusal, PrivateLayoutsNeedLeaveAndUnknownOnesAreOpaqueToAPermissiveReader) {
    const std::uint64_t shape[] = {4};
    DescriptorBuilder builder(0x03, 0xF3, shape);
    const std::byte data[] = {std::byte{1}, std::byte{2}};
    builder.set_private_layout({.id = 77, .data = data});
    Tensor tensor{Descriptor::vacant(), {}};
    tensor.buffers.push_back(allocate_buffer(16).value());
    ASSERT_TRUE(builder.add_buffer(tensor.buffers[0].handle).has_value());
    tensor.descriptor = builder.build(PrivateTags::allow).value();
    WrittenFile out;
    ASSERT_TRUE(out->add("p", tensor).has_value());
    Bytes image = out.finish();
    EXPECT_FALSE(open_image(image).value()->tensor(0).has_value());
    const auto allowed = open_image(image, {.private_tags = PrivateTags::allow}).value();
    ASSERT_TRUE(allowed->tensor(0).has_value());
    EXPECT_TRUE(same_data(allowed->tensor(0).value(), tensor));
    image[64 + 15] = std::byte{0x77};
    EXPECT_FALSE(open_image(image).value()->tensor_info(0).has_value());
    const auto opaque = open_image(image, {.mode = Mode::permissive}).value();
    ASSERT_TRUE(opaque->tensor_info(0).has_value()) << opaque->tensor_info(0).error().message;
    EXPECT_EQ(opaque->tensor_info(0)->layout_tag, 0x77);
    EXPECT_EQ(opaque->tensor(0).error().code, Status::unsupported);
}

TEST(HrryRefusal, SectionsLongerThanTheLimitAreRefusedBeforeTheyAreRead) {
    const Bytes image = sample();
    EXPECT_EQ(open_image(image, {.header_limit = 100}).error().code, Status::limit_exceeded);
    EXPECT_TRUE(open_image(image, {.header_limit = 113}).has_value());
    WrittenFile out;
    ASSERT_TRUE(out->set_metadata("k", string_value(std::string(500, 'x'))).has_value());
    EXPECT_EQ(open_image(out.finish(), {.header_limit = 200}).error().code, Status::limit_exceeded);
}

class CutWhileOpen : public testing::TestWithParam<FileAccess> {};

TEST_P(CutWhileOpen, EverythingButMappedDataIsAnErrorAndNoSignal) {
    TemporaryFolder folder;
    const Bytes image = sample();
    const std::string path = folder.file("f.hrry", as_text(image));
    const auto file = open_model_file(path, {.access = GetParam()}).value();
    ASSERT_EQ(::truncate(path.c_str(), 8192 + 10), 0);
    EXPECT_TRUE(file->tensor_info(0).has_value());
    // Descriptors are read by calls to the system, names are in memory.
    EXPECT_EQ(file->find("c"), 2U);
    EXPECT_EQ(file->metadata(1)->value.text, "text");
    const auto info = file->tensor_info(2);
    ASSERT_FALSE(info.has_value());
    EXPECT_EQ(info.error().code, Status::invalid_format) << info.error().message;
    EXPECT_EQ(file->tensor(2).error().code, Status::invalid_format);
    EXPECT_FALSE(open_model_file(path, {.access = GetParam()}).has_value());
}

INSTANTIATE_TEST_SUITE_P(Both, CutWhileOpen, testing::Values(FileAccess::map, FileAccess::read),
                         [](const auto& info) { return info.param == FileAccess::map ? "map" : "read"; });

TEST(CutWhileOpen, InTheMiddleOfReadingDataWithoutAMapItIsAnErrorWithTheOffset) {
    TemporaryFolder folder;
    const std::string path = folder.path() + "/f.hrry";
    {
        auto writer = create_model_file(path, FileFormat::hrry).value();
        ASSERT_TRUE(writer->add("t", make_tensor({.shape = {100'000}})).has_value());
        ASSERT_TRUE(writer->finish().has_value());
    }
    const auto file = open_model_file(path, {.access = FileAccess::read}).value();
    ASSERT_EQ(::truncate(path.c_str(), 200'000), 0);
    const auto tensor = file->tensor(0);
    ASSERT_FALSE(tensor.has_value());
    EXPECT_EQ(tensor.error().code, Status::invalid_format);
    EXPECT_EQ(tensor.error().offset, 200'000U) << tensor.error().message;
}

// The documented contract of mapped files, so that nobody believes that the library catches it.
TEST(CutWhileOpen, MappedDataThatIsGoneRaisesSigbus) {
    TemporaryFolder folder;
    const std::string path = folder.file("f.hrry", as_text(sample()));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // Sanitizers turn the signal into an exit code of theirs.
        ::signal(SIGBUS, SIG_DFL);
        const auto file = open_model_file(path);
        if (!file) ::_exit(1);
        const auto tensor = (*file)->tensor(2);
        if (!tensor || ::truncate(path.c_str(), 4096) != 0) ::_exit(2);
        const volatile std::byte* byte = tensor->buffers[0].data;
        ::_exit(*byte == std::byte{0} ? 3 : 4);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), SIGBUS);
}

}  // namespace
}  // namespace hurray
