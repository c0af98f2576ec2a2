// Every way in which an archive can be wrong, with the code, the place and the words of the refusal.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/hurray/io/npy/tests/npy_image.hpp"
#include "core/hurray/io/npz/npz_file.hpp"
#include "core/hurray/io/npz/tests/zip_image.hpp"

namespace hurray {
namespace {

constexpr Status format = Status::invalid_format;
constexpr Status unsupported = Status::unsupported;
constexpr std::uint64_t somewhere = ~std::uint64_t{0} - 1;

const std::string& npy() {
    static const std::string image = npy_image("<f4", "(2,)", "datadata");
    return image;
}

struct Refusal {
    const char* what;
    std::string image;
    Status code;
    std::uint64_t offset;
    std::vector<std::string> fragments;
};

ZipEntry good() { return zip_entry("a.npy", npy()); }
// Of an archive with the one member good().
const std::uint64_t directory_at = 30 + 5 + npy().size();
const std::uint64_t end_at = directory_at + 46 + 5;

std::string one(const std::function<void(ZipEntry&)>& change) {
    ZipEntry entry = good();
    change(entry);
    return zip_image({entry});
}
std::string both(const std::function<void(ZipHeader&)>& change) { return zip_image({with(good(), change)}); }
std::string named(const std::string& name, std::uint16_t flags = 0) {
    return both([&](ZipHeader& header) {
        header.name = name;
        header.flags = flags;
    });
}
std::string ended(const ZipEnd& end) { return zip_image({good()}, end); }
std::string ended64(const Zip64End& end64, ZipEnd end = {}) {
    const ZipParts parts = zip_parts({good()});
    end.in_front = zip64_end(parts, end64);
    return zip_image(parts, end);
}
/// CRC-32 and sizes behind the data, and 0 in the local header.
ZipEntry later(std::string behind) {
    ZipEntry entry = with(good(), [](ZipHeader& header) { header.flags = zip::flag::descriptor; });
    entry.local.crc = entry.local.size = entry.local.compressed_size = 0;
    entry.behind = std::move(behind);
    return entry;
}
std::string descriptor_of(const ZipEntry& entry, bool signature, bool wide) {
    std::string descriptor;
    if (signature) append_number(descriptor, zip::descriptor_signature);
    append_number(descriptor, entry.central.crc);
    for (int k = 0; k < 2; ++k) {
        if (wide) {
            append_number(descriptor, std::uint64_t{entry.central.size});
        } else {
            append_number(descriptor, entry.central.size);
        }
    }
    return descriptor;
}
std::string numbers(std::initializer_list<std::uint64_t> values) {
    std::string text;
    for (const auto value : values) append_number(text, value);
    return text;
}

std::vector<Refusal> refusals() {
    const std::string image = zip_image({good()});
    const std::string nul(1, '\0');
    std::string wrong_crc = npy();
    wrong_crc.back() = 'x';
    return {
        // The end.
        {"a signature only", "PK\3\4", format, 4, {"4 bytes, expected at least 22"}},
        {"no end", image.substr(0, end_at) + std::string(30, ' '), format, 0, {"not found"}},
        {"bytes behind the end", ended({.behind = "x"}), format, end_at + 20, {"comment of 0 bytes, but 1 bytes follow"}},
        {"a comment longer than the file", ended({.comment = "abc", .comment_length = 4}), format, end_at + 20, {"4 bytes, but 3"}},
        {"a comment with a signature", ended({.comment = "PK\5\6" + std::string(18, '\0')}), format, somewhere, {"central directory"}},
        {"another part", ended({.disk = 1}), unsupported, end_at + 4, {"several parts"}},
        {"entries in another part", ended({.entries_here = 0, .entries = 1}), unsupported, end_at + 8, {"several parts"}},
        {"more entries than there is room for", ended({.entries = 2}), format, end_at + 10, {"2 entries in 51 bytes"}},
        {"fewer entries", ended({.entries = 0}), format, directory_at, {"51 bytes behind its 0 entries"}},
        {"a directory that does not end at the end", ended({.directory_size = 50}), format, end_at + 12, {"expected one that ends at"}},
        {"a directory behind the file", ended({.directory_offset = 0xFFFFFFF0}), format, end_at + 12, {"expected one that ends at"}},
        {"something in front of the archive", "MZ" + image, format, end_at + 2 + 12, {"expected one that ends at"}},
        {"something between directory and end", ended({.in_front = "x"}), format, end_at + 1 + 12, {"expected one that ends at"}},
        // The end, ZIP64.
        {"a record far away", ended64({.record_offset = ~std::uint64_t{0}}), format, end_at + 56 + 8, {"expected one that ends at"}},
        {"a record inside the directory", ended64({.record_offset = directory_at}), format, directory_at, {"signature 50 4B 06 06"}},
        {"a record of another size", ended64({.record_size = 45}), format, end_at + 4, {"45 bytes, expected 44"}},
        {"a record of 2^64-1 bytes", ended64({.record_size = ~std::uint64_t{0}}), format, end_at + 4, {"expected 44"}},
        {"several parts", ended64({.disks = 2}), unsupported, end_at + 56 + 4, {"several parts"}},
        {"a record of another part", ended64({.disk = 1}), unsupported, end_at + 16, {"several parts"}},
        {"entries elsewhere", ended64({.entries_here = 0}), unsupported, end_at + 24, {"several parts"}},
        {"other values than in the end record", ended64({.entries = 2}), format, end_at + 76 + 8, {"other values"}},
        {"2^64-1 entries", ended64({.entries = ~std::uint64_t{0}}, {.entries = 0xFFFF}), format, end_at + 76 + 10, {"18446744073709551615 entries"}},
        {"a directory of 2^64-1 bytes", ended64({.directory_size = ~std::uint64_t{0}}, {.directory_size = 0xFFFFFFFF}), format, end_at + 76 + 12,
         {"18446744073709551615 bytes"}},
        {"offset and size that wrap", ended64({.directory_size = directory_at + 2, .directory_offset = ~std::uint64_t{0}},
                                              {.directory_size = 0xFFFFFFFF, .directory_offset = 0xFFFFFFFF}),
         format, end_at + 76 + 12, {"expected one that ends at"}},
        // Entries of the directory.
        {"no signature", [&] { std::string broken = image; broken[directory_at] = 'X'; return broken; }(), format, directory_at, {"50 4B 01 02"}},
        {"a name longer than the directory", one([](ZipEntry& e) { e.central.name_length = 6; }), format, directory_at + 28, {"52 bytes, but only 51"}},
        {"an extra field longer than the directory", one([](ZipEntry& e) { e.central.extra_length = 0xFFFF; }), format, directory_at + 28, {"only 51"}},
        {"encrypted", both([](ZipHeader& h) { h.flags = zip::flag::encrypted; }), unsupported, directory_at + 8, {"encrypted"}},
        {"strongly encrypted", both([](ZipHeader& h) { h.flags = zip::flag::strong_encryption; }), unsupported, directory_at + 8, {"encrypted"}},
        {"masked", both([](ZipHeader& h) { h.flags = zip::flag::masked; }), unsupported, directory_at + 8, {"encrypted"}},
        {"patched", both([](ZipHeader& h) { h.flags = zip::flag::patched; }), unsupported, directory_at + 8, {"patched"}},
        {"bzip2", both([](ZipHeader& h) { h.method = 12; }), unsupported, directory_at + 10, {"method 12"}},
        {"deflate64", both([](ZipHeader& h) { h.method = 9; }), unsupported, directory_at + 10, {"method 9"}},
        {"version 6.3", both([](ZipHeader& h) { h.version = 63; }), unsupported, directory_at + 6, {"version 6.3"}},
        {"another part", one([](ZipEntry& e) { e.central.disk = 1; }), unsupported, directory_at + 34, {"another part"}},
        {"stored in another size", both([](ZipHeader& h) { h.size -= 1; }), format, directory_at + 20, {"stored, but"}},
        {"more than deflate makes", both([](ZipHeader& h) { h.method = 8; h.compressed_size = 100; h.size = 104'300; }), format, directory_at + 24,
         {"more than deflate makes of 100"}},
        {"2^64-1 bytes out of 100", both([](ZipHeader& h) {
             h.method = 8;
             h.compressed_size = 100;
             h.size = 0xFFFFFFFF;
             h.extra = extra_field(1, numbers({~std::uint64_t{0}}));
         }), format, directory_at + 12 + 24, {"18446744073709551615 bytes, more than"}},
        {"a local header behind the directory", one([](ZipEntry& e) { e.central.local_offset = 0xFFFFFFF0; }), format, directory_at + 42, {"in front of byte"}},
        {"a local header at the directory", one([](ZipEntry& e) { e.central.local_offset = static_cast<std::uint32_t>(directory_at - 29); }), format,
         directory_at + 42, {"in front of byte"}},
        // Extra fields.
        {"an extra field cut off", one([](ZipEntry& e) { e.central.extra = std::string("\1\0\4\0abc", 7); }), format, directory_at + 46 + 5 + 2, {"4 bytes, but only 3"}},
        {"half an extra field", one([](ZipEntry& e) { e.central.extra = "\1"; }), format, directory_at + 46 + 5, {"1 bytes are none"}},
        {"ZIP64 twice", one([](ZipEntry& e) { e.central.extra = extra_field(1, "") + extra_field(1, ""); }), format, directory_at + 46 + 5 + 4, {"twice"}},
        {"a ZIP64 value missing", one([](ZipEntry& e) { e.central.size = 0xFFFFFFFF; e.central.extra = extra_field(1, "1234567"); }), format,
         directory_at + 46 + 5, {"a value is missing"}},
        {"an offset of 2^64-1", one([](ZipEntry& e) { e.central.local_offset = 0xFFFFFFFF; e.central.extra = extra_field(1, numbers({~std::uint64_t{0}})); }),
         format, directory_at + 42, {"byte 18446744073709551615"}},
        {"a size of 2^64-1", both([](ZipHeader& h) {
             h.size = h.compressed_size = 0xFFFFFFFF;
             h.extra = extra_field(1, numbers({~std::uint64_t{0}, ~std::uint64_t{0}}));
         }), format, 0, {"reach into the central directory"}},
        // Names.
        {"no name", named(""), format, directory_at - 5 + 46, {"an empty name"}},
        {"a NUL", named("a" + nul + ".npy"), format, somewhere, {"NUL", "\"a\\x00.npy\""}},
        {"invalid UTF-8", named("\xFF.npy", zip::flag::utf8), format, directory_at + 46, {"invalid UTF-8"}},
        {"a code page", named("\xC3\xA9.npy"), unsupported, somewhere, {"neither ASCII nor marked"}},
        {"absolute", named("/a.npy"), format, somewhere, {"absolute"}},
        {"absolute, other separator", named("\\a.npy"), format, somewhere, {"absolute"}},
        {"a drive", named("c:a.npy"), format, somewhere, {"absolute"}},
        {"parent", named("../a.npy"), format, somewhere, {"\"..\""}},
        {"parent in the middle", named("a/../../b.npy"), format, somewhere, {"\"..\""}},
        {"parent, other separator", named("a\\..\\b.npy"), format, somewhere, {"\"..\""}},
        {"parent at the end", named("a/.."), format, somewhere, {"\"..\""}},
        {"a second name", one([](ZipEntry& e) { e.central.extra = extra_field(0x7075, "\1CRC3b.npy"); }), format, directory_at + 46, {"second name, \"b.npy\""}},
        {"a second name in the local header", one([](ZipEntry& e) { e.local.extra = extra_field(0x7075, "\1CRC3b.npy"); }), format, 30, {"second name"}},
        {"the same name twice", zip_image({good(), good()}), format, somewhere, {"two members have the name \"a.npy\""}},
        {"not a .npy", named("a.txt"), unsupported, 0, {"\"a.txt\"", "expected a .npy file"}},
        {"a folder", named("a/"), unsupported, 0, {"expected a .npy file"}},
        // Local headers that say something else.
        {"no local header", one([](ZipEntry& e) { e.central.local_offset = 1; }), format, 1, {"50 4B 03 04"}},
        {"another name", one([](ZipEntry& e) { e.local.name = "b.npy"; }), format, 30, {"the name"}},
        {"a longer name", one([](ZipEntry& e) { e.local.name = "aa.npy"; }), format, 26, {"the name"}},
        {"another method", one([](ZipEntry& e) { e.local.method = 8; }), format, 8, {"the method"}},
        {"other flags", one([](ZipEntry& e) { e.local.flags = zip::flag::utf8; }), format, 6, {"the flags"}},
        {"another CRC-32", one([](ZipEntry& e) { e.local.crc ^= 1; }), format, 14, {"the CRC-32"}},
        {"another size", one([](ZipEntry& e) { e.local.size -= 1; }), format, 22, {"the size"}},
        {"another compressed size", one([](ZipEntry& e) { e.local.compressed_size -= 1; }), format, 18, {"the compressed size"}},
        {"a size of 0 without a descriptor", one([](ZipEntry& e) { e.local.size = 0; }), format, 22, {"the size"}},
        {"another size in ZIP64", one([](ZipEntry& e) { e.local.size = e.local.compressed_size = 0xFFFFFFFF; e.local.extra = extra_field(1, numbers({1, 1})); }),
         format, 18, {"the compressed size"}},
        {"data that reaches into the directory", both([](ZipHeader& h) { h.size = h.compressed_size += 1; }), format, 0, {"reach into the central directory"}},
        {"a local extra field that reaches into it", one([](ZipEntry& e) { e.local.extra_length = 0xFFFF; }), format, 0, {"reach into the central directory"}},
        {"nothing behind the data", zip_image({later("")}), format, directory_at, {"behind the data"}},
        {"something else behind the data", zip_image({later("PK\7\10abcdefghijklmnop")}), format, directory_at, {"behind the data"}},
        {"another CRC-32 behind the data", zip_image({[] { ZipEntry e = later(""); e.behind = descriptor_of(e, true, false); e.behind[4] ^= 1; return e; }()}), format, directory_at,
         {"behind the data"}},
        // Members over one another.
        {"two entries of one member", zip_image({good(), [] { ZipEntry e = good(); e.central.name = e.local.name = "b.npy"; e.central.local_offset = 0; return e; }()}),
         format, 30, {"the name"}},
        {"a member inside another", [] {
             const ZipParts inner = zip_parts({zip_entry("b.npy", npy())});
             ZipEntry outer = zip_entry("a.npy", npy() + inner.members);
             ZipEntry second = zip_entry("b.npy", npy());
             ZipParts parts = zip_parts({outer});
             second.central.local_offset = static_cast<std::uint32_t>(30 + 5 + npy().size());
             const ZipParts listed = zip_parts({second});
             parts.directory += listed.directory;
             parts.count = 2;
             return zip_image(parts);
         }(), format, 30 + 5 + npy().size(), {"overlaps \"a.npy\""}},
        // The .npy file in the member.
        {"an empty member", zip_image({zip_entry("a.npy", "")}), format, 35, {"member \"a.npy\"", "magic"}},
        {"other contents", zip_image({zip_entry("a.npy", "something else")}), format, 35, {"magic"}},
        {"objects", zip_image({zip_entry("a.npy", npy_image("|O", "(1,)", "pickle"))}), unsupported, 35 + 20, {"member \"a.npy\"", "never read"}},
        {"objects, compressed", zip_image({deflated_entry("a.npy", npy_image("|O", "(1,)", "pickle"))}), unsupported, 35, {"never read"}},
        {"data shorter than the shape", zip_image({zip_entry("a.npy", npy().substr(0, npy().size() - 1))}), format, 35 + 128, {"says 8 bytes, but only 7"}},
        {"a header longer than the member", zip_image({zip_entry("a.npy", "\x93NUMPY\2" + nul + "\xFF\xFF\xFF\xFF")}), format, 35 + 8, {"4294967295 bytes"}},
    };
}

TEST(NpzRefusal, WhatIsWrongIsRefusedWithItsPlace) {
    ASSERT_TRUE(NpzFile::open(mapped_image(zip_image({good()}))).has_value());
    for (const Refusal& refusal : refusals()) {
        SCOPED_TRACE(refusal.what);
        const auto file = NpzFile::open(mapped_image(refusal.image));
        if (file.has_value()) {
            ADD_FAILURE() << "was accepted";
            continue;
        }
        EXPECT_EQ(file.error().code, refusal.code) << file.error().message;
        if (refusal.offset != somewhere) {
            EXPECT_EQ(file.error().offset, refusal.offset) << file.error().message;
        }
        for (const auto& fragment : refusal.fragments) {
            EXPECT_NE(std::string_view(file.error().message).find(fragment), std::string_view::npos)
                << fragment << " in: " << file.error().message;
        }
    }
}

TEST(NpzRefusal, EveryTruncationIsRefused) {
    const std::string image = zip_image({good(), deflated_entry("b.npy", npy())});
    for (std::size_t size = 0; size < image.size(); ++size) {
        const auto file = NpzFile::open(mapped_image(image.substr(0, size)));
        ASSERT_FALSE(file.has_value()) << size;
        EXPECT_EQ(file.error().code, format);
    }
    EXPECT_TRUE(NpzFile::open(mapped_image(image)).has_value());
}

TEST(NpzRefusal, TheLimitOfTheDirectoryIsAnOption) {
    EXPECT_TRUE(NpzFile::open(mapped_image(zip_image({good()})), {.header_limit = 51}).has_value());
    const auto refused = NpzFile::open(mapped_image(zip_image({good()})), {.header_limit = 50});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::limit_exceeded);
}

TEST(NpzAcceptance, WhatOtherWritersDo) {
    struct Accepted {
        const char* what;
        std::string image;
    };
    const auto described = [](bool signature, bool wide) {
        ZipEntry entry = later("");
        entry.behind = descriptor_of(entry, signature, wide);
        return zip_image({entry});
    };
    const ZipParts parts = zip_parts({good()});
    const Accepted cases[] = {
        {"a comment", ended({.comment = std::string(0xFFFF, 'c')})},
        {"comments of members", one([](ZipEntry& e) { e.central.comment = "c"; })},
        {"unknown extra fields", both([](ZipHeader& h) { h.extra = extra_field(0x5455, "time") + extra_field(0x7875, "user"); })},
        {"zeros behind the extra fields", both([](ZipHeader& h) { h.extra = std::string(3, '\0'); })},
        {"the same name again", both([](ZipHeader& h) { h.extra = extra_field(0x7075, "\1CRC3a.npy"); })},
        {"ZIP64 in the local header though it is not needed", one([](ZipEntry& e) { e.local.extra = extra_field(1, numbers({136, 136})); })},
        {"ZIP64 values", both([](ZipHeader& h) {
             h.extra = extra_field(1, numbers({h.size, h.compressed_size}));
             h.size = h.compressed_size = 0xFFFFFFFF;
         })},
        {"a ZIP64 end", ended64({})},
        {"a ZIP64 end that says everything", ended64({}, {.entries = 0xFFFF, .directory_size = 0xFFFFFFFF, .directory_offset = 0xFFFFFFFF})},
        {"a descriptor", described(true, false)},
        {"a descriptor without a signature", described(false, false)},
        {"a descriptor of 64 bits", described(true, true)},
        {"a descriptor of 64 bits without a signature", described(false, true)},
        {"hints about the effort", both([](ZipHeader& h) { h.flags = zip::flag::effort; })},
        {"the attributes' system in the version", both([](ZipHeader& h) { h.version = (3U << 8) | 20U; })},
        {"a gap behind a member", one([](ZipEntry& e) { e.behind = "what was deleted"; })},
        {"a name in UTF-8", named("\xC3\xA9.npy", zip::flag::utf8)},
        {"a name marked as UTF-8 that is ASCII", named("b.npy", zip::flag::utf8)},
        {"dots", named("a..b/...npy")},
        {"compressed", zip_image({deflated_entry("a.npy", npy())})},
        {"bytes behind the data of the .npy", zip_image({zip_entry("a.npy", npy() + "behind")})},
    };
    for (const Accepted& accepted : cases) {
        SCOPED_TRACE(accepted.what);
        const auto file = NpzFile::open(mapped_image(accepted.image));
        ASSERT_TRUE(file.has_value()) << file.error().message;
        ASSERT_EQ((*file)->tensor_count(), 1U);
        const auto tensor = (*file)->tensor(0);
        ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
        const auto bytes = tensor->buffers[0].bytes().subspan(tensor->buffers[0].prefix);
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "datadata");
        EXPECT_TRUE((*file)->check_member(0).has_value());
    }
}

// What is wrong with data is found when it is read; in place nobody reads it.
TEST(NpzRefusal, TheCrc32IsCheckedWhereBytesAreCopied) {
    const auto broken = [](ZipEntry entry) {
        entry.data[entry.data.size() - 3] ^= 1;
        return zip_image({entry});
    };
    const std::string stored = broken(good());
    const auto in_place = NpzFile::open(mapped_image(stored)).value();
    EXPECT_TRUE(in_place->tensor(0).has_value());
    EXPECT_EQ(in_place->check_member(0).error().code, format);
    EXPECT_EQ(in_place->check_member(0).error().offset, 35U);

    const auto copied = NpzFile::open(mapped_image(stored), {.alignment = AlignmentPolicy::copy}).value();
    EXPECT_EQ(copied->tensor(0).error().code, format);
    EXPECT_NE(std::string_view(copied->tensor(0).error().message).find("CRC-32"), std::string_view::npos);
    EXPECT_EQ(copied->copied_bytes(), 0U);

    const auto packed = NpzFile::open(mapped_image(broken(deflated_entry("a.npy", npy())))).value();
    EXPECT_EQ(packed->tensor(0).error().code, format);
    EXPECT_EQ(packed->check_member(0).error().code, format);
    EXPECT_EQ(packed->check_member(1).error().code, Status::index_out_of_bounds);
}

}  // namespace
}  // namespace hurray
