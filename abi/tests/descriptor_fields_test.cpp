// The fields of layouts and sections through the C ABI: what is read can be built again, byte for byte, and structs that no
// reader would fill are refused. What the format demands of the fields is tested in core/hurray/tests.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::row_major_descriptor;
using Bytes = std::vector<std::uint8_t>;

template <class Struct>
Struct sized() {
    Struct value{};
    value.struct_size = sizeof value;
    return value;
}

class DescriptorFields : public hurray_test::BaseLineTest {
protected:
    void TearDown() override {
        for (HurrayDescriptor*& each : descriptors_) EXPECT_EQ(hurray_descriptor_destroy(&each), HURRAY_OK);
        for (HurrayDescriptorBuilder*& each : builders_) EXPECT_EQ(hurray_descriptor_builder_destroy(&each), HURRAY_OK);
        BaseLineTest::TearDown();
    }

    HurrayDescriptor* decoded(const Bytes& bytes, std::uint32_t flags = 0) {
        auto options = sized<HurrayDecodeOptions>();
        options.flags = flags;
        HurrayDescriptor* descriptor = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_descriptor_decode_options(bytes.data(), bytes.size(), &options, &descriptor, &error), HURRAY_OK)
            << error.message;
        if (descriptor != nullptr) descriptors_.push_back(descriptor);
        return descriptor;
    }

    HurrayDescriptorBuilder* builder(std::uint8_t type, std::uint8_t layout, const std::vector<std::uint64_t>& shape) {
        HurrayDescriptorBuilder* made = nullptr;
        EXPECT_EQ(hurray_descriptor_builder_new(type, layout, shape.data(), static_cast<std::uint32_t>(shape.size()), &made, nullptr),
                  HURRAY_OK);
        builders_.push_back(made);
        return made;
    }

    HurrayDescriptor* built(HurrayDescriptorBuilder* from) {
        HurrayDescriptor* descriptor = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_descriptor_builder_build(from, &descriptor, &error), HURRAY_OK) << error.message;
        if (descriptor != nullptr) descriptors_.push_back(descriptor);
        return descriptor;
    }

    static void add_buffer(HurrayDescriptorBuilder* to, std::uint64_t byte_size, std::uint8_t device = 0) {
        HurrayBufferHandleBytes handle{};
        for (int i = 0; i < 8; ++i) handle.bytes[i] = static_cast<std::uint8_t>(byte_size >> (8 * i));
        handle.bytes[8] = 64;
        handle.bytes[12] = device;
        EXPECT_EQ(hurray_descriptor_builder_add_buffer(to, &handle, nullptr), HURRAY_OK);
    }

    static HurrayDescriptorInfo info_of(const HurrayDescriptor* descriptor) {
        auto info = sized<HurrayDescriptorInfo>();
        EXPECT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
        return info;
    }

    static HurrayLayoutFields fields_of(const HurrayDescriptor* descriptor) {
        auto fields = sized<HurrayLayoutFields>();
        EXPECT_EQ(hurray_descriptor_layout_fields(descriptor, &fields, nullptr), HURRAY_OK);
        return fields;
    }

    static HurrayQuantization quantization_of(const HurrayDescriptor* descriptor) {
        auto quantization = sized<HurrayQuantization>();
        EXPECT_EQ(hurray_descriptor_quantization(descriptor, &quantization, nullptr), HURRAY_OK);
        return quantization;
    }

    static Bytes encoded(const HurrayDescriptor* descriptor) {
        Bytes bytes(info_of(descriptor).descriptor_length);
        std::uint64_t length = 0;
        EXPECT_EQ(hurray_descriptor_encode(descriptor, bytes.data(), bytes.size(), &length, nullptr), HURRAY_OK);
        EXPECT_EQ(length, bytes.size());
        return bytes;
    }

    /// Reads every field of a descriptor and gives each to a builder.
    HurrayDescriptor* copied(const HurrayDescriptor* source) {
        const HurrayDescriptorInfo info = info_of(source);
        const std::vector<std::uint64_t> shape(info.shape, info.shape + info.rank);
        HurrayDescriptorBuilder* to = builder(info.element_type, info.layout, shape);
        EXPECT_EQ(hurray_descriptor_builder_allow_private_tags(to, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_builder_set_byte_offset(to, info.byte_offset, nullptr), HURRAY_OK);
        const HurrayLayoutFields fields = fields_of(source);
        EXPECT_EQ(fields.layout, info.layout);
        EXPECT_EQ(fields.rank, info.rank);
        EXPECT_EQ(hurray_descriptor_builder_set_layout_fields(to, &fields, nullptr), HURRAY_OK);
        for (std::uint32_t i = 0; i < fields.tile_level_count; ++i) {
            auto level = sized<HurrayTileLevel>();
            EXPECT_EQ(hurray_descriptor_tile_level(source, i, &level, nullptr), HURRAY_OK);
            EXPECT_EQ(hurray_descriptor_builder_add_tile_level(to, &level, nullptr), HURRAY_OK);
        }
        for (std::uint32_t i = 0; i < info.buffer_count; ++i) {
            HurrayBufferHandleBytes handle{};
            EXPECT_EQ(hurray_descriptor_buffer(source, i, &handle, nullptr), HURRAY_OK);
            EXPECT_EQ(hurray_descriptor_builder_add_buffer(to, &handle, nullptr), HURRAY_OK);
        }
        const HurrayQuantization quantization = quantization_of(source);
        EXPECT_EQ(quantization.present, (info.flags & HURRAY_SECTION_QUANTIZATION) != 0 ? 1 : 0);
        if (quantization.present != 0) {
            EXPECT_EQ(hurray_descriptor_builder_set_quantization(to, &quantization, nullptr), HURRAY_OK);
        }
        if (info.parent_shape != nullptr) {
            EXPECT_EQ(hurray_descriptor_builder_set_shard(to, info.parent_shape, info.shard_offset, info.rank, nullptr), HURRAY_OK);
        }
        auto statistics = sized<HurrayStatistics>();
        EXPECT_EQ(hurray_descriptor_statistics(source, &statistics, nullptr), HURRAY_OK);
        EXPECT_EQ(statistics.present, (info.flags & HURRAY_SECTION_STATISTICS) != 0 ? 1 : 0);
        if (statistics.present != 0) {
            EXPECT_EQ(hurray_descriptor_builder_set_statistics(to, &statistics, nullptr), HURRAY_OK);
        }
        auto type = sized<HurrayExtensionType>();
        EXPECT_EQ(hurray_descriptor_extension_type(source, &type, nullptr), HURRAY_OK);
        EXPECT_EQ(type.present, (info.flags & HURRAY_SECTION_EXTENSION_TYPE) != 0 ? 1 : 0);
        if (type.present != 0) {
            EXPECT_EQ(hurray_descriptor_builder_set_extension_type(to, &type, nullptr), HURRAY_OK);
        }
        auto member = sized<HurrayCompositeMember>();
        EXPECT_EQ(hurray_descriptor_composite_member(source, &member, nullptr), HURRAY_OK);
        EXPECT_EQ(member.present, (info.flags & HURRAY_SECTION_COMPOSITE_MEMBER) != 0 ? 1 : 0);
        if (member.present != 0) {
            EXPECT_EQ(hurray_descriptor_builder_set_composite_member(to, &member, nullptr), HURRAY_OK);
        }
        return built(to);
    }

    static HurrayStatus set_fields(HurrayDescriptorBuilder* to, const HurrayLayoutFields& fields) {
        return hurray_descriptor_builder_set_layout_fields(to, &fields, nullptr);
    }

private:
    std::vector<HurrayDescriptor*> descriptors_;
    std::vector<HurrayDescriptorBuilder*> builders_;
};

