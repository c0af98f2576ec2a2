// Streams through the C ABI. (format: stream) What the format demands is tested in core/hurray/io/tests.
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::Pair;
using hurray_test::row_major_descriptor;

class Stream : public hurray_test::BaseLineTest {};

TEST_F(Stream, MemoryRoundTrip) {
    Pair pair;
    for (int i = 0; i < 48; ++i) pair.memory.bytes[i] = static_cast<unsigned char>(i);
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    HurrayWriter* writer = nullptr;
    ASSERT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_writer_write(writer, tensor, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_writer_write(writer, tensor, nullptr), HURRAY_OK);
    HurrayBuffer* written = nullptr;
    ASSERT_EQ(hurray_writer_take(writer, &written, nullptr), HURRAY_OK);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(written, &info, nullptr), HURRAY_OK);
    auto expected = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    for (int i = 0; i < 48; ++i) expected.push_back(static_cast<std::uint8_t>(i));
    const std::size_t one = expected.size();
    expected.insert(expected.end(), expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(one));
    ASSERT_EQ(info.byte_size, expected.size());
    EXPECT_EQ(std::memcmp(info.data, expected.data(), expected.size()), 0);

    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_memory(info.data, info.byte_size, nullptr, &reader, nullptr), HURRAY_OK);
    for (int i = 0; i < 2; ++i) {
        HurrayTensor* read = nullptr;
        ASSERT_EQ(hurray_reader_next(reader, &read, nullptr), HURRAY_OK);
        ASSERT_NE(read, nullptr);
        HurrayView view{};
        view.struct_size = sizeof view;
        ASSERT_EQ(hurray_tensor_view(read, &view, nullptr), HURRAY_OK);
        EXPECT_EQ(std::memcmp(view.data, pair.memory.bytes, 48), 0);
        EXPECT_EQ(hurray_tensor_destroy(&read), HURRAY_OK);
    }
    HurrayTensor* read = tensor;
    EXPECT_EQ(hurray_reader_next(reader, &read, nullptr), HURRAY_OK) << "a clean end is no error";
    EXPECT_EQ(read, nullptr);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(written), HURRAY_OK);
    EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

// Bytes in front of unaligned data belong to somebody else: they never leave the process.
TEST_F(Stream, PrefixIsNotWritten) {
    alignas(64) unsigned char memory[128];
    std::memset(memory, 0x5A, sizeof memory);
    const std::uint64_t shape[] = {5};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_UINT8;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.rank = 1;
    spec.shape = shape;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_from_host(&spec, memory + 13, 5, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
    std::memcpy(memory + 13, "\1\2\3\4\5", 5);
    HurrayWriter* writer = nullptr;
    ASSERT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_writer_write(writer, tensor, nullptr), HURRAY_OK);
    HurrayBuffer* written = nullptr;
    ASSERT_EQ(hurray_writer_take(writer, &written, nullptr), HURRAY_OK);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(written, &info, nullptr), HURRAY_OK);
    const std::string bytes(static_cast<const char*>(info.data), info.byte_size);
    EXPECT_EQ(bytes.find('\x5A'), std::string::npos);
    EXPECT_TRUE(bytes.ends_with(std::string("\1\2\3\4\5", 5)));
    EXPECT_EQ(hurray_buffer_destroy(written), HURRAY_OK);
    EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(Stream, FileDescriptorsStayTheCallersUnlessGivenAway) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_fd(ends[0], nullptr, &reader, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    EXPECT_NE(fcntl(ends[0], F_GETFD), -1);
    HurrayStreamOptions options{};
    options.struct_size = sizeof options;
    options.flags = HURRAY_STREAM_CLOSE_FD;
    ASSERT_EQ(hurray_reader_from_fd(ends[0], &options, &reader, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
    // Nobody reads any more: an error, and the process lives on.
    Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    HurrayWriter* writer = nullptr;
    ASSERT_EQ(hurray_writer_to_fd(ends[1], &options, &writer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_writer_write(writer, tensor, nullptr), HURRAY_ERR_IO);
    EXPECT_NE(hurray_writer_write(writer, tensor, nullptr), HURRAY_OK) << "a broken writer stays broken";
    EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    options.flags = 16;
    EXPECT_EQ(hurray_reader_from_fd(0, &options, &reader, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_reader_from_fd(-1, nullptr, &reader, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(Stream, CutStreamIsRefusedWithItsOffset) {
    auto bytes = row_major_descriptor(HURRAY_TYPE_UINT8, {4}, 4);
    bytes.insert(bytes.end(), {1, 2, 3});
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_memory(bytes.data(), bytes.size(), nullptr, &reader, nullptr), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_reader_next(reader, &tensor, &error), HURRAY_ERR_INVALID_FORMAT);
    EXPECT_EQ(tensor, nullptr);
    EXPECT_NE(std::string(error.message).find("[byte "), std::string::npos) << error.message;
    EXPECT_EQ(hurray_reader_next(reader, &tensor, &error), HURRAY_ERR_INVALID_FORMAT) << "and again";
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(Stream, LimitsAreConfigurable) {
    const auto bytes = row_major_descriptor(HURRAY_TYPE_UINT8, {100}, 100);
    HurrayStreamOptions options{};
    options.struct_size = sizeof options;
    options.max_tensor_bytes = 99;
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_memory(bytes.data(), bytes.size(), &options, &reader, nullptr), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_ERR_LIMIT_EXCEEDED);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    options.max_tensor_bytes = 0;
    options.max_descriptor_length = 20;
    ASSERT_EQ(hurray_reader_from_memory(bytes.data(), bytes.size(), &options, &reader, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_ERR_LIMIT_EXCEEDED);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

}  // namespace
