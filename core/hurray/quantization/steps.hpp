// The scale and zero point that numbers need, and the step that each of them becomes. (docs/quantization.md)
#pragma once

#include <array>
#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/quantization/quantize.hpp"
#include "core/hurray/quantization/stored_values.hpp"

namespace hurray::quantization_detail {

/// The smallest and the largest of some numbers, and of 0.
struct Range {
    double lowest = 0;
    double highest = 0;

    void add(double number) noexcept {
        if (number < lowest) lowest = number;
        if (number > highest) highest = number;
    }
    [[nodiscard]] double magnitude() const noexcept { return -lowest > highest ? -lowest : highest; }
};

/// What the elements of a block share.
struct Shared {
    /// Of MXFP a power of two.
    float scale = 1;
    std::int32_t zero = 0;
    /// The scale as it is stored.
    std::uint32_t scale_bits = 0;
};

/// Works out the parameters and codes of one scheme, storage type and scale type.
///
/// Thread rule: may be used by any number of threads.
class Steps {
  public:
    /// @param spec that was checked
    /// @param scale_type type tag of the scales, as stored
    Steps(const QuantizeSpec& spec, const StoredValues& stored, std::uint8_t scale_type) noexcept;

    /// Whether there is no place for numbers below 0.
    [[nodiscard]] bool refuses_negative() const noexcept { return is_affine_ && spec_.symmetric && smallest_ == 0; }

    /// The parameters for numbers of a range.
    /// @errors invalid_argument: the scale is beyond its type
    [[nodiscard]] Result<Shared> share(const Range& range) const;

    /// The code of the number of a range that `shared` was made for.
    [[nodiscard]] std::uint32_t code(double number, const Shared& shared) const noexcept;

  private:
    [[nodiscard]] Result<Shared> affine(const Range& range) const;
    [[nodiscard]] Shared nf4(const Range& range) const noexcept;
    [[nodiscard]] Shared mxfp(const Range& range) const noexcept;
    [[nodiscard]] std::uint32_t affine_code(double number, const Shared& shared) const noexcept;
    [[nodiscard]] std::uint32_t nf4_code(double number, const Shared& shared) const noexcept;
    [[nodiscard]] std::uint32_t mxfp_code(double number, const Shared& shared) const noexcept;

    QuantizeSpec spec_;
    std::uint8_t scale_type_;
    bool is_affine_;
    // Of integer types: the steps that are used.
    std::int64_t smallest_;
    std::int64_t largest_;
    std::uint32_t mask_;
};

}  // namespace hurray::quantization_detail
