#include "core/hurray/io/npy/file_range_source.hpp"

#include <algorithm>

namespace hurray {

Result<std::size_t> FileRangeSource::read_some(std::span<std::byte> into) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), remaining_));
    if (count == 0) return count;
    if (auto read = bytes_.read(offset_, into.first(count)); !read) return std::unexpected(read.error());
    offset_ += count;
    remaining_ -= count;
    return count;
}

}  // namespace hurray
