// A dense tensor in another dense layout: what all ways end with that lead to one.
#pragma once

#include <cstddef>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/address.hpp"
#include "core/hurray/tensor.hpp"
#include "core/hurray/transcode/dense_target.hpp"
#include "core/hurray/transcode/options.hpp"

namespace hurray {

/// Allocates buffer 0 of a target.
/// @errors limit_exceeded, out_of_memory
Result<Buffer> allocate_target(const DenseTarget& target, Work& work);

/// The tensor of a target whose elements are there.
Tensor finish_target(DenseTarget&& target, Buffer&& data, const CarriedParts& parts);

/// Makes the tensor of a target from the elements at their places in `data`.
/// @errors limit_exceeded, out_of_memory, cancelled
Result<Tensor> fill_target(const AddressMap& from, const std::byte* data, DenseTarget&& target,
                           const CarriedParts& parts, Work& work);

/// Between any two dense layouts.
/// @errors as transcode
Result<Tensor> dense_from_dense(const Tensor& tensor, const TranscodeSpec& spec, const WorkOptions& options = {});

}  // namespace hurray
