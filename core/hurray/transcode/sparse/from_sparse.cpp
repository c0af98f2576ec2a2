#include <utility>

#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/transcode/dense_target.hpp"
#include "core/hurray/transcode/sparse/element_bits.hpp"
#include "core/hurray/transcode/sparse/sparse_source.hpp"
#include "core/hurray/transcode/sparse/sparse_transcode.hpp"

namespace hurray {
namespace {

using transcode_detail::ElementBits;
using transcode_detail::OrderedEntries;
using transcode_detail::SparseSource;

// Puts every entry to its place in a buffer of zeros.
Result<void> scatter(const OrderedEntries& entries, const SparseView& view, const AddressMap& map, std::byte* to,
                     Work& work) {
    const ElementBits bits(map.element_bits());
    const std::byte* values = view.values().data();
    return map.visit([&](const auto& address) {
        return entries.for_each(work, [&](std::span<const std::uint64_t> index, std::uint64_t position) {
            bits.copy(values, position * bits.bits(), to, map.bit_of(address(index.data())));
        });
    });
}

}  // namespace

Result<Tensor> dense_from_sparse(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& descriptor = tensor.descriptor;
    if (!is_dense_layout(spec.layout)) {
        return fail(Status::unsupported, Error::no_offset, "layout: expected a dense one to be wanted, got %02X",
                    spec.layout);
    }
    if (!spec.mode_order.empty()) {
        return fail(Status::invalid_argument, Error::no_offset, "mode_order: expected none for layout %s",
                    find_layout(spec.layout)->name);
    }
    const auto source = SparseSource::make(tensor);
    if (!source) return std::unexpected(source.error());
    if (auto checked = transcode_detail::check_zero_code(descriptor); !checked) return std::unexpected(checked.error());
    Work work(options,
              OrderedEntries::work_of(source->view, source->element_count, source->order, source->order, 1));
    auto parameters = carry_parameters(tensor, work);
    if (!parameters) return std::unexpected(parameters.error());
    const std::uint32_t own = *layout_buffer_count(descriptor.layout(), descriptor.rank());
    const CarriedParts parts{.parameters = std::move(*parameters), .moved = own - 1};
    auto target = make_dense_target(descriptor, descriptor.shape(), spec, parts);
    if (!target) return std::unexpected(target.error());
    // Their own order will do, so that only those without one are sorted, which finds indices that are there twice.
    const auto entries = OrderedEntries::make(source->view, source->order, source->order, work);
    if (!entries) return std::unexpected(entries.error());
    const BufferHandle& handle = target->descriptor.buffers()[0];
    auto data = work.allocate(handle.byte_size, handle.alignment);
    if (!data) return std::unexpected(data.error());
    if (auto scattered = scatter(*entries, source->view, target->map, data->data, work); !scattered) {
        return std::unexpected(scattered.error());
    }
    if (auto finished = work.finish(); !finished) return std::unexpected(finished.error());
    Tensor result{std::move(target->descriptor), {}};
    result.buffers.push_back(std::move(*data));
    result.buffers.insert(result.buffers.end(), parts.parameters.begin(), parts.parameters.end());
    return result;
}

}  // namespace hurray
