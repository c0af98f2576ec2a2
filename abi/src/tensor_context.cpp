// Tensor contexts: what the bytes of a buffer list are, and what keeps them alive. (seed: Tensor Context)
#include <utility>

#include "abi/src/api/annotations.hpp"
#include "abi/src/api/buffer.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/foreign.hpp"
#include "abi/src/internal/objects.hpp"

using namespace hurray;
using namespace hurray::abi;

/// Makes a context from an encoded descriptor, which is copied and not looked at.
/// `owner` is never interpreted: `owner_release(owner)` runs exactly once, when the context is destroyed, or, once a
/// tensor was imported from it, when the last handle that needs the memory goes. On failure it does not run.
/// @param abi_version version of the C ABI of the build that makes the context: HURRAY_C_ABI_VERSION
/// @param descriptor_bytes may be null when descriptor_len is 0
/// @owner the context belongs to the caller; `owner` to the context
/// @errors VERSION_MISMATCH: abi_version is 0; OUT_OF_MEMORY
/// @thread any
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_context_new(uint32_t abi_version,
                                                  HG_IN_ARRAY(descriptor_len) const uint8_t* descriptor_bytes,
                                                  uint64_t descriptor_len, HG_OPAQUE void* owner,
                                                  HG_CALLBACK_OPT HurrayOwnerReleaseFn owner_release,
                                                  HG_OUT_OWNED(hurray_tensor_context_destroy)
                                                      HurrayTensorContext** out_ctx) noexcept {
    HURRAY_REQUIRE(out_ctx, nullptr);
    *out_ctx = nullptr;
    if (descriptor_bytes == nullptr && descriptor_len != 0) return HURRAY_ERR_NULL_POINTER;
    if (abi_version == 0) return HURRAY_ERR_VERSION_MISMATCH;
    return guarded(nullptr, [&]() -> Result<void> {
        auto context = std::make_unique<HurrayTensorContext>();
        context->producer_version = abi_version;
        if (descriptor_len != 0) context->set_descriptor({descriptor_bytes, descriptor_bytes + descriptor_len});
        if (owner_release != nullptr) {
            context->lent = new ContextOwner(owner_release, owner);
            context->owner = Ref<Storage>::adopt(context->lent);
        }
        *out_ctx = context.release();
        return {};
    });
}

/// Tells the version of the C ABI of the build that made the context. A consumer calls this before any other accessor
/// and goes on only when it knows that version.
/// @thread one thread at a time
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_context_abi_version(HG_IN const HurrayTensorContext* ctx, HG_OUT uint32_t* out) noexcept {
    if (out != nullptr) *out = 0;
    HURRAY_DISPATCH(ctx, nullptr, tensor_context_abi_version, ctx, out);
    HURRAY_REQUIRE(out, nullptr);
    *out = ctx->producer_version;
    return HURRAY_OK;
}

/// Tells whether the copy of the library that made the context vouches both for `version` and for the version that made
/// the context: then a consumer that was built for `version` may go on with a context of a higher one. Versions below 4, which
/// had no contexts, are not vouched for. No other part of the context is read.
/// @param version the consumer's own HURRAY_C_ABI_VERSION
/// @thread one thread at a time
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_context_supports(HG_IN const HurrayTensorContext* ctx, uint32_t version,
                                                       HG_OUT uint8_t* out_supported, HG_ERROR HurrayError* error) noexcept {
    if (out_supported != nullptr) *out_supported = 0;
    HURRAY_REQUIRE_EXCHANGE(ctx, error);
    HURRAY_REQUIRE(out_supported, error);
    return guarded(error, [&]() -> Result<void> {
        auto supported = context_supports(ctx, version);
        if (!supported) return std::unexpected(supported.error());
        *out_supported = *supported ? 1 : 0;
        return {};
    });
}

/// Borrows the encoded descriptor. An empty one reports a null pointer and length 0.
/// @owner the context; valid until it is destroyed
/// @thread one thread at a time
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_context_descriptor(HG_IN const HurrayTensorContext* ctx,
                                                         HG_OUT_BORROWED(ctx) const uint8_t** out_bytes,
                                                         HG_OUT uint64_t* out_len) noexcept {
    if (out_bytes != nullptr) *out_bytes = nullptr;
    if (out_len != nullptr) *out_len = 0;
    HURRAY_DISPATCH(ctx, nullptr, tensor_context_descriptor, ctx, out_bytes, out_len);
    HURRAY_REQUIRE(out_bytes, nullptr);
    HURRAY_REQUIRE(out_len, nullptr);
    if (ctx->descriptor.empty()) return HURRAY_OK;
    *out_bytes = ctx->descriptor.data();
    *out_len = ctx->descriptor.size();
    return HURRAY_OK;
}

/// Ends a context and runs its owner release, on this thread.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE: (checked builds) already destroyed; INTERNAL_PANIC: the owner release threw an exception, and the
///     context is ended all the same
/// @thread the thread that runs the owner release
/// @since 4
/// @spec ABI: Tensor Context
HURRAY_API HurrayStatus hurray_tensor_context_destroy(HG_DESTROYED_VAR HurrayTensorContext** ctx) noexcept {
    if (ctx == nullptr || *ctx == nullptr) return HURRAY_OK;
    HURRAY_DISPATCH(*ctx, nullptr, tensor_context_destroy, ctx);
    return report_end(destroy_context(std::exchange(*ctx, nullptr), false), nullptr);
}

/// Ends a context on a thread that must not run callbacks: the owner release waits on the context's release queue.
/// @owner ends the caller's ownership; nulls the variable; a null variable is a no-op
/// @errors INVALID_HANDLE
/// @thread any
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_context_destroy_deferred(HG_DESTROYED_VAR HurrayTensorContext** ctx,
                                                               HG_ERROR HurrayError* error) noexcept {
    if (ctx == nullptr || *ctx == nullptr) return succeed(error);
    HURRAY_DISPATCH(*ctx, error, tensor_context_destroy_deferred, ctx, error);
    return report_end(destroy_context(std::exchange(*ctx, nullptr), true), error);
}

/// Sets the queue on which a deferred owner release waits.
/// @param queue null: the default queue. The context keeps what it needs of the queue; the handle stays the caller's
/// @thread one thread, before a tensor is imported from the context
/// @since 4
HURRAY_API HurrayStatus hurray_tensor_context_set_release_queue(HG_INOUT HurrayTensorContext* ctx,
                                                                HG_IN_OPT const HurrayReleaseQueue* queue,
                                                                HG_ERROR HurrayError* error) noexcept {
    HURRAY_DISPATCH(ctx, error, tensor_context_set_release_queue, ctx, queue, error);
    if (queue != nullptr) HURRAY_REQUIRE_HANDLE(queue, error);
    return guarded(error, [&]() -> Result<void> {
        if (!ctx->owner) return {};
        if (ctx->lent == nullptr || ctx->lent->references() != 1) {
            return fail(Status::invalid_argument, Error::no_offset, "ctx: in use already, set the queue before");
        }
        ctx->lent->policy.queue = queue == nullptr ? Ref<ReleaseQueue>{} : queue->queue;
        return {};
    });
}
