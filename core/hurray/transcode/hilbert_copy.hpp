// Between the Hilbert layout and another one.
#pragma once

#include "core/hurray/layout/address.hpp"
#include "core/hurray/transcode/copy_table.hpp"
#include "core/hurray/transcode/dense_side.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray::transcode_detail {

/// Copies between two tensors of the same shape, one of which or both are in the Hilbert layout.
/// @returns false when the work shall stop
bool copy_hilbert(const AddressMap& from_map, const SourceSide& from, const AddressMap& to_map, const TargetSide& to,
                  const Packing& packing, Work& work);

}  // namespace hurray::transcode_detail
