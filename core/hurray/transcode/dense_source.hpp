// The dense tensor that a transcoding reads.
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/memory/buffer.hpp"

namespace hurray {

/// Checks that no element reaches into the bytes in front of a buffer's own, which belong to somebody else and are never
/// read.
/// @errors invalid_layout
inline Result<void> check_prefix(const AddressMap& map, const Buffer& buffer) {
    if (map.element_count() == 0 || map.byte_of(map.lowest()) >= buffer.prefix) return {};
    return fail(Status::invalid_layout, Error::no_offset,
                "byte_offset: expected elements behind the %u bytes before the buffer's own, got the lowest one at %llu",
                buffer.prefix, static_cast<unsigned long long>(map.byte_of(map.lowest())));
}

}  // namespace hurray
