// The rules for one member of a composite.
#include <algorithm>

#include "core/hurray/composite/composite.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

std::unexpected<Error> unexpected_role_section(std::uint64_t position, const char* what) {
    return fail(Status::invalid_composite, Error::no_offset,
                "member %llu: expected no composite_member section, which only overlays have, in a %s",
                static_cast<ull>(position), what);
}

// Where the member lies in the head.
Result<void> check_box(const Descriptor& head, std::uint64_t position, const Descriptor& member) {
    if (!member.has_shard()) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "member %llu: expected a shard section, which says where in the head it lies",
                    static_cast<ull>(position));
    }
    if (member.rank() != head.rank()) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "member %llu: rank: expected %u as the head has, got %u", static_cast<ull>(position), head.rank(),
                    member.rank());
    }
    // The box lies in the parent: every descriptor was checked for that.
    const auto [ours, theirs] = std::ranges::mismatch(head.shape(), member.parent_shape());
    if (ours == head.shape().end()) return {};
    return fail(Status::invalid_composite, Error::no_offset,
                "member %llu: parent_shape[%td]: expected %llu as the head's shape has, got %llu",
                static_cast<ull>(position), ours - head.shape().begin(), static_cast<ull>(*ours),
                static_cast<ull>(*theirs));
}

// What the dequantized numbers are. A scheme says what a number is, not in how many bits: any floating-point type does.
Result<void> check_value_type(const Descriptor& head, std::uint64_t position, const Descriptor& member) {
    if ((member.flags() & descriptor_flag::quantization) != 0) {
        const ElementTypeInfo type = element_type_info(head);
        if (type.kind == ElementKind::floating_point) return {};
        return fail(Status::invalid_composite, Error::no_offset,
                    "member %llu: quantized, expected a head of a floating-point type, got %02X (%s)",
                    static_cast<ull>(position), head.element_type(), type.name);
    }
    if (member.element_type() != head.element_type()) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "member %llu: type_tag: expected %02X as the head has, got %02X", static_cast<ull>(position),
                    head.element_type(), member.element_type());
    }
    if (extension_type_fields(member) != extension_type_fields(head)) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "member %llu: extension_type: expected the description of type %02X that the head has",
                    static_cast<ull>(position), head.element_type());
    }
    return {};
}

Result<void> check_role(const Descriptor& head, std::uint64_t position, const Descriptor& member) {
    const auto fields = composite_member_fields(member);
    if (!fields) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "member %llu: expected a composite_member section with its role", static_cast<ull>(position));
    }
    const MemberRole expected = position == 0 ? MemberRole::base : MemberRole::correction;
    if (fields->role != expected) {
        return fail(Status::invalid_composite, Error::no_offset, "member %llu: member_role: expected %s, got %u",
                    static_cast<ull>(position),
                    position == 0 ? "1 (base) for the first member" : "0 (correction) behind the first member",
                    static_cast<unsigned>(fields->role));
    }
    if (position == 0 && !std::ranges::equal(member.shape(), head.shape())) {
        const auto [ours, theirs] = std::ranges::mismatch(head.shape(), member.shape());
        return fail(Status::invalid_composite, Error::no_offset,
                    "member 0: shape[%td]: expected the base to span the head, %llu, got %llu",
                    ours - head.shape().begin(), static_cast<ull>(*ours), static_cast<ull>(*theirs));
    }
    return {};
}

}  // namespace

Result<void> check_member(const Descriptor& head, std::uint64_t position, const Descriptor& member) {
    const bool has_role = (member.flags() & descriptor_flag::composite_member) != 0;
    switch (composite_fields(head).rule) {
        case composition_rule::group:
            if (has_role) return unexpected_role_section(position, "group");
            return {};
        case composition_rule::partition:
            if (has_role) return unexpected_role_section(position, "partition");
            break;
        case composition_rule::overlay:
            if (member.layout() != layout_tag::composite) break;
            return fail(Status::invalid_composite, Error::no_offset,
                        "member %llu: expected a tensor, a composite head cannot be a member of an overlay",
                        static_cast<ull>(position));
        default:
            // What a private rule asks for is not known here.
            return {};
    }
    if (auto checked = check_box(head, position, member); !checked) return checked;
    if (auto checked = check_value_type(head, position, member); !checked) return checked;
    if (composite_fields(head).rule == composition_rule::overlay) return check_role(head, position, member);
    return {};
}

}  // namespace hurray
