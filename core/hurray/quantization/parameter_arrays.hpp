// The scales and zero points of a quantized tensor, whatever their type and place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray::quantization_detail {

/// Reads entries of both arrays; no entry at or beyond entries() may be asked for. Refers to the tensor's buffers, or
/// holds the one scale and zero point of the per-tensor scheme.
class ParameterArrays {
  public:
    /// @param tensor whose buffers passed check_host_buffers
    /// @errors unsupported: a scheme that is not known; invalid_layout: a dynamic dimension; invalid_quantization: a
    ///     buffer that has not exactly the size that the arrays take
    static Result<ParameterArrays> make(const Tensor& tensor, const QuantizationFields& fields);

    [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
    [[nodiscard]] bool has_zeros() const noexcept { return has_zeros_; }
    /// Type tag of the scales.
    [[nodiscard]] std::uint8_t scale_type() const noexcept { return scale_type_; }
    /// Entries of the buffer table, and where in it the zero points start; for errors.
    [[nodiscard]] std::uint32_t scale_buffer() const noexcept { return scale_buffer_; }
    [[nodiscard]] std::uint32_t zero_buffer() const noexcept { return zero_buffer_; }
    [[nodiscard]] std::uint64_t zeros_start() const noexcept { return zeros_start_; }

    /// The array of scales, whatever their type.
    [[nodiscard]] const std::byte* raw_scales() const noexcept { return scales(); }
    /// The entry of the array of float32 scales in memory; null when the scales are of another type.
    [[nodiscard]] const std::byte* direct_scales(std::uint64_t entry) const noexcept {
        return scale_width_ == 4 ? scales() + entry * 4 : nullptr;
    }
    /// The entry of the array of zero points in memory; null when there is none.
    [[nodiscard]] const std::byte* direct_zeros(std::uint64_t entry) const noexcept {
        return has_zeros_ ? zeros() + entry * 4 : nullptr;
    }

    /// `count` scales from an entry on, as float32. Of bytes of float8_e8m0 that are invalid as data, 00 becomes 0 and FF
    /// infinity.
    void read_scales(std::uint64_t first, std::size_t count, float* out) const noexcept;
    /// As read_scales, of entries that are `stride` entries apart.
    void gather_scales(std::uint64_t first, std::uint64_t stride, std::size_t count, float* out) const noexcept;
    /// Likewise of zero points, of which there are some.
    void gather_zeros(std::uint64_t first, std::uint64_t stride, std::size_t count, std::int32_t* out) const noexcept;
    /// One entry.
    [[nodiscard]] float scale(std::uint64_t entry) const noexcept {
        float value = 0;
        read_scales(entry, 1, &value);
        return value;
    }
    [[nodiscard]] std::int32_t zero(std::uint64_t entry) const noexcept;
    /// The bits of a scale as they are stored.
    [[nodiscard]] std::uint32_t scale_bits(std::uint64_t entry) const noexcept;

  private:
    [[nodiscard]] const std::byte* scales() const noexcept { return scales_ == nullptr ? inline_.data() : scales_; }
    [[nodiscard]] const std::byte* zeros() const noexcept { return scales_ == nullptr ? inline_.data() + 4 : zeros_; }

    // Null when they are in inline_: a copy of the object has its own.
    const std::byte* scales_ = nullptr;
    const std::byte* zeros_ = nullptr;
    std::uint64_t entries_ = 1;
    std::uint64_t zeros_start_ = 0;
    std::uint32_t scale_buffer_ = no_buffer;
    std::uint32_t zero_buffer_ = no_buffer;
    std::uint32_t scale_width_ = 4;
    std::uint8_t scale_type_ = 0x03;
    bool has_zeros_ = false;
    std::array<std::byte, 8> inline_{};
};

}  // namespace hurray::quantization_detail
