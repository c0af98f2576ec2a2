// A million tensors: time that grows in proportion, and less than 300 bytes resident for each of them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/hrry/tests/support.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/layout/composite.hpp"

namespace hurray {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_can_be_counted = false;
#else
constexpr bool memory_can_be_counted = true;
#endif

// Resident bytes of this process, mapped files included.
std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Far from being in order.
std::string name_of(std::size_t i, std::size_t count) {
    char name[40];
    std::snprintf(name, sizeof name, "layers.%07zu.weight", (i * 7'919 + 13) % count);
    return name;
}

// Holes for padding and zeros, which the file is nearly all of.
class HoleSink final : public ByteSink {
  public:
    explicit HoleSink(int fd) : fd_(fd) {}
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override {
        for (const auto piece : pieces) {
            const bool zero = std::ranges::all_of(piece.first(std::min<std::size_t>(piece.size(), 4096)),
                                                  [](std::byte byte) { return byte == std::byte{0}; });
            if (!zero && ::pwrite(fd_, piece.data(), piece.size(), static_cast<off_t>(offset_)) !=
                             static_cast<ssize_t>(piece.size())) {
                return fail(Status::io, Error::no_offset, "pwrite");
            }
            offset_ += piece.size();
        }
        return {};
    }
    Result<void> commit() override {
        if (::ftruncate(fd_, static_cast<off_t>(offset_)) != 0) return fail(Status::io, Error::no_offset, "ftruncate");
        return {};
    }

  private:
    int fd_;
    std::uint64_t offset_ = 0;
};

// A descriptor and nothing else: what comes next follows at once. A group of no members.
Tensor packed_tensor() {
    const std::uint64_t shape[] = {3};
    DescriptorBuilder builder(0x03, layout_tag::composite, shape);
    builder.set_composite({.rule = composition_rule::group});
    return {builder.build().value(), {}};
}

// In a process of its own, so that this one's memory is that of reading.
void write_file(const std::string& path, std::size_t count, const Tensor& tensor, bool sorted) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        const auto writer = HrryWriter::create(std::make_unique<HoleSink>(fd), {.sorted_index = sorted}).value();
        bool good = true;
        for (std::size_t i = 0; i < count; ++i) good = good && writer->add(name_of(i, count), tensor).has_value();
        ::_exit(good && writer->finish().has_value() ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
}

void open_and_list(const std::string& path, std::size_t count, FileAccess access) {
    const std::uint64_t before = resident_bytes();
    const auto start = std::chrono::steady_clock::now();
    const auto opened = HrryFile::open(FileBytes::open(path, access).value(), {});
    const std::chrono::duration<double> opening = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const HrryFile& file = **opened;
    ASSERT_EQ(file.tensor_count(), count);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto info = file.tensor_info(i);
        ASSERT_TRUE(info.has_value()) << info.error().message;
        sum += info->name.size() + info->shape[0] + info->type_tag;
    }
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
    const std::uint64_t after = resident_bytes();
    const std::uint64_t used = after > before ? after - before : 0;
    EXPECT_EQ(sum, count * (21 + 3 + 3));
    std::printf("%zu tensors: open %.3f s, open and list %.3f s (%.0f ns a tensor), %.0f bytes resident a tensor\n",
                count, opening.count(), all.count(), all.count() * 1e9 / static_cast<double>(count),
                static_cast<double>(used) / static_cast<double>(count));
    if (memory_can_be_counted) {
        EXPECT_LT(used, 300 * count);
    }
    for (std::size_t i = 0; i < count; i += 997) {
        const auto found = file.find(name_of(i, count));
        ASSERT_TRUE(found.has_value());
        ASSERT_EQ(file.tensor_info(*found)->name, name_of(i, count));
    }
    EXPECT_FALSE(file.find("no such name").has_value());
}

TEST(HrryScale, AMillionTensors) {
    for (const bool sorted : {true, false}) {
        const TemporaryFolder folder;
        const std::string path = folder.path() + "/f.hrry";
        ASSERT_NO_FATAL_FAILURE(write_file(path, 1'000'000, packed_tensor(), sorted));
        open_and_list(path, 1'000'000, FileAccess::map);
        open_and_list(path, 1'000'000, FileAccess::read);
    }
}

// Each descriptor is in a page of its own, and none of those pages stays.
TEST(HrryScale, DescriptorsOfMappedFilesDoNotStayInMemory) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/f.hrry";
    ASSERT_NO_FATAL_FAILURE(write_file(path, 50'000, make_tensor({.shape = {3, 0}}), true));
    open_and_list(path, 50'000, FileAccess::map);
}

TEST(HrryScale, OneNameTwiceIsFoundInAHundredThousand) {
    const std::size_t count = 100'000;
    const Tensor tensor = make_tensor({.shape = {0}});
    for (const bool sorted : {true, false}) {
        WrittenFile out({.sorted_index = sorted});
        for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(out->add(name_of(i, count), tensor).has_value());
        Bytes image = out.finish();
        const std::size_t last = entry_at(image, name_of(99'000, count)) + 2;
        const std::string other = sorted ? name_of(99'000, count).substr(0, 7) + "0000000.weight" : name_of(0, count);
        std::memcpy(image.data() + last, other.data(), other.size());
        seal(image);
        const auto file = open_image(image);
        ASSERT_FALSE(file.has_value());
        EXPECT_EQ(file.error().code, Status::invalid_format) << file.error().message;
    }
}

}  // namespace
}  // namespace hurray
