// Requirements: COO, CSR, CSC and CSF descriptors are read, refused and written as the format says.
#include <algorithm>

#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/sparse_fields.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tests/sparse_layouts/sparse_layouts.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::bytes_of;
using test::fault;
using test::fault_of;
using test::json;
using test::sparse_vectors;

Bytes with_length(Bytes bytes, std::uint32_t length) {
    for (std::size_t i = 0; i < 4; ++i) bytes[6 + i] = static_cast<std::byte>(length >> 8 * i);
    bytes.resize(length);
    return bytes;
}

// What the typed readers say, as the vectors have it.
json fields_of(const Descriptor& descriptor) {
    if (descriptor.layout() == layout_tag::coo) {
        const CooFields fields = coo_fields(descriptor);
        return {{"nnz", fields.nnz}, {"is_sorted", fields.is_sorted}};
    }
    if (descriptor.layout() == layout_tag::csf) {
        const CsfFields fields = csf_fields(descriptor);
        return {{"nnz", fields.nnz}, {"mode_order", fields.mode_order}};
    }
    return {{"nnz", compressed_fields(descriptor).nnz}};
}

std::vector<json> all_valid() {
    std::vector<json> all = sparse_vectors().at("valid");
    for (const json& entry : sparse_vectors().at("large")) all.push_back(entry);
    return all;
}

TEST(SparseLayouts, ThereAreManyVectorsOfEachKindForEachLayout) {
    for (const int tag : {0x06, 0x07, 0x08, 0x09}) {
        const auto valid = all_valid();
        EXPECT_GE(std::count_if(valid.begin(), valid.end(), [&](const json& e) { return e.at("layout_tag") == tag; }), 40);
        const json& invalid = sparse_vectors().at("invalid");
        EXPECT_GE(std::count_if(invalid.begin(), invalid.end(),
                                [&](const json& e) { return bytes_of(e)[15] == static_cast<std::byte>(tag); }),
                  90);
    }
}

TEST(SparseLayouts, ValidVectorsDecodeToTheirFieldsAndEncodeToTheSameBytes) {
    for (const json& entry : all_valid()) {
        const Bytes bytes = bytes_of(entry);
        const auto decoded = test::decode_exact(bytes);
        ASSERT_TRUE(decoded.has_value()) << entry.at("name") << ": " << decoded.error().message;
        EXPECT_EQ(decoded->layout(), entry.at("layout_tag"));
        EXPECT_EQ(decoded->element_type(), entry.at("type_tag"));
        EXPECT_EQ(json(decoded->shape()), entry.at("shape")) << entry.at("name");
        EXPECT_EQ(decoded->byte_offset(), 0U);
        EXPECT_EQ(fields_of(*decoded), entry.at("layout_fields")) << entry.at("name");
        EXPECT_EQ(stored_element_count(*decoded), entry.at("layout_fields").at("nnz"));
        EXPECT_EQ(test::encoded(*decoded), bytes) << entry.at("name");
        EXPECT_TRUE(decoded->strides().empty());
        const Descriptor copy = *decoded;
        EXPECT_EQ(test::encoded(copy), bytes) << entry.at("name");
        if (!entry.contains("buffers")) continue;
        ASSERT_EQ(decoded->buffers().size(), entry.at("buffers").size());
        for (std::size_t i = 0; i < decoded->buffers().size(); ++i) {
            const std::string hex = entry.at("buffers").at(i);
            EXPECT_EQ(decoded->buffers()[i].byte_size, hex.size() / 2) << entry.at("name");
        }
    }
}

