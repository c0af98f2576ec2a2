// Where the buffers of a tensor lie in its data region. (format: file, data buffer placement)
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/error.hpp"
#include "core/hurray/descriptor/buffer_handle.hpp"
#include "core/hurray/io/hrry/format.hpp"
#include "core/hurray/io/model_file.hpp"

namespace hurray::hrry {

/// Places buffer after buffer, each at the next multiple of the alignment.
class BufferWalk {
  public:
    explicit BufferWalk(std::uint32_t data_alignment) noexcept : alignment_(data_alignment) {}

    /// Where the next buffer lies, from the start of the region; nothing when that is beyond 2^64-1.
    std::optional<FileRange> next(std::uint64_t byte_size) noexcept {
        const auto start = round_up(end_, alignment_);
        if (!start) return std::nullopt;
        const auto end = checked_add(*start, byte_size);
        if (!end) return std::nullopt;
        end_ = *end;
        return FileRange{*start, byte_size};
    }

    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  private:
    std::uint64_t alignment_;
    std::uint64_t end_ = 0;
};

struct DataRegion {
    /// From the start of the first buffer to the end of the last one, which may be empty: the padding in front of that
    /// one counts.
    std::uint64_t length = 0;
    /// To the end of the last buffer that is not empty, as others may count.
    std::uint64_t used = 0;
};

/// Nothing when the sizes add up to more than 2^64-1.
inline std::optional<DataRegion> data_region(std::span<const BufferHandle> table,
                                             std::uint32_t data_alignment) noexcept {
    BufferWalk walk(data_alignment);
    DataRegion region;
    for (const BufferHandle& handle : table) {
        if (!walk.next(handle.byte_size)) return std::nullopt;
        region.length = walk.end();
        if (handle.byte_size != 0) region.used = walk.end();
    }
    return region;
}

/// Whether a buffer of a file can be memory of this process, and is complete.
/// @errors invalid_sync_mode; unsupported: not the CPU's
inline Result<void> check_plain_buffer(const BufferHandle& handle, std::size_t number) {
    if (handle.sync_mode != sync_mode::producer_synced) {
        return fail(Status::invalid_sync_mode, Error::no_offset,
                    "buffer %zu: sync_mode: %02x, expected 00 (PRODUCER_SYNCED), the only one in a file", number,
                    handle.sync_mode);
    }
    if (handle.device_tag != device_tag::cpu) {
        return fail(Status::unsupported, Error::no_offset,
                    "buffer %zu: device_tag: %02x, expected 00 (CPU): the data of a file is in the CPU's memory",
                    number, handle.device_tag);
    }
    return {};
}

}  // namespace hurray::hrry
