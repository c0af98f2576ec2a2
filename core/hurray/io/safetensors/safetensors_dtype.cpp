#include "core/hurray/io/safetensors/safetensors_dtype.hpp"

#include <algorithm>
#include <array>

namespace hurray {
namespace {

constexpr std::array<SafetensorsDtype, 20> table{{
    {"F64", 0x04, 64, 64, 8},
    {"F32", 0x03, 32, 32, 4},
    {"F16", 0x01, 16, 16, 2},
    {"BF16", 0x02, 16, 16, 2},
    {"I64", 0x16, 64, 64, 8},
    {"I32", 0x14, 32, 32, 4},
    {"I16", 0x12, 16, 16, 2},
    {"I8", 0x10, 8, 8, 1},
    {"U64", 0x17, 64, 64, 8},
    {"U32", 0x15, 32, 32, 4},
    {"U16", 0x13, 16, 16, 2},
    {"U8", 0x11, 8, 8, 1},
    {"BOOL", 0x20, 8, 1, 1},
    {"C64", 0x50, 64, 64, 4},
    {"F8_E4M3", 0x40, 8, 8, 1},
    {"F8_E5M2", 0x41, 8, 8, 1},
    {"F8_E8M0", 0x42, 8, 8, 1},
    {"F6_E2M3", 0x44, 6, 6, 1},
    {"F6_E3M2", 0x45, 6, 6, 1},
    {"F4", 0x43, 4, 4, 1},
}};

// Finite-only forms with another bias and a single NaN in place of minus zero.
constexpr std::array<std::string_view, 2> foreign{"F8_E4M3FNUZ", "F8_E5M2FNUZ"};

template <typename Matches>
const SafetensorsDtype* find(Matches matches) noexcept {
    const auto found = std::find_if(table.begin(), table.end(), matches);
    return found == table.end() ? nullptr : &*found;
}

}  // namespace

std::span<const SafetensorsDtype> safetensors_dtypes() noexcept { return table; }

const SafetensorsDtype* find_safetensors_dtype(std::string_view name) noexcept {
    return find([&](const SafetensorsDtype& dtype) { return dtype.name == name; });
}

const SafetensorsDtype* find_safetensors_dtype(std::uint8_t type_tag) noexcept {
    return find([&](const SafetensorsDtype& dtype) { return dtype.type_tag == type_tag; });
}

bool is_foreign_safetensors_dtype(std::string_view name) noexcept {
    return std::find(foreign.begin(), foreign.end(), name) != foreign.end();
}

}  // namespace hurray
