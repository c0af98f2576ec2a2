// Requirements: transcoding between dense and sparse layouts, and between sparse ones, keeps every bit of every element.
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/transcode/sparse/sparse_transcode.hpp"
#include "core/hurray/transcode/sparse/tests/sparse_oracle.hpp"
#include "core/hurray/transcode/transcode.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::Elements;
using test::json;
using test::Random;
using test::SparseLayout;
using test::sparse_vectors;

// The vectors without other sections.
std::vector<json> plain_vectors() {
    std::vector<json> all;
    for (const json& entry : sparse_vectors().at("valid")) {
        if ((test::tensor_of(entry).descriptor.flags() & descriptor_flag::quantization) == 0) all.push_back(entry);
    }
    return all;
}

Tensor dense_of(std::uint8_t type, std::span<const std::uint64_t> shape, const Bytes& bytes) {
    DescriptorBuilder builder(type, layout_tag::row_major, shape);
    Buffer buffer = test::buffer_of(bytes);
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    Tensor tensor{builder.build().value(), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

Tensor dense_of(const json& entry) {
    return dense_of(entry.at("type_tag"), entry.at("shape").get<test::Index>(), test::from_hex(entry.at("dense")));
}

TEST(SparseTranscode, SparseToDenseIsWhatTheOtherImplementationSays) {
    for (const json& entry : plain_vectors()) {
        const auto dense = dense_from_sparse(test::tensor_of(entry), {});
        ASSERT_TRUE(dense.has_value()) << entry.at("name") << ": " << dense.error().message;
        EXPECT_EQ(dense->descriptor.layout(), layout_tag::row_major);
        EXPECT_TRUE(std::ranges::equal(dense->descriptor.shape(), entry.at("shape").get<test::Index>()));
        EXPECT_EQ(test::bytes_of(dense->buffers.at(0)), test::from_hex(entry.at("dense"))) << entry.at("name");
    }
}

TEST(SparseTranscode, DenseToSparseIsWhatTheOtherImplementationSays) {
    int compared = 0;
    for (const json& entry : plain_vectors()) {
        const std::string name = entry.at("name");
        // Zeros are not stored, entries are sorted, and buffers have nothing to spare.
        if (name.find("zero") != std::string::npos || name.find("spare") != std::string::npos ||
            name.find("unsorted") != std::string::npos) {
            continue;
        }
        std::vector<std::uint32_t> modes;
        if (entry.at("layout_tag") == layout_tag::csf) entry.at("layout_fields").at("mode_order").get_to(modes);
        const auto made = sparse_from_dense(dense_of(entry), {.layout = entry.at("layout_tag"), .mode_order = modes});
        ASSERT_TRUE(made.has_value()) << name << ": " << made.error().message;
        ASSERT_EQ(made->buffers.size(), entry.at("buffers").size()) << name;
        for (std::size_t i = 0; i < made->buffers.size(); ++i) {
            EXPECT_EQ(test::bytes_of(made->buffers[i]), test::from_hex(entry.at("buffers").at(i))) << name << ' ' << i;
        }
        ++compared;
    }
    EXPECT_GT(compared, 140);
}

TEST(SparseTranscode, EverySparseLayoutBecomesEveryOther) {
    for (const json& entry : plain_vectors()) {
        const Tensor tensor = test::tensor_of(entry);
        const auto shape = tensor.descriptor.shape();
        if (shape.size() > 8) continue;
        const ElementTypeInfo type = element_type_info(tensor.descriptor);
        const Elements elements = test::elements_of(entry, type);
        for (const SparseLayout& layout : test::sparse_layouts(shape.size())) {
            std::vector<TranscodeSpec> specs = {{.layout = layout.layout, .mode_order = layout.modes}};
            // A spec without modes means them in their natural order.
            if (std::ranges::is_sorted(layout.modes)) specs.push_back({.layout = layout.layout});
            for (const TranscodeSpec& spec : specs) {
                test::Told told;
                const auto made = sparse_from_sparse(tensor, spec, told.options());
                ASSERT_TRUE(made.has_value()) << entry.at("name") << ": " << made.error().message;
                test::expect_buffers(*made, layout, test::expected_buffers(elements, shape, layout, type),
                                     entry.at("name"));
                EXPECT_EQ(told.done.back(), told.total);
            }
        }
    }
}

TEST(SparseTranscode, ZerosThatAreStoredStayStored) {
    int met = 0;
    for (const json& entry : plain_vectors()) {
        if (entry.at("name").get<std::string>().find("values_that_are_zero") == std::string::npos) continue;
        ++met;
        const Tensor tensor = test::tensor_of(entry);
        const auto sparse = sparse_from_sparse(tensor, {.layout = layout_tag::coo});
        ASSERT_TRUE(sparse.has_value());
        EXPECT_EQ(coo_fields(sparse->descriptor).nnz, 2U);
        // By way of a dense tensor they are not.
        const auto dense = dense_from_sparse(tensor, {});
        EXPECT_EQ(coo_fields(sparse_from_dense(dense.value(), {.layout = layout_tag::coo})->descriptor).nnz, 1U);
    }
    EXPECT_EQ(met, 4);
}

TEST(SparseTranscode, NegativeZerosAndNansAreElements) {
    // 0, -0, a signalling NaN with a payload, 0.
    Bytes bytes(16);
    store_le(bytes.data() + 4, 0x80000000U);
    store_le(bytes.data() + 8, 0x7FA00001U);
    const Tensor dense = dense_of(test::float32, std::array<std::uint64_t, 2>{2, 2}, bytes);
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
        const auto sparse = sparse_from_dense(dense, {.layout = layout});
        ASSERT_TRUE(sparse.has_value());
        EXPECT_EQ(SparseView::make(*sparse)->nnz(), 2U);
        EXPECT_EQ(test::bytes_of(dense_from_sparse(*sparse, {})->buffers[0]), bytes);
    }
}

// Random elements of all types, most of them 0, long enough for blocks to be passed over and for several pieces.
TEST(SparseTranscode, DenseTensorsOfEveryTypeGoThereAndBack) {
    Random random(11);
    for (int tag = 0; tag < 256; ++tag) {
        const ElementTypeInfo* type = find_element_type(static_cast<std::uint8_t>(tag));
        if (type == nullptr) continue;
        for (const test::Index& shape : {test::Index{5000}, {3, 1700}, {1700, 3}, {7, 11, 13}, {2, 3, 600}}) {
            std::uint64_t count = 1;
            for (const std::uint64_t size : shape) count *= size;
            std::vector<std::vector<bool>> values(count, std::vector<bool>(type->bits));
            Elements elements;
            std::uint64_t at = 0;
            test::Index index(shape.size());
            for (auto& value : values) {
                std::uint64_t rest = at;
                for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k]) index[k] = rest % shape[k];
                // Clusters with long gaps.
                if (at % 1000 < 40 ? random.below(2) == 0 : random.below(200) == 0) {
                    value[random.below(type->bits)] = true;
                    elements.emplace(index, value);
                }
                ++at;
            }
            const Tensor dense = dense_of(type->tag, shape, test::packed(values, *type));
            for (const SparseLayout& layout : test::sparse_layouts(shape.size())) {
                const auto sparse = sparse_from_dense(dense, {.layout = layout.layout, .mode_order = layout.modes});
                ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
                const std::string name = type->name;
                if (layout.layout != layout_tag::csf || tag % 5 == 0) {
                    test::expect_buffers(*sparse, layout, test::expected_buffers(elements, shape, layout, *type), name);
                }
                const auto back = dense_from_sparse(*sparse, {});
                ASSERT_TRUE(back.has_value()) << back.error().message;
                ASSERT_EQ(test::bytes_of(back->buffers[0]), test::bytes_of(dense.buffers[0])) << name;
                const auto coo = sparse_from_sparse(*sparse, {.layout = layout_tag::coo});
                ASSERT_TRUE(coo.has_value()) << coo.error().message;
                test::expect_buffers(*coo, {layout_tag::coo},
                                     test::expected_buffers(elements, shape, {layout_tag::coo}, *type), name);
            }
        }
    }
}

