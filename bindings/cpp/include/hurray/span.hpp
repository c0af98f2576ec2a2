// A view of elements that lie one after another, as std::span is; C++17 has none.
#ifndef HURRAY_SPAN_HPP_
#define HURRAY_SPAN_HPP_

#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <type_traits>
#include <utility>

namespace hurray {

/// Pointer and length; owns nothing. Every contiguous container converts to it.
template <typename T>
class Span {
  public:
    /// As std::span has it.
    using element_type = T;
    /// As std::span has it.
    using value_type = std::remove_cv_t<T>;
    /// As std::span has it.
    using size_type = std::size_t;
    /// As std::span has it.
    using iterator = T*;

    constexpr Span() noexcept = default;
    constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}  // NOLINT
    template <typename Container,
              typename =
                  std::enable_if_t<std::is_convertible_v<decltype(std::data(std::declval<Container&>())), T*> &&
                                   std::is_convertible_v<decltype(std::size(std::declval<Container&>())), std::size_t>>>
    constexpr Span(Container&& container) noexcept  // NOLINT: as std::span
        : data_(std::data(container)), size_(std::size(container)) {}

    /// The first element.
    constexpr T* data() const noexcept { return data_; }
    /// How many elements there are.
    constexpr std::size_t size() const noexcept { return size_; }
    /// Whether there are none.
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T* begin() const noexcept { return data_; }
    constexpr T* end() const noexcept { return data_ + size_; }
    constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }
    /// The first element; there must be one.
    constexpr T& front() const noexcept { return data_[0]; }
    /// The last element; there must be one.
    constexpr T& back() const noexcept { return data_[size_ - 1]; }
    /// Ends the program when the range is not within the span.
    constexpr Span subspan(std::size_t offset, std::size_t count) const noexcept {
        if (offset > size_ || count > size_ - offset) std::abort();
        return {data_ + offset, count};
    }
    /// The first `count` elements. Ends the program when there are fewer.
    constexpr Span first(std::size_t count) const noexcept { return subspan(0, count); }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace hurray

#endif  // HURRAY_SPAN_HPP_
