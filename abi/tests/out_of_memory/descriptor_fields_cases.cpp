// Descriptors: the fields of layouts and sections; see out_of_memory_test.cpp.
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

template <class Struct>
Struct sized() {
    Struct value{};
    value.struct_size = sizeof value;
    return value;
}

constexpr const char* fills = "fills the caller's struct";

/// A row-major builder of so many dimensions that a descriptor needs memory for them.
struct Building {
    Builder builder;
    explicit Building(std::uint8_t layout = HURRAY_LAYOUT_ROW_MAJOR, std::uint8_t type = HURRAY_TYPE_FLOAT32) {
        EXPECT_EQ(hurray_descriptor_builder_new(type, layout, many_dimensions().data(), 40, builder.out(), nullptr), HURRAY_OK);
    }
    HurrayDescriptorBuilder* handle() const { return builder.handle; }
};

/// Two levels of tiles over 40 dimensions.
HurrayTileLevel level_of(std::uint8_t inner) {
    auto level = sized<HurrayTileLevel>();
    level.rank = 40;
    level.tile_shape = many_dimensions().data();
    level.outer_layout = HURRAY_LAYOUT_ROW_MAJOR;
    level.inner_layout = inner;
    return level;
}

HurrayStatistics some_statistics() {
    auto statistics = sized<HurrayStatistics>();
    statistics.present = 1;
    statistics.computed_mask = HURRAY_STATISTICS_NNZ;
    statistics.nnz = 1;
    return statistics;
}

struct Decoded {
    Descriptor descriptor;
    Decoded() {
        Building building;
        const auto handle = handle_bytes();
        const auto statistics = some_statistics();
        EXPECT_EQ(hurray_descriptor_builder_add_buffer(building.handle(), &handle, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_builder_set_statistics(building.handle(), &statistics, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_builder_build(building.handle(), descriptor.out(), nullptr), HURRAY_OK);
    }
};

NEEDS_MEMORY(hurray_descriptor_decode_options) {
    const auto bytes = long_descriptor();
    auto options = sized<HurrayDecodeOptions>();
    options.flags = HURRAY_DECODE_PERMISSIVE;
    Descriptor descriptor;
    each_allocation_fails([&] { return subject(bytes.data(), bytes.size(), &options, descriptor.out(), &report); },
                          [&] { EXPECT_EQ(descriptor.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_descriptor_layout_fields, fills) {
    Decoded decoded;
    auto fields = sized<HurrayLayoutFields>();
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, &fields, &report); }), HURRAY_OK);
    EXPECT_EQ(fields.rank, 40u);
}
NEEDS_NO_MEMORY(hurray_descriptor_tile_level, fills) {
    Decoded decoded;
    auto level = sized<HurrayTileLevel>();
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, 0, &level, &report); }),
              HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_NO_MEMORY(hurray_descriptor_quantization, fills) {
    Decoded decoded;
    auto quantization = sized<HurrayQuantization>();
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, &quantization, &report); }), HURRAY_OK);
    EXPECT_EQ(quantization.present, 0);
}
NEEDS_NO_MEMORY(hurray_descriptor_statistics, fills) {
    Decoded decoded;
    auto statistics = sized<HurrayStatistics>();
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, &statistics, &report); }), HURRAY_OK);
    EXPECT_EQ(statistics.nnz, 1u);
}
NEEDS_NO_MEMORY(hurray_descriptor_extension_type, fills) {
    Decoded decoded;
    auto type = sized<HurrayExtensionType>();
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, &type, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_descriptor_composite_member, fills) {
    Decoded decoded;
    auto member = sized<HurrayCompositeMember>();
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, &member, &report); }), HURRAY_OK);
}

NEEDS_MEMORY(hurray_descriptor_builder_set_layout_fields) {
    Building building(HURRAY_LAYOUT_STRIDED);
    const std::vector<std::int64_t> strides(40, 1);
    auto fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_STRIDED;
    fields.rank = 40;
    fields.strides = strides.data();
    each_allocation_fails([&] { return subject(building.handle(), &fields, &report); });
}
NEEDS_MEMORY(hurray_descriptor_builder_add_tile_level) {
    Building building(HURRAY_LAYOUT_TILED);
    const auto outer = level_of(HURRAY_LAYOUT_TILED);
    const auto inner = level_of(HURRAY_LAYOUT_ROW_MAJOR);
    ASSERT_EQ(subject(building.handle(), &outer, nullptr), HURRAY_OK);
    each_allocation_fails([&] { return subject(building.handle(), &inner, &report); });
    // A level that failed to be added is not there: two levels make a descriptor, three would not.
    const auto handle = handle_bytes();
    ASSERT_EQ(hurray_descriptor_builder_add_buffer(building.handle(), &handle, nullptr), HURRAY_OK);
    Descriptor descriptor;
    EXPECT_EQ(hurray_descriptor_builder_build(building.handle(), descriptor.out(), nullptr), HURRAY_OK);
}
NEEDS_MEMORY(hurray_descriptor_builder_set_quantization) {
    Building building;
    const std::vector<std::uint8_t> data(1000, 7);
    auto quantization = sized<HurrayQuantization>();
    quantization.present = 1;
    quantization.scheme = 0xF0;
    quantization.private_data = data.data();
    quantization.private_length = data.size();
    each_allocation_fails([&] { return subject(building.handle(), &quantization, &report); });
}
NEEDS_MEMORY(hurray_descriptor_builder_set_statistics) {
    Building building;
    const auto statistics = some_statistics();
    each_allocation_fails([&] { return subject(building.handle(), &statistics, &report); });
}
NEEDS_NO_MEMORY(hurray_descriptor_builder_set_extension_type, "the fields have room in the builder") {
    Building building(HURRAY_LAYOUT_ROW_MAJOR, 0xF0);
    auto type = sized<HurrayExtensionType>();
    type.present = 1;
    type.bit_width = 8;
    type.packing_factor = 1;
    EXPECT_EQ(without_memory([&] { return subject(building.handle(), &type, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_descriptor_builder_set_composite_member, "the fields have room in the builder") {
    Building building;
    auto member = sized<HurrayCompositeMember>();
    member.present = 1;
    EXPECT_EQ(without_memory([&] { return subject(building.handle(), &member, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_descriptor_builder_allow_private_tags, "sets a flag") {
    Building building;
    EXPECT_EQ(without_memory([&] { return subject(building.handle(), &report); }), HURRAY_OK);
}

}  // namespace
