// Files: see out_of_memory_test.cpp.
#include <filesystem>
#include <string>

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

/// A writer of its own for each case. Nothing of it is left behind when it was not finished.
struct Writing {
    std::string folder;
    std::string path;
    FileWriter writer;

    explicit Writing(const char* name) : folder(file_name(name)), path(folder + "/file") {
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
        EXPECT_EQ(hurray_file_writer_create(path.c_str(), HURRAY_FORMAT_SAFETENSORS, writer.out(), nullptr), HURRAY_OK);
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
