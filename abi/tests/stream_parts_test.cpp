// Streams whose data is read before the tensor is complete: hurray_reader_begin, _read and _skip. (format: stream, composite)
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "abi/tests/composites.hpp"
#include "abi/tests/support.hpp"

namespace {

using hurray_test::row_major_descriptor;

class StreamParts : public hurray_test::BaseLineTest {
protected:
    static std::vector<std::uint8_t> bytes_of(const std::vector<std::uint8_t>& data) {
        auto bytes = row_major_descriptor(HURRAY_TYPE_UINT8, {data.size()}, data.size());
        bytes.insert(bytes.end(), data.begin(), data.end());
        return bytes;
    }

    // A composite in a stream.
    std::vector<std::uint8_t> composite_bytes() {
        HurrayComposite* composite = hurray_test::partition(memory.bytes);
        HurrayWriter* writer = nullptr;
        EXPECT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_writer_write_composite(writer, composite, nullptr), HURRAY_OK);
        HurrayBuffer* written = nullptr;
        EXPECT_EQ(hurray_writer_take(writer, &written, nullptr), HURRAY_OK);
        HurrayBufferInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_buffer_info(written, &info, nullptr), HURRAY_OK);
        const auto* first = static_cast<const std::uint8_t*>(info.data);
        std::vector<std::uint8_t> bytes(first, first + info.byte_size);
        EXPECT_EQ(hurray_buffer_destroy(written), HURRAY_OK);
        EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
        EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
        return bytes;
    }

    // Where the descriptor `number` starts.
    static std::vector<std::uint8_t>::const_iterator descriptor_in(const std::vector<std::uint8_t>& bytes, int number) {
        const std::string magic = "HRRY";
        auto found = std::search(bytes.begin(), bytes.end(), magic.begin(), magic.end());
        for (; number > 0; --number) found = std::search(found + 1, bytes.end(), magic.begin(), magic.end());
        EXPECT_NE(found, bytes.end());
        return found;
    }

    HurrayReader* reader_over(const std::vector<std::uint8_t>& bytes, std::uint32_t flags = 0) {
        HurrayStreamOptions options{};
        options.struct_size = sizeof options;
        options.flags = flags;
        HurrayReader* reader = nullptr;
        EXPECT_EQ(hurray_reader_from_memory(bytes.data(), bytes.size(), &options, &reader, nullptr), HURRAY_OK);
        return reader;
    }

    // Begins the next tensor and says its rank; -1 at the end, the status where it fails.
    static int begin(HurrayReader* reader) {
        HurrayDescriptor* descriptor = nullptr;
        const HurrayStatus status = hurray_reader_begin(reader, &descriptor, nullptr);
        if (status != HURRAY_OK) {
            EXPECT_EQ(descriptor, nullptr);
            return status;
        }
        if (descriptor == nullptr) return -1;
        HurrayDescriptorInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
        return static_cast<int>(info.rank);
    }

    hurray_test::AlignedBytes<128> memory;
};

