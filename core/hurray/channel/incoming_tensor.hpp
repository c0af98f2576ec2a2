// A tensor that a peer has sent: checked, and mapped. (docs/channel.md)
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/channel/channel_message.hpp"
#include "core/hurray/channel/release_line.hpp"
#include "core/hurray/channel/shared_object.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

struct IncomingLimits {
    std::uint64_t max_descriptor_length = std::uint64_t{16} << 20;
    /// Bytes over all buffers of a tensor.
    std::uint64_t max_tensor_bytes = ~std::uint64_t{0};
    std::uint32_t max_alignment = std::uint32_t{2} << 20;
    PrivateTags private_tags = PrivateTags::refuse;
    Mode mode = Mode::strict;
    /// Only memory that nobody can change any more.
    bool sealed_only = false;
};

/// What a message says without its descriptors having been looked at.
struct CheckedTensorMessage {
    Descriptor descriptor;
    std::vector<BufferPlace> buffers;
};

/// Checks all of a message that needs no file: the descriptor, and that the places are what its table says.
/// @errors those of decoding; invalid_format: the places contradict the table, one another, or the number of objects;
///     invalid_sync_mode, unsupported: as in a stream; limit_exceeded
Result<CheckedTensorMessage> check_tensor_message(const TensorMessage& message, const IncomingLimits& limits);

/// Keeps what of a peer's objects is mapped, so that a file of many tensors is mapped once. Holds none of them itself.
///
/// Thread rule: one thread at a time; the objects end on any.
class ObjectCache {
public:
    /// A mapping of the file in which `size` bytes from `offset` are there and lie at a multiple of `alignment`.
    /// @errors as SharedObject::map; invalid_format: the object is shorter
    Result<std::shared_ptr<SharedObject>> map(int fd, std::uint32_t alignment, std::uint64_t offset, std::uint64_t size);

private:
    using Key = std::pair<dev_t, ino_t>;
    std::multimap<Key, std::weak_ptr<SharedObject>> objects_;
    std::size_t sweep_at_ = 64;
};

/// Makes the tensor of a message: its buffers are read-only mappings of the objects, and keep the lease.
/// @errors as check_tensor_message and ObjectCache::map; unsupported: memory that is not sealed where only sealed memory is accepted
Result<Tensor> incoming_tensor(const TensorMessage& message, const std::vector<FdHolder>& files, const IncomingLimits& limits,
                               ObjectCache& cache, std::shared_ptr<Lease> lease);

}  // namespace hurray
