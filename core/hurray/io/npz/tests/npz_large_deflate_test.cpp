// A member that is beyond 4 GiB before it is compressed.
#include <gtest/gtest.h>

#include <string>

#include "core/hurray/io/npz/npz_file.hpp"
#include "core/hurray/io/npz/npz_writer.hpp"
#include "core/hurray/io/npz/tests/large_zeros.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

constexpr std::uint64_t count = more_than_4_gib;

TEST(NpzLarge, ACompressedMemberOfMoreThanFourGibibytes) {
    TemporaryFolder folder;
    const std::string path = folder.path() + "/large.npz";
    {
        const auto writer = write_npz(std::make_unique<SparseSink>(path), {.compress = true}).value();
        ASSERT_TRUE(writer->add("large", zeros(folder, count)).has_value());
        ASSERT_TRUE(writer->finish().has_value());
    }
    EXPECT_LT(std::filesystem::file_size(path), std::uint64_t{5'000'000});
    const auto file = NpzFile::open(FileBytes::open(path).value());
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->tensor_info(0)->shape[0], count);
    EXPECT_TRUE((*file)->check_member(0).has_value());
}

}  // namespace
}  // namespace hurray
