// Fuzz target: a descriptor and the bytes of its buffers behind it. What a sparse tensor has in its index arrays is found,
// walked through, validated and transcoded, and all of these must agree.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/sparse_fields.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/transcode/sparse/sparse_transcode.hpp"
#include "core/hurray/validation/sparse_data.hpp"
#include "tests/fuzz/check.hpp"

namespace {

using namespace hurray;
using fuzz::require;

// More would only cost time.
constexpr std::uint64_t most_data = 1 << 14;
constexpr std::uint64_t most_elements = 1 << 12;

// Buffers of the descriptor, without a byte to spare, filled from `data` as far as that goes.
std::vector<std::unique_ptr<std::byte[]>> fill(Tensor& tensor, std::span<const std::byte> data) {
    std::vector<std::unique_ptr<std::byte[]>> memory;
    for (const BufferHandle& handle : tensor.descriptor.buffers()) {
        const auto size = static_cast<std::size_t>(handle.byte_size);
        auto& bytes = memory.emplace_back(new std::byte[size]());
        const std::size_t there = std::min(size, data.size());
        if (there != 0) std::memcpy(bytes.get(), data.data(), there);
        data = data.subspan(there);
        Buffer buffer;
        buffer.data = size == 0 ? nullptr : bytes.get();
        buffer.handle = handle;
        tensor.buffers.push_back(buffer);
    }
    return memory;
}

Result<void> validate_data(const Tensor& tensor) {
    switch (tensor.descriptor.layout()) {
        case layout_tag::coo:
            return check_coo_data(tensor);
        case layout_tag::csf:
            return check_csf_data(tensor);
        default:
            return check_compressed_data(tensor);
    }
}

void check_error(const Error& error) {
    require(error.code == Status::invalid_layout || error.code == Status::unsupported, "data is refused by its rules");
    require(std::memchr(error.message, 0, sizeof error.message) != nullptr && error.message[0] != 0,
            "an error has a message");
}

// Whether the walk met only what there can be.
bool walk(const SparseView& view) {
    std::uint64_t next = 0;
    const auto walked = view.for_each([&](std::span<const std::uint64_t> index, std::uint64_t position) {
        require(position == next++ && position < view.nnz(), "positions ascend");
        for (std::size_t k = 0; k < index.size(); ++k) require(index[k] < view.shape()[k], "indices are within the shape");
    });
    if (walked) {
        require(next == view.nnz(), "all entries are met");
    } else {
        check_error(walked.error());
    }
    return walked.has_value();
}

// What is found of rightly stored entries, and that nothing is found outside of wrong ones.
void find_all(const SparseView& view, bool right) {
    (void)view.for_each([&](std::span<const std::uint64_t> index, std::uint64_t position) {
        const auto found = view.find(index);
        if (!found) {
            check_error(found.error());
            require(!right, "right arrays lead somewhere");
            return;
        }
        require(!found->has_value() || **found < view.nnz(), "what is found is there");
        require(!right || *found == position, "an entry is found where it is");
    });
    const std::vector<std::uint64_t> zero(view.shape().size());
    const auto first = view.find(zero);
    require(first || first.error().code == Status::index_out_of_bounds || !right, "the first element can be asked for");
}

bool same_bytes(const Buffer& a, const Buffer& b) {
    const auto size = static_cast<std::size_t>(a.handle.byte_size);
    return a.handle.byte_size == b.handle.byte_size && (size == 0 || std::memcmp(a.data, b.data, size) == 0);
}

void transcode_all(const Tensor& tensor, bool right) {
    const auto dense = dense_from_sparse(tensor, {});
    if (!dense) check_error(dense.error());
    require(right || !dense, "data that is refused by validation is refused on the way");
    for (const std::uint8_t layout : {layout_tag::coo, layout_tag::csr, layout_tag::csc, layout_tag::csf}) {
        const std::uint32_t rank = tensor.descriptor.rank();
        if (layout == layout_tag::csf ? rank < 3 : layout != layout_tag::coo && rank != 2) continue;
        const auto sparse = sparse_from_sparse(tensor, {.layout = layout});
        if (!sparse) {
            check_error(sparse.error());
            require(!right || sparse.error().code == Status::unsupported, "right data can be transcoded");
            continue;
        }
        require(right, "data that is refused by validation is refused on the way");
        require(validate_data(*sparse).has_value(), "what is made is right");
        if (!dense) continue;
        const auto again = dense_from_sparse(*sparse, {});
        require(again && same_bytes(dense->buffers[0], again->buffers[0]), "no element is lost");
        const auto of_dense = sparse_from_dense(*dense, {.layout = layout});
        require(of_dense && validate_data(*of_dense).has_value(), "dense goes to sparse");
        const auto back = dense_from_sparse(*of_dense, {});
        require(back && same_bytes(dense->buffers[0], back->buffers[0]), "and back");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
    if (size != 0) std::memcpy(copy.get(), data, size);
    const std::span<const std::byte> bytes(copy.get(), size);
    auto decoded = decode(bytes);
    if (!decoded || !is_sparse_layout(decoded->layout()) || decoded->is_dynamic()) return 0;
    std::uint64_t total = 0;
    for (const BufferHandle& handle : decoded->buffers()) {
        if (handle.byte_size > most_data || !is_host_accessible(handle)) return 0;
        if (handle.sync_mode != sync_mode::producer_synced) return 0;
        total += handle.byte_size;
    }
    if (total > most_data) return 0;
    const auto rest = bytes.subspan(decoded->encoded_length());
    Tensor tensor{std::move(*decoded), {}};
    const auto memory = fill(tensor, rest);
    const auto view = SparseView::make(tensor);
    require(view.has_value(), "a tensor whose buffers are there can be viewed");
    const bool walked = walk(*view);
    const auto validated = validate_data(tensor);
    if (!validated) check_error(validated.error());
    const bool is_unsorted = tensor.descriptor.layout() == layout_tag::coo && !coo_fields(tensor.descriptor).is_sorted;
    require(validated.has_value() == walked || (walked && is_unsorted), "validation agrees with the walk");
    find_all(*view, validated.has_value());
    // Empty tensors may have dimensions of any size, which CSR would need pointers for.
    const auto is_small = [](std::uint64_t dimension) { return dimension <= most_elements; };
    if (tensor.descriptor.element_count().value_or(0) <= most_elements &&
        std::ranges::all_of(tensor.descriptor.shape(), is_small) && element_type_info(tensor.descriptor).bits <= 512) {
        transcode_all(tensor, validated.has_value());
    }
    return 0;
}
