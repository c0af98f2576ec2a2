#include "core/hurray/composite/elements.hpp"

#include <algorithm>
#include <optional>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/composite/element_adder.hpp"
#include "core/hurray/element.hpp"
#include "core/hurray/element_format.hpp"
#include "core/hurray/layout/sparse_fields.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;
using Index = std::span<const std::uint64_t>;

// The bytes of one element, packed from the first bit on.
using ElementBytes = std::array<std::byte, 16>;

Result<void> check_index(const Descriptor& head, Index index) {
    const auto shape = head.shape();
    if (index.size() != shape.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "index: expected %zu values as the rank is, got %zu",
                    shape.size(), index.size());
    }
    for (std::size_t k = 0; k < index.size(); ++k) {
        if (index[k] < shape[k]) continue;
        return fail(Status::index_out_of_bounds, Error::no_offset, "index[%zu]: expected less than %llu, got %llu", k,
                    static_cast<ull>(shape[k]), static_cast<ull>(index[k]));
    }
    return {};
}

std::unexpected<Error> no_elements(const Composite& composite) {
    const std::uint8_t rule = composite.fields().rule;
    return fail(Status::unsupported, Error::no_offset,
                "composition_rule %02X: a %s has no element at an index, expected a partition or an overlay", rule,
                rule == composition_rule::group ? "group" : "composite of a private rule");
}

// An index of a member.
struct LocalIndex {
    std::array<std::uint64_t, max_rank> storage;
    std::size_t rank;

    LocalIndex(Index index, const Descriptor& member) noexcept : rank(index.size()) {
        const auto start = member.shard_offset();
        for (std::size_t k = 0; k < rank; ++k) storage[k] = index[k] - start[k];
    }
    [[nodiscard]] Index values() const noexcept { return {storage.data(), rank}; }
};

// The member of a partition that has an index.
Result<const CompositeMember*> member_with(const Composite& partition, Index index) {
    const auto found = partition.member_at(index);
    if (!found) return fail(Status::internal, Error::no_offset, "index: expected a member of the partition to have it");
    return &partition.members()[*found];
}

ElementBytes bytes_of(RawBits bits) noexcept {
    ElementBytes bytes;
    store_le(bytes.data(), bits.low);
    store_le(bytes.data() + 8, bits.high);
    return bytes;
}

// One element of a tensor in the head's type. Nothing for one that a sparse tensor does not store.
Result<std::optional<ElementBytes>> load(const Tensor& tensor, Index index, const NumberFormat& head) {
    const Descriptor& descriptor = tensor.descriptor;
    const auto reader = ElementReader::make(tensor);
    if (!reader) return std::unexpected(reader.error());
    if (is_sparse_layout(descriptor.layout())) {
        const auto address = reader->address(index);
        if (!address) return std::unexpected(address.error());
        if (!*address) return std::nullopt;
    }
    if ((descriptor.flags() & descriptor_flag::quantization) != 0) {
        const auto number = reader->dequantized(index);
        if (!number) return std::unexpected(number.error());
        ElementBytes bytes{};
        if (auto written = store_float32(head, bytes, 0, *number); !written) return std::unexpected(written.error());
        return bytes;
    }
    const auto bits = reader->bits(index);
    if (!bits) return std::unexpected(bits.error());
    return bytes_of(*bits);
}

bool covers(const Descriptor& member, Index index) noexcept {
    return Box{member.shard_offset().data(), member.shape().data()}.contains(index);
}

