// Makes composites of tensors that know nothing of one another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/composite.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/descriptor.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"

namespace hurray {

/// A descriptor with another place: its shard and composite member sections are replaced, everything else is kept.
/// @param parent_shape, shard_offset one value a dimension each
/// @param role of a member of an overlay; nothing for others, whose section goes
/// @errors unsupported: an opaque descriptor; invalid_argument: not one value a dimension; invalid_layout: a box that
/// does
///     not lie in the parent, a dynamic dimension, layouts that cannot be shards; invalid_composite: a head with a role
Result<Descriptor> with_place(const Descriptor& descriptor, std::span<const std::uint64_t> parent_shape,
                              std::span<const std::uint64_t> shard_offset,
                              std::optional<MemberRole> role = std::nullopt);

/// Collects members and counts them.
///
/// Thread rule: one thread at a time.
class CompositeBuilder {
  public:
    /// @param element_type, shape those of the head
    /// @param rule see composition_rule
    /// @param combine_op see combine_op
    CompositeBuilder(std::uint8_t element_type, std::span<const std::uint64_t> shape, std::uint8_t rule,
                     std::uint8_t combine_op = combine_op::none);

    /// Describes the head's type, which is a private one then.
    CompositeBuilder& set_extension_type(const ExtensionTypeFields& fields);
    /// Adds a member as it is: with the sections that the rule asks for. Shares its buffers.
    CompositeBuilder& add(CompositeMember member);
    /// Adds a member and says where in the head it lies, and of overlays that the first one is the base and the others
    /// are corrections: its sections are replaced, see with_place. Shares its buffers.
    /// @param offset where in the head it starts, one value a dimension
    /// @errors as with_place; then the member is not added
    Result<void> add_at(const CompositeMember& member, std::span<const std::uint64_t> offset);

    /// Makes the composite. The builder stays as it is.
    /// @errors as decode for the head and Composite::make
    [[nodiscard]] Result<std::shared_ptr<const Composite>> build(PrivateTags private_tags = PrivateTags::refuse) const;

  private:
    std::uint8_t element_type_;
    std::uint8_t rule_;
    std::uint8_t combine_op_;
    std::vector<std::uint64_t> shape_;
    std::optional<ExtensionTypeFields> extension_type_;
    std::vector<CompositeMember> members_;
};

}  // namespace hurray
