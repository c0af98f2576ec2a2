// Sparse tensors made by plain code of a list of elements.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/tests/sparse_layouts/sparse_layouts.hpp"
#include "core/hurray/tests/support.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::test {

using Index = std::vector<std::uint64_t>;
/// The elements that are stored, as their bits from the lowest on.
using Elements = std::map<Index, std::vector<bool>>;

/// A sparse layout and its order of dimensions.
struct SparseLayout {
    std::uint8_t layout;
    std::vector<std::uint32_t> modes = {};
};

/// Those that a tensor of a rank can have.
inline std::vector<SparseLayout> sparse_layouts(std::size_t rank) {
    std::vector<SparseLayout> all = {{layout_tag::coo}};
    if (rank == 2) {
        all.push_back({layout_tag::csr});
        all.push_back({layout_tag::csc});
    }
    if (rank >= 3) {
        std::vector<std::uint32_t> modes(rank);
        for (std::size_t k = 0; k < rank; ++k) modes[k] = static_cast<std::uint32_t>(k);
        all.push_back({layout_tag::csf, modes});
        for (int i = 0; i < 5; ++i) {
            if (rank == 3) {
                std::ranges::next_permutation(modes);
            } else {
                std::rotate(modes.begin(), modes.begin() + 1, modes.end());
            }
            all.push_back({layout_tag::csf, modes});
        }
    }
    return all;
}

inline bool bit_of(std::span<const std::byte> bytes, std::uint64_t bit) {
    return (std::to_integer<unsigned>(bytes[bit / 8]) >> bit % 8 & 1) != 0;
}

/// Elements one after the other, the last group filled up with zeros.
inline Bytes packed(const std::vector<std::vector<bool>>& values, const ElementTypeInfo& type) {
    Bytes bytes(packed_size(type, values.size()).value());
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t b = 0; b < type.bits; ++b) {
            const std::uint64_t at = i * type.bits + b;
            if (values[i][b]) bytes[at / 8] |= static_cast<std::byte>(1U << at % 8);
        }
    }
    return bytes;
}

inline Bytes numbers(const std::vector<std::uint64_t>& values) {
    Bytes bytes(values.size() * 8);
    for (std::size_t i = 0; i < values.size(); ++i) store_le(bytes.data() + 8 * i, values[i]);
    return bytes;
}

/// The buffers that a sparse layout has for the elements.
inline std::vector<Bytes> expected_buffers(const Elements& elements, std::span<const std::uint64_t> shape,
                                           const SparseLayout& layout, const ElementTypeInfo& type) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t k = 0; k < shape.size(); ++k) order[k] = layout.layout == layout_tag::csf ? layout.modes[k] : k;
    if (layout.layout == layout_tag::csc) std::swap(order[0], order[1]);
    std::vector<std::pair<Index, const std::vector<bool>*>> sorted;
    for (const auto& [index, value] : elements) {
        Index key;
        for (const std::size_t k : order) key.push_back(index[k]);
        sorted.emplace_back(key, &value);
    }
    std::ranges::sort(sorted, {}, [](const auto& entry) { return entry.first; });

    std::vector<std::vector<bool>> values;
    for (const auto& entry : sorted) values.push_back(*entry.second);
    std::vector<Bytes> buffers = {packed(values, type)};
    if (layout.layout == layout_tag::coo) {
        std::vector<std::uint64_t> all;
        for (const auto& entry : sorted) all.insert(all.end(), entry.first.begin(), entry.first.end());
        buffers.push_back(numbers(all));
        return buffers;
    }
    if (layout.layout != layout_tag::csf) {
        std::vector<std::uint64_t> minor;
        std::vector<std::uint64_t> pointers;
        for (const auto& entry : sorted) minor.push_back(entry.first[1]);
        for (std::uint64_t slice = 0; slice <= shape[order[0]]; ++slice) {
            pointers.push_back(static_cast<std::uint64_t>(
                std::ranges::count_if(sorted, [&](const auto& entry) { return entry.first[0] < slice; })));
        }
        buffers.push_back(numbers(minor));
        buffers.push_back(numbers(pointers));
        return buffers;
    }
    std::vector<Index> above = {{}};
    for (std::size_t level = 0; level < shape.size(); ++level) {
        std::vector<Index> nodes;
        for (const auto& entry : sorted) {
            const Index path(entry.first.begin(), entry.first.begin() + static_cast<std::ptrdiff_t>(level) + 1);
            if (nodes.empty() || nodes.back() != path) nodes.push_back(path);
        }
        std::vector<std::uint64_t> positions = {0};
        std::vector<std::uint64_t> coordinates;
        for (const Index& parent : above) {
            const auto below = [&](const Index& node) { return std::equal(parent.begin(), parent.end(), node.begin()); };
            positions.push_back(positions.back() + static_cast<std::uint64_t>(std::ranges::count_if(nodes, below)));
        }
        for (const Index& node : nodes) coordinates.push_back(node.back());
        buffers.push_back(numbers(positions));
        buffers.push_back(numbers(coordinates));
        above = nodes;
    }
    return buffers;
}

/// The elements of a vector.
inline Elements elements_of(const json& entry, const ElementTypeInfo& type) {
    Elements elements;
    const Bytes values = from_hex(entry.at("buffers").at(0));
    std::uint64_t at = 0;
    for (const json& element : entry.at("elements")) {
        std::vector<bool> bits;
        for (std::uint64_t b = 0; b < type.bits; ++b) bits.push_back(bit_of(values, at++));
        elements.emplace(element.at(0).get<Index>(), bits);
    }
    return elements;
}

inline bool is_zero(const std::vector<bool>& bits) {
    return std::ranges::find(bits, true) == bits.end();
}

inline Bytes bytes_of(const Buffer& buffer) {
    return {buffer.bytes().begin(), buffer.bytes().end()};
}

/// That a tensor has a layout and these buffers of its own.
inline void expect_buffers(const Tensor& tensor, const SparseLayout& layout, const std::vector<Bytes>& expected,
                           const std::string& name) {
    ASSERT_EQ(tensor.descriptor.layout(), layout.layout) << name;
    ASSERT_GE(tensor.buffers.size(), expected.size()) << name;
    ASSERT_EQ(tensor.descriptor.buffers().size(), tensor.buffers.size()) << name;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(bytes_of(tensor.buffers[i]), expected[i]) << name << ", buffer " << i;
        ASSERT_EQ(tensor.descriptor.buffers()[i], tensor.buffers[i].handle) << name;
    }
    if (layout.layout == layout_tag::coo) {
        EXPECT_TRUE(coo_fields(tensor.descriptor).is_sorted) << name;
    }
    if (layout.layout == layout_tag::csf) {
        EXPECT_TRUE(std::ranges::equal(csf_fields(tensor.descriptor).mode_order, layout.modes)) << name;
    }
}

/// What progress was told.
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
    [[nodiscard]] WorkOptions options() { return {.progress = tell, .context = this}; }
};

}  // namespace hurray::test
