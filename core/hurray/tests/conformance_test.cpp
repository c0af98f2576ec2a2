// Descriptors that another implementation published with the format.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using nlohmann::json;
using test::Bytes;

class PublishedVectors : public testing::Test {
  protected:
    void SetUp() override {
        const auto shared = test::shared_folder();
        if (!shared) GTEST_SKIP() << "the shared data is not here (HURRAY_SHARED)";
        folder_ = *shared / "conformance";
        const Bytes text = test::read_file(folder_ / "manifest.json");
        const auto* begin = reinterpret_cast<const char*>(text.data());
        manifest_ = json::parse(begin, begin + text.size());
    }

    std::filesystem::path folder_;
    json manifest_;
};

TEST_F(PublishedVectors, DecodeToTheirManifestAndEncodeToTheSameBytes) {
    int replayed = 0;
    for (const json& entry : manifest_.at("descriptors")) {
        const std::string file = entry.at("file");
        const Bytes bytes = test::read_file(folder_ / file);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value()) << file << ": " << decoded.error().message;
        const json& expected = entry.at("expect");
        EXPECT_EQ(decoded->version_major(), expected.at("version_major")) << file;
        EXPECT_EQ(decoded->version_minor(), expected.at("version_minor")) << file;
        EXPECT_EQ(decoded->element_type(), expected.at("element_type_tag")) << file;
        EXPECT_EQ(find_element_type(decoded->element_type())->name, expected.at("element_type").get<std::string>())
            << file;
        EXPECT_EQ(json(decoded->shape()), expected.at("shape")) << file;
        EXPECT_EQ(decoded->byte_offset(), expected.at("byte_offset")) << file;
        EXPECT_EQ(decoded->layout(), expected.at("layout_tag")) << file;
        json sizes = json::array();
        for (const BufferHandle& buffer : decoded->buffers()) sizes.push_back(buffer.byte_size);
        EXPECT_EQ(sizes, expected.at("buffer_byte_sizes")) << file;
        EXPECT_EQ(decoded->has_shard(), expected.at("has_shard")) << file;
        EXPECT_EQ((decoded->flags() & descriptor_flag::quantization) != 0, expected.at("has_quantization")) << file;
        EXPECT_EQ(test::encoded(*decoded), bytes) << file;
        ++replayed;
    }
    EXPECT_GE(replayed, 11);
}

}  // namespace
}  // namespace hurray
