// DLPack: structs laid out as its header says, both ways without copying, the end of each exactly once, and a typed refusal of
// what it cannot say. (design: Groups of functions, DLPack 1.x and the older unversioned form)
#include <cstddef>
#include <limits>
#include <map>
#include <thread>

#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

// dlpack.h, version 1.1, by its documentation: every offset on a machine with pointers of 64 bits.
static_assert(sizeof(HurrayDlpackTensor) == 48);
static_assert(offsetof(HurrayDlpackTensor, device_type) == 8 && offsetof(HurrayDlpackTensor, device_id) == 12);
static_assert(offsetof(HurrayDlpackTensor, ndim) == 16 && offsetof(HurrayDlpackTensor, dtype_code) == 20);
static_assert(offsetof(HurrayDlpackTensor, dtype_bits) == 21 && offsetof(HurrayDlpackTensor, dtype_lanes) == 22);
static_assert(offsetof(HurrayDlpackTensor, shape) == 24 && offsetof(HurrayDlpackTensor, strides) == 32);
static_assert(offsetof(HurrayDlpackTensor, byte_offset) == 40);
static_assert(sizeof(HurrayDlpackVersioned) == 80 && offsetof(HurrayDlpackVersioned, manager_ctx) == 8);
static_assert(offsetof(HurrayDlpackVersioned, deleter) == 16 && offsetof(HurrayDlpackVersioned, flags) == 24);
static_assert(offsetof(HurrayDlpackVersioned, dl_tensor) == 32);
static_assert(sizeof(HurrayDlpackUnversioned) == 64 && offsetof(HurrayDlpackUnversioned, manager_ctx) == 48);
static_assert(offsetof(HurrayDlpackUnversioned, deleter) == 56);

constexpr std::int32_t host = 1;

struct Source {
    AlignedBytes<256> memory;
    ReleaseCounter releases;
    HurrayTensor* tensor = nullptr;

    Source(std::uint8_t type, const std::vector<std::uint64_t>& shape, std::uint64_t byte_size, bool read_only = false,
           const std::vector<std::int64_t>& strides = {}, std::uint64_t byte_offset = 0) {
        HurrayDenseSpec spec{};
        spec.struct_size = sizeof spec;
        spec.element_type = type;
        spec.layout = strides.empty() ? HURRAY_LAYOUT_ROW_MAJOR : HURRAY_LAYOUT_STRIDED;
        spec.read_only = read_only ? 1 : 0;
        spec.rank = static_cast<std::uint32_t>(shape.size());
        spec.shape = shape.data();
        spec.strides = strides.empty() ? nullptr : strides.data();
        spec.byte_offset = byte_offset;
        HurrayError error{};
        EXPECT_EQ(hurray_tensor_from_host(&spec, memory.bytes, byte_size, &ReleaseCounter::release, &releases, nullptr, &tensor, &error),
                  HURRAY_OK)
            << error.message;
    }
    ~Source() { EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK); }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
};

void drain() {
    std::uint64_t ran = 0;
    EXPECT_EQ(hurray_release_queue_drain(nullptr, std::numeric_limits<std::uint64_t>::max(), &ran, nullptr), HURRAY_OK);
}

// A tensor of another package.
struct Foreign {
    HurrayDlpackVersioned managed{};
    std::vector<std::int64_t> shape{2, 3};
    std::vector<std::int64_t> strides;
    AlignedBytes<256> memory;
    int ended = 0;

    Foreign() {
        managed.version_major = 1;
        managed.version_minor = 1;
        managed.manager_ctx = this;
        managed.deleter = [](void* self) { ++static_cast<Foreign*>(static_cast<HurrayDlpackVersioned*>(self)->manager_ctx)->ended; };
        managed.dl_tensor.data = memory.bytes;
        managed.dl_tensor.device_type = host;
        managed.dl_tensor.dtype_code = 2;
        managed.dl_tensor.dtype_bits = 32;
        managed.dl_tensor.dtype_lanes = 1;
        refresh();
    }
    void refresh() {
        managed.dl_tensor.ndim = static_cast<std::int32_t>(shape.size());
        managed.dl_tensor.shape = shape.empty() ? nullptr : shape.data();
        managed.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    }
    HurrayStatus take(HurrayTensor** out, HurrayError* error = nullptr) {
        return hurray_tensor_from_dlpack(&managed, nullptr, out, error);
    }
};

HurrayView view_of(const HurrayTensor* tensor) {
    HurrayView view{};
    view.struct_size = sizeof view;
    EXPECT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
    return view;
}

