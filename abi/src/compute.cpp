// Work on the elements of tensors. Becomes hurray/compute.h.
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/handles.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/layout/gather.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Copies a dense tensor into new memory of the library: row-major, aligned, byte_offset 0. For data that is not
/// aligned as its user needs it, and for strided data that is wanted contiguous.
/// @param alignment of the new memory in bytes, a power of two of at least 64; 0 means 64
/// @param out_copied_bytes bytes of elements copied
/// @owner caller; independent of `tensor`
/// @errors UNSUPPORTED: the layout is not dense, the shape dynamic, or the memory not the host's; INVALID_ARGUMENT:
///     alignment; INVALID_LAYOUT: the elements take more than 2^64-1 bytes; INVALID_SYNC_MODE: not PRODUCER_SYNCED; OUT_OF_MEMORY
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_copy(HG_IN const HurrayTensor* tensor, uint32_t alignment,
                                           HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                           HG_OUT uint64_t* out_copied_bytes, HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    if (out_copied_bytes != nullptr) *out_copied_bytes = 0;
    HURRAY_DISPATCH(tensor, error, tensor_copy, tensor, alignment, out_tensor, out_copied_bytes, error);
    HURRAY_REQUIRE(out_tensor, error);
    HURRAY_REQUIRE(out_copied_bytes, error);
    return guarded(error, [&]() -> Result<void> {
        if (tensor->descriptor.value.is_dynamic()) {
            return fail(Status::unsupported, Error::no_offset, "tensor: expected a shape that is known, a dimension is dynamic");
        }
        auto copy = copy_row_major(core_tensor(*tensor), alignment);
        if (!copy) return std::unexpected(copy.error());
        const std::uint64_t bytes = copy->buffers[0].handle.byte_size;
        auto handle = make_tensor(std::move(*copy));
        if (!handle) return std::unexpected(handle.error());
        *out_tensor = *handle;
        *out_copied_bytes = bytes;
        return {};
    });
}
