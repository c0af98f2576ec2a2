// Replays tests/golden/descriptors, which an encoder of its own made.
#include "core/hurray/tests/golden.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hurray {
namespace {

using nlohmann::json;
using test::Bytes;
using test::GoldenVector;

TEST(Golden, ThereAreAtLeast400ValidAnd400InvalidVectorsOfAllLayoutsAndSections) {
    EXPECT_GE(test::valid_vectors().size(), 400U);
    EXPECT_GE(test::invalid_vectors().size(), 400U);
    std::set<int> layouts;
    std::set<int> types;
    std::set<std::string> schemes;
    for (const GoldenVector& vector : test::valid_vectors()) {
        const json& fields = vector.entry.at("descriptor");
        layouts.insert(fields.at("layout_tag").get<int>());
        types.insert(fields.at("type_tag").get<int>());
        if (const json& quantization = fields.at("quantization"); !quantization.is_null()) {
            schemes.insert(quantization.at("scheme").get<std::string>());
        }
    }
    for (int tag = 0; tag < 256; ++tag) {
        const auto type = static_cast<std::uint8_t>(tag);
        const bool is_type = find_element_type(type) != nullptr || is_private_element_type(type);
        EXPECT_TRUE(!is_type || types.contains(tag)) << tag;
    }
    for (const int tag : {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x40, 0xF0}) {
        EXPECT_TRUE(layouts.contains(tag)) << tag;
    }
    for (const char* scheme : {"per_tensor_affine", "per_channel_affine", "per_block_affine", "nf4", "mxfp", "private"}) {
        EXPECT_TRUE(schemes.contains(scheme)) << scheme;
    }
}

TEST(Golden, ValidVectorsDecodeToTheirManifest) {
    for (const auto& [name, bytes, options, entry] : test::valid_vectors()) {
        const auto decoded = test::decode_exact(bytes, options);
        EXPECT_TRUE(decoded.has_value()) << name << ": " << decoded.error().message;
        if (!decoded) continue;
        EXPECT_EQ(test::described(*decoded, bytes.size()), entry.at("descriptor")) << name;
    }
}

TEST(Golden, ValidVectorsEncodeToTheSameBytes) {
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        const auto decoded = test::decode_exact(bytes, options);
        EXPECT_TRUE(decoded.has_value()) << name;
        if (!decoded) continue;
        EXPECT_EQ(test::encoded(*decoded), bytes) << name;
    }
}

TEST(Golden, VectorsThatNeedOptionsAreRefusedWithoutThem) {
    int refused = 0;
    for (const auto& [name, bytes, options, entry] : test::valid_vectors()) {
        if (!entry.contains("options")) continue;
        const auto decoded = test::decode_exact(bytes);
        ASSERT_FALSE(decoded.has_value()) << name;
        EXPECT_NE(decoded.error().offset, Error::no_offset) << name;
        ++refused;
    }
    EXPECT_GE(refused, 20);
}

TEST(Golden, TheBuilderMakesTheBytesOfTheOtherEncoder) {
    std::size_t compared = 0;
    for (const auto& [name, bytes, options, entry] : test::valid_descriptors()) {
        const json& expected = entry.contains("rebuilt") ? entry.at("rebuilt") : json(test::hex_of(bytes));
        if (expected.is_null()) continue;
        const auto descriptor = test::built(entry.at("descriptor"), options.private_tags);
        ++compared;
        if (expected.is_object()) {
            const json& error = expected.at("error");
            ASSERT_FALSE(descriptor.has_value()) << name << " was built";
            EXPECT_EQ(static_cast<int>(descriptor.error().code), error.at("code")) << name;
            EXPECT_EQ(descriptor.error().offset, error.at("offset")) << name;
            continue;
        }
        EXPECT_TRUE(descriptor.has_value()) << name << ": " << descriptor.error().message;
        if (!descriptor) continue;
        EXPECT_EQ(test::hex_of(test::encoded(*descriptor)), expected) << name;
    }
    EXPECT_GE(compared, 400U);
}

TEST(Golden, InvalidVectorsGiveTheirCodeAndOffset) {
    for (const auto& [name, bytes, options, entry] : test::invalid_vectors()) {
        const auto decoded = test::decode_exact(bytes, options);
        EXPECT_FALSE(decoded.has_value()) << name << " was accepted";
        if (decoded) continue;
        const json& error = entry.at("error");
        const std::string message = decoded.error().message;
        EXPECT_EQ(static_cast<int>(decoded.error().code), error.at("code")) << name << ": " << message;
        EXPECT_EQ(decoded.error().offset, error.at("offset")) << name << ": " << message;
        EXPECT_FALSE(message.empty()) << name;
        const std::string field = entry.value("field", "");
        EXPECT_NE(message.find(field), std::string::npos) << name << ": expected " << field << " in: " << message;
    }
}

TEST(Golden, PeekingIntoTheFixedHeaderGivesTheLength) {
    for (const auto& [name, bytes, options, entry] : test::valid_vectors()) {
        EXPECT_EQ(peek_length(std::span(bytes).first(fixed_header_size)).value(),
                  entry.at("descriptor").at("descriptor_length"));
    }
}

}  // namespace
}  // namespace hurray
