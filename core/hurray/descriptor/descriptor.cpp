#include "core/hurray/descriptor/descriptor.hpp"

namespace hurray {

std::span<const std::uint64_t> Descriptor::section_words(std::uint32_t flag) const noexcept {
    std::size_t first = buffers_at() / 8 + std::size_t{buffer_count_} * (BufferHandle::encoded_size / 8);
    for (std::size_t row = 0; row < section_count; ++row) {
        if (section_flags[row] == flag) return words(first, section_word_counts_[row]);
        first += section_word_counts_[row];
    }
    return {};
}

Result<std::uint64_t> Descriptor::element_count() const {
    if (!dynamic_) return element_count_;
    std::uint32_t k = 0;
    while (shape()[k] != dynamic_dimension) ++k;
    return fail(Status::invalid_layout, fixed_header_size + 8 * k,
                "shape[%u]: expected a known size, got a dynamic one", k);
}

}  // namespace hurray
