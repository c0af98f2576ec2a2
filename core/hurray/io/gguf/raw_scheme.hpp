// The private quantization scheme of blocks that are handed over as they lie. (docs/formats/gguf.md: raw blocks)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/io/gguf/gguf_type.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray::gguf_blocks {

/// The tag of the scheme; what makes it this one are the first four bytes of its payload.
inline constexpr std::uint8_t raw_scheme_tag = scheme_tag::private_first;
/// "GGUF" | u32 ggml type | u32 elements of a block | u32 bytes of a block
inline constexpr std::size_t raw_payload_size = 16;

using RawPayload = std::array<std::byte, raw_payload_size>;

[[nodiscard]] RawPayload raw_payload(const GgufType& type) noexcept;

/// The section. Refers to the payload.
[[nodiscard]] QuantizationFields raw_fields(const RawPayload& payload) noexcept;

/// The ggml type of a tensor of raw blocks; null when it is no such tensor, or the payload is not that of a type here.
[[nodiscard]] const GgufType* raw_type(const Descriptor& descriptor) noexcept;

}  // namespace hurray::gguf_blocks
