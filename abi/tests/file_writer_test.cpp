// Writing files through the C ABI: where they go, tensors that are made when they are written, callbacks that misbehave, and
// that nothing is released too early, too late or twice.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "abi/tests/composites.hpp"
#include "abi/tests/files.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::every_format;
using hurray_test::FileTest;
using hurray_test::float_tensor;
using hurray_test::only_name;
using hurray_test::ReleaseCounter;

const std::vector<float> numbers{1.5F, -2.0F, 3.25F};

HurrayFileWriterOptions options_of(std::uint32_t format) {
    HurrayFileWriterOptions options{};
    options.struct_size = sizeof options;
    options.format = format;
    return options;
}

bool is_written_at_once(std::uint32_t format) { return format == HURRAY_FORMAT_HRRY || format == HURRAY_FORMAT_NPZ; }

class FileWriter : public FileTest {
protected:
    static HurrayDescriptor* descriptor(std::uint8_t type, const std::vector<std::uint64_t>& shape, std::uint64_t size) {
        const auto bytes = hurray_test::row_major_descriptor(type, shape, size);
        HurrayDescriptor* made = nullptr;
        EXPECT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &made, nullptr), HURRAY_OK);
        return made;
    }

    void write_numbers(HurrayFileWriter*& writer) {
        ReleaseCounter counter;
        HurrayTensor* tensor = float_tensor(numbers, counter);
        add(writer, only_name, tensor);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        finish(writer);
        EXPECT_EQ(counter.calls, 1);
    }
};

TEST_F(FileWriter, KeepsMemoryOnlyInFormatsThatAreNotWrittenAtOnce) {
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        ReleaseCounter counter;
        HurrayTensor* tensor = float_tensor(numbers, counter);
        HurrayFileWriter* writer = create(format);
        add(writer, only_name, tensor);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        EXPECT_EQ(counter.calls, is_written_at_once(format) ? 1 : 0);
        EXPECT_EQ(hurray_file_writer_destroy_deferred(&writer, nullptr), HURRAY_OK);
        EXPECT_EQ(counter.calls, is_written_at_once(format) ? 1 : 0) << "no callback on a thread that did not consent";
        std::uint64_t released = 0;
        EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
        EXPECT_EQ(counter.calls, 1);
        EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "nothing remains of it";
    }
}

TEST_F(FileWriter, TheSameBytesGoToAPathAPipeAndACallback) {
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        const HurrayFileWriterOptions options = options_of(format);
        HurrayFileWriter* writer = nullptr;
        HurrayError error{};
        ASSERT_EQ(hurray_file_writer_create_with(path_.c_str(), &options, &writer, &error), HURRAY_OK) << error.message;
        write_numbers(writer);
        const std::string expected = bytes_of(path_);

        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        std::string piped;
        std::thread reader([&] {
            char part[512];
            for (ssize_t count; (count = ::read(ends[0], part, sizeof part)) > 0;) piped.append(part, static_cast<std::size_t>(count));
        });
        ASSERT_EQ(hurray_file_writer_to_fd(ends[1], &options, &writer, &error), HURRAY_OK) << error.message;
        write_numbers(writer);
        EXPECT_EQ(::close(ends[1]), 0) << "stays the caller's";
        reader.join();
        EXPECT_EQ(::close(ends[0]), 0);
        EXPECT_EQ(piped, expected);

        std::string taken;
        const HurrayWriteFn take = [](void* context, const void* bytes, std::uint64_t length) -> HurrayStatus {
            EXPECT_NE(length, 0u);
            static_cast<std::string*>(context)->append(static_cast<const char*>(bytes), length);
            return HURRAY_OK;
        };
        ASSERT_EQ(hurray_file_writer_to_callback(take, &taken, &options, &writer, &error), HURRAY_OK) << error.message;
        write_numbers(writer);
        EXPECT_EQ(taken, expected);
    }
}

