// Tensors out of .npy files: every dtype in every order, in place where the bytes allow it, converted and counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/hurray/io/npy/npy_file.hpp"
#include "core/hurray/io/npy/tests/npy_image.hpp"
#include "core/hurray/io/tests/shared_data.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"

namespace hurray {
namespace {

std::unique_ptr<NpyFile> open_image(std::string image, const FileOptions& options = {}) {
    auto file = NpyFile::open(mapped_image(std::move(image)), options);
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return file ? *std::move(file) : nullptr;
}

// Appending, since GCC 12 warns of `"(" + ...` without a reason.
std::string vector_shape(std::uint64_t count) {
    std::string shape = "(";
    shape += std::to_string(count);
    shape += ",)";
    return shape;
}

std::string numbers(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t k = 0; k < size; ++k) bytes[k] = static_cast<char>(k * 37 + 11);
    return bytes;
}

std::string reversed(std::string_view bytes, std::size_t width) {
    std::string result(bytes);
    for (std::size_t at = 0; at < result.size(); at += width) {
        std::reverse(result.begin() + static_cast<std::ptrdiff_t>(at), result.begin() + static_cast<std::ptrdiff_t>(at + width));
    }
    return result;
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Dtype {
    const char* kind;
    std::uint8_t tag;
    std::size_t size;
    std::size_t number;
};

constexpr Dtype dtypes[] = {
    {"i1", 0x10, 1, 1}, {"i2", 0x12, 2, 2}, {"i4", 0x14, 4, 4}, {"i8", 0x16, 8, 8},  {"u1", 0x11, 1, 1},
    {"u2", 0x13, 2, 2}, {"u4", 0x15, 4, 4}, {"u8", 0x17, 8, 8}, {"f2", 0x01, 2, 2},  {"f4", 0x03, 4, 4},
    {"f8", 0x04, 8, 8}, {"c8", 0x50, 8, 4}, {"c16", 0x51, 16, 8},
};

TEST(NpyFile, EveryDtypeInEveryByteOrder) {
    for (const Dtype& dtype : dtypes) {
        for (const char* order : {"<", "=", "|", "", ">"}) {
            SCOPED_TRACE(std::string(order) + dtype.kind);
            const std::string values = numbers(6 * dtype.size);
            const bool turned = *order == '>' && dtype.number > 1;
            const auto file = open_image(npy_image(std::string(order) + dtype.kind, "(2, 3)",
                                                   turned ? reversed(values, dtype.number) : values));
            ASSERT_NE(file, nullptr);
            const auto info = file->tensor_info(0).value();
            EXPECT_EQ(info.name, "data");
            EXPECT_EQ(info.type_tag, dtype.tag);
            std::string stored_type = dtype.number == 1 ? "|" : turned ? ">" : "<";
            stored_type += dtype.kind;
            EXPECT_EQ(info.stored_type, stored_type);
            EXPECT_EQ(info.byte_size, values.size());
            const auto tensor = file->tensor(0);
            ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
            EXPECT_EQ(tensor->descriptor.element_type(), dtype.tag);
            EXPECT_EQ(text_of(element_bytes(*tensor)), values);
            EXPECT_TRUE(tensor->buffers[0].read_only);
            EXPECT_EQ(file->copied_bytes(), turned ? values.size() : 0);
        }
    }
}

TEST(NpyFile, BigEndianDataLargerThanOnePieceIsConverted) {
    const std::string values = numbers(8 * 100'003);
    const auto file = open_image(npy_image(">u8", "(100003,)", reversed(values, 8)));
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(text_of(element_bytes(file->tensor(0).value())), values);
    EXPECT_EQ(file->copied_bytes(), values.size());
    EXPECT_TRUE(file->tensor(0).has_value());
    EXPECT_EQ(file->copied_bytes(), 2 * values.size());
}

TEST(NpyFile, FortranOrderIsColumnMajorWithoutACopy) {
    const std::string values = numbers(24);
    const std::string image = npy_image("<f4", "(2, 3)", values, true);
    auto* storage = new ImageStorage(image);
    const auto base = storage->bytes();
    auto file = NpyFile::open(FileBytes::over(base, Ref<Storage>::adopt(storage))).value();
    const auto tensor = file->tensor(0).value();
    EXPECT_EQ(tensor.descriptor.layout(), layout_tag::col_major);
    EXPECT_EQ(shape_of(tensor), (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(tensor.buffers[0].data + tensor.descriptor.byte_offset(), base.data() + image.size() - 24);
    EXPECT_EQ(file->copied_bytes(), 0U);
    // The tensor keeps the image when the file has gone.
    file.reset();
    EXPECT_EQ(text_of(element_bytes(tensor)), values);
}

TEST(NpyFile, BoolsAreCheckedPackedAndCounted) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9}, std::size_t{300'001}}) {
        std::string bools(count, '\0');
        for (std::size_t k = 0; k < count; ++k) bools[k] = static_cast<char>((k * k + k / 3) % 2);
        const auto file = open_image(npy_image("|b1", vector_shape(count), bools));
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(file->tensor_info(0)->bits, 1U);
        EXPECT_EQ(file->tensor_info(0)->byte_size, count);
        EXPECT_EQ(file->descriptor(0)->buffers()[0].byte_size, (count + 7) / 8);
        const auto tensor = file->tensor(0).value();
        const auto bits = tensor.buffers[0].bytes();
        ASSERT_EQ(bits.size(), (count + 7) / 8);
        EXPECT_EQ(file->copied_bytes(), bits.size());
        for (std::size_t k = 0; k < count; ++k) {
            ASSERT_EQ((std::to_integer<unsigned>(bits[k / 8]) >> (k % 8)) & 1U, static_cast<unsigned>(bools[k])) << k;
        }
        bools[count - 1] = 2;
        const std::string broken = npy_image("|b1", vector_shape(count), bools);
        const auto refused = open_image(broken)->tensor(0);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, Status::invalid_format);
        EXPECT_EQ(refused.error().offset, broken.size() - 1);
    }
}

TEST(NpyFile, RankZeroAndNoElements) {
    struct Case {
        const char* descr;
        const char* shape;
        std::size_t size;
    };
    for (const bool fortran : {false, true}) {
        for (const Case& test : {Case{"<f4", "()", 4}, Case{">f8", "()", 8}, Case{"|b1", "()", 1}, Case{"<f4", "(0,)", 0},
                                 Case{"<c16", "(3, 0, 5)", 0}, Case{"|b1", "(0, 2)", 0}, Case{">i4", "(0,)", 0}}) {
            for (const auto policy : {AlignmentPolicy::offset, AlignmentPolicy::copy, AlignmentPolicy::require}) {
                SCOPED_TRACE(std::string(test.descr) + test.shape);
                const std::string image = npy_image(test.descr, test.shape, std::string(test.size, '\1'), fortran);
                TemporaryFolder folder;
                for (const auto access : {FileAccess::map, FileAccess::read}) {
                    auto bytes = FileBytes::open(folder.file("t.npy", image), access).value();
                    const auto file = NpyFile::open(std::move(bytes), {.alignment = policy}).value();
                    const auto tensor = file->tensor(0);
                    ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
                    EXPECT_EQ(tensor->descriptor.element_count().value(), test.size == 0 ? 0U : 1U);
                    EXPECT_EQ(file->descriptor(0)->buffers()[0].byte_size, tensor->descriptor.buffers()[0].byte_size);
                    EXPECT_EQ(file->buffer_range(0, 0)->size, test.size);
                }
            }
        }
    }
}

// Headers of other writers end anywhere.
TEST(NpyFile, UnalignedDataAsThePolicySays) {
    const std::string text = npy_dictionary("<u4", "(5,)") + std::string(3, ' ');
    const std::string values = numbers(20);
    const std::string image = npy_prefix(text) + values;
    TemporaryFolder folder;
    const std::string path = folder.file("t.npy", image);
    const std::uint64_t offset = image.size() - 20;
    ASSERT_NE(offset % 64, 0U);
    const auto open = [&](AlignmentPolicy policy, FileAccess access) {
        return NpyFile::open(FileBytes::open(path, access).value(), {.alignment = policy}).value();
    };
    const auto in_place = open(AlignmentPolicy::offset, FileAccess::map);
    const auto tensor = in_place->tensor(0).value();
    EXPECT_EQ(tensor.buffers[0].prefix, offset % 64);
    EXPECT_EQ(tensor.descriptor.byte_offset(), offset % 64);
    EXPECT_EQ(in_place->descriptor(0)->byte_offset(), offset % 64);
    EXPECT_EQ(text_of(element_bytes(tensor)), values);
    EXPECT_EQ(in_place->copied_bytes(), 0U);

    const auto copied = open(AlignmentPolicy::copy, FileAccess::map);
    EXPECT_EQ(text_of(element_bytes(copied->tensor(0).value())), values);
    EXPECT_EQ(copied->tensor(0)->buffers[0].prefix, 0U);
    EXPECT_EQ(copied->copied_bytes(), 40U);

    const auto refused = open(AlignmentPolicy::require, FileAccess::map)->tensor(0);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Status::misaligned);
    EXPECT_EQ(refused.error().offset, offset);

    // What is read without a map is aligned, and counted.
    for (const auto policy : {AlignmentPolicy::offset, AlignmentPolicy::require}) {
        const auto read = open(policy, FileAccess::read);
        const auto own = read->tensor(0).value();
        EXPECT_EQ(text_of(element_bytes(own)), values);
        EXPECT_EQ(own.buffers[0].prefix, 0U);
        EXPECT_EQ(read->copied_bytes(), 20U);
    }
}

TEST(NpyFile, AFileThatIsCutWhileItIsOpenIsAnErrorWithoutAMap) {
    TemporaryFolder folder;
    const std::string path = folder.file("t.npy", npy_image("<u4", "(100,)", numbers(400)));
    const auto file = NpyFile::open(FileBytes::open(path, FileAccess::read).value()).value();
    std::filesystem::resize_file(path, 300);
    const auto tensor = file->tensor(0);
    ASSERT_FALSE(tensor.has_value());
    EXPECT_EQ(tensor.error().code, Status::invalid_format);
    EXPECT_EQ(tensor.error().offset, 300U);
}

TEST(NpyFile, OneTensorAndNoMetadata) {
    const auto file = open_image(npy_image("<f4", "(2,)", numbers(8)) + "behind");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->format(), FileFormat::npy);
    EXPECT_EQ(file->tensor_count(), 1U);
    EXPECT_EQ(file->find("data"), 0U);
    EXPECT_EQ(file->find(""), std::nullopt);
    EXPECT_EQ(file->trailing_bytes(), 6U);
    EXPECT_EQ(file->metadata_count(), 0U);
    EXPECT_EQ(file->find_metadata("data"), std::nullopt);
    for (const auto& code : {file->tensor(1).error().code, file->tensor_info(1).error().code,
                             file->descriptor(~std::uint64_t{0}).error().code, file->buffer_range(0, 1).error().code,
                             file->buffer_range(1, 0).error().code, file->metadata(0).error().code}) {
        EXPECT_EQ(code, Status::index_out_of_bounds);
    }
    EXPECT_EQ(file->composite(0).error().code, Status::invalid_argument);
}

