#include "core/hurray/transcode/dense_to_dense.hpp"

#include <utility>

#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/transcode/dense_copy.hpp"
#include "core/hurray/transcode/dense_source.hpp"

namespace hurray {

Result<Buffer> allocate_target(const DenseTarget& target, Work& work) {
    const BufferHandle& handle = target.descriptor.buffers()[0];
    return work.allocate(handle.byte_size, handle.alignment,
                         target.has_gaps ? Contents::zeroed : Contents::undefined);
}

Tensor finish_target(DenseTarget&& target, Buffer&& data, const CarriedParts& parts) {
    Tensor result{std::move(target.descriptor), {}};
    result.buffers.reserve(1 + parts.parameters.size());
    result.buffers.push_back(std::move(data));
    result.buffers.insert(result.buffers.end(), parts.parameters.begin(), parts.parameters.end());
    return result;
}

Result<Tensor> fill_target(const AddressMap& from, const std::byte* data, DenseTarget&& target,
                           const CarriedParts& parts, Work& work) {
    auto copy = allocate_target(target, work);
    if (!copy) return std::unexpected(copy.error());
    if (auto copied = copy_dense(from, data, target.map, copy->data, work); !copied) {
        return std::unexpected(copied.error());
    }
    return finish_target(std::move(target), std::move(*copy), parts);
}

Result<Tensor> dense_from_dense(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& source = tensor.descriptor;
    const auto from = AddressMap::make(source);
    if (!from) return std::unexpected(from.error());
    if (auto checked = check_prefix(*from, tensor.buffers[0]); !checked) return std::unexpected(checked.error());
    if (auto checked = check_known_scheme(source); !checked) return std::unexpected(checked.error());
    // The size of repeated elements may be beyond any number; there is no room for such a copy.
    Work work(options, packed_size(element_type_info(source), from->element_count()).value_or(~std::uint64_t{0}));
    auto parameters = carry_parameters(tensor, work);
    if (!parameters) return std::unexpected(parameters.error());
    const CarriedParts parts{.parameters = std::move(*parameters)};
    auto target = make_dense_target(source, source.shape(), spec, parts);
    if (!target) return std::unexpected(target.error());
    auto result = fill_target(*from, tensor.buffers[0].data, std::move(*target), parts, work);
    if (!result) return result;
    if (auto finished = work.finish(); !finished) return std::unexpected(finished.error());
    return result;
}

}  // namespace hurray
