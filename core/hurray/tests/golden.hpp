// The golden vectors of tests/golden/descriptors, which an encoder of its own made, and their JSON. (design: JSON of a
// descriptor)
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/hurray/tests/support.hpp"

namespace hurray::test {

using nlohmann::json;

/// An entry of a manifest with the bytes of its file.
struct GoldenVector {
    std::string name;
    Bytes bytes;
    /// What the reader must be told.
    DecodeOptions options;
    /// The entry.
    json entry;
};

/// All vectors that must decode.
const std::vector<GoldenVector>& valid_vectors();
/// All that must be refused.
const std::vector<GoldenVector>& invalid_vectors();

/// Those that must decode, cut to their descriptor_length.
std::vector<GoldenVector> valid_descriptors();

/// What the library's readers find in a descriptor that was decoded from `input_size` bytes.
json described(const Descriptor& descriptor, std::size_t input_size);

/// The builder, told what a JSON object of a descriptor says.
Result<Descriptor> built(const json& fields, PrivateTags private_tags);

std::string hex_of(std::span<const std::byte> bytes);
Bytes bytes_of_hex(const std::string& hex);

}  // namespace hurray::test
