// What may be read: buffers in memory that the CPU can reach and that nobody still writes.
#pragma once

#include "core/hurray/base/error.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// Whether the CPU can read the memory: its own, or a device's that is pinned or unified.
[[nodiscard]] bool is_host_accessible(const BufferHandle& handle) noexcept;

/// Checks the buffers of a tensor against the table of its descriptor and for being readable now.
/// Errors: invalid_argument (another number of buffers, other sizes, a prefix longer than its buffer), null_pointer (no
/// memory behind a buffer that is not empty), invalid_sync_mode (anything but PRODUCER_SYNCED), unsupported (memory that
/// the CPU cannot read).
Result<void> check_host_buffers(const Tensor& tensor);

}  // namespace hurray
