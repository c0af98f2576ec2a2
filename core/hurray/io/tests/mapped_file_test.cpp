#include "core/hurray/io/mapped_file.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "core/hurray/io/tests/temporary_folder.hpp"

namespace hurray {
namespace {

std::string_view text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

TEST(MappedFile, HoldsTheFileAndItsDescriptorAsLongAsTheMapping) {
    const TemporaryFolder folder;
    const std::size_t before = open_descriptors();
    {
        const auto file = MappedFile::open(folder.file("f", "some bytes"));
        ASSERT_TRUE(file.has_value()) << file.error().message;
        EXPECT_EQ(text(file->bytes()), "some bytes");
        EXPECT_EQ(open_descriptors(), before + 1);
        const SharedBacking* backing = file->storage()->shared_backing();
        ASSERT_NE(backing, nullptr);
        EXPECT_EQ(backing->base, file->bytes().data());
        EXPECT_EQ(backing->size, 10U);
        EXPECT_EQ(backing->file_offset, 0U);
        EXPECT_FALSE(backing->sealed);
        char start[4] = {};
        ASSERT_EQ(::pread(backing->fd, start, sizeof start, 0), 4);
        EXPECT_EQ(std::string_view(start, 4), "some");
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST(MappedFile, MappingOutlivesTheObjectAndTheName) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", "some bytes");
    Ref<Storage> kept;
    std::span<const std::byte> bytes;
    {
        const auto file = MappedFile::open(path);
        ASSERT_TRUE(file.has_value());
        kept = file->storage();
        bytes = file->bytes();
    }
    std::filesystem::remove(path);
    EXPECT_EQ(text(bytes), "some bytes");
    EXPECT_EQ(kept->references(), 1U);
    kept = {};
    EXPECT_NE(::msync(const_cast<std::byte*>(bytes.data()), 1, MS_ASYNC), 0) << "still mapped";
}

TEST(MappedFile, CanNeverBecomeWritable) {
    const TemporaryFolder folder;
    const auto file = MappedFile::open(folder.file("f", "some bytes"));
    ASSERT_TRUE(file.has_value());
    EXPECT_NE(::mprotect(const_cast<std::byte*>(file->bytes().data()), 1, PROT_READ | PROT_WRITE), 0);
}

TEST(MappedFile, EmptyFileIsAnEmptySpan) {
    const TemporaryFolder folder;
    const auto file = MappedFile::open(folder.file("f", ""));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_TRUE(file->bytes().empty());
    EXPECT_FALSE(file->storage());
}

TEST(MappedFile, PathMayHoldAnyCharacterButNul) {
    const TemporaryFolder folder;
    EXPECT_TRUE(MappedFile::open(folder.file("\xE5\x90\x8D \"x\"", "abc")).has_value());
    EXPECT_TRUE(MappedFile::open(folder.file("\xFF", "abc")).has_value()) << "not UTF-8, but a name";
}

struct Refusal {
    const char* what;
    std::string path;
    Status code;
    const char* fragment;
};

TEST(MappedFile, RefusesWhatIsNoRegularFile) {
    const TemporaryFolder folder;
    const std::string fifo = folder.path() + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const std::string file = folder.file("f", "x");
    const Refusal refusals[] = {
        {"directory", folder.path(), Status::invalid_format, "is a directory: expected a regular file"},
        {"fifo without a writer: must not wait", fifo, Status::invalid_format, "is a fifo"},
        {"device", "/dev/null", Status::invalid_format, "is a character device"},
        {"missing", folder.path() + "/none", Status::not_found, "No such file"},
        {"below a file", file + "/x", Status::io, "Not a directory"},
        {"empty path", "", Status::invalid_argument, "path: empty"},
        {"NUL", std::string("a\0b", 3), Status::invalid_argument, "\"a\\x00b\" holds a NUL"},
    };
    for (const Refusal& refusal : refusals) {
        const auto result = MappedFile::open(refusal.path);
        ASSERT_FALSE(result.has_value()) << refusal.what;
        EXPECT_EQ(result.error().code, refusal.code) << refusal.what << ": " << result.error().message;
        EXPECT_NE(std::strstr(result.error().message, refusal.fragment), nullptr) << result.error().message;
    }
}

}  // namespace
}  // namespace hurray
