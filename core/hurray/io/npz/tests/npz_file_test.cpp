// Tensors out of archives: stored ones in place, compressed ones unpacked and counted.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/hurray/io/npy/tests/npy_image.hpp"
#include "core/hurray/io/npz/npz_file.hpp"
#include "core/hurray/io/npz/tests/zip_image.hpp"
#include "core/hurray/io/tests/shared_data.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

std::string text_of(const Tensor& tensor) {
    const auto bytes = tensor.buffers[0].bytes().subspan(tensor.buffers[0].prefix);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string sample() {
    return zip_image({zip_entry("stored.npy", npy_image("<f4", "(2,)", "datadata")),
                      deflated_entry("deflated.npy", npy_image("<f4", "(2, 1)", "packed!!", true)),
                      zip_entry("big.npy", npy_image(">u2", "(2,)", "abcd")),
                      deflated_entry("bools.npy", npy_image("|b1", "(9,)", std::string("\1\0\1\1\0\0\0\0\1", 9))),
                      zip_entry("none.npy", npy_image("<i8", "(0,)", "")), zip_entry(".npy", npy_image("|u1", "()", "x"))});
}

TEST(NpzFile, EachMemberIsATensor) {
    TemporaryFolder folder;
    const std::string path = folder.file("t.npz", sample());
    for (const auto access : {FileAccess::map, FileAccess::read}) {
        const auto file = NpzFile::open(FileBytes::open(path, access).value()).value();
        EXPECT_EQ(file->format(), FileFormat::npz);
        ASSERT_EQ(file->tensor_count(), 6U);
        const char* names[] = {"stored", "deflated", "big", "bools", "none", ""};
        const std::string values[] = {"datadata", "packed!!", "badc", std::string("\x0D\x01", 2), "", "x"};
        const std::uint64_t copied[] = {access == FileAccess::map ? 0U : 8U, 8, 4, 2, 0, access == FileAccess::map ? 0U : 1U};
        for (std::uint64_t k = 0; k < 6; ++k) {
            SCOPED_TRACE(names[k]);
            EXPECT_EQ(file->tensor_info(k)->name, names[k]);
            EXPECT_EQ(file->find(names[k]), k);
            const std::uint64_t before = file->copied_bytes();
            const auto tensor = file->tensor(k);
            ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
            EXPECT_EQ(text_of(*tensor), values[k]);
            EXPECT_EQ(file->copied_bytes() - before, copied[k]);
            EXPECT_EQ(tensor->descriptor.layout(), k == 1 ? layout_tag::col_major : layout_tag::row_major);
            EXPECT_EQ(file->descriptor(k)->buffers()[0].byte_size, tensor->descriptor.buffers()[0].byte_size);
            EXPECT_EQ(file->descriptor(k)->byte_offset(), tensor->descriptor.byte_offset());
            EXPECT_TRUE(tensor->buffers[0].read_only);
            EXPECT_TRUE(file->check_member(k).has_value());
        }
        EXPECT_EQ(file->find("stored.npy"), std::nullopt);
        EXPECT_EQ(file->find("x"), std::nullopt);
        EXPECT_EQ(file->metadata_count(), 0U);
        for (const auto& code : {file->tensor(6).error().code, file->tensor_info(6).error().code, file->descriptor(6).error().code,
                                 file->buffer_range(6, 0).error().code, file->buffer_range(0, 1).error().code,
                                 file->metadata(0).error().code}) {
            EXPECT_EQ(code, Status::index_out_of_bounds);
        }
    }
}

TEST(NpzFile, WhereTheDataIs) {
    const std::string image = sample();
    const auto file = NpzFile::open(mapped_image(image)).value();
    EXPECT_EQ(file->buffer_range(0, 0)->offset, image.find("datadata"));
    EXPECT_EQ(file->buffer_range(0, 0)->size, 8U);
    // All of a compressed member: a block's header, the .npy file.
    EXPECT_EQ(file->buffer_range(1, 0)->size, 5U + 128 + 8);
    EXPECT_EQ(image.substr(file->buffer_range(1, 0)->offset + 5, 6), "\x93NUMPY");
    EXPECT_EQ(file->tensor_info(1)->byte_size, 5U + 128 + 8);
}

TEST(NpzFile, UnalignedStoredDataAsThePolicySays) {
    TemporaryFolder folder;
    const std::string path = folder.file("t.npz", sample());
    const auto open = [&](AlignmentPolicy policy) { return NpzFile::open(FileBytes::open(path).value(), {.alignment = policy}).value(); };
    const std::uint64_t offset = open(AlignmentPolicy::offset)->buffer_range(0, 0)->offset;
    ASSERT_NE(offset % 64, 0U);
    EXPECT_EQ(open(AlignmentPolicy::offset)->tensor(0)->descriptor.byte_offset(), offset % 64);
    EXPECT_EQ(open(AlignmentPolicy::copy)->tensor(0)->descriptor.byte_offset(), 0U);
    EXPECT_EQ(open(AlignmentPolicy::require)->tensor(0).error().code, Status::misaligned);
    EXPECT_EQ(open(AlignmentPolicy::require)->tensor(0).error().offset, offset);
    EXPECT_TRUE(open(AlignmentPolicy::require)->tensor(1).has_value());  // unpacked into aligned memory
}

TEST(NpzFile, TensorsOutliveTheFile) {
    auto file = NpzFile::open(mapped_image(sample())).value();
    const Tensor stored = file->tensor(0).value();
    const Tensor packed = file->tensor(1).value();
    file.reset();
    EXPECT_EQ(text_of(stored), "datadata");
    EXPECT_EQ(text_of(packed), "packed!!");
}

TEST(NpzFile, ABoolThatIsNeither0Nor1IsRefused) {
    for (const bool compressed : {false, true}) {
        const std::string npy = npy_image("|b1", "(3,)", std::string("\0\1\2", 3));
        const auto file = NpzFile::open(mapped_image(zip_image({compressed ? deflated_entry("b.npy", npy) : zip_entry("b.npy", npy)}))).value();
        const auto tensor = file->tensor(0);
        ASSERT_FALSE(tensor.has_value());
        EXPECT_EQ(tensor.error().code, Status::invalid_format);
        EXPECT_EQ(tensor.error().offset, compressed ? 35U : 35U + 128 + 2);
    }
}

TEST(NpzFile, AFileThatChangesWhileItIsOpenIsAnErrorWithoutAMap) {
    TemporaryFolder folder;
    const std::string path = folder.file("t.npz", sample());
    const auto file = NpzFile::open(FileBytes::open(path, FileAccess::read).value()).value();
    const std::uint64_t at = file->buffer_range(1, 0)->offset;
    {
        std::fstream change(path, std::ios::binary | std::ios::in | std::ios::out);
        change.seekp(static_cast<std::streamoff>(at + 5 + 10 + 50));  // in the shape
        change.put('9');
    }
    EXPECT_EQ(file->tensor(1).error().code, Status::invalid_format);
    std::filesystem::resize_file(path, at + 3);
    EXPECT_EQ(file->tensor(1).error().code, Status::invalid_format);
    EXPECT_EQ(file->tensor(2).error().code, Status::invalid_format);
}

TEST(NpzFile, ManyThreadsUnpackAtOnce) {
    const auto file = NpzFile::open(mapped_image(sample())).value();
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round) {
                for (std::uint64_t index = 0; index < file->tensor_count(); ++index) EXPECT_TRUE(file->tensor(index).has_value());
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(file->copied_bytes(), 4U * 50 * (8 + 4 + 2));
}

TEST(NpzFile, FilesThatOthersWrote) {
    const auto path = shared_data("data/npy/candle_test.npz");
    if (!path) GTEST_SKIP();
    const auto file = NpzFile::open(FileBytes::open(*path).value()).value();
    ASSERT_EQ(file->tensor_count(), 2U);
    EXPECT_EQ(file->find("x"), 0U);
    EXPECT_EQ(file->find("x_plus_one"), 1U);
    for (std::uint64_t index = 0; index < 2; ++index) {
        const auto tensor = file->tensor(index).value();
        std::int64_t values[10];
        ASSERT_EQ(text_of(tensor).size(), sizeof values);
        std::memcpy(values, text_of(tensor).data(), sizeof values);
        for (std::int64_t k = 0; k < 10; ++k) EXPECT_EQ(values[k], k + static_cast<std::int64_t>(index));
    }
    const auto objects = shared_data("data/npy/py3-objarr.npz");
    ASSERT_TRUE(objects.has_value());
    EXPECT_EQ(NpzFile::open(FileBytes::open(*objects).value()).error().code, Status::unsupported);
}

}  // namespace
}  // namespace hurray
