#include "core/hurray/layout/sparse_view.hpp"

#include <compare>

#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/compressed.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/csf.hpp"
#include "core/hurray/layout/sparse_fields.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;
using Found = Result<std::optional<std::uint64_t>>;

IndexArray array_of(const Tensor& tensor, std::uint32_t buffer, std::uint64_t size) noexcept {
    return {tensor.buffers[buffer].data, size};
}

CooArrays coo_arrays(const Tensor& tensor) noexcept {
    const CooFields fields = coo_fields(tensor.descriptor);
    const std::uint64_t rank = tensor.descriptor.rank();
    return {.shape = tensor.descriptor.shape(),
            .nnz = fields.nnz,
            .is_sorted = fields.is_sorted,
            .indices = array_of(tensor, coo_buffer::indices, fields.nnz * rank)};
}

CompressedArrays compressed_arrays(const Tensor& tensor) noexcept {
    const Descriptor& descriptor = tensor.descriptor;
    const std::uint32_t major = compressed_major(descriptor.layout());
    const std::uint64_t nnz = compressed_fields(descriptor).nnz;
    const std::uint64_t slices = descriptor.shape()[major];
    return {.layout = descriptor.layout(),
            .major = major,
            .nnz = nnz,
            .slices = slices,
            .minor_size = descriptor.shape()[1 - major],
            .indices = array_of(tensor, compressed_buffer::indices, nnz),
            .pointers = array_of(tensor, compressed_buffer::pointers, slices + 1)};
}

void fill_csf_arrays(CsfArrays& arrays, const Tensor& tensor) noexcept {
    const Descriptor& descriptor = tensor.descriptor;
    const CsfFields fields = csf_fields(descriptor);
    arrays.rank = descriptor.rank();
    std::uint64_t above = 1;
    for (std::uint32_t level = 0; level < arrays.rank; ++level) {
        const std::uint64_t dimension = fields.mode_order[level];
        const std::uint64_t nodes = csf_node_count(descriptor, level);
        arrays.levels[level] = {.dimension = dimension,
                                .size = descriptor.shape()[dimension],
                                .positions = array_of(tensor, csf_buffer::positions(level), above + 1),
                                .coordinates = array_of(tensor, csf_buffer::coordinates(level), nodes)};
        above = nodes;
    }
}

