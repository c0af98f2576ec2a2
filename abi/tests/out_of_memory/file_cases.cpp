// Files: see out_of_memory_test.cpp.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "abi/tests/composites.hpp"
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

/// A file with one tensor and one entry of metadata. The names are long, so that no string keeps them in itself.
const char* const tensor_name = "a name that is longer than what a string keeps in itself";

struct Written {
    std::string path;
    explicit Written(const char* name) : path(file_name(name)) {
        Imported imported;
        FileWriter writer;
        EXPECT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, writer.out(), nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_add(writer.handle, tensor_name, std::strlen(tensor_name), imported.tensor.handle, nullptr),
                  HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_set_metadata(writer.handle, "key", 3, "value", 5, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_finish(writer.handle, nullptr), HURRAY_OK);
    }
    ~Written() { std::filesystem::remove(path); }
};

struct Opened : Written {
    File file;
    explicit Opened(const char* name) : Written(name) {
        EXPECT_EQ(hurray_file_open(path.c_str(), nullptr, file.out(), nullptr), HURRAY_OK);
    }
};

/// A .hrry file whose only entry of metadata is an array of -1 and -2.
struct Arrays {
    std::string path;
    File file;
    explicit Arrays(const char* name) : path(file_name(name)) {
        FileWriter writer;
        EXPECT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_HRRY, writer.out(), nullptr), HURRAY_OK);
        const std::vector<HurrayFileMetadata> elements = numbers();
        EXPECT_EQ(hurray_file_writer_set_array(writer.handle, "key", 3, HURRAY_METADATA_INT64, elements.data(), elements.size(), nullptr),
                  HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_finish(writer.handle, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_open(path.c_str(), nullptr, file.out(), nullptr), HURRAY_OK);
    }
    ~Arrays() { std::filesystem::remove(path); }

    static std::vector<HurrayFileMetadata> numbers() {
        std::vector<HurrayFileMetadata> elements(2);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            elements[i].struct_size = sizeof elements[i];
            elements[i].type = HURRAY_METADATA_INT64;
            elements[i].int64_value = -1 - static_cast<std::int64_t>(i);
        }
        return elements;
    }
};

