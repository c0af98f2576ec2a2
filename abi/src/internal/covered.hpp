// The core reads more of the format than the C ABI has functions for: a descriptor passes the boundary only when every
// field of it can be told and built there.
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray::abi {

[[gnu::cold]] Result<void> not_covered(const Descriptor& descriptor) noexcept;

/// @errors unsupported: a layout or section without functions here; the offset is that of its tag or flag
inline Result<void> check_covered(const Descriptor& descriptor) noexcept {
    constexpr std::uint32_t covered_sections = descriptor_flag::shard;
    const std::uint8_t layout = descriptor.layout();
    const bool covered_layout = layout >= layout_tag::row_major && layout <= layout_tag::strided;
    if (covered_layout && (descriptor.flags() & ~covered_sections) == 0) [[likely]] return {};
    return not_covered(descriptor);
}

}  // namespace hurray::abi
