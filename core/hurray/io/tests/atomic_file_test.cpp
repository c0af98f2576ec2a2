#include "core/hurray/io/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/hurray/io/mapped_file.hpp"
#include "core/hurray/io/tests/image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"

namespace hurray {
namespace {


mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
}

class AtomicFileOf : public testing::TestWithParam<AtomicFile::Temporary> {};

INSTANTIATE_TEST_SUITE_P(Kinds, AtomicFileOf,
                         testing::Values(AtomicFile::Temporary::automatic, AtomicFile::Temporary::named),
                         [](const auto& kind) {
                             return kind.param == AtomicFile::Temporary::named ? "named" : "automatic";
                         });

TEST_P(AtomicFileOf, AppearsAtCommit) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/new";
    auto file = AtomicFile::create(path, GetParam());
    ASSERT_TRUE(file.has_value()) << file.error().message;
    ASSERT_TRUE((*file)->write(bytes_of("abc")).has_value());
    ASSERT_TRUE((*file)->write(bytes_of("def")).has_value());
    EXPECT_FALSE(std::filesystem::exists(path));
    const auto done = (*file)->commit();
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(read_file(path), "abcdef");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"new"});
    EXPECT_FALSE((*file)->commit().has_value()) << "twice";
}

TEST_P(AtomicFileOf, ReplacesTheOldFileAndKeepsItsPermissions) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", "old");
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    const auto mapped = MappedFile::open(path);
    ASSERT_TRUE(mapped.has_value());
    auto file = AtomicFile::create(path, GetParam());
    ASSERT_TRUE(file.has_value());
    // The target is what the data comes from.
    ASSERT_TRUE((*file)->write(mapped->bytes()).has_value());
    ASSERT_TRUE((*file)->write(mapped->bytes()).has_value());
    ASSERT_TRUE((*file)->commit().has_value());
    EXPECT_EQ(read_file(path), "oldold");
    EXPECT_EQ(mode_of(path), 0640U);
    EXPECT_EQ(std::memcmp(mapped->bytes().data(), "old", 3), 0) << "the mapping keeps the old file";
}

TEST_P(AtomicFileOf, FollowsASymbolicLink) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() + "/sub");
    const std::string real = folder.file("sub/real", "old");
    const std::string link = folder.path() + "/link";
    std::filesystem::create_symlink("sub/real", link);
    auto file = AtomicFile::create(link, GetParam());
    ASSERT_TRUE(file.has_value()) << file.error().message;
    ASSERT_TRUE((*file)->write(bytes_of("new")).has_value());
    ASSERT_TRUE((*file)->commit().has_value());
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read_file(real), "new");
}

TEST_P(AtomicFileOf, DestroyedWithoutCommitLeavesTheOldFileAndNothingElse) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", "old");
    {
        auto file = AtomicFile::create(path, GetParam());
        ASSERT_TRUE(file.has_value());
        ASSERT_TRUE((*file)->write(bytes_of("half")).has_value());
    }
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
}

TEST_P(AtomicFileOf, KilledProcessLeavesTheOldFile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", "old");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto file = AtomicFile::create(path, GetParam());
        if (!file || !(*file)->write(bytes_of("half"))) ::_exit(1);
        ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(read_file(path), "old");
}

TEST_P(AtomicFileOf, FailedWriteLeavesTheOldFile) {
    const TemporaryFolder folder;
    const std::string path = folder.file("f", "old");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 4096;
    {
        auto file = AtomicFile::create(path, GetParam());
        ASSERT_TRUE(file.has_value());
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto written = (*file)->write(bytes_of(std::string(10'000, 'x')));
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
        ASSERT_FALSE(written.has_value());
        EXPECT_EQ(written.error().code, Status::io);
        EXPECT_FALSE((*file)->write(bytes_of("more")).has_value());
        EXPECT_FALSE((*file)->commit().has_value()) << "what failed must not be committed";
    }
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"f"});
}

TEST_P(AtomicFileOf, RefusesImpossibleTargets) {
    const TemporaryFolder folder;
    const std::string fifo = folder.path() + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    std::filesystem::create_symlink("nowhere", folder.path() + "/dangling");
    struct Refusal {
        std::string path;
        Status code;
        const char* fragment;
    };
    const Refusal refusals[] = {
        {folder.path(), Status::invalid_argument, "is a directory"},
        {fifo, Status::invalid_argument, "is a fifo"},
        {"/dev/null", Status::invalid_argument, "is a character device"},
        {folder.path() + "/dangling", Status::invalid_argument, "leads nowhere"},
        {folder.path() + "/none/f", Status::not_found, "No such file"},
        {"", Status::invalid_argument, "empty"},
        {std::string("a\0b", 3), Status::invalid_argument, "NUL"},
    };
    for (const Refusal& refusal : refusals) {
        const auto result = AtomicFile::create(refusal.path, GetParam());
        ASSERT_FALSE(result.has_value()) << refusal.path;
        EXPECT_EQ(result.error().code, refusal.code) << result.error().message;
        EXPECT_NE(std::strstr(result.error().message, refusal.fragment), nullptr) << result.error().message;
    }
    EXPECT_EQ(folder.names().size(), 2U) << "a refusal leaves nothing behind";
}

}  // namespace
}  // namespace hurray
