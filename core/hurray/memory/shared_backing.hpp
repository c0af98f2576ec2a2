// Memory that another process can map, too: what a file descriptor stands behind.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hurray {

/// Answered by storages whose memory is a part of a mapped file or of shared memory. The descriptor belongs to the storage
/// and is open as long as that lives.
struct SharedBacking {
    int fd = -1;
    /// What is mapped, and where in the file it starts.
    const std::byte* base = nullptr;
    std::uint64_t size = 0;
    std::uint64_t file_offset = 0;
    /// Sealed against writing, shrinking and further seals: nobody can change it any more.
    bool sealed = false;
    /// This process may still write to it: it must be sealed, or copied, before another one may rely on it.
    bool writable = false;
};

}  // namespace hurray
