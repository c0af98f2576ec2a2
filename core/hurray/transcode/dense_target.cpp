#include "core/hurray/transcode/dense_target.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/composite_member_section.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/descriptor/statistics_section.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/layout/strided.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/quantization/scheme.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;
using Shape = std::span<const std::uint64_t>;

// Elements before and from element (0, ..., 0) on that a buffer must have room for.
struct Room {
    std::uint64_t below = 0;
    std::uint64_t from_first = 0;
};

std::unexpected<Error> too_large(const char* what) {
    return fail(Status::limit_exceeded, Error::no_offset, "%s: expected a result within 2^60 bytes", what);
}

Result<Room> room_of(const StridedReach& reach, const char* what) {
    const auto from_first = checked_add(reach.above, 1);
    if (!reach.below_fits || !reach.above_fits || !from_first) return too_large(what);
    return Room{reach.below, *from_first};
}

std::uint32_t least_bits(std::uint64_t size) noexcept {
    return size <= 2 ? 1 : static_cast<std::uint32_t>(std::bit_width(size - 1));
}

// The bits that the codes of a Morton layout have room for in dimension k.
std::uint32_t most_bits(std::size_t k, std::size_t rank) noexcept {
    return static_cast<std::uint32_t>((63 - k) / rank + 1);
}

Result<std::vector<std::uint32_t>> choose_morton_bits(Shape shape, std::span<const std::uint32_t> wanted) {
    std::vector<std::uint32_t> bits(wanted.begin(), wanted.end());
    if (wanted.empty()) {
        for (const std::uint64_t size : shape) bits.push_back(least_bits(size));
    }
    if (bits.size() != shape.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "morton_bits: expected %zu values, one a dimension, got %zu",
                    shape.size(), bits.size());
    }
    for (std::size_t k = 0; k < shape.size(); ++k) {
        const std::uint32_t most = most_bits(k, shape.size());
        if (least_bits(shape[k]) > most) {
            return fail(
                Status::invalid_layout, Error::no_offset,
                "shape[%zu]: expected at most 2^%u for layout morton of rank %zu, so that codes have 64 bits, got "
                "%llu",
                k, most, shape.size(), static_cast<ull>(shape[k]));
        }
        if (bits[k] < least_bits(shape[k]) || bits[k] > most) {
            return fail(
                Status::invalid_layout, Error::no_offset,
                "morton_bits[%zu]: expected %u to %u, the bits of %llu indices and the room in codes of 64 bits, "
                "got %u",
                k, least_bits(shape[k]), most, static_cast<ull>(shape[k]), bits[k]);
        }
    }
    return bits;
}

// The dimension of the copy that whole blocks make longer than its shape says.
std::optional<PaddedAxis> padded_axis_of(const Descriptor& source, Shape shape, std::uint8_t layout) {
    if (layout != layout_tag::row_major && layout != layout_tag::col_major) return std::nullopt;
    const auto fields = quantization_fields(source);
    const QuantizationScheme* scheme = fields ? find_scheme(fields->scheme) : nullptr;
    if (scheme == nullptr || !scheme->has_blocks()) return std::nullopt;
    const std::uint64_t size = shape[fields->axis];
    const std::uint64_t over = size % fields->block_size;
    if (over == 0) return std::nullopt;
    return PaddedAxis{fields->axis, checked_add(size, fields->block_size - over).value_or(0)};
}

class TargetMaker {
  public:
    TargetMaker(const Descriptor& source, Shape shape, const TranscodeSpec& spec, const CarriedParts& parts)
        : source_(source),
          shape_(shape),
          spec_(spec),
          parts_(parts),
          type_(element_type_info(source)),
          empty_(std::ranges::find(shape, std::uint64_t{0}) != shape.end()),
          builder_(source.element_type(), spec.layout, shape) {}

    Result<DenseTarget> make() {
        if (auto checked = check_fields(); !checked) return std::unexpected(checked.error());
        auto room = set_layout();
        if (!room) return std::unexpected(room.error());
        if (empty_) room = Room{};
        const auto below = packed_size(type_, room->below);
        const auto from_first = packed_size(type_, room->from_first);
        const auto size = below && from_first ? checked_add(*below, *from_first) : std::nullopt;
        if (!size) return too_large("layout");
        builder_.set_byte_offset(*below);
        const std::uint32_t alignment = spec_.alignment == 0 ? minimum_alignment : spec_.alignment;
        if (auto added = builder_.add_buffer({.byte_size = *size, .alignment = alignment}); !added) {
            return std::unexpected(added.error());
        }
        if (auto carried = carry_sections(source_, parts_, builder_); !carried) return std::unexpected(carried.error());
        auto descriptor = builder_.build();
        if (!descriptor) return std::unexpected(descriptor.error());
        auto map = AddressMap::make(*descriptor);
        if (!map) return std::unexpected(map.error());
        if (auto checked = check_places(*map); !checked) return std::unexpected(checked.error());
        const bool has_gaps = room->below + room->from_first != map->element_count() || type_.group_shift != 0;
        return DenseTarget{std::move(*descriptor), std::move(*map), has_gaps};
    }

