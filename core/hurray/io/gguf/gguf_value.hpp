// Values of metadata entries: GGUF's thirteen types, each as the type of MetadataView that holds it exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/gguf/gguf_header.hpp"
#include "core/hurray/io/metadata.hpp"

namespace hurray {

/// The numbers are those of the format.
enum class GgufValueType : std::uint8_t {
    uint8 = 0,
    int8 = 1,
    uint16 = 2,
    int16 = 3,
    uint32 = 4,
    int32 = 5,
    float32 = 6,
    boolean = 7,
    string = 8,
    array = 9,
    uint64 = 10,
    int64 = 11,
    float64 = 12,
};

/// Bytes of a value; 0: it says itself how many.
[[nodiscard]] std::uint32_t gguf_value_size(GgufValueType type) noexcept;

/// The type that holds all values of a type exactly.
[[nodiscard]] MetadataType metadata_type(GgufValueType type) noexcept;

/// Where a value lies in the header.
struct GgufValue {
    GgufValueType type = GgufValueType::uint8;
    GgufValueType element_type = GgufValueType::uint8;
    /// Of a single value; of an array, the first element.
    std::uint32_t at = 0;
    /// Elements of an array.
    std::uint32_t count = 0;
    /// Of an array of strings: its first mark.
    std::uint32_t first_mark = 0;

    /// Parses and checks the value at `at`, its type in front, and moves `at` behind it.
    /// @param marks takes the place of each 64th string of an array
    /// Errors: invalid_format; unsupported (an array in an array); as GgufHeader::need.
    static Result<GgufValue> parse(GgufHeader& header, std::uint64_t& at, const GgufPlace& place,
                                   std::vector<std::uint32_t>& marks);

    [[nodiscard]] MetadataView view(const GgufHeader& header) const noexcept;
    [[nodiscard]] MetadataView element(const GgufHeader& header, std::span<const std::uint32_t> marks,
                                       std::uint64_t element) const noexcept;
};

}  // namespace hurray
