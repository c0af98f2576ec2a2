// The rules of the schemes, applied to a section that is being read. (format: quantization)
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/quantization/scheme.hpp"

namespace hurray {

/// What the checks see. All that comes before the section on the wire is there and checked.
struct SchemeCheck {
    const Descriptor& descriptor;
    const QuantizationScheme& scheme;
    /// The fields of the payload, and its bytes.
    const QuantizationFields& fields;
    std::span<const std::byte> payload;
    /// Offsets on the wire, for errors.
    std::uint32_t payload_at;
    std::uint32_t buffer_count_at;
};

/// Checks everything that needs no data, in wire order.
/// @errors invalid_quantization; invalid_layout: the buffer table has too few or too many entries; unsupported: a scheme
///     of which the format does not say how it goes together with the layout
Result<void> check_scheme(const SchemeCheck& check);

}  // namespace hurray
