// FileBytes: the same bytes by mapping and by reading; a file that is cut is an error of the reading kind, and a fault of
// the mapping kind, which is why the reading kind exists.
#include "core/hurray/io/file_bytes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/memory/buffer.hpp"

namespace hurray {
namespace {

std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Access : public testing::TestWithParam<FileAccess> {
protected:
    TemporaryFolder folder;
};

TEST_P(Access, WindowsHoldTheBytesOfTheirRangeAndOutliveTheFile) {
    FileWindow window;
    {
        const auto file = FileBytes::open(folder.file("f", "0123456789"), GetParam());
        ASSERT_TRUE(file.has_value()) << file.error().message;
        EXPECT_EQ(file->size(), 10U);
        EXPECT_EQ(file->in_place(), GetParam() == FileAccess::map);
        auto taken = file->window(3, 4);
        ASSERT_TRUE(taken.has_value()) << taken.error().message;
        window = *std::move(taken);
    }
    EXPECT_EQ(text(window.bytes), "3456");
    if (GetParam() == FileAccess::read) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.bytes.data()) % minimum_alignment, 0U);
    }
}

TEST_P(Access, RangesOutsideOfTheFileAreRefusedWithoutWrapping) {
    const auto file = FileBytes::open(folder.file("f", "0123456789"), GetParam());
    ASSERT_TRUE(file.has_value());
    const std::uint64_t top = ~std::uint64_t{0};
    for (const auto& [offset, length] : {std::pair<std::uint64_t, std::uint64_t>{11, 0}, {10, 1}, {0, 11}, {5, top}, {top, 5}, {top, top}}) {
        const auto window = file->window(offset, length);
        ASSERT_FALSE(window.has_value()) << offset << " " << length;
        EXPECT_EQ(window.error().code, Status::invalid_format);
        EXPECT_EQ(window.error().offset, offset);
    }
    EXPECT_TRUE(file->window(10, 0).has_value());
    std::array<std::byte, 11> large{};
    EXPECT_FALSE(file->read(0, large).has_value());
    ASSERT_TRUE(file->read(0, std::span(large).first(10)).has_value());
    EXPECT_EQ(text(std::span(large).first(10)), "0123456789");
}

TEST_P(Access, EmptyFilesHaveNoBytes) {
    const auto file = FileBytes::open(folder.file("f", ""), GetParam());
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->size(), 0U);
    EXPECT_TRUE(file->window(0, 0).has_value());
}

TEST_P(Access, OnlyRegularFilesAreOpened) {
    EXPECT_EQ(FileBytes::open(folder.path(), GetParam()).error().code, Status::invalid_format);
    EXPECT_EQ(FileBytes::open(folder.path() + "/none", GetParam()).error().code, Status::not_found);
    EXPECT_EQ(FileBytes::open("", GetParam()).error().code, Status::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Both, Access, testing::Values(FileAccess::map, FileAccess::read),
                         [](const auto& info) { return info.param == FileAccess::map ? "map" : "read"; });

TEST(CutFile, ReadingSaysThatItBecameShorter) {
    TemporaryFolder folder;
    const std::string path = folder.file("f", std::string(100'000, 'x'));
    const auto file = FileBytes::open(path, FileAccess::read);
    ASSERT_TRUE(file.has_value());
    ASSERT_EQ(::truncate(path.c_str(), 50'000), 0);
    EXPECT_TRUE(file->window(0, 50'000).has_value());
    const auto cut = file->window(40'000, 20'000);
    ASSERT_FALSE(cut.has_value());
    EXPECT_EQ(cut.error().code, Status::invalid_format);
    EXPECT_EQ(cut.error().offset, 50'000U);
}

// What is read by calls to the system is safe with a mapping, too.
TEST(CutFile, DetachedBytesOfAMapAreThereOrAnError) {
    TemporaryFolder folder;
    const std::string path = folder.file("f", std::string(100'000, 'x'));
    const auto file = FileBytes::open(path, FileAccess::map);
    ASSERT_TRUE(file.has_value());
    const auto kept = file->detached_window(60'000, 10);
    ASSERT_TRUE(kept.has_value()) << kept.error().message;
    ASSERT_EQ(::truncate(path.c_str(), 50'000), 0);
    EXPECT_EQ(text(kept->bytes), "xxxxxxxxxx");
    std::array<std::byte, 10> into{};
    EXPECT_TRUE(file->read_detached(49'990, into).has_value());
    const auto gone = file->read_detached(49'995, into);
    ASSERT_FALSE(gone.has_value());
    EXPECT_EQ(gone.error().code, Status::invalid_format);
    EXPECT_EQ(gone.error().offset, 50'000U);
    EXPECT_EQ(file->detached_window(49'995, 10).error().offset, 50'000U);
    EXPECT_EQ(file->read_detached(99'995, into).error().code, Status::invalid_format);
    EXPECT_EQ(file->detached_window(~std::uint64_t{0}, 1).error().code, Status::invalid_format);
}

TEST(FileBytes, DetachedBytesOfMemoryStayWhereTheyAre) {
    const std::string image = "0123456789";
    const FileBytes bytes = FileBytes::over(std::as_bytes(std::span(image)), {});
    const auto window = bytes.detached_window(2, 3);
    ASSERT_TRUE(window.has_value());
    EXPECT_EQ(static_cast<const void*>(window->bytes.data()), image.data() + 2);
}

// The documented contract of the mapping kind, so that nobody believes that the library catches it.
TEST(CutFile, MappedBytesThatAreGoneRaiseSigbus) {
    TemporaryFolder folder;
    const std::string path = folder.file("f", std::string(100'000, 'x'));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // Sanitizers turn the signal into an exit code of theirs.
        ::signal(SIGBUS, SIG_DFL);
        const auto file = FileBytes::open(path, FileAccess::map);
        if (!file || ::truncate(path.c_str(), 0) != 0) ::_exit(2);
        const auto window = file->window(90'000, 1);
        if (!window) ::_exit(3);
        const volatile std::byte* byte = window->bytes.data();
        ::_exit(static_cast<int>(*byte) == 'x' ? 4 : 5);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), SIGBUS);
}

}  // namespace
}  // namespace hurray