// Every golden vector that a writer of 1.0 can make: its fields are read through the C ABI and make the same bytes again.
TEST_F(DescriptorFields, EveryFieldOfEveryGoldenVectorIsReadAndBuiltAgain) {
    int built_again = 0;
    std::array<int, 256> layouts{};
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden/descriptors/valid")) {
        SCOPED_TRACE(entry.path().filename().string());
        std::ifstream file(entry.path(), std::ios::binary);
        const Bytes bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        HurrayDescriptor* source = decoded(bytes, HURRAY_DECODE_PERMISSIVE | HURRAY_DECODE_PRIVATE_TAGS);
        ASSERT_NE(source, nullptr);
        const HurrayDescriptorInfo info = info_of(source);
        ASSERT_LE(info.descriptor_length, bytes.size());
        const Bytes own(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(info.descriptor_length));
        EXPECT_EQ(encoded(source), own);
        if (info.reading != 0 || info.version_minor != 0 || info.trailing != nullptr) continue;
        // What a reader takes and a writer does not make: tiles that are no multiple of those that they are made of, and
        // truth values other than 0 and 1 in statistics that were not computed.
        const std::string name = entry.path().stem().string();
        if (name == "tiled_misfit_is_read" || name == "statistics_nothing_computed") continue;
        HurrayDescriptor* copy = copied(source);
        ASSERT_NE(copy, nullptr);
        EXPECT_EQ(encoded(copy), own);
        ++built_again;
        ++layouts[info.layout];
    }
    EXPECT_GT(built_again, 150);
    for (const int layout : {HURRAY_LAYOUT_STRIDED, HURRAY_LAYOUT_TILED, HURRAY_LAYOUT_MORTON, HURRAY_LAYOUT_HILBERT}) {
        EXPECT_GT(layouts[static_cast<std::size_t>(layout)], 0) << layout;
    }
}

