#include "core/hurray/io/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hurray {

Result<std::size_t> read_fully(ByteSource& source, std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
        const auto count = source.read_some(into.subspan(done));
        if (!count) return std::unexpected(count.error());
        if (*count == 0) break;
        done += *count;
    }
    return done;
}

Result<std::uint64_t> ByteSource::skip(std::uint64_t count) {
    std::array<std::byte, 16 * 1024> scratch;
    std::uint64_t done = 0;
    while (done < count) {
        const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, scratch.size()));
        const auto read = read_some(std::span(scratch).first(step));
        if (!read) return std::unexpected(read.error());
        if (*read == 0) break;
        done += *read;
    }
    return done;
}

Result<std::size_t> MemorySource::read_some(std::span<std::byte> into) {
    const std::size_t count = std::min(into.size(), rest_.size());
    if (count != 0) std::memcpy(into.data(), rest_.data(), count);
    rest_ = rest_.subspan(count);
    return count;
}

Result<std::uint64_t> MemorySource::skip(std::uint64_t count) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, rest_.size()));
    rest_ = rest_.subspan(step);
    return step;
}

}  // namespace hurray
