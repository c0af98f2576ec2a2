// The bytes of an encoded descriptor, field by field. (format: tensor descriptor)
#pragma once

#include <cstdint>
#include <hurray.hpp>
#include <span>
#include <string>
#include <vector>

namespace cli {

struct WireField {
    std::uint64_t offset;
    std::uint64_t length;
    std::string name;
    std::string value;
};

/// The fields of a descriptor that was decoded from `bytes`, in their order and without gaps: their lengths add up to the
/// descriptor's.
std::vector<WireField> wire_fields(hurray::DescriptorRef descriptor, std::span<const std::uint8_t> bytes);

/// Rows of 16 bytes with offset, hex digits and characters.
void print_hex_rows(std::span<const std::uint8_t> bytes, std::uint64_t first_offset);
/// The fields with the bytes that they are, a row a field.
void print_annotated(const std::vector<WireField>& fields, std::span<const std::uint8_t> bytes);

}  // namespace cli
