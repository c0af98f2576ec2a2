// What a driver computes of a tensor by reading every element through a view: a checksum and a sum.
#pragma once

#include <cstdint>
#include <optional>

#include "hurray.h"

namespace driver {

struct ElementDigest {
    /// CRC-32 (IEEE) over the element bytes in row-major order of their indices; packed types stay packed.
    std::uint32_t crc32 = 0;
    /// Bytes that went into it.
    std::uint64_t bytes = 0;
    /// Sequential float64 sum in the same order; empty for types without a plain value (tier 2).
    std::optional<double> sum;
};

ElementDigest digest_of(const HurrayView& view);

}  // namespace driver
