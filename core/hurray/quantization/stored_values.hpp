// What the stored elements of a scheme are, for the kernels.
#pragma once

#include <array>
#include <cstdint>

#include "core/hurray/base/error.hpp"
#include "core/hurray/quantization/fields.hpp"
#include "core/hurray/quantization/kernels.hpp"

namespace hurray::quantization_detail {

struct StoredValues {
    Codes codes = Codes::int8;
    /// What each code stands for, for codes of 4 and 2 bits.
    std::array<float, 16> levels{};
    /// The range of zero points: the numbers of an integer type; both 0 for others.
    std::int64_t smallest = 0;
    std::int64_t largest = 0;

    /// @param scheme that takes the type, as a decoded descriptor has it
    /// @errors unsupported: another scheme or type
    static Result<StoredValues> make(std::uint8_t scheme, std::uint8_t storage_type);
};

}  // namespace hurray::quantization_detail
