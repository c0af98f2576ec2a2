#include "core/hurray/transcode/transcode.hpp"

#include <utility>

#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/transcode/dense_copy.hpp"
#include "core/hurray/transcode/dense_source.hpp"
#include "core/hurray/transcode/dense_target.hpp"

namespace hurray {
namespace {

const char* name_of(std::uint8_t layout) noexcept {
    const Layout* row = find_layout(layout);
    return row == nullptr ? "unknown" : row->name;
}

Result<Tensor> dense_to_dense(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& source = tensor.descriptor;
    const auto from = AddressMap::make(source);
    if (!from) return std::unexpected(from.error());
    if (auto checked = check_prefix(*from, tensor.buffers[0]); !checked) return std::unexpected(checked.error());
    // Cannot be more than the source has.
    const std::uint64_t bytes = packed_size(element_type_info(source), from->element_count()).value_or(0);
    Work work(options, bytes);
    auto parameters = carry_parameters(tensor, work);
    if (!parameters) return std::unexpected(parameters.error());
    const CarriedParts parts{.parameters = std::move(*parameters)};
    auto target = make_dense_target(source, source.shape(), spec, parts);
    if (!target) return std::unexpected(target.error());
    const BufferHandle& handle = target->descriptor.buffers()[0];
    auto data = work.allocate(handle.byte_size, handle.alignment,
                              target->has_gaps ? Contents::zeroed : Contents::undefined);
    if (!data) return std::unexpected(data.error());
    if (auto copied = copy_dense(*from, tensor.buffers[0].data, target->map, data->data, work); !copied) {
        return std::unexpected(copied.error());
    }
    if (auto finished = work.finish(); !finished) return std::unexpected(finished.error());
    Tensor result{std::move(target->descriptor), {}};
    result.buffers.push_back(std::move(*data));
    result.buffers.insert(result.buffers.end(), parts.parameters.begin(), parts.parameters.end());
    return result;
}

std::unexpected<Error> no_way(std::uint8_t from, std::uint8_t to) {
    return fail(Status::unsupported, Error::no_offset, "layout: no way from %s (%02X) to %s (%02X)", name_of(from), from,
                name_of(to), to);
}

}  // namespace

Result<Tensor> transcode(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options) {
    const Descriptor& source = tensor.descriptor;
    if (source.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its elements are not known");
    }
    if (source.is_dynamic()) return std::unexpected(source.element_count().error());
    if (auto checked = check_host_buffers(tensor); !checked) return std::unexpected(checked.error());
    if (is_dense_layout(source.layout()) && is_dense_layout(spec.layout)) return dense_to_dense(tensor, spec, options);
    return no_way(source.layout(), spec.layout);
}

}  // namespace hurray
