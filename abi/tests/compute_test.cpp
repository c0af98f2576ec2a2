// Work on elements through the C ABI. What is computed is tested in core/hurray; here it is the boundary: specs and options
// that are refused, what is the caller's, progress, limits.
#include <algorithm>
#include <cmath>

#include "abi/tests/paged.hpp"
#include "abi/tests/support.hpp"

namespace {

using hurray_test::AlignedBytes;
using hurray_test::ReleaseCounter;

template <class Struct>
Struct sized() {
    Struct value{};
    value.struct_size = sizeof value;
    return value;
}

class Compute : public hurray_test::BaseLineTest {
protected:
    void TearDown() override {
        for (HurrayTensor*& each : tensors_) EXPECT_EQ(hurray_tensor_destroy(&each), HURRAY_OK);
        BaseLineTest::TearDown();
    }

    HurrayTensor* own(HurrayTensor* tensor) {
        if (tensor != nullptr) tensors_.push_back(tensor);
        return tensor;
    }

    /// Row-major, over memory of the test.
    HurrayTensor* dense(std::uint8_t type, const std::vector<std::uint64_t>& shape, void* data, std::uint64_t size) {
        auto spec = sized<HurrayDenseSpec>();
        spec.element_type = type;
        spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
        spec.rank = static_cast<std::uint32_t>(shape.size());
        spec.shape = shape.data();
        HurrayTensor* tensor = nullptr;
        EXPECT_EQ(hurray_tensor_from_host(&spec, data, size, &ReleaseCounter::release, &releases_, nullptr, &tensor, nullptr), HURRAY_OK);
        return own(tensor);
    }

    /// float32 [4, 6]: 0, 1, 2, ...
    HurrayTensor* numbers() {
        for (int i = 0; i < 24; ++i) floats()[i] = static_cast<float>(i);
        return dense(HURRAY_TYPE_FLOAT32, {4, 6}, memory_.bytes, 96);
    }
    float* floats() { return reinterpret_cast<float*>(memory_.bytes); }

    static HurrayView view_of(const HurrayTensor* tensor) {
        auto view = sized<HurrayView>();
        EXPECT_EQ(hurray_tensor_view(tensor, &view, nullptr), HURRAY_OK);
        return view;
    }
    static std::vector<float> floats_of(const HurrayTensor* tensor) {
        const HurrayView view = view_of(tensor);
        EXPECT_EQ(view.element_type, HURRAY_TYPE_FLOAT32);
        const auto* data = static_cast<const float*>(view.data);
        return {data, data + view.element_count};
    }
    static std::uint8_t layout_of(const HurrayTensor* tensor) {
        const HurrayDescriptor* descriptor = nullptr;
        auto info = sized<HurrayDescriptorInfo>();
        EXPECT_EQ(hurray_tensor_descriptor(tensor, &descriptor, nullptr), HURRAY_OK);
        EXPECT_EQ(hurray_descriptor_info(descriptor, &info, nullptr), HURRAY_OK);
        return info.layout;
    }

    HurrayTensor* transcoded(const HurrayTensor* from, std::uint8_t layout, const HurrayDescriptorBuilder* fields = nullptr) {
        auto spec = sized<HurrayTranscodeSpec>();
        spec.layout = layout;
        HurrayTensor* to = nullptr;
        HurrayError error{};
        EXPECT_EQ(hurray_tensor_transcode(from, &spec, fields, nullptr, &to, &error), HURRAY_OK) << error.message;
        return own(to);
    }

    HurrayStatus quantize(const HurrayTensor* from, const HurrayQuantizeSpec& spec, HurrayTensor** out) {
        const HurrayStatus status = hurray_tensor_quantize(from, &spec, nullptr, out, &error_);
        own(*out);
        return status;
    }

    AlignedBytes<1024> memory_;
    ReleaseCounter releases_;
    HurrayError error_{};

private:
    std::vector<HurrayTensor*> tensors_;
};

HurrayQuantizeSpec per_tensor_int8() {
    auto spec = sized<HurrayQuantizeSpec>();
    spec.scheme = HURRAY_SCHEME_PER_TENSOR_AFFINE;
    spec.storage_type = HURRAY_TYPE_INT8;
    return spec;
}

TEST_F(Compute, QuantizedAndBack) {
    HurrayTensor* quantized = nullptr;
    ASSERT_EQ(quantize(numbers(), per_tensor_int8(), &quantized), HURRAY_OK) << error_.message;
    const HurrayView view = view_of(quantized);
    EXPECT_EQ(view.element_type, HURRAY_TYPE_INT8);
    EXPECT_NE(view.flags & HURRAY_VIEW_QUANTIZED, 0U);
    HurrayTensor* back = nullptr;
    ASSERT_EQ(hurray_tensor_dequantize(quantized, HURRAY_TYPE_FLOAT32, nullptr, &back, nullptr), HURRAY_OK);
    own(back);
    const std::vector<float> values = floats_of(back);
    ASSERT_EQ(values.size(), 24U);
    // Half a step of the 255 from 0 to 23.
    for (int i = 0; i < 24; ++i) EXPECT_NEAR(values[static_cast<std::size_t>(i)], i, 23.0 / 255 / 2 + 1e-5) << i;
}

TEST_F(Compute, ElementsOfADenseTensor) {
    HurrayTensor* tensor = numbers();
    const std::uint64_t index[] = {2, 3};
    double value = 0;
    EXPECT_EQ(hurray_tensor_element_float64(tensor, index, 2, &value, nullptr), HURRAY_OK);
    EXPECT_EQ(value, 15);
    double imaginary = 7;
    EXPECT_EQ(hurray_tensor_element_complex128(tensor, index, 2, &value, &imaginary, nullptr), HURRAY_OK);
    EXPECT_EQ(value, 15);
    EXPECT_EQ(imaginary, 0);
    auto bits = sized<HurrayElementBits>();
    EXPECT_EQ(hurray_tensor_element_bits(tensor, index, 2, &bits, nullptr), HURRAY_OK);
    EXPECT_EQ(bits.bits, 32U);
    EXPECT_EQ(bits.low, 0x41700000U);
    auto address = sized<HurrayElementAddress>();
    EXPECT_EQ(hurray_tensor_element_address(tensor, index, 2, &address, nullptr), HURRAY_OK);
    EXPECT_EQ(address.present, 1);
    EXPECT_EQ(address.buffer, 0U);
    EXPECT_EQ(address.byte_offset, 60U);
    EXPECT_EQ(address.bit_offset, 0U);
    EXPECT_EQ(address.bits, 32U);
    EXPECT_EQ(hurray_tensor_element_dequantized(tensor, index, 2, &value, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    HurrayTensor* quantized = nullptr;
    ASSERT_EQ(quantize(tensor, per_tensor_int8(), &quantized), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_element_dequantized(quantized, index, 2, &value, nullptr), HURRAY_OK);
    EXPECT_NEAR(value, 15, 0.05);
    EXPECT_EQ(hurray_tensor_element_float64(quantized, index, 2, &value, nullptr), HURRAY_OK);
    EXPECT_EQ(value, std::floor(value)) << "the stored integer";
}

TEST_F(Compute, ElementsThatStartWithinAByte) {
    memory_.bytes[0] = 0x12;
    memory_.bytes[1] = 0x0A;
    HurrayTensor* nibbles = dense(HURRAY_TYPE_UINT4, {3}, memory_.bytes, 2);
    const std::uint64_t index = 2;
    auto address = sized<HurrayElementAddress>();
    EXPECT_EQ(hurray_tensor_element_address(nibbles, &index, 1, &address, nullptr), HURRAY_OK);
    EXPECT_EQ(address.byte_offset, 1U);
    EXPECT_EQ(address.bits, 4U);
    double value = 0;
    EXPECT_EQ(hurray_tensor_element_float64(nibbles, &index, 1, &value, nullptr), HURRAY_OK);
    EXPECT_EQ(value, 10);
    const std::uint64_t second = 1;
    EXPECT_EQ(hurray_tensor_element_address(nibbles, &second, 1, &address, nullptr), HURRAY_OK);
    EXPECT_EQ(address.byte_offset, 0U);
    EXPECT_EQ(address.bit_offset, 4U);
}

TEST_F(Compute, ElementsThatAreNotStoredAreZero) {
    HurrayTensor* tensor = numbers();
    HurrayTensor* sparse = transcoded(tensor, HURRAY_LAYOUT_CSR);
    ASSERT_NE(sparse, nullptr);
    const std::uint64_t zero[] = {0, 0};
    auto address = sized<HurrayElementAddress>();
    EXPECT_EQ(hurray_tensor_element_address(sparse, zero, 2, &address, nullptr), HURRAY_OK);
    EXPECT_EQ(address.present, 0);
    double value = 7;
    EXPECT_EQ(hurray_tensor_element_float64(sparse, zero, 2, &value, nullptr), HURRAY_OK);
    EXPECT_EQ(value, 0);
    const std::uint64_t last[] = {3, 5};
    EXPECT_EQ(hurray_tensor_element_float64(sparse, last, 2, &value, nullptr), HURRAY_OK);
    EXPECT_EQ(value, 23);
}

TEST_F(Compute, IndicesThatAreRefused) {
    HurrayTensor* tensor = numbers();
    const std::uint64_t index[] = {4, 0, 0};
    for (const auto& [rank, expected] : {std::pair<std::uint32_t, int>{2, HURRAY_ERR_INDEX_OUT_OF_BOUNDS},
                                         {1, HURRAY_ERR_INVALID_ARGUMENT}, {3, HURRAY_ERR_INVALID_ARGUMENT}}) {
        double value = 0;
        double imaginary = 0;
        auto bits = sized<HurrayElementBits>();
        auto address = sized<HurrayElementAddress>();
        EXPECT_EQ(hurray_tensor_element_float64(tensor, index, rank, &value, nullptr), expected) << rank;
        EXPECT_EQ(hurray_tensor_element_complex128(tensor, index, rank, &value, &imaginary, nullptr), expected) << rank;
        EXPECT_EQ(hurray_tensor_element_bits(tensor, index, rank, &bits, nullptr), expected) << rank;
        EXPECT_EQ(hurray_tensor_element_address(tensor, index, rank, &address, nullptr), expected) << rank;
    }
}

TEST_F(Compute, QuantizeAndDequantizeRefuseWhatTheyCannotDo) {
    HurrayTensor* tensor = numbers();
    HurrayTensor* out = nullptr;
    EXPECT_EQ(hurray_tensor_dequantize(tensor, HURRAY_TYPE_FLOAT32, nullptr, &out, nullptr), HURRAY_ERR_INVALID_ARGUMENT)
        << "not quantized";
    EXPECT_EQ(out, nullptr);
    auto spec = per_tensor_int8();
    spec.symmetric = 2;
    EXPECT_EQ(quantize(tensor, spec, &out), HURRAY_ERR_INVALID_ARGUMENT);
    spec = per_tensor_int8();
    spec.scheme = 0x66;
    EXPECT_EQ(quantize(tensor, spec, &out), HURRAY_ERR_INVALID_ARGUMENT);
    spec = per_tensor_int8();
    spec.struct_size = 8;
    EXPECT_EQ(quantize(tensor, spec, &out), HURRAY_ERR_INVALID_ARGUMENT);
    floats()[7] = std::nanf("");
    EXPECT_EQ(quantize(tensor, per_tensor_int8(), &out), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error_.message).find("7"), std::string::npos) << error_.message;
    HurrayTensor* integers = dense(HURRAY_TYPE_INT8, {4}, memory_.bytes + 128, 4);
    EXPECT_EQ(quantize(integers, per_tensor_int8(), &out), HURRAY_ERR_INVALID_TYPE);
    EXPECT_EQ(out, nullptr);
}

TEST_F(Compute, TranscodedToTilesAndBack) {
    HurrayTensor* tensor = numbers();
    const std::uint64_t shape[] = {4, 6};
    HurrayDescriptorBuilder* fields = nullptr;
    ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_TILED, shape, 2, &fields, nullptr), HURRAY_OK);
    const std::uint64_t tile[] = {2, 3};
    auto level = sized<HurrayTileLevel>();
    level.rank = 2;
    level.tile_shape = tile;
    level.outer_layout = HURRAY_LAYOUT_ROW_MAJOR;
    level.inner_layout = HURRAY_LAYOUT_COL_MAJOR;
    ASSERT_EQ(hurray_descriptor_builder_add_tile_level(fields, &level, nullptr), HURRAY_OK);
    HurrayTensor* tiles = transcoded(tensor, HURRAY_LAYOUT_TILED, fields);
    ASSERT_NE(tiles, nullptr);
    EXPECT_EQ(layout_of(tiles), HURRAY_LAYOUT_TILED);
    HurrayBuffer* buffer = nullptr;
    ASSERT_EQ(hurray_tensor_buffer(tiles, 0, &buffer, nullptr), HURRAY_OK);
    auto info = sized<HurrayBufferInfo>();
    ASSERT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
    const float first_tile[] = {0, 6, 1, 7, 2, 8};
    EXPECT_EQ(std::memcmp(info.data, first_tile, sizeof first_tile), 0);
    const std::vector<float> expected(floats(), floats() + 24);
    EXPECT_EQ(floats_of(transcoded(tiles, HURRAY_LAYOUT_ROW_MAJOR)), expected);

