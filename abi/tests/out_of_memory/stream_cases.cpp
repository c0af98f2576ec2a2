// Streams: see out_of_memory_test.cpp.
#include <fcntl.h>
#include <unistd.h>

#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

/// Two tensors, one after the other, in memory.
struct Stream {
    Buffer bytes;
    HurrayBufferInfo info{};

    Stream() {
        Imported imported;
        Writer writer;
        EXPECT_EQ(hurray_writer_to_memory(writer.out(), nullptr), HURRAY_OK);
        for (int i = 0; i < 2; ++i) EXPECT_EQ(hurray_writer_write(writer.handle, imported.tensor.handle, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_writer_take(writer.handle, bytes.out(), nullptr), HURRAY_OK);
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_buffer_info(bytes.handle, &info, nullptr), HURRAY_OK);
    }
};

std::int64_t read_nothing(void*, void*, std::uint64_t) { return 0; }
HurrayStatus write_nowhere(void*, const void*, std::uint64_t) { return HURRAY_OK; }

/// A .hrry file with one tensor, read in sequence to its end.
struct Sequence {
    std::string file;
    Reader reader;

    Sequence() {
        const HurrayFileWriterOptions options{sizeof options, HURRAY_FORMAT_HRRY, 0, 0};
        const HurrayWriteFn take = [](void* context, const void* bytes, std::uint64_t length) -> HurrayStatus {
            static_cast<std::string*>(context)->append(static_cast<const char*>(bytes), length);
            return HURRAY_OK;
        };
        Imported imported;
        FileWriter writer;
        EXPECT_EQ(hurray_file_writer_to_callback(take, &file, &options, writer.out(), nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_add(writer.handle, "name", 4, imported.tensor.handle, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_finish(writer.handle, nullptr), HURRAY_OK);
        HurrayStreamOptions reading{};
        reading.struct_size = sizeof reading;
        reading.flags = HURRAY_STREAM_HRRY_FILE;
        EXPECT_EQ(hurray_reader_from_memory(file.data(), file.size(), &reading, reader.out(), nullptr), HURRAY_OK);
        for (int i = 0; i < 2; ++i) {
            Tensor tensor;
            EXPECT_EQ(hurray_reader_next(reader.handle, tensor.out(), nullptr), HURRAY_OK);
            EXPECT_EQ(tensor.handle != nullptr, i == 0);
        }
    }
};

struct OpenNull {
    int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ~OpenNull() { ::close(fd); }
};

NEEDS_MEMORY(hurray_reader_from_fd) {
    OpenNull null;
    Reader reader;
    each_allocation_fails([&] { return subject(null.fd, nullptr, reader.out(), &report); },
                          [&] {
                              EXPECT_EQ(reader.handle, nullptr);
                              EXPECT_NE(::fcntl(null.fd, F_GETFD), -1) << "the descriptor stays the caller's";
                          });
}
NEEDS_MEMORY(hurray_reader_from_memory) {
    Stream stream;
    Reader reader;
    each_allocation_fails([&] { return subject(stream.info.data, stream.info.byte_size, nullptr, reader.out(), &report); },
                          [&] { EXPECT_EQ(reader.handle, nullptr); });
}
NEEDS_MEMORY(hurray_reader_from_callback) {
    Reader reader;
    each_allocation_fails([&] { return subject(&read_nothing, nullptr, nullptr, reader.out(), &report); },
                          [&] { EXPECT_EQ(reader.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_reader_name, "borrows what is there") {
    Sequence sequence;
    const std::uint8_t* name = nullptr;
    std::uint64_t length = 0;
    EXPECT_EQ(without_memory([&] { return subject(sequence.reader.handle, 0, &name, &length, &report); }), HURRAY_OK);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(name), length), "name");
    EXPECT_EQ(without_memory([&] { return subject(sequence.reader.handle, 1, &name, &length, &report); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_MEMORY(hurray_reader_begin) {
    Stream stream;
    Reader reader;
    Descriptor descriptor;
    each_allocation_fails([&] { return subject(reader.handle, descriptor.out(), &report); },
                          [&] {
                              EXPECT_EQ(descriptor.handle, nullptr);
                              HurrayDescriptor* second = nullptr;
                              EXPECT_EQ(subject(reader.handle, &second, nullptr), HURRAY_ERR_OUT_OF_MEMORY)
                                  << "the second tensor must not stand in the place of the first, which is lost";
                              EXPECT_EQ(second, nullptr);
                          },
                          [&] {
                              reader.end();
                              EXPECT_EQ(hurray_reader_from_memory(stream.info.data, stream.info.byte_size, nullptr, reader.out(), nullptr),
                                        HURRAY_OK);
                          });
}
NEEDS_NO_MEMORY(hurray_reader_read, "reads into the caller's memory") {
    Stream stream;
    Reader reader;
    ASSERT_EQ(hurray_reader_from_memory(stream.info.data, stream.info.byte_size, nullptr, reader.out(), nullptr), HURRAY_OK);
    Descriptor descriptor;
    ASSERT_EQ(hurray_reader_begin(reader.handle, descriptor.out(), nullptr), HURRAY_OK);
    unsigned char into[64];
    std::uint64_t count = 0;
    EXPECT_EQ(without_memory([&] { return subject(reader.handle, into, sizeof into, &count, nullptr); }), HURRAY_OK);
    EXPECT_EQ(count, 48u);
}
NEEDS_NO_MEMORY(hurray_reader_skip, "moves on in the source") {
    Stream stream;
    Reader reader;
    ASSERT_EQ(hurray_reader_from_memory(stream.info.data, stream.info.byte_size, nullptr, reader.out(), nullptr), HURRAY_OK);
    Descriptor descriptor;
    ASSERT_EQ(hurray_reader_begin(reader.handle, descriptor.out(), nullptr), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(reader.handle, nullptr); }), HURRAY_OK);
}
NEEDS_MEMORY(hurray_writer_to_callback) {
    Writer writer;
    each_allocation_fails([&] { return subject(&write_nowhere, nullptr, nullptr, writer.out(), &report); },
                          [&] { EXPECT_EQ(writer.handle, nullptr); });
}
NEEDS_MEMORY(hurray_reader_next) {
    Stream stream;
    Reader reader;
    Tensor tensor;
    // A reader that failed cannot go on: each attempt gets a new one.
    each_allocation_fails([&] { return subject(reader.handle, tensor.out(), &report); },
                          [&] {
                              EXPECT_EQ(tensor.handle, nullptr);
                              HurrayTensor* second = nullptr;
                              EXPECT_EQ(subject(reader.handle, &second, nullptr), HURRAY_ERR_OUT_OF_MEMORY)
                                  << "the second tensor must not stand in the place of the first, which is lost";
                              EXPECT_EQ(second, nullptr);
                          },
                          [&] {
                              reader.end();
                              EXPECT_EQ(hurray_reader_from_memory(stream.info.data, stream.info.byte_size, nullptr, reader.out(), nullptr),
                                        HURRAY_OK);
                          });
}
NEEDS_NO_MEMORY(hurray_reader_destroy, "ends only") {
    Stream stream;
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_memory(stream.info.data, stream.info.byte_size, nullptr, &reader, nullptr), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(&reader); }), HURRAY_OK);
}
NEEDS_MEMORY(hurray_writer_to_fd) {
    OpenNull null;
    Writer writer;
    each_allocation_fails([&] { return subject(null.fd, nullptr, writer.out(), &report); },
                          [&] {
                              EXPECT_EQ(writer.handle, nullptr);
                              EXPECT_NE(::fcntl(null.fd, F_GETFD), -1) << "the descriptor stays the caller's";
                          });
}
NEEDS_MEMORY(hurray_writer_to_memory) {
    Writer writer;
    each_allocation_fails([&] { return subject(writer.out(), &report); }, [&] { EXPECT_EQ(writer.handle, nullptr); });
}
NEEDS_MEMORY(hurray_writer_write) {
    Stream expected;
    Imported imported;
    Writer writer;
    ASSERT_EQ(hurray_writer_to_memory(writer.out(), nullptr), HURRAY_OK);
    // The attempts that fail leave no torn tensor behind: two writes give what two writes give.
    for (int i = 0; i < 2; ++i) {
        each_allocation_fails([&] { return subject(writer.handle, imported.tensor.handle, &report); },
                              [&] { EXPECT_EQ(imported.releases(), 0); });
    }
    Buffer written;
    ASSERT_EQ(hurray_writer_take(writer.handle, written.out(), nullptr), HURRAY_OK);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(written.handle, &info, nullptr), HURRAY_OK);
    ASSERT_EQ(info.byte_size, expected.info.byte_size);
    EXPECT_EQ(std::memcmp(info.data, expected.info.data, info.byte_size), 0);
}
NEEDS_MEMORY(hurray_writer_take) {
    Imported imported;
    Writer writer;
    ASSERT_EQ(hurray_writer_to_memory(writer.out(), nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_writer_write(writer.handle, imported.tensor.handle, nullptr), HURRAY_OK);
    Buffer written;
    each_allocation_fails([&] { return subject(writer.handle, written.out(), &report); },
                          [&] { EXPECT_EQ(written.handle, nullptr); });
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(written.handle, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.byte_size, 61u + 48u) << "a failed take loses nothing";
}
NEEDS_NO_MEMORY(hurray_writer_destroy, "ends only") {
    HurrayWriter* writer = nullptr;
    ASSERT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(&writer); }), HURRAY_OK);
}

}  // namespace