  private:
    Result<void> check_fields() const {
        const auto only = [&](bool given, std::uint8_t layout, const char* field) -> Result<void> {
            if (!given || spec_.layout == layout) return {};
            return fail(Status::invalid_argument, Error::no_offset, "%s: expected none for layout %02X", field,
                        spec_.layout);
        };
        if (auto checked = only(!spec_.strides.empty(), layout_tag::strided, "strides"); !checked) return checked;
        if (auto checked = only(!spec_.tiled.empty(), layout_tag::tiled, "tiled"); !checked) return checked;
        if (auto checked = only(!spec_.morton_bits.empty(), layout_tag::morton, "morton_bits"); !checked) return checked;
        if (auto checked = only(spec_.hilbert_order != 0, layout_tag::hilbert, "hilbert_order"); !checked)
            return checked;
        if (auto checked = only(!spec_.mode_order.empty(), layout_tag::csf, "mode_order"); !checked) return checked;
        if (spec_.alignment != 0 && (!std::has_single_bit(spec_.alignment) || spec_.alignment < minimum_alignment)) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "alignment: expected a power of two of at least %u, got %u", minimum_alignment,
                        spec_.alignment);
        }
        const bool may_be_scalar = spec_.layout == layout_tag::row_major;
        if (shape_.empty() && !may_be_scalar) {
            return fail(Status::invalid_argument, Error::no_offset,
                        "layout: expected row_major (01) for a tensor of rank 0, got %02X", spec_.layout);
        }
        return {};
    }

    // Sets the fields of the layout. The shape may have no elements: then what is returned says nothing.
    Result<Room> set_layout() {
        switch (spec_.layout) {
            case layout_tag::strided:
                if (spec_.strides.size() != shape_.size()) {
                    return fail(Status::invalid_argument, Error::no_offset,
                                "strides: expected %zu values, one a dimension, got %zu", shape_.size(),
                                spec_.strides.size());
                }
                builder_.set_strides(spec_.strides);
                return empty_ ? Room{} : room_of(strided_reach(shape_, spec_.strides), "strides");
            case layout_tag::tiled: {
                const auto words = tiled_words(shape_.size(), spec_.tiled, 0);
                if (!words) {
                    Error error = words.error();
                    error.offset = Error::no_offset;
                    return std::unexpected(error);
                }
                builder_.set_tiled(spec_.tiled);
                return empty_ ? Room{} : room_of(tiled_reach(shape_, spec_.tiled), "tiled");
            }
            case layout_tag::morton: {
                const auto bits = choose_morton_bits(shape_, spec_.morton_bits);
                if (!bits) return std::unexpected(bits.error());
                builder_.set_morton_bits(*bits);
                const std::vector<std::uint64_t> wide(bits->begin(), bits->end());
                const auto room = empty_ ? 0 : morton_room(shape_, wide);
                if (!room) return too_large("morton_bits");
                return Room{0, *room};
            }
            case layout_tag::hilbert: {
                const std::uint64_t side = shape_[0];
                if (shape_.size() < 2 || side < 2 || !std::has_single_bit(side) ||
                    std::ranges::count(shape_, side) != static_cast<std::ptrdiff_t>(shape_.size())) {
                    return fail(Status::invalid_argument, Error::no_offset,
                                "hilbert: expected at least two dimensions, all of the same size 2^order, order at "
                                "least 1; got rank %zu, shape[0] = %llu",
                                shape_.size(), static_cast<ull>(side));
                }
                const auto order = static_cast<std::uint32_t>(std::countr_zero(side));
                if (spec_.hilbert_order != 0 && spec_.hilbert_order != order) {
                    return fail(Status::invalid_argument, Error::no_offset,
                                "hilbert_order: expected %u, since shape[0] = %llu is 2^%u, got %u", order,
                                static_cast<ull>(side), order, spec_.hilbert_order);
                }
                builder_.set_hilbert(order);
                return contiguous_room();
            }
            default:
                return contiguous_room();
        }
    }

    [[nodiscard]] Result<Room> contiguous_room() const {
        const auto padded = padded_axis_of(source_, shape_, spec_.layout);
        std::optional<std::uint64_t> count = 1;
        for (std::size_t k = 0; k < shape_.size(); ++k) {
            count = checked_mul(*count, padded && padded->axis == k ? padded->stored_size : shape_[k]);
            if (!count) return empty_ ? Result<Room>(Room{}) : too_large("shape");
        }
        return Room{0, *count};
    }

    // That no two elements share a place, as far as strides say it. Those of other layouts cannot.
    [[nodiscard]] Result<void> check_places(const AddressMap& map) const {
        if (empty_ || (spec_.layout != layout_tag::strided && spec_.layout != layout_tag::tiled)) return {};
        struct Steps {
            std::uint64_t stride;
            std::uint64_t count;
            std::uint32_t dimension;
        };
        std::vector<Steps> all;
        std::array<std::uint64_t, max_rank> extent;
        std::ranges::copy(shape_, extent.begin());
        for (const AddressMap::Loop& loop : map.loops()) {
            std::uint64_t& left = extent[loop.dimension];
            const auto stride = static_cast<std::uint64_t>(loop.stride);
            all.push_back({loop.stride < 0 ? 0 - stride : stride,
                           left / loop.unit + (left % loop.unit != 0 ? 1 : 0), loop.dimension});
            left = std::min(left, loop.unit);
        }
        std::ranges::sort(all, {}, &Steps::stride);
        std::uint64_t reach = 0;
        for (const Steps& steps : all) {
            if (steps.count < 2) continue;
            if (steps.stride <= reach) {
                return fail(Status::invalid_argument, Error::no_offset,
                            "strides: expected steps of more than %llu elements in dimension %u, which smaller steps "
                            "reach over, got %llu: elements could share a place",
                            static_cast<ull>(reach), steps.dimension, static_cast<ull>(steps.stride));
            }
            reach += steps.stride * (steps.count - 1);
        }
        return {};
    }

    const Descriptor& source_;
    Shape shape_;
    const TranscodeSpec& spec_;
    const CarriedParts& parts_;
    ElementTypeInfo type_;
    bool empty_;
    DescriptorBuilder builder_;
};

}  // namespace