TEST(SparseLayouts, TheBuilderMakesTheBytesOfTheOtherEncoder) {
    for (const json& entry : all_valid()) {
        const Bytes bytes = bytes_of(entry);
        const auto decoded = test::decode_exact(bytes).value();
        DescriptorBuilder builder(entry.at("type_tag"), entry.at("layout_tag"),
                                  entry.at("shape").get<std::vector<std::uint64_t>>());
        test::set_fields(builder, entry);
        for (const BufferHandle& handle : decoded.buffers()) ASSERT_TRUE(builder.add_buffer(handle).has_value());
        if (decoded.has_shard()) builder.set_shard(decoded.parent_shape(), decoded.shard_offset());
        if (const auto fields = quantization_fields(decoded)) builder.set_quantization(*fields);
        if (const auto fields = statistics_fields(decoded)) builder.set_statistics(*fields);
        for (int round = 0; round < 2; ++round) {
            const auto built = builder.build();
            ASSERT_TRUE(built.has_value()) << entry.at("name") << ": " << built.error().message;
            EXPECT_EQ(test::encoded(*built), bytes) << entry.at("name");
            // Once more with what the reader says.
            if (decoded.layout() == layout_tag::csf) builder.set_csf(csf_fields(decoded));
        }
    }
}

TEST(SparseLayouts, InvalidVectorsAreRefusedAtTheFieldAtFault) {
    for (const json& entry : sparse_vectors().at("invalid")) {
        const auto decoded = test::decode_exact(bytes_of(entry));
        ASSERT_FALSE(decoded.has_value()) << entry.at("name") << " was accepted";
        EXPECT_EQ(fault(decoded), fault_of(static_cast<Status>(entry.at("code").get<int>()), entry.at("offset")))
            << entry.at("name") << ": " << decoded.error().message;
        EXPECT_NE(std::string(decoded.error().message).find(entry.at("field")), std::string::npos)
            << entry.at("name") << ": " << decoded.error().message;
    }
}

TEST(SparseLayouts, EveryTruncationIsRefusedWithinWhatIsThere) {
    for (const json& entry : all_valid()) {
        const Bytes bytes = bytes_of(entry);
        std::uint64_t last = 0;
        for (std::uint32_t length = fixed_header_size; length < bytes.size(); ++length) {
            const auto decoded = test::decode_exact(with_length(bytes, length));
            ASSERT_FALSE(decoded.has_value()) << entry.at("name") << " of " << length;
            EXPECT_EQ(decoded.error().code == Status::invalid_quantization ? Status::invalid_layout : decoded.error().code,
                      Status::invalid_layout);
            EXPECT_LE(decoded.error().offset, length) << entry.at("name") << ": " << decoded.error().message;
            EXPECT_GE(decoded.error().offset, last) << entry.at("name") << ": " << decoded.error().message;
            last = decoded.error().offset;
            // The input ends early instead.
            EXPECT_EQ(fault(test::decode_exact(std::span(bytes).first(length))), fault_of(Status::invalid_layout, 6));
        }
    }
}

TEST(SparseLayouts, EverySingleByteMutationIsRefusedOrEncodesToTheSameBytes) {
    std::uint64_t accepted = 0;
    for (const json& entry : all_valid()) {
        Bytes bytes = bytes_of(entry);
        if (bytes.size() > 400) continue;
        for (std::byte& at : bytes) {
            const std::byte before = at;
            for (const int value : {0, 1, 2, 3, 8, 0x10, 0x40, 0x7F, 0x80, 0xFE, 0xFF}) {
                at = static_cast<std::byte>(value);
                const auto decoded = test::decode_exact(bytes);
                if (!decoded) {
                    ASSERT_LE(decoded.error().offset, bytes.size());
                    continue;
                }
                ++accepted;
                const Bytes again = test::encoded(*decoded);
                ASSERT_LE(again.size(), bytes.size());
                ASSERT_TRUE(std::equal(again.begin(), again.end(), bytes.begin())) << entry.at("name");
            }
            at = before;
        }
    }
    EXPECT_GT(accepted, 10000U);
}

DescriptorBuilder matrix(std::uint8_t layout) {
    return DescriptorBuilder(test::float32, layout, std::array<std::uint64_t, 2>{3, 3});
}

