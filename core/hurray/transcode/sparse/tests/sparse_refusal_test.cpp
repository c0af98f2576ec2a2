// Requirements: what cannot be transcoded to or from sparse layouts is refused; limits are kept.
#include "core/hurray/layout/sparse_fields.hpp"
#include "core/hurray/transcode/sparse/sparse_transcode.hpp"
#include "core/hurray/transcode/sparse/tests/sparse_oracle.hpp"

namespace hurray {
namespace {

using test::Bytes;
using test::fault;
using test::fault_of;
using test::json;
using test::sparse_vectors;

const json& vector_of(const char* name) {
    for (const json& entry : sparse_vectors().at("valid")) {
        if (entry.at("name") == name) return entry;
    }
    throw std::runtime_error(name);
}

Tensor rows(const test::Index& shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    Buffer buffer = test::buffer_of(Bytes(count, std::byte{1}));
    DescriptorBuilder builder(test::uint8, layout_tag::row_major, shape);
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    Tensor tensor{builder.build().value(), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

TEST(SparseRefusal, FaultyDataIsRefusedOnEveryWay) {
    int refused = 0;
    for (const char* list : {"faulty", "duplicates"}) {
        for (const json& entry : sparse_vectors().at(list)) {
            const Tensor tensor = test::tensor_of(entry);
            std::vector<Result<Tensor>> results;
            results.push_back(dense_from_sparse(tensor, {}));
            for (const test::SparseLayout& layout : test::sparse_layouts(tensor.descriptor.rank())) {
                // Unsorted entries are looked at only where they must be sorted, which is to every layout.
                results.push_back(sparse_from_sparse(tensor, {.layout = layout.layout, .mode_order = layout.modes}));
            }
            for (const auto& result : results) {
                if (entry.at("offset").is_null()) {
                    EXPECT_TRUE(result.has_value()) << entry.at("name") << ": " << result.error().message;
                    continue;
                }
                ASSERT_FALSE(result.has_value()) << entry.at("name");
                EXPECT_EQ(fault(result), fault_of(Status::invalid_layout, entry.at("offset")))
                    << entry.at("name") << ": " << result.error().message;
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 400);
}

TEST(SparseRefusal, LayoutsThatAreNotMeantAreRefused) {
    const Tensor dense = rows({2, 2});
    const Tensor sparse = test::tensor_of(vector_of("csr_example"));
    for (const int tag : {0x00, 0x01, 0x05, 0x0A, 0x0B, 0x40, 0xF0, 0xFF}) {
        const auto layout = static_cast<std::uint8_t>(tag);
        EXPECT_EQ(sparse_from_dense(dense, {.layout = layout}).error().code, Status::unsupported) << tag;
        EXPECT_EQ(sparse_from_sparse(sparse, {.layout = layout}).error().code, Status::unsupported) << tag;
    }
    for (const int tag : {0x00, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0xF0, 0xFF}) {
        EXPECT_EQ(dense_from_sparse(sparse, {.layout = static_cast<std::uint8_t>(tag)}).error().code,
                  Status::unsupported)
            << tag;
    }
    EXPECT_EQ(sparse_from_dense(sparse, {.layout = layout_tag::coo}).error().code, Status::unsupported);
    EXPECT_EQ(sparse_from_sparse(dense, {.layout = layout_tag::coo}).error().code, Status::unsupported);
    EXPECT_EQ(dense_from_sparse(dense, {}).error().code, Status::unsupported);
}

TEST(SparseRefusal, RanksThatALayoutDoesNotHave) {
    const auto code = [](const test::Index& shape, std::uint8_t layout) {
        return sparse_from_dense(rows(shape), {.layout = layout}).error().code;
    };
    EXPECT_EQ(code({}, layout_tag::coo), Status::invalid_argument);
    for (const test::Index& shape : {test::Index{}, {3}, {2, 2, 2}}) {
        EXPECT_EQ(code(shape, layout_tag::csr), Status::invalid_argument);
        EXPECT_EQ(code(shape, layout_tag::csc), Status::invalid_argument);
    }
    for (const test::Index& shape : {test::Index{}, {3}, {2, 2}}) {
        EXPECT_EQ(code(shape, layout_tag::csf), Status::invalid_argument);
    }
}

TEST(SparseRefusal, SpecsThatSayNonsense) {
    const Tensor dense = rows({2, 2, 2});
    const auto code = [&](const TranscodeSpec& spec) { return sparse_from_dense(dense, spec).error().code; };
    for (const std::vector<std::uint32_t>& modes :
         {std::vector<std::uint32_t>{0}, {0, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, 2, 3}, {~0U, 1, 2}}) {
        EXPECT_EQ(code({.layout = layout_tag::csf, .mode_order = modes}), Status::invalid_argument);
    }
    const std::uint32_t natural[] = {0, 1, 2};
    EXPECT_EQ(code({.layout = layout_tag::coo, .mode_order = natural}), Status::invalid_argument);
    EXPECT_EQ(code({.layout = layout_tag::coo, .morton_bits = natural}), Status::invalid_argument);
    const std::int64_t strides[] = {4, 2, 1};
    EXPECT_EQ(code({.layout = layout_tag::coo, .strides = strides}), Status::invalid_argument);
    for (const std::uint32_t alignment : {1U, 32U, 63U, 65U, 96U}) {
        EXPECT_EQ(code({.layout = layout_tag::coo, .alignment = alignment}), Status::invalid_argument);
    }
    const Tensor sparse = test::tensor_of(vector_of("csf_example"));
    EXPECT_EQ(dense_from_sparse(sparse, {.mode_order = natural}).error().code, Status::invalid_argument);
    EXPECT_EQ(dense_from_sparse(sparse, {.strides = strides}).error().code, Status::invalid_argument);
}

// The bytes of a tensor's buffers.
std::uint64_t bytes_of(const Tensor& tensor) {
    std::uint64_t sum = 0;
    for (const Buffer& buffer : tensor.buffers) sum += buffer.handle.byte_size;
    return sum;
}

TEST(SparseRefusal, MemoryHasALimit) {
    const Tensor dense = rows({40, 50});
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
        const auto sparse = sparse_from_dense(dense, {.layout = layout});
        ASSERT_TRUE(sparse.has_value());
        const std::uint64_t result = bytes_of(*sparse);
        EXPECT_TRUE(sparse_from_dense(dense, {.layout = layout}, {.memory_limit = result}).has_value());
        EXPECT_EQ(sparse_from_dense(dense, {.layout = layout}, {.memory_limit = result - 1}).error().code,
                  Status::limit_exceeded);
        EXPECT_TRUE(dense_from_sparse(*sparse, {}, {.memory_limit = 2000}).has_value());
        EXPECT_EQ(dense_from_sparse(*sparse, {}, {.memory_limit = 1999}).error().code, Status::limit_exceeded);
        EXPECT_TRUE(sparse_from_sparse(*sparse, {.layout = layout}, {.memory_limit = result}).has_value());
        EXPECT_EQ(sparse_from_sparse(*sparse, {.layout = layout}, {.memory_limit = result - 1}).error().code,
                  Status::limit_exceeded);
    }
    // To be sorted: 32 bytes for each of 2000 entries, and 16 from then on beside 17 and the pointers.
    const auto csr = sparse_from_dense(dense, {.layout = layout_tag::csr});
    const TranscodeSpec csc{.layout = layout_tag::csc};
    EXPECT_TRUE(sparse_from_sparse(*csr, csc, {.memory_limit = 64000}).has_value());
    EXPECT_EQ(sparse_from_sparse(*csr, csc, {.memory_limit = 63999}).error().code, Status::limit_exceeded);
}

// One byte that a stride of 0 repeats.
Tensor repeated(const test::Index& shape, std::byte value) {
    DescriptorBuilder builder(test::uint8, layout_tag::strided, shape);
    builder.set_strides(std::vector<std::int64_t>(shape.size(), 0));
    Buffer buffer = test::buffer_of(Bytes(1, value));
    EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    Tensor tensor{builder.build().value(), {}};
    tensor.buffers.push_back(std::move(buffer));
    return tensor;
}

TEST(SparseRefusal, CountingEndsWhereMemoryDoes) {
    struct Case {
        std::uint8_t layout;
        test::Index shape;
    };
    const std::uint64_t many = 1ULL << 58;
    for (const Case& entry : {Case{layout_tag::coo, {many}},
                              {layout_tag::csr, {2, many}},
                              {layout_tag::csc, {many, 2}},
                              {layout_tag::csf, {2, 2, many}},
                              {layout_tag::csf, {many, 2, 2}}}) {
        const Tensor source = repeated(entry.shape, std::byte{1});
        const auto result = sparse_from_dense(source, {.layout = entry.layout}, {.memory_limit = 1 << 20});
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().code, Status::limit_exceeded) << result.error().message;
    }
    // Rows need pointers even when there is nothing in them: known before the first element is looked at.
    const Tensor zeros = repeated({many, 2}, std::byte{0});
    EXPECT_EQ(sparse_from_dense(zeros, {.layout = layout_tag::csr}, {.memory_limit = 1 << 20}).error().code,
              Status::limit_exceeded);
    EXPECT_EQ(sparse_from_dense(repeated({1ULL << 62, 2}, std::byte{0}), {.layout = layout_tag::csr}).error().code,
              Status::limit_exceeded);
}

TEST(SparseRefusal, CsfMayTakeWhatItTakesAndNoLess) {
    const Tensor dense = rows({4, 5, 6});
    const auto sparse = sparse_from_dense(dense, {.layout = layout_tag::csf});
    ASSERT_TRUE(sparse.has_value());
    const std::uint64_t result = bytes_of(*sparse);
    EXPECT_TRUE(sparse_from_dense(dense, {.layout = layout_tag::csf}, {.memory_limit = result}).has_value());
    EXPECT_EQ(sparse_from_dense(dense, {.layout = layout_tag::csf}, {.memory_limit = result - 1}).error().code,
              Status::limit_exceeded);
}

TEST(SparseRefusal, LongWorkIsReportedAndCanBeStopped) {
    const Tensor dense = rows({1000, 2000});
    const auto try_stopping = [](auto&& work) {
        test::Told told;
        ASSERT_TRUE(work(told.options()).has_value());
        EXPECT_GE(told.done.size(), 2U);
        EXPECT_TRUE(std::ranges::is_sorted(told.done));
        EXPECT_EQ(told.done.back(), told.total);
        for (const std::size_t stop : {std::size_t{1}, told.done.size() - 1, told.done.size()}) {
            test::Told stopping;
            stopping.stop_after = stop;
            EXPECT_EQ(work(stopping.options()).error().code, Status::cancelled);
            EXPECT_EQ(stopping.done.size(), stop);
        }
    };
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csc}) {
        try_stopping([&](const WorkOptions& options) { return sparse_from_dense(dense, {.layout = layout}, options); });
    }
    const auto csr = sparse_from_dense(dense, {.layout = layout_tag::csr});
    ASSERT_TRUE(csr.has_value());
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc}) {
        try_stopping([&](const WorkOptions& options) { return sparse_from_sparse(*csr, {.layout = layout}, options); });
    }
    try_stopping([&](const WorkOptions& options) { return dense_from_sparse(*csr, {}, options); });
}

