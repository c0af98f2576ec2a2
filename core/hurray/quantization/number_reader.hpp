// The numbers of a dense tensor in row-major order, whatever its layout, in pieces.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/values/number_format.hpp"

namespace hurray::quantization_detail {

/// Refers to the tensor. Thread rule: one thread at a time.
class NumberReader {
  public:
    static constexpr std::size_t piece = 4096;

    /// @param tensor of a floating-point type, whose buffers passed check_host_buffers
    /// @errors as AddressMap::make
    static Result<NumberReader> make(const Tensor& tensor);

    [[nodiscard]] std::uint64_t count() const noexcept { return map_.element_count(); }

    /// Elements first to first + out.size() - 1 in row-major order.
    /// @param out at most `piece` of them
    /// @errors invalid_argument: a number that is NaN, infinite or beyond float32; its index is in the message
    Result<void> read(std::uint64_t first, std::span<double> out);

  private:
    NumberReader(AddressMap&& map, const NumberFormat& format, std::span<const std::byte> data);

    AddressMap map_;
    NumberFormat format_;
    std::span<const std::byte> data_;
    // As if it were one row: the elements lie in row-major order without gaps.
    bool contiguous_;
    std::vector<std::byte> scratch_;
};

}  // namespace hurray::quantization_detail