Result<ElementBytes> load_overlay(const Composite& overlay, Index index, const NumberFormat& head) {
    const auto members = overlay.members();
    const auto load_member = [&](const CompositeMember& member) {
        return load(*member.tensor(), LocalIndex(index, member.descriptor()).values(), head);
    };
    if (overlay.fields().combine_op == combine_op::replace) {
        // The last one that has the element.
        for (std::size_t i = members.size(); i-- > 1;) {
            if (!covers(members[i].descriptor(), index)) continue;
            const auto found = load_member(members[i]);
            if (!found) return std::unexpected(found.error());
            if (*found) return **found;
        }
    }
    const auto base = load_member(members[0]);
    if (!base) return std::unexpected(base.error());
    ElementBytes sum = base->value_or(ElementBytes{});
    if (overlay.fields().combine_op == combine_op::replace) return sum;
    const auto adder = ElementAdder::make(head);
    if (!adder) return std::unexpected(adder.error());
    for (const CompositeMember& member : members.subspan(1)) {
        if (!covers(member.descriptor(), index)) continue;
        const auto term = load_member(member);
        if (!term) return std::unexpected(term.error());
        if (!*term) continue;
        if (auto added = adder->add(**term, 0, sum, 0, 1); !added) return std::unexpected(added.error());
    }
    return sum;
}

// Goes down at most max_composite_depth levels. The index is that of the composite's head.
Result<ElementBytes> load_composite(const Composite& composite, Index index, const NumberFormat& head) {
    switch (composite.fields().rule) {
        case composition_rule::overlay:
            return load_overlay(composite, index, head);
        case composition_rule::partition:
            break;
        default:
            return no_elements(composite);
    }
    const auto member = member_with(composite, index);
    if (!member) return std::unexpected(member.error());
    const LocalIndex local(index, (*member)->descriptor());
    if ((*member)->composite() != nullptr) return load_composite(*(*member)->composite(), local.values(), head);
    const auto found = load(*(*member)->tensor(), local.values(), head);
    if (!found) return std::unexpected(found.error());
    return found->value_or(ElementBytes{});
}

Result<ElementBytes> load_checked(const Composite& composite, Index index, const NumberFormat& head) {
    if (auto checked = check_index(composite.head(), index); !checked) return std::unexpected(checked.error());
    return load_composite(composite, index, head);
}

}  // namespace

Result<ElementPlace> locate(const Composite& composite, std::span<const std::uint64_t> index) {
    if (auto checked = check_index(composite.head(), index); !checked) return std::unexpected(checked.error());
    ElementPlace place;
    place.rank = static_cast<std::uint32_t>(index.size());
    std::ranges::copy(index, place.storage.begin());
    const Composite* level = &composite;
    while (true) {
        if (level->fields().rule == composition_rule::overlay) {
            return fail(Status::unsupported, Error::no_offset,
                        "composition_rule 02: an element of an overlay lies in no single member, expected a partition");
        }
        if (level->fields().rule != composition_rule::partition) return no_elements(*level);
        const auto member = member_with(*level, place.index());
        if (!member) return std::unexpected(member.error());
        place.storage = LocalIndex(place.index(), (*member)->descriptor()).storage;
        place.tensor = (*member)->tensor();
        if (place.tensor != nullptr) return place;
        level = (*member)->composite();
    }
}

Result<RawBits> get_bits(const Composite& composite, std::span<const std::uint64_t> index) {
    const auto head = element_format(composite.head());
    if (!head) return std::unexpected(head.error());
    const auto bytes = load_checked(composite, index, *head);
    if (!bytes) return std::unexpected(bytes.error());
    return load_bits(*head, *bytes, 0);
}

Result<double> get_float64(const Composite& composite, std::span<const std::uint64_t> index) {
    const auto head = element_format(composite.head());
    if (!head) return std::unexpected(head.error());
    const auto bytes = load_checked(composite, index, *head);
    if (!bytes) return std::unexpected(bytes.error());
    return load_float64(*head, *bytes, 0);
}

Result<std::complex<double>> get_complex128(const Composite& composite, std::span<const std::uint64_t> index) {
    const auto head = element_format(composite.head());
    if (!head) return std::unexpected(head.error());
    const auto bytes = load_checked(composite, index, *head);
    if (!bytes) return std::unexpected(bytes.error());
    return load_complex128(*head, *bytes, 0);
}

}  // namespace hurray