TEST_F(DescriptorFields, OfALayoutWithoutFieldsAreZero) {
    const auto fields = fields_of(decoded(row_major_descriptor(HURRAY_TYPE_FLOAT32, {4, 4}, 64)));
    auto expected = sized<HurrayLayoutFields>();
    expected.rank = 2;
    expected.layout = HURRAY_LAYOUT_ROW_MAJOR;
    EXPECT_EQ(std::memcmp(&fields, &expected, sizeof fields), 0);
}

TEST_F(DescriptorFields, AbsentSectionsAreNoErrorAndZero) {
    HurrayDescriptor* descriptor = decoded(row_major_descriptor(HURRAY_TYPE_FLOAT32, {4, 4}, 64));
    const auto check = [&](auto read, auto value) {
        using Struct = decltype(value);
        auto expected = sized<Struct>();
        std::memset(static_cast<void*>(&value), 0xA5, sizeof value);
        value.struct_size = sizeof value;
        EXPECT_EQ(read(descriptor, &value, nullptr), HURRAY_OK);
        EXPECT_EQ(std::memcmp(&value, &expected, sizeof value), 0);
    };
    check(&hurray_descriptor_quantization, HurrayQuantization{});
    check(&hurray_descriptor_statistics, HurrayStatistics{});
    check(&hurray_descriptor_extension_type, HurrayExtensionType{});
    check(&hurray_descriptor_composite_member, HurrayCompositeMember{});
}

TEST_F(DescriptorFields, TilesOfTilesAreToldLevelByLevel) {
    HurrayDescriptorBuilder* from = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_TILED, {8, 8});
    const std::uint64_t outer_tile[] = {4, 8};
    const std::uint64_t inner_tile[] = {2, 4};
    const std::int64_t strides[] = {1, 2};
    auto level = sized<HurrayTileLevel>();
    level.rank = 2;
    level.tile_shape = outer_tile;
    level.outer_layout = HURRAY_LAYOUT_STRIDED;
    level.outer_strides = strides;
    level.inner_layout = HURRAY_LAYOUT_TILED;
    ASSERT_EQ(hurray_descriptor_builder_add_tile_level(from, &level, nullptr), HURRAY_OK);
    level = sized<HurrayTileLevel>();
    level.rank = 2;
    level.tile_shape = inner_tile;
    level.outer_layout = HURRAY_LAYOUT_COL_MAJOR;
    level.inner_layout = HURRAY_LAYOUT_STRIDED;
    level.inner_strides = strides;
    ASSERT_EQ(hurray_descriptor_builder_add_tile_level(from, &level, nullptr), HURRAY_OK);
    add_buffer(from, 4 * 64);
    HurrayDescriptor* descriptor = built(from);
    ASSERT_NE(descriptor, nullptr);
    EXPECT_EQ(fields_of(descriptor).tile_level_count, 2U);
    auto told = sized<HurrayTileLevel>();
    ASSERT_EQ(hurray_descriptor_tile_level(descriptor, 0, &told, nullptr), HURRAY_OK);
    EXPECT_EQ(told.rank, 2U);
    EXPECT_TRUE(std::equal(outer_tile, outer_tile + 2, told.tile_shape));
    EXPECT_TRUE(std::equal(strides, strides + 2, told.outer_strides));
    EXPECT_EQ(told.inner_strides, nullptr);
    EXPECT_EQ(told.outer_layout, HURRAY_LAYOUT_STRIDED);
    EXPECT_EQ(told.inner_layout, HURRAY_LAYOUT_TILED);
    ASSERT_EQ(hurray_descriptor_tile_level(descriptor, 1, &told, nullptr), HURRAY_OK);
    EXPECT_TRUE(std::equal(inner_tile, inner_tile + 2, told.tile_shape));
    EXPECT_EQ(told.outer_strides, nullptr);
    EXPECT_TRUE(std::equal(strides, strides + 2, told.inner_strides));
    HurrayError error{};
    EXPECT_EQ(hurray_descriptor_tile_level(descriptor, 2, &told, &error), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    EXPECT_EQ(told.tile_shape, nullptr);
}

