// Streams through callbacks: what they give and take, and what becomes of a call whose callback misbehaves. (format: stream)
#include <stdexcept>
#include <vector>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::Pair;
using hurray_test::row_major_descriptor;

/// Bytes in memory, given in pieces.
struct Source {
    std::vector<std::uint8_t> bytes;
    std::size_t piece = 7;
    std::size_t at = 0;
    int calls = 0;

    static std::int64_t read(void* context, void* into, std::uint64_t capacity) {
        auto& source = *static_cast<Source*>(context);
        ++source.calls;
        EXPECT_GT(capacity, 0u);
        const std::size_t count = std::min({static_cast<std::size_t>(capacity), source.piece, source.bytes.size() - source.at});
        if (count != 0) std::memcpy(into, source.bytes.data() + source.at, count);
        source.at += count;
        return static_cast<std::int64_t>(count);
    }
};

std::vector<std::uint8_t> one_tensor() {
    auto bytes = row_major_descriptor(HURRAY_TYPE_UINT8, {5}, 5);
    bytes.insert(bytes.end(), {1, 2, 3, 4, 5});
    return bytes;
}

class StreamCallback : public hurray_test::BaseLineTest {
protected:
    // A reader over a callback; the first read must give `expected`, and so must the one after it.
    void expect_read(HurrayReadFn read, void* context, HurrayStatus expected) {
        HurrayReader* reader = nullptr;
        ASSERT_EQ(hurray_reader_from_callback(read, context, nullptr, &reader, nullptr), HURRAY_OK);
        for (int i = 0; i < 2; ++i) {
            HurrayTensor* tensor = nullptr;
            HurrayError error{};
            EXPECT_EQ(hurray_reader_next(reader, &tensor, &error), expected) << error.message;
            EXPECT_EQ(tensor, nullptr);
            EXPECT_NE(error.message[0], '\0');
        }
        EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    }

    void expect_write(HurrayWriteFn write, void* context, HurrayStatus expected) {
        Pair pair;
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
        HurrayWriter* writer = nullptr;
        ASSERT_EQ(hurray_writer_to_callback(write, context, nullptr, &writer, nullptr), HURRAY_OK);
        HurrayError error{};
        EXPECT_EQ(hurray_writer_write(writer, tensor, &error), expected) << error.message;
        EXPECT_NE(hurray_writer_write(writer, tensor, nullptr), HURRAY_OK) << "a broken writer stays broken";
        EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    }
};

