#include "core/hurray/io/byte_sink.hpp"

#include <algorithm>

namespace hurray {

Result<void> MemorySink::write(std::span<const std::span<const std::byte>> pieces) {
    // All memory first: when there is not enough, nothing was written.
    std::size_t size = bytes_.size();
    for (const auto piece : pieces) size += piece.size();
    if (size > bytes_.capacity()) bytes_.reserve(std::max(size, 2 * bytes_.capacity()));
    for (const auto piece : pieces) bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    return {};
}

}  // namespace hurray