TEST(SparseRefusal, ResultsThatDoNotFitAreRefusedBeforeThereIsMemoryForThem) {
    // 2^61 rows with nothing in them.
    DescriptorBuilder builder(test::uint8, layout_tag::coo, std::array<std::uint64_t, 2>{1ULL << 61, 1});
    builder.set_coo({0, true});
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(builder.add_buffer({.byte_size = 0}).has_value());
    const Tensor coo{builder.build().value(), {Buffer{}, Buffer{}}};
    EXPECT_EQ(sparse_from_sparse(coo, {.layout = layout_tag::csr}).error().code, Status::limit_exceeded);
    EXPECT_TRUE(sparse_from_sparse(coo, {.layout = layout_tag::csc}).has_value());
    EXPECT_FALSE(dense_from_sparse(coo, {}).has_value());
    EXPECT_EQ(dense_from_sparse(coo, {}, {.memory_limit = 1 << 20}).error().code, Status::limit_exceeded);
}

TEST(SparseRefusal, OtherMemoryAndOpaqueTensorsAreNotTouched) {
    Tensor sparse = test::tensor_of(vector_of("csr_example"));
    sparse.buffers[1].handle.sync_mode = 1;
    EXPECT_EQ(sparse_from_sparse(sparse, {.layout = layout_tag::coo}).error().code, Status::invalid_sync_mode);
    EXPECT_EQ(dense_from_sparse(sparse, {}).error().code, Status::invalid_sync_mode);
    Tensor dense = rows({2, 2});
    dense.buffers[0].handle.device_tag = device_tag::cuda;
    EXPECT_EQ(sparse_from_dense(dense, {.layout = layout_tag::coo}).error().code, Status::unsupported);
    dense.buffers.clear();
    EXPECT_EQ(sparse_from_dense(dense, {.layout = layout_tag::coo}).error().code, Status::invalid_argument);
}

}  // namespace
}  // namespace hurray
