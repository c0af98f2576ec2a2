// Tensors: a descriptor and its buffers as one handle, and its exchange as the pair of list and context.
#include "abi/src/api/tensor.hpp"

#include <array>
#include <limits>
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/tags.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/descriptor_fields.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/host_tensor.hpp"
#include "abi/src/internal/objects.hpp"
#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/codec.hpp"

using namespace hurray;
using namespace hurray::abi;

namespace {

Result<HurrayDenseSpec> read_dense_spec(const HurrayDenseSpec* spec) {
    auto value = read_sized_struct(spec, sizeof(HurrayDenseSpec), "spec");
    if (!value) return value;
    if (value->reserved != 0 || value->reserved2 != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->reserved: expected 0");
    }
    if (value->rank > HURRAY_MAX_RANK) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->rank: expected at most %u, got %u", HURRAY_MAX_RANK,
                    value->rank);
    }
    if (value->rank != 0 && value->shape == nullptr) {
        return fail(Status::null_pointer, Error::no_offset, "spec->shape: is null, expected %u sizes", value->rank);
    }
    const bool strided = value->layout == HURRAY_LAYOUT_STRIDED;
    if (strided && value->rank != 0 && value->strides == nullptr) {
        return fail(Status::null_pointer, Error::no_offset, "spec->strides: is null, expected %u strides", value->rank);
    }
    if (!strided && value->strides != nullptr) {
        return fail(Status::invalid_argument, Error::no_offset, "spec->strides: expected null, the layout is not strided");
    }
    return value;
}

// An export makes shares, and shares carry no event: only memory that needs no further wait can leave that way.
Result<void> check_exportable(const HurrayTensor& tensor) {
    for (std::size_t i = 0; i < tensor.buffers->slots.size(); ++i) {
        const std::uint8_t mode = tensor.buffers->slots[i]->value.handle.sync_mode;
        if (mode == sync_mode::producer_synced) continue;
        return fail(Status::sync_mode_mismatch, Error::no_offset,
                    "buffer %zu: expected sync mode PRODUCER_SYNCED, got %u; hand it off with hurray_buffer_handoff", i, mode);
    }
    return {};
}

}  // namespace

/// Makes a tensor of a descriptor and its buffers. The buffers must be those that its table asks for.
/// @param descriptor read and copied
/// @owner the list moves into the tensor on success and the variable is nulled; on failure it stays the caller's
/// @errors INVALID_LAYOUT: another number of buffers; BUFFER_TOO_SMALL; MISALIGNED; INVALID_TYPE: another device;
///     SYNC_MODE_MISMATCH; INVALID_HANDLE: the list is part of a tensor; LIMIT_EXCEEDED: a dimension of 2^63 or more;
///     UNSUPPORTED: an unread descriptor
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_new(HG_IN const HurrayDescriptor* descriptor, HG_CONSUMED_VAR HurrayBufferList** list,
                                          HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                          HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE_HANDLE(descriptor, error);
    HURRAY_REQUIRE(list, error);
    HURRAY_REQUIRE_EXCHANGE(*list, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        auto tensor = make_tensor_of(descriptor->value, *list, {});
        if (!tensor) return std::unexpected(tensor.error());
        *out_tensor = *tensor;
        return {};
    });
}

/// Makes a dense tensor over host memory of the caller in one call, without copying; the memory may have any
/// alignment (see hurray_buffer_from_host).
/// @param spec type, layout, shape and strides; read during the call only
/// @param data first byte of the memory; may be null when byte_size is 0
/// @param byte_size length of the memory in bytes: every element must lie in it
/// @param queue where a deferred release waits; null: the default queue
/// @owner `data` belongs to the tensor until `release(data, release_context)` runs, exactly once; the tensor belongs to
///     the caller. On failure nothing has moved and `release` does not run
/// @errors INVALID_TYPE, INVALID_LAYOUT, UNSUPPORTED, INVALID_ARGUMENT, NULL_POINTER, LIMIT_EXCEEDED: a dimension of 2^63
///     or more
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_from_host(HG_IN const HurrayDenseSpec* spec, HG_KEPT void* data, uint64_t byte_size,
                                                HG_CALLBACK_OPT HurrayReleaseCallback release,
                                                HG_OPAQUE void* release_context, HG_IN_OPT const HurrayReleaseQueue* queue,
                                                HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE(spec, error);
    HURRAY_REQUIRE(out_tensor, error);
    if (data == nullptr && byte_size != 0) return report_null("data", error);
    if (queue != nullptr) HURRAY_REQUIRE_HANDLE(queue, error);
    return guarded(error, [&]() -> Result<void> {
        auto checked = read_dense_spec(spec);
        if (!checked) return std::unexpected(checked.error());
        auto tensor = make_host_tensor(*checked, data, byte_size, release, release_context, queue);
        if (!tensor) return std::unexpected(tensor.error());
        *out_tensor = *tensor;
        return {};
    });
}

