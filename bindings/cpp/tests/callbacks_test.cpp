// Callables of C++ that the library calls: sources of tensors, givers and takers of bytes. They live as long as what
// calls them, what they say arrives, and what they throw does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <hurray.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using hurray::Result;
using hurray::Span;
using hurray::Tensor;

constexpr std::uint64_t shape[] = {2, 3};

Tensor numbers(float first) {
    std::vector<float> values(6);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
    auto tensor = Tensor::from_container(std::move(values), shape);
    EXPECT_TRUE(tensor);
    return std::move(*tensor);
}

class Callbacks : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(hurray::set_handle_checks(true));
        before_ = live();
    }
    void TearDown() override { EXPECT_EQ(live(), before_); }
    static std::uint64_t live() { return hurray::live_handles().value_or(hurray::LiveHandles{}).handles; }

  private:
    std::uint64_t before_ = 0;
};

// Everything that a taker was given.
auto into(std::vector<std::uint8_t>& bytes) {
    return [&bytes](Span<const std::uint8_t> piece) -> Result<void> {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        return {};
    };
}

hurray::FileWriterOptions hrry() {
    hurray::FileWriterOptions options;
    options.format = HURRAY_FORMAT_HRRY;
    return options;
}

TEST_F(Callbacks, AStreamGoesThroughCallablesInSmallPieces) {
    std::vector<std::uint8_t> bytes;
    {
        auto writer = hurray::Writer::to_callback(into(bytes));
        ASSERT_TRUE(writer);
        hurray::Writer moved = std::move(*writer);
        ASSERT_TRUE(moved.write(numbers(1)));
        ASSERT_TRUE(moved.write(numbers(7)));
    }
    std::size_t at = 0;
    auto reader = hurray::Reader::from_callback([&](Span<std::uint8_t> place) -> Result<std::size_t> {
        const std::size_t count = std::min<std::size_t>({place.size(), 5, bytes.size() - at});
        if (count != 0) std::memcpy(place.data(), bytes.data() + at, count);
        at += count;
        return count;
    });
    ASSERT_TRUE(reader);
    const std::uint64_t last[] = {1, 2};
    EXPECT_EQ(reader->next()->element(last).value_or(0.0), 6.0);
    const auto descriptor = reader->begin();
    ASSERT_TRUE(descriptor);
    std::uint8_t data[7];
    std::uint64_t total = 0;
    for (auto count = reader->read(data); count && *count != 0; count = reader->read(data)) total += *count;
    EXPECT_EQ(total, 24U);
    EXPECT_FALSE(*reader->begin());
}

TEST_F(Callbacks, WhatACallableSaysArrivesWithItsMessage) {
    auto reader = hurray::Reader::from_callback(
        [](Span<std::uint8_t>) -> Result<std::size_t> { return hurray::Error(HURRAY_ERR_IO, "the cable is out"); });
    ASSERT_TRUE(reader);
    const auto tensor = reader->next();
    ASSERT_FALSE(tensor);
    EXPECT_EQ(tensor.error().code(), HURRAY_ERR_IO);
    EXPECT_STREQ(tensor.error().message(), "the cable is out");

    auto writer = hurray::Writer::to_callback(
        [](Span<const std::uint8_t>) -> Result<void> { return hurray::Error(HURRAY_ERR_CANCELLED, "enough"); });
    ASSERT_TRUE(writer);
    const auto done = writer->write(numbers(0));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), HURRAY_ERR_CANCELLED);
    EXPECT_STREQ(done.error().message(), "enough");
}

TEST_F(Callbacks, WhatACallableThrowsIsAnErrorValue) {
    auto reader = hurray::Reader::from_callback(
        [](Span<std::uint8_t>) -> Result<std::size_t> { throw std::runtime_error("give"); });
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->next().error().code(), HURRAY_ERR_INTERNAL_PANIC);
    std::vector<std::uint8_t> bytes;
    auto file = hurray::FileWriter::to_callback(into(bytes), hrry());
    ASSERT_TRUE(file);
    const auto model = numbers(0);
    const auto added = file->add_source("x", *model.descriptor(), []() -> Result<Tensor> { throw 7; });
    EXPECT_EQ((added ? file->finish() : added).error().code(), HURRAY_ERR_INTERNAL_PANIC);
}

