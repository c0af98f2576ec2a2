// What the writer knew of the elements; advice only. (format: statistics section)
//
// Words: the nine of the section as they stand on the wire.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/hurray/descriptor/section.hpp"

namespace hurray {

/// The bits of computed_mask: which fields say something.
namespace statistics_bit {
inline constexpr std::uint32_t nnz = 1U << 0;
inline constexpr std::uint32_t sparsity = 1U << 1;
inline constexpr std::uint32_t range = 1U << 2;
inline constexpr std::uint32_t moments = 1U << 3;
inline constexpr std::uint32_t nm_sparsity = 1U << 4;
inline constexpr std::uint32_t nan_inf = 1U << 5;
/// All that the format defines.
inline constexpr std::uint32_t all = (1U << 6) - 1;
}  // namespace statistics_bit

/// Statistics of the elements, dequantized where they are quantized. Fields whose bit is not set have no meaning, and
/// are kept as they are.
struct StatisticsFields {
    std::uint32_t computed_mask = 0;
    /// Elements other than 0.
    std::uint64_t nnz = 0;
    /// Fraction of elements that are 0, 0 to 1.
    double sparsity_ratio = 0;
    double value_min = 0;
    double value_max = 0;
    double value_abs_max = 0;
    double value_mean = 0;
    /// Of the whole population; not negative.
    double value_stddev = 0;
    /// At most nm_n of each nm_m consecutive elements are not 0; both 0 when there is no such pattern.
    std::uint8_t nm_n = 0;
    std::uint8_t nm_m = 0;
    bool has_nan = false;
    bool has_inf = false;

    friend bool operator==(const StatisticsFields&, const StatisticsFields&) = default;
};

/// The statistics section of a decoded descriptor; nothing when it has none.
///
/// Thread rule: any thread.
std::optional<StatisticsFields> statistics_fields(const Descriptor& descriptor) noexcept;

/// The section's words of the fields, which are not checked.
std::array<std::uint64_t, 9> statistics_words(const StatisticsFields& fields) noexcept;

/// Bytes of the section.
inline constexpr std::uint32_t statistics_size = 72;

extern const SectionCodec statistics_codec;

}  // namespace hurray