/// Takes over a tensor that another runtime exported as a pair of list and context.
/// The context's version is checked before anything else of it is read: this library's own, an older one from 4 on, or a
/// higher one for which the copy of the library that made the context vouches. List and context may be of other copies.
/// @owner list and context move into the tensor on success and both variables are nulled; on failure both stay the
///     caller's. The context's owner is released when the last handle that shares the tensor's memory goes
/// @errors VERSION_MISMATCH: the context was made by a version that this library does not accept; INVALID_HANDLE; and
///     those of hurray_descriptor_decode and hurray_tensor_new
/// @thread one thread at a time
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_import(HG_CONSUMED_VAR HurrayBufferList** list, HG_CONSUMED_VAR HurrayTensorContext** context,
                                             HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                             HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE(list, error);
    HURRAY_REQUIRE_EXCHANGE(*list, error);
    HURRAY_REQUIRE(context, error);
    HURRAY_REQUIRE_EXCHANGE(*context, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        auto tensor = import_pair(*list, *context);
        if (!tensor) return std::unexpected(tensor.error());
        *out_tensor = *tensor;
        return {};
    });
}

/// Takes over a pair as hurray_tensor_import does, and reads the context's descriptor by the options of the caller.
/// @param options null: the defaults, as in hurray_tensor_import
/// @owner list and context move into the tensor on success and both variables are nulled; on failure both stay the
///     caller's
/// @errors as hurray_tensor_import; INVALID_ARGUMENT: options; UNSUPPORTED: permissive, and the layout is not known
/// @thread one thread at a time
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_import_options(HG_CONSUMED_VAR HurrayBufferList** list,
                                                     HG_CONSUMED_VAR HurrayTensorContext** context,
                                                     HG_IN_OPT const HurrayDecodeOptions* options,
                                                     HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                                     HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_REQUIRE(list, error);
    HURRAY_REQUIRE_EXCHANGE(*list, error);
    HURRAY_REQUIRE(context, error);
    HURRAY_REQUIRE_EXCHANGE(*context, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        auto chosen = decode_options(options);
        if (!chosen) return std::unexpected(chosen.error());
        auto tensor = import_pair(*list, *context, *chosen);
        if (!tensor) return std::unexpected(tensor.error());
        *out_tensor = *tensor;
        return {};
    });
}

/// Exports a tensor as the pair of list and context that travels between runtimes. The pair shares the memory; the
/// tensor stays as it is.
/// @owner caller, both; whoever takes the pair over ends them
/// @errors OUT_OF_MEMORY: neither is made; SYNC_MODE_MISMATCH: a buffer is not PRODUCER_SYNCED, and shares carry no event
/// @thread one thread at a time
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_export(HG_IN const HurrayTensor* tensor,
                                             HG_OUT_OWNED(hurray_buffer_list_destroy) HurrayBufferList** out_list,
                                             HG_OUT_OWNED(hurray_tensor_context_destroy) HurrayTensorContext** out_context,
                                             HG_ERROR HurrayError* error) noexcept {
    if (out_list != nullptr) *out_list = nullptr;
    if (out_context != nullptr) *out_context = nullptr;
    HURRAY_DISPATCH(tensor, error, tensor_export, tensor, out_list, out_context, error);
    HURRAY_REQUIRE(out_list, error);
    HURRAY_REQUIRE(out_context, error);
    return guarded(error, [&]() -> Result<void> {
        if (auto checked = check_exportable(*tensor); !checked) return checked;
        auto context = std::make_unique<HurrayTensorContext>();
        std::vector<std::uint8_t> bytes(tensor->descriptor.value.encoded_length());
        auto written = encode(tensor->descriptor.value, std::as_writable_bytes(std::span(bytes)));
        if (!written) return std::unexpected(written.error());
        context->set_descriptor(std::move(bytes));
        context->owner = tensor->context_owner;
        auto list = share_list(*tensor->buffers);
        *out_list = list.release();
        *out_context = context.release();
        return {};
    });
}

/// Makes a further handle for the same tensor, sharing its memory: for another thread, or another owner.
/// @owner caller; independent of `tensor`
/// @thread `tensor` by one thread at a time; the two handles may then be used by two threads
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_share(HG_IN const HurrayTensor* tensor,
                                            HG_OUT_OWNED(hurray_tensor_destroy) HurrayTensor** out_tensor,
                                            HG_ERROR HurrayError* error) noexcept {
    if (out_tensor != nullptr) *out_tensor = nullptr;
    HURRAY_DISPATCH(tensor, error, tensor_share, tensor, out_tensor, error);
    HURRAY_REQUIRE(out_tensor, error);
    return guarded(error, [&]() -> Result<void> {
        auto owned_list = share_list(*tensor->buffers);
        HurrayBufferList* list = owned_list.get();
        auto share = make_tensor(tensor->descriptor.value, list);
        if (!share) return std::unexpected(share.error());
        (void)owned_list.release();
        (*share)->context_owner = tensor->context_owner;
        *out_tensor = *share;
        return {};
    });
}