TEST_F(Callbacks, TensorsAreMadeWhenTheyAreWritten) {
    const auto token = std::make_shared<int>(0);
    const std::string path = testing::TempDir() + "/callbacks_test.safetensors";
    {
        hurray::FileWriterOptions options;
        options.format = HURRAY_FORMAT_SAFETENSORS;
        auto writer = hurray::FileWriter::create(path.c_str(), options);
        ASSERT_TRUE(writer);
        // What is announced has no bytes of others in front; what is made may.
        const auto model = std::move(*numbers(0).copy());
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE(writer->add_source(std::string("t").append(std::to_string(i)), *model.descriptor(),
                                           [token, own = std::make_unique<int>(i)]() -> Result<Tensor> {
                                               ++*token;
                                               return numbers(static_cast<float>(10 * *own));
                                           }));
        }
        EXPECT_EQ(*token, 0);
        hurray::FileWriter moved = std::move(*writer);
        const auto done = moved.finish();
        ASSERT_TRUE(done) << done.error().message();
        EXPECT_EQ(*token, 3);
    }
    EXPECT_EQ(token.use_count(), 1);
    const auto file = hurray::File::open(path.c_str());
    ASSERT_TRUE(file);
    const std::uint64_t last[] = {1, 2};
    EXPECT_EQ(file->tensor("t2")->element(last).value_or(0.0), 25.0);
    std::remove(path.c_str());
}

TEST_F(Callbacks, AFileThatIsReadInSequenceTellsItsNamesAtItsEnd) {
    std::vector<std::uint8_t> bytes;
    {
        auto writer = hurray::FileWriter::to_callback(into(bytes), hrry());
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->add(std::string_view("n\0\xC3\xA9", 4), numbers(1)));
        ASSERT_TRUE(writer->finish());
    }
    hurray::StreamOptions options;
    options.flags = HURRAY_STREAM_HRRY_FILE;
    auto reader = hurray::Reader::from_memory(bytes, options);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(*reader->next());
    EXPECT_EQ(reader->name(0).error().code(), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_FALSE(*reader->next());
    EXPECT_EQ(*reader->name(0), std::string_view("n\0\xC3\xA9", 4));
    EXPECT_EQ(reader->name(1).error().code(), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}

TEST_F(Callbacks, FilesInMemoryWithMetadataOfEveryType) {
    std::vector<std::uint8_t> bytes;
    {
        auto writer = hurray::FileWriter::to_callback(into(bytes), hrry());
        ASSERT_TRUE(writer);
        auto value = hurray::sized<HurrayFileMetadata>();
        value.type = HURRAY_METADATA_INT64;
        value.int64_value = -3;
        ASSERT_TRUE(writer->set_metadata("text", "words"));
        ASSERT_TRUE(writer->set_metadata("number", value));
        const HurrayFileMetadata elements[] = {value, value};
        ASSERT_TRUE(writer->set_metadata("list", HURRAY_METADATA_INT64, elements));
        ASSERT_TRUE(writer->add("x", numbers(1)));
        ASSERT_TRUE(writer->finish());
        EXPECT_TRUE(writer->copied_bytes());
    }
    auto memory = hurray::Buffer::allocate(bytes.size());
    ASSERT_TRUE(memory);
    std::memcpy(memory->mutable_bytes()->data(), bytes.data(), bytes.size());
    const auto file = hurray::File::open(memory->ref());
    ASSERT_TRUE(file) << file.error().message();
    memory->reset();
    EXPECT_EQ(file->metadata(*file->find_metadata("number"))->int64_value, -3);
    const std::uint64_t list = *file->find_metadata("list");
    EXPECT_EQ(file->metadata(list)->count, 2U);
    EXPECT_EQ(file->metadata_element(list, 1)->int64_value, -3);
    EXPECT_EQ(file->descriptor(0)->info()->rank, 2U);
    const auto range = file->buffer_range(0, 0);
    ASSERT_TRUE(range);
    float first = 0;
    std::memcpy(&first, bytes.data() + range->offset, sizeof first);
    EXPECT_EQ(first, 1.0F);
    EXPECT_EQ(file->composite(0).error().code(), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_STREQ(hurray::format_name(HURRAY_FORMAT_HRRY), ".hrry");
}

}  // namespace
