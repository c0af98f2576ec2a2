// Model files through the C ABI. What safetensors demands is tested in core/hurray/io/tests; here it is the boundary:
// ownership, lifetime, options.
#include <filesystem>
#include <fstream>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

class ModelFile : public hurray_test::BaseLineTest {
protected:
    void SetUp() override {
        BaseLineTest::SetUp();
        path_ = ::testing::TempDir() + "/abi_file_test.safetensors";
    }
    void TearDown() override {
        std::filesystem::remove(path_);
        BaseLineTest::TearDown();
    }

    void write_raw(const std::string& header, const std::string& data) {
        std::ofstream file(path_, std::ios::binary);
        const std::uint64_t length = header.size();
        file.write(reinterpret_cast<const char*>(&length), sizeof length);
        file << header << data;
    }

    HurrayFile* open(const HurrayFileOptions* options = nullptr) {
        HurrayFile* file = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_file_open(path_.c_str(), options, &file, &error), HURRAY_OK) << error.message;
        return file;
    }

    std::string path_;
};

HurrayTensor* float_tensor(const std::vector<float>& values, ReleaseCounter& counter) {
    const std::uint64_t shape[] = {values.size()};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.rank = 1;
    spec.shape = shape;
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_tensor_from_host(&spec, const_cast<float*>(values.data()), values.size() * 4, &ReleaseCounter::release,
                                      &counter, nullptr, &tensor, nullptr),
              HURRAY_OK);
    return tensor;
}

