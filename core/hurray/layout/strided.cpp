#include "core/hurray/layout/strided.hpp"

#include "core/hurray/base/checked.hpp"
#include "core/hurray/layout/contiguous.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

std::uint32_t encoded_size(std::uint32_t, std::span<const std::uint64_t> words) {
    return static_cast<std::uint32_t>(words.size() * 8);
}

Result<void> decode_fields(WireReader& in, DescriptorAssembler& out) {
    const std::uint32_t rank = out.descriptor().rank();
    if (!in.has(8 * rank)) [[unlikely]]
        return truncated_array("strides", 8, rank, in);
    out.add_wire_words(in.here(), rank);
    in.skip(8 * rank);
    return {};
}

void encode_fields(std::uint32_t, std::span<const std::uint64_t> words, WireWriter& out) {
    out.u64s(words);
}

Result<void> check_fields(const LayoutContext& context) {
    const Descriptor& descriptor = context.descriptor;
    if (context.element_count != 0) {
        const StridedReach reach = strided_reach(descriptor.shape(), descriptor.strides());
        if (auto checked = check_room_below(context, reach); !checked) [[unlikely]]
            return checked;
    }
    return check_single_buffer(context);
}

Result<void> check_buffer_size(const LayoutContext& context, std::uint32_t index, std::uint64_t byte_size) {
    const Descriptor& descriptor = context.descriptor;
    if (index != 0 || context.element_count == 0) return {};
    return check_room_above(context, strided_reach(descriptor.shape(), descriptor.strides()), byte_size);
}

// Adds steps * stride to a distance; false when it does not fit, which leaves the distance as large as can be.
bool extend(std::uint64_t& distance, std::uint64_t stride, std::uint64_t steps) noexcept {
    const auto length = checked_mul(stride, steps);
    const auto sum = length ? checked_add(distance, *length) : std::nullopt;
    distance = sum.value_or(~std::uint64_t{0});
    return sum.has_value();
}

}  // namespace

StridedReach strided_reach(std::span<const std::uint64_t> shape, std::span<const std::int64_t> strides) noexcept {
    StridedReach reach;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        const std::uint64_t steps = shape[k] - 1;
        const auto stride = static_cast<std::uint64_t>(strides[k]);
        if (strides[k] < 0) {
            reach.below_fits &= extend(reach.below, 0 - stride, steps);
        } else {
            reach.above_fits &= extend(reach.above, stride, steps);
        }
    }
    return reach;
}

Result<void> check_room_below(const LayoutContext& context, const StridedReach& reach) {
    const auto needed = packed_size(context.type, reach.below);
    if (!reach.below_fits || !needed || *needed > context.descriptor.byte_offset()) [[unlikely]] {
        return fail(
            Status::invalid_layout, context.byte_offset_at,
            "byte_offset: expected room before it for %s%llu elements of %s that negative strides reach, got %llu",
            reach.below_fits ? "" : "more than ", static_cast<ull>(reach.below), context.type.name,
            static_cast<ull>(context.descriptor.byte_offset()));
    }
    return {};
}

Result<void> check_room_above(const LayoutContext& context, const StridedReach& reach, std::uint64_t byte_size) {
    const std::uint64_t byte_offset = context.descriptor.byte_offset();
    const auto count = checked_add(reach.above, 1);
    const auto needed = count ? packed_size(context.type, *count) : std::nullopt;
    if (!reach.above_fits || !needed || *needed > byte_size - byte_offset) [[unlikely]] {
        return fail(Status::invalid_layout, context.handle_at(0),
                    "buffer 0: byte_size: expected room for element %s%llu of %s from byte_offset %llu, got %llu",
                    reach.above_fits ? "" : "beyond ", static_cast<ull>(reach.above), context.type.name,
                    static_cast<ull>(byte_offset), static_cast<ull>(byte_size));
    }
    return {};
}

const LayoutCodec strided_codec = {encoded_size, decode_fields, encode_fields, check_fields, check_buffer_size};

}  // namespace hurray