/// Fills a view: all that is needed to read a dense tensor, in one call.
/// @owner the pointers in the view belong to `tensor` and live until it is destroyed
/// @errors UNSUPPORTED: the layout is not row-major, column-major or strided, the shape is dynamic, or the descriptor opaque;
///     INVALID_ARGUMENT: struct_size is too small
/// @thread one thread at a time; the memory may be read by any thread while the tensor lives
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_view(HG_IN const HurrayTensor* tensor, HG_OUT HurrayView* out_view,
                                           HG_ERROR HurrayError* error) noexcept {
    if (out_view != nullptr) clear_sized_struct(out_view);
    HURRAY_DISPATCH(tensor, error, tensor_view, tensor, out_view, error);
    HURRAY_REQUIRE(out_view, error);
    if (tensor->view.element_type == 0) {
        return report(make_error(Status::unsupported, Error::no_offset,
                                 "tensor: layout %u with this shape has no dense view", tensor->descriptor.value.layout()),
                      error);
    }
    const auto filled = fill_sized_struct(out_view, tensor->view, sizeof(HurrayView), "out_view");
    return filled ? succeed(error) : report(filled.error(), error);
}

/// Borrows the tensor's descriptor.
/// @owner the tensor; valid until it is destroyed, and not to be destroyed
/// @errors UNSUPPORTED: a tensor of another copy of the library
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_descriptor(HG_IN const HurrayTensor* tensor,
                                                 HG_OUT_BORROWED(tensor) const HurrayDescriptor** out_descriptor,
                                                 HG_ERROR HurrayError* error) noexcept {
    if (out_descriptor != nullptr) *out_descriptor = nullptr;
    HURRAY_REQUIRE_EXCHANGE(tensor, error);
    HURRAY_REQUIRE(out_descriptor, error);
    if (origin_of(tensor) == Origin::foreign) {
        // A descriptor is no exchange handle: nobody could use the other copy's.
        return report(make_error(Status::unsupported, Error::no_offset,
                                 "tensor: of another copy of the library; export it there and import it here to read its descriptor"),
                      error);
    }
    *out_descriptor = &tensor->descriptor;
    return succeed(error);
}

/// Borrows one of the tensor's buffers.
/// @owner the tensor; valid until it is destroyed, and neither to be destroyed nor pushed; it may be shared
/// @errors INDEX_OUT_OF_BOUNDS
/// @thread one thread at a time
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_buffer(HG_IN const HurrayTensor* tensor, uint32_t index,
                                             HG_OUT_BORROWED(tensor) HurrayBuffer** out_buffer,
                                             HG_ERROR HurrayError* error) noexcept {
    if (out_buffer != nullptr) *out_buffer = nullptr;
    HURRAY_DISPATCH(tensor, error, tensor_buffer, tensor, index, out_buffer, error);
    HURRAY_REQUIRE(out_buffer, error);
    if (index >= tensor->buffers->slots.size()) {
        return report(make_error(Status::index_out_of_bounds, Error::no_offset, "index: expected less than %zu, got %u",
                                 tensor->buffers->slots.size(), index),
                      error);
    }
    *out_buffer = tensor->buffers->slots[index];
    return succeed(error);
}

/// Ends a tensor and its buffers. Memory that no other handle shares is released, on this thread.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed
/// @thread the thread that runs the releases
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_destroy(HG_DESTROYED_VAR HurrayTensor** tensor) noexcept {
    if (tensor == nullptr || *tensor == nullptr) return HURRAY_OK;
    HURRAY_DISPATCH(*tensor, nullptr, tensor_destroy, tensor);
    return report_end(destroy_tensor(std::exchange(*tensor, nullptr), false), nullptr);
}

/// Ends a tensor on a thread that must not run callbacks: see hurray_buffer_destroy_deferred.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_destroy_deferred(HG_DESTROYED_VAR HurrayTensor** tensor,
                                                       HG_ERROR HurrayError* error) noexcept {
    if (tensor == nullptr || *tensor == nullptr) return succeed(error);
    HURRAY_DISPATCH(*tensor, error, tensor_destroy_deferred, tensor, error);
    return report_end(destroy_tensor(std::exchange(*tensor, nullptr), true), error);
}