TEST_F(FileWriter, OptionsThatAreNotTheFormatsAreRefused) {
    const auto refused = [&](HurrayFileWriterOptions options) {
        HurrayFileWriter* writer = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_file_writer_create_with(path_.c_str(), &options, &writer, &error), HURRAY_ERR_INVALID_ARGUMENT) << error.message;
        EXPECT_EQ(writer, nullptr);
        EXPECT_EQ(hurray_file_writer_to_fd(1, &options, &writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        const HurrayWriteFn never = [](void*, const void*, std::uint64_t) -> HurrayStatus {
            ADD_FAILURE() << "a callback ran in a call that failed";
            return HURRAY_OK;
        };
        EXPECT_EQ(hurray_file_writer_to_callback(never, nullptr, &options, &writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(writer, nullptr);
    };
    refused(options_of(HURRAY_FORMAT_AUTO));
    refused(options_of(99));
    for (const std::uint32_t format : every_format()) {
        HurrayFileWriterOptions options = options_of(format);
        options.flags = 4;
        refused(options);
        options = options_of(format);
        options.data_alignment = 3;
        refused(options);
        options = options_of(format);
        options.struct_size = 8;
        refused(options);
        if (format != HURRAY_FORMAT_NPZ) {
            options = options_of(format);
            options.flags = HURRAY_FILE_WRITER_COMPRESS;
            refused(options);
        }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "nothing was left behind";
    const HurrayFileWriterOptions options = options_of(HURRAY_FORMAT_HRRY);
    HurrayFileWriter* writer = nullptr;
    EXPECT_EQ(hurray_file_writer_to_fd(-1, &options, &writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_file_writer_create_with("/nonexistent/x", &options, &writer, nullptr), HURRAY_ERR_NOT_FOUND);
    EXPECT_EQ(writer, nullptr);
}

TEST_F(FileWriter, OptionsReachTheFormat) {
    HurrayFileWriterOptions options = options_of(HURRAY_FORMAT_HRRY);
    options.data_alignment = 65536;
    options.flags = HURRAY_FILE_WRITER_UNSORTED_INDEX;
    HurrayFileWriter* writer = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_file_writer_create_with(path_.c_str(), &options, &writer, &error), HURRAY_OK) << error.message;
    write_numbers(writer);
    HurrayFile* file = open();
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    EXPECT_EQ(hurray_file_buffer_range(file, 0, 0, &offset, &size, nullptr), HURRAY_OK);
    EXPECT_EQ(offset % 65536, 0u);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);

    // A hundred thousand zeros take less room than they are long.
    options = options_of(HURRAY_FORMAT_NPZ);
    options.flags = HURRAY_FILE_WRITER_COMPRESS;
    ASSERT_EQ(hurray_file_writer_create_with(path_.c_str(), &options, &writer, &error), HURRAY_OK) << error.message;
    const std::vector<float> zeros(25'000);
    ReleaseCounter counter;
    HurrayTensor* tensor = float_tensor(zeros, counter);
    add(writer, only_name, tensor);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    finish(writer);
    EXPECT_LT(std::filesystem::file_size(path_), 10'000u);
    file = open();
    tensor = tensor_of(file, only_name);
    EXPECT_EQ(floats_of(tensor), zeros);
    EXPECT_EQ(info_of(file).copied_bytes, 100'000u) << "decompressed";
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
}

TEST_F(FileWriter, WhatIsConvertedIsCounted) {
    HurrayFileWriter* writer = create(HURRAY_FORMAT_SAFETENSORS);
    const std::uint64_t shape[] = {16};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_BOOL;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.rank = 1;
    spec.shape = shape;
    unsigned char bits[] = {0x5A, 0x01};
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_from_host(&spec, bits, 2, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
    add(writer, "b", tensor);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    std::uint64_t copied = 1;
    EXPECT_EQ(hurray_file_writer_copied_bytes(writer, &copied, nullptr), HURRAY_OK);
    EXPECT_EQ(copied, 0u);
    EXPECT_EQ(hurray_file_writer_finish(writer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_file_writer_copied_bytes(writer, &copied, nullptr), HURRAY_OK);
    EXPECT_EQ(copied, 16u) << "a byte for each bool";
    EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
}

// --- A write callback that misbehaves ---------------------------------------------------------------------------

struct BadSink {
    HurrayStatus answer = HURRAY_OK;
    bool throws = false;
    int calls = 0;

    static HurrayStatus write(void* context, const void*, std::uint64_t) {
        auto* self = static_cast<BadSink*>(context);
        ++self->calls;
        if (self->throws) throw std::runtime_error("the disk is upset");
        return self->answer;
    }
};

TEST_F(FileWriter, CallbacksThatFailEndTheWriterWithTheirCode) {
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        const auto fails = [&](BadSink sink, HurrayStatus expected) {
            const HurrayFileWriterOptions options = options_of(format);
            HurrayFileWriter* writer = nullptr;
            HurrayError error{};
            ASSERT_EQ(hurray_file_writer_to_callback(&BadSink::write, &sink, &options, &writer, &error), HURRAY_OK) << error.message;
            ReleaseCounter counter;
            HurrayTensor* tensor = float_tensor(numbers, counter);
            HurrayStatus status = hurray_file_writer_add(writer, only_name.data(), only_name.size(), tensor, &error);
            EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
            if (status == HURRAY_OK) status = hurray_file_writer_finish(writer, &error);
            EXPECT_EQ(status, expected) << error.message;
            EXPECT_EQ(error.code, expected);
            const int calls = sink.calls;
            EXPECT_GE(calls, 1);
            sink.answer = HURRAY_OK;
            sink.throws = false;
            EXPECT_NE(hurray_file_writer_finish(writer, &error), HURRAY_OK) << "the writer is of no more use";
            EXPECT_EQ(sink.calls, calls);
            EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
            EXPECT_EQ(counter.calls, 1);
        };
        fails({HURRAY_ERR_CANCELLED, false}, HURRAY_ERR_CANCELLED);
        fails({HURRAY_ERR_LIMIT_EXCEEDED, false}, HURRAY_ERR_LIMIT_EXCEEDED);
        fails({-12345, false}, HURRAY_ERR_IO);
        fails({7, false}, HURRAY_ERR_IO);
        fails({HURRAY_OK, true}, HURRAY_ERR_INTERNAL_PANIC);
    }
}

struct Reentrant {
    HurrayFileWriter* writer = nullptr;
    const HurrayTensor* tensor = nullptr;
    int calls = 0;

    static HurrayStatus write(void* context, const void*, std::uint64_t) {
        auto* self = static_cast<Reentrant*>(context);
        ++self->calls;
        HurrayFileMetadata value = hurray_test::metadata_of(HURRAY_METADATA_BOOL);
        EXPECT_EQ(hurray_file_writer_add(self->writer, "x", 1, self->tensor, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(hurray_file_writer_set_metadata(self->writer, "x", 1, "y", 1, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(hurray_file_writer_set_value(self->writer, "x", 1, &value, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(hurray_file_writer_set_array(self->writer, "x", 1, HURRAY_METADATA_BOOL, &value, 1, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(hurray_file_writer_finish(self->writer, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        HurrayFileWriter* variable = self->writer;
        EXPECT_EQ(hurray_file_writer_destroy(&variable), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(hurray_file_writer_destroy_deferred(&variable, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(variable, self->writer);
        return HURRAY_OK;
    }
};

TEST_F(FileWriter, CallbacksThatUseTheWriterFindTheDoorShut) {
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        ReleaseCounter counter;
        HurrayTensor* tensor = float_tensor(numbers, counter);
        Reentrant sink;
        sink.tensor = tensor;
        const HurrayFileWriterOptions options = options_of(format);
        ASSERT_EQ(hurray_file_writer_to_callback(&Reentrant::write, &sink, &options, &sink.writer, nullptr), HURRAY_OK);
        add(sink.writer, only_name, tensor);
        finish(sink.writer);
        EXPECT_GE(sink.calls, 1);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    }
}

// --- Tensors that are made when they are written ----------------------------------------------------------------

/// Makes float32 tensors and knows how many of them live.
struct Source {
    enum class Does { right, fails, fails_with_tensor, fails_strangely, throws, gives_nothing, gives_a_stale_handle };
    Does does = Does::right;
    std::vector<float> values = numbers;
    std::uint8_t type = HURRAY_TYPE_FLOAT32;
    ReleaseCounter releases;
    int calls = 0;

    static HurrayStatus make(void* context, HurrayTensor** out_tensor) {
        auto* self = static_cast<Source*>(context);
        EXPECT_EQ(self->releases.calls, self->calls) << "the last one was released before the next one is made";
        ++self->calls;
        if (self->does == Does::throws) throw 42;
        if (self->does == Does::fails) return HURRAY_ERR_CANCELLED;
        if (self->does == Does::fails_strangely) return 99;
        if (self->does == Does::gives_nothing) return HURRAY_OK;
        static std::uint64_t nothing[64] = {};
        if (self->does == Does::gives_a_stale_handle || self->does == Does::fails_with_tensor) {
            *out_tensor = reinterpret_cast<HurrayTensor*>(nothing);
            return self->does == Does::fails_with_tensor ? HURRAY_ERR_IO : HURRAY_OK;
        }
        *out_tensor = float_tensor(self->values, self->releases, self->type);
        return HURRAY_OK;
    }
};

HurrayStatus add_source(HurrayFileWriter* writer, const std::string& name, const HurrayDescriptor* descriptor, Source& source,
                        HurrayError* error) {
    return hurray_file_writer_add_source(writer, name.data(), name.size(), descriptor, &Source::make, &source, error);
}

TEST_F(FileWriter, AnnouncedTensorsAreMadeWrittenAndReleasedOneByOne) {
    HurrayDescriptor* announced = descriptor(HURRAY_TYPE_FLOAT32, {3}, 12);
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        const int count = format == HURRAY_FORMAT_NPY ? 1 : 5;
        Source source;
        HurrayFileWriter* writer = create(format);
        HurrayError error{};
        for (int i = 0; i < count; ++i) {
            const std::string name = i == 0 ? only_name : std::to_string(i);
            ASSERT_EQ(add_source(writer, name, announced, source, &error), HURRAY_OK) << error.message;
            EXPECT_EQ(source.calls, is_written_at_once(format) ? i + 1 : 0);
        }
        if (format != HURRAY_FORMAT_NPY) {
            const int calls = source.calls;
            EXPECT_EQ(add_source(writer, only_name, announced, source, &error), HURRAY_ERR_INVALID_ARGUMENT) << "the name is taken";
            EXPECT_EQ(source.calls, calls) << "and nothing was made for it";
        }
        ASSERT_EQ(hurray_file_writer_finish(writer, &error), HURRAY_OK) << error.message;
        EXPECT_EQ(source.calls, count);
        EXPECT_EQ(source.releases.calls, count);
        EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
        HurrayFile* file = open();
        EXPECT_EQ(info_of(file).tensor_count, static_cast<std::uint64_t>(count));
        HurrayTensor* tensor = tensor_of(file, only_name);
        EXPECT_EQ(floats_of(tensor), numbers);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    }
    EXPECT_EQ(hurray_descriptor_destroy(&announced), HURRAY_OK);
}

TEST_F(FileWriter, WritersThatEndEarlyAskNoSource) {
    HurrayDescriptor* announced = descriptor(HURRAY_TYPE_FLOAT32, {3}, 12);
    for (const std::uint32_t format : every_format()) {
        Source source;
        HurrayFileWriter* writer = create(format);
        ASSERT_EQ(add_source(writer, only_name, announced, source, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
        EXPECT_EQ(source.calls, is_written_at_once(format) ? 1 : 0) << hurray_format_name(format);
        EXPECT_EQ(source.releases.calls, source.calls);
    }
    EXPECT_EQ(hurray_descriptor_destroy(&announced), HURRAY_OK);
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(FileWriter, SourcesThatMisbehaveAreTypedErrors) {
    HurrayDescriptor* announced = descriptor(HURRAY_TYPE_FLOAT32, {3}, 12);
    using Does = Source::Does;
    const std::pair<Does, HurrayStatus> cases[] = {{Does::fails, HURRAY_ERR_CANCELLED},
                                                   {Does::fails_with_tensor, HURRAY_ERR_IO},
                                                   {Does::fails_strangely, HURRAY_ERR_IO},
                                                   {Does::throws, HURRAY_ERR_INTERNAL_PANIC},
                                                   {Does::gives_nothing, HURRAY_ERR_NULL_POINTER},
                                                   {Does::gives_a_stale_handle, HURRAY_ERR_INVALID_HANDLE}};
    for (const std::uint32_t format : every_format()) {
        for (const auto& [does, expected] : cases) {
            SCOPED_TRACE(std::string(hurray_format_name(format)) + ", case " + std::to_string(static_cast<int>(does)));
            Source source;
            source.does = does;
            HurrayFileWriter* writer = create(format);
            HurrayError error{};
            HurrayStatus status = add_source(writer, only_name, announced, source, &error);
            EXPECT_EQ(status != HURRAY_OK, is_written_at_once(format)) << error.message;
            if (status == HURRAY_OK) status = hurray_file_writer_finish(writer, &error);
            EXPECT_EQ(status, expected) << error.message;
            EXPECT_EQ(source.calls, 1);
            EXPECT_EQ(hurray_file_writer_finish(writer, &error), HURRAY_ERR_INVALID_ARGUMENT)
                << "no file without a tensor that was announced";
            EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
            EXPECT_EQ(source.calls, 1);
            EXPECT_TRUE(std::filesystem::is_empty(folder_));
        }
    }
    EXPECT_EQ(hurray_descriptor_destroy(&announced), HURRAY_OK);
}

TEST_F(FileWriter, SourcesThatMakeAnotherTensorAreRefused) {
    struct Case {
        std::uint8_t type;
        std::vector<std::uint64_t> shape;
        std::uint64_t size;
    };
    // The source makes float32 [3] in each case.
    const Case cases[] = {{HURRAY_TYPE_INT32, {3}, 12}, {HURRAY_TYPE_FLOAT32, {4}, 16}, {HURRAY_TYPE_FLOAT32, {2}, 8},
                          {HURRAY_TYPE_FLOAT32, {3, 1}, 12}, {HURRAY_TYPE_FLOAT32, {}, 4}, {HURRAY_TYPE_FLOAT32, {0}, 0}};
    for (const std::uint32_t format : every_format()) {
        for (const Case& one : cases) {
            SCOPED_TRACE(std::string(hurray_format_name(format)) + ", type " + std::to_string(one.type) + ", rank " +
                         std::to_string(one.shape.size()));
            HurrayDescriptor* announced = descriptor(one.type, one.shape, one.size);
            Source source;
            HurrayFileWriter* writer = create(format);
            HurrayError error{};
            HurrayStatus status = add_source(writer, only_name, announced, source, &error);
            if (status == HURRAY_OK) status = hurray_file_writer_finish(writer, &error);
            EXPECT_EQ(status, HURRAY_ERR_INVALID_ARGUMENT) << error.message;
            EXPECT_EQ(source.calls, 1);
            EXPECT_EQ(source.releases.calls, 1) << "taken, so released";
            EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
            EXPECT_EQ(hurray_descriptor_destroy(&announced), HURRAY_OK);
        }
    }
}

TEST_F(FileWriter, ReleasesThatThrowAreToldAndTheFileIsThere) {
    struct Thrower {
        std::vector<float> values = numbers;
        int releases = 0;
        static HurrayStatus make(void* context, HurrayTensor** out_tensor) {
            auto* self = static_cast<Thrower*>(context);
            const std::uint64_t shape[] = {3};
            HurrayDenseSpec spec{};
            spec.struct_size = sizeof spec;
            spec.element_type = HURRAY_TYPE_FLOAT32;
            spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
            spec.rank = 1;
            spec.shape = shape;
            const HurrayReleaseCallback release = [](void*, void* counter) {
                ++*static_cast<int*>(counter);
                throw std::runtime_error("not now");
            };
            return hurray_tensor_from_host(&spec, self->values.data(), 12, release, &self->releases, nullptr, out_tensor, nullptr);
        }
    };
    HurrayDescriptor* announced = descriptor(HURRAY_TYPE_FLOAT32, {3}, 12);
    for (const std::uint32_t format : every_format()) {
        SCOPED_TRACE(hurray_format_name(format));
        Thrower source;
        HurrayFileWriter* writer = create(format);
        ASSERT_EQ(hurray_file_writer_add_source(writer, only_name.data(), only_name.size(), announced, &Thrower::make, &source, nullptr),
                  HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_finish(writer, nullptr), HURRAY_ERR_INTERNAL_PANIC);
        EXPECT_EQ(source.releases, 1);
        EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
        HurrayFile* file = open();
        EXPECT_EQ(info_of(file).tensor_count, 1u);
        EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
    }
    EXPECT_EQ(hurray_descriptor_destroy(&announced), HURRAY_OK);
}

// From one file to another, tensor by tensor, as a conversion does it: descriptors first, data when it is written.
TEST_F(FileWriter, ConvertsEveryFormatIntoEveryOther) {
    struct Conversion {
        HurrayFile* file;
        int calls = 0;
        static HurrayStatus make(void* context, HurrayTensor** out_tensor) {
            auto* self = static_cast<Conversion*>(context);
            ++self->calls;
            return hurray_file_tensor(self->file, 0, out_tensor, nullptr);
        }
    };
    for (const std::uint32_t from : every_format()) {
        HurrayFileWriter* writer = create(from);
        write_numbers(writer);
        for (const std::uint32_t access : {HURRAY_ACCESS_MAP, HURRAY_ACCESS_READ}) {
            for (const std::uint32_t to : every_format()) {
                SCOPED_TRACE(std::string(hurray_format_name(from)) + " to " + hurray_format_name(to));
                HurrayFileOptions options{};
                options.struct_size = sizeof options;
                options.access = access;
                Conversion conversion{open(&options)};
                HurrayDescriptor* announced = nullptr;
                HurrayError error{};
                ASSERT_EQ(hurray_file_descriptor(conversion.file, 0, &announced, &error), HURRAY_OK) << error.message;
                const std::string target = folder_ + "/converted";
                ASSERT_EQ(hurray_file_writer_create(target.c_str(), to, &writer, &error), HURRAY_OK) << error.message;
                EXPECT_EQ(hurray_file_writer_add_source(writer, only_name.data(), only_name.size(), announced, &Conversion::make,
                                                        &conversion, &error),
                          HURRAY_OK)
                    << error.message;
                finish(writer);
                EXPECT_EQ(conversion.calls, 1);
                EXPECT_EQ(hurray_descriptor_destroy(&announced), HURRAY_OK);
                EXPECT_EQ(hurray_file_destroy(&conversion.file), HURRAY_OK);
                HurrayFile* file = nullptr;
                ASSERT_EQ(hurray_file_open(target.c_str(), nullptr, &file, &error), HURRAY_OK) << error.message;
                HurrayTensor* tensor = tensor_of(file, only_name);
                EXPECT_EQ(floats_of(tensor), numbers);
                EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
                EXPECT_EQ(hurray_file_destroy(&file), HURRAY_OK);
            }
        }
    }
}

}  // namespace