class Dlpack : public hurray_test::BaseLineTest {};

TEST_F(Dlpack, ExportSharesTheMemoryAndItsDeleterEndsTheShareOnce) {
    Source source(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    HurrayDlpackVersioned* managed = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_tensor_to_dlpack(source.tensor, 7, &managed, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(managed->version_major, 1u);
    EXPECT_EQ(managed->version_minor, 1u);
    EXPECT_EQ(managed->flags, 0u);
    EXPECT_EQ(managed->dl_tensor.data, source.memory.bytes);
    EXPECT_EQ(managed->dl_tensor.device_type, host);
    EXPECT_EQ(managed->dl_tensor.device_id, 0);
    ASSERT_EQ(managed->dl_tensor.ndim, 2);
    EXPECT_EQ(managed->dl_tensor.dtype_code, 2);
    EXPECT_EQ(managed->dl_tensor.dtype_bits, 32);
    EXPECT_EQ(managed->dl_tensor.dtype_lanes, 1);
    EXPECT_EQ(managed->dl_tensor.shape[0], 3);
    EXPECT_EQ(managed->dl_tensor.shape[1], 4);
    EXPECT_EQ(managed->dl_tensor.strides[0], 4);
    EXPECT_EQ(managed->dl_tensor.strides[1], 1);
    EXPECT_EQ(managed->dl_tensor.byte_offset, 0u);

    ASSERT_EQ(hurray_tensor_destroy(&source.tensor), HURRAY_OK);
    EXPECT_EQ(source.releases.calls, 0) << "the consumer still has the memory";
    managed->deleter(managed);
    EXPECT_EQ(source.releases.calls, 0) << "a release runs on a thread that its creator consents to";
    drain();
    EXPECT_EQ(source.releases.calls, 1);
    EXPECT_EQ(source.releases.last_data, source.memory.bytes);
}

TEST_F(Dlpack, DeleterRunsOnAnyThread) {
    Source source(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    HurrayDlpackVersioned* managed = nullptr;
    ASSERT_EQ(hurray_tensor_to_dlpack(source.tensor, 1, &managed, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_destroy(&source.tensor), HURRAY_OK);
    std::thread([managed] { managed->deleter(managed); }).join();
    EXPECT_EQ(source.releases.calls, 0);
    drain();
    EXPECT_EQ(source.releases.calls, 1);
}

TEST_F(Dlpack, ReadOnlyIsSaidInVersion1AndRefusedBefore) {
    Source source(HURRAY_TYPE_INT8, {4}, 4, true);
    HurrayDlpackVersioned* managed = nullptr;
    ASSERT_EQ(hurray_tensor_to_dlpack(source.tensor, 0, &managed, nullptr), HURRAY_OK);
    EXPECT_EQ(managed->version_minor, 0u);
    EXPECT_EQ(managed->flags, HURRAY_DLPACK_READ_ONLY);
    managed->deleter(managed);

    HurrayDlpackUnversioned* old = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_tensor_to_dlpack_unversioned(source.tensor, &old, &error), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(old, nullptr);
    EXPECT_NE(std::string(error.message).find("read-only"), std::string::npos) << error.message;
}

TEST_F(Dlpack, UnversionedGoesThereAndBack) {
    Source source(HURRAY_TYPE_INT16, {2, 2}, 8);
    HurrayDlpackUnversioned* old = nullptr;
    ASSERT_EQ(hurray_tensor_to_dlpack_unversioned(source.tensor, &old, nullptr), HURRAY_OK);
    HurrayTensor* back = nullptr;
    ASSERT_EQ(hurray_tensor_from_dlpack_unversioned(old, nullptr, &back, nullptr), HURRAY_OK);
    EXPECT_EQ(view_of(back).data, source.memory.bytes);
    EXPECT_EQ(view_of(back).element_type, HURRAY_TYPE_INT16);
    ASSERT_EQ(hurray_tensor_destroy(&back), HURRAY_OK);
    EXPECT_EQ(source.releases.calls, 0);
}

TEST_F(Dlpack, EveryTypeOfBothGoesThereAndBack) {
    // HURRAY_TYPE_ tag: DLDataTypeCode and bits, by dlpack.h.
    const std::map<std::uint8_t, std::pair<int, int>> types{
        {HURRAY_TYPE_INT8, {0, 8}},         {HURRAY_TYPE_INT16, {0, 16}},       {HURRAY_TYPE_INT32, {0, 32}},
        {HURRAY_TYPE_INT64, {0, 64}},       {HURRAY_TYPE_UINT8, {1, 8}},        {HURRAY_TYPE_UINT16, {1, 16}},
        {HURRAY_TYPE_UINT32, {1, 32}},      {HURRAY_TYPE_UINT64, {1, 64}},      {HURRAY_TYPE_FLOAT16, {2, 16}},
        {HURRAY_TYPE_FLOAT32, {2, 32}},     {HURRAY_TYPE_FLOAT64, {2, 64}},     {HURRAY_TYPE_BFLOAT16, {4, 16}},
        {HURRAY_TYPE_COMPLEX64, {5, 64}},   {HURRAY_TYPE_COMPLEX128, {5, 128}}, {HURRAY_TYPE_FLOAT8_E4M3, {10, 8}},
        {HURRAY_TYPE_FLOAT8_E5M2, {12, 8}}, {HURRAY_TYPE_FLOAT8_E8M0, {14, 8}}};
    int formats_types = 0;
    for (int type = 1; type < 256; ++type) {
        SCOPED_TRACE(type);
        const std::uint64_t shape[] = {4};
        HurrayDenseSpec spec{};
        spec.struct_size = sizeof spec;
        spec.element_type = static_cast<std::uint8_t>(type);
        spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
        spec.rank = 1;
        spec.shape = shape;
        AlignedBytes<64> memory;
        HurrayTensor* tensor = nullptr;
        if (hurray_tensor_from_host(&spec, memory.bytes, 64, nullptr, nullptr, nullptr, &tensor, nullptr) != HURRAY_OK) continue;
        ++formats_types;
        HurrayDlpackVersioned* managed = nullptr;
        const HurrayStatus status = hurray_tensor_to_dlpack(tensor, 1, &managed, nullptr);
        ASSERT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
        const auto known = types.find(static_cast<std::uint8_t>(type));
        if (known == types.end()) {
            EXPECT_EQ(status, HURRAY_ERR_UNSUPPORTED);
            EXPECT_EQ(managed, nullptr);
            continue;
        }
        ASSERT_EQ(status, HURRAY_OK);
        EXPECT_EQ(managed->dl_tensor.dtype_code, known->second.first);
        EXPECT_EQ(managed->dl_tensor.dtype_bits, known->second.second);
        HurrayTensor* back = nullptr;
        ASSERT_EQ(hurray_tensor_from_dlpack(managed, nullptr, &back, nullptr), HURRAY_OK);
        EXPECT_EQ(view_of(back).element_type, type);
        ASSERT_EQ(hurray_tensor_destroy(&back), HURRAY_OK);
    }
    EXPECT_GT(formats_types, static_cast<int>(types.size()));
}

TEST_F(Dlpack, SmallFloatsNeedTheConsumersVersion) {
    Source source(HURRAY_TYPE_FLOAT8_E4M3, {4}, 4);
    HurrayDlpackVersioned* managed = nullptr;
    HurrayError error{};
    EXPECT_EQ(hurray_tensor_to_dlpack(source.tensor, 0, &managed, &error), HURRAY_ERR_UNSUPPORTED);
    EXPECT_NE(std::string(error.message).find("1.1"), std::string::npos) << error.message;
    HurrayDlpackUnversioned* old = nullptr;
    EXPECT_EQ(hurray_tensor_to_dlpack_unversioned(source.tensor, &old, nullptr), HURRAY_ERR_UNSUPPORTED);
}

TEST_F(Dlpack, ShapesAtTheEdges) {
    {
        SCOPED_TRACE("rank 0");
        Source source(HURRAY_TYPE_FLOAT32, {}, 4);
        HurrayDlpackVersioned* managed = nullptr;
        ASSERT_EQ(hurray_tensor_to_dlpack(source.tensor, 1, &managed, nullptr), HURRAY_OK);
        EXPECT_EQ(managed->dl_tensor.ndim, 0);
        HurrayTensor* back = nullptr;
        ASSERT_EQ(hurray_tensor_from_dlpack(managed, nullptr, &back, nullptr), HURRAY_OK);
        EXPECT_EQ(view_of(back).element_count, 1u);
        EXPECT_EQ(view_of(back).data, source.memory.bytes);
        ASSERT_EQ(hurray_tensor_destroy(&back), HURRAY_OK);
    }
    {
        SCOPED_TRACE("no elements, beside sizes whose product is beyond 64 bits");
        constexpr std::uint64_t large = std::uint64_t{1} << 40;
        Source source(HURRAY_TYPE_FLOAT32, {0, large, large}, 0);
        HurrayDlpackVersioned* managed = nullptr;
        ASSERT_EQ(hurray_tensor_to_dlpack(source.tensor, 1, &managed, nullptr), HURRAY_OK);
        HurrayTensor* back = nullptr;
        ASSERT_EQ(hurray_tensor_from_dlpack(managed, nullptr, &back, nullptr), HURRAY_OK);
        EXPECT_EQ(view_of(back).element_count, 0u);
        ASSERT_EQ(hurray_tensor_destroy(&back), HURRAY_OK);
    }
    {
        SCOPED_TRACE("negative and zero strides, from a byte offset");
        Source source(HURRAY_TYPE_INT16, {2, 3}, 12, false, {0, -2}, 8);
        HurrayDlpackVersioned* managed = nullptr;
        ASSERT_EQ(hurray_tensor_to_dlpack(source.tensor, 1, &managed, nullptr), HURRAY_OK);
        EXPECT_EQ(managed->dl_tensor.data, source.memory.bytes + 8);
        EXPECT_EQ(managed->dl_tensor.strides[0], 0);
        EXPECT_EQ(managed->dl_tensor.strides[1], -2);
        HurrayTensor* back = nullptr;
        ASSERT_EQ(hurray_tensor_from_dlpack(managed, nullptr, &back, nullptr), HURRAY_OK);
        const HurrayView view = view_of(back);
        EXPECT_EQ(view.data, source.memory.bytes + 8);
        EXPECT_EQ(view.bytes_below, 8u);
        EXPECT_EQ(view.strides[1], -2);
        ASSERT_EQ(hurray_tensor_destroy(&back), HURRAY_OK);
    }
}

TEST_F(Dlpack, ImportTakesOverAndRunsTheDeleterOnce) {
    Foreign foreign;
    foreign.managed.flags = HURRAY_DLPACK_READ_ONLY;
    foreign.managed.dl_tensor.byte_offset = 4;  // an address that is aligned to nothing but its elements
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    ASSERT_EQ(foreign.take(&tensor, &error), HURRAY_OK) << error.message;
    const HurrayView view = view_of(tensor);
    EXPECT_EQ(view.data, foreign.memory.bytes + 4);
    EXPECT_EQ(view.flags, 0u + HURRAY_VIEW_READ_ONLY + HURRAY_VIEW_CONTIGUOUS);
    HurrayTensor* share = nullptr;
    ASSERT_EQ(hurray_tensor_share(tensor, &share, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(foreign.ended, 0);
    ASSERT_EQ(hurray_tensor_destroy(&share), HURRAY_OK);
    EXPECT_EQ(foreign.ended, 1);
}

TEST_F(Dlpack, NothingToEndIsFine) {
    Foreign foreign;
    foreign.managed.deleter = nullptr;
    HurrayTensor* tensor = nullptr;
    ASSERT_EQ(foreign.take(&tensor), HURRAY_OK);
    ASSERT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(foreign.ended, 0);
}

TEST_F(Dlpack, RefusalsLeaveTheTensorWithItsOwner) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    struct Case {
        const char* name;
        HurrayStatus expected;
        void (*change)(Foreign&);
    };
    const Case cases[] = {
        {"another major version", HURRAY_ERR_VERSION_MISMATCH, [](Foreign& f) { f.managed.version_major = 2; }},
        {"version 0", HURRAY_ERR_VERSION_MISMATCH, [](Foreign& f) { f.managed.version_major = 0; }},
        {"memory of a device", HURRAY_ERR_UNSUPPORTED, [](Foreign& f) { f.managed.dl_tensor.device_type = 2; }},
        {"no device", HURRAY_ERR_UNSUPPORTED, [](Foreign& f) { f.managed.dl_tensor.device_type = -1; }},
        {"vectors", HURRAY_ERR_UNSUPPORTED, [](Foreign& f) { f.managed.dl_tensor.dtype_lanes = 4; }},
        {"no lanes", HURRAY_ERR_UNSUPPORTED, [](Foreign& f) { f.managed.dl_tensor.dtype_lanes = 0; }},
        {"booleans", HURRAY_ERR_UNSUPPORTED, [](Foreign& f) { f.managed.dl_tensor.dtype_code = 6, f.managed.dl_tensor.dtype_bits = 8; }},
        {"a type without a name", HURRAY_ERR_INVALID_TYPE, [](Foreign& f) { f.managed.dl_tensor.dtype_code = 99; }},
        {"4 bits", HURRAY_ERR_INVALID_TYPE, [](Foreign& f) { f.managed.dl_tensor.dtype_code = 0, f.managed.dl_tensor.dtype_bits = 4; }},
        {"a negative rank", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.managed.dl_tensor.ndim = -1; }},
        {"too many dimensions", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.managed.dl_tensor.ndim = std::numeric_limits<std::int32_t>::max(); }},
        {"a negative size", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.shape[1] = -3; }},
        {"no shape", HURRAY_ERR_NULL_POINTER, [](Foreign& f) { f.managed.dl_tensor.shape = nullptr; }},
        {"no data", HURRAY_ERR_NULL_POINTER, [](Foreign& f) { f.managed.dl_tensor.data = nullptr; }},
        {"more elements than 64 bits count", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.shape = {std::int64_t{1} << 32, std::int64_t{1} << 32}, f.refresh(); }},
        {"more bytes than 64 bits count", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.shape = {most}, f.refresh(); }},
        {"a stride that leads out of memory", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.strides = {most, 1}, f.refresh(); }},
        {"strides whose reaches add up beyond 64 bits", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.strides = {most, most / 2}, f.refresh(); }},
        {"a stride below all memory", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.strides = {-(std::int64_t{1} << 60), 1}, f.refresh(); }},
        {"the most negative stride", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.strides = {std::numeric_limits<std::int64_t>::min(), 1}, f.refresh(); }},
        {"a byte offset around the address space", HURRAY_ERR_INVALID_LAYOUT, [](Foreign& f) { f.managed.dl_tensor.byte_offset = ~std::uint64_t{0} - 8; }},
    };
    for (const Case& hostile : cases) {
        SCOPED_TRACE(hostile.name);
        Foreign foreign;
        hostile.change(foreign);
        HurrayTensor* tensor = nullptr;
        HurrayError error{};
        EXPECT_EQ(foreign.take(&tensor, &error), hostile.expected) << error.message;
        EXPECT_EQ(error.code, hostile.expected);
        EXPECT_NE(std::string(error.message), "");
        EXPECT_EQ(tensor, nullptr);
        EXPECT_EQ(foreign.ended, 0);
    }
}

