#include "core/hurray/io/gguf/gguf_type.hpp"

#include <algorithm>
#include <array>

#include "core/hurray/io/gguf/dequantize_blocks.hpp"
#include "core/hurray/quantization/fields.hpp"

namespace hurray {
namespace {

using namespace gguf_blocks;

constexpr auto plain = GgufKind::plain;
constexpr auto exact = GgufKind::exact_blocks;
constexpr auto inexact = GgufKind::inexact_blocks;
constexpr auto affine = scheme_tag::per_block_affine;
constexpr auto mxfp = scheme_tag::mxfp;

// In order of the numbers. 4, 5, 31 to 33 and 36 to 38 are not used in files any more.
constexpr std::array<GgufType, 34> table{{
    {0, "F32", 1, 4, plain, 0x03, 0, nullptr},        {1, "F16", 1, 2, plain, 0x01, 0, nullptr},
    {2, "Q4_0", 32, 18, exact, 0x48, affine, q4_0},   {3, "Q4_1", 32, 20, inexact, 0, 0, q4_1},
    {6, "Q5_0", 32, 22, inexact, 0, 0, q5_0},         {7, "Q5_1", 32, 24, inexact, 0, 0, q5_1},
    {8, "Q8_0", 32, 34, exact, 0x10, affine, q8_0},   {9, "Q8_1", 32, 36, inexact, 0, 0, q8_1},
    {10, "Q2_K", 256, 84, inexact, 0, 0, q2_k},       {11, "Q3_K", 256, 110, inexact, 0, 0, q3_k},
    {12, "Q4_K", 256, 144, inexact, 0, 0, q4_k},      {13, "Q5_K", 256, 176, inexact, 0, 0, q5_k},
    {14, "Q6_K", 256, 210, inexact, 0, 0, q6_k},      {15, "Q8_K", 256, 292, inexact, 0, 0, q8_k},
    {16, "IQ2_XXS", 256, 66, inexact, 0, 0, nullptr}, {17, "IQ2_XS", 256, 74, inexact, 0, 0, nullptr},
    {18, "IQ3_XXS", 256, 98, inexact, 0, 0, nullptr}, {19, "IQ1_S", 256, 50, inexact, 0, 0, nullptr},
    {20, "IQ4_NL", 32, 18, inexact, 0, 0, iq4_nl},    {21, "IQ3_S", 256, 110, inexact, 0, 0, nullptr},
    {22, "IQ2_S", 256, 82, inexact, 0, 0, nullptr},   {23, "IQ4_XS", 256, 136, inexact, 0, 0, iq4_xs},
    {24, "I8", 1, 1, plain, 0x10, 0, nullptr},        {25, "I16", 1, 2, plain, 0x12, 0, nullptr},
    {26, "I32", 1, 4, plain, 0x14, 0, nullptr},       {27, "I64", 1, 8, plain, 0x16, 0, nullptr},
    {28, "F64", 1, 8, plain, 0x04, 0, nullptr},       {29, "IQ1_M", 256, 56, inexact, 0, 0, nullptr},
    {30, "BF16", 1, 2, plain, 0x02, 0, nullptr},      {34, "TQ1_0", 256, 54, inexact, 0, 0, tq1_0},
    {35, "TQ2_0", 256, 66, inexact, 0, 0, tq2_0},     {39, "MXFP4", 32, 17, exact, 0x43, mxfp, mxfp4},
    {40, "NVFP4", 64, 36, inexact, 0, 0, nvfp4},      {41, "Q1_0", 128, 18, inexact, 0, 0, q1_0},
}};

template <typename Matches>
const GgufType* find(Matches matches) noexcept {
    const auto found = std::find_if(table.begin(), table.end(), matches);
    return found == table.end() ? nullptr : &*found;
}

}  // namespace

std::span<const GgufType> gguf_types() noexcept {
    return table;
}

const GgufType* find_gguf_type(std::uint32_t number) noexcept {
    return find([=](const GgufType& type) { return type.number == number; });
}

const GgufType* find_plain_gguf_type(std::uint8_t type_tag) noexcept {
    return find([=](const GgufType& type) { return type.kind == plain && type.type_tag == type_tag; });
}

}  // namespace hurray
