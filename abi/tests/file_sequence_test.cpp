// .hrry files that are read in sequence, as from a pipe, through the C ABI.
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "abi/tests/composites.hpp"
#include "abi/tests/files.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::FileTest;
using hurray_test::float_tensor;
using hurray_test::ReleaseCounter;

class FileSequence : public FileTest {
protected:
    /// A file of the tensors "b" and "a\0".
    std::string two_tensors() {
        HurrayFileWriter* writer = create(HURRAY_FORMAT_HRRY);
        for (const std::string& name : names_) {
            ReleaseCounter counter;
            const std::vector<float> values{static_cast<float>(name[0]), 2.0F};
            HurrayTensor* tensor = float_tensor(values, counter);
            add(writer, name, tensor);
            EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        }
        finish(writer);
        return bytes_of(path_);
    }

    static HurrayStreamOptions options() {
        HurrayStreamOptions options{};
        options.struct_size = sizeof options;
        options.flags = HURRAY_STREAM_HRRY_FILE;
        return options;
    }

    static HurrayStatus name_of(const HurrayReader* reader, std::uint64_t index, std::string& out) {
        const std::uint8_t* name = nullptr;
        std::uint64_t length = 7;
        const HurrayStatus status = hurray_reader_name(reader, index, &name, &length, nullptr);
        if (status != HURRAY_OK) {
            EXPECT_EQ(name, nullptr);
            EXPECT_EQ(length, 0u);
        }
        out.assign(reinterpret_cast<const char*>(name), length);
        return status;
    }

    // In the order in which they were added, whatever the order of the index.
    const std::string names_[2] = {"b", std::string("a\0", 2)};
};

TEST_F(FileSequence, TensorsComeFromAPipeAndTheirNamesAtTheEnd) {
    const std::string file = two_tensors();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    std::thread producer([&] {
        // In small steps, none of which is a whole part of the file.
        for (std::size_t at = 0; at < file.size(); at += 777) {
            const std::size_t count = std::min<std::size_t>(777, file.size() - at);
            EXPECT_EQ(::write(ends[1], file.data() + at, count), static_cast<ssize_t>(count));
        }
        EXPECT_EQ(::close(ends[1]), 0);
    });
    HurrayStreamOptions reading = options();
    reading.flags |= HURRAY_STREAM_CLOSE_FD;
    HurrayReader* reader = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_reader_from_fd(ends[0], &reading, &reader, &error), HURRAY_OK) << error.message;
    std::string name;
    for (const std::string& expected : names_) {
        EXPECT_EQ(name_of(reader, 0, name), HURRAY_ERR_INVALID_ARGUMENT) << "the names are at the end";
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_reader_next(reader, &tensor, &error), HURRAY_OK) << error.message;
        ASSERT_NE(tensor, nullptr);
        EXPECT_EQ(floats_of(tensor), (std::vector<float>{static_cast<float>(expected[0]), 2.0F}));
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    }
    HurrayTensor* none = nullptr;
    ASSERT_EQ(hurray_reader_next(reader, &none, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(none, nullptr);
    for (std::uint64_t i = 0; i < 2; ++i) {
        EXPECT_EQ(name_of(reader, i, name), HURRAY_OK);
        EXPECT_EQ(name, names_[i]);
    }
    EXPECT_EQ(name_of(reader, 2, name), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(name_of(reader, UINT64_MAX, name), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    producer.join();
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(FileSequence, CompositesComeWhole) {
    AlignedBytes<128> memory;
    HurrayComposite* composite = hurray_test::partition(memory.bytes);
    HurrayFileWriter* writer = create(HURRAY_FORMAT_HRRY);
    HurrayError error{};
    ASSERT_EQ(hurray_file_writer_add_composite(writer, "c", 1, composite, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    finish(writer);
    const std::string file = bytes_of(path_);
    const HurrayStreamOptions reading = options();
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_memory(file.data(), file.size(), &reading, &reader, nullptr), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_reader_next_item(reader, &tensor, &composite, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(tensor, nullptr);
    EXPECT_NE(composite, nullptr);
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    ASSERT_EQ(hurray_reader_next_item(reader, &tensor, &composite, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(composite, nullptr);
    std::string name;
    for (const char* expected : {"c", "c/0", "c/1"}) {
        EXPECT_EQ(name_of(reader, static_cast<std::uint64_t>(expected[1] == 0 ? 0 : expected[2] - '0' + 1), name), HURRAY_OK);
        EXPECT_EQ(name, expected);
    }
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(FileSequence, FilesThatAreCutAnywhereAreErrors) {
    const std::string file = two_tensors();
    const HurrayStreamOptions reading = options();
    for (std::size_t length = 0; length < file.size(); length += 101) {
        HurrayReader* reader = nullptr;
        ASSERT_EQ(hurray_reader_from_memory(file.data(), length, &reading, &reader, nullptr), HURRAY_OK);
        HurrayStatus status = HURRAY_OK;
        HurrayTensor* tensor = nullptr;
        do {
            status = hurray_reader_next(reader, &tensor, nullptr);
        } while (status == HURRAY_OK && tensor != nullptr && hurray_tensor_destroy(&tensor) == HURRAY_OK);
        // What follows the tensors is cut to less than a magic number, or to another part.
        EXPECT_TRUE(status == HURRAY_ERR_INVALID_FORMAT || status == HURRAY_ERR_INVALID_MAGIC) << length << ": " << status;
        std::string name;
        EXPECT_EQ(name_of(reader, 0, name), HURRAY_ERR_INVALID_ARGUMENT) << length;
        EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    }
}

TEST_F(FileSequence, StreamsHaveNoNames) {
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_memory(nullptr, 0, nullptr, &reader, nullptr), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_OK);
    std::string name;
    EXPECT_EQ(name_of(reader, 0, name), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

}  // namespace
