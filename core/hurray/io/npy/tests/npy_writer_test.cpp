// .npy files that are written and read again: what lies as the format has it goes as it is, all else is gathered.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/hurray/element.hpp"
#include "core/hurray/io/atomic_file.hpp"
#include "core/hurray/io/npy/npy_file.hpp"
#include "core/hurray/io/npy/npy_writer.hpp"
#include "core/hurray/io/npy/tests/npy_image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/transcode/transcode.hpp"

namespace hurray {
namespace {

/// Keeps what was written beyond the writer's life.
class StringSink final : public ByteSink {
public:
    explicit StringSink(std::string& into) : into_(into) {}
    using ByteSink::write;
    Result<void> write(std::span<const std::span<const std::byte>> pieces) override {
        for (const auto piece : pieces) into_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        return {};
    }

private:
    std::string& into_;
};

std::unique_ptr<ModelFileWriter> writer_to(std::string& image) {
    return write_npy(std::make_unique<StringSink>(image), {}).value();
}

std::string written(const Tensor& tensor, std::uint64_t* copied = nullptr) {
    std::string image;
    const auto writer = writer_to(image);
    const auto added = writer->add("t", tensor);
    EXPECT_TRUE(added.has_value()) << added.error().message;
    const auto finished = writer->finish();
    EXPECT_TRUE(finished.has_value()) << finished.error().message;
    if (copied != nullptr) *copied = writer->copied_bytes();
    return image;
}

Tensor read_back(const std::string& image) {
    auto file = NpyFile::open(mapped_image(image));
    EXPECT_TRUE(file.has_value()) << file.error().message;
    auto tensor = (*file)->tensor(0);
    EXPECT_TRUE(tensor.has_value()) << tensor.error().message;
    return *std::move(tensor);
}

/// The elements in row-major order, whatever the layout.
std::vector<std::byte> rows_of(const Tensor& tensor) {
    const auto rows = transcode(tensor, {});
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return copy_of(element_bytes(*rows));
}

constexpr std::uint8_t types[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x01, 0x03, 0x04, 0x50, 0x51, 0x20};

TEST(NpyWriter, EveryTypeInRowMajorAndColumnMajorOrder) {
    for (const std::uint8_t type : types) {
        for (const std::uint8_t layout : {layout_tag::row_major, layout_tag::col_major}) {
            for (const auto& shape : std::vector<std::vector<std::uint64_t>>{{}, {1}, {13}, {3, 5}, {2, 3, 7}, {0}, {4, 0, 3}}) {
                if (shape.empty() && layout == layout_tag::col_major) continue;  // there are none
                const Tensor tensor = make_tensor({.type = type, .layout = layout, .shape = shape});
                std::uint64_t copied = 0;
                const std::string image = written(tensor, &copied);
                EXPECT_EQ((image.size() - tensor.descriptor.element_count().value() *
                                              find_npy_dtype(type)->file_bytes) % 64, 0U);
                const Tensor again = read_back(image);
                EXPECT_EQ(again.descriptor.layout(), layout);
                EXPECT_EQ(again.descriptor.element_type(), type);
                EXPECT_EQ(shape_of(again), shape);
                if (type != 0x20 || tensor.descriptor.element_count().value() % 8 == 0) {
                    EXPECT_EQ(copy_of(element_bytes(again)), copy_of(element_bytes(tensor)));
                }
                EXPECT_EQ(rows_of(again), rows_of(tensor));
                EXPECT_EQ(copied, type == 0x20 ? tensor.descriptor.element_count().value() : 0U);
            }
        }
    }
}

TEST(NpyWriter, StridedTensorsAreGathered) {
    struct Case {
        const char* what;
        std::vector<std::uint64_t> shape;
        std::vector<std::int64_t> strides;
        std::uint64_t byte_offset;
        std::uint64_t byte_size;
        std::uint8_t layout;
        bool copied;
    };
    for (const std::uint8_t type : {std::uint8_t{0x03}, std::uint8_t{0x20}}) {
        for (const Case& test : {Case{"rows", {2, 3}, {3, 1}, 64, 96, layout_tag::row_major, false},
                                 Case{"columns", {2, 3}, {1, 2}, 64, 96, layout_tag::col_major, false},
                                 Case{"gaps", {2, 3}, {16, 2}, 0, 128, layout_tag::row_major, true},
                                 Case{"negative", {2, 3}, {-3, -1}, 64, 128, layout_tag::row_major, true},
                                 Case{"zero", {2, 3}, {0, 1}, 0, 64, layout_tag::row_major, true},
                                 Case{"all zero", {4}, {0}, 0, 64, layout_tag::row_major, true},
                                 Case{"size 1", {1, 3}, {-7, 1}, 0, 64, layout_tag::row_major, false},
                                 Case{"empty", {0, 3}, {5, 1}, 0, 64, layout_tag::row_major, false}}) {
            SCOPED_TRACE(test.what);
            const Tensor tensor = make_tensor({.type = type, .layout = layout_tag::strided, .shape = test.shape,
                                               .strides = test.strides, .byte_offset = test.byte_offset,
                                               .byte_size = test.byte_size});
            std::uint64_t copied = 0;
            const Tensor again = read_back(written(tensor, &copied));
            EXPECT_EQ(again.descriptor.layout(), test.layout);
            EXPECT_EQ(rows_of(again), rows_of(tensor));
            const std::uint64_t count = tensor.descriptor.element_count().value();
            EXPECT_EQ(copied, type == 0x20 ? count : test.copied ? 4 * count : 0U);
        }
    }
}

TEST(NpyWriter, TensorsLargerThanOnePiece) {
    const Tensor columns = make_tensor({.type = 0x20, .layout = layout_tag::col_major, .shape = {1001, 333}});
    EXPECT_EQ(rows_of(read_back(written(columns))), rows_of(columns));
    const Tensor turned = make_tensor({.type = 0x12, .layout = layout_tag::strided, .shape = {501, 333},
                                       .strides = {-333, 1}, .byte_offset = 500 * 333 * 2, .byte_size = 501 * 333 * 2});
    EXPECT_EQ(rows_of(read_back(written(turned))), rows_of(turned));
}

TEST(NpyWriter, TiledMortonAndHilbertTensorsBecomeRowMajor) {
    const Tensor rows = make_tensor({.shape = {16, 16}});
    const TiledLevel levels[] = {[] {
        static const std::uint64_t tile[] = {4, 8};
        TiledLevel level{};
        level.tile_shape = tile;
        return level;
    }()};
    TranscodeSpec tiled{.layout = layout_tag::tiled, .tiled = levels};
    for (const TranscodeSpec& spec : {tiled, TranscodeSpec{.layout = layout_tag::morton}, TranscodeSpec{.layout = layout_tag::hilbert}}) {
        const auto tensor = transcode(rows, spec);
        ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
        std::uint64_t copied = 0;
        const Tensor again = read_back(written(*tensor, &copied));
        EXPECT_EQ(again.descriptor.layout(), layout_tag::row_major);
        EXPECT_EQ(copy_of(element_bytes(again)), copy_of(element_bytes(rows)));
        EXPECT_EQ(copied, 1024U);
    }
}

TEST(NpyWriter, ForeignBytesInFrontAreNotWritten) {
    const Tensor tensor = make_prefixed_tensor(5, "hello");
    const std::string image = written(tensor);
    EXPECT_EQ(image.find('\xEE'), std::string::npos);
    EXPECT_TRUE(image.ends_with("hello"));
}

TEST(NpyWriter, ElementTypesThatNumPyDoesNotHaveAreRefused) {
    for (const std::uint8_t type : {0x02, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x48, 0x49, 0x4A, 0x4B}) {
        std::string image;
        const auto added = writer_to(image)->add("w\0x", make_tensor({.type = static_cast<std::uint8_t>(type), .shape = {4}}));
        ASSERT_FALSE(added.has_value());
        EXPECT_EQ(added.error().code, Status::unsupported);
        EXPECT_NE(std::string_view(added.error().message).find("NumPy has no dtype"), std::string_view::npos);
        EXPECT_NE(std::string_view(added.error().message).find(find_element_type(static_cast<std::uint8_t>(type))->name),
                  std::string_view::npos);
    }
}

TEST(NpyWriter, LayoutsThatAreNotDenseAreRefused) {
    const Tensor rows = make_tensor({.shape = {4, 4}});
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr}) {
        const auto sparse = transcode(rows, {.layout = layout});
        ASSERT_TRUE(sparse.has_value());
        std::string image;
        EXPECT_EQ(writer_to(image)->add("t", *sparse).error().code, Status::unsupported);
    }
}