TEST(NpyFile, MoreThanTwoGibibytesOfASparseFile) {
    constexpr std::uint64_t count = 5'000'000'000;
    TemporaryFolder folder;
    const std::string path = folder.file("large.npy", npy_image("|u1", vector_shape(count), ""));
    const auto start = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, start + count);
    {
        std::fstream last(path, std::ios::binary | std::ios::in | std::ios::out);
        last.seekp(static_cast<std::streamoff>(start + count - 1));
        last.put('z');
    }
    const auto file = NpyFile::open(FileBytes::open(path).value()).value();
    const auto tensor = file->tensor(0).value();
    const auto bytes = element_bytes(tensor);
    ASSERT_EQ(bytes.size(), count);
    EXPECT_EQ(std::to_integer<char>(bytes[count - 1]), 'z');
    EXPECT_EQ(file->copied_bytes(), 0U);
    std::filesystem::resize_file(path, start + count - 1);
    EXPECT_EQ(NpyFile::open(FileBytes::open(path).value()).error().code, Status::invalid_format);
}

TEST(NpyFile, FilesThatOthersWrote) {
    const auto path = shared_data("data/npy/candle_test.npy");
    if (!path) GTEST_SKIP();
    const auto file = NpyFile::open(FileBytes::open(*path).value()).value();
    const auto tensor = file->tensor(0).value();
    EXPECT_EQ(tensor.descriptor.element_type(), 0x16);
    EXPECT_EQ(shape_of(tensor), std::vector<std::uint64_t>{10});
    std::int64_t values[10];
    std::memcpy(values, element_bytes(tensor).data(), sizeof values);
    for (std::int64_t k = 0; k < 10; ++k) EXPECT_EQ(values[k], k);
}

TEST(NpyFile, ArraysOfObjectsAreRefused) {
    for (const char* name : {"py2-np0-objarr.npy", "py2-objarr.npy", "py3-objarr.npy"}) {
        const auto path = shared_data(std::string("data/npy/") + name);
        if (!path) GTEST_SKIP();
        const auto file = NpyFile::open(FileBytes::open(*path).value());
        ASSERT_FALSE(file.has_value()) << name;
        EXPECT_EQ(file.error().code, Status::unsupported);
        EXPECT_NE(std::string_view(file.error().message).find("pickle"), std::string_view::npos);
    }
}

}  // namespace
}  // namespace hurray