    auto spec = sized<HurrayTranscodeSpec>();
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    HurrayTensor* out = nullptr;
    EXPECT_EQ(hurray_tensor_transcode(tensor, &spec, fields, nullptr, &out, nullptr), HURRAY_ERR_INVALID_ARGUMENT)
        << "fields of another layout";
    EXPECT_EQ(hurray_descriptor_builder_destroy(&fields), HURRAY_OK);
}

// Fields of another rank are refused also where nothing of them would be used; the order of a Hilbert curve is the shape's.
TEST_F(Compute, TranscodeRefusesFieldsThatAreNotThoseOfTheShape) {
    HurrayTensor* tensor = numbers();
    const std::uint64_t shape[] = {4, 6, 1};
    HurrayTensor* out = nullptr;
    auto spec = sized<HurrayTranscodeSpec>();
    for (const std::uint8_t layout : {HURRAY_LAYOUT_COL_MAJOR, HURRAY_LAYOUT_MORTON, HURRAY_LAYOUT_CSR, HURRAY_LAYOUT_CSF}) {
        for (const std::uint32_t rank : {1U, 3U}) {
            HurrayDescriptorBuilder* fields = nullptr;
            ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, layout, shape, rank, &fields, nullptr), HURRAY_OK);
            spec.layout = layout;
            EXPECT_EQ(hurray_tensor_transcode(tensor, &spec, fields, nullptr, &out, &error_), HURRAY_ERR_INVALID_ARGUMENT)
                << int{layout} << " of rank " << rank;
            EXPECT_NE(std::string(error_.message).find("rank 2"), std::string::npos) << error_.message;
            EXPECT_EQ(out, nullptr);
            EXPECT_EQ(hurray_descriptor_builder_destroy(&fields), HURRAY_OK);
        }
    }

    HurrayTensor* square = dense(HURRAY_TYPE_FLOAT32, {4, 4}, memory_.bytes + 128, 64);
    for (const std::uint32_t order : {1U, 2U, 3U}) {
        HurrayDescriptorBuilder* fields = nullptr;
        ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_HILBERT, shape, 2, &fields, nullptr), HURRAY_OK);
        auto hilbert = sized<HurrayLayoutFields>();
        hilbert.layout = HURRAY_LAYOUT_HILBERT;
        hilbert.hilbert_order = order;
        ASSERT_EQ(hurray_descriptor_builder_set_layout_fields(fields, &hilbert, nullptr), HURRAY_OK);
        spec.layout = HURRAY_LAYOUT_HILBERT;
        EXPECT_EQ(hurray_tensor_transcode(square, &spec, fields, nullptr, &out, nullptr),
                  order == 2 ? HURRAY_OK : HURRAY_ERR_INVALID_ARGUMENT)
            << order;
        EXPECT_EQ(hurray_descriptor_builder_destroy(&fields), HURRAY_OK);
        own(out);
    }
}

