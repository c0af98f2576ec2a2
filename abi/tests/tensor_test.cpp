// Tensors, views, and the exchange as list and context. (design: Views, Alignment; seed: Tensor Context)
#include <limits>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::Pair;
using hurray_test::ReleaseCounter;

HurrayDenseSpec spec_of(std::uint8_t type, const std::vector<std::uint64_t>& shape,
                        std::uint8_t layout = HURRAY_LAYOUT_ROW_MAJOR) {
    HurrayDenseSpec spec{};
    spec.struct_size = sizeof spec;
    spec.element_type = type;
    spec.layout = layout;
    spec.rank = static_cast<std::uint32_t>(shape.size());
    spec.shape = shape.data();
    return spec;
}

HurrayView view_of(const HurrayTensor* tensor) {
    HurrayView view{};
    view.struct_size = sizeof view;
    HurrayError error{};
    EXPECT_EQ(hurray_tensor_view(tensor, &view, &error), HURRAY_OK) << error.message;
    return view;
}

class TensorFromHost : public hurray_test::BaseLineTest {};

TEST_F(TensorFromHost, ViewsTheCallersMemoryWithoutCopying) {
    AlignedBytes<192> memory;
    const std::vector<std::uint64_t> shape{3, 4};
    for (std::uint32_t start = 0; start < 66; start += 1) {
        ReleaseCounter counter;
        const HurrayDenseSpec spec = spec_of(HURRAY_TYPE_FLOAT32, shape);
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes + start, 48, &ReleaseCounter::release, &counter, nullptr, &tensor,
                                          &error),
                  HURRAY_OK)
            << error.message;
        const HurrayView view = view_of(tensor);
        EXPECT_EQ(view.data, memory.bytes + start);
        EXPECT_EQ(view.byte_size, 48u);
        EXPECT_EQ(view.bytes_below, 0u);
        EXPECT_EQ(view.element_count, 12u);
        EXPECT_EQ(view.rank, 2);
        EXPECT_EQ(view.bits, 32u);
        EXPECT_EQ(view.flags, 0u + HURRAY_VIEW_CONTIGUOUS);
        EXPECT_EQ(view.shape[0], 3);
        EXPECT_EQ(view.shape[1], 4);
        EXPECT_EQ(view.strides, nullptr);
        const HurrayDescriptor* descriptor = nullptr;
        ASSERT_EQ(hurray_tensor_descriptor(tensor, &descriptor, nullptr), HURRAY_OK);
        HurrayDescriptorInfo info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
        EXPECT_EQ(info.byte_offset, start % 64) << "the difference to the rounded base is the byte_offset";
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        EXPECT_EQ(tensor, nullptr);
        EXPECT_EQ(counter.calls, 1);
        EXPECT_EQ(counter.last_data, memory.bytes + start);
    }
}

