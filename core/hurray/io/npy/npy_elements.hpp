// The elements of a tensor on their way into a .npy file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/npy/npy_dtype.hpp"
#include "core/hurray/io/outgoing_elements.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// How a tensor is written, which its descriptor says.
struct NpyPlan {
    const NpyDtype* dtype = nullptr;
    /// In column-major order: a column-major tensor, or a strided one whose elements lie so.
    bool fortran_order = false;
    /// Tiled, Morton or Hilbert: made row-major first, in memory.
    bool transcoded = false;
    /// Bytes of the data.
    std::uint64_t data_size = 0;
};

/// Errors name the tensor. What the format has no words for is not lost in silence, but for statistics: they say nothing
/// that the data does not say.
/// @param format for messages: ".npy"
/// @errors unsupported (an element type that NumPy does not have, sections, layouts that are not dense, a size above
///     2^63-1 bytes); invalid_layout (a dynamic dimension)
Result<NpyPlan> plan_npy(const char* format, std::string_view name, const Descriptor& descriptor);

/// Magic, version, length and text: a multiple of 64 bytes, byte by byte what NumPy writes. Version 1 always: the text of
/// 64 dimensions is far shorter than the 65,535 bytes that it has room for, and names of fields, which need version 3, are
/// in structured dtypes only.
[[nodiscard]] std::string npy_header(const NpyPlan& plan, std::span<const std::uint64_t> shape);

/// The tensor as it is written: the same, or the row-major one that a transcoded plan asks for, which then is an ordinary
/// plan.
/// @param copied_bytes grows by the size of the data when it was transcoded
/// @errors those of transcode
Result<Tensor> settle_npy(NpyPlan& plan, const Tensor& tensor, std::uint64_t& copied_bytes);

/// Hands out the data in the order of the file, straight from the tensor's buffer where it lies so, else gathered and
/// unpacked through a small buffer; `copied_bytes` grows by what was.
/// @param tensor what settle_npy made
/// @errors those of `take`
Result<void> write_npy_data(const NpyPlan& plan, const Tensor& tensor, const TakeBytes& take, std::uint64_t& copied_bytes);

}  // namespace hurray
