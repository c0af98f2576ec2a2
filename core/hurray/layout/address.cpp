#include "core/hurray/layout/address.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/hilbert.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/layout/morton.hpp"
#include "core/hurray/layout/strided.hpp"
#include "core/hurray/layout/tiled.hpp"
#include "core/hurray/quantization/parameters.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;
using Shape = std::span<const std::uint64_t>;
using Strides = std::array<std::int64_t, max_rank>;

constexpr std::uint64_t largest_signed = std::numeric_limits<std::int64_t>::max();

std::uint64_t magnitude(std::int64_t stride) noexcept {
    return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

// The strides of one grid in elements, where a step of the grid is `unit` elements. Dimensions of one step have stride 0:
// what they say may be anything. All that is multiplied here is within the tensor's reach, which was checked.
Strides grid_strides(std::uint8_t layout, Shape grid, std::span<const std::int64_t> given, std::uint64_t unit) noexcept {
    Strides strides{};
    std::uint64_t step = unit;
    for (std::size_t i = 0; i < grid.size(); ++i) {
        const std::size_t k = layout == layout_tag::row_major ? grid.size() - 1 - i : i;
        if (grid[k] <= 1) continue;
        if (layout == layout_tag::strided) {
            strides[k] = given[k] * static_cast<std::int64_t>(unit);
        } else {
            strides[k] = static_cast<std::int64_t>(step);
            step *= grid[k];
        }
    }
    return strides;
}

// The dimensions of one grid from the slowest to the fastest.
std::array<std::uint32_t, max_rank> loop_order(std::uint8_t layout, std::size_t rank, const Strides& strides) noexcept {
    std::array<std::uint32_t, max_rank> order{};
    for (std::uint32_t i = 0; i < rank; ++i) {
        order[i] = layout == layout_tag::col_major ? static_cast<std::uint32_t>(rank) - 1 - i : i;
    }
    if (layout == layout_tag::strided) {
        std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rank), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(magnitude(strides[b]), a) < std::pair(magnitude(strides[a]), b);
        });
    }
    return order;
}

}  // namespace

// What make does, for one descriptor.
class AddressMapMaker {
  public:
    AddressMapMaker(const Descriptor& descriptor, const ElementTypeInfo& type, Shape storage, std::uint64_t count) noexcept
        : descriptor_(descriptor),
          type_(type),
          storage_(storage),
          count_(count),
          bits_(std::uint64_t{type.group_bytes} * 8 >> type.group_shift) {}

    Result<AddressMap> make() {
        if (auto checked = check_reach(); !checked) return std::unexpected(checked.error());
        AddressMap map(address(), std::move(loops_));
        map.shape_.assign(descriptor_.shape().begin(), descriptor_.shape().end());
        map.element_count_ = count_;
        map.byte_offset_ = descriptor_.byte_offset();
        map.element_bits_ = bits_;
        map.layout_ = descriptor_.layout();
        if (count_ != 0) {
            map.lowest_ = -static_cast<std::int64_t>(reach_.below);
            map.highest_ = static_cast<std::int64_t>(reach_.above);
        }
        return map;
    }

  private:
    [[nodiscard]] StridedReach reach() const noexcept {
        switch (descriptor_.layout()) {
            case layout_tag::strided:
                return strided_reach(storage_, descriptor_.strides());
            case layout_tag::tiled:
                return tiled_reach(storage_, tiled_levels(descriptor_).levels());
            case layout_tag::morton: {
                const auto room = morton_room(storage_, morton_bits(descriptor_));
                return {.above = room.value_or(0) - 1, .above_fits = room.has_value()};
            }
            default: {
                std::optional<std::uint64_t> count = 1;
                for (const std::uint64_t size : storage_) count = count ? checked_mul(*count, size) : count;
                return {.above = count.value_or(0) - 1, .above_fits = count.has_value()};
            }
        }
    }

