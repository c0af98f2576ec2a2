// Archives that are written and read again.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/hurray/io/atomic_file.hpp"
#include "core/hurray/io/npy/tests/npy_image.hpp"
#include "core/hurray/io/npz/npz_file.hpp"
#include "core/hurray/io/npz/npz_writer.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/transcode/transcode.hpp"

namespace hurray {
namespace {

class StringSink final : public ByteSink {
public:
    explicit StringSink(std::string& into) : into_(into) {}
    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override {
        for (const auto piece : pieces) into_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        return {};
    }

private:
    std::string& into_;
};

/// Takes some bytes and then no more.
class FullSink final : public ByteSink {
public:
    explicit FullSink(std::size_t room) : room_(room) {}
    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override {
        for (const auto piece : pieces) {
            if (piece.size() > room_) return fail(Status::io, Error::no_offset, "full");
            room_ -= piece.size();
        }
        return {};
    }

private:
    std::size_t room_;
};

std::unique_ptr<ModelFileWriter> writer_to(std::string& image, bool compress = false) {
    return write_npz(std::make_unique<StringSink>(image), {.compress = compress}).value();
}

std::vector<std::byte> rows_of(const Tensor& tensor) {
    const auto rows = transcode(tensor, {});
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return copy_of(element_bytes(*rows));
}

std::vector<Tensor> tensors() {
    std::vector<Tensor> made;
    made.push_back(make_tensor({.shape = {3, 4}}));
    made.push_back(make_tensor({.type = 0x51, .layout = layout_tag::col_major, .shape = {2, 5}}));
    made.push_back(make_tensor({.type = 0x20, .shape = {1001}}));
    made.push_back(make_tensor({.type = 0x12, .layout = layout_tag::strided, .shape = {501, 333}, .strides = {-333, 1},
                                .byte_offset = 500 * 333 * 2, .byte_size = 501 * 333 * 2}));
    made.push_back(make_tensor({.type = 0x16, .shape = {}}));
    made.push_back(make_tensor({.type = 0x01, .shape = {3, 0}}));
    made.push_back(transcode(make_tensor({.shape = {16, 16}}), {.layout = layout_tag::hilbert}).value());
    made.push_back(make_prefixed_tensor(7, "foreign bytes in front"));
    return made;
}

TEST(NpzWriter, WhatIsWrittenIsReadAgain) {
    const auto made = tensors();
    for (const bool compress : {false, true}) {
        std::string image;
        const auto writer = writer_to(image, compress);
        for (std::size_t k = 0; k < made.size(); ++k) {
            const auto added = writer->add(std::string("t") += static_cast<char>('0' + k), made[k]);
            ASSERT_TRUE(added.has_value()) << added.error().message;
        }
        ASSERT_TRUE(writer->finish().has_value());
        EXPECT_EQ(image.find(std::string(7, '\xEE')), std::string::npos);
        // bools, the strided one, the Hilbert one
        EXPECT_EQ(writer->copied_bytes(), 1001U + 501 * 333 * 2 + 1024);
        const auto file = NpzFile::open(mapped_image(image));
        ASSERT_TRUE(file.has_value()) << file.error().message;
        ASSERT_EQ((*file)->tensor_count(), made.size());
        for (std::size_t k = 0; k < made.size(); ++k) {
            SCOPED_TRACE(k);
            const auto tensor = (*file)->tensor(k);
            ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
            EXPECT_EQ(shape_of(*tensor), shape_of(made[k]));
            EXPECT_EQ(tensor->descriptor.element_type(), made[k].descriptor.element_type());
            EXPECT_EQ(rows_of(*tensor), rows_of(made[k]));
            EXPECT_TRUE((*file)->check_member(k).has_value());
            if (!compress) {
                EXPECT_EQ((*file)->buffer_range(k, 0)->offset % 64, 0U);
            }
        }
    }
}

TEST(NpzWriter, NamesThatCannotLeaveTheArchive) {
    const Tensor tensor = make_tensor({.shape = {3}});
    std::string image;
    const auto writer = writer_to(image);
    for (const std::string& name : {std::string("a\0b", 3), std::string("\xFF"), std::string("/a"), std::string("../a"),
                                    std::string("a/../b"), std::string("C:a"), std::string("\\a"), std::string(65'532, 'n')}) {
        const auto added = writer->add(name, tensor);
        ASSERT_FALSE(added.has_value());
        EXPECT_EQ(added.error().code, Status::invalid_argument);
    }
    const std::string longest(65'531, 'n');
    for (const std::string& name : {std::string(), std::string("größe"), std::string("a/b"), std::string(".."), longest}) {
        EXPECT_TRUE(writer->add(name, tensor).has_value()) << name;
        EXPECT_EQ(writer->add(name, tensor).error().code, Status::invalid_argument);
    }
    ASSERT_TRUE(writer->finish().has_value());
    const auto file = NpzFile::open(mapped_image(image));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->find("größe"), 1U);
    EXPECT_EQ((*file)->find(""), 0U);
    EXPECT_EQ((*file)->find(longest), 4U);
}

TEST(NpzWriter, WhatTheFormatCannotHoldIsRefusedAndLeavesNothing) {
    const Tensor tensor = make_tensor({.shape = {4, 4}});
    std::string image;
    const auto writer = writer_to(image);
    EXPECT_EQ(writer->add("bf16", make_tensor({.type = 0x02, .shape = {4}})).error().code, Status::unsupported);
    EXPECT_EQ(writer->add("coo", transcode(tensor, {.layout = layout_tag::coo}).value()).error().code, Status::unsupported);
    EXPECT_EQ(writer->set_metadata("k", {}).error().code, Status::unsupported);
    EXPECT_EQ(writer->add("bf16", tensor.descriptor, {}).error().code, Status::invalid_argument);
    EXPECT_TRUE(image.empty());
    EXPECT_TRUE(writer->add("bf16", tensor).has_value());  // the name is not taken by what was refused
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(writer->finish().error().code, Status::invalid_argument);
    EXPECT_EQ(writer->add("b", tensor).error().code, Status::invalid_argument);
    EXPECT_EQ(write_npz(std::make_unique<StringSink>(image), {.data_alignment = 64}).error().code, Status::invalid_argument);
    EXPECT_EQ(write_npz(std::make_unique<StringSink>(image), {.sorted_index = false}).error().code, Status::invalid_argument);
}

TEST(NpzWriter, AnAnnouncedTensorIsMadeWhenItIsAdded) {
    const Tensor tensor = make_tensor({.shape = {4, 4}});
    const Tensor other = make_tensor({.shape = {4, 5}});
    std::string image;
    const auto writer = writer_to(image);
    EXPECT_TRUE(writer->add("a", tensor.descriptor, [&] { return Result<Tensor>(tensor); }).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    std::string unfinished;
    const auto failed = writer_to(unfinished);
    EXPECT_EQ(failed->add("b", tensor.descriptor, [&] { return Result<Tensor>(other); }).error().code, Status::invalid_argument);
    EXPECT_EQ(failed->finish().error().code, Status::invalid_argument) << "no archive without what was announced";
    const auto file = NpzFile::open(mapped_image(image)).value();
    ASSERT_EQ(file->tensor_count(), 1U);
    EXPECT_EQ(rows_of(file->tensor(0).value()), rows_of(tensor));
}

TEST(NpzWriter, AWriterThatFailedCanOnlyBeDestroyed) {
    const Tensor tensor = make_tensor({.shape = {400}});
    for (const bool compress : {false, true}) {
        for (const std::size_t room : {std::size_t{0}, std::size_t{60}, std::size_t{1000}}) {
            const auto writer = write_npz(std::make_unique<FullSink>(room), {.compress = compress}).value();
            EXPECT_EQ(writer->add("a", tensor).error().code, Status::io);
            EXPECT_EQ(writer->add("b", tensor).error().code, Status::invalid_argument);
            EXPECT_EQ(writer->finish().error().code, Status::invalid_argument);
        }
    }
}

TEST(NpzWriter, TheTargetMayBeTheFileThatTheTensorsAreMappedFrom) {
    TemporaryFolder folder;
    std::string image;
    const auto first = writer_to(image);
    const Tensor tensor = make_tensor({.shape = {100}});
    ASSERT_TRUE(first->add("a", tensor).has_value());
    ASSERT_TRUE(first->finish().has_value());
    const std::string path = folder.file("t.npz", image);
    const auto file = NpzFile::open(FileBytes::open(path).value()).value();
    const auto writer = write_npz(AtomicFile::create(path).value(), {}).value();
    ASSERT_TRUE(writer->add("b", file->tensor(0).value()).has_value());
    EXPECT_EQ(read_file(path), image);
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(rows_of(NpzFile::open(FileBytes::open(path).value()).value()->tensor(0).value()), rows_of(tensor));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.npz"});
}

}  // namespace
}  // namespace hurray
