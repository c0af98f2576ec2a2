// Files of every format through the C ABI. What each format accepts and refuses is tested in core/hurray/io; here it is the
// boundary: what the functions hand over, of whom it is, how long it lives, and which options reach the format.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "abi/tests/composites.hpp"
#include "abi/tests/files.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::every_format;
using hurray_test::FileTest;
using hurray_test::float_tensor;
using hurray_test::metadata_of;
using hurray_test::only_name;
using hurray_test::ReleaseCounter;
using hurray_test::text_value;

const std::vector<float> numbers{1.5F, -2.0F, 3.25F, 0.0F, 5e9F};

class FileFormats : public FileTest {
protected:
    void write_numbers(std::uint32_t format) {
        ReleaseCounter counter;
        HurrayTensor* tensor = float_tensor(numbers, counter);
        HurrayFileWriter* writer = create(format);
        add(writer, only_name, tensor);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        finish(writer);
        EXPECT_EQ(counter.calls, 1);
    }

    static HurrayFileTensorInfo tensor_info(const HurrayFile* file, std::uint64_t index) {
        HurrayFileTensorInfo info{};
        info.struct_size = sizeof info;
        HurrayError error{};
        EXPECT_EQ(hurray_file_tensor_info(file, index, &info, &error), HURRAY_OK) << error.message;
        return info;
    }
};

TEST_F(FileFormats, TensorsComeBackOfEveryFormatThatIsRecognisedByItself) {
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        write_numbers(format);
        HurrayFile* file = open();
        EXPECT_EQ(info_of(file).format, format);
        EXPECT_EQ(info_of(file).file_size, std::filesystem::file_size(path_));
        const HurrayFileTensorInfo info = tensor_info(file, 0);
        EXPECT_EQ(info.element_type, HURRAY_TYPE_FLOAT32);
        EXPECT_EQ(info.layout, HURRAY_LAYOUT_ROW_MAJOR);
        EXPECT_EQ(info.scheme, 0);
        EXPECT_EQ(info.rank, 1u);
        EXPECT_EQ(info.shape[0], numbers.size());
        EXPECT_EQ(info.bits, 32u);
        EXPECT_GE(info.byte_size, 20u);
        EXPECT_LE(info.file_offset + info.byte_size, info_of(file).file_size);
        HurrayTensor* tensor = tensor_of(file, only_name);
        EXPECT_EQ(info_of(file).copied_bytes, 0u) << "mapped";
        EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
        EXPECT_EQ(floats_of(tensor), numbers) << "a tensor outlives its file";
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    }
}

TEST_F(FileFormats, StoredTypesAreTheFormatsOwnWords) {
    const std::pair<std::uint32_t, std::string> words[] = {{HURRAY_FORMAT_SAFETENSORS, "F32"}, {HURRAY_FORMAT_GGUF, "F32"},
                                                           {HURRAY_FORMAT_NPY, "<f4"},         {HURRAY_FORMAT_NPZ, "<f4"},
                                                           {HURRAY_FORMAT_HRRY, ""}};
    for (const auto& [format, word] : words) {
        write_numbers(format);
        HurrayFile* file = open();
        const HurrayFileTensorInfo info = tensor_info(file, 0);
        EXPECT_EQ(std::string(info.stored_type == nullptr ? "" : info.stored_type, info.stored_type_length), word)
            << hurray_format_name(format);
        EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    }
}

TEST_F(FileFormats, FilesThatAreReadAreAlignedCountedAndSafeWhenTheyAreCut) {
    HurrayFileOptions options{};
    options.struct_size = sizeof options;
    options.access = HURRAY_ACCESS_READ;
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        write_numbers(format);
        HurrayFile* file = open(&options);
        HurrayTensor* tensor = tensor_of(file, only_name);
        EXPECT_EQ(floats_of(tensor), numbers);
        HurrayBuffer* buffer = nullptr;
        ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, nullptr), HURRAY_OK);
        std::uint64_t prefix = 1;
        EXPECT_EQ(hurray_buffer_prefix(buffer, &prefix, nullptr), HURRAY_OK);
        EXPECT_EQ(prefix, 0u);
        EXPECT_GE(info_of(file).copied_bytes, 20u);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);

        // Somebody else cuts the file in the middle of the data: an error, where a mapping would raise SIGBUS.
        const HurrayFileTensorInfo info = tensor_info(file, 0);
        ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(info.file_offset + 4)), 0);
        HurrayError error{};
        EXPECT_EQ(hurray_file_tensor(file, 0, &tensor, &error), HURRAY_ERR_INVALID_FORMAT) << error.message;
        EXPECT_EQ(tensor, nullptr);
        EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    }
}

