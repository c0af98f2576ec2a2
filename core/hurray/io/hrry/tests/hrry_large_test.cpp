// Sizes and offsets beyond 2 and 4 GiB, in a sparse file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/hrry/hrry_sequence.hpp"
#include "core/hurray/io/hrry/tests/support.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint64_t large = 5 * gib / 2;

// Writes what is not zero: pages of zeros stay holes.
class SparseSink final : public ByteSink {
  public:
    explicit SparseSink(int fd) : fd_(fd) {}
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override {
        static const std::vector<std::byte> zeros(1U << 20);
        for (const auto piece : pieces) {
            for (std::size_t at = 0; at < piece.size();) {
                const auto part = piece.subspan(at, std::min(piece.size() - at, zeros.size()));
                if (std::memcmp(part.data(), zeros.data(), part.size()) != 0 &&
                    ::pwrite(fd_, part.data(), part.size(), static_cast<off_t>(offset_ + at)) !=
                        static_cast<ssize_t>(part.size())) {
                    return fail(Status::io, Error::no_offset, "pwrite");
                }
                at += part.size();
            }
            offset_ += piece.size();
        }
        if (::ftruncate(fd_, static_cast<off_t>(offset_)) != 0) return fail(Status::io, Error::no_offset, "ftruncate");
        return {};
    }

  private:
    int fd_;
    std::uint64_t offset_ = 0;
};

// Of 2.5 GiB, mostly pages that were never touched.
Tensor large_tensor(const char* first, const char* last) {
    const std::uint64_t shape[] = {large};
    DescriptorBuilder builder(0x11, layout_tag::row_major, shape);
    Tensor tensor{Descriptor::vacant(), {}};
    tensor.buffers.push_back(allocate_buffer(large, 4096, Contents::undefined).value());
    std::byte* data = tensor.buffers[0].data;
    std::memcpy(data, first, std::strlen(first));
    std::memcpy(data + large - std::strlen(last), last, std::strlen(last));
    EXPECT_TRUE(builder.add_buffer(tensor.buffers[0].handle).has_value());
    tensor.descriptor = builder.build().value();
    return tensor;
}

TEST(HrryLarge, FilesOfMoreThanFourGiBAreWrittenAndRead) {
    TemporaryFolder folder;
    const std::string path = folder.file("large.hrry", "");
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    {
        const auto writer = HrryWriter::create(std::make_unique<SparseSink>(fd), {}).value();
        ASSERT_TRUE(writer->add("a", large_tensor("first", "end of a")).has_value());
        ASSERT_TRUE(writer->add("b", large_tensor("second", "end of b")).has_value());
        ASSERT_TRUE(writer->add("c", make_tensor({.shape = {3}})).has_value());
        ASSERT_TRUE(writer->finish().has_value());
        EXPECT_GT(writer->offset(), 5 * gib);
    }
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
        const auto file = HrryFile::open(FileBytes::open(path, access).value(), {});
        ASSERT_TRUE(file.has_value()) << file.error().message;
        EXPECT_GT((*file)->tensor_info(2)->file_offset, 5 * gib);
        EXPECT_TRUE(same_data((*file)->tensor(2).value(), make_tensor({.shape = {3}})));
        if (access == FileAccess::read) continue;
        const Tensor a = (*file)->tensor(0).value();
        const Tensor b = (*file)->tensor(1).value();
        EXPECT_EQ(as_text(a.buffers[0].bytes().first(5)), "first");
        EXPECT_EQ(as_text(a.buffers[0].bytes().last(8)), "end of a");
        EXPECT_EQ(as_text(b.buffers[0].bytes().first(6)), "second");
        EXPECT_EQ(as_text(b.buffers[0].bytes().last(8)), "end of b");
        EXPECT_EQ((*file)->copied_bytes(), 0U);
    }
    ASSERT_EQ(::lseek(fd, 0, SEEK_SET), 0);
    HrryStreamReader reader(std::make_unique<FdSource>(fd, FdOwnership::close));
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(reader.reader().begin().value().has_value());
        EXPECT_EQ(reader.reader().left(), large);
        ASSERT_TRUE(reader.reader().skip().has_value());
    }
    EXPECT_TRUE(same_data(**reader.next(), make_tensor({.shape = {3}})));
    EXPECT_FALSE(reader.next().value().has_value());
    EXPECT_EQ(reader.sequence().name(2), "c");
}

}  // namespace
}  // namespace hurray
