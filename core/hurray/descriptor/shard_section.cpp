#include "core/hurray/descriptor/shard_section.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t> words) {
    return static_cast<std::uint32_t>(words.size() * 8);
}

// Checks as many of the dimensions' values as there are, so that a fault before the point of truncation comes first.
Result<void> check_parent(std::span<const std::uint64_t> shape, const WireReader& in, std::uint32_t present) {
    for (std::uint32_t k = 0; k < present; ++k) {
        const std::uint64_t size = load_le<std::uint64_t>(in.here() + 8 * k);
        if (size == dynamic_dimension) [[unlikely]] {
            return fail(Status::invalid_layout, in.offset() + 8 * k,
                        "parent_shape[%u]: expected a known size, got a dynamic one", k);
        }
        if (size < shape[k]) [[unlikely]] {
            return fail(Status::invalid_layout, in.offset() + 8 * k,
                        "parent_shape[%u]: expected at least shape[%u] = %llu, got %llu", k, k,
                        static_cast<ull>(shape[k]), static_cast<ull>(size));
        }
    }
    return {};
}

Result<void> check_offset(std::span<const std::uint64_t> shape, const std::byte* parent, const WireReader& in,
                          std::uint32_t present) {
    for (std::uint32_t k = 0; k < present; ++k) {
        const std::uint64_t offset = load_le<std::uint64_t>(in.here() + 8 * k);
        const std::uint64_t highest = load_le<std::uint64_t>(parent + 8 * k) - shape[k];
        if (offset > highest) [[unlikely]] {
            return fail(Status::invalid_layout, in.offset() + 8 * k,
                        "shard_offset[%u]: expected at most parent_shape[%u] - shape[%u] = %llu, got %llu", k, k, k,
                        static_cast<ull>(highest), static_cast<ull>(offset));
        }
    }
    return {};
}

// Their storage cannot be a part of that of a larger tensor.
bool cannot_be_shard(std::uint8_t layout) noexcept {
    return layout == layout_tag::csf || layout == layout_tag::block_paged;
}

[[gnu::cold, gnu::noinline]] std::unexpected<Error> layout_fault(std::uint8_t layout, const WireReader& in) {
    return fail(Status::invalid_layout, in.offset(), "shard: expected no such section for layout %s",
                layout == layout_tag::csf ? "csf" : "block_paged");
}

// Finds the first fault, in wire order, of a section that has one.
[[gnu::cold, gnu::noinline]] Result<void> section_fault(std::span<const std::uint64_t> shape, WireReader in) {
    const auto rank = static_cast<std::uint32_t>(shape.size());
    const std::byte* parent = in.here();
    const std::uint32_t parents = in.has(8 * rank) ? rank : in.remaining() / 8;
    if (auto checked = check_parent(shape, in, parents); !checked) return checked;
    if (parents != rank) return truncated_array("parent_shape", 8, rank, in);
    in.skip(8 * rank);
    const std::uint32_t offsets = in.has(8 * rank) ? rank : in.remaining() / 8;
    if (auto checked = check_offset(shape, parent, in, offsets); !checked) return checked;
    if (offsets != rank) return truncated_array("shard_offset", 8, rank, in);
    return fail(Status::internal, in.offset(), "shard: was refused for no reason");
}

Result<void> decode_section(WireReader& in, DescriptorAssembler& out) {
    const auto shape = out.descriptor().shape();
    const auto rank = static_cast<std::uint32_t>(shape.size());
    if (cannot_be_shard(out.descriptor().layout())) [[unlikely]]
        return layout_fault(out.descriptor().layout(), in);
    if (!in.has(16 * rank)) [[unlikely]]
        return section_fault(shape, in);
    std::uint64_t* words = out.claim_words(2 * std::size_t{rank});
    const std::byte* parent = in.here();
    const std::byte* offset = parent + 8 * rank;
    bool right = true;
    for (std::uint32_t k = 0; k < rank; ++k) {
        const std::uint64_t whole = load_le<std::uint64_t>(parent + 8 * k);
        const std::uint64_t start = load_le<std::uint64_t>(offset + 8 * k);
        right &= whole != dynamic_dimension && whole >= shape[k] && start <= whole - shape[k];
        words[k] = whole;
        words[rank + k] = start;
    }
    if (!right) [[unlikely]]
        return section_fault(shape, in);
    in.skip(16 * rank);
    return {};
}

void encode_section(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64s(words);
}

}  // namespace

const SectionCodec shard_codec = {encoded_size, decode_section, encode_section};

}  // namespace hurray
