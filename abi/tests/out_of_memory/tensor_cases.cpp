// Tensors: see out_of_memory_test.cpp.
#include "abi/tests/out_of_memory/fixtures.hpp"

namespace {

using namespace hurray_test;

NEEDS_MEMORY(hurray_tensor_new) {
    Pair pair;
    Descriptor descriptor;
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    ASSERT_EQ(hurray_descriptor_decode(bytes.data(), bytes.size(), descriptor.out(), nullptr), HURRAY_OK);
    Tensor tensor;
    each_allocation_fails([&] { return subject(descriptor.handle, &pair.list, tensor.out(), &report); },
                          [&] {
                              EXPECT_EQ(tensor.handle, nullptr);
                              EXPECT_NE(pair.list, nullptr) << "ownership moves only on success";
                              EXPECT_EQ(pair.releases.calls, 0);
                          });
    EXPECT_EQ(pair.list, nullptr);
    tensor.end();
    EXPECT_EQ(pair.releases.calls, 1);
}
NEEDS_MEMORY(hurray_tensor_from_host) {
    AlignedBytes<64> memory;
    ReleaseCounter counter;
    const std::uint64_t shape[] = {2, 3};
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = HURRAY_TYPE_FLOAT32;
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    spec.rank = 2;
    spec.shape = shape;
    Queue queue;
    ASSERT_EQ(hurray_release_queue_new(queue.out(), nullptr), HURRAY_OK);
    Tensor tensor;
    each_allocation_fails(
        [&] { return subject(&spec, memory.bytes, 24, &ReleaseCounter::release, &counter, queue.handle, tensor.out(), &report); },
        [&] {
            EXPECT_EQ(tensor.handle, nullptr);
            EXPECT_EQ(counter.calls, 0);
        });
    tensor.end();
    EXPECT_EQ(counter.calls, 1);
}
NEEDS_MEMORY(hurray_tensor_import) {
    Imported first;
    // A second owner on top of the first: the joint owner needs memory, too.
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_export(first.tensor.handle, &list, &context, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    ReleaseCounter second;
    ASSERT_EQ(hurray_tensor_context_new(4, bytes.data(), bytes.size(), &second, &ReleaseCounter::release_owner, &context), HURRAY_OK);
    Tensor tensor;
    each_allocation_fails([&] { return subject(&list, &context, tensor.out(), &report); },
                          [&] {
                              EXPECT_EQ(tensor.handle, nullptr);
                              ASSERT_NE(list, nullptr) << "ownership moves only on success";
                              ASSERT_NE(context, nullptr);
                              EXPECT_EQ(first.releases() + second.calls, 0);
                          });
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(context, nullptr);
    first.tensor.end();
    EXPECT_EQ(first.releases() + second.calls, 0);
    tensor.end();
    EXPECT_EQ(first.pair.releases.calls, 1);
    EXPECT_EQ(first.pair.owner_releases.calls, 1);
    EXPECT_EQ(second.calls, 1);
}
NEEDS_MEMORY(hurray_tensor_import_options) {
    Imported first;
    // A second owner on top of the first: the joint owner needs memory, too.
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_export(first.tensor.handle, &list, &context, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
    const auto bytes = row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    ReleaseCounter second;
    ASSERT_EQ(hurray_tensor_context_new(4, bytes.data(), bytes.size(), &second, &ReleaseCounter::release_owner, &context), HURRAY_OK);
    Tensor tensor;
    each_allocation_fails([&] { return subject(&list, &context, nullptr, tensor.out(), &report); },
                          [&] {
                              EXPECT_EQ(tensor.handle, nullptr);
                              ASSERT_NE(list, nullptr) << "ownership moves only on success";
                              ASSERT_NE(context, nullptr);
                              EXPECT_EQ(first.releases() + second.calls, 0);
                          });
    EXPECT_EQ(list, nullptr);
    EXPECT_EQ(context, nullptr);
    first.tensor.end();
    EXPECT_EQ(first.releases() + second.calls, 0);
    tensor.end();
    EXPECT_EQ(first.pair.releases.calls, 1);
    EXPECT_EQ(first.pair.owner_releases.calls, 1);
    EXPECT_EQ(second.calls, 1);
}
NEEDS_MEMORY(hurray_tensor_export) {
    Imported imported;
    List list;
    Context context;
    each_allocation_fails([&] { return subject(imported.tensor.handle, list.out(), context.out(), &report); },
                          [&] {
                              EXPECT_EQ(list.handle, nullptr);
                              EXPECT_EQ(context.handle, nullptr);
                          });
    EXPECT_EQ(imported.releases(), 0);
}
NEEDS_MEMORY(hurray_tensor_share) {
    Imported imported;
    Tensor share;
    each_allocation_fails([&] { return subject(imported.tensor.handle, share.out(), &report); },
                          [&] { EXPECT_EQ(share.handle, nullptr); });
    EXPECT_EQ(imported.releases(), 0);
}
NEEDS_MEMORY(hurray_tensor_to_dlpack) {
    Imported imported;
    HurrayDlpackVersioned* managed = nullptr;
    each_allocation_fails([&] { return subject(imported.tensor.handle, 1, &managed, &report); },
                          [&] { EXPECT_EQ(managed, nullptr); });
    ASSERT_NE(managed, nullptr);
    managed->deleter(managed);
    EXPECT_EQ(imported.releases(), 0);
}
NEEDS_MEMORY(hurray_tensor_to_dlpack_unversioned) {
    Imported imported;
    HurrayDlpackUnversioned* managed = nullptr;
    each_allocation_fails([&] { return subject(imported.tensor.handle, &managed, &report); },
                          [&] { EXPECT_EQ(managed, nullptr); });
    ASSERT_NE(managed, nullptr);
    managed->deleter(managed);
    EXPECT_EQ(imported.releases(), 0);
}
NEEDS_MEMORY(hurray_tensor_from_dlpack) {
    Imported imported;
    HurrayDlpackVersioned* managed = nullptr;
    ASSERT_EQ(hurray_tensor_to_dlpack(imported.tensor.handle, 1, &managed, nullptr), HURRAY_OK);
    Tensor tensor;
    each_allocation_fails([&] { return subject(managed, nullptr, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
    tensor.end();
    EXPECT_EQ(imported.releases(), 0);
}
NEEDS_MEMORY(hurray_tensor_from_dlpack_unversioned) {
    Imported imported;
    HurrayDlpackUnversioned* managed = nullptr;
    ASSERT_EQ(hurray_tensor_to_dlpack_unversioned(imported.tensor.handle, &managed, nullptr), HURRAY_OK);
    Tensor tensor;
    each_allocation_fails([&] { return subject(managed, nullptr, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
    tensor.end();
    EXPECT_EQ(imported.releases(), 0);
}
NEEDS_NO_MEMORY(hurray_tensor_view, "the view was prepared when the tensor was made") {
    Imported imported;
    HurrayView view{};
    view.struct_size = sizeof view;
    EXPECT_EQ(without_memory([&] { return subject(imported.tensor.handle, &view, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_tensor_descriptor, "lends a handle that is there") {
    Imported imported;
    const HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(without_memory([&] { return subject(imported.tensor.handle, &descriptor, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_tensor_buffer, "lends a handle that is there") {
    Imported imported;
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(without_memory([&] { return subject(imported.tensor.handle, 0, &buffer, &report); }), HURRAY_OK);
    EXPECT_EQ(without_memory([&] { return subject(imported.tensor.handle, 1, &buffer, &report); }), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
}
NEEDS_NO_MEMORY(hurray_tensor_destroy, "ends and releases only") {
    Imported imported;
    EXPECT_EQ(without_memory([&] { return subject(&imported.tensor.handle); }), HURRAY_OK);
    EXPECT_EQ(imported.releases(), 2);
}
NEEDS_NO_MEMORY(hurray_tensor_destroy_deferred, "what waits are the releases themselves, linked into their queues") {
    Imported imported;
    EXPECT_EQ(without_memory([&] { return subject(&imported.tensor.handle, &report); }), HURRAY_OK);
    EXPECT_EQ(imported.releases(), 0);
    std::uint64_t released = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, UINT64_MAX, &released, nullptr), HURRAY_OK);
    EXPECT_EQ(imported.releases(), 2);
}
NEEDS_MEMORY(hurray_tensor_copy) {
    Imported imported;
    Tensor copy;
    std::uint64_t bytes = 0;
    each_allocation_fails([&] { return subject(imported.tensor.handle, 64, copy.out(), &bytes, &report); },
                          [&] {
                              EXPECT_EQ(copy.handle, nullptr);
                              EXPECT_EQ(bytes, 0u);
                          });
    EXPECT_EQ(bytes, 48u);
}

}  // namespace
