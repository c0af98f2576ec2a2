// .hrry files: what is written is what is read, in place and without a map, by number and by name.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "core/hurray/composite/composite_builder.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/io/atomic_file.hpp"
#include "core/hurray/io/hrry/tests/support.hpp"
#include "core/hurray/io/model_file.hpp"
#include "core/hurray/io/model_file_writer.hpp"
#include "core/hurray/io/tests/image.hpp"
#include "core/hurray/io/tests/shared_data.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {
namespace {

Tensor tensor_of(DescriptorBuilder& builder, std::vector<std::uint64_t> sizes) {
    Tensor tensor{Descriptor::vacant(), {}};
    unsigned seed = 1;
    for (const std::uint64_t size : sizes) {
        Buffer buffer = allocate_buffer(size).value();
        for (auto& byte : buffer.bytes()) byte = static_cast<std::byte>(seed++ * 37);
        EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
        tensor.buffers.push_back(std::move(buffer));
    }
    auto built = builder.build();
    EXPECT_TRUE(built.has_value()) << built.error().message;
    tensor.descriptor = *std::move(built);
    return tensor;
}

Tensor quantized() {
    const std::uint64_t shape[] = {4, 64};
    DescriptorBuilder builder(0x48, layout_tag::row_major, shape);
    QuantizationFields fields;
    fields.scheme = scheme_tag::per_block_affine;
    fields.axis = 1;
    fields.block_size = 32;
    fields.scale_type = 0x01;
    fields.scale_buffer = 1;
    fields.zero_point_buffer = 2;
    builder.set_quantization(fields);
    return tensor_of(builder, {128, 16, 32});
}

Tensor sparse() {
    const std::uint64_t shape[] = {10, 20};
    DescriptorBuilder builder(0x03, layout_tag::coo, shape);
    builder.set_coo({.nnz = 3, .is_sorted = true});
    return tensor_of(builder, {12, 48});
}

Tensor sparse_without_entries() {
    const std::uint64_t shape[] = {10, 20};
    DescriptorBuilder builder(0x03, layout_tag::csr, shape);
    builder.set_compressed(0);
    return tensor_of(builder, {0, 0, 88});
}

// The last buffer is empty.
Tensor sparse_without_indices() {
    const std::uint64_t shape[] = {10, 20};
    DescriptorBuilder builder(0x03, layout_tag::coo, shape);
    builder.set_coo({.nnz = 0, .is_sorted = true});
    return tensor_of(builder, {0, 0});
}

Tensor broadcast() {
    return make_tensor(
        {.layout = layout_tag::strided, .shape = {3, 5}, .strides = {0, -1}, .byte_offset = 16, .byte_size = 20});
}

struct Named {
    std::string name;
    Tensor tensor;
};

std::vector<Named> all_kinds() {
    std::vector<Named> all;
    all.push_back({"weights", make_tensor({.shape = {7, 3}})});
    all.push_back({"scalar", make_tensor({.type = 0x04, .shape = {}})});
    all.push_back({"empty", make_tensor({.shape = {0, 5}})});
    all.push_back({"bits", make_tensor({.type = 0x20, .shape = {3, 5}})});
    all.push_back({"six", make_tensor({.type = 0x44, .shape = {9}})});
    all.push_back({"offset", make_tensor({.shape = {2, 2}, .byte_offset = 24})});
    all.push_back({"columns", make_tensor({.layout = layout_tag::col_major, .shape = {4, 6}})});
    all.push_back({"broadcast", broadcast()});
    all.push_back({"quantized", quantized()});
    all.push_back({"sparse", sparse()});
    all.push_back({"nothing stored", sparse_without_entries()});
    all.push_back({"no indices", sparse_without_indices()});
    all.push_back({std::string("nul\0in it", 9), make_tensor({.type = 0x10, .shape = {5}, .seed = 7})});
    all.push_back({"größe/重み", make_tensor({.type = 0x17, .shape = {1}})});
    all.push_back({std::string(65'535, 'n'), make_tensor({.type = 0x50, .shape = {2}})});
    all.push_back({"page", make_tensor({.shape = {2000}, .handle = {.alignment = 4096}})});
    return all;
}

Bytes encoded(const Descriptor& descriptor) {
    Bytes bytes(descriptor.encoded_length());
    EXPECT_TRUE(encode(descriptor, bytes).has_value());
    return bytes;
}

class Access : public testing::TestWithParam<std::tuple<FileAccess, bool, std::uint32_t>> {
  protected:
    [[nodiscard]] FileAccess access() const { return std::get<0>(GetParam()); }
    [[nodiscard]] FileWriterOptions writer_options() const {
        return {.data_alignment = std::get<2>(GetParam()), .sorted_index = std::get<1>(GetParam())};
    }
    TemporaryFolder folder;
};

TEST_P(Access, EveryKindOfTensorComesBackAsItWas) {
    const auto all = all_kinds();
    const std::string path = folder.path() + "/f.hrry";
    auto writer = create_model_file(path, FileFormat::hrry, writer_options());
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    for (const auto& [name, tensor] : all) {
        const auto added = (*writer)->add(name, tensor);
        ASSERT_TRUE(added.has_value()) << added.error().message;
    }
    ASSERT_TRUE((*writer)->finish().has_value());
    EXPECT_EQ((*writer)->copied_bytes(), 0U);

    const auto file = open_model_file(path, {.access = access()});
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->format(), FileFormat::hrry);
    ASSERT_EQ((*file)->tensor_count(), all.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [name, tensor] = all[i];
        const auto number = (*file)->find(name);
        ASSERT_TRUE(number.has_value()) << name;
        if (!writer_options().sorted_index) {
            EXPECT_EQ(*number, i);
        }
        const auto info = (*file)->tensor_info(*number);
        ASSERT_TRUE(info.has_value()) << info.error().message;
        EXPECT_EQ(info->name, name);
        EXPECT_EQ(info->type_tag, tensor.descriptor.element_type());
        EXPECT_EQ(info->layout_tag, tensor.descriptor.layout());
        EXPECT_EQ(info->scheme_tag, name == "quantized" ? scheme_tag::per_block_affine : 0);
        EXPECT_EQ(info->bits, find_element_type(info->type_tag)->bits);
        EXPECT_TRUE(std::ranges::equal(info->shape, tensor.descriptor.shape()));
        EXPECT_EQ(info->file_offset % 4096, 0U);
        const auto described = (*file)->descriptor(*number);
        ASSERT_TRUE(described.has_value());
        EXPECT_EQ(encoded(*described), encoded(tensor.descriptor)) << name;
        const auto read = (*file)->tensor(*number);
        ASSERT_TRUE(read.has_value()) << read.error().message;
        EXPECT_EQ(encoded(read->descriptor), encoded(tensor.descriptor)) << name;
        EXPECT_TRUE(same_data(*read, tensor)) << name;
        for (std::size_t b = 0; b < read->buffers.size(); ++b) {
            const Buffer& buffer = read->buffers[b];
            EXPECT_TRUE(buffer.read_only);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data) % buffer.handle.alignment, 0U);
            const auto range = (*file)->buffer_range(*number, b);
            ASSERT_TRUE(range.has_value());
            EXPECT_EQ(range->size, buffer.handle.byte_size);
            EXPECT_EQ(range->offset % 4096, 0U);
            bytes += buffer.handle.byte_size;
        }
        EXPECT_EQ((*file)->buffer_range(*number, read->buffers.size()).error().code, Status::index_out_of_bounds);
    }
    EXPECT_EQ((*file)->copied_bytes(), access() == FileAccess::map ? 0U : bytes);
    for (const char* name : {"", "weight", "weightsx", "zzz", "\xFF"}) EXPECT_FALSE((*file)->find(name).has_value());
    EXPECT_EQ((*file)->tensor_info(all.size()).error().code, Status::index_out_of_bounds);
    EXPECT_EQ((*file)->tensor(all.size()).error().code, Status::index_out_of_bounds);
    EXPECT_EQ((*file)->descriptor(~std::uint64_t{0}).error().code, Status::index_out_of_bounds);
}

TEST_P(Access, BuffersOutliveTheFileObjectAndTheFile) {
    const std::string path = folder.path() + "/f.hrry";
    const Tensor tensor = make_tensor({.shape = {100, 100}});
    auto writer = create_model_file(path, FileFormat::hrry, writer_options()).value();
    ASSERT_TRUE(writer->add("t", tensor).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    auto file = open_model_file(path, {.access = access()}).value();
    const auto read = file->tensor(0);
    ASSERT_TRUE(read.has_value());
    file.reset();
    ASSERT_EQ(::unlink(path.c_str()), 0);
    EXPECT_TRUE(same_data(*read, tensor));
}

TEST_P(Access, MetadataOfEveryTypeComesBackInItsOrder) {
    const std::string path = folder.path() + "/f.hrry";
    auto writer = create_model_file(path, FileFormat::hrry, writer_options()).value();
    MetadataValue value;
    const auto set = [&](std::string_view key) {
        const auto done = writer->set_metadata(key, value);
        EXPECT_TRUE(done.has_value()) << done.error().message;
        value = {};
    };
    value.text = std::string("a\0b \xE2\x82\xAC", 7);
    set("string");
    ASSERT_TRUE(writer->add("between", make_tensor({.shape = {3}})).has_value());
    value.type = MetadataType::int64;
    value.int64 = std::numeric_limits<std::int64_t>::min();
    set("int64");
    value.type = MetadataType::uint64;
    value.uint64 = std::numeric_limits<std::uint64_t>::max();
    set("uint64");
    value.type = MetadataType::float64;
    value.float64 = std::bit_cast<double>(std::uint64_t{0x7FF0'0000'0000'0001});
    set("float64");
    value.type = MetadataType::boolean;
    value.boolean = true;
    set("boolean");
    value.type = MetadataType::bytes;
    value.text = "\xFF\x00\x01";
    set("bytes");
    value.type = MetadataType::array;
    value.element_type = MetadataType::int64;
    set("no elements");
    value.type = MetadataType::array;
    for (int i = 0; i < 100; ++i)
        value.elements.push_back(string_value(std::string(static_cast<std::size_t>(i % 7), 'a')));
    set("strings");
    value.type = MetadataType::array;
    value.element_type = MetadataType::boolean;
    for (int i = 0; i < 20; ++i) {
        MetadataValue& element = value.elements.emplace_back();
        element.type = MetadataType::boolean;
        element.boolean = i % 3 == 0;
    }
    set("booleans");
    value.type = MetadataType::array;
    value.element_type = MetadataType::int64;
    for (int i = 0; i < 20; ++i) value.elements.push_back(int64_value(-i));
    set("numbers");
    set("int64 again");
    value.type = MetadataType::int64;
    value.int64 = 5;
    set("int64 again");
    set(std::string(65'535, 'k'));
    ASSERT_TRUE(writer->finish().has_value());

    const auto file = open_model_file(path, {.access = access()}).value();
    ASSERT_EQ(file->metadata_count(), 12U);
    const auto at = [&](std::uint64_t i) { return file->metadata(i).value().value; };
    EXPECT_EQ(file->metadata(0)->key, "string");
    EXPECT_EQ(at(0).text, std::string_view("a\0b \xE2\x82\xAC", 7));
    EXPECT_EQ(at(1).int64, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(at(2).uint64, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(at(3).float64), 0x7FF0'0000'0000'0001);
    EXPECT_TRUE(at(4).boolean);
    EXPECT_EQ(at(5).text, "\xFF");
    EXPECT_EQ(at(6).type, MetadataType::array);
    EXPECT_EQ(at(6).element_type, MetadataType::int64);
    EXPECT_EQ(at(6).count, 0U);
    ASSERT_EQ(at(7).count, 100U);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(file->metadata_element(7, i)->text, std::string(i % 7, 'a'));
    EXPECT_EQ(file->metadata_element(7, 100).error().code, Status::index_out_of_bounds);
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(file->metadata_element(8, i)->boolean, i % 3 == 0);
    for (std::uint64_t i = 0; i < 20; ++i)
        EXPECT_EQ(file->metadata_element(9, i)->int64, -static_cast<std::int64_t>(i));
    EXPECT_EQ(file->metadata_element(0, 0).error().code, Status::invalid_argument);
    EXPECT_EQ(file->metadata_element(12, 0).error().code, Status::index_out_of_bounds);
    EXPECT_EQ(file->find_metadata("int64 again"), 10U);
    EXPECT_EQ(at(10).int64, 5);
    EXPECT_EQ(file->find_metadata(std::string(65'535, 'k')), 11U);
    EXPECT_FALSE(file->find_metadata("int6").has_value());
    EXPECT_EQ(file->metadata(12).error().code, Status::index_out_of_bounds);
}

Tensor part_of(std::vector<std::uint64_t> shape, unsigned seed) {
    return make_tensor({.shape = std::move(shape), .seed = seed});
}

// [2, 4] of two halves, the second of them of two quarters.
std::shared_ptr<const Composite> nested() {
    const std::uint64_t half[] = {2, 2};
    const std::uint64_t whole[] = {2, 4};
    const std::uint64_t first[] = {0, 0};
    const std::uint64_t second[] = {0, 1};
    const std::uint64_t right[] = {0, 2};
    CompositeBuilder inner(0x03, half, composition_rule::partition);
    EXPECT_TRUE(inner.add_at(CompositeMember(part_of({2, 1}, 1)), first).has_value());
    EXPECT_TRUE(inner.add_at(CompositeMember(part_of({2, 1}, 2)), second).has_value());
    CompositeBuilder outer(0x03, whole, composition_rule::partition);
    EXPECT_TRUE(outer.add_at(CompositeMember(part_of({2, 2}, 3)), first).has_value());
    EXPECT_TRUE(outer.add_at(CompositeMember(inner.build().value()), right).has_value());
    auto built = outer.build();
    EXPECT_TRUE(built.has_value()) << built.error().message;
    return *built;
}

TEST_P(Access, CompositesAreAHeadAndWhatFollowsItInTheFile) {
    const std::string path = folder.path() + "/f.hrry";
    const auto composite = nested();
    auto writer = create_model_file(path, FileFormat::hrry, writer_options()).value();
    ASSERT_TRUE(writer->add("z first", make_tensor({.shape = {3}})).has_value());
    const auto added = writer->add_composite("c", *composite);
    ASSERT_TRUE(added.has_value()) << added.error().message;
    ASSERT_TRUE(writer->add("a last", make_tensor({.shape = {3}})).has_value());
    ASSERT_TRUE(writer->finish().has_value());

    const auto opened = open_model_file(path, {.access = access()});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const auto& file = *opened;
    ASSERT_EQ(file->tensor_count(), 7U);
    for (const char* name : {"c", "c/0", "c/1", "c/1/0", "c/1/1", "a last", "z first"}) {
        EXPECT_TRUE(file->find(name).has_value()) << name;
    }
    const auto number = file->find("c").value();
    EXPECT_EQ(file->tensor_info(number)->layout_tag, layout_tag::composite);
    EXPECT_EQ(file->tensor_info(number)->byte_size, 0U);
    EXPECT_TRUE(file->tensor(number)->buffers.empty());
    const auto read = file->composite(number);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    const auto before = pre_order(*composite);
    const auto after = pre_order(**read);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(encoded(before[i].descriptor), encoded(after[i].descriptor));
        EXPECT_TRUE(same_data(before[i], after[i]));
    }
    EXPECT_EQ(file->composite(file->find("c/1").value()).value()->descriptor_count(), 3U);
    EXPECT_EQ(file->composite(file->find("c/0").value()).error().code, Status::invalid_argument);
    EXPECT_EQ(file->composite(7).error().code, Status::index_out_of_bounds);
}

TEST_P(Access, AFileWithoutTensors) {
    const std::string path = folder.path() + "/f.hrry";
    auto writer = create_model_file(path, FileFormat::hrry, writer_options()).value();
    ASSERT_TRUE(writer->finish().has_value());
    const auto file = open_model_file(path, {.access = access()});
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->tensor_count(), 0U);
    EXPECT_EQ((*file)->metadata_count(), 0U);
    EXPECT_FALSE((*file)->find("x").has_value());
}

INSTANTIATE_TEST_SUITE_P(All, Access,
                         testing::Combine(testing::Values(FileAccess::map, FileAccess::read), testing::Bool(),
                                          testing::Values(0U, 65'536U, 2U << 20)),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param) == FileAccess::map ? "map" : "read") +
                                    (std::get<1>(info.param) ? "_sorted_" : "_unsorted_") +
                                    std::to_string(std::get<2>(info.param));
                         });

TEST(HrryFile, AFileOfAnotherWriterIsRead) {
    const auto path = shared_data("conformance/files/basic.hrry");
    if (!path) GTEST_SKIP();
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
        const auto file = open_model_file(*path, {.access = access});
        ASSERT_TRUE(file.has_value()) << file.error().message;
        ASSERT_EQ((*file)->tensor_count(), 2U);
        EXPECT_EQ((*file)->tensor_info(0)->name, "weights");
        EXPECT_EQ((*file)->find("bias"), 1U);
        EXPECT_EQ((*file)->tensor(0)->buffers.at(0).handle.byte_size, 16U);
        EXPECT_EQ((*file)->tensor(1)->buffers.at(0).handle.byte_size, 3U);
        ASSERT_EQ((*file)->metadata_count(), 2U);
        EXPECT_EQ((*file)->metadata((*file)->find_metadata("producer").value())->value.text, "hurray-conformance");
        EXPECT_EQ((*file)->metadata((*file)->find_metadata("tensor_count").value())->value.int64, 2);
    }
}

TEST(HrryWriter, BuffersThatBelongToSomebodyElseInPartAreRebased) {
    WrittenFile out;
    ASSERT_TRUE(out->add("t", make_prefixed_tensor(13, "payload")).has_value());
    const Bytes image = out.finish();
    EXPECT_EQ(as_text(image).find('\xEE'), std::string::npos);
    const auto tensor = open_image(image).value()->tensor(0);
    ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
    EXPECT_EQ(as_text(tensor->buffers[0].bytes().subspan(tensor->descriptor.byte_offset())), "payload");
}

TEST(HrryWriter, PaddingIsZeroAndEveryPartIsWhereItBelongs) {
    WrittenFile out;
    ASSERT_TRUE(out->add("q", quantized()).has_value());
    ASSERT_TRUE(out->add("s", make_tensor({.shape = {}})).has_value());
    const Bytes image = out.finish();
    EXPECT_EQ(get<std::uint32_t>(image, 12), 7U);
    EXPECT_EQ(get<std::uint64_t>(image, 28), ~std::uint64_t{0});
    const std::size_t q = fields_at(image, "q");
    const std::size_t s = fields_at(image, "s");
    EXPECT_EQ(get<std::uint64_t>(image, q), 64U);
    EXPECT_EQ(get<std::uint64_t>(image, q + 12), 4096U);
    EXPECT_EQ(get<std::uint64_t>(image, q + 20), 2 * 4096U + 32);
    EXPECT_EQ(get<std::uint64_t>(image, s), 4 * 4096U);
    EXPECT_EQ(get<std::uint64_t>(image, s + 12), 5 * 4096U);
    EXPECT_EQ(metadata_at(image), 6 * 4096U);
    EXPECT_EQ(get<std::uint32_t>(image, metadata_at(image)), 0U);
    const auto zero = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            if (image[i] != std::byte{0}) return false;
        }
        return true;
    };
    EXPECT_TRUE(zero(64 + get<std::uint32_t>(image, q + 8), 4096));
    EXPECT_TRUE(zero(4096 + 128, 2 * 4096));
    EXPECT_TRUE(zero(2 * 4096 + 16, 3 * 4096));
    EXPECT_TRUE(zero(3 * 4096 + 32, 4 * 4096));
    EXPECT_TRUE(zero(5 * 4096 + 4, 6 * 4096));
    EXPECT_EQ(index_at(image) % 8, 0U);
    EXPECT_EQ(index_at(image) + get<std::uint64_t>(image, trailer_at(image) + 8), trailer_at(image));
}

TEST(HrryWriter, RefusesWhatAFileCannotHoldAndGoesOn) {
    WrittenFile out;
    const Tensor good = make_tensor({.shape = {2}});
    const auto code = [&](std::string_view name, const Tensor& tensor) {
        const auto done = out->add(name, tensor);
        return done ? Status::ok : done.error().code;
    };
    EXPECT_EQ(code("", good), Status::invalid_argument);
    EXPECT_EQ(code(std::string(65'536, 'n'), good), Status::invalid_argument);
    EXPECT_EQ(code("\xC3(", good), Status::invalid_argument);
    Tensor fewer = good;
    fewer.buffers.clear();
    EXPECT_EQ(code("x", fewer), Status::invalid_argument);
    Tensor null = good;
    null.buffers[0].data = nullptr;
    EXPECT_EQ(code("x", null), Status::null_pointer);
    const std::uint64_t shape[] = {dynamic_dimension};
    DescriptorBuilder dynamic(0x03, layout_tag::row_major, shape);
    EXPECT_EQ(code("x", tensor_of(dynamic, {8})), Status::invalid_layout);
    EXPECT_EQ(code("x", make_tensor({.shape = {2}, .handle = {.device_tag = device_tag::cuda}})), Status::unsupported);
    EXPECT_EQ(code("t", good), Status::ok);
    EXPECT_EQ(code("t", good), Status::invalid_argument);
    const auto of_type = [](MetadataType type) {
        MetadataValue value;
        value.type = type;
        return value;
    };
    const auto metadata = [&](std::string_view key, const MetadataValue& value) {
        const auto done = out->set_metadata(key, value);
        return done ? Status::ok : done.error().code;
    };
    EXPECT_EQ(metadata("", {}), Status::invalid_argument);
    EXPECT_EQ(metadata(std::string(65'536, 'k'), {}), Status::invalid_argument);
    EXPECT_EQ(metadata("\xFF", {}), Status::invalid_argument);
    EXPECT_EQ(metadata("k", string_value("\xFF")), Status::invalid_argument);
    EXPECT_EQ(metadata("k", of_type(static_cast<MetadataType>(0))), Status::invalid_argument);
    EXPECT_EQ(metadata("k", of_type(static_cast<MetadataType>(8))), Status::invalid_argument);
    MetadataValue nested_array = of_type(MetadataType::array);
    nested_array.element_type = MetadataType::array;
    EXPECT_EQ(metadata("k", nested_array), Status::invalid_argument);
    MetadataValue mixed = of_type(MetadataType::array);
    mixed.elements.push_back(int64_value(1));
    EXPECT_EQ(metadata("k", mixed), Status::invalid_argument);
    const Bytes image = out.finish();
    EXPECT_EQ(open_image(image).value()->tensor_count(), 1U);
    EXPECT_EQ(code("u", good), Status::invalid_argument);
    EXPECT_EQ(metadata("k", {}), Status::invalid_argument);
    EXPECT_EQ(out->finish().error().code, Status::invalid_argument);
}

TEST(HrryWriter, OptionsThatAreNotTheFormatsAreRefused) {
    for (const std::uint32_t alignment : {1U, 64U, 2048U, 4097U, 6000U, 4U << 20, 0x8000'0000U}) {
        const auto made = HrryWriter::create(std::make_unique<MemorySink>(), {.data_alignment = alignment});
        ASSERT_FALSE(made.has_value()) << alignment;
        EXPECT_EQ(made.error().code, Status::invalid_argument);
    }
    EXPECT_FALSE(HrryWriter::create(std::make_unique<MemorySink>(), {.compress = true}).has_value());
}

TEST(HrryWriter, TensorsAreMadeWhenTheyAreWritten) {
    WrittenFile out;
    const Tensor tensor = make_tensor({.shape = {5, 5}});
    int calls = 0;
    ASSERT_TRUE(out->add("t", tensor.descriptor,
                         [&]() -> Result<Tensor> {
                             ++calls;
                             return tensor;
                         })
                    .has_value());
    EXPECT_EQ(calls, 1);
    const Bytes image = out.finish();
    const auto file = open_image(image);
    ASSERT_EQ(file.value()->tensor_count(), 1U);
    EXPECT_TRUE(same_data(file.value()->tensor(0).value(), tensor));
}

TEST(HrryWriter, NoFileIsFinishedWithoutATensorThatWasAnnounced) {
    const Tensor tensor = make_tensor({.shape = {5, 5}});
    const std::pair<TensorSource, Status> sources[] = {
        {[] { return Result<Tensor>(make_tensor({.shape = {5, 4}})); }, Status::invalid_argument},
        {[]() -> Result<Tensor> { return fail(Status::cancelled, Error::no_offset, "no"); }, Status::cancelled}};
    for (const auto& [source, expected] : sources) {
        const auto writer = HrryWriter::create(std::make_unique<MemorySink>(), {});
        ASSERT_TRUE(writer.has_value());
        const auto failed = (*writer)->add("u", tensor.descriptor, source);
        ASSERT_FALSE(failed.has_value());
        EXPECT_EQ(failed.error().code, expected);
        const auto finished = (*writer)->finish();
        ASSERT_FALSE(finished.has_value());
        EXPECT_EQ(finished.error().code, Status::invalid_argument);
    }
}

TEST(HrryWriter, ACompositeCanBeAddedTensorByTensorAndMustBecomeWhole) {
    const auto parts = pre_order(*nested());
    for (const std::size_t missing : {0U, 1U, 3U}) {
        WrittenFile out;
        for (std::size_t i = 0; i + missing < parts.size(); ++i) {
            ASSERT_TRUE(out->add(numbered("part", static_cast<std::size_t>(i)), parts[i]).has_value());
        }
        if (missing != 0) {
            EXPECT_EQ(out->finish().error().code, Status::invalid_composite);
            continue;
        }
        const Bytes image = out.finish();
        EXPECT_TRUE(open_image(image).value()->composite(0).has_value());
    }
    WrittenFile out;
    ASSERT_TRUE(out->add("head", parts[0]).has_value());
    EXPECT_EQ(out->add("no part", make_tensor({.shape = {3}})).error().code, Status::invalid_composite);
    EXPECT_EQ(out->add("more", parts[1]).error().code, Status::invalid_argument);
    EXPECT_EQ(out->finish().error().code, Status::invalid_argument);
}

// A sink whose n-th write fails.
class FailingSink final : public ByteSink {
  public:
    explicit FailingSink(int writes) : left_(writes) {}
    Result<void> write(std::span<const std::span<const std::byte>>) override {
        if (left_-- > 0) return {};
        return fail(Status::io, Error::no_offset, "no room");
    }

  private:
    int left_;
};

TEST(HrryWriter, AfterAFailedWriteThereIsNothingMoreToDo) {
    for (int writes = 0; writes < 6; ++writes) {
        const auto writer = HrryWriter::create(std::make_unique<FailingSink>(writes), {}).value();
        Result<void> done;
        int steps = 0;
        for (; done && steps < 2; ++steps)
            done = writer->add(numbered("t", static_cast<std::size_t>(steps)), make_tensor({.shape = {2}}));
        if (done) done = writer->finish();
        ASSERT_EQ(done.has_value(), false) << writes;
        EXPECT_EQ(done.error().code, Status::io);
        EXPECT_EQ(writer->add("more", make_tensor({.shape = {2}})).error().code, Status::invalid_argument);
        EXPECT_EQ(writer->finish().error().code, Status::invalid_argument);
    }
}

TEST(HrryWriter, AnInterruptedWriteLeavesTheOldFileAndNothingElse) {
    TemporaryFolder folder;
    const std::string path = folder.file("f.hrry", "old");
    {
        auto writer = create_model_file(path, FileFormat::hrry).value();
        ASSERT_TRUE(writer->add("t", make_tensor({.shape = {5000}})).has_value());
    }
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(folder.names().size(), 1U);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto writer = create_model_file(path, FileFormat::hrry);
        if (!writer || !(*writer)->add("t", make_tensor({.shape = {5000}}))) ::_exit(1);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(read_file(path), "old");
}

TEST(HrryWriter, TheTargetMayBeTheFileThatTheTensorsAreMappedFrom) {
    TemporaryFolder folder;
    const std::string path = folder.path() + "/f.hrry";
    const Tensor tensor = make_tensor({.shape = {3000}});
    {
        auto writer = create_model_file(path, FileFormat::hrry).value();
        ASSERT_TRUE(writer->add("t", tensor).has_value());
        ASSERT_TRUE(writer->finish().has_value());
    }
    const auto file = open_model_file(path).value();
    const Tensor mapped = file->tensor(0).value();
    auto writer = create_model_file(path, FileFormat::hrry, {.data_alignment = 65'536}).value();
    ASSERT_TRUE(writer->add("a", mapped).has_value());
    ASSERT_TRUE(writer->add("b", mapped).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_TRUE(same_data(mapped, tensor));
    const auto again = open_model_file(path).value();
    ASSERT_EQ(again->tensor_count(), 2U);
    EXPECT_TRUE(same_data(again->tensor(1).value(), tensor));
}

TEST(HrryFile, AlignmentsThatTheFileDoesNotGiveAreWhatThePolicyMakesOfThem) {
    TemporaryFolder folder;
    const std::string path = folder.path() + "/f.hrry";
    constexpr std::uint32_t wanted = 2U << 20;
    const Tensor tensor = make_tensor({.shape = {100}, .handle = {.alignment = wanted}});
    auto writer = create_model_file(path, FileFormat::hrry).value();
    ASSERT_TRUE(writer->add("first", make_tensor({.shape = {1}})).has_value());
    ASSERT_TRUE(writer->add("second", tensor).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    const auto read = [&](AlignmentPolicy policy, FileAccess access) {
        return open_model_file(path, {.alignment = policy, .access = access}).value()->tensor(1);
    };
    const auto in_place = read(AlignmentPolicy::offset, FileAccess::map);
    ASSERT_TRUE(in_place.has_value()) << in_place.error().message;
    EXPECT_EQ(in_place->descriptor.buffers()[0], in_place->buffers[0].handle);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(in_place->buffers[0].data) % in_place->buffers[0].handle.alignment, 0U);
    EXPECT_TRUE(same_data(*in_place, tensor));
    for (const auto& copied :
         {read(AlignmentPolicy::copy, FileAccess::map), read(AlignmentPolicy::offset, FileAccess::read)}) {
        ASSERT_TRUE(copied.has_value()) << copied.error().message;
        EXPECT_EQ(copied->buffers[0].handle.alignment, wanted);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copied->buffers[0].data) % wanted, 0U);
        EXPECT_TRUE(same_data(*copied, tensor));
    }
}

TEST(HrryFile, ImagesThatStartAnywhereAreReadInPlaceWhereAByteOffsetCanSaySo) {
    WrittenFile out;
    const auto all = all_kinds();
    for (const auto& [name, tensor] : all) ASSERT_TRUE(out->add(name, tensor).has_value());
    const Bytes image = out.finish();
    auto* storage = new ImageStorage(std::string(image.size() + 128, '\0'));
    const Ref<Storage> keeper = Ref<Storage>::adopt(storage);
    auto* base = const_cast<std::byte*>(storage->bytes().data());
    while (reinterpret_cast<std::uintptr_t>(base) % 64 != 24) ++base;
    std::memcpy(base, image.data(), image.size());
    const FileBytes bytes = FileBytes::over({base, image.size()}, keeper);
    const auto file = HrryFile::open(bytes).value();
    std::uint64_t copied = 0;
    for (const auto& [name, tensor] : all) {
        const auto read = file->tensor(file->find(name).value());
        ASSERT_TRUE(read.has_value()) << read.error().message;
        EXPECT_TRUE(same_data(*read, tensor)) << name;
        for (std::size_t i = 0; i < read->buffers.size(); ++i) {
            const Buffer& buffer = read->buffers[i];
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data) % buffer.handle.alignment, 0U);
            EXPECT_EQ(read->descriptor.buffers()[i].byte_size, buffer.handle.byte_size);
            const bool lead = i == 0 && layout_buffer_count(read->descriptor.layout(), 2) == 1;
            if (buffer.handle.byte_size != 0) {
                EXPECT_EQ(buffer.prefix, lead ? 24U : 0U) << name;
            }
            if (!lead) copied += buffer.handle.byte_size;
        }
        EXPECT_EQ(read->descriptor.byte_offset(),
                  tensor.descriptor.byte_offset() + (read->buffers.empty() ? 0 : read->buffers[0].prefix));
    }
    EXPECT_EQ(file->copied_bytes(), copied);
    const auto strict = HrryFile::open(bytes, {.alignment = AlignmentPolicy::require}).value();
    EXPECT_EQ(strict->tensor(strict->find("weights").value()).error().code, Status::misaligned);
    EXPECT_TRUE(strict->tensor(strict->find("empty").value()).has_value());
}

TEST(HrryFile, PinnedMemoryIsPlainMemoryInAFileAndDevicesAreRefused) {
    WrittenFile out;
    ASSERT_TRUE(
        out->add("t", make_tensor({.shape = {2}, .handle = {.memory_class = memory_class::host_pinned}})).has_value());
    Bytes image = out.finish();
    EXPECT_EQ(open_image(image).value()->tensor(0)->descriptor.buffers()[0].memory_class, memory_class::standard);
    // fixed header 20, shape 8, byte_offset 8, count 1; then byte_size 8, alignment 4, device 1, sync 1, class 1
    const std::size_t handle = 64 + 20 + 8 + 8 + 1;
    image[handle + 14] = std::byte{memory_class::unified};
    const auto unified = open_image(image).value()->tensor(0);
    ASSERT_TRUE(unified.has_value());
    EXPECT_EQ(unified->descriptor.buffers()[0].memory_class, memory_class::standard);
    EXPECT_EQ(unified->buffers[0].handle.memory_class, memory_class::standard);
    image[handle + 12] = std::byte{device_tag::cuda};
    EXPECT_EQ(open_image(image).value()->tensor(0).error().code, Status::unsupported);
    EXPECT_EQ(open_image(image).value()->descriptor(0)->buffers()[0].device_tag, device_tag::cuda);
    image[handle + 13] = std::byte{sync_mode::event};
    EXPECT_EQ(open_image(image).value()->tensor(0).error().code, Status::invalid_sync_mode);
}

TEST(HrryFile, ThreadsMayAskForTheSameTensorsAtOnce) {
    WrittenFile out;
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(out->add(numbered("t", static_cast<std::size_t>(i)),
                             make_tensor({.shape = {static_cast<std::uint64_t>(i), 2}}))
                        .has_value());
    }
    const Bytes image = out.finish();
    const auto file = open_image(image).value();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&file] {
            for (int i = 0; i < 200; ++i) {
                const auto number = file->find(numbered("t", static_cast<std::size_t>(i))).value();
                EXPECT_EQ(file->tensor_info(number)->shape[0], static_cast<std::uint64_t>(i));
                EXPECT_TRUE(file->tensor(number).has_value());
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace hurray
