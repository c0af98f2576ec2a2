// What stands behind the opaque handles.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "abi/src/api/handles.hpp"
#include "abi/src/api/tensor.hpp"
#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/handle.hpp"
#include "abi/src/internal/release.hpp"
#include "abi/src/internal/sync_payload.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/tensor.hpp"

struct HurrayDescriptor final : hurray::abi::HandleBase<HURRAY_HANDLE_DESCRIPTOR> {
    /// To be decoded into.
    HurrayDescriptor() noexcept : value(hurray::Descriptor::vacant()) {}
    explicit HurrayDescriptor(hurray::Descriptor&& decoded) noexcept : value(std::move(decoded)) {}

    hurray::Descriptor value;
    /// Part of a tensor: callers may read it, not destroy it.
    bool borrowed = false;
};

namespace hurray::abi {

/// One level of tiles, kept until all are there. Empty strides: none were given.
struct TileLevelCopy {
    std::vector<std::uint64_t> tile_shape;
    std::vector<std::int64_t> outer_strides;
    std::vector<std::int64_t> inner_strides;
    std::uint8_t outer_layout = 0;
    std::uint8_t inner_layout = 0;
};

}  // namespace hurray::abi

struct HurrayDescriptorBuilder final : hurray::abi::HandleBase<HURRAY_HANDLE_DESCRIPTOR_BUILDER> {
    HurrayDescriptorBuilder(std::uint8_t element_type, std::uint8_t layout_tag, std::span<const std::uint64_t> shape)
        : value(element_type, layout_tag, shape), rank(static_cast<std::uint32_t>(shape.size())), layout(layout_tag) {}

    hurray::DescriptorBuilder value;
    // What `value` was given, to be read again.
    std::vector<hurray::abi::TileLevelCopy> tile_levels;
    std::vector<std::int64_t> strides;
    std::vector<std::uint32_t> morton_bits;
    std::vector<std::uint32_t> mode_order;
    std::uint32_t hilbert_order = 0;
    std::uint32_t rank;
    std::uint8_t layout;
    hurray::PrivateTags private_tags = hurray::PrivateTags::refuse;
};

struct HurrayBuffer final : hurray::abi::HandleBase<HURRAY_HANDLE_BUFFER> {
    explicit HurrayBuffer(hurray::Buffer buffer) noexcept : value(std::move(buffer)) {
        hurray::abi::count_handle(kind, 0, static_cast<std::int64_t>(value.handle.byte_size));
    }
    ~HurrayBuffer() { hurray::abi::count_handle(kind, 0, -static_cast<std::int64_t>(value.handle.byte_size)); }

    hurray::Buffer value;
    /// Owner of the tensor context that this buffer came with: the memory may live only as long as it does.
    hurray::Ref<hurray::Storage> context_owner;
    /// The caller's release, where the memory was lent by one; owned by value.storage.
    hurray::abi::LentStorage* lent = nullptr;
    /// The event or stream that the buffer was handed off with. Shares and slices have none.
    hurray::abi::SyncPayload sync;
    /// In a list: callers may read it, neither destroy nor push it.
    bool borrowed = false;
};

struct HurrayBufferList final : hurray::abi::HandleBase<HURRAY_HANDLE_BUFFER_LIST> {
    ~HurrayBufferList();

    std::vector<HurrayBuffer*> slots;
    /// Part of a tensor.
    bool borrowed = false;
    /// Set while the slots are being destroyed: a release callback that comes back here finds the door shut.
    bool closing = false;
};

struct HurrayTensorContext final : hurray::abi::HandleBase<HURRAY_HANDLE_TENSOR_CONTEXT> {
    ~HurrayTensorContext() { hurray::abi::count_handle(kind, 0, -static_cast<std::int64_t>(descriptor.size())); }

    void set_descriptor(std::vector<std::uint8_t> bytes) noexcept {
        hurray::abi::count_handle(kind, 0, static_cast<std::int64_t>(bytes.size()));
        descriptor = std::move(bytes);
    }

    std::uint32_t producer_version = HURRAY_C_ABI_VERSION;
    std::vector<std::uint8_t> descriptor;
    /// Empty when nothing happens at the end.
    hurray::Ref<hurray::Storage> owner;
    /// The caller's owner release, where this context was made with one; owned by `owner`.
    hurray::abi::ContextOwner* lent = nullptr;
};

struct HurrayTensor final : hurray::abi::HandleBase<HURRAY_HANDLE_TENSOR> {
    explicit HurrayTensor(hurray::Descriptor decoded) : descriptor(std::move(decoded)) { descriptor.borrowed = true; }
    ~HurrayTensor();

    HurrayDescriptor descriptor;
    HurrayBufferList* buffers = nullptr;
    /// Filled when the tensor is made, so that hurray_tensor_view only copies; element_type 0 when there is none.
    HurrayView view{};
    std::unique_ptr<std::int64_t[]> strides;
    /// Owner of the context of a tensor without buffers, which has nothing else to keep it.
    hurray::Ref<hurray::Storage> context_owner;
};

