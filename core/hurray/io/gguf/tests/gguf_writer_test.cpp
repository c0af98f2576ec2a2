// What is written into a GGUF file, and what cannot be.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/io/gguf/gguf_writer.hpp"
#include "core/hurray/io/gguf/tests/gguf_image.hpp"
#include "core/hurray/io/tests/temporary_folder.hpp"
#include "core/hurray/io/tests/tensors.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/quantization/quantize.hpp"

namespace hurray {
namespace {

std::string bytes_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Writes into a file of its own and opens it.
class Rewritten {
  public:
    explicit Rewritten(const FileWriterOptions& options = {}) {
        auto writer = create_model_file(path(), FileFormat::gguf, options);
        EXPECT_TRUE(writer.has_value());
        writer_ = *std::move(writer);
    }

    ModelFileWriter& writer() { return *writer_; }
    std::unique_ptr<GgufFile> finish(const FileOptions& options = {}) {
        const auto done = writer_->finish();
        EXPECT_TRUE(done.has_value()) << done.error().message;
        auto file = open_gguf_file(path(), options);
        EXPECT_TRUE(file.has_value()) << file.error().message;
        return *std::move(file);
    }
    [[nodiscard]] std::string path() const { return folder_.path() + "/written.gguf"; }
    [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

  private:
    TemporaryFolder folder_;
    std::unique_ptr<ModelFileWriter> writer_;
};

MetadataValue text_value(std::string_view text) {
    MetadataValue value;
    value.type = MetadataType::string;
    value.text = text;
    return value;
}
MetadataValue uint_value(std::uint64_t number) {
    MetadataValue value;
    value.type = MetadataType::uint64;
    value.uint64 = number;
    return value;
}

TEST(GgufWriter, PlainTensorsOfEveryDenseLayout) {
    for (const std::uint8_t type : {0x01, 0x02, 0x03, 0x04, 0x10, 0x12, 0x14, 0x16}) {
        Rewritten file;
        auto& writer = file.writer();
        const std::vector<std::pair<std::string, TensorSpec>> specs = {
            {"scalar", {.type = type}},
            {"row-major", {.type = type, .shape = {3, 5}}},
            {"offset", {.type = type, .shape = {3, 5}, .byte_offset = 64}},
            {"column-major", {.type = type, .layout = layout_tag::col_major, .shape = {3, 5}}},
            {"reversed",
             {.type = type,
              .layout = layout_tag::strided,
              .shape = {4},
              .strides = {-2},
              .byte_offset = 64,
              .byte_size = 128}},
            {"broadcast",
             {.type = type, .layout = layout_tag::strided, .shape = {3, 2}, .strides = {0, 1}, .byte_size = 64}},
            {"empty", {.type = type, .shape = {3, 0, 2}}},
            {"four", {.type = type, .shape = {2, 1, 3, 2}}},
        };
        std::uint64_t moved = 0;
        for (const auto& [name, spec] : specs) {
            const auto added = writer.add(name, make_tensor(spec));
            ASSERT_TRUE(added.has_value()) << name << ": " << added.error().message;
            if (name == "column-major") moved += 15;
            if (name == "reversed") moved += 4;
            if (name == "broadcast") moved += 6;
        }
        const auto read = file.finish();
        const std::uint64_t width = find_element_type(type)->bits / 8;
        EXPECT_EQ(writer.copied_bytes(), moved * width);
        for (const auto& [name, spec] : specs) {
            SCOPED_TRACE(name);
            const Tensor before = make_tensor(spec);
            const Tensor after = read->tensor(read->find(name).value()).value();
            EXPECT_EQ(after.descriptor.element_type(), type);
            EXPECT_EQ(shape_of(after), spec.shape);
            const auto elements = element_bytes(after);
            const std::byte* origin = before.buffers[0].data + before.descriptor.byte_offset();
            std::uint64_t at = 0;
            const auto expect_element = [&](std::int64_t place) {
                EXPECT_EQ(std::memcmp(elements.data() + at, origin + place * static_cast<std::int64_t>(width), width),
                          0);
                at += width;
            };
            if (spec.layout == layout_tag::col_major) {
                for (std::int64_t i = 0; i < 3; ++i) {
                    for (std::int64_t j = 0; j < 5; ++j) expect_element(i + 3 * j);
                }
            } else if (spec.layout == layout_tag::strided && spec.shape.size() == 1) {
                for (std::int64_t i = 0; i < 4; ++i) expect_element(-2 * i);
            } else if (spec.layout == layout_tag::strided) {
                for (std::int64_t i = 0; i < 3; ++i) {
                    for (std::int64_t j = 0; j < 2; ++j) expect_element(j);
                }
            } else {
                EXPECT_EQ(copy_of(elements), copy_of(element_bytes(before)));
            }
        }
    }
}

TEST(GgufWriter, SchemesBecomeBlocksAndAreReadBackTheSame) {
    const Tensor numbers = [] {
        Tensor tensor = make_tensor({.type = 0x03, .shape = {3, 2, 64}});
        for (int i = 0; i < 3 * 2 * 64; ++i) {
            const float number = static_cast<float>(i * 37 % 101 - 50) * 0.37F;
            std::memcpy(tensor.buffers[0].data + i * 4, &number, 4);
        }
        return tensor;
    }();
    struct Case {
        const char* stored;
        QuantizeSpec spec;
    };
    const std::vector<Case> cases = {
        {"Q8_0",
         {.scheme = 0x03, .storage_type = 0x10, .scale_type = 0x01, .symmetric = true, .axis = 2, .block_size = 32}},
        {"Q4_0",
         {.scheme = 0x03, .storage_type = 0x48, .scale_type = 0x01, .symmetric = true, .axis = 2, .block_size = 32}},
        {"MXFP4", {.scheme = 0x05, .storage_type = 0x43, .axis = 2, .block_size = 32}},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(each.stored);
        const auto quantized = quantize(numbers, each.spec);
        ASSERT_TRUE(quantized.has_value()) << quantized.error().message;
        Rewritten file;
        const auto added = file.writer().add("t", *quantized);
        ASSERT_TRUE(added.has_value()) << added.error().message;
        const auto read = file.finish();
        const auto info = read->tensor_info(0).value();
        EXPECT_EQ(info.stored_type, each.stored);
        EXPECT_EQ(file.writer().copied_bytes(), info.byte_size);
        const Tensor again = read->tensor(0).value();
        std::vector<float> before(384);
        std::vector<float> after(384);
        ASSERT_TRUE(dequantize_into(*quantized, 0x03, std::as_writable_bytes(std::span(before))).has_value());
        ASSERT_TRUE(dequantize_into(again, 0x03, std::as_writable_bytes(std::span(after))).has_value());
        // Equal as numbers: -0 of MXFP4 has become 0.
        EXPECT_EQ(before, after);
    }
}

/// A tensor of blocks by hand.
Tensor block_tensor(std::uint8_t type, const QuantizationFields& fields, const std::vector<std::uint64_t>& shape,
                    std::string_view scales, std::string_view zeros = {}) {
    DescriptorBuilder builder(type, layout_tag::row_major, shape);
    builder.set_quantization(fields);
    Tensor tensor{Descriptor::vacant(), {}};
    std::uint64_t count = 1;
    for (const auto dimension : shape) count *= dimension;
    tensor.buffers.push_back(allocate_buffer(packed_byte_size(type, count).value()).value());
    for (std::size_t i = 0; i < tensor.buffers[0].bytes().size(); ++i) {
        tensor.buffers[0].data[i] = static_cast<std::byte>(i * 29 + 3);
    }
    for (const std::string_view part : {scales, zeros}) {
        if (part.empty()) continue;
        tensor.buffers.push_back(allocate_buffer(part.size()).value());
        std::memcpy(tensor.buffers.back().data, part.data(), part.size());
    }
    for (const Buffer& buffer : tensor.buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    auto descriptor = builder.build();
    EXPECT_TRUE(descriptor.has_value()) << descriptor.error().message;
    tensor.descriptor = *std::move(descriptor);
    return tensor;
}

QuantizationFields affine(std::uint8_t scale_type, bool symmetric, std::uint32_t axis = 0) {
    QuantizationFields fields;
    fields.scheme = scheme_tag::per_block_affine;
    fields.axis = axis;
    fields.block_size = 32;
    fields.scale_buffer = 1;
    fields.scale_type = scale_type;
    if (symmetric) {
        fields.flags = QuantizationFields::symmetric_flag;
    } else {
        fields.zero_point_buffer = 2;
    }
    return fields;
}

TEST(GgufWriter, ScalesAndZeroPointsThatMeanTheSame) {
    struct Case {
        const char* what;
        Tensor tensor;
        const char* stored;
    };
    const std::string zeros = le<std::int32_t>(0) + le<std::int32_t>(0);
    const std::string eights = le<std::int32_t>(8) + le<std::int32_t>(8);
    const std::string floats = le(0.5F) + le(-3.0F);
    const std::string halves = le<std::uint16_t>(0x3800) + le<std::uint16_t>(0xC200);
    std::vector<Case> cases;
    cases.push_back({"float32 scales", block_tensor(0x10, affine(0x03, true), {64}, floats), "Q8_0"});
    cases.push_back(
        {"bfloat16 scales",
         block_tensor(0x10, affine(0x02, true), {64}, le<std::uint16_t>(0x3F00) + le<std::uint16_t>(0xC040)), "Q8_0"});
    cases.push_back({"zero points 0", block_tensor(0x10, affine(0x01, false), {64}, halves, zeros), "Q8_0"});
    cases.push_back({"int4, zero points 0", block_tensor(0x48, affine(0x03, false), {64}, floats, zeros), "Q4_0"});
    cases.push_back({"uint4, zero points 8", block_tensor(0x49, affine(0x01, false), {64}, halves, eights), "Q4_0"});
    for (const Case& each : cases) {
        SCOPED_TRACE(each.what);
        Rewritten file;
        const auto added = file.writer().add("t", each.tensor);
        ASSERT_TRUE(added.has_value()) << added.error().message;
        const auto read = file.finish();
        EXPECT_EQ(read->tensor_info(0).value().stored_type, each.stored);
        std::vector<float> before(64);
        std::vector<float> after(64);
        ASSERT_TRUE(dequantize_into(each.tensor, 0x03, std::as_writable_bytes(std::span(before))).has_value());
        ASSERT_TRUE(
            dequantize_into(read->tensor(0).value(), 0x03, std::as_writable_bytes(std::span(after))).has_value());
        EXPECT_EQ(before, after);
    }
}

TEST(GgufWriter, RawBlocksGoBackAsTheyWere) {
    const std::string data = "0123456789abcdefghij" + std::string(20, '\7');
    const std::string image = gguf_image_of({64}, 3, data);
    const auto source = open_gguf_image(image).value();
    Rewritten file;
    ASSERT_TRUE(file.writer().add("t", source->tensor(0).value()).has_value());
    const auto read = file.finish();
    EXPECT_EQ(read->tensor_info(0).value().stored_type, "Q4_1");
    EXPECT_EQ(bytes_text(element_bytes(read->tensor(0).value())), data);
    EXPECT_EQ(file.writer().copied_bytes(), 0U);
}

struct Refusal {
    const char* what;
    Tensor tensor;
    Status code;
    const char* fragment;
};

Tensor private_tensor(std::string_view payload, std::vector<std::uint64_t> shape, std::uint8_t type = 0x11) {
    QuantizationFields fields;
    fields.scheme = 0xF0;
    fields.private_data = bytes_of(payload);
    DescriptorBuilder builder(type, layout_tag::row_major, shape);
    builder.set_quantization(fields);
    Tensor tensor = make_tensor({.type = type, .shape = shape});
    EXPECT_TRUE(builder.add_buffer(tensor.buffers[0].handle).has_value());
    tensor.descriptor = builder.build(PrivateTags::allow).value();
    return tensor;
}

Tensor shard_tensor() {
    Tensor tensor = make_tensor({.shape = {2}});
    const std::uint64_t shape[] = {2};
    const std::uint64_t parent[] = {4};
    DescriptorBuilder builder(0x03, layout_tag::row_major, shape);
    builder.set_shard(parent, shape);
    EXPECT_TRUE(builder.add_buffer(tensor.buffers[0].handle).has_value());
    tensor.descriptor = builder.build().value();
    return tensor;
}

TEST(GgufWriter, WhatGgufCannotHoldIsRefused) {
    constexpr Status unsupported = Status::unsupported;
    const std::string halves = le<std::uint16_t>(0x3800) + le<std::uint16_t>(0xC200);
    const std::string zeros = le<std::int32_t>(0) + le<std::int32_t>(1);
    QuantizationFields of_16 = affine(0x01, true);
    of_16.block_size = 16;
    QuantizationFields per_tensor;
    per_tensor.scheme = scheme_tag::per_tensor_affine;
    per_tensor.scale = 1;
    std::vector<Refusal> refusals;
    for (const std::uint8_t type : {0x11, 0x13, 0x15, 0x17, 0x20, 0x40, 0x43, 0x48, 0x50}) {
        refusals.push_back({"element type", make_tensor({.type = type, .shape = {8}}), unsupported, "element type"});
    }
    refusals.push_back({"five dimensions", make_tensor({.shape = {1, 1, 1, 1, 1}}), unsupported, "5 dimensions"});
    refusals.push_back({"shard", shard_tensor(), unsupported, "shard"});
    refusals.push_back({"per tensor", block_tensor(0x10, per_tensor, {32}, {}), unsupported, "this quantization"});
    refusals.push_back({"blocks of 16", block_tensor(0x10, of_16, {32}, halves), unsupported, "blocks of 32"});
    refusals.push_back({"another axis", block_tensor(0x10, affine(0x01, true, 0), {32, 2}, halves), unsupported,
                        "the last dimension"});
    refusals.push_back({"scale that is no float16", block_tensor(0x10, affine(0x03, true), {64}, le(0.5F) + le(0.1F)),
                        unsupported, "scale 1 is no float16"});
    refusals.push_back({"scale beyond float16", block_tensor(0x10, affine(0x03, true), {64}, le(1e6F) + le(1.0F)),
                        unsupported, "scale 0"});
    refusals.push_back(
        {"zero point", block_tensor(0x10, affine(0x01, false), {64}, halves, zeros), unsupported, "zero point 1 is 1"});
    refusals.push_back({"zero points of uint4", block_tensor(0x49, affine(0x01, false), {64}, halves, zeros),
                        unsupported, "zero point 0 is 0, but Q4_0 has 8"});
    refusals.push_back(
        {"uint4, symmetric", block_tensor(0x49, affine(0x01, true), {64}, halves), unsupported, "symmetric"});
    refusals.push_back({"scale 0", block_tensor(0x10, affine(0x01, true), {64}, le<std::uint32_t>(0x3C00)),
                        Status::invalid_quantization, "scale 1"});
    refusals.push_back(
        {"another private scheme", private_tensor("XXXX", {20}), unsupported, "this private quantization"});
    refusals.push_back({"payload of no type", private_tensor("GGUF" + u32(4) + u32(32) + u32(20), {20}), unsupported,
                        "this private quantization"});
    refusals.push_back({"payload of another block", private_tensor("GGUF" + u32(3) + u32(32) + u32(21), {20}),
                        unsupported, "this private quantization"});
    refusals.push_back({"rows that are no blocks", private_tensor("GGUF" + u32(3) + u32(32) + u32(20), {2, 30}),
                        unsupported, "Q4_1 blocks of 20"});
    refusals.push_back(
        {"blocks of int8", private_tensor("GGUF" + u32(3) + u32(32) + u32(20), {20}, 0x10), unsupported, "uint8"});
    for (const Refusal& refusal : refusals) {
        SCOPED_TRACE(refusal.what);
        Rewritten file;
        const auto added = file.writer().add("t", refusal.tensor);
        ASSERT_FALSE(added.has_value());
        EXPECT_EQ(added.error().code, refusal.code) << added.error().message;
        EXPECT_NE(std::string_view(added.error().message).find(refusal.fragment), std::string_view::npos)
            << added.error().message;
        // The writer goes on.
        EXPECT_TRUE(file.writer().add("t", make_tensor({.shape = {2}})).has_value());
        EXPECT_EQ(file.finish()->tensor_count(), 1U);
    }
}

TEST(GgufWriter, NamesAndKeys) {
    Rewritten file;
    auto& writer = file.writer();
    const Tensor tensor = make_tensor({.shape = {2}});
    const auto expect = [](const Result<void>& done, Status code) {
        ASSERT_FALSE(done.has_value());
        EXPECT_EQ(done.error().code, code) << done.error().message;
    };
    const std::string nul("a\0b", 3);
    for (const std::string& name :
         {std::string(), std::string("a"), nul, std::string("\xC3\xA9"), std::string(63, 'n')}) {
        EXPECT_TRUE(writer.add(name, tensor).has_value());
        expect(writer.add(name, tensor), Status::invalid_argument);
    }
    expect(writer.add(std::string(64, 'n'), tensor), Status::invalid_argument);
    expect(writer.add("\xFF", tensor), Status::invalid_argument);
    EXPECT_TRUE(writer.set_metadata(nul, text_value("value")).has_value());
    EXPECT_TRUE(writer.set_metadata(std::string(65535, 'k'), uint_value(1)).has_value());
    expect(writer.set_metadata("", uint_value(1)), Status::invalid_argument);
    expect(writer.set_metadata(std::string(65536, 'k'), uint_value(1)), Status::invalid_argument);
    expect(writer.set_metadata("k\xFF", uint_value(1)), Status::invalid_argument);
    expect(writer.set_metadata("k", text_value("\xFF")), Status::invalid_argument);
    const auto read = file.finish();
    EXPECT_EQ(read->tensor_count(), 5U);
    EXPECT_EQ(read->find(nul), 2U);
    EXPECT_EQ(read->metadata(read->find_metadata(nul).value()).value().value.text, "value");
}

TEST(GgufWriter, ValuesThatGgufCannotHold) {
    Rewritten file;
    auto& writer = file.writer();
    const auto code = [&](const MetadataValue& value) { return writer.set_metadata("k", value).error().code; };
    MetadataValue bytes;
    bytes.type = MetadataType::bytes;
    EXPECT_EQ(code(bytes), Status::unsupported);
    MetadataValue array;
    array.type = MetadataType::array;
    array.element_type = MetadataType::array;
    EXPECT_EQ(code(array), Status::unsupported);
    array.element_type = MetadataType::bytes;
    EXPECT_EQ(code(array), Status::unsupported);
    array.element_type = MetadataType::int64;
    array.elements = {uint_value(1)};
    EXPECT_EQ(code(array), Status::invalid_argument);
    array.element_type = MetadataType::string;
    array.elements = {text_value("\x80")};
    EXPECT_EQ(code(array), Status::invalid_argument);
    MetadataValue none;
    none.type = static_cast<MetadataType>(8);
    EXPECT_EQ(code(none), Status::invalid_argument);
    EXPECT_EQ(file.finish()->metadata_count(), 0U);
}

TEST(GgufWriter, TheLastValueOfAKeyCountsInItsFirstPlace) {
    Rewritten file;
    ASSERT_TRUE(file.writer().set_metadata("a", uint_value(1)).has_value());
    ASSERT_TRUE(file.writer().set_metadata("b", uint_value(2)).has_value());
    ASSERT_TRUE(file.writer().set_metadata("a", text_value("last")).has_value());
    const auto read = file.finish();
    ASSERT_EQ(read->metadata_count(), 2U);
    EXPECT_EQ(read->metadata(0).value().key, "a");
    EXPECT_EQ(read->metadata(0).value().value.text, "last");
}

TEST(GgufWriter, NotANumberKeepsItsBits) {
    for (const std::uint64_t bits : {0x7FF8000000000000ULL, 0x7FF0000000000001ULL, 0xFFF8000020000000ULL}) {
        MetadataValue value;
        value.type = MetadataType::float64;
        std::memcpy(&value.float64, &bits, 8);
        Rewritten file;
        ASSERT_TRUE(file.writer().set_metadata("k", value).has_value());
        const double read = file.finish()->metadata(0).value().value.float64;
        EXPECT_EQ(std::memcmp(&read, &bits, 8), 0) << std::hex << bits;
    }
}

TEST(GgufWriter, TheAlignmentOfTheDataAndWhoSaysIt) {
    const Tensor tensor = make_tensor({.shape = {3}});
    const auto write = [&](std::uint32_t option, std::optional<std::uint64_t> key) {
        Rewritten file(FileWriterOptions{.data_alignment = option});
        if (key) {
            EXPECT_TRUE(file.writer().set_metadata("general.alignment", uint_value(*key)).has_value());
        }
        EXPECT_TRUE(file.writer().add("a", tensor).has_value());
        EXPECT_TRUE(file.writer().add("b", tensor).has_value());
        const auto read = file.finish();
        EXPECT_EQ(read->tensor_info(0).value().file_offset % read->alignment(), 0U);
        EXPECT_EQ(read->tensor_info(1).value().file_offset - read->tensor_info(0).value().file_offset,
                  (12 + read->alignment() - 1) / read->alignment() * read->alignment());
        EXPECT_EQ(read->file_size() % read->alignment(), 0U);
        EXPECT_EQ(read->find_metadata("general.alignment").has_value(), key.has_value() || read->alignment() != 32);
        return read->alignment();
    };
    EXPECT_EQ(write(0, {}), 32U);
    EXPECT_EQ(write(8, {}), 8U);
    EXPECT_EQ(write(4096, {}), 4096U);
    EXPECT_EQ(write(0, 64), 64U);
    EXPECT_EQ(write(128, 64), 128U);
    EXPECT_EQ(write(32, 64), 32U);
    for (const std::uint32_t option : {1U, 4U, 48U, 1U << 25, 0xFFFFFFFFU}) {
        const auto refused = GgufWriter::create(std::make_unique<MemorySink>(), {.data_alignment = option});
        ASSERT_FALSE(refused.has_value()) << option;
        EXPECT_EQ(refused.error().code, Status::invalid_argument);
    }
    EXPECT_FALSE(GgufWriter::create(std::make_unique<MemorySink>(), {.compress = true}).has_value());
    EXPECT_FALSE(GgufWriter::create(std::make_unique<MemorySink>(), {.sorted_index = false}).has_value());
    Rewritten file;
    for (const std::uint64_t bad : {std::uint64_t{0}, std::uint64_t{48}, std::uint64_t{1} << 40}) {
        EXPECT_EQ(file.writer().set_metadata("general.alignment", uint_value(bad)).error().code,
                  Status::invalid_argument);
    }
    EXPECT_EQ(file.writer().set_metadata("general.alignment", text_value("32")).error().code, Status::invalid_argument);
}

TEST(GgufWriter, AnnouncedTensorsAreMadeWhenTheyAreWritten) {
    Rewritten file;
    int made = 0;
    const Tensor first = make_tensor({.shape = {3}, .seed = 5});
    ASSERT_TRUE(
        file.writer().add("a", first.descriptor, [&]() -> Result<Tensor> { return ++made, first; }).has_value());
    const Tensor blocks = block_tensor(0x10, affine(0x01, true), {64}, le<std::uint32_t>(0x3C003C00));
    ASSERT_TRUE(
        file.writer().add("b", blocks.descriptor, [&]() -> Result<Tensor> { return ++made, blocks; }).has_value());
    EXPECT_EQ(made, 0);
    const auto read = file.finish();
    EXPECT_EQ(made, 2);
    EXPECT_EQ(copy_of(element_bytes(read->tensor(0).value())), copy_of(element_bytes(first)));
    EXPECT_EQ(read->tensor_info(1).value().stored_type, "Q8_0");
}

TEST(GgufWriter, AnnouncedTensorsThatAreNotAsAnnouncedAreRefusedAndLeaveNoFile) {
    const Tensor announced = make_tensor({.shape = {3}});
    const Tensor bad_scale = block_tensor(0x10, affine(0x03, true), {64}, le(0.5F) + le(0.1F));
    const std::vector<std::pair<TensorSource, Status>> sources = {
        {[] { return Result<Tensor>(make_tensor({.shape = {4}})); }, Status::invalid_argument},
        {[] { return Result<Tensor>(fail(Status::io, 7, "no")); }, Status::io},
        {nullptr, Status::invalid_argument},
    };
    for (const auto& [source, code] : sources) {
        Rewritten file;
        const auto added = file.writer().add("t", announced.descriptor, source);
        const auto done = added ? file.writer().finish() : added;
        ASSERT_FALSE(done.has_value());
        EXPECT_EQ(done.error().code, code) << done.error().message;
        EXPECT_FALSE(std::filesystem::exists(file.path()));
    }
    Rewritten file;
    ASSERT_TRUE(file.writer().add("t", bad_scale.descriptor, [&] { return Result<Tensor>(bad_scale); }).has_value());
    EXPECT_EQ(file.writer().finish().error().code, Status::unsupported);
}

TEST(GgufWriter, TheTargetMayBeTheFileThatIsMapped) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.gguf", gguf_image_of({4}, 0, std::string("0123456789abcdef")));
    const auto file = open_gguf_file(path).value();
    auto writer = create_model_file(path, FileFormat::gguf).value();
    ASSERT_TRUE(writer->add("copy", file->tensor(0).value()).has_value());
    ASSERT_TRUE(writer->finish().has_value());
    EXPECT_EQ(bytes_text(element_bytes(file->tensor(0).value())), "0123456789abcdef");
    const auto again = open_gguf_file(path).value();
    EXPECT_EQ(again->tensor_info(0).value().name, "copy");
    EXPECT_EQ(bytes_text(element_bytes(again->tensor(0).value())), "0123456789abcdef");
    EXPECT_EQ(folder.names().size(), 1U);
}

TEST(GgufWriter, WithoutFinishTheOldFileStays) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.gguf", "old");
    {
        auto writer = create_model_file(path, FileFormat::gguf).value();
        ASSERT_TRUE(writer->add("t", make_tensor({.shape = {2}})).has_value());
    }
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(folder.names().size(), 1U);
}

TEST(GgufWriter, AfterFinishItIsOfNoMoreUse) {
    Rewritten file;
    EXPECT_EQ(file.finish()->tensor_count(), 0U);
    EXPECT_EQ(file.writer().add("t", make_tensor({.shape = {2}})).error().code, Status::invalid_argument);
    EXPECT_EQ(file.writer().set_metadata("k", uint_value(1)).error().code, Status::invalid_argument);
    EXPECT_EQ(file.writer().finish().error().code, Status::invalid_argument);
}

TEST(GgufWriter, BytesOfAPrefixAreNotWritten) {
    Tensor tensor = make_prefixed_tensor(32, "ABCDEFGH");
    const std::uint64_t shape[] = {8};
    DescriptorBuilder builder(0x10, layout_tag::row_major, shape);
    builder.set_byte_offset(32);
    ASSERT_TRUE(builder.add_buffer(tensor.buffers[0].handle).has_value());
    tensor.descriptor = builder.build().value();
    Rewritten file;
    ASSERT_TRUE(file.writer().add("t", tensor).has_value());
    EXPECT_EQ(bytes_text(element_bytes(file.finish()->tensor(0).value())), "ABCDEFGH");
    EXPECT_EQ(read_file(file.path()).find('\xEE'), std::string::npos);
    DescriptorBuilder inside(0x10, layout_tag::row_major, shape);
    inside.set_byte_offset(16);
    ASSERT_TRUE(inside.add_buffer(tensor.buffers[0].handle).has_value());
    tensor.descriptor = inside.build().value();
    Rewritten other;
    EXPECT_EQ(other.writer().add("t", tensor).error().code, Status::invalid_argument);
}

}  // namespace
}  // namespace hurray
