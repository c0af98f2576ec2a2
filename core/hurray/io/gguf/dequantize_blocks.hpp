// The numbers of ggml's blocks: one function a type, each for one block. (docs/formats/gguf.md: table of block types)
//
// Each works in float32, one rounding after the other, in the order of ggml: the results are the same bit for bit. The
// build keeps the compiler from fusing a product and a sum into one rounding (core/hurray/io/gguf/BUILD.bazel).
#pragma once

#include <cstddef>

namespace hurray::gguf_blocks {

// Blocks of 32 elements: a float16 scale, perhaps a float16 minimum, codes.
void q4_0(const std::byte* block, float* out);
void q4_1(const std::byte* block, float* out);
void q5_0(const std::byte* block, float* out);
void q5_1(const std::byte* block, float* out);
void q8_0(const std::byte* block, float* out);
void q8_1(const std::byte* block, float* out);
/// A power of two for 32 e2m1 codes.
void mxfp4(const std::byte* block, float* out);
/// An unsigned e4m3 scale for each 16 of 64 e2m1 codes.
void nvfp4(const std::byte* block, float* out);
/// 128 signs.
void q1_0(const std::byte* block, float* out);
/// 32 codes that stand for 16 numbers, not evenly spaced.
void iq4_nl(const std::byte* block, float* out);

// Blocks of 256 elements with scales of their own for each 16 or 32.
void q2_k(const std::byte* block, float* out);
void q3_k(const std::byte* block, float* out);
void q4_k(const std::byte* block, float* out);
void q5_k(const std::byte* block, float* out);
void q6_k(const std::byte* block, float* out);
/// No scales of their own.
void q8_k(const std::byte* block, float* out);
void iq4_xs(const std::byte* block, float* out);

// Blocks of 256 elements that are -1, 0 or 1 times a scale.
void tq1_0(const std::byte* block, float* out);
void tq2_0(const std::byte* block, float* out);

}  // namespace hurray::gguf_blocks
