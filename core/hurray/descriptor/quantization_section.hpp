// How the elements are quantized. (format: quantization section)
//
// Words: the length of the payload in bytes; the payload's bytes as they stand on the wire, zeros behind them up to a
// whole word.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hurray/descriptor/section.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {

extern const SectionCodec quantization_codec;

/// The section's words of the fields, which are not checked.
std::vector<std::uint64_t> quantization_words(const QuantizationFields& fields);

}  // namespace hurray
