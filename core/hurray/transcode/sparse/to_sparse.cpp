#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/layout/sparse_fields.hpp"
#include "core/hurray/transcode/dense_source.hpp"
#include "core/hurray/transcode/dense_target.hpp"
#include "core/hurray/transcode/sparse/dense_scan.hpp"
#include "core/hurray/transcode/sparse/sparse_source.hpp"
#include "core/hurray/transcode/sparse/sparse_target.hpp"
#include "core/hurray/transcode/sparse/sparse_transcode.hpp"

namespace hurray {
namespace {

using transcode_detail::DenseScan;
using transcode_detail::OrderedEntries;
using transcode_detail::SparseSource;
using transcode_detail::SparseTarget;

Result<void> check_target(const TranscodeSpec& spec) {
    if (is_sparse_layout(spec.layout)) return {};
    return fail(Status::unsupported, Error::no_offset, "layout: expected coo, csr, csc or csf to be wanted, got %02X",
                spec.layout);
}

// All elements once; `use(index, bit)` for those that are not 0, `check()` after each piece of them.
template <typename Use, typename Check>
Result<void> scan(const AddressMap& map, const std::byte* buffer, const SparseTarget& target, Work& work, Use&& use,
                  Check&& check) {
    DenseScan pieces(map, buffer, target.order().dimensions());
    while (pieces.next()) {
        pieces.for_each(use);
        if (auto checked = check(); !checked) return checked;
        if (!work.advance(pieces.looked_at())) return work.cancelled();
    }
    return {};
}

Result<Tensor> finish(SparseTarget& target, std::vector<Buffer>&& parameters, Work& work) {
    auto result = target.finish(std::move(parameters));
    if (!result) return result;
    if (auto finished = work.finish(); !finished) return std::unexpected(finished.error());
    return result;
}

}  // namespace

Result<Tensor> sparse_from_dense(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& source = tensor.descriptor;
    if (auto checked = check_target(spec); !checked) return std::unexpected(checked.error());
    const auto map = AddressMap::make(source);
    if (!map) return std::unexpected(map.error());
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    if (auto checked = check_prefix(*map, tensor.buffers[0]); !checked) return std::unexpected(checked.error());
    if (auto checked = transcode_detail::check_zero_code(source); !checked) return std::unexpected(checked.error());
    auto target = SparseTarget::make(source, spec);
    if (!target) return std::unexpected(target.error());
    // A stride of 0 may repeat an element as often as a number can say.
    Work work(options, checked_mul(map->element_count(), 2).value_or(~std::uint64_t{0}));
    auto parameters = carry_parameters(tensor, work);
    if (!parameters) return std::unexpected(parameters.error());

    const std::byte* data = tensor.buffers[0].data;
    // Pointers need memory whatever the elements are; and nobody waits for a count that has gone beyond the limit.
    if (auto checked = target->check_room(work); !checked) return std::unexpected(checked.error());
    const auto counted = scan(
        *map, data, *target, work, [&](std::span<const std::uint64_t> index, std::uint64_t) { target->count(index); },
        [&] { return target->check_room(work); });
    if (!counted) return std::unexpected(counted.error());
    if (auto allocated = target->allocate(work); !allocated) return std::unexpected(allocated.error());
    const auto added = scan(
        *map, data, *target, work,
        [&](std::span<const std::uint64_t> index, std::uint64_t bit) { target->add(index, data, bit); },
        [] { return Result<void>(); });
    if (!added) return std::unexpected(added.error());
    return finish(*target, std::move(*parameters), work);
}

Result<Tensor> sparse_from_sparse(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& descriptor = tensor.descriptor;
    if (auto checked = check_target(spec); !checked) return std::unexpected(checked.error());
    const auto source = SparseSource::make(tensor);
    if (!source) return std::unexpected(source.error());
    if (auto checked = check_known_scheme(descriptor); !checked) {
        return std::unexpected(checked.error());
    }
    auto target = SparseTarget::make(descriptor, spec);
    if (!target) return std::unexpected(target.error());
    Work work(options, OrderedEntries::work_of(source->view, source->element_count, source->order, target->order(),
                                               target->counts_nodes() ? 2 : 1));
    auto parameters = carry_parameters(tensor, work);
    if (!parameters) return std::unexpected(parameters.error());
    const auto entries = OrderedEntries::make(source->view, source->order, target->order(), work);
    if (!entries) return std::unexpected(entries.error());

    if (target->counts_nodes()) {
        const auto counted = entries->for_each(
            work, [&](std::span<const std::uint64_t> index, std::uint64_t) { target->count(index); });
        if (!counted) return std::unexpected(counted.error());
    } else {
        target->set_count(source->view.nnz());
    }
    if (auto allocated = target->allocate(work); !allocated) return std::unexpected(allocated.error());
    const std::byte* values = source->view.values().data();
    const std::uint64_t bits = element_type_info(descriptor).bits;
    const auto added = entries->for_each(work, [&](std::span<const std::uint64_t> index, std::uint64_t position) {
        target->add(index, values, position * bits);
    });
    if (!added) return std::unexpected(added.error());
    return finish(*target, std::move(*parameters), work);
}

}  // namespace hurray
