#include "core/hurray/io/byte_sink.hpp"

namespace hurray {

Result<void> MemorySink::write(std::span<const std::span<const std::byte>> pieces) {
    for (const auto piece : pieces) bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    return {};
}

}  // namespace hurray
