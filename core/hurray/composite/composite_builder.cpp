#include "core/hurray/composite/composite_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/descriptor/builder.hpp"
#include "core/hurray/descriptor/codec.hpp"
#include "core/hurray/descriptor/section.hpp"

namespace hurray {
namespace {

constexpr std::size_t length_at = 6;
constexpr std::size_t flags_at = 10;
constexpr std::size_t role_section_size = 16;

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_words(std::vector<std::byte>& out, std::span<const std::uint64_t> words) {
    for (const std::uint64_t word : words) {
        std::byte bytes[8];
        store_le(bytes, word);
        append(out, bytes);
    }
}

Result<void> check_rank(std::span<const std::uint64_t> values, std::uint32_t rank, const char* field) {
    if (values.size() == rank) return {};
    return fail(Status::invalid_argument, Error::no_offset, "%s: expected %u values as the rank is, got %zu", field,
                rank, values.size());
}

}  // namespace

Result<Descriptor> with_place(const Descriptor& descriptor, std::span<const std::uint64_t> parent_shape,
                              std::span<const std::uint64_t> shard_offset, std::optional<MemberRole> role) {
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque, expected a known type, layout and scheme");
    }
    if (auto checked = check_rank(parent_shape, descriptor.rank(), "parent_shape"); !checked)
        return std::unexpected(checked.error());
    if (auto checked = check_rank(shard_offset, descriptor.rank(), "shard_offset"); !checked)
        return std::unexpected(checked.error());

    std::vector<std::byte> old(descriptor.encoded_length());
    if (auto encoded = encode(descriptor, old); !encoded) return std::unexpected(encoded.error());
    // The sections lie at the end, in the order of the table.
    std::size_t at = old.size() - descriptor.trailing().size();
    for (const Section& section : section_table) {
        if ((descriptor.flags() & section.flag) == 0) continue;
        at -= section.codec->encoded_size(descriptor.rank(), descriptor.section_words(section.flag));
    }
    const std::span bytes(old);
    std::vector<std::byte> out(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    std::uint32_t flags = descriptor.flags() | descriptor_flag::shard;
    flags &= ~descriptor_flag::composite_member;
    if (role) flags |= descriptor_flag::composite_member;
    for (const Section& section : section_table) {
        std::size_t size = 0;
        if ((descriptor.flags() & section.flag) != 0) {
            size = section.codec->encoded_size(descriptor.rank(), descriptor.section_words(section.flag));
        }
        if (section.flag == descriptor_flag::shard) {
            append_words(out, parent_shape);
            append_words(out, shard_offset);
        } else if (section.flag == descriptor_flag::composite_member) {
            if (role) {
                out.push_back(static_cast<std::byte>(*role));
                out.resize(out.size() + role_section_size - 1);
            }
        } else {
            append(out, bytes.subspan(at, size));
        }
        at += size;
    }
    append(out, descriptor.trailing());
    store_le(out.data() + length_at, static_cast<std::uint32_t>(out.size()));
    store_le(out.data() + flags_at, flags);
    // What was decoded once was allowed to have its tags.
    return decode(out, {.max_length = ~std::uint32_t{0}, .private_tags = PrivateTags::allow});
}

CompositeBuilder::CompositeBuilder(std::uint8_t element_type, std::span<const std::uint64_t> shape, std::uint8_t rule,
                                   std::uint8_t combine_op)
    : element_type_(element_type), rule_(rule), combine_op_(combine_op), shape_(shape.begin(), shape.end()) {}

CompositeBuilder& CompositeBuilder::set_extension_type(const ExtensionTypeFields& fields) {
    extension_type_ = fields;
    return *this;
}

CompositeBuilder& CompositeBuilder::add(CompositeMember member) {
    members_.push_back(std::move(member));
    return *this;
}

Result<void> CompositeBuilder::add_at(const CompositeMember& member, std::span<const std::uint64_t> offset) {
    std::optional<MemberRole> role;
    if (rule_ == composition_rule::overlay) role = members_.empty() ? MemberRole::base : MemberRole::correction;
    auto placed = with_place(member.descriptor(), shape_, offset, role);
    if (!placed) return std::unexpected(placed.error());
    if (member.tensor() != nullptr) {
        members_.emplace_back(Tensor{std::move(*placed), member.tensor()->buffers});
        return {};
    }
    const auto inner = member.composite()->members();
    std::vector<CompositeMember> copies(inner.begin(), inner.end());
    auto made = Composite::make(std::move(*placed), std::move(copies));
    if (!made) return std::unexpected(made.error());
    members_.emplace_back(std::move(*made));
    return {};
}

Result<std::shared_ptr<const Composite>> CompositeBuilder::build(PrivateTags private_tags) const {
    DescriptorBuilder builder(element_type_, layout_tag::composite, shape_);
    // A number that does not fit is refused by decode, which has one more for that.
    const std::size_t most = 0xFFFFFFFF;
    builder.set_composite({rule_, combine_op_, static_cast<std::uint32_t>(std::min(members_.size(), most))});
    if (extension_type_) builder.set_extension_type(*extension_type_);
    auto head = builder.build(private_tags);
    if (!head) return std::unexpected(head.error());
    auto members = members_;
    return Composite::make(std::move(*head), std::move(members));
}

}  // namespace hurray
