// Replays tests/golden/descriptors, which an encoder of its own made.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/hurray/layout/layout.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using nlohmann::json;
using test::Bytes;

const json& manifest() {
    static const json parsed = [] {
        const Bytes text = test::read_file(test::golden_folder / "manifest.json");
        const auto* begin = reinterpret_cast<const char*>(text.data());
        return json::parse(begin, begin + text.size());
    }();
    return parsed;
}

Bytes vector_of(const json& entry) {
    return test::read_file(test::golden_folder / entry.at("file").get<std::string>());
}

// The JSON object of a decoded descriptor, as design and manifest have it.
json described(const Descriptor& descriptor, std::size_t input_size) {
    json buffers = json::array();
    for (const BufferHandle& buffer : descriptor.buffers()) {
        buffers.push_back({{"byte_size", buffer.byte_size},
                           {"alignment", buffer.alignment},
                           {"device_tag", buffer.device_tag},
                           {"sync_mode", buffer.sync_mode},
                           {"memory_class", buffer.memory_class}});
    }
    json layout_fields = json::object();
    if (descriptor.layout() == layout_tag::strided) layout_fields["strides"] = descriptor.strides();
    json shard;
    if (descriptor.has_shard()) {
        shard = {{"parent_shape", descriptor.parent_shape()}, {"shard_offset", descriptor.shard_offset()}};
    }
    return {{"version_major", descriptor.version_major()},
            {"version_minor", descriptor.version_minor()},
            {"descriptor_length", descriptor.encoded_length()},
            {"trailing_bytes", input_size - descriptor.encoded_length()},
            {"flags", descriptor.flags()},
            {"type", find_element_type(descriptor.element_type())->name},
            {"type_tag", descriptor.element_type()},
            {"layout", find_layout(descriptor.layout())->name},
            {"layout_tag", descriptor.layout()},
            {"rank", descriptor.rank()},
            {"shape", descriptor.shape()},
            {"byte_offset", descriptor.byte_offset()},
            {"layout_fields", layout_fields},
            {"buffers", buffers},
            {"quantization", nullptr},
            {"shard", shard},
            {"statistics", nullptr},
            {"extension_type", nullptr},
            {"composite_member", nullptr}};
}

// The builder, told what the manifest says.
Result<Descriptor> built(const json& fields) {
    test::DescriptorSpec spec{.type = fields.at("type_tag"),
                              .layout = fields.at("layout_tag"),
                              .shape = fields.at("shape"),
                              .byte_offset = fields.at("byte_offset")};
    if (fields.at("layout_fields").contains("strides")) fields.at("layout_fields").at("strides").get_to(spec.strides);
    for (const json& buffer : fields.at("buffers")) {
        spec.buffers.push_back({.byte_size = buffer.at("byte_size"),
                                .alignment = buffer.at("alignment"),
                                .device_tag = buffer.at("device_tag"),
                                .sync_mode = buffer.at("sync_mode"),
                                .memory_class = buffer.at("memory_class")});
    }
    if (!fields.at("shard").is_null()) {
        spec.parent_shape = fields.at("shard").at("parent_shape").get<std::vector<std::uint64_t>>();
        spec.shard_offset = fields.at("shard").at("shard_offset").get<std::vector<std::uint64_t>>();
    }
    return build(spec);
}

TEST(Golden, ThereAreAtLeast80ValidAnd80InvalidVectors) {
    EXPECT_GE(manifest().at("valid").size(), 80U);
    EXPECT_GE(manifest().at("invalid").size(), 80U);
}

TEST(Golden, ValidVectorsDecodeToTheirManifest) {
    for (const json& entry : manifest().at("valid")) {
        const Bytes bytes = vector_of(entry);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value()) << entry.at("name") << ": " << decoded.error().message;
        EXPECT_EQ(described(*decoded, bytes.size()), entry.at("descriptor")) << entry.at("name");
    }
}

TEST(Golden, ValidVectorsEncodeToTheSameBytes) {
    for (const json& entry : manifest().at("valid")) {
        Bytes bytes = vector_of(entry);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value()) << entry.at("name");
        bytes.resize(decoded->encoded_length());
        EXPECT_EQ(test::encoded(*decoded), bytes) << entry.at("name");
    }
}

TEST(Golden, TheBuilderMakesTheBytesOfTheOtherEncoder) {
    int compared = 0;
    for (const json& entry : manifest().at("valid")) {
        // A writer emits version 1.0.
        if (entry.at("descriptor").at("version_minor") != 0) continue;
        Bytes bytes = vector_of(entry);
        bytes.resize(entry.at("descriptor").at("descriptor_length"));
        const auto descriptor = built(entry.at("descriptor"));
        ASSERT_TRUE(descriptor.has_value()) << entry.at("name") << ": " << descriptor.error().message;
        EXPECT_EQ(test::encoded(*descriptor), bytes) << entry.at("name");
        ++compared;
    }
    EXPECT_GE(compared, 80);
}

TEST(Golden, InvalidVectorsGiveTheirCodeAndOffset) {
    for (const json& entry : manifest().at("invalid")) {
        const Bytes bytes = vector_of(entry);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_FALSE(decoded.has_value()) << entry.at("name") << " was accepted";
        const json& error = entry.at("error");
        EXPECT_EQ(static_cast<int>(decoded.error().code), error.at("code"))
            << entry.at("name") << ": " << decoded.error().message;
        EXPECT_EQ(decoded.error().offset, error.at("offset")) << entry.at("name") << ": " << decoded.error().message;
        EXPECT_NE(decoded.error().message[0], '\0') << entry.at("name");
    }
}

TEST(Golden, PeekingIntoTheFixedHeaderGivesTheLength) {
    for (const json& entry : manifest().at("valid")) {
        const Bytes bytes = vector_of(entry);
        EXPECT_EQ(peek_length(std::span(bytes).first(fixed_header_size)).value(),
                  entry.at("descriptor").at("descriptor_length"));
    }
}

}  // namespace
}  // namespace hurray