TEST_F(TensorFromHost, ScalarEmptyPackedColumnMajorAndStrided) {
    AlignedBytes<64> memory;
    {
        const HurrayDenseSpec spec = spec_of(HURRAY_TYPE_FLOAT64, {});
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes, 8, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
        const HurrayView view = view_of(tensor);
        EXPECT_EQ(view.rank, 0);
        EXPECT_EQ(view.element_count, 1u);
        EXPECT_EQ(view.shape, nullptr);
        EXPECT_EQ(view.byte_size, 8u);
        hurray_tensor_destroy(&tensor);
    }
    {
        const std::vector<std::uint64_t> shape{0, 5};
        const HurrayDenseSpec spec = spec_of(HURRAY_TYPE_INT16, shape);
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_from_host(&spec, nullptr, 0, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
        const HurrayView view = view_of(tensor);
        EXPECT_EQ(view.element_count, 0u);
        EXPECT_EQ(view.byte_size, 0u);
        hurray_tensor_destroy(&tensor);
    }
    {
        const std::vector<std::uint64_t> shape{11};
        const HurrayDenseSpec spec = spec_of(HURRAY_TYPE_BOOL, shape);
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes, 2, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
        const HurrayView view = view_of(tensor);
        EXPECT_EQ(view.bits, 1u);
        EXPECT_EQ(view.byte_size, 2u);
        EXPECT_EQ(view.flags, 0u + (HURRAY_VIEW_CONTIGUOUS | HURRAY_VIEW_PACKED));
        hurray_tensor_destroy(&tensor);
    }
    {
        const std::vector<std::uint64_t> shape{2, 3};
        const HurrayDenseSpec spec = spec_of(HURRAY_TYPE_UINT8, shape, HURRAY_LAYOUT_COL_MAJOR);
        HurrayTensor* tensor = nullptr;
        ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes, 6, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
        const HurrayView view = view_of(tensor);
        ASSERT_NE(view.strides, nullptr);
        EXPECT_EQ(view.strides[0], 1);
        EXPECT_EQ(view.strides[1], 2);
        hurray_tensor_destroy(&tensor);
    }
    {
        // Element (0,0) is the last one in memory; the second dimension is broadcast.
        const std::vector<std::uint64_t> shape{4, 3};
        const std::int64_t strides[] = {-1, 0};
        HurrayDenseSpec spec = spec_of(HURRAY_TYPE_INT32, shape, HURRAY_LAYOUT_STRIDED);
        spec.strides = strides;
        spec.byte_offset = 12;
        spec.read_only = 1;
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes, 16, nullptr, nullptr, nullptr, &tensor, &error), HURRAY_OK)
            << error.message;
        const HurrayView view = view_of(tensor);
        EXPECT_EQ(view.data, memory.bytes + 12);
        EXPECT_EQ(view.byte_size, 16u);
        EXPECT_EQ(view.bytes_below, 12u);
        EXPECT_EQ(view.strides[0], -1);
        EXPECT_EQ(view.strides[1], 0);
        EXPECT_EQ(view.flags, 0u + HURRAY_VIEW_READ_ONLY);
        hurray_tensor_destroy(&tensor);
    }
}

TEST_F(TensorFromHost, RefusalsMoveNoOwnership) {
    AlignedBytes<64> memory;
    const std::vector<std::uint64_t> shape{4, 4};
    const std::vector<std::uint64_t> wrapping{std::uint64_t{1} << 33, std::uint64_t{1} << 33};
    const std::int64_t strides[] = {4, 1};
    struct Case {
        const char* what;
        HurrayDenseSpec spec;
        std::uint64_t size;
        HurrayStatus expected;
    };
    std::vector<Case> cases;
    const HurrayDenseSpec good = spec_of(HURRAY_TYPE_FLOAT32, shape);
    const auto add = [&](const char* what, HurrayStatus expected, std::uint64_t size, auto change) {
        HurrayDenseSpec spec = good;
        change(spec);
        cases.push_back({what, spec, size, expected});
    };
    add("memory too small", HURRAY_ERR_INVALID_LAYOUT, 63, [](HurrayDenseSpec&) {});
    add("type 0", HURRAY_ERR_INVALID_TYPE, 64, [](HurrayDenseSpec& s) { s.element_type = 0; });
    add("layout 0", HURRAY_ERR_INVALID_LAYOUT, 64, [](HurrayDenseSpec& s) { s.layout = 0; });
    add("strides without strided layout", HURRAY_ERR_INVALID_ARGUMENT, 64, [&](HurrayDenseSpec& s) { s.strides = strides; });
    add("strided layout without strides", HURRAY_ERR_NULL_POINTER, 64,
        [](HurrayDenseSpec& s) { s.layout = HURRAY_LAYOUT_STRIDED; });
    add("rank above the limit", HURRAY_ERR_INVALID_ARGUMENT, 64, [](HurrayDenseSpec& s) { s.rank = 65; });
    add("shape missing", HURRAY_ERR_NULL_POINTER, 64, [](HurrayDenseSpec& s) { s.shape = nullptr; });
    add("shape product wraps", HURRAY_ERR_INVALID_LAYOUT, 64, [&](HurrayDenseSpec& s) { s.shape = wrapping.data(); });
    add("byte_offset beyond", HURRAY_ERR_INVALID_LAYOUT, 64, [](HurrayDenseSpec& s) { s.byte_offset = 4; });
    add("byte_offset wraps", HURRAY_ERR_INVALID_LAYOUT, 64, [](HurrayDenseSpec& s) { s.byte_offset = UINT64_MAX; });
    add("read_only 2", HURRAY_ERR_INVALID_ARGUMENT, 64, [](HurrayDenseSpec& s) { s.read_only = 2; });
    add("reserved set", HURRAY_ERR_INVALID_ARGUMENT, 64, [](HurrayDenseSpec& s) { s.reserved = 1; });
    add("struct too small", HURRAY_ERR_INVALID_ARGUMENT, 64, [](HurrayDenseSpec& s) { s.struct_size = 8; });
    for (const Case& c : cases) {
        ReleaseCounter counter;
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_tensor_from_host(&c.spec, memory.bytes, c.size, &ReleaseCounter::release, &counter, nullptr, &tensor,
                                          &error),
                  c.expected)
            << c.what << ": " << error.message;
        EXPECT_EQ(error.code, c.expected) << c.what;
        EXPECT_STRNE(error.message, "") << c.what;
        EXPECT_EQ(tensor, nullptr) << c.what;
        EXPECT_EQ(counter.calls, 0) << c.what;
    }
}