TEST_F(ModelFile, WriterKeepsTheMemoryUntilItEnds) {
    const std::vector<float> values{1.5F, -2.0F, 3.25F};
    ReleaseCounter counter;
    HurrayTensor* tensor = float_tensor(values, counter);
    HurrayFileWriter* writer = nullptr;
    ASSERT_EQ(hurray_file_writer_create(path_.c_str(), HURRAY_FORMAT_SAFETENSORS, &writer, nullptr), HURRAY_OK);
    const std::string name("a\0b", 3);
    ASSERT_EQ(hurray_file_writer_add(writer, name.data(), name.size(), tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_file_writer_add(writer, name.data(), name.size(), tensor, nullptr), HURRAY_ERR_INVALID_ARGUMENT)
        << "the name is taken";
    ASSERT_EQ(hurray_file_writer_set_metadata(writer, "k", 1, "v", 1, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(counter.calls, 0) << "the writer shares the memory";
    EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing is there before finish";
    HurrayError error{};
    ASSERT_EQ(hurray_file_writer_finish(writer, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_file_writer_finish(writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "finished already";
    EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);

    HurrayFile* file = open();
    HurrayFileInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_file_info(file, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.format, 0u + HURRAY_FORMAT_SAFETENSORS);
    EXPECT_EQ(info.tensor_count, 1u);
    EXPECT_EQ(info.metadata_count, 1u);
    EXPECT_EQ(info.file_size, std::filesystem::file_size(path_));
    HurrayFileMetadata entry{};
    entry.struct_size = sizeof entry;
    ASSERT_EQ(hurray_file_metadata(file, 0, &entry, nullptr), HURRAY_OK);
    EXPECT_EQ(std::string(entry.key, entry.key_length) + "=" + std::string(entry.value, entry.value_length), "k=v");
    EXPECT_EQ(hurray_file_metadata(file, 1, &entry, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    std::uint64_t index = 7;
    EXPECT_EQ(hurray_file_find(file, name.data(), name.size(), &index, nullptr), HURRAY_OK);
    EXPECT_EQ(index, 0u);
    EXPECT_EQ(hurray_file_find(file, "a", 1, &index, nullptr), HURRAY_ERR_NOT_FOUND) << "lengths are explicit";

    // A tensor outlives its file.
    ASSERT_EQ(hurray_file_tensor(file, 0, &tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    HurrayView view{};
    view.struct_size = sizeof view;
    ASSERT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
    EXPECT_NE(view.flags & HURRAY_VIEW_READ_ONLY, 0u) << "mapped read-only";
    EXPECT_EQ(std::memcmp(view.data, values.data(), 12), 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(ModelFile, DeferredDestroyReleasesTensorsOnTheQueue) {
    const std::vector<float> values{1.0F};
    ReleaseCounter counter;
    HurrayTensor* tensor = float_tensor(values, counter);
    HurrayFileWriter* writer = nullptr;
    ASSERT_EQ(hurray_file_writer_create(path_.c_str(), HURRAY_FORMAT_SAFETENSORS, &writer, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_file_writer_add(writer, "x", 1, tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_file_writer_destroy_deferred(&writer, nullptr), HURRAY_OK);
    EXPECT_EQ(writer, nullptr);
    EXPECT_EQ(counter.calls, 0) << "no callback on a thread that did not consent";
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(counter.calls, 1);
}

TEST_F(ModelFile, WriterThatEndsWithoutFinishLeavesTheOldFile) {
    write_raw("{}", "");
    const auto old_size = std::filesystem::file_size(path_);
    HurrayFileWriter* writer = nullptr;
    ASSERT_EQ(hurray_file_writer_create(path_.c_str(), HURRAY_FORMAT_SAFETENSORS, &writer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
    EXPECT_EQ(std::filesystem::file_size(path_), old_size);
}

TEST_F(ModelFile, UnalignedDataIsHandedOverAsItLiesCopiedOrRefusedAsAsked) {
    // Data starts at byte 8 + 59, which is no multiple of anything.
    write_raw(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"__metadata__":{}})", "\1\2\3\4");
    HurrayFileOptions options{};
    options.struct_size = sizeof options;

    HurrayFile* file = open(&options);
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_file_tensor(file, 0, &tensor, nullptr), HURRAY_OK);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, nullptr), HURRAY_OK);
    std::uint64_t prefix = 0;
    ASSERT_EQ(hurray_buffer_prefix(buffer, &prefix, nullptr), HURRAY_OK);
    EXPECT_NE(prefix, 0u);
    HurrayFileInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_file_info(file, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.copied_bytes, 0u) << "not a byte is copied";
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);

    options.alignment = HURRAY_ALIGN_COPY;
    file = open(&options);
    ASSERT_EQ(hurray_file_tensor(file, 0, &tensor, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_file_info(file, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.copied_bytes, 4u);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);

    options.alignment = HURRAY_ALIGN_REQUIRE;
    file = open(&options);
    HurrayError error{};
    EXPECT_EQ(hurray_file_tensor(file, 0, &tensor, &error), HURRAY_ERR_MISALIGNED);
    EXPECT_EQ(tensor, nullptr);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(ModelFile, OptionsOutOfRangeAreRefused) {
    write_raw("{}", "");
    HurrayFile* file = nullptr;
    const auto refused = [&](auto change) {
        HurrayFileOptions options{};
        options.struct_size = sizeof options;
        change(options);
        HurrayError error{};
        EXPECT_EQ(hurray_file_open(path_.c_str(), &options, &file, &error), HURRAY_ERR_INVALID_ARGUMENT) << error.message;
        EXPECT_EQ(file, nullptr);
    };
    refused([](HurrayFileOptions& o) { o.alignment = 3; });
    refused([](HurrayFileOptions& o) { o.format = 99; });
    refused([](HurrayFileOptions& o) { o.access = 2; });
    refused([](HurrayFileOptions& o) { o.inexact_blocks = 4; });
    refused([](HurrayFileOptions& o) { o.flags = 8; });
    refused([](HurrayFileOptions& o) { o.struct_size = 4; });
    // Fields of a later version that are set cannot be ignored.
    struct {
        HurrayFileOptions known;
        std::uint64_t later;
    } later{};
    later.known.struct_size = sizeof later;
    later.later = 1;
    EXPECT_EQ(hurray_file_open(path_.c_str(), &later.known, &file, nullptr), HURRAY_ERR_UNSUPPORTED);
    later.later = 0;
    EXPECT_EQ(hurray_file_open(path_.c_str(), &later.known, &file, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(ModelFile, NamesInErrorsAreQuotedWhateverTheyHold) {
    write_raw("{}", "");
    HurrayFile* file = open();
    for (const std::string& name : {std::string("a\0b", 3), std::string("\xFF\x1B[31m"), std::string(300, '\xC3')}) {
        std::uint64_t index = 0;
        HurrayError error{};
        EXPECT_EQ(hurray_file_find(file, name.data(), name.size(), &index, &error), HURRAY_ERR_NOT_FOUND);
        for (const char c : std::string(error.message)) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << error.message;
    }
    EXPECT_EQ(hurray_file_find(file, nullptr, 0, nullptr, nullptr), HURRAY_ERR_NULL_POINTER);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(ModelFile, HeaderLimitIsConfigurable) {
    write_raw(R"({"__metadata__":{"a":"b"}})", "");
    HurrayFileOptions options{};
    options.struct_size = sizeof options;
    options.header_limit = 10;
    HurrayFile* file = nullptr;
    EXPECT_EQ(hurray_file_open(path_.c_str(), &options, &file, nullptr), HURRAY_ERR_LIMIT_EXCEEDED);
    EXPECT_EQ(hurray_file_open("/nonexistent/x.safetensors", nullptr, &file, nullptr), HURRAY_ERR_NOT_FOUND);
    EXPECT_EQ(file, nullptr);
}

}  // namespace
