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

/// Whether a payload is that of a scheme of channels or blocks and breaks no rule, for a row-major or column-major
/// tensor about which nothing is unusual (it has elements, blocks are whole, each array has a buffer of its own), as
/// with most; check_scheme decides about the others.
/// @param descriptor as for SchemeCheck
/// @param element_count product of the shape; 0 while a dimension is dynamic
/// @param payload at least 4 bytes
bool is_plain_payload(const Descriptor& descriptor, std::uint64_t element_count,
                      std::span<const std::byte> payload) noexcept;

/// Checks everything that needs no data, in wire order.
/// @errors invalid_quantization; invalid_layout: the buffer table has too few or too many entries; unsupported: a
/// scheme
///     of which the format does not say how it goes together with the layout
Result<void> check_scheme(const SchemeCheck& check);

}  // namespace hurray
