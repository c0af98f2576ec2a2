#include "core/hurray/io/byte_source.hpp"

#include <algorithm>
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

Result<std::size_t> MemorySource::read_some(std::span<std::byte> into) {
    const std::size_t count = std::min(into.size(), rest_.size());
    if (count != 0) std::memcpy(into.data(), rest_.data(), count);
    rest_ = rest_.subspan(count);
    return count;
}

}  // namespace hurray
