#include "core/hurray/layout/morton.hpp"

#include <algorithm>
#include <array>

#include "core/hurray/layout/contiguous.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

std::uint32_t encoded_size(std::uint32_t rank, std::span<const std::uint64_t>) {
    return 4 * rank;
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    for (const std::uint64_t bits : words) out.u32(static_cast<std::uint32_t>(bits));
}

// The most bits that dimension k may have without a bit of the code beyond 63.
std::uint64_t most_bits(std::uint32_t k, std::uint32_t rank) noexcept {
    return (63 - k) / rank + 1;
}

bool is_right(std::uint64_t bits, std::uint32_t k, std::span<const std::uint64_t> shape) noexcept {
    if (bits == 0 || bits > most_bits(k, static_cast<std::uint32_t>(shape.size()))) return false;
    return shape[k] == dynamic_dimension || bits == 64 || shape[k] <= std::uint64_t{1} << bits;
}

[[gnu::cold, gnu::noinline]] std::unexpected<Error> bits_fault(std::uint64_t bits, std::uint32_t k,
                                                               std::span<const std::uint64_t> shape, std::uint64_t at) {
    const std::uint64_t most = most_bits(k, static_cast<std::uint32_t>(shape.size()));
    if (bits == 0 || bits > most) {
        return fail(Status::invalid_layout, at, "morton_bits[%u]: expected 1 to %llu, so that codes have 64 bits, got %llu",
                    k, static_cast<ull>(most), static_cast<ull>(bits));
    }
    return fail(Status::invalid_layout, at, "morton_bits[%u]: expected enough bits for shape[%u] = %llu, got %llu", k, k,
                static_cast<ull>(shape[k]), static_cast<ull>(bits));
}

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    const auto shape = out.descriptor().shape();
    const auto rank = static_cast<std::uint32_t>(shape.size());
    if (!in.has(4 * rank)) [[unlikely]] {
        for (std::uint32_t k = 0; k < in.remaining() / 4; ++k) {
            const std::uint32_t bits = load_le<std::uint32_t>(in.here() + 4 * k);
            if (!is_right(bits, k, shape)) return bits_fault(bits, k, shape, in.offset() + 4 * k);
        }
        return truncated_array("morton_bits", 4, rank, in);
    }
    // A word for each, which is wider than they are.
    out.ensure(in.remaining() + std::size_t{4} * rank);
    std::uint64_t* words = out.claim_words(rank);
    for (std::uint32_t k = 0; k < rank; ++k) words[k] = in.u32();
    return {};
}

Result<void> check_fields(const LayoutContext& context) {
    const auto shape = context.descriptor.shape();
    const auto words = context.descriptor.layout_words();
    for (std::uint32_t k = 0; k < shape.size(); ++k) {
        if (!is_right(words[k], k, shape)) [[unlikely]]
            return bits_fault(words[k], k, shape, context.fields_at + 4 * k);
    }
    return check_single_buffer(context);
}

Result<void> check_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    if (index != 0 || context.element_count == 0) return {};
    const std::uint64_t byte_offset = context.descriptor.byte_offset();
    const auto room = morton_room(context.descriptor.shape(), context.descriptor.layout_words());
    if (!room || !contiguous_elements_fit(context.type, *room, byte_offset, byte_size)) [[unlikely]] {
        return fail(Status::invalid_layout, context.handle_at(0),
                    "buffer 0: byte_size: expected room for %s%llu elements of %s, padding included, from byte_offset "
                    "%llu, got %llu",
                    room ? "" : "more than ", static_cast<ull>(room.value_or(~std::uint64_t{0})), context.type.name,
                    static_cast<ull>(byte_offset), static_cast<ull>(byte_size));
    }
    return {};
}

}  // namespace

std::uint64_t morton_code(std::span<const std::uint64_t> index, std::span<const std::uint64_t> bits) noexcept {
    const std::size_t rank = index.size();
    std::uint64_t code = 0;
    for (std::size_t d = 0; d < rank; ++d) {
        for (std::uint64_t b = 0; b < bits[d] && index[d] >> b != 0; ++b) code |= (index[d] >> b & 1) << (b * rank + d);
    }
    return code;
}

std::optional<std::uint64_t> morton_room(std::span<const std::uint64_t> shape,
                                         std::span<const std::uint64_t> bits) noexcept {
    std::uint64_t sum = 0;
    std::array<std::uint64_t, max_rank> last;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        sum += bits[k];
        last[k] = shape[k] - 1;
    }
    if (sum >= 64) return std::nullopt;
    // Larger indices have larger codes, so that the last element's is the largest.
    return std::max(std::uint64_t{1} << sum, morton_code(std::span(last).first(shape.size()), bits) + 1);
}

const LayoutCodec morton_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray
