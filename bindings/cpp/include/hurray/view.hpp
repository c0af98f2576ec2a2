// All that is needed to read a dense tensor, filled by one call.
#ifndef HURRAY_VIEW_HPP_
#define HURRAY_VIEW_HPP_

#include <cstdint>

#include "hurray/error.hpp"
#include "hurray/names.hpp"
#include "hurray/span.hpp"

namespace hurray {

/// A view of a dense tensor's elements. Everything in it lives until the tensor ends.
class View {
  public:
    explicit View(const HurrayView& raw) noexcept : raw_(raw) {}

    /// As the C API fills it.
    const HurrayView& raw() const noexcept { return raw_; }
    /// HURRAY_TYPE_ value.
    std::uint8_t element_type() const noexcept { return raw_.element_type; }
    /// Bits of an element.
    std::uint32_t bits() const noexcept { return raw_.bits; }
    /// Whether the elements follow one another.
    bool contiguous() const noexcept { return (raw_.flags & HURRAY_VIEW_CONTIGUOUS) != 0; }
    /// Whether writing to them is forbidden.
    bool read_only() const noexcept { return (raw_.flags & HURRAY_VIEW_READ_ONLY) != 0; }
    /// How many elements there are.
    std::uint64_t element_count() const noexcept { return raw_.element_count; }
    /// One value a dimension.
    Span<const std::int64_t> shape() const noexcept { return {raw_.shape, raw_.rank}; }
    /// In elements; empty when the view is contiguous.
    Span<const std::int64_t> strides() const noexcept {
        return raw_.strides == nullptr ? Span<const std::int64_t>() : Span<const std::int64_t>(raw_.strides, raw_.rank);
    }
    /// The bytes from the lowest to the end of the highest element.
    Span<const std::uint8_t> bytes() const noexcept {
        if (raw_.data == nullptr) return {};
        return {static_cast<const std::uint8_t*>(raw_.data) - raw_.bytes_below,
                static_cast<std::size_t>(raw_.byte_size)};
    }
    /// The elements of a contiguous host tensor whose type is T's. Of a quantized tensor they are the stored codes.
    /// Refused when they are not contiguous, or not aligned to T (HURRAY_ERR_MISALIGNED; Tensor::copy makes an aligned
    /// one).
    template <typename T>
    Result<Span<const T>> as() const noexcept {
        static_assert(type_tag_of<T> != 0, "no element type is held by this C++ type");
        if (raw_.element_type != type_tag_of<T>)
            return Error(HURRAY_ERR_INVALID_TYPE, "the elements are of another type");
        if (raw_.device != HURRAY_DEVICE_CPU)
            return Error(HURRAY_ERR_UNSUPPORTED, "the elements are not in host memory");
        if (!contiguous())
            return Error(HURRAY_ERR_UNSUPPORTED, "the elements do not follow one another: use strides, or a copy");
        if (raw_.element_count == 0) return Span<const T>();
        if (reinterpret_cast<std::uintptr_t>(raw_.data) % alignof(T) != 0) {
            return Error(HURRAY_ERR_MISALIGNED, "the elements are not aligned to their type: copy the tensor");
        }
        return Span<const T>(static_cast<const T*>(raw_.data), static_cast<std::size_t>(raw_.element_count));
    }

  private:
    HurrayView raw_;
};

}  // namespace hurray

#endif  // HURRAY_VIEW_HPP_
