#include "core/hurray/io/npy/npy_dtype.hpp"

#include <algorithm>
#include <array>

#include "core/hurray/io/quoted.hpp"

namespace hurray {
namespace {

constexpr std::array<NpyDtype, 14> table{{
    {"|b1", "|b1", 0x20, 1, 1},
    {"|i1", "|i1", 0x10, 1, 1},
    {"<i2", ">i2", 0x12, 2, 2},
    {"<i4", ">i4", 0x14, 4, 4},
    {"<i8", ">i8", 0x16, 8, 8},
    {"|u1", "|u1", 0x11, 1, 1},
    {"<u2", ">u2", 0x13, 2, 2},
    {"<u4", ">u4", 0x15, 4, 4},
    {"<u8", ">u8", 0x17, 8, 8},
    {"<f2", ">f2", 0x01, 2, 2},
    {"<f4", ">f4", 0x03, 4, 4},
    {"<f8", ">f8", 0x04, 8, 8},
    {"<c8", ">c8", 0x50, 8, 4},
    {"<c16", ">c16", 0x51, 16, 8},
}};

// Why a type that NumPy has is none of ours; null for what NumPy does not have either.
const char* reason(std::string_view type) {
    if (type.empty()) return nullptr;
    switch (type[0]) {
        case 'O': return "an array of Python objects is a pickle, which is never read";
        case 'S':
        case 'a':
        case 'U': return "strings are no elements of a tensor";
        case 'V': return "raw bytes say nothing about the type of the elements";
        case 'M':
        case 'm': return "dates and times have no element type here";
        default: break;
    }
    if (type == "f16" || type == "f12" || type == "c32" || type == "c24") {
        return "what a long double is depends on the machine that wrote it (x87 in most files)";
    }
    return nullptr;
}

}  // namespace

std::span<const NpyDtype> npy_dtypes() noexcept { return table; }

const NpyDtype* find_npy_dtype(std::uint8_t type_tag) noexcept {
    const auto found = std::ranges::find(table, type_tag, &NpyDtype::type_tag);
    return found == table.end() ? nullptr : &*found;
}

Result<NpyType> parse_npy_type(std::string_view descr, std::uint64_t offset) {
    constexpr std::string_view orders = "<>=|";
    const bool has_order = !descr.empty() && orders.contains(descr[0]);
    const std::string_view type = has_order ? descr.substr(1) : descr;
    const auto found = std::ranges::find_if(table, [&](const NpyDtype& dtype) { return dtype.little.substr(1) == type; });
    if (found != table.end()) return NpyType{&*found, descr[0] == '>' && found->number_bytes > 1};
    if (const char* why = reason(type)) {
        return fail(Status::unsupported, offset, "descr: %s: %s", Quoted(descr).c_str(), why);
    }
    return fail(Status::unsupported, offset,
                "descr: %s: expected one of b1, i1 to i8, u1 to u8, f2, f4, f8, c8, c16, with or without a byte order",
                Quoted(descr).c_str());
}

}  // namespace hurray
