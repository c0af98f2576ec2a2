// Composites: what callers see of them. Public: becomes part of hurray/compute.h.
#pragma once

#include <cstdint>

/// Facts about a composite.
/// @since 4
struct HurrayCompositeInfo {
    /// Size of this struct, set by the caller.
    uint32_t struct_size;
    /// Number of members of the head, not of those inside of them.
    uint32_t member_count;
    /// Descriptors in all: the head and, at all levels, those of the members.
    uint64_t descriptor_count;
    /// Heads on the longest way down, this one included: 1 to 8.
    uint32_t depth;
    /// HURRAY_COMPOSITION_ rule, or a private one.
    uint8_t composition_rule;
    /// HURRAY_COMBINE_ value.
    uint8_t combine_op;
    /// 1 when there is a number at each index of the head: for partitions and overlays whose members have that, too.
    uint8_t has_elements;
    /// 0.
    uint8_t reserved;
};
