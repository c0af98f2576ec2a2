// The extra fields of an entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"

namespace hurray::zip {

/// Those that mean something here; others are skipped.
struct Extra {
    std::optional<std::span<const std::byte>> zip64;
    /// The name in UTF-8 (Info-ZIP); readers that know it take it for the other.
    std::optional<std::string_view> unicode_path;
};

/// Views into `field`. Up to three zeros behind the last field are padding.
/// @param offset of the field in the file
/// @errors invalid_format: a field that does not fit, one that is there twice
Result<Extra> parse_extra(std::span<const std::byte> field, std::uint64_t offset);

/// Takes the values that 32-bit fields leave to ZIP64 from its extra field, which has them in their order.
class Zip64Values {
public:
    Zip64Values(const Extra& extra, std::uint64_t offset) noexcept : rest_(extra.zip64.value_or(std::span<const std::byte>{})), offset_(offset) {}

    /// The value of a field: itself, unless it is saturated. A saturated field without a ZIP64 value means itself.
    /// @errors invalid_format: there is a ZIP64 field, but it ends here
    Result<std::uint64_t> value(std::uint32_t field);

private:
    std::span<const std::byte> rest_;
    std::uint64_t offset_;
};

}  // namespace hurray::zip