struct HurrayReleaseQueue final : hurray::abi::HandleBase<HURRAY_HANDLE_RELEASE_QUEUE> {
    explicit HurrayReleaseQueue(hurray::Ref<hurray::abi::ReleaseQueue> shared) : queue(std::move(shared)) {}

    hurray::Ref<hurray::abi::ReleaseQueue> queue;
    /// Set while the queue is being destroyed: a release that destroys it again finds the door shut.
    bool closing = false;
};

namespace hurray::abi {

/// Succeeds when `byte_size` bytes from `data` lie within the address space.
Result<void> check_address_range(const void* data, std::uint64_t byte_size);

/// The buffer over host memory of any alignment, without an owner yet. Checks the arguments of the caller.
Result<Buffer> host_buffer(void* data, std::uint64_t byte_size, std::uint8_t read_only);

/// Makes a buffer handle that owns `data` through the caller's release callback. Ownership moves last, when nothing
/// can fail any more.
Result<HurrayBuffer*> lend(Buffer buffer, void* data, HurrayReleaseCallback release, void* context);

/// Succeeds when the buffer's memory was lent by a caller and no other handle shares it: only then may its release
/// policy still change.
Result<void> check_sole_lender(const HurrayBuffer& buffer);

/// A copy of the handle that shares its memory and what keeps it alive.
HurrayBuffer* share_buffer(const HurrayBuffer& buffer);

/// Ends a buffer handle; deferred: its release waits for a thread that consents. This and what follows return false when
/// a callback threw an exception; everything has ended all the same.
bool destroy_buffer(HurrayBuffer* buffer, bool deferred) noexcept;
/// Ends a list and, one after the other, the buffers in it.
bool destroy_list(HurrayBufferList* list, bool deferred) noexcept;
bool destroy_context(HurrayTensorContext* context, bool deferred) noexcept;
bool destroy_tensor(HurrayTensor* tensor, bool deferred) noexcept;

/// Makes a tensor handle of a descriptor and a list, of which it takes ownership on success. Checks the buffers
/// against the descriptor: number, sizes, alignment and device.
Result<HurrayTensor*> make_tensor(const Descriptor& descriptor, HurrayBufferList*& list);

/// Makes a tensor handle of a tensor of the core.
Result<HurrayTensor*> make_tensor(Tensor&& tensor);

/// A list of handles that share the memory of another list's.
std::unique_ptr<HurrayBufferList> share_list(const HurrayBufferList& list);

/// Undoes make_tensor: the list is the caller's again and the tensor gone.
HurrayBufferList* take_list_back(HurrayTensor* tensor) noexcept;

/// The core's form of a tensor, sharing its memory: its buffers are as long as the descriptor's table says.
Tensor core_tensor(const HurrayTensor& tensor);

}  // namespace hurray::abi

/// Returns HURRAY_ERR_NULL_POINTER from the enclosing function when a required pointer is null.
#define HURRAY_REQUIRE(pointer, out_error)                                                    \
    do {                                                                                      \
        if ((pointer) == nullptr) return ::hurray::abi::report_null(#pointer, out_error);     \
    } while (false)

/// As HURRAY_REQUIRE, and HURRAY_ERR_INVALID_HANDLE when the handle is not alive, of another kind, or of another copy of
/// the library.
#define HURRAY_REQUIRE_HANDLE(handle, out_error)                                              \
    do {                                                                                      \
        HURRAY_REQUIRE(handle, out_error);                                                    \
        if (::hurray::abi::origin_of(handle) != ::hurray::abi::Origin::own) {                 \
            return ::hurray::abi::report_invalid_handle(#handle, out_error);                  \
        }                                                                                     \
    } while (false)

/// As HURRAY_REQUIRE_HANDLE for an exchange handle that may be of another copy of the library, too: the caller handles
/// both.
#define HURRAY_REQUIRE_EXCHANGE(handle, out_error)                                            \
    do {                                                                                      \
        HURRAY_REQUIRE(handle, out_error);                                                    \
        if (::hurray::abi::origin_of(handle) == ::hurray::abi::Origin::invalid) {             \
            return ::hurray::abi::report_invalid_handle(#handle, out_error);                  \
        }                                                                                     \
    } while (false)

/// As HURRAY_REQUIRE_EXCHANGE, and a handle of another copy goes to hurray_`function` of that copy with the arguments
/// that follow.
#define HURRAY_DISPATCH(handle, out_error, function, ...)                                                        \
    do {                                                                                                         \
        HURRAY_REQUIRE_EXCHANGE(handle, out_error);                                                              \
        if (::hurray::abi::origin_of(handle) == ::hurray::abi::Origin::foreign) {                                \
            return ::hurray::abi::dispatch(handle, #function, &::hurray::abi::ExchangeTable::function, out_error, __VA_ARGS__); \
        }                                                                                                        \
    } while (false)