TEST_F(DescriptorFields, LevelsThatNobodyCouldReadAreRefused) {
    const std::uint64_t tile[] = {2, 2};
    auto level = sized<HurrayTileLevel>();
    level.rank = 2;
    level.tile_shape = tile;
    level.outer_layout = HURRAY_LAYOUT_ROW_MAJOR;
    level.inner_layout = HURRAY_LAYOUT_TILED;
    const auto add = [&](HurrayDescriptorBuilder* to, const HurrayTileLevel& with) {
        return hurray_descriptor_builder_add_tile_level(to, &with, nullptr);
    };
    EXPECT_EQ(add(builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, {4, 4}), level), HURRAY_ERR_INVALID_ARGUMENT);
    HurrayDescriptorBuilder* to = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_TILED, {4, 4});
    auto wrong = level;
    wrong.tile_shape = nullptr;
    EXPECT_EQ(add(to, wrong), HURRAY_ERR_NULL_POINTER);
    wrong = level;
    wrong.outer_layout = HURRAY_LAYOUT_STRIDED;
    EXPECT_EQ(add(to, wrong), HURRAY_ERR_NULL_POINTER);
    wrong = level;
    wrong.inner_layout = HURRAY_LAYOUT_STRIDED;
    EXPECT_EQ(add(to, wrong), HURRAY_ERR_NULL_POINTER);
    wrong = level;
    wrong.rank = HURRAY_MAX_RANK + 1;
    EXPECT_EQ(add(to, wrong), HURRAY_ERR_INVALID_ARGUMENT);
    wrong = level;
    wrong.reserved[5] = 1;
    EXPECT_EQ(add(to, wrong), HURRAY_ERR_INVALID_ARGUMENT);
    wrong = level;
    wrong.struct_size = 8;
    EXPECT_EQ(add(to, wrong), HURRAY_ERR_INVALID_ARGUMENT);
    for (std::uint32_t i = 0; i < HURRAY_MAX_TILE_LEVELS; ++i) EXPECT_EQ(add(to, level), HURRAY_OK);
    EXPECT_EQ(add(to, level), HURRAY_ERR_INVALID_LAYOUT);
}

TEST_F(DescriptorFields, LayoutFieldsThatNobodyCouldReadAreRefused) {
    auto fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_STRIDED;
    fields.rank = 2;
    HurrayDescriptorBuilder* strided = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_STRIDED, {4, 4});
    EXPECT_EQ(set_fields(strided, fields), HURRAY_ERR_NULL_POINTER) << "no strides";
    fields.layout = HURRAY_LAYOUT_MORTON;
    EXPECT_EQ(set_fields(strided, fields), HURRAY_ERR_INVALID_ARGUMENT) << "of another layout";
    HurrayDescriptorBuilder* morton = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_MORTON, {4, 4});
    EXPECT_EQ(set_fields(morton, fields), HURRAY_ERR_NULL_POINTER) << "no bits";
    const std::uint64_t too_many[] = {2, std::uint64_t{1} << 32};
    fields.morton_bits = too_many;
    HurrayError error{};
    EXPECT_EQ(hurray_descriptor_builder_set_layout_fields(morton, &fields, &error), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message).find("morton_bits[1]"), std::string::npos) << error.message;
    fields.rank = HURRAY_MAX_RANK + 1;
    EXPECT_EQ(set_fields(morton, fields), HURRAY_ERR_INVALID_ARGUMENT) << "rank";
    fields.rank = 1;
    EXPECT_EQ(set_fields(morton, fields), HURRAY_OK) << "build refuses it";
    add_buffer(morton, 64);
    HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_build(morton, &descriptor, nullptr), HURRAY_ERR_INVALID_LAYOUT);
    fields.reserved[1] = 1;
    EXPECT_EQ(set_fields(morton, fields), HURRAY_ERR_INVALID_ARGUMENT) << "reserved";
    auto coo = sized<HurrayLayoutFields>();
    coo.layout = HURRAY_LAYOUT_COO;
    coo.is_sorted = 2;
    EXPECT_EQ(set_fields(builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COO, {4, 4}), coo), HURRAY_ERR_INVALID_ARGUMENT);
}