// The ways to write a shape of 8 x 8 x 8.
std::vector<TranscodeSpec> dense_specs(std::vector<std::vector<std::int64_t>>& strides,
                                       std::vector<std::vector<TiledLevel>>& tiles) {
    static constexpr std::uint64_t four[] = {4, 2, 4};
    static constexpr std::uint64_t two[] = {2, 1, 2};
    strides = {{1, 8, 64}, {-100, 9, -1}, {64, -8, 1}};
    tiles = {{{.tile_shape = four, .outer_layout = 1, .inner_layout = 2}},
             {{.tile_shape = four, .outer_layout = 2, .inner_layout = 4},
              {.tile_shape = two, .outer_layout = 1, .inner_layout = 1}}};
    std::vector<TranscodeSpec> specs = {{.layout = layout_tag::row_major},
                                        {.layout = layout_tag::col_major},
                                        {.layout = layout_tag::morton},
                                        {.layout = layout_tag::hilbert}};
    for (const auto& steps : strides) specs.push_back({.layout = layout_tag::strided, .strides = steps});
    for (const auto& levels : tiles) specs.push_back({.layout = layout_tag::tiled, .tiled = levels});
    return specs;
}

TEST(SparseTranscode, EveryDenseLayoutGoesToEverySparseOneAndBack) {
    std::vector<std::vector<std::int64_t>> strides;
    std::vector<std::vector<TiledLevel>> tiles;
    const auto specs = dense_specs(strides, tiles);
    const std::array<std::uint64_t, 3> shape = {8, 8, 8};
    Random random(3);
    for (const std::uint8_t tag : {test::float32, test::boolean, test::float6, test::int4, std::uint8_t{0x51}}) {
        const ElementTypeInfo& type = *find_element_type(tag);
        Bytes bytes(packed_size(type, 512).value());
        for (std::byte& byte : bytes) byte = random.below(4) == 0 ? static_cast<std::byte>(random.next()) : std::byte{0};
        const Tensor rows = dense_of(tag, shape, bytes);
        for (const TranscodeSpec& spec : specs) {
            const auto dense = transcode(rows, spec);
            ASSERT_TRUE(dense.has_value()) << dense.error().message;
            for (const SparseLayout& layout : test::sparse_layouts(3)) {
                const TranscodeSpec wanted{.layout = layout.layout, .mode_order = layout.modes};
                const auto of_rows = sparse_from_dense(rows, wanted);
                const auto sparse = sparse_from_dense(*dense, wanted);
                ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
                ASSERT_EQ(sparse->buffers.size(), of_rows->buffers.size());
                for (std::size_t i = 0; i < sparse->buffers.size(); ++i) {
                    ASSERT_EQ(test::bytes_of(sparse->buffers[i]), test::bytes_of(of_rows->buffers[i]));
                }
                const auto back = dense_from_sparse(*sparse, spec);
                ASSERT_TRUE(back.has_value()) << back.error().message;
                ASSERT_EQ(test::bytes_of(back->buffers[0]), test::bytes_of(dense->buffers[0]))
                    << type.name << " to layout " << int{spec.layout};
                ASSERT_EQ(back->descriptor.byte_offset(), dense->descriptor.byte_offset());
            }
        }
    }
}

