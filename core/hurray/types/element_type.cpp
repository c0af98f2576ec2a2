#include "core/hurray/types/element_type.hpp"

#include "core/hurray/base/checked.hpp"

namespace hurray {
namespace {

using enum ElementKind;

// tag, name, bits, alignment, kind, log2 of the elements in a group, bytes of a group
constexpr ElementTypeInfo types[] = {
    {0x01, "float16", 16, 2, floating_point, 0, 2},
    {0x02, "bfloat16", 16, 2, floating_point, 0, 2},
    {0x03, "float32", 32, 4, floating_point, 0, 4},
    {0x04, "float64", 64, 8, floating_point, 0, 8},
    {0x10, "int8", 8, 1, signed_integer, 0, 1},
    {0x11, "uint8", 8, 1, unsigned_integer, 0, 1},
    {0x12, "int16", 16, 2, signed_integer, 0, 2},
    {0x13, "uint16", 16, 2, unsigned_integer, 0, 2},
    {0x14, "int32", 32, 4, signed_integer, 0, 4},
    {0x15, "uint32", 32, 4, unsigned_integer, 0, 4},
    {0x16, "int64", 64, 8, signed_integer, 0, 8},
    {0x17, "uint64", 64, 8, unsigned_integer, 0, 8},
    {0x20, "bool", 1, 1, boolean, 3, 1},
    {0x40, "float8_e4m3", 8, 1, floating_point, 0, 1},
    {0x41, "float8_e5m2", 8, 1, floating_point, 0, 1},
    {0x42, "float8_e8m0", 8, 1, exponent, 0, 1},
    {0x43, "float4_e2m1", 4, 1, floating_point, 1, 1},
    {0x44, "float6_e2m3", 6, 1, floating_point, 2, 3},
    {0x45, "float6_e3m2", 6, 1, floating_point, 2, 3},
    {0x46, "float128", 128, 16, floating_point, 0, 16},
    {0x48, "int4", 4, 1, signed_integer, 1, 1},
    {0x49, "uint4", 4, 1, unsigned_integer, 1, 1},
    {0x4A, "int2", 2, 1, signed_integer, 2, 1},
    {0x4B, "uint2", 2, 1, unsigned_integer, 2, 1},
    {0x50, "complex64", 64, 4, complex, 0, 8},
    {0x51, "complex128", 128, 8, complex, 0, 16},
};

constexpr bool groups_are_whole() {
    for (const ElementTypeInfo& type : types) {
        if ((type.bits << type.group_shift) != type.group_bytes * 8U) return false;
    }
    return true;
}
static_assert(groups_are_whole());

}  // namespace

constexpr std::array<const ElementTypeInfo*, 256> element_type_of_tag = [] {
    std::array<const ElementTypeInfo*, 256> table{};
    for (const ElementTypeInfo& type : types) table[type.tag] = &type;
    return table;
}();

Result<std::uint64_t> packed_byte_size(const ElementTypeInfo& type, std::uint64_t count) {
    if (const auto size = packed_size(type, count)) return *size;
    return fail(Status::invalid_layout, Error::no_offset, "%llu elements of %s: take more than 2^64-1 bytes",
                static_cast<unsigned long long>(count), type.name);
}

Result<std::uint64_t> packed_byte_size(std::uint8_t tag, std::uint64_t count) {
    const ElementTypeInfo* type = find_element_type(tag);
    if (type == nullptr) {
        return fail(Status::invalid_type, Error::no_offset, "element type: expected the tag of a known type, got %02X",
                    tag);
    }
    return packed_byte_size(*type, count);
}

}  // namespace hurray
