// What another copy of the library made, taken over into handles of this one.
#pragma once

#include <cstdint>

#include "abi/src/internal/objects.hpp"
#include "core/hurray/descriptor/codec.hpp"

namespace hurray::abi {

/// The version of the build that made a context, when this copy accepts it: its own, an older one from 4 on, or a higher
/// one for which the copy that made the context vouches, as it must for ours. Nothing else of the context is read.
/// @errors version_mismatch
Result<std::uint32_t> accepted_version(const HurrayTensorContext* context);

/// Whether the copy that made a context vouches for `version` and for the context's own.
Result<bool> context_supports(const HurrayTensorContext* context, std::uint32_t version);

/// Pushes a buffer of another copy into a list of ours. Ownership moves on success only.
Result<void> push_foreign(HurrayBufferList& list, HurrayBuffer* buffer);

/// make_tensor over a list of whichever copy, with the owner of its memory (empty: none). The variable is nulled on
/// success; on failure nothing has moved.
Result<HurrayTensor*> make_tensor_of(const Descriptor& descriptor, HurrayBufferList*& list, const Ref<Storage>& owner);

/// Takes over a pair of list and context, of whichever copies. Both variables are nulled on success; on failure nothing
/// has moved.
/// @param options how to read the context's descriptor
Result<HurrayTensor*> import_pair(HurrayBufferList*& list, HurrayTensorContext*& context, const DecodeOptions& options = {});

/// The memory of a buffer of whichever copy, shared: its storage keeps all that the buffer needs. Without the event or stream
/// that it came with.
Result<Buffer> shared_memory(const HurrayBuffer* buffer);

/// A tensor that is ours, for as long as the object lives: the caller's own, or a share of another copy's.
class LocalTensor {
public:
    static Result<LocalTensor> of(const HurrayTensor* tensor);
    LocalTensor(LocalTensor&& other) noexcept;
    LocalTensor& operator=(LocalTensor&&) = delete;
    ~LocalTensor();
    const HurrayTensor& operator*() const noexcept { return *tensor_; }

private:
    LocalTensor(const HurrayTensor* tensor, HurrayTensor* share) noexcept : tensor_(tensor), share_(share) {}
    const HurrayTensor* tensor_;
    HurrayTensor* share_;
};

}  // namespace hurray::abi
