// Small composites for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "hurray.h"

namespace hurray_test {

/// The head of a partition of float32 [4] into `members` tensors.
inline HurrayDescriptor* partition_head(std::uint32_t members, std::uint8_t rule = HURRAY_COMPOSITION_PARTITION) {
    const std::uint64_t shape[] = {4};
    HurrayDescriptorBuilder* builder = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COMPOSITE, shape, 1, &builder, nullptr), HURRAY_OK);
    HurrayLayoutFields fields{};
    fields.struct_size = sizeof fields;
    fields.layout = HURRAY_LAYOUT_COMPOSITE;
    fields.composition_rule = rule;
    fields.member_count = members;
    EXPECT_EQ(hurray_descriptor_builder_set_layout_fields(builder, &fields, nullptr), HURRAY_OK);
    HurrayDescriptor* head = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_build(builder, &head, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_destroy(&builder), HURRAY_OK);
    return head;
}

/// float32 [2], elements `offset` and the one after it of a partition of [4], over 8 bytes of aligned memory.
inline HurrayTensor* partition_member(std::uint64_t offset, void* memory, HurrayReleaseCallback release = nullptr,
                                      void* context = nullptr) {
    const std::uint64_t shape[] = {2};
    const std::uint64_t parent[] = {4};
    const HurrayBufferHandleBytes handle{{8, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0}};
    HurrayDescriptorBuilder* builder = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, shape, 1, &builder, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_set_shard(builder, parent, &offset, 1, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_add_buffer(builder, &handle, nullptr), HURRAY_OK);
    HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_build(builder, &descriptor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_destroy(&builder), HURRAY_OK);
    HurrayBufferList* list = nullptr;
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_from_ptr(memory, 8, 64, HURRAY_DEVICE_CPU, release, context, &buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_tensor_new(descriptor, &list, &tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    return tensor;
}

/// A builder with the two members of a partition, over 128 bytes of aligned memory.
inline HurrayCompositeBuilder* partition_builder(unsigned char* memory, HurrayReleaseCallback release = nullptr,
                                                 void* context = nullptr) {
    HurrayDescriptor* head = partition_head(2);
    HurrayCompositeBuilder* builder = nullptr;
    EXPECT_EQ(hurray_composite_builder_new(head, &builder, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&head), HURRAY_OK);
    for (const std::uint64_t offset : {0, 2}) {
        HurrayTensor* member = partition_member(offset, memory + 32 * offset, release, context);
        EXPECT_EQ(hurray_composite_builder_add_tensor(builder, member, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_tensor_destroy(&member), HURRAY_OK);
    }
    return builder;
}

inline HurrayComposite* partition(unsigned char* memory, HurrayReleaseCallback release = nullptr, void* context = nullptr) {
    HurrayCompositeBuilder* builder = partition_builder(memory, release, context);
    HurrayComposite* composite = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_composite_builder_build(builder, &composite, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_composite_builder_destroy(&builder), HURRAY_OK);
    return composite;
}

}  // namespace hurray_test
