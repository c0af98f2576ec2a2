#include "core/hurray/descriptor/composite_member_section.hpp"

#include <algorithm>

namespace hurray {
namespace {

constexpr std::uint32_t section_size = 16;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t>) {
    return section_size;
}

Result<void> decode_section(WireReader& in, DescriptorAssembler& out) {
    if (!in.has(1)) [[unlikely]]
        return truncated_field("member_role", in.offset(), 1, 0);
    if (out.descriptor().layout() == layout_tag::composite) [[unlikely]] {
        return fail(Status::invalid_composite, in.offset(),
                    "composite_member: a composite head is no member of an overlay, expected no such section");
    }
    const auto role = static_cast<unsigned>(in.here()[0]);
    if (role > static_cast<unsigned>(MemberRole::base)) [[unlikely]] {
        return fail(Status::invalid_composite, in.offset(), "member_role: expected 0 (correction) or 1 (base), got %u",
                    role);
    }
    const std::uint32_t present = std::min(section_size, in.remaining());
    for (std::uint32_t i = 1; i < present; ++i) {
        if (in.here()[i] == std::byte{0}) continue;
        return fail(Status::invalid_composite, in.offset() + i, "composite_member reserved: expected 0, got %02X",
                    static_cast<unsigned>(in.here()[i]));
    }
    if (present < section_size) [[unlikely]] {
        return truncated_field("composite_member reserved", in.offset() + present, section_size - present, 0);
    }
    std::uint64_t* words = out.claim_words(2);
    words[0] = role;
    words[1] = 0;
    in.skip(section_size);
    return {};
}

void encode_section(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64s(words);
}

}  // namespace

std::optional<CompositeMemberFields> composite_member_fields(const Descriptor& descriptor) noexcept {
    const auto words = descriptor.section_words(descriptor_flag::composite_member);
    if (words.empty()) return std::nullopt;
    return CompositeMemberFields{static_cast<MemberRole>(words[0])};
}

const SectionCodec composite_member_codec = {encoded_size, decode_section, encode_section};

}  // namespace hurray