// What was not set is what decode would say: nothing made.
TEST_F(DescriptorFields, TiledWithoutLevelsIsRefusedByBuild) {
    HurrayDescriptorBuilder* tiled = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_TILED, {4, 4});
    add_buffer(tiled, 64);
    HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_build(tiled, &descriptor, nullptr), HURRAY_ERR_INVALID_LAYOUT);
    EXPECT_EQ(descriptor, nullptr);
}

TEST_F(DescriptorFields, SparseCompositeAndHilbert) {
    HurrayDescriptorBuilder* coo = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COO, {5, 7});
    auto fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_COO;
    fields.nnz = 3;
    fields.is_sorted = 1;
    EXPECT_EQ(set_fields(coo, fields), HURRAY_OK);
    add_buffer(coo, 12);
    add_buffer(coo, 3 * 2 * 8);
    auto told = fields_of(built(coo));
    EXPECT_EQ(told.nnz, 3U);
    EXPECT_EQ(told.is_sorted, 1);

    HurrayDescriptorBuilder* csf = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_CSF, {2, 3, 4});
    const std::uint64_t order[] = {2, 0, 1};
    fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_CSF;
    fields.rank = 3;
    fields.mode_order = order;
    fields.nnz = 1;
    EXPECT_EQ(set_fields(csf, fields), HURRAY_OK);
    for (const std::uint64_t size : {4, 16, 8, 16, 8, 16, 8}) add_buffer(csf, size);
    HurrayDescriptor* fibers = built(csf);
    ASSERT_NE(fibers, nullptr);
    told = fields_of(fibers);
    EXPECT_EQ(told.nnz, 1U);
    EXPECT_TRUE(std::equal(order, order + 3, told.mode_order));

    HurrayDescriptorBuilder* head = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COMPOSITE, {4});
    fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_COMPOSITE;
    fields.composition_rule = HURRAY_COMPOSITION_OVERLAY;
    fields.combine_op = HURRAY_COMBINE_ADD;
    fields.member_count = 2;
    EXPECT_EQ(set_fields(head, fields), HURRAY_OK);
    told = fields_of(built(head));
    EXPECT_EQ(told.composition_rule, HURRAY_COMPOSITION_OVERLAY);
    EXPECT_EQ(told.combine_op, HURRAY_COMBINE_ADD);
    EXPECT_EQ(told.member_count, 2U);

    HurrayDescriptorBuilder* hilbert = builder(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_HILBERT, {4, 4});
    fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_HILBERT;
    fields.hilbert_order = 2;
    EXPECT_EQ(set_fields(hilbert, fields), HURRAY_OK);
    add_buffer(hilbert, 64);
    told = fields_of(built(hilbert));
    EXPECT_EQ(told.hilbert_order, 2U);
    EXPECT_EQ(told.hilbert_rank, 2U);
}

TEST_F(DescriptorFields, BlockPaged) {
    HurrayDescriptorBuilder* from = builder(HURRAY_TYPE_FLOAT16, HURRAY_LAYOUT_BLOCK_PAGED, {5, 2, 8});
    auto fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_BLOCK_PAGED;
    fields.page_size = 4;
    fields.num_pages = 3;
    fields.num_seqs = 1;
    fields.kv_role = HURRAY_KV_VALUE;
    fields.layer_index = 7;
    fields.index_type = HURRAY_TABLE_UINT64;
    EXPECT_EQ(set_fields(from, fields), HURRAY_OK);
    for (const std::uint64_t size : {3 * 4 * 2 * 8 * 2, 2 * 8, 2 * 8}) add_buffer(from, size);
    HurrayDescriptor* descriptor = built(from);
    ASSERT_NE(descriptor, nullptr);
    auto told = fields_of(descriptor);
    EXPECT_EQ(told.rank, 3U);
    told.rank = 0;
    EXPECT_EQ(std::memcmp(&told, &fields, sizeof fields), 0);
}

