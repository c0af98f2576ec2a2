// A small block-paged tensor for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "hurray.h"

namespace hurray_test {

/// float32 [8, 1, 1] over 192 bytes of aligned memory: two sequences of 5 and 3 tokens in pages of 4, of which the pool has
/// 3, with elements that count up from 0. Sequence 0 has the pages 2 and 0, sequence 1 page 1.
inline HurrayTensor* two_sequences(unsigned char* memory) {
    for (int i = 0; i < 12; ++i) {
        const auto number = static_cast<float>(i);
        std::memcpy(memory + 4 * i, &number, sizeof number);
    }
    const std::uint32_t block_table[] = {2, 0, 1};
    const std::uint32_t seq_ptr[] = {0, 2, 3};
    std::memcpy(memory + 64, block_table, sizeof block_table);
    std::memcpy(memory + 128, seq_ptr, sizeof seq_ptr);

    const std::uint64_t shape[] = {8, 1, 1};
    HurrayDescriptorBuilder* builder = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_BLOCK_PAGED, shape, 3, &builder, nullptr), HURRAY_OK);
    HurrayLayoutFields fields{};
    fields.struct_size = sizeof fields;
    fields.layout = HURRAY_LAYOUT_BLOCK_PAGED;
    fields.page_size = 4;
    fields.num_pages = 3;
    fields.num_seqs = 2;
    fields.layer_index = HURRAY_NO_LAYER;
    fields.index_type = HURRAY_TABLE_UINT32;
    EXPECT_EQ(hurray_descriptor_builder_set_layout_fields(builder, &fields, nullptr), HURRAY_OK);
    HurrayBufferList* list = nullptr;
    EXPECT_EQ(hurray_buffer_list_new(3, &list), HURRAY_OK);
    for (int i = 0; i < 3; ++i) {
        const auto size = static_cast<std::uint8_t>(i == 0 ? 48 : 12);
        const HurrayBufferHandleBytes handle{{size, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0}};
        EXPECT_EQ(hurray_descriptor_builder_add_buffer(builder, &handle, nullptr), HURRAY_OK);
        HurrayBuffer* buffer = nullptr;
        EXPECT_EQ(hurray_buffer_from_ptr(memory + 64 * i, size, 64, HURRAY_DEVICE_CPU, nullptr, nullptr, &buffer), HURRAY_OK);
        EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    }
    HurrayDescriptor* descriptor = nullptr;
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_descriptor_builder_build(builder, &descriptor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_descriptor_builder_destroy(&builder), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_new(descriptor, &list, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    return tensor;
}

}  // namespace hurray_test
