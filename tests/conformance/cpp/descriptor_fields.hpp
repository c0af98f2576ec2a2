// Every field of a descriptor as the C API tells it, its JSON object, and the way back through a builder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "handles.hpp"

namespace driver {

/// Arrays belong to the descriptor.
struct DescriptorFields {
    HurrayDescriptorInfo info;
    HurrayLayoutFields layout;
    std::vector<HurrayTileLevel> levels;
    std::vector<HurrayBufferHandleBytes> buffers;
    HurrayQuantization quantization;
    HurrayStatistics statistics;
    HurrayExtensionType extension_type;
    HurrayCompositeMember member;
};

DescriptorFields fields_of(const HurrayDescriptor* descriptor);

/// The object that the golden manifests have. (design: JSON of a descriptor)
nlohmann::ordered_json json_of(const DescriptorFields& fields, std::uint64_t input_length);

/// Builds a descriptor of the fields.
HurrayStatus build(const DescriptorFields& fields, bool private_tags, Descriptor& out, HurrayError& error);

/// Hex digits of bytes.
std::string hex(const std::uint8_t* bytes, std::uint64_t length);

}  // namespace driver
