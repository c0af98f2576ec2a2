// Archives beyond 4 GiB: ZIP64 where it is needed, in sparse files, with little memory.
#include <gtest/gtest.h>

#include <string>

#include "core/hurray/io/npz/npz_file.hpp"
#include "core/hurray/io/npz/npz_writer.hpp"
#include "core/hurray/io/npz/tests/large_zeros.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

constexpr std::uint64_t count = more_than_4_gib;

TEST(NpzLarge, AStoredMemberOfMoreThanFourGibibytesAndOneBehindIt) {
    TemporaryFolder folder;
    const std::string path = folder.path() + "/large.npz";
    const Tensor small = make_tensor({.shape = {3, 5}});
    {
        const auto writer = write_npz(std::make_unique<SparseSink>(path), {}).value();
        ASSERT_TRUE(writer->add("large", zeros(folder, count)).has_value());
        ASSERT_TRUE(writer->add("small", small).has_value());
        ASSERT_TRUE(writer->finish().has_value());
    }
    for (const auto access : {FileAccess::map, FileAccess::read}) {
        const auto file = NpzFile::open(FileBytes::open(path, access).value());
        ASSERT_TRUE(file.has_value()) << file.error().message;
        EXPECT_EQ((*file)->tensor_info(0)->shape[0], count);
        EXPECT_EQ((*file)->tensor_info(0)->byte_size, count);
        EXPECT_GT((*file)->tensor_info(1)->file_offset, count);
        EXPECT_EQ(copy_of(element_bytes((*file)->tensor(1).value())), copy_of(element_bytes(small)));
        EXPECT_TRUE((*file)->check_member(1).has_value());
    }
    const auto file = NpzFile::open(FileBytes::open(path).value()).value();
    const auto large = file->tensor(0).value();
    EXPECT_EQ(element_bytes(large).size(), count);
    EXPECT_EQ(element_bytes(large).back(), std::byte{0});
    EXPECT_EQ(file->copied_bytes(), 0U);
    // Cut anywhere, it is none any more.
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    EXPECT_EQ(NpzFile::open(FileBytes::open(path).value()).error().code, Status::invalid_format);
}

}  // namespace
}  // namespace hurray
