#include "core/hurray/quantization/fields.hpp"

#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/quantization/scheme.hpp"

namespace hurray {

// The section's words are the length of the payload and its bytes as they stand on the wire, see
// descriptor/quantization_section.cpp.
std::optional<QuantizationFields> quantization_fields(const Descriptor& descriptor) noexcept {
    const auto words = descriptor.section_words(descriptor_flag::quantization);
    if (words.empty()) return std::nullopt;
    const auto payload = std::as_bytes(words.subspan(1)).first(words[0]);
    return read_scheme_fields(find_scheme(static_cast<std::uint8_t>(payload[0])), payload);
}

}  // namespace hurray