    // Decode has shown that the elements lie in the buffer; here it is shown once more, for the type and the shape that
    // were given, and that no arithmetic on places can wrap.
    Result<void> check_reach() {
        if (count_ == 0) return {};
        reach_ = reach();
        const std::uint64_t byte_offset = descriptor_.byte_offset();
        const std::uint64_t size = descriptor_.buffers().empty() ? 0 : descriptor_.buffers()[0].byte_size;
        const auto below = packed_size(type_, reach_.below);
        const auto count = checked_add(reach_.above, 1);
        const auto room = count ? packed_size(type_, *count) : std::nullopt;
        // A number of its own: GCC 12 loses sight of what the check above it shows about the optional.
        const std::uint64_t above = room.value_or(0);
        if (!reach_.below_fits || !reach_.above_fits || !below || !room || *below > byte_offset ||
            byte_offset > size || above > size - byte_offset) {
            return fail(Status::invalid_layout, Error::no_offset,
                        "byte_size: expected room for elements -%llu to %llu of %s from byte_offset %llu, got %llu",
                        static_cast<ull>(reach_.below), static_cast<ull>(reach_.above), type_.name,
                        static_cast<ull>(byte_offset), static_cast<ull>(size));
        }
        // The end of the elements in bits, and each distance in elements.
        const std::uint64_t most_bytes = largest_signed / 8;
        if (byte_offset + above > most_bytes || reach_.above > largest_signed || reach_.below > largest_signed) {
            return fail(Status::limit_exceeded, Error::no_offset,
                        "byte_size: expected elements within 2^60 bytes, got the end of the last one at %llu",
                        static_cast<ull>(byte_offset + above));
        }
        return {};
    }

    AddressMap::Address address() {
        switch (descriptor_.layout()) {
            case layout_tag::tiled:
                return tiled();
            case layout_tag::morton:
                return morton();
            case layout_tag::hilbert:
                return HilbertAddress(descriptor_.rank(), hilbert_fields(descriptor_).order);
            default:
                return affine();
        }
    }

    // Loops of a single step are left out.
    void add_loops(std::uint8_t layout, Shape grid, const Strides& strides, Shape units) {
        const auto order = loop_order(layout, grid.size(), strides);
        for (std::size_t i = 0; i < grid.size(); ++i) {
            const std::uint32_t k = order[i];
            if (grid[k] > 1) loops_.push_back({.unit = units[k], .stride = strides[k], .dimension = k});
        }
    }

    AddressMap::Address affine() {
        const std::uint8_t layout = descriptor_.layout();
        const std::size_t rank = storage_.size();
        const Strides strides = count_ == 0 ? Strides{} : grid_strides(layout, storage_, descriptor_.strides(), 1);
        std::array<std::uint64_t, max_rank> ones;
        ones.fill(1);
        add_loops(layout, storage_, strides, std::span(ones).first(rank));
        return AffineAddress(std::span(strides).first(rank));
    }

    AddressMap::Address tiled() {
        const TiledLevels levels = tiled_levels(descriptor_);
        const std::size_t rank = storage_.size();
        const std::size_t depth = levels.size() + 1;
        std::vector<TiledAddress::Step> steps(rank * depth);
        const auto add_level = [&](std::size_t level, std::uint8_t layout, Shape grid,
                                   std::span<const std::int64_t> given, Shape units, std::uint64_t unit) {
            const Strides strides = count_ == 0 ? Strides{} : grid_strides(layout, grid, given, unit);
            for (std::size_t k = 0; k < rank; ++k) {
                const bool power = std::has_single_bit(units[k]);
                steps[k * depth + level] = {
                    .unit = units[k],
                    .stride = strides[k],
                    .shift = power ? static_cast<std::uint8_t>(std::countr_zero(units[k])) : TiledAddress::not_a_power};
            }
            add_loops(layout, grid, strides, units);
        };
        std::array<std::uint64_t, max_rank> grid{};
        for (std::size_t i = 0; i < levels.size(); ++i) {
            const Shape whole = i == 0 ? storage_ : levels[i - 1].tile_shape;
            const Shape tile = levels[i].tile_shape;
            std::uint64_t elements = 1;
            for (std::size_t k = 0; k < rank; ++k) {
                grid[k] = whole[k] / tile[k] + (whole[k] % tile[k] != 0 ? 1 : 0);
                elements *= tile[k];
            }
            add_level(i, levels[i].outer_layout, std::span(grid).first(rank), levels[i].outer_strides, tile, elements);
        }
        const TiledLevel& last = levels[levels.size() - 1];
        std::array<std::uint64_t, max_rank> ones;
        ones.fill(1);
        add_level(depth - 1, last.inner_layout, last.tile_shape, last.inner_strides, std::span(ones).first(rank), 1);
        return TiledAddress(rank, std::move(steps));
    }

