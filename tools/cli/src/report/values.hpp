// The numbers of a tensor, in row-major order, whatever its type and layout: in memory that does not grow with it.
#pragma once

#include <array>
#include <cstdint>
#include <hurray.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../shared/progress.hpp"

namespace cli::report {

/// What copies of a tensor (dequantized, row-major) may take. Beyond, elements are read one by one.
inline constexpr std::uint64_t memory_limit = std::uint64_t{256} << 20;

/// Numbers of `type` (a HURRAY_TYPE_ tag) that lie one after another, decoded as the library has them; nothing for
/// types that have no real numbers or no table. `bits`: of an element.
class Decoder {
  public:
    static std::optional<Decoder> of(std::uint8_t type, std::uint32_t bits);
    /// `data`: where element 0 starts.
    void read(const std::uint8_t* data, std::uint64_t first, std::span<double> into) const;

  private:
    std::uint8_t type_ = 0;
    std::uint32_t bits_ = 0;
    // The number of each pattern, of types of up to 16 bits: asked of the library once.
    std::shared_ptr<const std::vector<double>> table_;
};

class Values {
  public:
    /// Of a tensor with real numbers; quantized ones count as what they stand for. The tensor outlives it. `bytes`:
    /// what the meter takes the tensor for.
    static hurray::Result<Values> of(const hurray::Tensor& tensor, Meter& meter, std::uint64_t bytes);

    std::uint64_t count() const { return count_; }
    const std::vector<std::uint64_t>& shape() const { return shape_; }
    /// Whether every element is a call of the library: then few should be read.
    bool slow() const { return !decoder_; }
    /// Elements `first` and following of the row-major order. A pattern that is no number is NaN.
    hurray::Result<void> read(std::uint64_t first, std::span<double> into) const;

  private:
    const hurray::Tensor* tensor_ = nullptr;
    std::vector<std::uint64_t> shape_;
    std::uint64_t count_ = 0;
    bool quantized_ = false;
    // Of contiguous elements.
    std::optional<Decoder> decoder_;
    hurray::Tensor copy_;
    const std::uint8_t* data_ = nullptr;
};

}  // namespace cli::report