TEST_F(StreamCallback, RoundTripThroughPieces) {
    Pair pair;
    for (int i = 0; i < 48; ++i) pair.memory.bytes[i] = static_cast<unsigned char>(i);
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    std::vector<std::uint8_t> written;
    const HurrayWriteFn append = [](void* context, const void* bytes, std::uint64_t length) -> HurrayStatus {
        EXPECT_GT(length, 0u);
        const auto* first = static_cast<const std::uint8_t*>(bytes);
        static_cast<std::vector<std::uint8_t>*>(context)->insert(static_cast<std::vector<std::uint8_t>*>(context)->end(), first,
                                                                 first + length);
        return HURRAY_OK;
    };
    HurrayWriter* writer = nullptr;
    ASSERT_EQ(hurray_writer_to_callback(append, &written, nullptr, &writer, nullptr), HURRAY_OK);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(hurray_writer_write(writer, tensor, nullptr), HURRAY_OK);
    HurrayBuffer* taken = nullptr;
    EXPECT_EQ(hurray_writer_take(writer, &taken, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "not a writer into memory";
    EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
    auto expected = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    for (int i = 0; i < 48; ++i) expected.push_back(static_cast<std::uint8_t>(i));
    const std::size_t one = expected.size();
    expected.insert(expected.end(), expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(one));
    EXPECT_EQ(written, expected);

    Source source{std::move(written)};
    HurrayReader* reader = nullptr;
    ASSERT_EQ(hurray_reader_from_callback(&Source::read, &source, nullptr, &reader, nullptr), HURRAY_OK);
    for (int i = 0; i < 2; ++i) {
        HurrayTensor* read = nullptr;
        ASSERT_EQ(hurray_reader_next(reader, &read, nullptr), HURRAY_OK);
        ASSERT_NE(read, nullptr);
        EXPECT_EQ(source.at, one * static_cast<std::size_t>(i + 1)) << "no byte beyond the tensor";
        HurrayView view{};
        view.struct_size = sizeof view;
        ASSERT_EQ(hurray_tensor_view(read, &view, nullptr), HURRAY_OK);
        EXPECT_EQ(std::memcmp(view.data, pair.memory.bytes, 48), 0);
        EXPECT_EQ(hurray_tensor_destroy(&read), HURRAY_OK);
    }
    HurrayTensor* none = nullptr;
    EXPECT_EQ(hurray_reader_next(reader, &none, nullptr), HURRAY_OK);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(StreamCallback, CodesOfFailedReadsComeBack) {
    const auto answer = [](void* context, void*, std::uint64_t) { return *static_cast<std::int64_t*>(context); };
    std::int64_t code = HURRAY_ERR_CANCELLED;
    expect_read(answer, &code, HURRAY_ERR_CANCELLED);
    code = HURRAY_ERR_LIMIT_EXCEEDED;
    expect_read(answer, &code, HURRAY_ERR_LIMIT_EXCEEDED);
    code = -100000;
    expect_read(answer, &code, HURRAY_ERR_IO);
    code = INT64_MIN;
    expect_read(answer, &code, HURRAY_ERR_IO);
}

TEST_F(StreamCallback, AReadThatClaimsMoreThanThereWasRoomFor) {
    expect_read([](void*, void*, std::uint64_t capacity) { return static_cast<std::int64_t>(capacity) + 1; }, nullptr,
                HURRAY_ERR_INVALID_ARGUMENT);
    expect_read([](void*, void*, std::uint64_t) -> std::int64_t { return INT64_MAX; }, nullptr, HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(StreamCallback, CodesOfFailedWritesComeBack) {
    const auto answer = [](void* context, const void*, std::uint64_t) { return *static_cast<HurrayStatus*>(context); };
    HurrayStatus code = HURRAY_ERR_CANCELLED;
    expect_write(answer, &code, HURRAY_ERR_CANCELLED);
    code = 1;
    expect_write(answer, &code, HURRAY_ERR_IO);
    code = INT32_MIN;
    expect_write(answer, &code, HURRAY_ERR_IO);
}

TEST_F(StreamCallback, OneThatUsesItsReaderIsRefusedAndNothingChanges) {
    struct Nested {
        Source source{one_tensor()};
        HurrayReader* reader = nullptr;
        int refused = 0;
    } nested;
    HurrayReader* reader = nullptr;
    const HurrayReadFn read = [](void* context, void* into, std::uint64_t capacity) {
        auto& self = *static_cast<Nested*>(context);
        HurrayTensor* tensor = nullptr;
        HurrayComposite* composite = nullptr;
        HurrayDescriptor* descriptor = nullptr;
        std::uint64_t count = 0;
        HurrayError error{};
        self.refused += hurray_reader_next(self.reader, &tensor, &error) == HURRAY_ERR_INVALID_ARGUMENT ? 1 : 0;
        EXPECT_NE(std::string(error.message).find("callback"), std::string::npos) << error.message;
        self.refused += hurray_reader_next_item(self.reader, &tensor, &composite, nullptr) == HURRAY_ERR_INVALID_ARGUMENT ? 1 : 0;
        self.refused += hurray_reader_begin(self.reader, &descriptor, nullptr) == HURRAY_ERR_INVALID_ARGUMENT ? 1 : 0;
        self.refused += hurray_reader_read(self.reader, into, capacity, &count, nullptr) == HURRAY_ERR_INVALID_ARGUMENT ? 1 : 0;
        self.refused += hurray_reader_skip(self.reader, nullptr) == HURRAY_ERR_INVALID_ARGUMENT ? 1 : 0;
        self.refused += hurray_reader_destroy(&self.reader) == HURRAY_ERR_INVALID_ARGUMENT ? 1 : 0;
        return Source::read(&self.source, into, capacity);
    };
    ASSERT_EQ(hurray_reader_from_callback(read, &nested, nullptr, &reader, nullptr), HURRAY_OK);
    nested.reader = reader;
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_reader_next(reader, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_GT(nested.source.calls, 0);
    EXPECT_EQ(nested.refused, 6 * nested.source.calls);
    EXPECT_EQ(nested.reader, reader) << "the variable of a refused destroy is left";
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(tensor, nullptr) << "and the stream goes on to its end";
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(StreamCallback, OneThatUsesItsWriterIsRefusedAndNothingChanges) {
    struct Nested {
        HurrayWriter* writer = nullptr;
        HurrayTensor* tensor = nullptr;
        std::uint64_t bytes = 0;
    } nested;
    Pair pair;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &nested.tensor, nullptr), HURRAY_OK);
    const HurrayWriteFn write = [](void* context, const void*, std::uint64_t length) -> HurrayStatus {
        auto& self = *static_cast<Nested*>(context);
        EXPECT_EQ(hurray_writer_write(self.writer, self.tensor, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(hurray_writer_destroy(&self.writer), HURRAY_ERR_INVALID_ARGUMENT);
        self.bytes += length;
        return HURRAY_OK;
    };
    ASSERT_EQ(hurray_writer_to_callback(write, &nested, nullptr, &nested.writer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_writer_write(nested.writer, nested.tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_writer_write(nested.writer, nested.tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(nested.bytes, 2u * (61 + 48));
    EXPECT_EQ(hurray_writer_destroy(&nested.writer), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&nested.tensor), HURRAY_OK);
}

TEST_F(StreamCallback, OptionsThatMakeNoSenseAreRefused) {
    HurrayStreamOptions options{};
    options.struct_size = sizeof options;
    options.flags = HURRAY_STREAM_CLOSE_FD;
    Source source{one_tensor()};
    HurrayReader* reader = nullptr;
    HurrayWriter* writer = nullptr;
    EXPECT_EQ(hurray_reader_from_callback(&Source::read, &source, &options, &reader, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    const HurrayWriteFn write = [](void*, const void*, std::uint64_t) -> HurrayStatus { return HURRAY_OK; };
    EXPECT_EQ(hurray_writer_to_callback(write, nullptr, &options, &writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    options.flags = 0;
    options.reserved = 1;
    EXPECT_EQ(hurray_reader_from_callback(&Source::read, &source, &options, &reader, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_writer_to_callback(write, nullptr, &options, &writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(source.calls, 0);
    // A caller that was compiled before the limit of the alignment.
    options.struct_size = offsetof(HurrayStreamOptions, max_alignment);
    ASSERT_EQ(hurray_reader_from_callback(&Source::read, &source, &options, &reader, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
}

TEST_F(StreamCallback, TheLimitOfTheAlignmentIsConfigurable) {
    auto bytes = one_tensor();
    const std::size_t alignment_at = 20 + 8 + 8 + 1 + 8;
    bytes[alignment_at] = 0;
    bytes[alignment_at + 1] = 0x10;
    for (const std::uint32_t limit : {0U, 4096U, 4095U}) {
        Source source{bytes};
        HurrayStreamOptions options{};
        options.struct_size = sizeof options;
        options.max_alignment = limit;
        HurrayReader* reader = nullptr;
        ASSERT_EQ(hurray_reader_from_callback(&Source::read, &source, &options, &reader, nullptr), HURRAY_OK);
        HurrayTensor* tensor = nullptr;
        EXPECT_EQ(hurray_reader_next(reader, &tensor, nullptr), limit == 4095 ? HURRAY_ERR_LIMIT_EXCEEDED : HURRAY_OK) << limit;
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        EXPECT_EQ(hurray_reader_destroy(&reader), HURRAY_OK);
    }
}

}  // namespace
