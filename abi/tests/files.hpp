// Files for tests of the C ABI: written, opened, compared.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "abi/tests/support.hpp"

namespace hurray_test {

/// The formats that can be written.
inline const std::vector<std::uint32_t>& every_format() {
    static const std::vector<std::uint32_t> formats{HURRAY_FORMAT_SAFETENSORS, HURRAY_FORMAT_HRRY, HURRAY_FORMAT_GGUF,
                                                    HURRAY_FORMAT_NPY, HURRAY_FORMAT_NPZ};
    return formats;
}

/// The name that a tensor "data" has in a file of any format: that of the only tensor of a .npy file.
inline const std::string only_name = "data";

/// A folder of a test's own, and the base line of handles.
class FileTest : public BaseLineTest {
protected:
    void SetUp() override {
        BaseLineTest::SetUp();
        std::string pattern = ::testing::TempDir() + "/abi-files-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        path_ = folder_ + "/file";
    }
    void TearDown() override {
        std::filesystem::remove_all(folder_);
        BaseLineTest::TearDown();
    }

    [[nodiscard]] static std::string bytes_of(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    HurrayFileWriter* create(std::uint32_t format) {
        HurrayFileWriter* writer = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_file_writer_create(path_.c_str(), format, &writer, &error), HURRAY_OK) << error.message;
        return writer;
    }

    static void add(HurrayFileWriter* writer, const std::string& name, const HurrayTensor* tensor) {
        HurrayError error{};
        EXPECT_EQ(hurray_file_writer_add(writer, name.data(), name.size(), tensor, &error), HURRAY_OK) << error.message;
    }

    static void finish(HurrayFileWriter*& writer) {
        HurrayError error{};
        EXPECT_EQ(hurray_file_writer_finish(writer, &error), HURRAY_OK) << error.message;
        EXPECT_EQ(hurray_file_writer_destroy(&writer), HURRAY_OK);
    }

    HurrayFile* open(const HurrayFileOptions* options = nullptr) {
        HurrayFile* file = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_file_open(path_.c_str(), options, &file, &error), HURRAY_OK) << error.message;
        return file;
    }

    static HurrayFileInfo info_of(const HurrayFile* file) {
        HurrayFileInfo info{};
        info.struct_size = sizeof info;
        EXPECT_EQ(hurray_file_info(file, &info, nullptr), HURRAY_OK);
        return info;
    }

    static HurrayTensor* tensor_of(const HurrayFile* file, const std::string& name) {
        std::uint64_t index = 0;
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_file_find(file, name.data(), name.size(), &index, &error), HURRAY_OK) << error.message;
        EXPECT_EQ(hurray_file_tensor(file, index, &tensor, &error), HURRAY_OK) << error.message;
        return tensor;
    }

    /// The elements of a row-major tensor of float32.
    static std::vector<float> floats_of(const HurrayTensor* tensor) {
        HurrayView view{};
        view.struct_size = sizeof view;
        EXPECT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
        EXPECT_EQ(view.element_type, HURRAY_TYPE_FLOAT32);
        const auto* start = static_cast<const float*>(view.data);
        return start == nullptr ? std::vector<float>{} : std::vector<float>(start, start + view.element_count);
    }

    std::string folder_;
    std::string path_;
};

/// float32 [values.size()] over lent memory, at any alignment.
inline HurrayTensor* float_tensor(const std::vector<float>& values, ReleaseCounter& counter,
                                  std::uint8_t type = HURRAY_TYPE_FLOAT32) {
    const std::uint64_t shape[] = {values.size()};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = type;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.rank = 1;
    spec.shape = shape;
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_tensor_from_host(&spec, const_cast<float*>(values.data()), values.size() * 4, &ReleaseCounter::release,
                                      &counter, nullptr, &tensor, nullptr),
              HURRAY_OK);
    return tensor;
}

inline HurrayFileMetadata metadata_of(std::uint8_t type) {
    HurrayFileMetadata value{};
    value.struct_size = sizeof value;
    value.type = type;
    return value;
}

inline HurrayFileMetadata text_value(const std::string& text, std::uint8_t type = HURRAY_METADATA_STRING) {
    HurrayFileMetadata value = metadata_of(type);
    value.value = text.data();
    value.value_length = text.size();
    return value;
}

}  // namespace hurray_test
