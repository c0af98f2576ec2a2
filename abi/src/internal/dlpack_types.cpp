#include "abi/src/internal/dlpack_types.hpp"

#include <array>

#include "abi/src/api/tags.hpp"

namespace hurray::abi {
namespace {

// Booleans are missing: DLPack's take a byte each, the format's a bit. So are types of 4 and 6 bits: DLPack does not say
// which bits of a byte come first.
constexpr std::array types{
    DlpackType{HURRAY_TYPE_INT8, 0, 8, 0},           DlpackType{HURRAY_TYPE_INT16, 0, 16, 0},
    DlpackType{HURRAY_TYPE_INT32, 0, 32, 0},         DlpackType{HURRAY_TYPE_INT64, 0, 64, 0},
    DlpackType{HURRAY_TYPE_UINT8, 1, 8, 0},          DlpackType{HURRAY_TYPE_UINT16, 1, 16, 0},
    DlpackType{HURRAY_TYPE_UINT32, 1, 32, 0},        DlpackType{HURRAY_TYPE_UINT64, 1, 64, 0},
    DlpackType{HURRAY_TYPE_FLOAT16, 2, 16, 0},       DlpackType{HURRAY_TYPE_FLOAT32, 2, 32, 0},
    DlpackType{HURRAY_TYPE_FLOAT64, 2, 64, 0},       DlpackType{HURRAY_TYPE_BFLOAT16, 4, 16, 0},
    DlpackType{HURRAY_TYPE_COMPLEX64, 5, 64, 0},     DlpackType{HURRAY_TYPE_COMPLEX128, 5, 128, 0},
    DlpackType{HURRAY_TYPE_FLOAT8_E4M3, 10, 8, 1},   DlpackType{HURRAY_TYPE_FLOAT8_E5M2, 12, 8, 1},
    DlpackType{HURRAY_TYPE_FLOAT8_E8M0, 14, 8, 1},
};

}  // namespace

const DlpackType* dlpack_type_of(std::uint8_t element_type) noexcept {
    for (const DlpackType& type : types) {
        if (type.element_type == element_type) return &type;
    }
    return nullptr;
}

const DlpackType* dlpack_type_of(std::uint8_t code, std::uint8_t bits) noexcept {
    for (const DlpackType& type : types) {
        if (type.code == code && type.bits == bits) return &type;
    }
    return nullptr;
}

}  // namespace hurray::abi
