// Requirements: entries of sparse tensors are found and walked through, whatever is in their buffers.
#include <algorithm>
#include <map>

#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/tests/sparse_layouts/sparse_layouts.hpp"

namespace hurray {
namespace {

using test::buffer_of;
using test::fault;
using test::fault_of;
using test::json;
using test::Random;
using test::sparse_vectors;
using test::tensor_of;

using Index = std::vector<std::uint64_t>;

std::vector<Index> indices_of(const json& entry) {
    std::vector<Index> all;
    for (const json& element : entry.at("elements")) all.push_back(element.at(0).get<Index>());
    return all;
}

// Calls `use` with every index of a small shape.
template <typename Use>
void for_each_index(std::span<const std::uint64_t> shape, Use&& use) {
    Index index(shape.size());
    if (std::ranges::find(shape, 0U) != shape.end()) return;
    while (true) {
        use(index);
        std::size_t k = shape.size();
        while (k > 0 && ++index[k - 1] == shape[k - 1]) index[--k] = 0;
        if (k == 0) return;
    }
}

TEST(SparseView, ElementsAreFoundWhereTheyAreStored) {
    for (const json& entry : sparse_vectors().at("valid")) {
        const Tensor tensor = tensor_of(entry);
        const auto view = SparseView::make(tensor);
        ASSERT_TRUE(view.has_value()) << entry.at("name") << ": " << view.error().message;
        std::map<Index, std::uint64_t> stored;
        for (const Index& index : indices_of(entry)) stored.emplace(index, stored.size());
        for_each_index(view->shape(), [&](const Index& index) {
            const auto found = view->find(index);
            ASSERT_TRUE(found.has_value()) << entry.at("name") << ": " << found.error().message;
            const auto expected = stored.find(index);
            ASSERT_EQ(found->has_value(), expected != stored.end()) << entry.at("name");
            if (found->has_value()) {
                ASSERT_EQ(**found, expected->second) << entry.at("name");
            }
        });
    }
}

TEST(SparseView, EntriesAreHandedOutInTheOrderOfStorage) {
    for (const json& entry : sparse_vectors().at("valid")) {
        const Tensor tensor = tensor_of(entry);
        const auto view = SparseView::make(tensor).value();
        const std::vector<Index> expected = indices_of(entry);
        EXPECT_EQ(view.nnz(), expected.size());
        EXPECT_EQ(view.layout(), entry.at("layout_tag"));
        EXPECT_GE(view.values().size(), packed_byte_size(tensor.descriptor.element_type(), view.nnz()).value());
        std::uint64_t next = 0;
        std::uint64_t read = 0;
        const auto walked = view.for_each(
            [&](std::span<const std::uint64_t> index, std::uint64_t position) {
                EXPECT_EQ(position, next);
                ASSERT_LT(next, expected.size());
                EXPECT_TRUE(std::ranges::equal(index, expected[next])) << entry.at("name");
                ++next;
            },
            [&](std::uint64_t entries) {
                read += entries;
                return true;
            });
        ASSERT_TRUE(walked.has_value()) << entry.at("name") << ": " << walked.error().message;
        EXPECT_EQ(next, expected.size()) << entry.at("name");
        EXPECT_LE(read, view.index_entries()) << entry.at("name");
        EXPECT_GE(read, next);
    }
}

TEST(SparseView, WalksEndWhereTheyAreToldTo) {
    for (const json& entry : sparse_vectors().at("valid")) {
        const Tensor tensor = tensor_of(entry);
        const auto view = SparseView::make(tensor).value();
        if (view.nnz() < 2) continue;
        int calls = 0;
        EXPECT_TRUE(view.for_each([&](auto, std::uint64_t) { return ++calls < 2; }).has_value());
        EXPECT_EQ(calls, 2);
        int paces = 0;
        const auto stop = [&](std::uint64_t) {
            ++paces;
            return false;
        };
        EXPECT_TRUE(view.for_each([](auto, std::uint64_t) {}, stop).has_value());
        EXPECT_EQ(paces, 1);
    }
}

TEST(SparseView, WalksFindEveryFaultButDuplicatesOfUnsortedEntries) {
    int right = 0;
    for (const json& entry : sparse_vectors().at("faulty")) {
        const Tensor tensor = tensor_of(entry);
        const auto view = SparseView::make(tensor).value();
        const auto walked = view.for_each([](auto, std::uint64_t) {});
        if (entry.at("offset").is_null()) {
            EXPECT_TRUE(walked.has_value()) << entry.at("name") << ": " << walked.error().message;
            ++right;
            continue;
        }
        ASSERT_FALSE(walked.has_value()) << entry.at("name") << " was accepted";
        EXPECT_EQ(fault(walked), fault_of(Status::invalid_layout, entry.at("offset")))
            << entry.at("name") << ": " << walked.error().message;
        const std::string message = walked.error().message;
        EXPECT_EQ(message.find(entry.at("message")), 0U) << entry.at("name") << ": " << message;
        EXPECT_NE(message.find(entry.at("expected")), std::string::npos) << entry.at("name") << ": " << message;
    }
    EXPECT_EQ(right, 6);
    for (const json& entry : sparse_vectors().at("duplicates")) {
        const Tensor tensor = tensor_of(entry);
        EXPECT_TRUE(SparseView::make(tensor).value().for_each([](auto, std::uint64_t) {}).has_value());
    }
}

TEST(SparseView, HostileArraysLeadNowhereOutside) {
    // The buffers have no byte to spare, so that a sanitizer sees every read outside.
    Random random(5);
    std::uint64_t refused = 0;
    std::uint64_t found = 0;
    for (const json& entry : sparse_vectors().at("valid")) {
        Tensor tensor = tensor_of(entry);
        const std::uint32_t own = *layout_buffer_count(tensor.descriptor.layout(), tensor.descriptor.rank());
        if (tensor.descriptor.rank() > 5) continue;
        std::vector<test::Bytes> memory;
        for (Buffer& buffer : tensor.buffers) memory.emplace_back(buffer.bytes().begin(), buffer.bytes().end());
        const auto original = memory;
        for (std::size_t i = 0; i < memory.size(); ++i) {
            memory[i].shrink_to_fit();
            tensor.buffers[i].data = memory[i].empty() ? nullptr : memory[i].data();
        }
        for (int round = 0; round < 40; ++round) {
            for (std::size_t i = 0; i < memory.size(); ++i) std::ranges::copy(original[i], memory[i].begin());
            for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
                test::Bytes& bytes = memory[1 + random.below(own - 1)];
                if (bytes.size() < 8) continue;
                const std::uint64_t value = random.pick({random.next(), random.below(8), std::uint64_t{0},
                                                         ~std::uint64_t{0}, std::uint64_t{1} << 61});
                store_le(bytes.data() + 8 * random.below(bytes.size() / 8), value);
            }
            const auto view = SparseView::make(tensor).value();
            const auto walked = view.for_each([&](std::span<const std::uint64_t> index, std::uint64_t position) {
                ASSERT_LT(position, view.nnz());
                for (std::size_t k = 0; k < index.size(); ++k) ASSERT_LT(index[k], view.shape()[k]);
            });
            if (!walked) {
                ++refused;
                EXPECT_EQ(walked.error().code, Status::invalid_layout);
            }
            for_each_index(view.shape(), [&](const Index& index) {
                const auto position = view.find(index);
                if (!position) {
                    EXPECT_EQ(position.error().code, Status::invalid_layout);
                } else if (*position) {
                    ++found;
                    ASSERT_LT(**position, view.nnz());
                }
            });
        }
    }
    EXPECT_GT(refused, 1000U);
    EXPECT_GT(found, 1000U);
}

TEST(SparseView, IndicesAreChecked) {
    for (const std::uint8_t tag : {layout_tag::coo, layout_tag::csr, layout_tag::csc, layout_tag::csf}) {
        for (const json& entry : sparse_vectors().at("valid")) {
            if (entry.at("layout_tag") != tag) continue;
            const Tensor tensor = tensor_of(entry);
            const auto view = SparseView::make(tensor).value();
            Index index(view.shape().begin(), view.shape().end());
            EXPECT_EQ(view.find(index).error().code, Status::index_out_of_bounds);
            for (std::uint64_t& i : index) i = i == 0 ? 0 : i - 1;
            index.back() = ~std::uint64_t{0};
            EXPECT_EQ(view.find(index).error().code, Status::index_out_of_bounds);
            index.pop_back();
            EXPECT_EQ(view.find(index).error().code, Status::invalid_argument);
            index.resize(index.size() + 2);
            EXPECT_EQ(view.find(index).error().code, Status::invalid_argument);
        }
    }
}

const json& vector_of(const char* name) {
    for (const json& entry : sparse_vectors().at("valid")) {
        if (entry.at("name") == name) return entry;
    }
    throw std::runtime_error(name);
}

TEST(SparseView, TensorsThatCannotBeViewedAreRefused) {
    const json& entry = vector_of("csr_example");
    {
        Tensor tensor = tensor_of(entry);
        tensor.buffers.pop_back();
        EXPECT_EQ(SparseView::make(tensor).error().code, Status::invalid_argument);
    }
    {
        Tensor tensor = tensor_of(entry);
        tensor.buffers[2] = buffer_of(test::Bytes(8));
        EXPECT_EQ(SparseView::make(tensor).error().code, Status::invalid_argument);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        Tensor tensor = tensor_of(entry);
        tensor.buffers[i].prefix = 4;
        EXPECT_EQ(SparseView::make(tensor).error().code, Status::misaligned);
        tensor = tensor_of(entry);
        tensor.buffers[i].data = nullptr;
        EXPECT_EQ(SparseView::make(tensor).error().code, Status::null_pointer);
    }
    const Tensor dense{test::build({.shape = {3}, .buffers = {{.byte_size = 12}}}).value(), {buffer_of(test::Bytes(12))}};
    EXPECT_EQ(SparseView::make(dense).error().code, Status::unsupported);
    for (const json& large : sparse_vectors().at("large")) {
        Tensor tensor{test::decode_exact(test::bytes_of(large)).value(), {}};
        if (!tensor.descriptor.is_dynamic()) continue;
        EXPECT_EQ(SparseView::make(tensor).error().code, Status::invalid_layout);
    }
}

TEST(SparseView, DataOfDevicesIsNotTouched) {
    DescriptorBuilder builder(test::float32, layout_tag::coo, std::array<std::uint64_t, 1>{9});
    builder.set_coo({1, true});
    const BufferHandle handle{.byte_size = 8, .device_tag = device_tag::cuda};
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(builder.add_buffer(handle).has_value());
    Tensor tensor{builder.build().value(), {}};
    for (int i = 0; i < 2; ++i) {
        Buffer buffer;
        buffer.handle = handle;
        buffer.data = reinterpret_cast<std::byte*>(64);
        tensor.buffers.push_back(buffer);
    }
    EXPECT_EQ(SparseView::make(tensor).error().code, Status::unsupported);
}

}  // namespace
}  // namespace hurray