TEST(SparseLayouts, FieldsAreThoseOfTheirLayoutOnly) {
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
        EXPECT_EQ(fault(matrix(layout).build()), fault_of(Status::invalid_layout, 44)) << int{layout};
        if (layout != layout_tag::coo) {
            EXPECT_EQ(fault(matrix(layout).set_coo({1, true}).build()), fault_of(Status::invalid_layout, 44));
        }
        EXPECT_EQ(fault(matrix(layout).set_csf(1, std::array<std::uint32_t, 2>{0, 1}).build()),
                  fault_of(Status::invalid_layout, 44));
    }
    EXPECT_EQ(fault(matrix(layout_tag::coo).set_compressed(1).build()), fault_of(Status::invalid_layout, 44));
    EXPECT_EQ(fault(matrix(layout_tag::row_major).set_compressed(1).build()), fault_of(Status::invalid_layout, 44));
}

TEST(SparseLayouts, ModeOrderHasAValueForEachDimension) {
    const std::array<std::uint64_t, 3> shape = {2, 3, 4};
    for (const std::size_t count : {0, 2, 4, 64}) {
        DescriptorBuilder builder(test::float32, layout_tag::csf, shape);
        builder.set_csf(0, std::vector<std::uint32_t>(count));
        const auto built = builder.build();
        EXPECT_EQ(fault(built), fault_of(Status::invalid_layout, 60));
        EXPECT_NE(std::string(built.error().message).find("mode_order"), std::string::npos);
        // A fault that comes before it is reported instead.
        EXPECT_EQ(fault(builder.set_byte_offset(8).build()), fault_of(Status::invalid_layout, 44));
    }
}

TEST(SparseLayouts, ModesOfMoreThan32BitsAreRefusedNotCutOff) {
    const std::array<std::uint64_t, 3> shape = {2, 3, 4};
    DescriptorBuilder builder(test::float32, layout_tag::csf, shape);
    const std::array<std::uint64_t, 3> order = {0, (std::uint64_t{1} << 32) + 1, 2};
    EXPECT_EQ(fault(builder.set_csf({0, order}).build()), fault_of(Status::invalid_layout, 64));
}

TEST(SparseLayouts, ReadersOfOtherLayoutsSayNothing) {
    const Descriptor dense = test::build({.shape = {3}, .buffers = {{.byte_size = 12}}}).value();
    EXPECT_EQ(coo_fields(dense), CooFields{});
    EXPECT_EQ(compressed_fields(dense), CompressedFields{});
    EXPECT_EQ(csf_fields(dense).nnz, 0U);
    EXPECT_TRUE(csf_fields(dense).mode_order.empty());
    EXPECT_EQ(stored_element_count(dense), 0U);
}

// The message of a vector's refusal.
std::string message(const std::string& name) {
    for (const json& entry : sparse_vectors().at("invalid")) {
        if (entry.at("name") == name) return test::decode_exact(bytes_of(entry)).error().message;
    }
    ADD_FAILURE() << "no vector " << name;
    return "";
}

TEST(SparseLayouts, MessagesNameFieldAndExpectation) {
    EXPECT_EQ(message("coo_byte_offset_1"), "byte_offset: expected 0 for a sparse layout, got 1");
    EXPECT_EQ(message("csr_nnz_21"), "nnz: expected at most the 20 elements of the shape, got 21");
    EXPECT_EQ(message("csf_buffers_6"), "buffer_count: expected 7 for csf of this rank, got 6");
    EXPECT_EQ(message("csr_nothing_2"), "buffer 2 (row_ptr): byte_size: expected room for 5 entries of 8 bytes, got 0");
    EXPECT_EQ(message("csc_nothing_1"),
              "buffer 1 (row_indices): byte_size: expected room for 5 entries of 8 bytes, got 0");
    EXPECT_EQ(message("csf_nothing_3"),
              "buffer 3 (pos_1): byte_size: expected exactly 24, 8 for each of the 2 nodes above and 8 more, got 0");
    EXPECT_EQ(message("csf_nothing_6"), "buffer 6 (crd_2): byte_size: expected exactly 8 for each of 4 nodes, got 0");
    EXPECT_EQ(message("csf_modes_0_0_2"), "mode_order[1]: expected each dimension once, got 0 again");
    EXPECT_EQ(message("csf_shard"), "shard: expected no such section for layout csf");
    EXPECT_EQ(message("coo_statistics_nnz"), "nnz: expected the layout's nnz = 5, got 6");
}

}  // namespace
}  // namespace hurray
