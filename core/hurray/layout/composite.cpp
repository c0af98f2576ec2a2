#include "core/hurray/layout/composite.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::uint32_t fields_size = 8;
// What a later version may use for a composite without an end.
constexpr std::uint32_t open_member_count = 0xFFFFFFFF;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return fields_size;
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64(words[0]);
}

Result<void> check_rule(std::uint8_t rule, PrivateTags private_tags, std::uint64_t at) {
    if (rule >= composition_rule::partition && rule <= composition_rule::group) [[likely]]
        return {};
    const bool is_private = is_private_composition_rule(rule);
    if (is_private && private_tags == PrivateTags::allow) return {};
    return fail(Status::invalid_composite, at,
                "composition_rule: expected 01 (partition), 02 (overlay) or 03 (group), got %s%02X",
                is_private ? "the private " : "", rule);
}

Result<void> check_combine_op(std::uint8_t op, std::uint8_t rule, std::uint64_t at) {
    if (rule == composition_rule::overlay) {
        if (op == combine_op::replace || op == combine_op::add) return {};
        return fail(Status::invalid_composite, at,
                    "combine_op: expected 01 (replace) or 02 (add) for an overlay, got %02X", op);
    }
    if (op == combine_op::none || is_private_composition_rule(rule)) return {};
    return fail(Status::invalid_composite, at, "combine_op: expected 00 for a %s, got %02X",
                rule == composition_rule::partition ? "partition" : "group", op);
}

Result<void> check_member_count(std::uint32_t count, std::uint8_t rule, std::uint64_t at) {
    if (count == open_member_count) {
        return fail(Status::invalid_composite, at, "member_count: expected a definite count, got FFFFFFFF");
    }
    if (count == 0 && rule == composition_rule::overlay) {
        return fail(Status::invalid_composite, at, "member_count: expected at least 1 for an overlay, its base, got 0");
    }
    return {};
}

// Checks all that comes before the buffer count, in wire order: whether a private rule is allowed is known here only.
Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    const std::uint64_t byte_offset = out.descriptor().byte_offset();
    if (byte_offset != 0) [[unlikely]] {
        return fail(Status::invalid_layout, in.offset() - 8,
                    "byte_offset: expected 0 for a composite head, which has no buffers, got %llu",
                    static_cast<ull>(byte_offset));
    }
    const std::uint32_t at = in.offset();
    const std::byte* bytes = in.here();
    if (!in.has(1)) return truncated_field("composition_rule", at, 1, 0);
    const auto rule = static_cast<std::uint8_t>(bytes[0]);
    if (auto checked = check_rule(rule, out.private_tags(), at); !checked) return checked;
    if (!in.has(2)) return truncated_field("combine_op", at + 1, 1, 0);
    const auto op = static_cast<std::uint8_t>(bytes[1]);
    if (auto checked = check_combine_op(op, rule, at + 1); !checked) return checked;
    for (std::uint32_t i = 2; i < 4; ++i) {
        if (!in.has(i + 1)) return truncated_field("composite reserved", at + i, 4 - i, 0);
        if (bytes[i] == std::byte{0}) continue;
        return fail(Status::invalid_composite, at + i, "composite reserved: expected 0, got %02X",
                    static_cast<unsigned>(bytes[i]));
    }
    if (!in.has(fields_size)) return truncated_field("member_count", at + 4, 4, in.remaining() - 4);
    const std::uint32_t count = load_le<std::uint32_t>(bytes + 4);
    if (auto checked = check_member_count(count, rule, at + 4); !checked) return checked;
    *out.claim_words(1) = in.u64();
    return {};
}

Result<void> check_fields(const LayoutContext& context) {
    if (context.buffer_count == 0) [[likely]]
        return {};
    return fail(Status::invalid_layout, context.buffer_count_at,
                "buffer_count: expected 0 for a composite head, got %u", context.buffer_count);
}

// There are none.
Result<void> check_buffer_size(const LayoutContext&, std::uint32_t, std::uint64_t) {
    return {};
}

}  // namespace

const LayoutCodec composite_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray
