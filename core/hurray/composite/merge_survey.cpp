#include "core/hurray/composite/merge_survey.hpp"

#include "core/hurray/base/checked.hpp"
#include "core/hurray/layout/sparse_fields.hpp"

namespace hurray {
namespace {

// The work that a tensor is at most, in bytes; saturates, as it is for reports only.
std::uint64_t work_of(const Descriptor& descriptor, std::uint64_t bits) {
    const auto count = descriptor.element_count();
    const std::uint64_t elements =
        is_sparse_layout(descriptor.layout()) ? descriptor.layout_words()[0] : count.value_or(0);
    // Once for each time that the elements are written.
    const std::uint64_t times =
        1 + (is_quantized(descriptor) ? 1 : 0) + (descriptor.layout() != layout_tag::row_major ? 1 : 0);
    const auto bytes = checked_mul(elements, (bits + 7) / 8 * times);
    return bytes.value_or(~std::uint64_t{0});
}

}  // namespace

bool is_quantized(const Descriptor& descriptor) noexcept {
    return (descriptor.flags() & descriptor_flag::quantization) != 0;
}

Result<void> survey_merge(const Composite& composite, std::uint64_t bits, MergeSurvey& found) {
    const std::uint8_t rule = composite.fields().rule;
    if (rule != composition_rule::partition && rule != composition_rule::overlay) {
        return fail(Status::unsupported, Error::no_offset,
                    "composition_rule %02X: expected a partition or an overlay, others are not one tensor", rule);
    }
    for (const CompositeMember& member : composite.members()) {
        if (member.composite() != nullptr) {
            if (auto done = survey_merge(*member.composite(), bits, found); !done) return done;
            continue;
        }
        if (member.descriptor().is_opaque()) {
            return fail(Status::unsupported, Error::no_offset,
                        "member: an opaque descriptor, expected a known type, layout and scheme");
        }
        found.work = checked_add(found.work, work_of(member.descriptor(), bits)).value_or(~std::uint64_t{0});
        found.has_sparse = found.has_sparse || is_sparse_layout(member.descriptor().layout());
    }
    return {};
}

}  // namespace hurray