TEST_F(Compute, TranscodeTakesStridesAndBits) {
    HurrayTensor* tensor = numbers();
    const std::uint64_t shape[] = {4, 6};
    HurrayDescriptorBuilder* fields = nullptr;
    ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_STRIDED, shape, 2, &fields, nullptr), HURRAY_OK);
    const std::int64_t strides[] = {8, 1};
    ASSERT_EQ(hurray_descriptor_builder_set_strides(fields, strides, 2, nullptr), HURRAY_OK);
    const HurrayView view = view_of(transcoded(tensor, HURRAY_LAYOUT_STRIDED, fields));
    EXPECT_EQ(view.strides[0], 8);
    EXPECT_EQ(static_cast<const float*>(view.data)[8], 6.0F);
    EXPECT_EQ(hurray_descriptor_builder_destroy(&fields), HURRAY_OK);
    const std::vector<float> expected(floats(), floats() + 24);
    EXPECT_EQ(floats_of(transcoded(transcoded(tensor, HURRAY_LAYOUT_MORTON), HURRAY_LAYOUT_ROW_MAJOR)), expected);
}

// 5 and 3 tokens in pages of 4, so that only the caller knows where the first sequence ends.
TEST_F(Compute, TokenCountsTellWhereSequencesEnd) {
    HurrayTensor* paged = own(hurray_test::two_sequences(memory_.bytes));
    auto spec = sized<HurrayTranscodeSpec>();
    spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
    HurrayTensor* out = nullptr;
    const auto transcode = [&] { return hurray_tensor_transcode(paged, &spec, nullptr, nullptr, &out, &error_); };
    EXPECT_EQ(transcode(), HURRAY_ERR_UNSUPPORTED) << "not known";
    const std::uint64_t counts[] = {5, 3};
    spec.token_counts = counts;
    spec.token_counts_length = 2;
    ASSERT_EQ(transcode(), HURRAY_OK) << error_.message;
    own(out);
    // Pages 2, 0 and 1 of elements that count up.
    EXPECT_EQ(floats_of(out), (std::vector<float>{8, 9, 10, 11, 0, 4, 5, 6}));

    spec.flags = HURRAY_TRANSCODE_SEQUENCE;
    spec.sequence = 1;
    ASSERT_EQ(transcode(), HURRAY_OK) << error_.message;
    own(out);
    EXPECT_EQ(floats_of(out), (std::vector<float>{4, 5, 6}));

    spec.flags = 0;
    spec.sequence = 0;
    const auto refused = [&](std::vector<std::uint64_t> values) {
        spec.token_counts = values.data();
        spec.token_counts_length = values.size();
        EXPECT_EQ(transcode(), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(out, nullptr);
    };
    refused({8});
    refused({5, 3, 0});
    refused({3, 5});
    refused({5, 2});
    refused({~std::uint64_t{0}, 9});
    spec.token_counts = counts;
    spec.token_counts_length = ~std::uint64_t{0};
    EXPECT_EQ(transcode(), HURRAY_ERR_INVALID_ARGUMENT);
    spec.token_counts = nullptr;
    spec.token_counts_length = 2;
    EXPECT_EQ(transcode(), HURRAY_ERR_NULL_POINTER);
    EXPECT_NE(std::string(error_.message).find("spec->token_counts"), std::string::npos) << error_.message;
}

TEST_F(Compute, TranscodeSpecsThatAreRefused) {
    HurrayTensor* tensor = numbers();
    HurrayTensor* out = nullptr;
    const auto refused = [&](auto change) {
        auto spec = sized<HurrayTranscodeSpec>();
        spec.layout = HURRAY_LAYOUT_ROW_MAJOR;
        change(spec);
        EXPECT_EQ(hurray_tensor_transcode(tensor, &spec, nullptr, nullptr, &out, &error_), HURRAY_ERR_INVALID_ARGUMENT);
        EXPECT_EQ(out, nullptr);
    };
    refused([](HurrayTranscodeSpec& spec) { spec.flags = 2; });
    refused([](HurrayTranscodeSpec& spec) { spec.reserved[2] = 1; });
    refused([](HurrayTranscodeSpec& spec) { spec.reserved2 = 1; });
    EXPECT_NE(std::string(error_.message).find("spec->reserved2"), std::string::npos) << error_.message;
    const std::uint64_t count = 24;
    refused([&](HurrayTranscodeSpec& spec) {
        spec.token_counts = &count;
        spec.token_counts_length = 1;
    });
    refused([](HurrayTranscodeSpec& spec) { spec.sequence = 1; });
    refused([](HurrayTranscodeSpec& spec) { spec.alignment = 65; });
    refused([](HurrayTranscodeSpec& spec) { spec.struct_size = 8; });
}

TEST_F(Compute, ValidationGoesAsFarAsItIsAsked) {
    memory_.bytes[0] = 0xFF;
    HurrayTensor* bits = dense(HURRAY_TYPE_BOOL, {3}, memory_.bytes, 1);
    EXPECT_EQ(hurray_tensor_validate(bits, HURRAY_VALIDATE_DESCRIPTOR, nullptr, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_validate(bits, HURRAY_VALIDATE_BUFFERS, nullptr, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_validate(bits, HURRAY_VALIDATE_DATA, nullptr, &error_), HURRAY_ERR_INVALID_LAYOUT)
        << "unused bits";
    EXPECT_STRNE(error_.message, "");
    memory_.bytes[0] = 5;
    EXPECT_EQ(hurray_tensor_validate(bits, HURRAY_VALIDATE_DATA, nullptr, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_tensor_validate(bits, 0, nullptr, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hurray_tensor_validate(bits, 4, nullptr, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
}

TEST_F(Compute, StatisticsThatWereAskedFor) {
    HurrayTensor* tensor = numbers();
    auto statistics = sized<HurrayStatistics>();
    ASSERT_EQ(hurray_tensor_statistics(tensor, HURRAY_STATISTICS_NNZ | HURRAY_STATISTICS_RANGE | HURRAY_STATISTICS_MOMENTS, nullptr,
                                       &statistics, nullptr),
              HURRAY_OK);
    EXPECT_EQ(statistics.present, 1);
    EXPECT_EQ(statistics.computed_mask,
              std::uint32_t{HURRAY_STATISTICS_NNZ | HURRAY_STATISTICS_RANGE | HURRAY_STATISTICS_MOMENTS});
    EXPECT_EQ(statistics.nnz, 23U);
    EXPECT_EQ(statistics.value_min, 0);
    EXPECT_EQ(statistics.value_max, 23);
    EXPECT_EQ(statistics.value_mean, 11.5);
    EXPECT_EQ(statistics.sparsity_ratio, 0) << "not asked for";
    EXPECT_EQ(hurray_tensor_statistics(tensor, 64, nullptr, &statistics, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(statistics.present, 0);
    auto options = sized<HurrayWorkOptions>();
    options.reserved = 1;
    EXPECT_EQ(hurray_tensor_statistics(tensor, 1, &options, &statistics, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
}

struct Progress {
    int calls = 0;
    int stop_at = 0;
    std::uint64_t done = 0;
    std::uint64_t total = 0;

    static std::uint8_t report(void* context, std::uint64_t done, std::uint64_t total) {
        auto& self = *static_cast<Progress*>(context);
        EXPECT_GE(done, self.done);
        self.done = done;
        self.total = total;
        return ++self.calls == self.stop_at ? 0 : 1;
    }
};

TEST_F(Compute, ProgressIsToldAndMayStopTheWork) {
    std::vector<std::uint8_t> large((3 << 20) + 64);
    HurrayTensor* tensor = dense(HURRAY_TYPE_UINT8, {3 << 10, 1 << 10}, large.data(), 3 << 20);
    auto spec = sized<HurrayTranscodeSpec>();
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    Progress progress;
    auto options = sized<HurrayWorkOptions>();
    options.progress = &Progress::report;
    options.context = &progress;
    HurrayTensor* out = nullptr;
    ASSERT_EQ(hurray_tensor_transcode(tensor, &spec, nullptr, &options, &out, nullptr), HURRAY_OK);
    own(out);
    EXPECT_GE(progress.calls, 2);
    EXPECT_EQ(progress.done, progress.total);
    const int calls = progress.calls;
    for (int stop_at = 1; stop_at <= calls; ++stop_at) {
        progress = {};
        progress.stop_at = stop_at;
        HurrayTensor* none = nullptr;
        EXPECT_EQ(hurray_tensor_transcode(tensor, &spec, nullptr, &options, &none, &error_), HURRAY_ERR_CANCELLED);
        EXPECT_EQ(none, nullptr);
        EXPECT_EQ(progress.calls, stop_at) << "not asked again";
    }
}

TEST_F(Compute, OptionsAreLimitsAndRefusedWhenUnknown) {
    HurrayTensor* tensor = numbers();
    auto spec = sized<HurrayTranscodeSpec>();
    spec.layout = HURRAY_LAYOUT_COL_MAJOR;
    auto options = sized<HurrayWorkOptions>();
    HurrayTensor* out = nullptr;
    const auto transcode = [&] { return hurray_tensor_transcode(tensor, &spec, nullptr, &options, &out, nullptr); };
    options.memory_limit = 16;
    EXPECT_EQ(transcode(), HURRAY_ERR_LIMIT_EXCEEDED);
    options.memory_limit = 0;
    options.reserved = 1;
    EXPECT_EQ(transcode(), HURRAY_ERR_INVALID_ARGUMENT);
    options.reserved = 0;
    options.struct_size = 4;
    EXPECT_EQ(transcode(), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(out, nullptr);
}

/// float32 [4], 1 to 4, whose one buffer has 80 bytes where the descriptor says 16; a member of a partition of [8] on demand.
HurrayTensor* over_a_longer_buffer(unsigned char* memory, const std::uint64_t* offset = nullptr) {
    const float numbers[] = {1, 2, 3, 4, 99};
    std::memcpy(memory, numbers, sizeof numbers);
    const std::uint64_t shape[] = {4};
    const std::uint64_t parent[] = {8};
    const HurrayBufferHandleBytes handle{{16, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0}};
    HurrayDescriptorBuilder* builder = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_ROW_MAJOR, shape, 1, &builder, nullptr), HURRAY_OK);
    if (offset != nullptr) {
        EXPECT_EQ(hurray_descriptor_builder_set_shard(builder, parent, offset, 1, nullptr), HURRAY_OK);
    }
    EXPECT_EQ(hurray_descriptor_builder_add_buffer(builder, &handle, nullptr), HURRAY_OK);
    HurrayDescriptor* descriptor = nullptr;
    EXPECT_EQ(hurray_descriptor_builder_build(builder, &descriptor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_destroy(&builder), HURRAY_OK);
    HurrayBufferList* list = nullptr;
    HurrayBuffer* buffer = nullptr;
    EXPECT_EQ(hurray_buffer_list_new(1, &list), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_from_ptr(memory, 80, 64, HURRAY_DEVICE_CPU, nullptr, nullptr, &buffer), HURRAY_OK);
    EXPECT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    EXPECT_EQ(hurray_tensor_new(descriptor, &list, &tensor, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&descriptor), HURRAY_OK);
    return tensor;
}

// A buffer may be longer than the descriptor says. What is behind is no part of the tensor, for any function.
TEST_F(Compute, BuffersMayBeLongerThanTheDescriptorSays) {
    HurrayTensor* tensor = own(over_a_longer_buffer(memory_.bytes));
    for (const std::uint32_t level : {HURRAY_VALIDATE_DESCRIPTOR, HURRAY_VALIDATE_BUFFERS, HURRAY_VALIDATE_DATA}) {
        EXPECT_EQ(hurray_tensor_validate(tensor, level, nullptr, &error_), HURRAY_OK) << error_.message;
    }
    const std::uint64_t last = 3;
    double value = 0;
    double imaginary = 0;
    EXPECT_EQ(hurray_tensor_element_float64(tensor, &last, 1, &value, &error_), HURRAY_OK) << error_.message;
    EXPECT_EQ(value, 4);
    EXPECT_EQ(hurray_tensor_element_complex128(tensor, &last, 1, &value, &imaginary, nullptr), HURRAY_OK);
    auto bits = sized<HurrayElementBits>();
    EXPECT_EQ(hurray_tensor_element_bits(tensor, &last, 1, &bits, nullptr), HURRAY_OK);
    auto address = sized<HurrayElementAddress>();
    EXPECT_EQ(hurray_tensor_element_address(tensor, &last, 1, &address, nullptr), HURRAY_OK);
    const std::uint64_t beyond = 4;
    EXPECT_EQ(hurray_tensor_element_float64(tensor, &beyond, 1, &value, nullptr), HURRAY_ERR_INDEX_OUT_OF_BOUNDS);

    const std::vector<float> expected = {1, 2, 3, 4};
    EXPECT_EQ(floats_of(transcoded(tensor, HURRAY_LAYOUT_COL_MAJOR)), expected);
    EXPECT_NE(transcoded(tensor, HURRAY_LAYOUT_COO), nullptr);
    HurrayTensor* copy = nullptr;
    std::uint64_t copied = 0;
    EXPECT_EQ(hurray_tensor_copy(tensor, 0, &copy, &copied, nullptr), HURRAY_OK);
    own(copy);
    EXPECT_EQ(copied, 16U);
    HurrayTensor* quantized = nullptr;
    EXPECT_EQ(quantize(tensor, per_tensor_int8(), &quantized), HURRAY_OK) << error_.message;
    auto statistics = sized<HurrayStatistics>();
    EXPECT_EQ(hurray_tensor_statistics(tensor, HURRAY_STATISTICS_RANGE, nullptr, &statistics, &error_), HURRAY_OK) << error_.message;
    EXPECT_EQ(statistics.value_max, 4);

    HurrayWriter* writer = nullptr;
    ASSERT_EQ(hurray_writer_to_memory(&writer, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_writer_write(writer, tensor, &error_), HURRAY_OK) << error_.message;
    EXPECT_EQ(hurray_writer_destroy(&writer), HURRAY_OK);
}

TEST_F(Compute, MembersOfCompositesMayHaveLongerBuffers) {
    const std::uint64_t shape[] = {8};
    HurrayDescriptorBuilder* head_builder = nullptr;
    ASSERT_EQ(hurray_descriptor_builder_new(HURRAY_TYPE_FLOAT32, HURRAY_LAYOUT_COMPOSITE, shape, 1, &head_builder, nullptr), HURRAY_OK);
    auto fields = sized<HurrayLayoutFields>();
    fields.layout = HURRAY_LAYOUT_COMPOSITE;
    fields.composition_rule = HURRAY_COMPOSITION_PARTITION;
    fields.member_count = 2;
    ASSERT_EQ(hurray_descriptor_builder_set_layout_fields(head_builder, &fields, nullptr), HURRAY_OK);
    HurrayDescriptor* head = nullptr;
    ASSERT_EQ(hurray_descriptor_builder_build(head_builder, &head, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_builder_destroy(&head_builder), HURRAY_OK);
    HurrayCompositeBuilder* builder = nullptr;
    ASSERT_EQ(hurray_composite_builder_new(head, &builder, nullptr), HURRAY_OK);
    EXPECT_EQ(hurray_descriptor_destroy(&head), HURRAY_OK);
    for (const std::uint64_t offset : {0, 4}) {
        HurrayTensor* member = own(over_a_longer_buffer(memory_.bytes + 32 * offset, &offset));
        EXPECT_EQ(hurray_composite_builder_add_tensor(builder, member, &error_), HURRAY_OK) << error_.message;
    }
    HurrayComposite* composite = nullptr;
    EXPECT_EQ(hurray_composite_builder_build(builder, &composite, &error_), HURRAY_OK) << error_.message;
    EXPECT_EQ(hurray_composite_builder_destroy(&builder), HURRAY_OK);
    const std::uint64_t sixth = 5;
    double value = 0;
    EXPECT_EQ(hurray_composite_element_float64(composite, &sixth, 1, &value, &error_), HURRAY_OK) << error_.message;
    EXPECT_EQ(value, 2);
    HurrayTensor* merged = nullptr;
    EXPECT_EQ(hurray_composite_merged(composite, nullptr, &merged, &error_), HURRAY_OK) << error_.message;
    own(merged);
    EXPECT_EQ(floats_of(merged), (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
    EXPECT_EQ(hurray_composite_destroy(&composite), HURRAY_OK);
}

// A result that shares memory keeps it, and whatever came with it.
TEST_F(Compute, ResultsKeepTheMemoryThatTheyShare) {
    ReleaseCounter owner;
    // COO [5, 7] of int8, one scale for all: dequantized, it has new values and the same indices.
    std::vector<std::uint8_t> bytes;
    const auto put = [&bytes](std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    };
    for (const char letter : {'H', 'R', 'R', 'Y'}) put(static_cast<std::uint8_t>(letter), 1);
    put(1, 2);
    put(20 + 16 + 8 + 16 + 33 + 20, 4);
    put(HURRAY_SECTION_QUANTIZATION, 4);
    put(HURRAY_TYPE_INT8, 1);
    put(HURRAY_LAYOUT_COO, 1);
    put(2, 4);
    put(5, 8);
    put(7, 8);
    put(0, 8);
    put(2, 8);
    put(1, 8);
    put(2, 1);
    for (const std::uint64_t size : {2, 32}) {
        put(size, 8);
        put(64, 4);
        put(0, 4);
    }
    put(16, 4);
    for (const int byte : {1, 1, 0, 0, 0, 0, 0, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0}) put(static_cast<std::uint64_t>(byte), 1);
    memory_.bytes[0] = 4;
    memory_.bytes[1] = 0xFE;
    const std::uint64_t indices[] = {1, 2, 4, 0};
    std::memcpy(memory_.bytes + 64, indices, sizeof indices);
    HurrayBufferList* list = nullptr;
    ASSERT_EQ(hurray_buffer_list_new(2, &list), HURRAY_OK);
    for (const int i : {0, 1}) {
        HurrayBuffer* buffer = nullptr;
        ASSERT_EQ(hurray_buffer_from_ptr(memory_.bytes + 64 * i, i == 0 ? 2 : 32, 64, HURRAY_DEVICE_CPU, &ReleaseCounter::release,
                                         &releases_, &buffer),
                  HURRAY_OK);
        ASSERT_EQ(hurray_buffer_list_push(list, buffer), HURRAY_OK);
    }
    HurrayTensorContext* context = nullptr;
    ASSERT_EQ(hurray_tensor_context_new(HURRAY_C_ABI_VERSION, bytes.data(), bytes.size(), &owner, &ReleaseCounter::release_owner,
                                        &context),
              HURRAY_OK);
    HurrayTensor* tensor = nullptr;
    HurrayError error{};
    ASSERT_EQ(hurray_tensor_import(&list, &context, &tensor, &error), HURRAY_OK) << error.message;
    HurrayTensor* numbers = nullptr;
    ASSERT_EQ(hurray_tensor_dequantize(tensor, HURRAY_TYPE_FLOAT32, nullptr, &numbers, &error), HURRAY_OK) << error.message;
    EXPECT_EQ(hurray_tensor_destroy(&tensor), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 1) << "the old values only";
    EXPECT_EQ(owner.calls, 0);
    HurrayBuffer* buffer = nullptr;
    auto info = sized<HurrayBufferInfo>();
    ASSERT_EQ(hurray_tensor_buffer(numbers, 0, &buffer, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
    const float values[] = {2, -1};
    EXPECT_EQ(std::memcmp(info.data, values, sizeof values), 0);
    ASSERT_EQ(hurray_tensor_buffer(numbers, 1, &buffer, nullptr), HURRAY_OK);
    ASSERT_EQ(hurray_buffer_info(buffer, &info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.data, memory_.bytes + 64) << "the indices are shared";
    EXPECT_EQ(hurray_tensor_destroy(&numbers), HURRAY_OK);
    EXPECT_EQ(releases_.calls, 2);
    EXPECT_EQ(owner.calls, 1);
}

}  // namespace
