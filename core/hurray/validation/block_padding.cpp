// What short last blocks have beyond the shape.
#include <algorithm>

#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/validation/data_check.hpp"

namespace hurray::validation_detail {
namespace {

using ull = unsigned long long;

// The first byte from bit `first` on, of `count` bits, that is not 0 in them; nothing when all of them are.
std::optional<std::uint64_t> find_bit(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t count) {
    std::uint64_t bit = first;
    const std::uint64_t end = first + count;
    while (bit != end) {
        const std::uint64_t byte = bit / 8;
        const auto low = static_cast<unsigned>(bit % 8);
        const auto taken = static_cast<unsigned>(std::min<std::uint64_t>(8 - low, end - bit));
        const unsigned mask = ((1U << taken) - 1) << low;
        if ((std::to_integer<unsigned>(bytes[static_cast<std::size_t>(byte)]) & mask) != 0) return byte;
        bit += taken;
    }
    return std::nullopt;
}

}  // namespace

// Storage is row-major (column-major) over whole blocks: for every index of the slower dimensions there is one run of
// padding.
Result<void> check_block_padding(const Tensor& tensor, const WorkOptions& options) {
    const Descriptor& descriptor = tensor.descriptor;
    const auto padded = padded_axis(descriptor);
    const auto count = descriptor.element_count();
    if (!padded || !count || *count == 0) return {};
    const auto shape = descriptor.shape();
    std::uint64_t inner = 1;
    std::uint64_t outer = 1;
    for (std::uint32_t k = 0; k < shape.size(); ++k) {
        const bool faster = descriptor.layout() == layout_tag::row_major ? k > padded->axis : k < padded->axis;
        if (k != padded->axis) (faster ? inner : outer) *= shape[k];
    }
    const std::uint64_t size = shape[padded->axis];
    const std::uint64_t bits = element_type_info(descriptor).bits;
    // Within buffer 0, as decode has checked, and below 2^63 bits, as the second level has.
    const std::uint64_t run = (padded->stored_size - size) * inner * bits;
    const auto bytes = tensor.buffers[0].bytes();
    Work work(options, outer * (run / 8 + 1));
    for (std::uint64_t o = 0; o < outer; ++o) {
        const std::uint64_t first =
            descriptor.byte_offset() * 8 + (o * padded->stored_size + size) * inner * bits;
        if (const auto at = find_bit(bytes, first, run)) {
            return fail(Status::invalid_quantization, *at,
                        "buffer 0: byte %llu: expected 0 in the padding of the last block, beyond index %llu of dimension "
                        "%u, got %02X",
                        static_cast<ull>(*at), static_cast<ull>(size - 1), padded->axis,
                        static_cast<unsigned>(bytes[static_cast<std::size_t>(*at)]));
        }
        if (!work.advance(run / 8 + 1)) return work.cancelled();
    }
    return work.finish();
}

}  // namespace hurray::validation_detail
