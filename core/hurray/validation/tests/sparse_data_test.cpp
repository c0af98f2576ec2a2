// Requirements: validation of data: the index arrays of sparse tensors.
#include <algorithm>
#include <map>
#include <optional>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/tests/sparse_layouts/sparse_layouts.hpp"
#include "core/hurray/validation/sparse_data.hpp"

namespace hurray {
namespace {

using test::buffer_of;
using test::fault;
using test::fault_of;
using test::json;
using test::Random;
using test::sparse_vectors;
using test::tensor_of;

Result<void> check(const Tensor& tensor, const WorkOptions& options = {}) {
    switch (tensor.descriptor.layout()) {
        case layout_tag::coo:
            return check_coo_data(tensor, options);
        case layout_tag::csf:
            return check_csf_data(tensor, options);
        default:
            return check_compressed_data(tensor, options);
    }
}

// What progress was told.
struct Told {
    std::vector<std::uint64_t> done = {};
    std::uint64_t total = 0;
    std::size_t stop_after = ~std::size_t{0};

    static bool tell(void* context, std::uint64_t done, std::uint64_t total) {
        auto& told = *static_cast<Told*>(context);
        told.done.push_back(done);
        told.total = total;
        return told.done.size() < told.stop_after;
    }
};

TEST(SparseData, ValidTensorsPass) {
    for (const json& entry : sparse_vectors().at("valid")) {
        const Tensor tensor = tensor_of(entry);
        Told told;
        const auto checked = check(tensor, {.progress = Told::tell, .context = &told});
        ASSERT_TRUE(checked.has_value()) << entry.at("name") << ": " << checked.error().message;
        EXPECT_EQ(told.done.back(), told.total);
    }
}

TEST(SparseData, EveryFaultHasItsMessage) {
    int refused = 0;
    for (const char* list : {"faulty", "duplicates"}) {
        for (const json& entry : sparse_vectors().at(list)) {
            const auto checked = check(tensor_of(entry));
            if (entry.at("offset").is_null()) {
                EXPECT_TRUE(checked.has_value()) << entry.at("name") << ": " << checked.error().message;
                continue;
            }
            ASSERT_FALSE(checked.has_value()) << entry.at("name") << " was accepted";
            ++refused;
            EXPECT_EQ(fault(checked), fault_of(Status::invalid_layout, entry.at("offset")))
                << entry.at("name") << ": " << checked.error().message;
            const std::string message = checked.error().message;
            EXPECT_EQ(message.find(entry.at("message")), 0U) << entry.at("name") << ": " << message;
            EXPECT_NE(message.find(entry.at("expected")), std::string::npos) << entry.at("name") << ": " << message;
        }
    }
    EXPECT_GT(refused, 100);
}

Tensor unsorted(std::span<const std::uint64_t> shape, const std::vector<std::uint64_t>& indices) {
    const std::uint64_t nnz = indices.size() / shape.size();
    DescriptorBuilder builder(test::uint8, layout_tag::coo, shape);
    builder.set_coo({nnz, false});
    std::vector<Buffer> buffers = {buffer_of(test::Bytes(nnz)), buffer_of(std::as_bytes(std::span(indices)))};
    for (const Buffer& buffer : buffers) EXPECT_TRUE(builder.add_buffer(buffer.handle).has_value());
    return {builder.build().value(), std::move(buffers)};
}

// Random entries in a shape so large that bits for all elements take more memory than the entries, or so small that
// they do not, with and without a pair of equal ones: against a set.
TEST(SparseData, DuplicatesOfUnsortedEntriesAreFoundWhicheverWay) {
    Random random(77);
    for (const std::vector<std::uint64_t>& shape :
         {std::vector<std::uint64_t>{1ULL << 31, 1ULL << 31}, {1ULL << 20, 3, 1ULL << 40}, {40, 50}, {3000},
          {~std::uint64_t{0} - 1}}) {
        for (int round = 0; round < 60; ++round) {
            std::vector<std::uint64_t> indices;
            std::map<std::vector<std::uint64_t>, std::uint64_t> met;
            std::optional<std::pair<std::uint64_t, std::uint64_t>> expected;
            const std::uint64_t count = 2 + random.below(60);
            for (std::uint64_t entry = 0; entry < count; ++entry) {
                std::vector<std::uint64_t> index;
                for (const std::uint64_t size : shape) index.push_back(random.next() % size);
                if (round % 2 == 1 && entry != 0 && random.below(20) == 0) {
                    const auto from = indices.begin() + static_cast<std::ptrdiff_t>(random.below(entry) * shape.size());
                    index.assign(from, from + static_cast<std::ptrdiff_t>(shape.size()));
                }
                indices.insert(indices.end(), index.begin(), index.end());
                const auto [at, is_new] = met.emplace(index, entry);
                if (!is_new && !expected) expected = {entry, at->second};
            }
            const auto checked = check_coo_data(unsorted(shape, indices));
            ASSERT_EQ(checked.has_value(), !expected.has_value());
            if (!expected) continue;
            EXPECT_EQ(fault(checked), fault_of(Status::invalid_layout, expected->first * shape.size() * 8));
            EXPECT_NE(std::string(checked.error().message).find("got that of entry " + std::to_string(expected->second)),
                      std::string::npos)
                << checked.error().message;
        }
    }
}

TEST(SparseData, MemoryHasALimit) {
    const std::vector<std::uint64_t> indices = {7, 3, 1, 0};
    // 1000 bits or four entries of 32 bytes: 126 bytes.
    const Tensor small = unsorted(std::array<std::uint64_t, 1>{1000}, indices);
    EXPECT_TRUE(check_coo_data(small, {.memory_limit = 126}).has_value());
    EXPECT_EQ(check_coo_data(small, {.memory_limit = 125}).error().code, Status::limit_exceeded);
    const Tensor large = unsorted(std::array<std::uint64_t, 1>{1 << 30}, indices);
    EXPECT_TRUE(check_coo_data(large, {.memory_limit = 128}).has_value());
    EXPECT_EQ(check_coo_data(large, {.memory_limit = 127}).error().code, Status::limit_exceeded);
    // The others need none.
    for (const json& entry : sparse_vectors().at("valid")) {
        const Tensor tensor = tensor_of(entry);
        if (tensor.descriptor.layout() == layout_tag::coo && !coo_fields(tensor.descriptor).is_sorted) continue;
        EXPECT_TRUE(check(tensor, {.memory_limit = 1}).has_value()) << entry.at("name");
    }
}

TEST(SparseData, LongWorkIsReportedAndCanBeStopped) {
    constexpr std::uint64_t count = 3 << 20;
    std::vector<std::uint64_t> indices(count);
    for (std::uint64_t i = 0; i < count; ++i) indices[i] = count - i;
    for (const std::uint64_t size : {std::uint64_t{count} * 2, std::uint64_t{1} << 40}) {
        const Tensor tensor = unsorted(std::array<std::uint64_t, 1>{size}, indices);
        Told told;
        ASSERT_TRUE(check_coo_data(tensor, {.progress = Told::tell, .context = &told}).has_value());
        EXPECT_GE(told.done.size(), 3U);
        EXPECT_TRUE(std::ranges::is_sorted(told.done));
        EXPECT_EQ(told.done.back(), told.total);
        for (const std::size_t stop : {std::size_t{1}, std::size_t{3}, told.done.size()}) {
            Told stopping;
            stopping.stop_after = stop;
            EXPECT_EQ(check_coo_data(tensor, {.progress = Told::tell, .context = &stopping}).error().code,
                      Status::cancelled);
            EXPECT_EQ(stopping.done.size(), stop);
        }
    }
}

TEST(SparseData, OtherLayoutsAreRefused) {
    const Tensor dense{test::build({.shape = {3}, .buffers = {{.byte_size = 12}}}).value(), {buffer_of(test::Bytes(12))}};
    EXPECT_EQ(check_coo_data(dense).error().code, Status::unsupported);
    EXPECT_EQ(check_compressed_data(dense).error().code, Status::unsupported);
    EXPECT_EQ(check_csf_data(dense).error().code, Status::unsupported);
}

}  // namespace
}  // namespace hurray