/// A .hrry file with one composite.
struct Composites {
    std::string path;
    File file;
    std::uint64_t head = 0;
    explicit Composites(const char* name) : path(file_name(name)) {
        AlignedBytes<128> memory;
        HurrayComposite* composite = partition(memory.bytes);
        FileWriter writer;
        EXPECT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_HRRY, writer.out(), nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_add_composite(writer.handle, "c", 1, composite, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
        EXPECT_EQ(hurray_file_writer_finish(writer.handle, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_open(path.c_str(), nullptr, file.out(), nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_file_find(file.handle, "c", 1, &head, nullptr), HURRAY_OK);
    }
    ~Composites() { std::filesystem::remove(path); }
};

/// A whole file in memory that was lent.
struct InMemory : Written {
    std::string bytes;
    ReleaseCounter releases;
    Buffer buffer;
    std::uint64_t prefix = 0;
    explicit InMemory(const char* name) : Written(name) {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        EXPECT_EQ(hurray_buffer_from_host(bytes.data(), bytes.size(), 0, &ReleaseCounter::release, &releases, buffer.out(), &prefix,
                                          nullptr),
                  HURRAY_OK);
    }
};

NEEDS_MEMORY(hurray_file_open) {
    Written written("open");
    File file;
    each_allocation_fails([&] { return subject(written.path.c_str(), nullptr, file.out(), &report); },
                          [&] { EXPECT_EQ(file.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_file_info, "fills the caller's struct") {
    Opened opened("info");
    HurrayFileInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, &info, &report); }), HURRAY_OK);
    EXPECT_EQ(info.tensor_count, 1u);
}
NEEDS_NO_MEMORY(hurray_file_tensor_info, "fills the caller's struct with borrows") {
    Opened opened("tensor_info");
    HurrayFileTensorInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, 0, &info, &report); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, 1, &info, &report); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_NO_MEMORY(hurray_file_find, "searches what is there") {
    Opened opened("find");
    std::uint64_t index = 1;
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, tensor_name, std::strlen(tensor_name), &index, &report); }), HURRAY_OK);
    EXPECT_EQ(index, 0u);
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, tensor_name, 5, &index, &report); }), HURRAY_ERR_NOT_FOUND);
}
NEEDS_MEMORY(hurray_file_tensor) {
    Opened opened("tensor");
    Tensor tensor;
    each_allocation_fails([&] { return subject(opened.file.handle, 0, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_file_metadata, "fills the caller's struct with borrows") {
    Opened opened("metadata");
    HurrayFileMetadata entry{};
    entry.struct_size = sizeof entry;
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, 0, &entry, &report); }), HURRAY_OK);
    EXPECT_EQ(entry.value_length, 5u);
}
NEEDS_NO_MEMORY(hurray_file_find_metadata, "searches what is there") {
    Opened opened("find_metadata");
    std::uint64_t index = 1;
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, "key", 3, &index, &report); }), HURRAY_OK);
    EXPECT_EQ(index, 0u);
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, "ke", 2, &index, &report); }), HURRAY_ERR_NOT_FOUND);
}
NEEDS_NO_MEMORY(hurray_file_metadata_element, "fills the caller's struct with borrows") {
    Arrays file("metadata_element");
    HurrayFileMetadata element{};
    element.struct_size = sizeof element;
    EXPECT_EQ(without_memory([&] { return subject(file.file.handle, 0, 1, &element, &report); }), HURRAY_OK);
    EXPECT_EQ(element.int64_value, -2);
    EXPECT_EQ(without_memory([&] { return subject(file.file.handle, 0, 2, &element, &report); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_MEMORY(hurray_file_descriptor) {
    Opened opened("descriptor");
    Descriptor descriptor;
    each_allocation_fails([&] { return subject(opened.file.handle, 0, descriptor.out(), &report); },
                          [&] { EXPECT_EQ(descriptor.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_file_buffer_range, "fills the caller's variables") {
    Opened opened("buffer_range");
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, 0, 0, &offset, &size, &report); }), HURRAY_OK);
    EXPECT_EQ(size, 48u);
    EXPECT_EQ(without_memory([&] { return subject(opened.file.handle, 0, 1, &offset, &size, &report); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_MEMORY(hurray_file_composite) {
    Composites file("composite");
    HurrayComposite* composite = nullptr;
    each_allocation_fails([&] { return subject(file.file.handle, file.head, &composite, &report); },
                          [&] { EXPECT_EQ(composite, nullptr); });
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
}
NEEDS_MEMORY(hurray_file_open_buffer) {
    InMemory memory("open_buffer");
    File file;
    each_allocation_fails([&] { return subject(memory.buffer.handle, nullptr, file.out(), &report); },
                          [&] {
                              EXPECT_EQ(file.handle, nullptr);
                              EXPECT_EQ(memory.releases.calls, 0);
                          });
}
NEEDS_NO_MEMORY(hurray_format_name, "static storage") {
    EXPECT_STREQ(without_memory([&] { return subject(HURRAY_FORMAT_GGUF); }), "GGUF");
}
NEEDS_NO_MEMORY(hurray_file_destroy_deferred, "what waits is the release itself, linked into its queue") {
    InMemory memory("destroy_deferred");
    File file;
    ASSERT_EQ(hurray_file_open_buffer(memory.buffer.handle, nullptr, file.out(), nullptr), HURRAY_OK);
    memory.buffer.end();
    EXPECT_EQ(without_memory([&] { return subject(&file.handle, &report); }), HURRAY_OK);
    EXPECT_EQ(memory.releases.calls, 0);
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(memory.releases.calls, 1);
}
NEEDS_NO_MEMORY(hurray_file_destroy, "ends only") {
    Opened opened("destroy");
    EXPECT_EQ(without_memory([&] { return subject(&opened.file.handle); }), HURRAY_OK);
}

NEEDS_MEMORY(hurray_file_writer_create) {
    const std::string path = file_name("create");
    FileWriter writer;
    each_allocation_fails([&] { return subject(path.c_str(), HURRAY_FORMAT_SAFETENSORS, writer.out(), &report); },
                          [&] {
                              EXPECT_EQ(writer.handle, nullptr);
                              EXPECT_FALSE(std::filesystem::exists(path));
                          });
}

const auto twelve_floats = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);

/// A source of float32 [3, 4] over memory of the library.
HurrayStatus make_twelve_floats(void*, HurrayTensor** out_tensor) {
    Descriptor descriptor;
    HurrayStatus status = hurray_descriptor_decode(twelve_floats.data(), twelve_floats.size(), descriptor.out(), nullptr);
    Buffer buffer;
    if (status == HURRAY_OK) status = hurray_buffer_allocate(48, 64, buffer.out(), nullptr);
    List list;
    if (status == HURRAY_OK) status = hurray_buffer_list_new(1, list.out());
    if (status == HURRAY_OK) status = hurray_buffer_list_push(list.handle, buffer.handle);
    if (status == HURRAY_OK) {
        buffer.handle = nullptr;
        status = hurray_tensor_new(descriptor.handle, &list.handle, out_tensor, nullptr);
    }
    return status;
}

/// A writer of its own for each case. Nothing of it is left behind when it was not finished.
struct Writing {
    std::string folder;
    std::string path;
    FileWriter writer;
    std::uint32_t format;

    explicit Writing(const char* name, std::uint32_t written = HURRAY_FORMAT_SAFETENSORS)
        : folder(file_name(name)), path(folder + "/file"), format(written) {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        begin();
    }
    ~Writing() {
        writer.end();
        std::filesystem::remove_all(folder);
    }
    void begin() {
        writer.end();
        EXPECT_EQ(hurray_file_writer_create(path.c_str(), format, writer.out(), nullptr), HURRAY_OK);
    }
    std::uint64_t tensors_in_file() const {
        File file;
        EXPECT_EQ(hurray_file_open(path.c_str(), nullptr, file.out(), nullptr), HURRAY_OK);
        HurrayFileInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_file_info(file.handle, &info, nullptr), HURRAY_OK);
        return info.tensor_count;
    }
    long files_in_folder() const {
        return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
    }
};

NEEDS_MEMORY(hurray_file_writer_add) {
    Imported imported;
    Writing writing("add");
    each_allocation_fails([&] {
        return subject(writing.writer.handle, tensor_name, std::strlen(tensor_name), imported.tensor.handle, &report);
    });
    EXPECT_EQ(imported.releases(), 0);
    ASSERT_EQ(hurray_file_writer_finish(writing.writer.handle, nullptr), HURRAY_OK);
    EXPECT_EQ(writing.tensors_in_file(), 1u) << "attempts that failed have added nothing";
}
NEEDS_MEMORY(hurray_file_writer_set_metadata) {
    Writing writing("set_metadata");
    const std::string value(100, 'v');
    each_allocation_fails([&] {
        return subject(writing.writer.handle, tensor_name, std::strlen(tensor_name), value.data(), value.size(), &report);
    });
    ASSERT_EQ(hurray_file_writer_finish(writing.writer.handle, nullptr), HURRAY_OK);
}
NEEDS_MEMORY(hurray_file_writer_set_value) {
    Writing writing("set_value");
    const std::string text(100, 'v');
    HurrayFileMetadata value{};
    value.struct_size = sizeof value;
    value.type = HURRAY_METADATA_STRING;
    value.value = text.data();
    value.value_length = text.size();
    each_allocation_fails([&] { return subject(writing.writer.handle, tensor_name, std::strlen(tensor_name), &value, &report); });
    ASSERT_EQ(hurray_file_writer_finish(writing.writer.handle, nullptr), HURRAY_OK);
}
NEEDS_MEMORY(hurray_file_writer_set_array) {
    Writing writing("set_array", HURRAY_FORMAT_HRRY);
    const std::vector<HurrayFileMetadata> elements = Arrays::numbers();
    each_allocation_fails([&] {
        return subject(writing.writer.handle, tensor_name, std::strlen(tensor_name), HURRAY_METADATA_INT64, elements.data(),
                       elements.size(), &report);
    });
    ASSERT_EQ(hurray_file_writer_finish(writing.writer.handle, nullptr), HURRAY_OK);
    File file;
    HurrayError error{};
    ASSERT_EQ(hurray_file_open(writing.path.c_str(), nullptr, file.out(), &error), HURRAY_OK) << error.message;
    HurrayFileInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_file_info(file.handle, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.metadata_count, 1u) << "attempts that failed have added nothing";
}
NEEDS_MEMORY(hurray_file_writer_add_composite) {
    AlignedBytes<128> memory;
    HurrayComposite* composite = partition(memory.bytes);
    Writing writing("add_composite", HURRAY_FORMAT_HRRY);
    // A writer that failed in the middle of a composite is of no more use: each attempt gets a new one.
    each_allocation_fails([&] { return subject(writing.writer.handle, tensor_name, std::strlen(tensor_name), composite, &report); },
                          [] {}, [&] { writing.begin(); });
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
    ASSERT_EQ(hurray_file_writer_finish(writing.writer.handle, nullptr), HURRAY_OK);
    EXPECT_EQ(writing.tensors_in_file(), 3u);
}
NEEDS_MEMORY(hurray_file_writer_add_source) {
    Descriptor descriptor;
    ASSERT_EQ(hurray_descriptor_decode(twelve_floats.data(), twelve_floats.size(), descriptor.out(), nullptr), HURRAY_OK);
    Writing writing("add_source");
    each_allocation_fails([&] {
        return subject(writing.writer.handle, tensor_name, std::strlen(tensor_name), descriptor.handle, &make_twelve_floats, nullptr, &report);
    });
    ASSERT_EQ(hurray_file_writer_finish(writing.writer.handle, nullptr), HURRAY_OK);
    EXPECT_EQ(writing.tensors_in_file(), 1u) << "attempts that failed have added nothing";
}
NEEDS_NO_MEMORY(hurray_file_writer_copied_bytes, "reads a counter") {
    Writing writing("copied_bytes");
    std::uint64_t bytes = 1;
    EXPECT_EQ(without_memory([&] { return subject(writing.writer.handle, &bytes, &report); }), HURRAY_OK);
    EXPECT_EQ(bytes, 0u);
}
NEEDS_MEMORY(hurray_file_writer_create_with) {
    const std::string path = file_name("create_with");
    const HurrayFileWriterOptions options{sizeof options, HURRAY_FORMAT_HRRY, 4096, HURRAY_FILE_WRITER_UNSORTED_INDEX};
    FileWriter writer;
    each_allocation_fails([&] { return subject(path.c_str(), &options, writer.out(), &report); },
                          [&] {
                              EXPECT_EQ(writer.handle, nullptr);
                              EXPECT_FALSE(std::filesystem::exists(path));
                          });
}
NEEDS_MEMORY(hurray_file_writer_to_fd) {
    const HurrayFileWriterOptions options{sizeof options, HURRAY_FORMAT_SAFETENSORS, 0, 0};
    FileWriter writer;
    each_allocation_fails([&] { return subject(1, &options, writer.out(), &report); }, [&] { EXPECT_EQ(writer.handle, nullptr); });
}
NEEDS_MEMORY(hurray_file_writer_to_callback) {
    const HurrayFileWriterOptions options{sizeof options, HURRAY_FORMAT_SAFETENSORS, 0, 0};
    const HurrayWriteFn write = [](void*, const void*, std::uint64_t) -> HurrayStatus { return HURRAY_OK; };
    FileWriter writer;
    each_allocation_fails([&] { return subject(write, nullptr, &options, writer.out(), &report); },
                          [&] { EXPECT_EQ(writer.handle, nullptr); });
}
NEEDS_MEMORY_TOO(hurray_file_writer_finish, _of_announced_tensors) {
    Descriptor descriptor;
    ASSERT_EQ(hurray_descriptor_decode(twelve_floats.data(), twelve_floats.size(), descriptor.out(), nullptr), HURRAY_OK);
    Writing writing("finish_announced");
    each_allocation_fails([&] { return subject(writing.writer.handle, &report); },
                          [&] { EXPECT_FALSE(std::filesystem::exists(writing.path)); },
                          [&] {
                              writing.begin();
                              EXPECT_EQ(hurray_file_writer_add_source(writing.writer.handle, "x", 1, descriptor.handle,
                                                                      &make_twelve_floats, nullptr, nullptr),
                                        HURRAY_OK);
                          });
    EXPECT_EQ(writing.tensors_in_file(), 1u);
}
NEEDS_MEMORY(hurray_file_writer_finish) {
    Imported imported;
    Writing writing("finish");
    // A writer that failed to finish is of no more use: each attempt gets a new one.
    each_allocation_fails([&] { return subject(writing.writer.handle, &report); },
                          [&] {
                              EXPECT_FALSE(std::filesystem::exists(writing.path)) << "complete, or not there at all";
                              EXPECT_EQ(imported.releases(), 0);
                          },
                          [&] {
                              writing.begin();
                              EXPECT_EQ(hurray_file_writer_add(writing.writer.handle, tensor_name, std::strlen(tensor_name),
                                                               imported.tensor.handle, nullptr),
                                        HURRAY_OK);
                          });
    EXPECT_EQ(writing.tensors_in_file(), 1u);
    EXPECT_EQ(writing.files_in_folder(), 1) << "nothing was left beside the file";
}
NEEDS_NO_MEMORY(hurray_file_writer_destroy, "ends and releases only") {
    Imported imported;
    Writing writing("writer_destroy");
    ASSERT_EQ(hurray_file_writer_add(writing.writer.handle, "x", 1, imported.tensor.handle, nullptr), HURRAY_OK);
    imported.tensor.end();
    EXPECT_EQ(imported.releases(), 0);
    EXPECT_EQ(without_memory([&] { return subject(&writing.writer.handle); }), HURRAY_OK);
    EXPECT_EQ(imported.releases(), 2);
    EXPECT_EQ(writing.files_in_folder(), 0);
}
NEEDS_NO_MEMORY(hurray_file_writer_destroy_deferred, "what waits are the releases themselves, linked into their queues") {
    Imported imported;
    Writing writing("writer_destroy_deferred");
    ASSERT_EQ(hurray_file_writer_add(writing.writer.handle, "x", 1, imported.tensor.handle, nullptr), HURRAY_OK);
    imported.tensor.end();
    EXPECT_EQ(without_memory([&] { return subject(&writing.writer.handle, &report); }), HURRAY_OK);
    EXPECT_EQ(imported.releases(), 0);
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(imported.releases(), 2);
}

}  // namespace