TEST_F(FileFormats, DescriptorsAndRangesAreToldWithoutTouchingData) {
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        write_numbers(format);
        const std::string bytes = bytes_of(path_);
        HurrayFile* file = open();
        HurrayDescriptor* descriptor = nullptr;
        HurrayError error{};
        ASSERT_EQ(hurray_file_descriptor(file, 0, &descriptor, &error), HURRAY_OK) << error.message;
        HurrayDescriptorInfo info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(info.element_type, HURRAY_TYPE_FLOAT32);
        EXPECT_EQ(info.rank, 1u);
        EXPECT_EQ(info.shape[0], numbers.size());
        EXPECT_EQ(info.buffer_count, 1u);
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        ASSERT_EQ(hurray_file_buffer_range(file, 0, 0, &offset, &size, &error), HURRAY_OK) << error.message;
        ASSERT_EQ(size, 20u);
        ASSERT_LE(offset + size, bytes.size());
        EXPECT_EQ(std::memcmp(bytes.data() + offset, numbers.data(), 20), 0);
        EXPECT_EQ(hurray_file_buffer_range(file, 0, 1, &offset, &size, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
        EXPECT_EQ(offset, 0u);
        EXPECT_EQ(size, 0u);
        EXPECT_EQ(hurray_file_buffer_range(file, 1, 0, &offset, &size, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
        EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
        ASSERT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK) << "independent of the file";
        EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    }
    HurrayFile* file = open();
    HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_file_descriptor(file, UINT64_MAX, &descriptor, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(descriptor, nullptr);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

// A file in memory: nothing is copied, the memory is shared and released once, when nobody needs it any more.
TEST_F(FileFormats, FilesInMemoryAreSharedAtAnyAlignment) {
    for (const std::uint32_t format : every_format()) {
        for (const std::size_t shift : {0U, 1U, 37U}) {
            SCOPED_TRACE(std::string(hurray_format_name(format)) + " at " + std::to_string(shift));
            write_numbers(format);
            const std::string contents = bytes_of(path_);
            std::vector<char> memory(contents.size() + 128);
            char* const start = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64 + shift;
            std::copy(contents.begin(), contents.end(), start);
            ReleaseCounter releases;
            HurrayBuffer* buffer = nullptr;
            std::uint64_t prefix = 0;
            ASSERT_EQ(hurray_buffer_from_host(start, contents.size(), 0, &ReleaseCounter::release, &releases, &buffer, &prefix, nullptr),
                      HURRAY_OK);
            EXPECT_EQ(prefix, shift);
            HurrayFile* file = nullptr;
            HurrayError error{};
            ASSERT_EQ(hurray_file_open_buffer(buffer, nullptr, &file, &error), HURRAY_OK) << error.message;
            EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
            EXPECT_EQ(info_of(file).format, format);
            EXPECT_EQ(info_of(file).file_size, contents.size()) << "without the bytes in front";
            HurrayTensor* tensor = tensor_of(file, only_name);
            EXPECT_EQ(info_of(file).copied_bytes, 0u);
            EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
            EXPECT_EQ(releases.calls, 0) << "the tensor shares the memory";
            HurrayView view{};
            view.struct_size = sizeof view;
            ASSERT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
            EXPECT_GE(static_cast<const char*>(view.data), start);
            EXPECT_LT(static_cast<const char*>(view.data), start + contents.size());
            EXPECT_NE(view.flags & HURRAY_VIEW_READ_ONLY, 0u);
            std::vector<float> read(numbers.size());
            std::memcpy(read.data(), view.data, 20);
            EXPECT_EQ(read, numbers);
            EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
            EXPECT_EQ(releases.calls, 1);
            EXPECT_EQ(releases.last_data, static_cast<void*>(start));
        }
    }
}

TEST_F(FileFormats, MemoryOfAFileIsReleasedOnTheQueueWhenItEndsThere) {
    write_numbers(HURRAY_FORMAT_HRRY);
    std::string contents = bytes_of(path_);
    ReleaseCounter releases;
    HurrayBuffer* buffer = nullptr;
    std::uint64_t prefix = 0;
    ASSERT_EQ(hurray_buffer_from_host(contents.data(), contents.size(), 0, &ReleaseCounter::release, &releases, &buffer, &prefix, nullptr),
              HURRAY_OK);
    HurrayFile* file = nullptr;
    ASSERT_EQ(hurray_file_open_buffer(buffer, nullptr, &file, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
    EXPECT_EQ(hurray_file_destroy_deferred(&file, nullptr), HURRAY_OK);
    EXPECT_EQ(file, nullptr);
    EXPECT_EQ(releases.calls, 0) << "no callback on a thread that did not consent";
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(releases.calls, 1);
    EXPECT_EQ(hurray_file_destroy_deferred(&file, nullptr), HURRAY_OK) << "a null variable is a no-op";
}

TEST_F(FileFormats, MemoryThatCannotBeReadNowIsNoFile) {
    AlignedBytes<64> memory;
    const auto refused = [&](std::uint8_t device, std::uint8_t mode, HurrayStatus expected) {
        HurrayBufferHandleBytes handle{};
        handle.bytes[0] = 64;
        handle.bytes[8] = 64;
        handle.bytes[12] = device;
        handle.bytes[13] = mode;
        HurrayEventPayload event{&memory, HURRAY_DEVICE_CUDA, [](void*, void*) {}, nullptr};
        ReleaseCounter releases;
        HurrayBuffer* buffer = nullptr;
        HurrayError error{};
        ASSERT_EQ(hurray_buffer_handoff(&handle, memory.bytes, &ReleaseCounter::release, &releases,
                                        mode == HURRAY_SYNC_EVENT ? &event : nullptr, nullptr, &buffer, &error),
                  HURRAY_OK)
            << error.message;
        HurrayFile* file = nullptr;
        EXPECT_EQ(hurray_file_open_buffer(buffer, nullptr, &file, &error), expected) << error.message;
        EXPECT_EQ(file, nullptr);
        EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
        EXPECT_EQ(releases.calls, 1);
    };
    refused(HURRAY_DEVICE_CUDA, HURRAY_SYNC_PRODUCER_SYNCED, HURRAY_ERR_UNSUPPORTED);
    refused(HURRAY_DEVICE_CUDA, HURRAY_SYNC_EVENT, HURRAY_ERR_UNSUPPORTED);
}

TEST_F(FileFormats, MemoryThatIsNoFileIsRefusedAndGivenBack) {
    ReleaseCounter releases;
    std::string junk(1000, '\x7F');
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{8}, junk.size()}) {
        HurrayBuffer* buffer = nullptr;
        std::uint64_t prefix = 0;
        ASSERT_EQ(hurray_buffer_from_host(junk.data(), length, 0, &ReleaseCounter::release, &releases, &buffer, &prefix, nullptr),
                  HURRAY_OK);
        HurrayFile* file = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_file_open_buffer(buffer, nullptr, &file, &error), HURRAY_ERR_INVALID_FORMAT) << error.message;
        EXPECT_EQ(file, nullptr);
        releases.calls = 0;
        EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_OK);
        EXPECT_EQ(releases.calls, 1);
    }
}

TEST_F(FileFormats, MetadataOfEveryType) {
    const std::string text("t\0\xC3\xA9", 4);
    const std::string blob("\xFF\x00\x80", 3);
    HurrayFileWriter* writer = create(HURRAY_FORMAT_HRRY);
    const auto set = [&](const std::string& key, const HurrayFileMetadata& value) {
        HurrayError error{};
        EXPECT_EQ(hurray_file_writer_set_value(writer, key.data(), key.size(), &value, &error), HURRAY_OK) << error.message;
    };
    set("string", text_value(text));
    set("bytes", text_value(blob, HURRAY_METADATA_BYTES));
    HurrayFileMetadata value = metadata_of(HURRAY_METADATA_INT64);
    value.int64_value = INT64_MIN;
    set("int64", value);
    value = metadata_of(HURRAY_METADATA_UINT64);
    value.uint64_value = UINT64_MAX;
    set("uint64", value);
    value = metadata_of(HURRAY_METADATA_FLOAT64);
    value.float64_value = -0.0;
    set("float64", value);
    value = metadata_of(HURRAY_METADATA_BOOL);
    value.boolean = 1;
    set("bool", value);
    std::vector<HurrayFileMetadata> elements;
    const std::string words[] = {"one", "", "t\xC3\xA9"};
    for (const std::string& word : words) elements.push_back(text_value(word));
    HurrayError error{};
    ASSERT_EQ(hurray_file_writer_set_array(writer, "array", 5, HURRAY_METADATA_STRING, elements.data(), elements.size(), &error), HURRAY_OK)
        << error.message;
    ASSERT_EQ(hurray_file_writer_set_array(writer, "none", 4, HURRAY_METADATA_UINT64, nullptr, 0, &error), HURRAY_OK) << error.message;
    ASSERT_EQ(hurray_file_writer_set_metadata(writer, "int64 too", 9, "text", 4, &error), HURRAY_OK) << error.message;
    finish(writer);

    HurrayFile* file = open();
    EXPECT_EQ(info_of(file).metadata_count, 9u);
    const auto get = [&](const std::string& key, std::uint8_t type) {
        std::uint64_t index = 0;
        EXPECT_EQ(hurray_file_find_metadata(file, key.data(), key.size(), &index, nullptr), HURRAY_OK) << key;
        HurrayFileMetadata entry = metadata_of(0);
        EXPECT_EQ(hurray_file_metadata(file, index, &entry, nullptr), HURRAY_OK);
        EXPECT_EQ(std::string(entry.key, entry.key_length), key);
        EXPECT_EQ(entry.type, type) << key;
        return entry;
    };
    HurrayFileMetadata entry = get("string", HURRAY_METADATA_STRING);
    EXPECT_EQ(std::string(entry.value, entry.value_length), text);
    entry = get("bytes", HURRAY_METADATA_BYTES);
    EXPECT_EQ(std::string(entry.value, entry.value_length), blob);
    EXPECT_EQ(get("int64", HURRAY_METADATA_INT64).int64_value, INT64_MIN);
    EXPECT_EQ(get("uint64", HURRAY_METADATA_UINT64).uint64_value, UINT64_MAX);
    EXPECT_TRUE(std::signbit(get("float64", HURRAY_METADATA_FLOAT64).float64_value));
    EXPECT_EQ(get("bool", HURRAY_METADATA_BOOL).boolean, 1);
    entry = get("array", HURRAY_METADATA_ARRAY);
    EXPECT_EQ(entry.element_type, HURRAY_METADATA_STRING);
    ASSERT_EQ(entry.count, 3u);
    std::uint64_t index = 0;
    ASSERT_EQ(hurray_file_find_metadata(file, "array", 5, &index, nullptr), HURRAY_OK);
    for (std::uint64_t i = 0; i < 3; ++i) {
        HurrayFileMetadata element = metadata_of(0);
        ASSERT_EQ(hurray_file_metadata_element(file, index, i, &element, nullptr), HURRAY_OK);
        EXPECT_EQ(element.key, nullptr);
        EXPECT_EQ(element.type, HURRAY_METADATA_STRING);
        EXPECT_EQ(std::string(element.value, element.value_length), words[i]);
    }
    EXPECT_EQ(hurray_file_metadata_element(file, index, 3, &entry, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(entry.count, 0u) << "zeroed on failure";
    EXPECT_EQ(get("none", HURRAY_METADATA_ARRAY).count, 0u);
    ASSERT_EQ(hurray_file_find_metadata(file, "string", 6, &index, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_file_metadata_element(file, index, 0, &entry, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "no array";
    EXPECT_EQ(hurray_file_metadata_element(file, 9, 0, &entry, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(hurray_file_find_metadata(file, "strin", 5, &index, nullptr), HURRAY_ERR_NOT_FOUND);
    EXPECT_EQ(index, 0u);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(FileFormats, MetadataThatIsNoneIsRefused) {
    HurrayFileWriter* writer = create(HURRAY_FORMAT_HRRY);
    const auto refused = [&](const HurrayFileMetadata& value, HurrayStatus expected) {
        HurrayError error{};
        EXPECT_EQ(hurray_file_writer_set_value(writer, "k", 1, &value, &error), expected) << error.message;
    };
    refused(metadata_of(0), HURRAY_ERR_INVALID_ARGUMENT);
    refused(metadata_of(HURRAY_METADATA_ARRAY), HURRAY_ERR_INVALID_ARGUMENT);
    refused(metadata_of(8), HURRAY_ERR_INVALID_ARGUMENT);
    HurrayFileMetadata value = metadata_of(HURRAY_METADATA_BOOL);
    value.boolean = 2;
    refused(value, HURRAY_ERR_INVALID_ARGUMENT);
    value = metadata_of(HURRAY_METADATA_BOOL);
    value.reserved = 1;
    refused(value, HURRAY_ERR_INVALID_ARGUMENT);
    value = metadata_of(HURRAY_METADATA_STRING);
    value.value_length = 1;
    refused(value, HURRAY_ERR_NULL_POINTER);
    refused(text_value("\xFF"), HURRAY_ERR_INVALID_ARGUMENT);
    value = metadata_of(HURRAY_METADATA_BOOL);
    value.struct_size = 8;
    refused(value, HURRAY_ERR_INVALID_ARGUMENT);
    const auto array_refused = [&](std::uint8_t type, const std::vector<HurrayFileMetadata>& elements, HurrayStatus expected) {
        HurrayError error{};
        EXPECT_EQ(hurray_file_writer_set_array(writer, "k", 1, type, elements.data(), elements.size(), &error), expected) << error.message;
    };
    array_refused(HURRAY_METADATA_ARRAY, {}, HURRAY_ERR_INVALID_ARGUMENT);
    array_refused(0, {}, HURRAY_ERR_INVALID_ARGUMENT);
    array_refused(HURRAY_METADATA_INT64, {metadata_of(HURRAY_METADATA_INT64), metadata_of(HURRAY_METADATA_UINT64)},
                  HURRAY_ERR_INVALID_ARGUMENT);
    value = metadata_of(HURRAY_METADATA_INT64);
    value.struct_size -= 8;
    array_refused(HURRAY_METADATA_INT64, {metadata_of(HURRAY_METADATA_INT64), value}, HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_file_writer_set_array(writer, "k", 1, HURRAY_METADATA_INT64, nullptr, 1, nullptr), HURRAY_ERR_NULL_POINTER);
    finish(writer);
    HurrayFile* file = open();
    EXPECT_EQ(info_of(file).metadata_count, 0u) << "a refusal changes nothing";
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);

    // What a format cannot hold.
    writer = create(HURRAY_FORMAT_SAFETENSORS);
    refused(metadata_of(HURRAY_METADATA_INT64), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
    writer = create(HURRAY_FORMAT_NPY);
    refused(text_value("v"), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
}

// Elements of a caller whose struct is longer: the distance between them is its size.
TEST_F(FileFormats, ElementsOfALaterVersionAreAsFarApartAsTheySay) {
    struct Later {
        HurrayFileMetadata known;
        std::uint64_t further;
    } elements[2]{};
    for (int i = 0; i < 2; ++i) {
        elements[i].known = metadata_of(HURRAY_METADATA_INT64);
        elements[i].known.struct_size = sizeof(Later);
        elements[i].known.int64_value = 10 + i;
    }
    HurrayFileWriter* writer = create(HURRAY_FORMAT_HRRY);
    HurrayError error{};
    ASSERT_EQ(hurray_file_writer_set_array(writer, "k", 1, HURRAY_METADATA_INT64, &elements[0].known, 2, &error), HURRAY_OK) << error.message;
    elements[1].further = 1;
    EXPECT_EQ(hurray_file_writer_set_array(writer, "l", 1, HURRAY_METADATA_INT64, &elements[0].known, 2, nullptr), HURRAY_ERR_UNSUPPORTED);
    finish(writer);
    HurrayFile* file = open();
    HurrayFileMetadata element = metadata_of(0);
    ASSERT_EQ(hurray_file_metadata_element(file, 0, 1, &element, nullptr), HURRAY_OK);
    EXPECT_EQ(element.int64_value, 11);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(FileFormats, StructsOfTheFirstSizeAreFilledThatFar) {
    write_numbers(HURRAY_FORMAT_SAFETENSORS);
    HurrayFile* file = open();
    HurrayFileTensorInfo info{};
    std::memset(static_cast<void*>(&info), 0xA5, sizeof info);
    info.struct_size = offsetof(HurrayFileTensorInfo, stored_type);
    ASSERT_EQ(hurray_file_tensor_info(file, 0, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.rank, 1u);
    EXPECT_EQ(info.stored_type_length, 0xA5A5A5A5A5A5A5A5u) << "beyond the caller's struct";
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    HurrayFileOptions options{};
    options.struct_size = offsetof(HurrayFileOptions, inexact_blocks);
    options.flags = 0xFFFFFFFF;
    file = open(&options);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(FileFormats, CompositesComeBackWhole) {
    AlignedBytes<128> memory;
    const float values[] = {1.0F, 2.0F, 3.0F, 4.0F};
    std::memcpy(memory.bytes, values, 8);
    std::memcpy(memory.bytes + 64, values + 2, 8);
    ReleaseCounter releases;
    HurrayComposite* composite = hurray_test::partition(memory.bytes, &ReleaseCounter::release, &releases);
    HurrayFileWriter* writer = create(HURRAY_FORMAT_HRRY);
    HurrayError error{};
    ASSERT_EQ(hurray_file_writer_add_composite(writer, "c", 1, composite, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    EXPECT_EQ(releases.calls, 2) << "written at once, not kept";
    finish(writer);

    HurrayFile* file = open();
    EXPECT_EQ(info_of(file).tensor_count, 3u);
    std::uint64_t member = 0;
    EXPECT_EQ(hurray_file_find(file, "c/1", 3, &member, nullptr), HURRAY_OK);
    std::uint64_t head = 0;
    ASSERT_EQ(hurray_file_find(file, "c", 1, &head, nullptr), HURRAY_OK);
    EXPECT_EQ(tensor_info(file, head).layout, HURRAY_LAYOUT_COMPOSITE);
    EXPECT_EQ(hurray_file_composite(file, member, &composite, &error), HURRAY_ERR_INVALID_ARGUMENT) << error.message;
    EXPECT_EQ(composite, nullptr);
    EXPECT_EQ(hurray_file_composite(file, 3, &composite, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    ASSERT_EQ(hurray_file_composite(file, head, &composite, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(info_of(file).copied_bytes, 0u);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    for (std::uint64_t i = 0; i < 4; ++i) {
        double value = 0;
        ASSERT_EQ(hurray_composite_element_float64(composite, &i, 1, &value, &error), HURRAY_OK) << error.message;
        EXPECT_EQ(value, 1.0 + static_cast<double>(i));
    }
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);

    write_numbers(HURRAY_FORMAT_SAFETENSORS);
    file = open();
    EXPECT_EQ(hurray_file_composite(file, 0, &composite, nullptr), HURRAY_ERR_INVALID_ARGUMENT) << "no head";
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(FileFormats, FormatsWithoutCompositesSaySo) {
    AlignedBytes<128> memory;
    HurrayComposite* composite = hurray_test::partition(memory.bytes);
    for (const std::uint32_t format : every_format()) {
        if (format == HURRAY_FORMAT_HRRY) continue;
        HurrayFileWriter* writer = create(format);
        EXPECT_EQ(hurray_file_writer_add_composite(writer, "c", 1, composite, nullptr), HURRAY_ERR_UNSUPPORTED) << hurray_format_name(format);
        EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
    }
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
}

TEST_F(FileFormats, NamesOfFormats) {
    EXPECT_STREQ(hurray_format_name(HURRAY_FORMAT_SAFETENSORS), "safetensors");
    EXPECT_STREQ(hurray_format_name(HURRAY_FORMAT_HRRY), ".hrry");
    EXPECT_STREQ(hurray_format_name(HURRAY_FORMAT_GGUF), "GGUF");
    EXPECT_STREQ(hurray_format_name(HURRAY_FORMAT_NPY), ".npy");
    EXPECT_STREQ(hurray_format_name(HURRAY_FORMAT_NPZ), ".npz");
    EXPECT_STREQ(hurray_format_name(HURRAY_FORMAT_AUTO), "automatic");
    EXPECT_STREQ(hurray_format_name(99), "?");
}

TEST_F(FileFormats, AFormatThatIsNamedMustBeThatOfTheFile) {
    write_numbers(HURRAY_FORMAT_HRRY);
    HurrayFileOptions options{};
    options.struct_size = sizeof options;
    for (const std::uint32_t format : every_format()) {
        options.format = format;
        HurrayFile* file = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_file_open(path_.c_str(), &options, &file, &error) == HURRAY_OK, format == HURRAY_FORMAT_HRRY)
            << hurray_format_name(format) << error.message;
        EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    }
}

}  // namespace