Result<void> check_known_scheme(const Descriptor& source) {
    const auto fields = quantization_fields(source);
    if (!fields || find_scheme(fields->scheme) != nullptr) return {};
    return fail(Status::unsupported, Error::no_offset,
                "quantization: expected a scheme of the format, whose buffers are known, got %02X", fields->scheme);
}

Result<DenseTarget> make_dense_target(const Descriptor& source, Shape shape, const TranscodeSpec& spec,
                                      const CarriedParts& parts) {
    return TargetMaker(source, shape, spec, parts).make();
}

Result<void> carry_sections(const Descriptor& source, const CarriedParts& parts, DescriptorBuilder& builder) {
    for (const Buffer& buffer : parts.parameters) {
        if (auto added = builder.add_buffer(buffer.handle); !added) return added;
    }
    if (auto fields = quantization_fields(source)) {
        if (fields->scale_buffer != no_buffer) fields->scale_buffer -= parts.moved;
        if (fields->zero_point_buffer != no_buffer) fields->zero_point_buffer -= parts.moved;
        builder.set_quantization(*fields);
    }
    if (const auto fields = extension_type_fields(source)) builder.set_extension_type(*fields);
    if (!parts.whole) return {};
    if (const auto fields = composite_member_fields(source)) builder.set_composite_member(fields->role);
    if (source.has_shard()) builder.set_shard(source.parent_shape(), source.shard_offset());
    if (const auto fields = statistics_fields(source)) builder.set_statistics(*fields);
    return {};
}

Result<std::vector<Buffer>> carry_parameters(const Tensor& tensor, Work& work) {
    std::vector<Buffer> parameters;
    const auto own = layout_buffer_count(tensor.descriptor.layout(), tensor.descriptor.rank());
    for (std::size_t i = own.value_or(0); i < tensor.buffers.size(); ++i) {
        const Buffer& buffer = tensor.buffers[i];
        const BufferHandle& handle = buffer.handle;
        if (handle.device_tag == device_tag::cpu && handle.memory_class == memory_class::standard) {
            parameters.push_back(buffer);
            continue;
        }
        auto copy = work.allocate(handle.byte_size, minimum_alignment);
        if (!copy) return std::unexpected(copy.error());
        const std::size_t size = copy->bytes().size() - buffer.prefix;
        if (size != 0) std::memcpy(copy->data + buffer.prefix, buffer.data + buffer.prefix, size);
        parameters.push_back(std::move(*copy));
    }
    return parameters;
}

}  // namespace hurray
