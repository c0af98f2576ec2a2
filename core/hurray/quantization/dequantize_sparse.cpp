// Sparse tensors: the values in the order of storage, each with the scale that its index leads to.
#include <algorithm>
#include <vector>

#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/quantization/dequantizer.hpp"
#include "core/hurray/quantization/entry_map.hpp"

namespace hurray::quantization_detail {

Result<bool> dequantize_sparse(const Tensor& tensor, const QuantizationFields& fields, Dequantizer& dequantizer) {
    const auto view = SparseView::make(tensor);
    if (!view) return std::unexpected(view.error());
    constexpr std::uint64_t piece = Dequantizer::piece;
    const std::byte* values = view->values().data();
    // A piece of values starts at a whole byte, whatever the bits of each.
    const auto codes_at = [&](std::uint64_t position) { return values + position * dequantizer.bits() / 8; };
    const EntryMap entry_of(fields, tensor.descriptor.shape());
    if (entry_of.axis() == EntryMap::no_axis) {
        for (std::uint64_t first = 0; first < view->nnz(); first += piece) {
            const auto count = static_cast<std::size_t>(std::min(piece, view->nnz() - first));
            if (!dequantizer.one_entry(codes_at(first), count, 0)) return false;
        }
        return true;
    }
    const ParameterArrays& arrays = dequantizer.arrays();
    std::vector<float> scales(piece);
    std::vector<std::int32_t> zeros(arrays.has_zeros() ? piece : 0);
    std::uint64_t done = 0;
    std::size_t waiting = 0;
    bool goes_on = true;
    const auto flush = [&] {
        goes_on = dequantizer.elements(codes_at(done), waiting, scales.data(), zeros.empty() ? nullptr : zeros.data());
        done += waiting;
        waiting = 0;
        return goes_on;
    };
    // The walk hands out indices within the shape only, whose entries exist, and positions one after the other.
    const auto walked = view->for_each([&](std::span<const std::uint64_t> index, std::uint64_t) {
        const std::uint64_t entry = entry_of(index.data());
        scales[waiting] = arrays.scale(entry);
        if (!zeros.empty()) zeros[waiting] = arrays.zero(entry);
        return ++waiting < piece || flush();
    });
    if (!walked) return std::unexpected(walked.error());
    if (!goes_on) return false;
    if (waiting != 0) flush();
    if (goes_on && done != view->nnz()) {
        return fail(Status::invalid_layout, Error::no_offset, "index arrays: expected %llu entries, found %llu",
                    static_cast<unsigned long long>(view->nnz()), static_cast<unsigned long long>(done));
    }
    return goes_on;
}

}  // namespace hurray::quantization_detail
