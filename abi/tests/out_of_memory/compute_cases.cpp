// Work on elements; see out_of_memory_test.cpp.
#include "abi/tests/composites.hpp"
#include "abi/tests/out_of_memory/fixtures.hpp"
#include "abi/tests/paged.hpp"

namespace {

using namespace hurray_test;

HurrayQuantizeSpec quantize_spec() {
    HurrayQuantizeSpec spec{};
    spec.struct_size = sizeof spec;
    spec.scheme = HURRAY_SCHEME_PER_TENSOR_AFFINE;
    spec.storage_type = HURRAY_TYPE_INT8;
    return spec;
}

NEEDS_MEMORY(hurray_tensor_quantize) {
    Imported imported;
    const auto spec = quantize_spec();
    Tensor tensor;
    each_allocation_fails([&] { return subject(imported.tensor.handle, &spec, nullptr, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
}
NEEDS_MEMORY(hurray_tensor_dequantize) {
    Imported imported;
    const auto spec = quantize_spec();
    Tensor quantized;
    ASSERT_EQ(hurray_tensor_quantize(imported.tensor.handle, &spec, nullptr, quantized.out(), nullptr), HURRAY_OK);
    Tensor tensor;
    each_allocation_fails([&] { return subject(quantized.handle, HURRAY_TYPE_FLOAT32, nullptr, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
}
NEEDS_MEMORY(hurray_tensor_transcode) {
    Imported imported;
    HurrayTranscodeSpec spec{};
    spec.struct_size = sizeof spec;
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    Tensor tensor;
    each_allocation_fails([&] { return subject(imported.tensor.handle, &spec, nullptr, nullptr, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
    EXPECT_EQ(imported.releases(), 0);
}
NEEDS_MEMORY_TOO(hurray_tensor_transcode, _with_token_counts) {
    AlignedBytes<192> memory;
    Tensor paged;
    *paged.out() = two_sequences(memory.bytes);
    const std::uint64_t counts[] = {5, 3};
    HurrayTranscodeSpec spec{};
    spec.struct_size = sizeof spec;
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    spec.token_counts = counts;
    spec.token_counts_length = 2;
    Tensor tensor;
    each_allocation_fails([&] { return subject(paged.handle, &spec, nullptr, nullptr, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
}
NEEDS_MEMORY(hurray_tensor_validate) {
    Imported imported;
    each_allocation_fails([&] { return subject(imported.tensor.handle, HURRAY_VALIDATE_DATA, nullptr, &report); });
}

constexpr std::uint64_t an_index[] = {1, 2};

NEEDS_MEMORY(hurray_tensor_element_address) {
    Imported imported;
    HurrayElementAddress address{};
    address.struct_size = sizeof address;
    each_allocation_fails([&] { return subject(imported.tensor.handle, an_index, 2, &address, &report); });
}
NEEDS_MEMORY(hurray_tensor_element_float64) {
    Imported imported;
    double value = 0;
    each_allocation_fails([&] { return subject(imported.tensor.handle, an_index, 2, &value, &report); });
}
NEEDS_MEMORY(hurray_tensor_element_complex128) {
    Imported imported;
    double real = 0;
    double imaginary = 0;
    each_allocation_fails([&] { return subject(imported.tensor.handle, an_index, 2, &real, &imaginary, &report); });
}
NEEDS_MEMORY(hurray_tensor_element_bits) {
    Imported imported;
    HurrayElementBits bits{};
    bits.struct_size = sizeof bits;
    each_allocation_fails([&] { return subject(imported.tensor.handle, an_index, 2, &bits, &report); });
}
NEEDS_MEMORY(hurray_tensor_element_dequantized) {
    Imported imported;
    const auto spec = quantize_spec();
    Tensor quantized;
    ASSERT_EQ(hurray_tensor_quantize(imported.tensor.handle, &spec, nullptr, quantized.out(), nullptr), HURRAY_OK);
    double value = 0;
    each_allocation_fails([&] { return subject(quantized.handle, an_index, 2, &value, &report); });
}

using CompositeHandle = Scoped<HurrayComposite, hurray_composite_destroy>;
using CompositeBuilderHandle = Scoped<HurrayCompositeBuilder, hurray_composite_builder_destroy>;

struct Partition {
    AlignedBytes<128> memory;
    ReleaseCounter releases;
    CompositeHandle composite;
    Partition() { composite.handle = partition(memory.bytes, &ReleaseCounter::release, &releases); }
};

struct Started {
    AlignedBytes<128> memory;
    Descriptor head;
    CompositeBuilderHandle builder;
    Started() {
        head.handle = partition_head(2);
        EXPECT_EQ(hurray_composite_builder_new(head.handle, builder.out(), nullptr), HURRAY_OK);
    }
};

NEEDS_MEMORY(hurray_composite_builder_new) {
    Started started;
    CompositeBuilderHandle builder;
    each_allocation_fails([&] { return subject(started.head.handle, builder.out(), &report); },
                          [&] { EXPECT_EQ(builder.handle, nullptr); });
}
NEEDS_MEMORY(hurray_composite_builder_add_tensor) {
    Started started;
    ReleaseCounter releases;
    Tensor member;
    member.handle = partition_member(0, started.memory.bytes, &ReleaseCounter::release, &releases);
    each_allocation_fails([&] { return subject(started.builder.handle, member.handle, &report); });
    member.end();
    EXPECT_EQ(releases.calls, 0);
    // Added once: with the other member it is complete.
    member.handle = partition_member(2, started.memory.bytes + 64);
    ASSERT_EQ(subject(started.builder.handle, member.handle, nullptr), HURRAY_OK);
    CompositeHandle composite;
    EXPECT_EQ(hurray_composite_builder_build(started.builder.handle, composite.out(), nullptr), HURRAY_OK);
    composite.end();
    started.builder.end();
    EXPECT_EQ(releases.calls, 1);
}
NEEDS_MEMORY(hurray_composite_builder_add_composite) {
    Partition inner;
    Started started;
    each_allocation_fails([&] { return subject(started.builder.handle, inner.composite.handle, &report); });
    inner.composite.end();
    EXPECT_EQ(inner.releases.calls, 0);
    started.builder.end();
    EXPECT_EQ(inner.releases.calls, 2);
}
NEEDS_MEMORY(hurray_composite_builder_build) {
    AlignedBytes<128> memory;
    CompositeBuilderHandle builder;
    builder.handle = partition_builder(memory.bytes);
    CompositeHandle composite;
    each_allocation_fails([&] { return subject(builder.handle, composite.out(), &report); },
                          [&] { EXPECT_EQ(composite.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_composite_builder_destroy, "ends only") {
    AlignedBytes<128> memory;
    HurrayCompositeBuilder* builder = partition_builder(memory.bytes);
    EXPECT_EQ(without_memory([&] { return subject(&builder); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_composite_builder_destroy_deferred, "ends only") {
    AlignedBytes<128> memory;
    HurrayCompositeBuilder* builder = partition_builder(memory.bytes);
    EXPECT_EQ(without_memory([&] { return subject(&builder, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_composite_info, "fills the caller's struct") {
    Partition partition;
    HurrayCompositeInfo info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(without_memory([&] { return subject(partition.composite.handle, &info, &report); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_composite_head, "lends what is there") {
    Partition partition;
    const HurrayDescriptor* head = nullptr;
    EXPECT_EQ(without_memory([&] { return subject(partition.composite.handle, &head, &report); }), HURRAY_OK);
}
NEEDS_MEMORY(hurray_composite_member) {
    Partition partition;
    Tensor tensor;
    CompositeHandle composite;
    each_allocation_fails([&] { return subject(partition.composite.handle, 0, tensor.out(), composite.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_composite_member_at, "looks a number up") {
    Partition partition;
    const std::uint64_t index = 3;
    std::uint32_t member = 0;
    EXPECT_EQ(without_memory([&] { return subject(partition.composite.handle, &index, 1, &member, &report); }), HURRAY_OK);
}
NEEDS_MEMORY(hurray_composite_element_float64) {
    Partition partition;
    const std::uint64_t index = 3;
    double value = 0;
    each_allocation_fails([&] { return subject(partition.composite.handle, &index, 1, &value, &report); });
}
NEEDS_MEMORY(hurray_composite_element_complex128) {
    Partition partition;
    const std::uint64_t index = 3;
    double real = 0;
    double imaginary = 0;
    each_allocation_fails([&] { return subject(partition.composite.handle, &index, 1, &real, &imaginary, &report); });
}
NEEDS_MEMORY(hurray_composite_element_bits) {
    Partition partition;
    const std::uint64_t index = 3;
    HurrayElementBits bits{};
    bits.struct_size = sizeof bits;
    each_allocation_fails([&] { return subject(partition.composite.handle, &index, 1, &bits, &report); });
}
NEEDS_MEMORY(hurray_composite_merged) {
    Partition partition;
    Tensor tensor;
    each_allocation_fails([&] { return subject(partition.composite.handle, nullptr, tensor.out(), &report); },
                          [&] { EXPECT_EQ(tensor.handle, nullptr); });
}
NEEDS_NO_MEMORY(hurray_composite_destroy, "ends only") {
    AlignedBytes<128> memory;
    HurrayComposite* composite = partition(memory.bytes);
    EXPECT_EQ(without_memory([&] { return subject(&composite); }), HURRAY_OK);
}
NEEDS_NO_MEMORY(hurray_composite_destroy_deferred, "ends only") {
    AlignedBytes<128> memory;
    HurrayComposite* composite = partition(memory.bytes);
    EXPECT_EQ(without_memory([&] { return subject(&composite, &report); }), HURRAY_OK);
}

NEEDS_MEMORY(hurray_tensor_statistics) {
    Imported imported;
    HurrayStatistics statistics{};
    statistics.struct_size = sizeof statistics;
    each_allocation_fails([&] { return subject(imported.tensor.handle, HURRAY_STATISTICS_NNZ, nullptr, &statistics, &report); });
}
NEEDS_MEMORY(hurray_writer_write_composite) {
    Partition partition;
    Writer writer;
    ASSERT_EQ(hurray_writer_to_memory(writer.out(), nullptr), HURRAY_OK);
    // A write that failed half-way leaves a torn stream behind, so that each attempt needs a writer of its own.
    each_allocation_fails([&] { return subject(writer.handle, partition.composite.handle, &report); }, nothing, [&] {
        writer.end();
        ASSERT_EQ(hurray_writer_to_memory(writer.out(), nullptr), HURRAY_OK);
    });
}
NEEDS_MEMORY(hurray_reader_next_item) {
    Partition partition;
    Writer writer;
    ASSERT_EQ(hurray_writer_to_memory(writer.out(), nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_writer_write_composite(writer.handle, partition.composite.handle, nullptr), HURRAY_OK);
    Buffer written;
    ASSERT_EQ(hurray_writer_take(writer.handle, written.out(), nullptr), HURRAY_OK);
    HurrayBufferInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_buffer_info(written.handle, &info, nullptr), HURRAY_OK);
    Reader reader;
    Tensor tensor;
    CompositeHandle composite;
    each_allocation_fails([&] { return subject(reader.handle, tensor.out(), composite.out(), &report); },
                          [&] {
                              EXPECT_EQ(composite.handle, nullptr);
                              EXPECT_NE(subject(reader.handle, tensor.out(), composite.out(), nullptr), HURRAY_OK)
                                  << "nothing stands in the place of what was lost";
                          },
                          [&] {
                              reader.end();
                              ASSERT_EQ(hurray_reader_from_memory(info.data, info.byte_size, nullptr, reader.out(), nullptr), HURRAY_OK);
                          });
}

}  // namespace