TEST(SparseTranscode, TranscodeKnowsTheseWays) {
    const Tensor dense = dense_of(test::uint8, std::array<std::uint64_t, 2>{2, 2}, Bytes(4, std::byte{7}));
    const auto csr = transcode(dense, {.layout = layout_tag::csr});
    ASSERT_TRUE(csr.has_value()) << csr.error().message;
    const auto csc = transcode(*csr, {.layout = layout_tag::csc});
    ASSERT_TRUE(csc.has_value()) << csc.error().message;
    EXPECT_EQ(csc->descriptor.layout(), layout_tag::csc);
    const auto columns = transcode(*csc, {.layout = layout_tag::col_major});
    ASSERT_TRUE(columns.has_value()) << columns.error().message;
    EXPECT_EQ(columns->descriptor.layout(), layout_tag::col_major);
    EXPECT_EQ(test::bytes_of(columns->buffers[0]), test::bytes_of(dense.buffers[0]));
}

TEST(SparseTranscode, BroadcastElementsAndOffsetsAreRead) {
    // Three rows that are one, from the second byte on.
    const std::array<std::uint64_t, 2> shape = {3, 4};
    DescriptorBuilder builder(test::uint8, layout_tag::strided, shape);
    builder.set_strides(std::array<std::int64_t, 2>{0, 1}).set_byte_offset(2);
    const Bytes bytes = {std::byte{9}, std::byte{9}, std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}};
    Buffer buffer = test::buffer_of(bytes);
    ASSERT_TRUE(builder.add_buffer(buffer.handle).has_value());
    Tensor dense{builder.build().value(), {}};
    dense.buffers.push_back(std::move(buffer));
    const auto sparse = sparse_from_dense(dense, {.layout = layout_tag::csr});
    ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
    EXPECT_EQ(test::bytes_of(sparse->buffers[1]), test::numbers({0, 2, 0, 2, 0, 2}));
    EXPECT_EQ(test::bytes_of(sparse->buffers[2]), test::numbers({0, 2, 4, 6}));
    const auto csc = sparse_from_dense(dense, {.layout = layout_tag::csc});
    EXPECT_EQ(test::bytes_of(csc->buffers[2]), test::numbers({0, 3, 3, 6, 6}));
    // Nobody else's bytes.
    dense.buffers[0].prefix = 2;
    EXPECT_TRUE(sparse_from_dense(dense, {.layout = layout_tag::csr}).has_value());
    dense.buffers[0].prefix = 3;
    EXPECT_EQ(sparse_from_dense(dense, {.layout = layout_tag::csr}).error().code, Status::invalid_layout);
}

TEST(SparseTranscode, EmptyTensorsStayEmpty) {
    for (const test::Index& shape : {test::Index{0}, {0, 3}, {3, 0}, {0, 0}, {2, 0, 3}, {0, 0, 0}}) {
        const Tensor dense = dense_of(test::float32, shape, {});
        for (const SparseLayout& layout : test::sparse_layouts(shape.size())) {
            const auto sparse = sparse_from_dense(dense, {.layout = layout.layout, .mode_order = layout.modes});
            ASSERT_TRUE(sparse.has_value()) << sparse.error().message;
            test::expect_buffers(*sparse, layout,
                                 test::expected_buffers({}, shape, layout, *find_element_type(test::float32)), "empty");
            const auto back = dense_from_sparse(*sparse, {});
            ASSERT_TRUE(back.has_value()) << back.error().message;
            EXPECT_EQ(back->buffers[0].handle.byte_size, 0U);
        }
    }
}

}  // namespace
}  // namespace hurray
