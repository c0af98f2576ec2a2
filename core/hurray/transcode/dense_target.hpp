// The tensor that a transcoding makes, before there is memory for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/options.hpp"
#include "core/hurray/transcode/transcode_spec.hpp"

namespace hurray {

struct DenseTarget {
    Descriptor descriptor;
    AddressMap map;
    /// Whether the elements leave something of buffer 0 out, which must be 0.
    bool has_gaps;
};

/// Whether a tag is that of a layout with one buffer in which every element has a place.
constexpr bool is_dense_layout(std::uint8_t tag) noexcept {
    switch (tag) {
        case layout_tag::row_major:
        case layout_tag::col_major:
        case layout_tag::strided:
        case layout_tag::tiled:
        case layout_tag::morton:
        case layout_tag::hilbert:
            return true;
        default:
            return false;
    }
}

/// What of a source goes into the descriptor of its copy besides the elements.
struct CarriedParts {
    /// Those with scales and zero points; in the source's order, which follows its layout's own buffers.
    std::vector<Buffer> parameters;
    /// How many places they move down in the buffer table.
    std::uint32_t moved = 0;
    /// Whether the copy is of the whole tensor: else it has not its statistics and its place in a parent or composite.
    bool whole = true;
};

/// Checks that it is known which buffers have parameters, and which elements they are of.
/// @errors unsupported: a private scheme
Result<void> check_known_scheme(const Descriptor& source);

/// The descriptor of a copy of `source` in the layout that `spec` asks for.
/// @param shape of the copy
/// @errors as transcode
Result<DenseTarget> make_dense_target(const Descriptor& source, std::span<const std::uint64_t> shape,
                                      const TranscodeSpec& spec, const CarriedParts& parts);

/// Sets the sections of a copy, and appends the parameter buffers to its buffer table, its layout's own being there.
Result<void> carry_sections(const Descriptor& source, const CarriedParts& parts, DescriptorBuilder& builder);

/// The buffers of a quantized tensor with scales and zero points: shared, or copied where they are not standard memory
/// of the host.
/// @errors limit_exceeded, out_of_memory
Result<std::vector<Buffer>> carry_parameters(const Tensor& tensor, Work& work);

}  // namespace hurray