TEST_F(StreamParts, DataComesAsItArrives) {
    auto bytes = bytes_of({1, 2, 3, 4, 5});
    const auto second = bytes_of({6, 7});
    bytes.insert(bytes.end(), second.begin(), second.end());
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_fd(ends[0], nullptr, &reader, nullptr), HURRAY_OK);
    // The descriptor and three bytes of five: both are given before the rest is there.
    const std::size_t first_part = bytes.size() - second.size() - 2;
    ASSERT_EQ(write(ends[1], bytes.data(), first_part), static_cast<ssize_t>(first_part));
    EXPECT_EQ(begin(reader), 1);
    std::uint8_t into[16] = {};
    std::uint64_t count = 0;
    ASSERT_EQ(hurray_reader_read(reader, into, sizeof into, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 3u);
    EXPECT_EQ(std::memcmp(into, "\1\2\3", 3), 0);
    ASSERT_EQ(write(ends[1], bytes.data() + first_part, bytes.size() - first_part), static_cast<ssize_t>(bytes.size() - first_part));
    ASSERT_EQ(hurray_reader_read(reader, into, sizeof into, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 2u) << "nothing of the next tensor";
    ASSERT_EQ(hurray_reader_read(reader, into, sizeof into, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 0u) << "complete";
    EXPECT_EQ(begin(reader), 1);
    ASSERT_EQ(hurray_reader_skip(reader, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_reader_skip(reader, nullptr), HURRAY_OK) << "nothing is left";
    close(ends[1]);
    EXPECT_EQ(begin(reader), -1);
    EXPECT_EQ(begin(reader), -1) << "the end stays the end";
    close(ends[0]);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(StreamParts, WhatComesOutOfOrderIsRefusedAndNothingChanges) {
    const auto bytes = bytes_of({1, 2, 3});
    HurrayReader* reader = reader_over(bytes);
    std::uint8_t into[16] = {};
    std::uint64_t count = 77;
    EXPECT_EQ(hurray_reader_read(reader, into, sizeof into, &count, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "none was begun";
    EXPECT_EQ(count, 0u);
    EXPECT_EQ(hurray_reader_skip(reader, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(begin(reader), 1);
    ASSERT_EQ(hurray_reader_read(reader, into, 1, &count, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_reader_read(reader, nullptr, 0, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 0u);
    HurrayTensor* tensor = nullptr;
    HurrayComposite* composite = nullptr;
    EXPECT_EQ(begin(reader), HURRAY_ERR_INVALID_ARGUMENT) << "two bytes are left";
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    ASSERT_EQ(hurray_reader_read(reader, into, sizeof into, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(into[0], 2);
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(tensor, nullptr);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(StreamParts, AStreamThatEndsWithinATensorIsRefusedWithItsOffset) {
    auto bytes = bytes_of({1, 2, 3, 4});
    bytes.pop_back();
    for (const bool skipping : {false, true}) {
        HurrayReader* reader = reader_over(bytes);
        EXPECT_EQ(begin(reader), 1);
        std::uint8_t into[16] = {};
        std::uint64_t count = 0;
        HurrayError error{};
        if (skipping) {
            EXPECT_EQ(hurray_reader_skip(reader, &error), HURRAY_ERR_INVALID_FORMAT);
        } else {
            ASSERT_EQ(hurray_reader_read(reader, into, sizeof into, &count, nullptr), HURRAY_OK);
            EXPECT_EQ(count, 3u);
            EXPECT_EQ(hurray_reader_read(reader, into, sizeof into, &count, &error), HURRAY_ERR_INVALID_FORMAT);
            EXPECT_EQ(count, 0u);
        }
        EXPECT_NE(std::string(error.message).find("[byte " + std::to_string(bytes.size()) + "]"), std::string::npos) << error.message;
        EXPECT_EQ(begin(reader), HURRAY_ERR_INVALID_FORMAT) << "and again";
        EXPECT_EQ(hurray_reader_skip(reader, nullptr), HURRAY_ERR_INVALID_FORMAT);
        EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    }
}

TEST_F(StreamParts, CompositesAreCheckedAtTheirClose) {
    auto bytes = composite_bytes();
    const auto after = bytes_of({9});
    bytes.insert(bytes.end(), after.begin(), after.end());
    HurrayReader* reader = reader_over(bytes);
    HurrayTensor* tensor = nullptr;
    HurrayComposite* composite = nullptr;
    std::uint64_t count = 0;
    EXPECT_EQ(begin(reader), 1);
    ASSERT_EQ(hurray_reader_read(reader, memory.bytes, 64, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 0u) << "a head has no data";
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "within a composite";
    EXPECT_EQ(hurray_reader_next_item(reader, &tensor, &composite, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    for (int member = 0; member < 2; ++member) {
        EXPECT_EQ(begin(reader), 1);
        ASSERT_EQ(hurray_reader_read(reader, memory.bytes, 64, &count, nullptr), HURRAY_OK);
        EXPECT_EQ(count, 8u);
    }
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_OK) << "the composite is complete";
    EXPECT_NE(tensor, nullptr);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(begin(reader), -1);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(StreamParts, TornCompositesAreRefusedAndAPermissiveReaderTakesTheirMembersAsTensors) {
    const auto whole = composite_bytes();
    const auto one_less = std::vector<std::uint8_t>(whole.begin(), descriptor_in(whole, 2));
    const auto try_with = [&](std::uint32_t flags) {
        HurrayReader* reader = reader_over(one_less, flags);
        EXPECT_EQ(begin(reader), 1);
        EXPECT_EQ(begin(reader), 1);
        EXPECT_EQ(hurray_reader_skip(reader, nullptr), HURRAY_OK);
        const int end = begin(reader);
        EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
        return end;
    };
    EXPECT_EQ(try_with(HURRAY_STREAM_PERMISSIVE), -1);
    EXPECT_EQ(try_with(0), HURRAY_ERR_INVALID_COMPOSITE);
}

TEST_F(StreamParts, MembersThatDoNotFitAreRefusedAtTheirDescriptor) {
    const auto whole = composite_bytes();
    // The head, and then a tensor that has no place in it.
    auto misfit = std::vector<std::uint8_t>(whole.begin(), descriptor_in(whole, 1));
    const auto other = bytes_of({9});
    misfit.insert(misfit.end(), other.begin(), other.end());
    HurrayReader* reader = reader_over(misfit);
    EXPECT_EQ(begin(reader), 1);
    EXPECT_EQ(begin(reader), HURRAY_ERR_INVALID_COMPOSITE);
    EXPECT_EQ(begin(reader), HURRAY_ERR_INVALID_COMPOSITE) << "and again";
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    reader = reader_over(misfit, HURRAY_STREAM_PERMISSIVE);
    EXPECT_EQ(begin(reader), 1);
    EXPECT_EQ(begin(reader), 1);
    EXPECT_EQ(hurray_reader_skip(reader, nullptr), HURRAY_OK);
    EXPECT_EQ(begin(reader), -1);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(StreamParts, SkippingInARegularFileReadsNothing) {
    auto bytes = row_major_descriptor(HURRAY_TYPE_UINT8, {std::uint64_t{3} << 30}, std::uint64_t{3} << 30);
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(pwrite(fileno(file), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    const auto after = bytes_of({9, 8});
    const auto after_at = static_cast<off_t>(bytes.size()) + (off_t{3} << 30);
    ASSERT_EQ(pwrite(fileno(file), after.data(), after.size(), after_at), static_cast<ssize_t>(after.size()));
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_fd(fileno(file), nullptr, &reader, nullptr), HURRAY_OK);
    EXPECT_EQ(begin(reader), 1);
    ASSERT_EQ(hurray_reader_skip(reader, nullptr), HURRAY_OK);
    EXPECT_EQ(lseek(fileno(file), 0, SEEK_CUR), after_at);
    EXPECT_EQ(begin(reader), 1);
    std::uint8_t into[4] = {};
    std::uint64_t count = 0;
    ASSERT_EQ(hurray_reader_read(reader, into, sizeof into, &count, nullptr), HURRAY_OK);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(into[1], 8);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    std::fclose(file);
}

}  // namespace
