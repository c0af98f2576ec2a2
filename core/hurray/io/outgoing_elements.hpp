// The elements of a dense tensor on their way into a file of another format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "core/hurray/base/error.hpp"
#include "core/hurray/layout/row_major_gather.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// The same error with the tensor's name in front.
std::unexpected<Error> of_tensor(std::string_view name, const Error& error);

/// Refuses the sections that a format has no words for, so that they are not lost in silence: quantization, a shard's
/// place, membership of a composite. Not statistics: they say nothing that the data does not say.
/// @param format for messages: "safetensors"
/// @param held flags of the sections that the format can hold
/// @errors unsupported
Result<void> check_sections(const char* format, std::string_view name, const Descriptor& descriptor,
                            std::uint32_t held = 0);

/// Checks that the elements can be read, and that none lies in bytes of the buffer that are not its own (its prefix).
/// @errors those of check_host_buffers; invalid_argument
Result<void> check_outgoing_buffers(std::string_view name, const Tensor& tensor);

/// Takes bytes piece by piece; they stay only until it returns.
using TakeBytes = std::function<Result<void>(std::span<const std::byte> piece)>;

/// Hands out elements in row-major order through a small buffer; bools as a byte each. `copied_bytes` grows by what was
/// handed out.
/// @errors those of `take`
Result<void> gather_outgoing(const StridedElements& elements, const TakeBytes& take, std::uint64_t& copied_bytes);

}  // namespace hurray