// The first place from `begin` to `end` whose number is not less than `value`, or `end`. Ends whatever the numbers are.
std::uint64_t lower_bound(const IndexArray& array, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t value) noexcept {
    while (begin < end) {
        const std::uint64_t middle = begin + (end - begin) / 2;
        if (array[middle] < value) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// The place of a number among sorted ones.
std::optional<std::uint64_t> search(const IndexArray& array, std::uint64_t begin, std::uint64_t end,
                                    std::uint64_t value) noexcept {
    const std::uint64_t at = lower_bound(array, begin, end, value);
    if (at == end || array[at] != value) return std::nullopt;
    return at;
}

std::strong_ordering compare(const CooArrays& arrays, std::uint64_t entry, const std::uint64_t* index) noexcept {
    const std::size_t rank = arrays.shape.size();
    for (std::size_t k = 0; k < rank; ++k) {
        const auto order = arrays.indices[entry * rank + k] <=> index[k];
        if (order != 0) return order;
    }
    return std::strong_ordering::equal;
}

Found find(const CooArrays& arrays, const std::uint64_t* index) {
    std::uint64_t begin = 0;
    std::uint64_t end = arrays.nnz;
    if (!arrays.is_sorted) {
        std::optional<std::uint64_t> found;
        for (; begin < end; ++begin) {
            if (compare(arrays, begin, index) != 0) continue;
            if (found) [[unlikely]]
                return sparse_fault::coo_duplicate(arrays, begin, *found);
            found = begin;
        }
        return found;
    }
    while (begin < end) {
        const std::uint64_t middle = begin + (end - begin) / 2;
        const auto order = compare(arrays, middle, index);
        if (order == 0) return middle;
        if (order < 0) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return std::nullopt;
}

Found find(const CompressedArrays& arrays, const std::uint64_t* index) {
    const std::uint64_t slice = index[arrays.major];
    const std::uint64_t begin = arrays.pointers[slice];
    const std::uint64_t end = arrays.pointers[slice + 1];
    if (end < begin || end > arrays.nnz) [[unlikely]]
        return sparse_fault::pointer(arrays, slice + 1, begin, end);
    return search(arrays.indices, begin, end, index[1 - arrays.major]);
}

Found find(const CsfArrays& arrays, const std::uint64_t* index) {
    std::uint64_t node = 0;
    for (std::uint32_t level = 0; level < arrays.rank; ++level) {
        const CsfArrays::Level& here = arrays.levels[level];
        // Above a level without nodes there may be none either.
        if (here.coordinates.size() == 0) return std::nullopt;
        const std::uint64_t begin = here.positions[node];
        const std::uint64_t end = here.positions[node + 1];
        if (end < begin || end > here.coordinates.size()) [[unlikely]]
            return sparse_fault::position(arrays, level, node + 1, begin, end);
        const auto found = search(here.coordinates, begin, end, index[here.dimension]);
        if (!found) return std::nullopt;
        node = *found;
    }
    return node;
}

}  // namespace

SparseView::SparseView(const Tensor& tensor, std::uint64_t nnz)
    : shape_(tensor.descriptor.shape()),
      values_(tensor.buffers[0].bytes()),
      nnz_(nnz),
      layout_(tensor.descriptor.layout()) {
    if (layout_ == layout_tag::coo) {
        const auto& arrays = arrays_.emplace<CooArrays>(coo_arrays(tensor));
        index_entries_ = arrays.indices.size();
    } else if (layout_ == layout_tag::csf) {
        auto& arrays = arrays_.emplace<CsfArrays>();
        fill_csf_arrays(arrays, tensor);
        // In memory, hence far from 2^64.
        for (std::uint32_t level = 0; level < arrays.rank; ++level) {
            index_entries_ += arrays.levels[level].positions.size() + arrays.levels[level].coordinates.size();
        }
    } else {
        const auto& arrays = arrays_.emplace<CompressedArrays>(compressed_arrays(tensor));
        index_entries_ = arrays.indices.size() + arrays.pointers.size();
    }
}

Result<SparseView> SparseView::make(const Tensor& tensor) {
    const Descriptor& descriptor = tensor.descriptor;
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its data cannot be viewed");
    }
    if (!is_sparse_layout(descriptor.layout())) {
        const Layout* layout = find_layout(descriptor.layout());
        return fail(Status::unsupported, Error::no_offset, "layout: expected coo, csr, csc or csf, got %s",
                    layout == nullptr ? "an unknown one" : layout->name);
    }
    if (const auto count = descriptor.element_count(); !count) return std::unexpected(count.error());
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    const std::uint32_t own = *layout_buffer_count(descriptor.layout(), descriptor.rank());
    for (std::uint32_t i = 0; i < own; ++i) {
        if (tensor.buffers[i].prefix == 0) continue;
        return fail(Status::misaligned, Error::no_offset,
                    "buffer %u: expected to start at an address aligned to %u, got %u bytes of somebody else first", i,
                    minimum_alignment, tensor.buffers[i].prefix);
    }
    return SparseView(tensor, stored_element_count(descriptor));
}

Result<std::optional<std::uint64_t>> SparseView::find(std::span<const std::uint64_t> index) const {
    if (index.size() != shape_.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "index: expected %zu values, one a dimension, got %zu",
                    shape_.size(), index.size());
    }
    for (std::size_t k = 0; k < index.size(); ++k) {
        if (index[k] >= shape_[k]) {
            return fail(Status::index_out_of_bounds, Error::no_offset, "index[%zu]: expected less than %llu, got %llu",
                        k, static_cast<ull>(shape_[k]), static_cast<ull>(index[k]));
        }
    }
    return std::visit([&](const auto& arrays) { return hurray::find(arrays, index.data()); }, arrays_);
}

}  // namespace hurray
