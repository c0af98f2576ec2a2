// Memory behind a file descriptor that several processes map: shared memory of the library's own, or a file of a peer.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/hurray/base/error.hpp"
#include "core/hurray/io/fd.hpp"
#include "core/hurray/memory/buffer.hpp"

namespace hurray {

/// A mapping and the descriptor behind it; both end with the object.
///
/// Thread rule: any number of threads may use it.
class SharedObject {
public:
    /// New shared memory, writable here and zeroed. Its pages are made when they are first written to.
    /// @param alignment of the address, a power of two
    /// @errors out_of_memory: more than the machine has; limit_exceeded: no further file descriptor may be opened; io
    static Result<std::shared_ptr<SharedObject>> create(std::uint64_t byte_size, std::uint32_t alignment);

    /// Copies pieces into new shared memory, each at its place, and seals it. The memory is not mapped here: what is made is only
    /// good for its descriptor.
    /// @param byte_size behind the last piece
    /// @errors as create; io: also where a mapped source was cut
    struct Piece {
        std::uint64_t offset;
        std::span<const std::byte> bytes;
    };
    static Result<FdHolder> sealed_copy(std::uint64_t byte_size, std::span<const Piece> pieces);

    /// Maps what a peer has sent, read-only, after looking at its size and its seals.
    /// @param phase the address is such that `phase` bytes behind it there is a multiple of `alignment`
    /// @errors invalid_format: not a regular file; io: it cannot be mapped for reading; out_of_memory
    static Result<std::shared_ptr<SharedObject>> map(FdHolder file, std::uint32_t alignment, std::uint64_t phase);

    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;
    ~SharedObject();

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return unsealed_.size; }
    /// The file that stands behind it.
    [[nodiscard]] dev_t device() const noexcept { return device_; }
    [[nodiscard]] ino_t inode() const noexcept { return inode_; }
    /// Whether nobody can change it any more: sealed by this object, or found to be sealed when it was mapped.
    [[nodiscard]] bool sealed() const noexcept { return is_sealed_.load(std::memory_order_acquire); }
    [[nodiscard]] const SharedBacking& backing() const noexcept { return sealed() ? sealed_ : unsealed_; }

    /// Seals memory that create() made: its writable mapping is replaced by a read-only one at the same address, in one step, then
    /// the seals are set. Afterwards a write through the old pointer faults. Nothing if it is sealed already.
    /// @returns false: another process has it mapped for writing (a fork of this one), so that it cannot be sealed; all is as
    ///     it was
    /// @errors io, out_of_memory
    Result<bool> seal();

private:
    SharedObject(FdHolder file, void* base, std::uint64_t size, bool writable) noexcept;
    Result<void> remember_file();

    FdHolder file_;
    std::byte* base_;
    SharedBacking unsealed_;
    SharedBacking sealed_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::mutex sealing_;
    std::atomic<bool> is_sealed_{false};
};

/// Memory that goes through a channel without a copy, zeroed. Released on any thread. In a fork of the process it is shared with
/// the parent.
/// @param alignment a power of two (64 when 0 is given)
/// @errors invalid_layout: alignment; and those of SharedObject::create
Result<Buffer> allocate_shared_buffer(std::uint64_t byte_size, std::uint32_t alignment = minimum_alignment);

/// SharedObject::seal for the storage of a buffer that allocate_shared_buffer made; false for any other.
Result<bool> seal_shared_buffer(const Buffer& buffer);

}  // namespace hurray