TEST_F(Dlpack, WhatItCannotSayIsRefused) {
    // Column-major has strides, and goes; a sparse tensor has none.
    Source source(HURRAY_TYPE_FLOAT32, {3, 4}, 48);
    HurrayTranscodeSpec spec{};
    spec.struct_size = sizeof spec;
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    HurrayTensor* column_major = nullptr;
    ASSERT_EQ(hurray_tensor_transcode(source.tensor, &spec, nullptr, nullptr, &column_major, nullptr), HURRAY_OK);
    HurrayDlpackVersioned* managed = nullptr;
    ASSERT_EQ(hurray_tensor_to_dlpack(column_major, 1, &managed, nullptr), HURRAY_OK);
    EXPECT_EQ(managed->dl_tensor.strides[0], 1);
    EXPECT_EQ(managed->dl_tensor.strides[1], 3);
    managed->deleter(managed);
    ASSERT_EQ(hurray_tensor_destroy(&column_major), HURRAY_OK);

    spec.layout = HURRAY_LAYOUT_COO;
    HurrayTensor* sparse = nullptr;
    ASSERT_EQ(hurray_tensor_transcode(source.tensor, &spec, nullptr, nullptr, &sparse, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_to_dlpack(sparse, 1, &managed, nullptr), HURRAY_ERR_UNSUPPORTED);
    EXPECT_EQ(managed, nullptr);
    ASSERT_EQ(hurray_tensor_destroy(&sparse), HURRAY_OK);

    HurrayQuantizeSpec quantize{};
    quantize.struct_size = sizeof quantize;
    quantize.scheme = HURRAY_SCHEME_PER_TENSOR_AFFINE;
    quantize.storage_type = HURRAY_TYPE_INT8;
    HurrayTensor* quantized = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_tensor_quantize(source.tensor, &quantize, nullptr, &quantized, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_tensor_to_dlpack(quantized, 1, &managed, &error), HURRAY_ERR_UNSUPPORTED);
    EXPECT_NE(std::string(error.message).find("quantized"), std::string::npos) << error.message;
    ASSERT_EQ(hurray_tensor_destroy(&quantized), HURRAY_OK);
}

}  // namespace