TEST(NpyWriter, ExactlyOneTensorAndNoMetadata) {
    const Tensor tensor = make_tensor({.shape = {3}});
    std::string image;
    auto writer = writer_to(image);
    EXPECT_EQ(writer->finish().error().code, Status::invalid_argument);
    EXPECT_EQ(writer->add("\xFF", tensor).error().code, Status::invalid_argument);
    EXPECT_EQ(writer->set_metadata("k", {}).error().code, Status::unsupported);
    EXPECT_TRUE(writer->add("", tensor).has_value());
    EXPECT_EQ(writer->add("b", tensor).error().code, Status::invalid_argument);
    EXPECT_EQ(writer->add("b", tensor.descriptor, [&] { return Result<Tensor>(tensor); }).error().code,
              Status::invalid_argument);
    EXPECT_TRUE(writer->finish().has_value());
    EXPECT_EQ(writer->finish().error().code, Status::invalid_argument);
    EXPECT_EQ(writer->add("c", tensor).error().code, Status::invalid_argument);
    EXPECT_EQ(write_npy(std::make_unique<StringSink>(image), {.data_alignment = 64}).error().code, Status::invalid_argument);
    EXPECT_EQ(write_npy(std::make_unique<StringSink>(image), {.compress = true}).error().code, Status::invalid_argument);
}

