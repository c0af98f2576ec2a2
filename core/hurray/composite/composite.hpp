// A composite: a head, which has a shape and a type but no data, and the tensors that it is made of. (format:
// composite; docs/formats/composites.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/hurray/base/error.hpp"
#include "core/hurray/composite/boxes.hpp"
#include "core/hurray/layout/composite.hpp"
#include "core/hurray/tensor.hpp"

namespace hurray {

/// How many heads there may be on the way from the outermost one to a tensor, that one included.
inline constexpr std::uint32_t max_composite_depth = 8;

class Composite;

/// A tensor, or a composite inside of another one. Copies share the data.
///
/// Thread rule: may be read by any number of threads.
class CompositeMember {
  public:
    explicit CompositeMember(Tensor tensor) : content_(std::move(tensor)) {}
    /// @param composite not null
    explicit CompositeMember(std::shared_ptr<const Composite> composite) : content_(std::move(composite)) {}

    /// The tensor; null for a composite.
    [[nodiscard]] const Tensor* tensor() const noexcept { return std::get_if<Tensor>(&content_); }
    /// The composite; null for a tensor.
    [[nodiscard]] const Composite* composite() const noexcept {
        const auto* inner = std::get_if<std::shared_ptr<const Composite>>(&content_);
        return inner == nullptr ? nullptr : inner->get();
    }
    /// As composite(), with a share of it.
    [[nodiscard]] std::shared_ptr<const Composite> shared_composite() const noexcept {
        const auto* inner = std::get_if<std::shared_ptr<const Composite>>(&content_);
        return inner == nullptr ? nullptr : *inner;
    }
    /// That of the tensor, or of the composite's head.
    [[nodiscard]] const Descriptor& descriptor() const noexcept;

  private:
    std::variant<Tensor, std::shared_ptr<const Composite>> content_;
};

/// A head with all of its members, which fit: immutable, and complete.
///
/// Owns shares of the members' buffers. Thread rule: may be read by any number of threads.
class Composite {
    struct MadeHere {};

  public:
    /// Puts a head and its members together and checks that they fit: their number, their depth and each member (see
    /// check_member), and of a partition that the members' boxes cover the head exactly and without overlap. Of a
    /// private rule only number and depth are checked. A head is a member as a composite only, whatever the rule: as a
    /// tensor it would be one without its members.
    /// @param head of the composite layout; left as it is after an error
    /// @param members in their order; likewise
    /// @errors invalid_argument: not a composite head; invalid_composite: members that do not fit, which the message
    ///     names; they have no byte offset
    static Result<std::shared_ptr<const Composite>> make(Descriptor&& head, std::vector<CompositeMember>&& members);

    /// Only make, which checks what it is given, can name the argument.
    Composite(MadeHere, Descriptor&& head, std::vector<CompositeMember>&& members);
    Composite(const Composite&) = delete;
    Composite& operator=(const Composite&) = delete;

    /// Shape and type of the whole.
    [[nodiscard]] const Descriptor& head() const noexcept { return head_; }
    /// Rule, operation and number of members.
    [[nodiscard]] CompositeFields fields() const noexcept { return composite_fields(head_); }
    [[nodiscard]] std::span<const CompositeMember> members() const noexcept { return members_; }
    /// Heads on the longest way down, this one included: 1 to max_composite_depth.
    [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
    /// Descriptors in all: this head, and those of all members at all levels.
    [[nodiscard]] std::uint64_t descriptor_count() const noexcept { return descriptor_count_; }
    /// Whether there is a number at each index of the head: for partitions and overlays whose members have that, too.
    [[nodiscard]] bool has_elements() const noexcept { return has_elements_; }

    /// The member of a partition whose box an index lies in, in O(log n) where boxes lie as in a grid; nothing for an
    /// index outside of the shape, and for other rules.
    /// @param index one value a dimension
    [[nodiscard]] std::optional<std::size_t> member_at(std::span<const std::uint64_t> index) const noexcept {
        return boxes_.find(index);
    }

  private:
    Descriptor head_;
    std::vector<CompositeMember> members_;
    /// Of a partition.
    BoxIndex boxes_;
    std::uint64_t descriptor_count_ = 1;
    std::uint32_t depth_ = 1;
    bool has_elements_ = false;
};

/// Checks a member by itself: that it brings the sections that the head's rule asks for and no others, that its box
/// lies in the head's shape and its numbers are of the head's type once they are dequantized; of overlays that the
/// first member is the base and spans the head, and that the others are corrections.
/// @param head a composite head
/// @param position of the member among those of the head, from 0
/// @param member its descriptor, or that of its head
/// @errors invalid_composite
Result<void> check_member(const Descriptor& head, std::uint64_t position, const Descriptor& member);

/// The descriptors of a composite in the order in which they are written, each head before its members; heads have no
/// buffers. Copies share the data.
std::vector<Tensor> pre_order(const Composite& composite);

}  // namespace hurray
