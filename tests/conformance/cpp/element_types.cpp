#include "element_types.hpp"

#include "hurray.h"

namespace driver {

const char* type_name(std::uint8_t tag) {
    switch (tag) {
        case HURRAY_TYPE_FLOAT16: return "float16";
        case HURRAY_TYPE_BFLOAT16: return "bfloat16";
        case HURRAY_TYPE_FLOAT32: return "float32";
        case HURRAY_TYPE_FLOAT64: return "float64";
        case HURRAY_TYPE_INT8: return "int8";
        case HURRAY_TYPE_UINT8: return "uint8";
        case HURRAY_TYPE_INT16: return "int16";
        case HURRAY_TYPE_UINT16: return "uint16";
        case HURRAY_TYPE_INT32: return "int32";
        case HURRAY_TYPE_UINT32: return "uint32";
        case HURRAY_TYPE_INT64: return "int64";
        case HURRAY_TYPE_UINT64: return "uint64";
        case HURRAY_TYPE_BOOL: return "bool";
        case HURRAY_TYPE_FLOAT8_E4M3: return "float8_e4m3";
        case HURRAY_TYPE_FLOAT8_E5M2: return "float8_e5m2";
        case HURRAY_TYPE_FLOAT8_E8M0: return "float8_e8m0";
        case HURRAY_TYPE_FLOAT4_E2M1: return "float4_e2m1";
        case HURRAY_TYPE_FLOAT6_E2M3: return "float6_e2m3";
        case HURRAY_TYPE_FLOAT6_E3M2: return "float6_e3m2";
        case HURRAY_TYPE_FLOAT128: return "float128";
        case HURRAY_TYPE_INT4: return "int4";
        case HURRAY_TYPE_UINT4: return "uint4";
        case HURRAY_TYPE_INT2: return "int2";
        case HURRAY_TYPE_UINT2: return "uint2";
        case HURRAY_TYPE_COMPLEX64: return "complex64";
        case HURRAY_TYPE_COMPLEX128: return "complex128";
        default: return "unknown";
    }
}

}  // namespace driver