TEST(NpyWriter, AnAnnouncedTensorIsMadeWhenItIsWritten) {
    const Tensor tensor = make_tensor({.shape = {3, 4}});
    std::string image;
    auto writer = writer_to(image);
    int made = 0;
    ASSERT_TRUE(writer->add("t", tensor.descriptor, [&] { ++made; return Result<Tensor>(tensor); }).has_value());
    EXPECT_EQ(made, 0);
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(made, 1);
    EXPECT_EQ(copy_of(element_bytes(read_back(image))), copy_of(element_bytes(tensor)));

    const Tensor other = make_tensor({.shape = {4, 3}});
    auto second = writer_to(image);
    ASSERT_TRUE(second->add("t", tensor.descriptor, [&] { return Result<Tensor>(other); }).has_value());
    EXPECT_EQ(second->finish().error().code, Status::invalid_argument);
    auto third = writer_to(image);
    ASSERT_TRUE(third->add("t", tensor.descriptor, [&]() -> Result<Tensor> {
        return fail(Status::cancelled, Error::no_offset, "no");
    }).has_value());
    EXPECT_EQ(third->finish().error().code, Status::cancelled);
}

TEST(NpyWriter, TheTargetMayBeTheFileThatTheTensorIsMappedFrom) {
    TemporaryFolder folder;
    const std::string path = folder.file("t.npy", npy_image("<f4", "(2, 3)", std::string(24, 'v')));
    const auto file = NpyFile::open(FileBytes::open(path).value()).value();
    const Tensor tensor = file->tensor(0).value();
    {
        auto abandoned = write_npy(AtomicFile::create(path).value(), {}).value();
        ASSERT_TRUE(abandoned->add("t", tensor).has_value());
    }
    EXPECT_TRUE(read_file(path).ends_with("vvvv"));
    auto writer = write_npy(AtomicFile::create(path).value(), {}).value();
    ASSERT_TRUE(writer->add("t", tensor).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(copy_of(element_bytes(NpyFile::open(FileBytes::open(path).value()).value()->tensor(0).value())),
              copy_of(element_bytes(tensor)));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.npy"});
}

}  // namespace
}  // namespace hurray
