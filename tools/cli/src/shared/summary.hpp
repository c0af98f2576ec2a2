// What is said of a tensor in a line: quantization, layout, and the descriptor's main facts.
#pragma once

#include <hurray.hpp>
#include <string>

namespace cli {

/// "per_block_affine, axis 1, block 32, float16 scales"; empty where nothing is quantized.
std::string quantization_text(hurray::DescriptorRef descriptor);
/// "tiled 8x8", "coo, 12 entries".
std::string layout_text(hurray::DescriptorRef descriptor);

}  // namespace cli