    // Each bit of an index that is not 0 throughout is a loop of two steps.
    AddressMap::Address morton() {
        const auto bits = morton_bits(descriptor_);
        const auto rank = static_cast<std::uint32_t>(storage_.size());
        for (std::uint32_t place = 64; count_ != 0 && place-- > 0;) {
            const std::uint32_t b = place / rank;
            const std::uint32_t d = place % rank;
            if (b >= bits[d] || storage_[d] <= std::uint64_t{1} << b) continue;
            loops_.push_back({.unit = std::uint64_t{1} << b,
                              .stride = static_cast<std::int64_t>(std::uint64_t{1} << place),
                              .dimension = d});
        }
        return MortonAddress(rank);
    }

    const Descriptor& descriptor_;
    const ElementTypeInfo& type_;
    Shape storage_;
    std::uint64_t count_;
    std::uint64_t bits_;
    StridedReach reach_;
    std::vector<AddressMap::Loop> loops_;
};

MortonAddress::MortonAddress(std::size_t rank) noexcept : rank_(rank), spread_{} {
    for (std::size_t byte = 0; byte < spread_.size(); ++byte) {
        for (std::size_t b = 0; b < 8 && b * rank < 64; ++b) {
            spread_[byte] |= static_cast<std::uint64_t>(byte >> b & 1) << (b * rank);
        }
    }
}

Result<AddressMap> AddressMap::make(const Descriptor& descriptor) {
    std::array<std::uint64_t, max_rank> stored{};
    std::ranges::copy(descriptor.shape(), stored.begin());
    if (const auto padded = padded_axis(descriptor)) stored[padded->axis] = padded->stored_size;
    return make(descriptor, element_type_info(descriptor), std::span(stored).first(descriptor.rank()));
}

Result<AddressMap> AddressMap::make(const Descriptor& descriptor, const ElementTypeInfo& type,
                                    std::span<const std::uint64_t> storage_shape) {
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its data has no known places");
    }
    const std::uint8_t layout = descriptor.layout();
    const bool implied = layout == layout_tag::row_major || layout == layout_tag::col_major;
    if (!implied && layout != layout_tag::strided && layout != layout_tag::tiled && layout != layout_tag::morton &&
        layout != layout_tag::hilbert) {
        const Layout* row = find_layout(layout);
        return fail(Status::unsupported, Error::no_offset, "layout: expected a dense one, got %s",
                    row == nullptr ? "unknown" : row->name);
    }
    const auto count = descriptor.element_count();
    if (!count) return std::unexpected(count.error());
    const auto shape = descriptor.shape();
    bool right = storage_shape.size() == shape.size();
    for (std::size_t k = 0; right && k < shape.size(); ++k) {
        right = implied ? storage_shape[k] >= shape[k] : storage_shape[k] == shape[k];
    }
    if (!right) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "storage_shape: expected %zu sizes, none below that of the tensor, and row_major or col_major for "
                    "larger ones",
                    shape.size());
    }
    return AddressMapMaker(descriptor, type, storage_shape, *count).make();
}

Result<std::int64_t> AddressMap::checked_offset(std::span<const std::uint64_t> index) const {
    if (index.size() != shape_.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "index: expected %zu values, one a dimension, got %zu",
                    shape_.size(), index.size());
    }
    for (std::size_t k = 0; k < index.size(); ++k) {
        if (index[k] >= shape_[k]) {
            return fail(Status::index_out_of_bounds, Error::no_offset, "index[%zu]: expected less than %llu, got %llu", k,
                        static_cast<ull>(shape_[k]), static_cast<ull>(index[k]));
        }
    }
    return offset(index.data());
}

std::int64_t AddressMap::offset_along(std::size_t k, std::uint64_t i) const noexcept {
    return visit([&](const auto& address) -> std::int64_t {
        if constexpr (requires { address.along(k, i); }) {
            return address.along(k, i);
        } else {
            return 0;
        }
    });
}

}  // namespace hurray
