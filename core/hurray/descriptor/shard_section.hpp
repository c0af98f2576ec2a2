// The shard section: which part of a larger tensor this one is. (format: shard)
//
// Section words: parent_shape[rank], shard_offset[rank].
#pragma once

#include "core/hurray/descriptor/section.hpp"

namespace hurray {

extern const SectionCodec shard_codec;

}  // namespace hurray
