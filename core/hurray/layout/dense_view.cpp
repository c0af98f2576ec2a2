#include "core/hurray/layout/dense_view.hpp"

#include <limits>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/layout/layout.hpp"
#include "core/hurray/layout/strided.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/types/element_type.hpp"

namespace hurray {
namespace {

using ull = unsigned long long;

constexpr std::uint64_t largest_signed = std::numeric_limits<std::int64_t>::max();

bool is_affine(const Descriptor& descriptor) noexcept {
    return descriptor.layout() == layout_tag::row_major || descriptor.layout() == layout_tag::col_major ||
           descriptor.layout() == layout_tag::strided;
}

Result<std::uint64_t> affine_element_count(const Descriptor& descriptor) {
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its data cannot be viewed");
    }
    if (!is_affine(descriptor)) {
        const Layout* layout = find_layout(descriptor.layout());
        return fail(Status::unsupported, Error::no_offset,
                    "layout: %s has no dense view, expected row_major, col_major or strided",
                    layout == nullptr ? "unknown" : layout->name);
    }
    return descriptor.element_count();
}

// Elements of the storage from the first element to the last one, what lies in between but not in the shape included.
std::uint64_t stored_span(const Descriptor& descriptor, std::uint64_t count) noexcept {
    const auto padded = padded_axis(descriptor);
    if (!padded) return count;
    const auto shape = descriptor.shape();
    std::uint64_t stride = 1;
    std::uint64_t last = 0;
    for (std::size_t step = 0; step < shape.size(); ++step) {
        const std::size_t k = descriptor.layout() == layout_tag::row_major ? shape.size() - 1 - step : step;
        last += (shape[k] - 1) * stride;
        stride *= k == padded->axis ? padded->stored_size : shape[k];
    }
    return last + 1;
}

struct Extent {
    std::uint64_t below;
    std::uint64_t size;
};

// What elements there are lie within buffer 0: decode checked that, so that nothing here overflows.
Extent extent_of(const Descriptor& descriptor, std::uint64_t count) noexcept {
    if (count == 0) return {0, 0};
    const ElementTypeInfo type = element_type_info(descriptor);
    if (descriptor.layout() != layout_tag::strided) return {0, *packed_size(type, stored_span(descriptor, count))};
    const StridedReach reach = strided_reach(descriptor.shape(), descriptor.strides());
    const std::uint64_t below = *packed_size(type, reach.below);
    return {below, below + *packed_size(type, reach.above + 1)};
}

// Whether stepping through the elements in row-major order is stepping through memory: dimensions of size 1 do not
// count.
bool is_contiguous(const Descriptor& descriptor, std::uint64_t count) noexcept {
    const auto shape = descriptor.shape();
    if (count == 0) return true;
    if (descriptor.layout() == layout_tag::row_major) return stored_span(descriptor, count) == count;
    if (descriptor.layout() == layout_tag::col_major) {
        std::size_t long_dimensions = 0;
        for (const std::uint64_t size : shape) long_dimensions += size != 1 ? 1 : 0;
        return long_dimensions <= 1;
    }
    const auto strides = descriptor.strides();
    std::uint64_t expected = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
        if (shape[k] == 1) continue;
        if (strides[k] < 0 || static_cast<std::uint64_t>(strides[k]) != expected) return false;
        expected *= shape[k];
    }
    return true;
}

// Strides of a tensor without gaps, for the dimensions in the order in which they are stepped through.
class ImpliedStrides {
  public:
    explicit ImpliedStrides(std::uint64_t count) : empty_(count == 0) {}

    Result<std::int64_t> next(std::uint64_t size, std::size_t k) {
        const bool fits = fits_ && stride_ <= largest_signed;
        if (!fits && !empty_) {
            return fail(Status::limit_exceeded, Error::no_offset, "strides[%zu]: expected at most 2^63-1, got %llu", k,
                        static_cast<ull>(stride_));
        }
        const std::uint64_t stride = fits ? stride_ : 0;
        // Dimensions of size 0 count as 1, so that strides say something about the others.
        const auto product = checked_mul(stride_, size == 0 ? 1 : size);
        fits_ = fits_ && product.has_value();
        stride_ = product.value_or(0);
        return static_cast<std::int64_t>(stride);
    }

  private:
    std::uint64_t stride_ = 1;
    bool fits_ = true;
    bool empty_;
};

}  // namespace

bool has_dense_view(const Descriptor& descriptor) noexcept {
    return is_affine(descriptor) && !descriptor.is_dynamic() && !descriptor.is_opaque();
}

Result<DenseView> dense_view(const Descriptor& descriptor) {
    const auto count = affine_element_count(descriptor);
    if (!count) return std::unexpected(count.error());
    const auto shape = descriptor.shape();
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (shape[k] > largest_signed) {
            return fail(Status::limit_exceeded, fixed_header_size + 8 * k,
                        "shape[%zu]: expected at most 2^63-1, got %llu", k, static_cast<ull>(shape[k]));
        }
    }
    const Extent extent = extent_of(descriptor, *count);
    return DenseView{.byte_offset = descriptor.byte_offset(),
                     .byte_size = extent.size,
                     .bytes_below = extent.below,
                     .element_count = *count,
                     .contiguous = is_contiguous(descriptor, *count)};
}

Result<void> dense_strides(const Descriptor& descriptor, std::span<std::int64_t> out) {
    const auto count = affine_element_count(descriptor);
    if (!count) return std::unexpected(count.error());
    const auto shape = descriptor.shape();
    if (out.size() != shape.size()) {
        return fail(Status::invalid_argument, Error::no_offset, "out: expected room for %zu strides, got %zu",
                    shape.size(), out.size());
    }
    if (descriptor.layout() == layout_tag::strided) {
        for (std::size_t k = 0; k < shape.size(); ++k) out[k] = descriptor.strides()[k];
        return {};
    }
    const auto padded = padded_axis(descriptor);
    ImpliedStrides strides(*count);
    for (std::size_t step = 0; step < shape.size(); ++step) {
        const std::size_t k = descriptor.layout() == layout_tag::row_major ? shape.size() - 1 - step : step;
        const auto stride = strides.next(padded && padded->axis == k ? padded->stored_size : shape[k], k);
        if (!stride) return std::unexpected(stride.error());
        out[k] = *stride;
    }
    return {};
}

Result<std::uint64_t> dense_extent_bytes(const Descriptor& descriptor) {
    const auto count = affine_element_count(descriptor);
    if (!count) return std::unexpected(count.error());
    return extent_of(descriptor, *count).size;
}

}  // namespace hurray