TEST_F(DescriptorFields, PrivateLayouts) {
    HurrayDescriptorBuilder* from = builder(HURRAY_TYPE_INT8, 0xF7, {4});
    const std::uint8_t data[] = {9, 0, 7};
    auto fields = sized<HurrayLayoutFields>();
    fields.layout = 0xF7;
    fields.private_id = 0x0123456789ABCDEF;
    fields.private_length = sizeof data;
    EXPECT_EQ(set_fields(from, fields), HURRAY_ERR_NULL_POINTER);
    fields.private_data = data;
    fields.private_length = (std::uint64_t{16} << 20) + 1;
    EXPECT_EQ(set_fields(from, fields), HURRAY_ERR_LIMIT_EXCEEDED);
    fields.private_length = sizeof data;
    EXPECT_EQ(set_fields(from, fields), HURRAY_OK);
    add_buffer(from, 4);
    HurrayDescriptor* refused = nullptr;
    EXPECT_NE(hurray_descriptor_builder_build(from, &refused, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_descriptor_builder_allow_private_tags(from, nullptr), HURRAY_OK);
    HurrayDescriptor* descriptor = built(from);
    ASSERT_NE(descriptor, nullptr);
    const auto told = fields_of(descriptor);
    EXPECT_EQ(told.private_id, 0x0123456789ABCDEFU);
    EXPECT_EQ(Bytes(told.private_data, told.private_data + told.private_length), Bytes({9, 0, 7}));
    EXPECT_EQ(info_of(decoded(encoded(descriptor), HURRAY_DECODE_PRIVATE_TAGS)).reading, 0U);
}

TEST_F(DescriptorFields, QuantizationOfAScheme) {
    HurrayDescriptorBuilder* from = builder(HURRAY_TYPE_INT8, HURRAY_LAYOUT_ROW_MAJOR, {4, 8});
    add_buffer(from, 32);
    add_buffer(from, 16);
    auto quantization = sized<HurrayQuantization>();
    quantization.present = 1;
    quantization.scheme = HURRAY_SCHEME_PER_CHANNEL_AFFINE;
    quantization.version = 1;
    quantization.flags = HURRAY_QUANTIZATION_SYMMETRIC;
    quantization.scale_type = HURRAY_TYPE_FLOAT32;
    quantization.axis = 0;
    quantization.scale_buffer = 1;
    quantization.zero_point_buffer = HURRAY_NO_BUFFER;
    quantization.scale = 7;  // not of this scheme
    ASSERT_EQ(hurray_descriptor_builder_set_quantization(from, &quantization, nullptr), HURRAY_OK);
    HurrayDescriptor* descriptor = built(from);
    ASSERT_NE(descriptor, nullptr);
    const HurrayQuantization told = quantization_of(descriptor);
    EXPECT_EQ(told.present, 1);
    EXPECT_EQ(told.scheme, HURRAY_SCHEME_PER_CHANNEL_AFFINE);
    EXPECT_EQ(told.version, 1);
    EXPECT_EQ(told.flags, HURRAY_QUANTIZATION_SYMMETRIC);
    EXPECT_EQ(told.scale_type, HURRAY_TYPE_FLOAT32);
    EXPECT_EQ(told.scale, 0);
    EXPECT_EQ(told.scale_buffer, 1U);
    EXPECT_EQ(told.zero_point_buffer, HURRAY_NO_BUFFER);
    EXPECT_EQ(told.private_data, nullptr);
    const Bytes payload = {2, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0};
    EXPECT_EQ(Bytes(told.payload, told.payload + told.payload_length), payload);
}

TEST_F(DescriptorFields, QuantizationThatNobodyCouldReadIsRefused) {
    HurrayDescriptorBuilder* to = builder(HURRAY_TYPE_INT8, HURRAY_LAYOUT_ROW_MAJOR, {4});
    auto quantization = sized<HurrayQuantization>();
    const auto set = [&] { return hurray_descriptor_builder_set_quantization(to, &quantization, nullptr); };
    quantization.scheme = 0xF0;
    EXPECT_EQ(set(), HURRAY_ERR_INVALID_ARGUMENT) << "not present";
    quantization.present = 1;
    quantization.private_length = 1;
    EXPECT_EQ(set(), HURRAY_ERR_NULL_POINTER);
    const std::uint8_t byte = 0;
    quantization.private_data = &byte;
    quantization.private_length = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(set(), HURRAY_ERR_LIMIT_EXCEEDED) << "nothing of it is read";
    quantization.private_length = 1;
    quantization.padding = std::numeric_limits<std::uint32_t>::max();
    EXPECT_EQ(set(), HURRAY_ERR_LIMIT_EXCEEDED);
    quantization.padding = 0;
    quantization.reserved = 1;
    EXPECT_EQ(set(), HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(DescriptorFields, SectionsThatAreNotPresentAreNotSet) {
    HurrayDescriptorBuilder* to = builder(HURRAY_TYPE_INT8, HURRAY_LAYOUT_ROW_MAJOR, {4});
    const auto statistics = sized<HurrayStatistics>();
    EXPECT_EQ(hurray_descriptor_builder_set_statistics(to, &statistics, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    const auto type = sized<HurrayExtensionType>();
    EXPECT_EQ(hurray_descriptor_builder_set_extension_type(to, &type, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    const auto member = sized<HurrayCompositeMember>();
    EXPECT_EQ(hurray_descriptor_builder_set_composite_member(to, &member, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    add_buffer(to, 4);
    EXPECT_EQ(encoded(built(to)), row_major_descriptor(HURRAY_TYPE_INT8, {4}, 4)) << "the builder is as it was";
}

TEST_F(DescriptorFields, TruthValuesOtherThan0And1AreRefused) {
    HurrayDescriptorBuilder* to = builder(0xF0, HURRAY_LAYOUT_ROW_MAJOR, {4});
    for (std::uint8_t HurrayStatistics::* field : {&HurrayStatistics::has_nan, &HurrayStatistics::has_inf}) {
        auto statistics = sized<HurrayStatistics>();
        statistics.present = 1;
        statistics.*field = 2;
        EXPECT_EQ(hurray_descriptor_builder_set_statistics(to, &statistics, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    }
    for (std::uint8_t HurrayExtensionType::* field :
         {&HurrayExtensionType::is_float, &HurrayExtensionType::is_signed, &HurrayExtensionType::has_nan,
          &HurrayExtensionType::has_inf}) {
        auto type = sized<HurrayExtensionType>();
        type.present = 1;
        type.bit_width = 8;
        type.packing_factor = 1;
        type.*field = 2;
        EXPECT_EQ(hurray_descriptor_builder_set_extension_type(to, &type, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    }
}

TEST_F(DescriptorFields, PrivateTagsAreRefusedUnlessAllowed) {
    HurrayDescriptorBuilder* from = builder(HURRAY_TYPE_INT8, HURRAY_LAYOUT_ROW_MAJOR, {4});
    const std::uint8_t data[] = {1, 2, 3};
    auto quantization = sized<HurrayQuantization>();
    quantization.present = 1;
    quantization.scheme = 0xF1;
    quantization.version = 9;
    quantization.private_data = data;
    quantization.private_length = sizeof data;
    ASSERT_EQ(hurray_descriptor_builder_set_quantization(from, &quantization, nullptr), HURRAY_OK);
    add_buffer(from, 4);
    HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_build(from, &descriptor, nullptr), HURRAY_ERR_INVALID_QUANTIZATION);
    HurrayBufferHandleBytes handle{{4, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0xF0, 0, 0, 0}};
    EXPECT_EQ(hurray_descriptor_builder_add_buffer(from, &handle, nullptr), HURRAY_ERR_INVALID_TYPE);
    ASSERT_EQ(hurray_descriptor_builder_allow_private_tags(from, nullptr), HURRAY_OK);
    descriptor = built(from);
    ASSERT_NE(descriptor, nullptr);
    const HurrayQuantization told = quantization_of(descriptor);
    EXPECT_EQ(told.version, 9);
    EXPECT_EQ(told.scale_type, 0);
    EXPECT_EQ(Bytes(told.private_data, told.private_data + told.private_length), Bytes({1, 2, 3}));
    EXPECT_EQ(Bytes(told.payload, told.payload + told.payload_length), Bytes({0xF1, 9, 0, 0, 1, 2, 3}));

    const Bytes bytes = encoded(descriptor);
    HurrayDescriptor* strict = nullptr;
    EXPECT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &strict, nullptr), HURRAY_ERR_INVALID_QUANTIZATION);
    EXPECT_EQ(strict, nullptr);
    EXPECT_EQ(info_of(decoded(bytes, HURRAY_DECODE_PRIVATE_TAGS)).reading, 0U);
    EXPECT_EQ(info_of(decoded(bytes, HURRAY_DECODE_PERMISSIVE)).reading, std::uint32_t{HURRAY_DESCRIPTOR_OPAQUE});
}

TEST_F(DescriptorFields, OfAnUnreadDescriptorOnlyTheTrailingBytesAreThere) {
    Bytes bytes = row_major_descriptor(HURRAY_TYPE_INT8, {4}, 4);
    bytes[15] = 0x33;
    HurrayDescriptor* refused = nullptr;
    EXPECT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &refused, nullptr), HURRAY_ERR_INVALID_LAYOUT);
    HurrayDescriptor* descriptor = decoded(bytes, HURRAY_DECODE_PERMISSIVE);
    ASSERT_NE(descriptor, nullptr);
    const HurrayDescriptorInfo info = info_of(descriptor);
    EXPECT_EQ(info.reading, std::uint32_t{HURRAY_DESCRIPTOR_OPAQUE | HURRAY_DESCRIPTOR_UNREAD});
    EXPECT_EQ(info.buffer_count, 0U);
    EXPECT_EQ(Bytes(info.trailing, info.trailing + info.trailing_length), Bytes(bytes.end() - 17, bytes.end()));
    const HurrayLayoutFields fields = fields_of(descriptor);
    EXPECT_EQ(fields.layout, 0x33);
    EXPECT_EQ(fields.rank, 1U);
    EXPECT_EQ(encoded(descriptor), bytes);
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(0, &list), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_tensor_new(descriptor, &list, &tensor, nullptr), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(hurray_buffer_list_destroy(&list), HURRAY_OK);
}

TEST_F(DescriptorFields, TrailingBytesOfAHigherMinorVersionAreTold) {
    Bytes bytes = row_major_descriptor(HURRAY_TYPE_INT8, {4}, 4);
    bytes[5] = 1;
    bytes.insert(bytes.end(), {9, 8, 7});
    bytes[6] = static_cast<std::uint8_t>(bytes.size());
    const HurrayDescriptorInfo info = info_of(decoded(bytes));
    EXPECT_EQ(info.version_minor, 1);
    EXPECT_EQ(info.reading, 0U);
    EXPECT_EQ(Bytes(info.trailing, info.trailing + info.trailing_length), Bytes({9, 8, 7}));
}

TEST_F(DescriptorFields, OptionsOfTheReader) {
    const Bytes bytes = row_major_descriptor(HURRAY_TYPE_INT8, {4}, 4);
    auto options = sized<HurrayDecodeOptions>();
    HurrayDescriptor* descriptor = nullptr;
    const auto decode = [&] { return hurray_descriptor_decode_options(bytes.data(), bytes.size(), &options, &descriptor, nullptr); };
    options.max_length = bytes.size() - 1;
    EXPECT_EQ(decode(), HURRAY_ERR_LIMIT_EXCEEDED);
    options.max_length = std::uint64_t{1} << 32;
    EXPECT_EQ(decode(), HURRAY_ERR_INVALID_ARGUMENT);
    options.max_length = 0;
    options.flags = 4;
    EXPECT_EQ(decode(), HURRAY_ERR_INVALID_ARGUMENT);
    options.flags = 0;
    options.struct_size = 12;
    EXPECT_EQ(decode(), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(descriptor, nullptr);
    EXPECT_EQ(hurray_descriptor_decode_options(bytes.data(), bytes.size(), nullptr, &descriptor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
}

// Programs that were compiled before the struct grew get what it was, and nothing behind.
TEST_F(DescriptorFields, ShorterInfoIsFilledUpToItsSize) {
    HurrayDescriptor* descriptor = decoded(row_major_descriptor(HURRAY_TYPE_INT8, {4}, 4));
    HurrayDescriptorInfo info;
    std::memset(static_cast<void*>(&info), 0xA5, sizeof info);
    info.struct_size = offsetof(HurrayDescriptorInfo, reading);
    EXPECT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.rank, 1U);
    EXPECT_EQ(info.reading, 0xA5A5A5A5U) << "behind the caller's struct";
}

}  // namespace
