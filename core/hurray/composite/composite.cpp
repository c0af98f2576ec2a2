#include "core/hurray/composite/composite.hpp"

#include <algorithm>

namespace hurray {
namespace {

using ull = unsigned long long;

std::vector<Box> boxes_of(std::span<const CompositeMember> members) {
    std::vector<Box> boxes;
    boxes.reserve(members.size());
    for (const CompositeMember& member : members) {
        const Descriptor& descriptor = member.descriptor();
        boxes.push_back({descriptor.shard_offset().data(), descriptor.shape().data()});
    }
    return boxes;
}

Result<void> check_cover(const Descriptor& head, std::span<const CompositeMember> members) {
    if (head.is_dynamic()) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "shape: expected known sizes for a partition, which its members cover");
    }
    const std::vector<Box> boxes = boxes_of(members);
    const auto fault = find_cover_fault(head.shape(), boxes, default_cover_budget(boxes.size()));
    if (!fault) return {};
    if (fault->pair) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "members of a partition: expected no overlap, members %zu and %zu have indices in common",
                    fault->pair->first, fault->pair->second);
    }
    if (fault->kind == CoverFault::Kind::overlap) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "members of a partition: expected no overlap, some of the %zu have indices in common",
                    members.size());
    }
    return fail(Status::invalid_composite, Error::no_offset,
                "members of a partition: expected every index to be in one, the %zu members leave gaps",
                members.size());
}

std::uint32_t depth_of(std::span<const CompositeMember> members) noexcept {
    std::uint32_t depth = 1;
    for (const CompositeMember& member : members) {
        if (member.composite() != nullptr) depth = std::max(depth, member.composite()->depth() + 1);
    }
    return depth;
}

bool have_elements(std::uint8_t rule, std::span<const CompositeMember> members) noexcept {
    if (rule != composition_rule::partition && rule != composition_rule::overlay) return false;
    return std::ranges::all_of(members, [](const CompositeMember& member) {
        return member.composite() == nullptr ? !member.descriptor().is_opaque() : member.composite()->has_elements();
    });
}

void append(const Composite& composite, std::vector<Tensor>& out) {
    out.push_back({composite.head(), {}});
    for (const CompositeMember& member : composite.members()) {
        if (member.composite() != nullptr) {
            append(*member.composite(), out);
        } else {
            out.push_back(*member.tensor());
        }
    }
}

}  // namespace

const Descriptor& CompositeMember::descriptor() const noexcept {
    const Tensor* plain = tensor();
    return plain != nullptr ? plain->descriptor : composite()->head();
}

Composite::Composite(MadeHere, Descriptor&& head, std::vector<CompositeMember>&& members)
    : head_(std::move(head)), members_(std::move(members)) {
    const std::uint8_t rule = fields().rule;
    // The boxes refer to the members, which stay where they are from now on.
    if (rule == composition_rule::partition) boxes_ = BoxIndex(head_.shape(), boxes_of(members_));
    depth_ = depth_of(members_);
    has_elements_ = have_elements(rule, members_);
    for (const CompositeMember& member : members_) {
        descriptor_count_ += member.composite() != nullptr ? member.composite()->descriptor_count() : 1;
    }
}

Result<std::shared_ptr<const Composite>> Composite::make(Descriptor&& head, std::vector<CompositeMember>&& members) {
    if (head.layout() != layout_tag::composite || head.is_unread()) {
        return fail(Status::invalid_argument, Error::no_offset, "head: expected the composite layout 0B, got %02X",
                    head.layout());
    }
    const CompositeFields fields = composite_fields(head);
    if (fields.member_count != members.size()) {
        return fail(Status::invalid_composite, Error::no_offset, "member_count: expected %u members, got %zu",
                    fields.member_count, members.size());
    }
    if (const std::uint32_t depth = depth_of(members); depth > max_composite_depth) {
        return fail(Status::invalid_composite, Error::no_offset,
                    "composite: expected at most %u heads inside of one another, got %u", max_composite_depth, depth);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        // Its members and its depth would not be looked at.
        if (members[i].tensor() != nullptr && members[i].descriptor().layout() == layout_tag::composite) {
            return fail(Status::invalid_composite, Error::no_offset,
                        "member %zu: expected a composite, got a head as a tensor, without its members", i);
        }
        if (auto checked = check_member(head, i, members[i].descriptor()); !checked) {
            return std::unexpected(checked.error());
        }
    }
    if (fields.rule == composition_rule::partition) {
        if (auto checked = check_cover(head, members); !checked) return std::unexpected(checked.error());
    }
    return std::make_shared<const Composite>(MadeHere{}, std::move(head), std::move(members));
}

std::vector<Tensor> pre_order(const Composite& composite) {
    std::vector<Tensor> all;
    all.reserve(composite.descriptor_count());
    append(composite, all);
    return all;
}

}  // namespace hurray
