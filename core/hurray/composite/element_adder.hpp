// Sums of the elements of overlays. (format: composite, overlay; docs/formats/composites.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/values/number_format.hpp"

namespace hurray {

/// Adds the members of an overlay up, in the head's type: floating-point numbers as IEEE 754 adds them in that type
/// (every sum is rounded once, to nearest and to the even one of two; too large ones become infinity, or what the type
/// has instead), complex ones half by half, integers exactly.
///
/// Thread rule: any thread.
class ElementAdder {
  public:
    /// @errors unsupported: bool, float8_e8m0, and types whose sums would not be rounded once (float128 and private
    /// ones
    ///     with more than 24 significant bits)
    static Result<ElementAdder> make(const NumberFormat& format);

    /// Adds `count` elements to as many others. Both are packed runs, entered at an element. They do not overlap.
    /// @errors unsupported: an integer sum beyond the type, which the format gives no value
    Result<void> add(std::span<const std::byte> from, std::uint64_t from_first, std::span<std::byte> to,
                     std::uint64_t to_first, std::uint64_t count) const;

  private:
    explicit ElementAdder(const NumberFormat& format) : format_(format) {}
    Result<void> add_wide_integers(std::span<const std::byte> from, std::uint64_t from_first, std::span<std::byte> to,
                                   std::uint64_t to_first, std::uint64_t count) const;

    NumberFormat format_;
};

}  // namespace hurray