// Negative strides lead below the first element: into the bytes before the caller's memory, where it is not aligned.
TEST_F(TensorFromHost, RefusesElementsInBytesOfSomebodyElse) {
    AlignedBytes<192> memory;
    const std::vector<std::uint64_t> shape{3};
    const std::int64_t strides[] = {-1};
    HurrayDenseSpec spec = spec_of(HURRAY_TYPE_FLOAT32, shape);
    spec.layout = HURRAY_LAYOUT_STRIDED;
    spec.strides = strides;
    for (const std::uint64_t first : {0u, 4u, 8u}) {
        spec.byte_offset = first;
        ReleaseCounter counter;
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        const HurrayStatus status = hurray_tensor_from_host(&spec, memory.bytes + 48, 12, &ReleaseCounter::release, &counter,
                                                            nullptr, &tensor, &error);
        EXPECT_EQ(status, first == 8 ? HURRAY_OK : HURRAY_ERR_INVALID_LAYOUT) << first << ": " << error.message;
        EXPECT_EQ(tensor != nullptr, first == 8);
        EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        EXPECT_EQ(counter.calls, first == 8 ? 1 : 0);
    }
}

class TensorImport : public hurray_test::BaseLineTest {};

TEST_F(TensorImport, TakesThePairOverAndReleasesEachOnce) {
    Pair pair;
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(pair.list, nullptr);
    EXPECT_EQ(pair.context, nullptr);
    EXPECT_EQ(view_of(tensor).data, pair.memory.bytes);
    EXPECT_EQ(pair.releases.calls, 0);
    EXPECT_EQ(pair.owner_releases.calls, 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(pair.releases.calls, 1);
    EXPECT_EQ(pair.owner_releases.calls, 1);
}

TEST_F(TensorImport, OwnerLivesAsLongAsAnyShareOfTheMemory) {
    Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
    HurrayTensor* share = nullptr;
    ASSERT_EQ(hurray_tensor_share(tensor, &share, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&share), HURRAY_OK);
    EXPECT_EQ(pair.owner_releases.calls, 0);
    // The next runtime takes the pair over and exports it again.
    HurrayTensor* second = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_tensor_import(&list, &context, &second, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(view_of(second).data, pair.memory.bytes);
    EXPECT_EQ(pair.owner_releases.calls, 0);
    EXPECT_EQ(hurray_tensor_destroy(&second), HURRAY_OK);
    EXPECT_EQ(pair.owner_releases.calls, 1);
    EXPECT_EQ(pair.releases.calls, 1);
}

// The relay's shape: a second owner comes on top of a buffer that has one already; both live until the end.
TEST_F(TensorImport, OwnersOfSeveralContextsAreAllKept) {
    Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    HurrayBufferList* list = nullptr;
    HurrayTensorContext* plain = nullptr;
    ASSERT_EQ(hurray_tensor_export(tensor, &list, &plain, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    const std::uint8_t* bytes = nullptr;
    std::uint64_t length = 0;
    ASSERT_EQ(hurray_tensor_context_descriptor(plain, &bytes, &length), HURRAY_OK);
    ReleaseCounter second_owner;
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(4, bytes, length, &second_owner, &ReleaseCounter::release_owner, &context), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_context_destroy(&plain), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_import(&list, &context, &tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(pair.owner_releases.calls, 0);
    EXPECT_EQ(second_owner.calls, 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(pair.owner_releases.calls, 1);
    EXPECT_EQ(second_owner.calls, 1);
    EXPECT_EQ(pair.releases.calls, 1);
}

// The end of a deep stack of contexts takes no deep stack of calls.
TEST_F(TensorImport, OwnersOfVeryManyContextsAreAllReleased) {
    constexpr int depth = 200000;
    hurray_test::Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    ReleaseCounter owners;
    const auto bytes = hurray_test::row_major_descriptor(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    for (int i = 0; i < depth; ++i) {
        HurrayBufferList* list = nullptr;
        HurrayTensorContext* context = nullptr;
        ASSERT_EQ(hurray_tensor_export(tensor, &list, &context, nullptr), HURRAY_OK);
        ASSERT_EQ(hurray_tensor_context_destroy(&context), HURRAY_OK);
        ASSERT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, bytes.data(), bytes.size(), &owners,
                                            &ReleaseCounter::release_owner, &context),
                  HURRAY_OK);
        HurrayTensor* next = nullptr;
        ASSERT_EQ(hurray_tensor_import(&list, &context, &next, nullptr), HURRAY_OK);
        ASSERT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        tensor = next;
    }
    EXPECT_EQ(owners.calls, 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(owners.calls, depth);
    EXPECT_EQ(pair.releases.calls, 1);
    EXPECT_EQ(pair.owner_releases.calls, 1);
}

TEST_F(TensorImport, OtherVersionsAreRefusedAndOwnershipStays) {
    for (const std::uint32_t version : {1u, 3u, 5u, UINT32_MAX}) {
        Pair pair(version);
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, &error), HURRAY_ERR_VERSION_MISMATCH);
        EXPECT_NE(std::string(error.message).find(std::to_string(version)), std::string::npos) << error.message;
        EXPECT_NE(std::string(error.message).find('4'), std::string::npos) << error.message;
        EXPECT_NE(pair.list, nullptr);
        EXPECT_NE(pair.context, nullptr);
        EXPECT_EQ(pair.releases.calls + pair.owner_releases.calls, 0);
    }
}

TEST_F(TensorImport, PairThatDoesNotMatchIsRefusedAndOwnershipStays) {
    Pair pair(HURRAY_C_ABI_VERSION, 64);  // the descriptor asks for more than the list has
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, &error), HURRAY_ERR_BUFFER_TOO_SMALL);
    EXPECT_EQ(tensor, nullptr);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_buffer_list_get(pair.list, 0, &buffer), HURRAY_OK) << "the list is as it was";
    EXPECT_EQ(pair.releases.calls + pair.owner_releases.calls, 0);
}

class TensorParts : public hurray_test::BaseLineTest {};

TEST_F(TensorParts, AreBorrowed) {
    Pair pair;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_import(&pair.list, &pair.context, &tensor, nullptr), HURRAY_OK);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tensor, 0, &buffer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_destroy(buffer), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_tensor_buffer(tensor, 1, &buffer, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);
    const HurrayDescriptor* descriptor = nullptr;
    ASSERT_EQ(hurray_tensor_descriptor(tensor, &descriptor, nullptr), HURRAY_OK);
    auto* writable = const_cast<HurrayDescriptor*>(descriptor);
    EXPECT_EQ(hurray_descriptor_destroy(&writable), HURRAY_ERR_INVALID_HANDLE);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
}

TEST_F(TensorParts, CopyIsAlignedAndCounted) {
    AlignedBytes<128> memory;
    for (int i = 0; i < 128; ++i) memory.bytes[i] = static_cast<unsigned char>(i);
    const std::vector<std::uint64_t> shape{2, 3};
    const std::int64_t strides[] = {-3, 1};
    HurrayDenseSpec spec = spec_of(HURRAY_TYPE_UINT8, shape, HURRAY_LAYOUT_STRIDED);
    spec.strides = strides;
    spec.byte_offset = 3;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(hurray_tensor_from_host(&spec, memory.bytes + 9, 6, nullptr, nullptr, nullptr, &tensor, nullptr), HURRAY_OK);
    HurrayTensor* copy = nullptr;
    std::uint64_t copied = 0;
    HurrayError error{};
    ASSERT_EQ(hurray_tensor_copy(tensor, 4096, &copy, &copied, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(copied, 6u);
    const HurrayView view = view_of(copy);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data) % 4096, 0u);
    EXPECT_EQ(std::memcmp(view.data, "\14\15\16\11\12\13", 6), 0);
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_destroy(&copy), HURRAY_OK);
}

}  // namespace
