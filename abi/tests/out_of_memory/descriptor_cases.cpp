// Descriptors: see out_of_memory_test.cpp.
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

NEEDS_MEMORY(hurray_descriptor_decode) {
    const auto bytes = long_descriptor();
    Descriptor descriptor;
    each_allocation_fails([&] { return subject(bytes.data(), bytes.size(), descriptor.out(), &report); },
                          [&] { EXPECT_EQ(descriptor.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_descriptor_peek_length, "reads a number") {
    const auto bytes = long_descriptor();
    std::uint64_t length = 0;
    EXPECT_EQ(without_memory([&] { return subject(bytes.data(), bytes.size(), &length, &report); }), HURRAY_OK);
    EXPECT_EQ(length, bytes.size());
}

struct Decoded {
    Descriptor descriptor;
    Decoded() {
        const auto bytes = long_descriptor();
        EXPECT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), descriptor.out(), nullptr), HURRAY_OK);
    }
};

NEEDS_NO_MEMORY(hurray_descriptor_info, "fills the caller's struct") {
    Decoded decoded;
    HurrayDescriptorInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, &info, &report); }), HURRAY_OK);
    EXPECT_EQ(info.rank, many_dimensions().size());
}
NEEDS_NO_MEMORY(hurray_descriptor_buffer, "fills the caller's struct") {
    Decoded decoded;
    HurrayBufferHandleBytes bytes{};
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, 0, &bytes, &report); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, 1, &bytes, &report); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_NO_MEMORY(hurray_descriptor_encode, "writes into the caller's memory") {
    Decoded decoded;
    std::vector<std::uint8_t> bytes(long_descriptor().size());
    std::uint64_t length = 0;
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, bytes.data(), bytes.size(), &length, &report); }), HURRAY_OK);
    EXPECT_EQ(bytes, long_descriptor());
    EXPECT_EQ(without_memory([&] { return subject(decoded.descriptor.handle, bytes.data(), 1, &length, &report); }),
              HURRAY_ERR_BUFFER_TOO_SMALL);
}
NEEDS_NO_MEMORY(hurray_descriptor_destroy, "ends only") {
    HurrayDescriptor* descriptor = nullptr;
    const auto bytes = long_descriptor();
    ASSERT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), &descriptor, nullptr), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(&descriptor); }), HURRAY_OK);
}

/// A strided builder of many dimensions: each setter has something to keep.
struct Building {
    Builder builder;
    explicit Building(std::uint8_t layout = HURRAY_LAYOUT_STRIDED) {
        EXPECT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, layout, many_dimensions().data(), 40, builder.out(), nullptr), HURRAY_OK);
    }
};

NEEDS_MEMORY(hurray_descriptor_builder_new) {
    Builder builder;
    each_allocation_fails(
        [&] { return subject(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, many_dimensions().data(), 40, builder.out(), &report); },
        [&] { EXPECT_EQ(builder.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_descriptor_builder_set_byte_offset, "sets a number") {
    Building building;
    EXPECT_EQ(without_memory([&] { return subject(building.builder.handle, 64, &report); }), HURRAY_OK);
}
NEEDS_MEMORY(hurray_descriptor_builder_set_strides) {
    Building building;
    const std::vector<std::int64_t> strides(40, 1);
    each_allocation_fails([&] { return subject(building.builder.handle, strides.data(), 40, &report); });
}
NEEDS_MEMORY(hurray_descriptor_builder_set_shard) {
    Building building;
    const std::vector<std::uint64_t> parent(40, 2);
    const std::vector<std::uint64_t> offset(40, 1);
    each_allocation_fails([&] { return subject(building.builder.handle, parent.data(), offset.data(), 40, &report); });
}
NEEDS_MEMORY(hurray_descriptor_builder_add_buffer) {
    Building building;
    const auto handle = handle_bytes();
    // Few buffers stand in the builder itself; whichever is the first that needs memory.
    for (int i = 0; i < 64 && failures_injected == 0; ++i) {
        arm(0);
        const HurrayStatus status = subject(building.builder.handle, &handle, &report);
        const long needed = disarm();
        ASSERT_EQ(status, needed == 0 ? HURRAY_OK : HURRAY_ERR_OUT_OF_MEMORY);
        if (needed != 0) each_allocation_fails([&] { return subject(building.builder.handle, &handle, &report); });
    }
}
NEEDS_MEMORY(hurray_descriptor_builder_build) {
    Building building(HURRAY_LAYOUT_ROW_MAJOR);
    const auto handle = handle_bytes();
    ASSERT_EQ(hurray_descriptor_builder_add_buffer(building.builder.handle, &handle, nullptr), HURRAY_OK);
    Descriptor descriptor;
    each_allocation_fails([&] { return subject(building.builder.handle, descriptor.out(), &report); },
                          [&] { EXPECT_EQ(descriptor.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_descriptor_builder_destroy, "ends only") {
    Building building;
    EXPECT_EQ(without_memory([&] { return subject(&building.builder.handle); }), HURRAY_OK);
}

}  // namespace
