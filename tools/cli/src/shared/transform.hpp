// What convert does to a tensor: numbers, layout, quantization.
#pragma once

#include <cstdint>
#include <hurray.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "progress.hpp"

namespace cli {

/// A layout with the fields that it needs.
struct LayoutWish {
    std::uint8_t layout = 0;
    /// Tiled.
    std::vector<std::uint64_t> tile;
    /// CSF: the order of the dimensions.
    std::vector<std::uint64_t> order;

    /// "row_major", "tiled:8x8", "csf:2,0,1"; throws a Failure with exit code 2.
    static LayoutWish parse(std::string_view text);
    std::string text() const;
    /// Why a tensor of this shape cannot have the layout; empty where it can.
    std::string obstacle(const HurrayDescriptorInfo& info) const;
};

/// A quantization scheme with its parameters.
struct QuantizeWish {
    HurrayQuantizeSpec spec{};
    /// The last dimension.
    bool last_axis = false;

    /// "per_block_affine:int8,block=32,axis=1,scale=float16,symmetric"; throws a Failure with exit code 2.
    static QuantizeWish parse(std::string_view text);
    HurrayQuantizeSpec spec_for(const HurrayDescriptorInfo& info) const;
    std::string obstacle(const HurrayDescriptorInfo& info, bool quantized) const;
};

struct Plan {
    std::optional<std::uint8_t> dequantize;
    std::optional<LayoutWish> layout;
    std::optional<QuantizeWish> quantize;
    /// Composites become one tensor.
    bool merge = false;

    bool changes() const { return dequantize || layout || quantize || merge; }
};

struct Transformed {
    hurray::Item item;
    /// What was done, such as "dequantized to float32".
    std::vector<std::string> done;
    /// What was wanted and was not possible, such as "not quantized: of integers".
    std::vector<std::string> left;
};

/// Applies the plan. The result shares the memory of what is not changed. Throws a Failure about `subject`, exit code 4.
Transformed transform(const hurray::Item& item, const Plan& plan, Meter& meter, std::uint64_t bytes, const std::string& subject);

/// A further handle for the same tensor or composite.
hurray::Item share(const hurray::Item& item, const std::string& subject);

}  // namespace cli
