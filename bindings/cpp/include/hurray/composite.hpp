// Composites: a head with all of its members.
#ifndef HURRAY_COMPOSITE_HPP_
#define HURRAY_COMPOSITE_HPP_

#include <complex>
#include <cstdint>
#include <utility>

#include "hurray/tensor.hpp"

namespace hurray {

class Composite;

/// Either a tensor or a composite.
struct Item;

/// A head with all of its members; they are shared with it.
class Composite : public UniqueHandle<HurrayComposite, hurray_composite_destroy, hurray_composite_destroy_deferred> {
  public:
    using UniqueHandle::UniqueHandle;

    /// Rule, shape and number of members.
    Result<HurrayCompositeInfo> info() const noexcept {
        return detail::fill<HurrayCompositeInfo>(hurray_composite_info, raw());
    }
    /// The head's descriptor; borrowed: valid as long as the composite.
    Result<DescriptorRef> head() const noexcept {
        const auto head = detail::get<const HurrayDescriptor*>(hurray_composite_head, raw());
        if (!head) return head.error();
        return DescriptorRef(*head);
    }
    /// A member, which is shared: a tensor or a composite.
    Result<Item> member(std::uint32_t index) const noexcept;
    /// The member of a partition that an element lies in.
    Result<std::uint32_t> member_at(Span<const std::uint64_t> index) const noexcept {
        return detail::get<std::uint32_t>(hurray_composite_member_at, raw(), index.data(),
                                          static_cast<std::uint32_t>(index.size()));
    }
    /// An element of a partition or an overlay as a number.
    Result<double> element(Span<const std::uint64_t> index) const noexcept {
        return detail::get<double>(hurray_composite_element_float64, raw(), index.data(),
                                   static_cast<std::uint32_t>(index.size()));
    }
    /// As element(), as a complex number.
    Result<std::complex<double>> element_complex(Span<const std::uint64_t> index) const noexcept {
        double real = 0;
        double imaginary = 0;
        const auto done = detail::call(hurray_composite_element_complex128, raw(), index.data(),
                                       static_cast<std::uint32_t>(index.size()), &real, &imaginary);
        if (!done) return done.error();
        return std::complex<double>(real, imaginary);
    }
    /// The bits of an element, as one of the head's type.
    Result<HurrayElementBits> element_bits(Span<const std::uint64_t> index) const noexcept {
        return detail::fill<HurrayElementBits>(hurray_composite_element_bits, raw(), index.data(),
                                               static_cast<std::uint32_t>(index.size()));
    }
    /// All elements of a partition or an overlay as one row-major tensor.
    Result<Tensor> merged(const WorkOptions& options = {}) const noexcept {
        detail::Work work(options);
        return work.outcome(detail::make<Tensor>(hurray_composite_merged, raw(), work.get()));
    }

  private:
    const HurrayComposite* raw() const noexcept { return get(); }
};

struct Item {
    /// Empty where it is a composite.
    Tensor tensor;
    /// Empty where it is a tensor.
    Composite composite;
    /// Both are empty: the end of a stream.
    bool end() const noexcept { return !tensor && !composite; }
};

inline Result<Item> Composite::member(std::uint32_t index) const noexcept {
    HurrayTensor* tensor = nullptr;
    HurrayComposite* composite = nullptr;
    if (auto done = detail::call(hurray_composite_member, raw(), index, &tensor, &composite); !done)
        return done.error();
    return Item{Tensor(tensor), Composite(composite)};
}

/// Collects the members of a composite; whether they fit is checked by build().
class CompositeBuilder : public UniqueHandle<HurrayCompositeBuilder, hurray_composite_builder_destroy,
                                              hurray_composite_builder_destroy_deferred> {
  public:
    using UniqueHandle::UniqueHandle;

    /// `head`: a descriptor of the composite layout, which says how many members there are.
    static Result<CompositeBuilder> create(DescriptorRef head) noexcept {
        return detail::make<CompositeBuilder>(hurray_composite_builder_new, head.get());
    }
    /// The member is shared and stays the caller's.
    Result<void> add(const Tensor& tensor) noexcept {
        return detail::call(hurray_composite_builder_add_tensor, get(), static_cast<const HurrayTensor*>(tensor.get()));
    }
    /// The member is shared and stays the caller's.
    Result<void> add(const Composite& member) noexcept {
        return detail::call(hurray_composite_builder_add_composite, get(),
                            static_cast<const HurrayComposite*>(member.get()));
    }
    /// Checks that the members fit the head and one another. The builder stays as it is.
    Result<Composite> build() const noexcept {
        return detail::make<Composite>(hurray_composite_builder_build,
                                       static_cast<const HurrayCompositeBuilder*>(get()));
    }
};

}  // namespace hurray

#endif  // HURRAY_COMPOSITE_HPP_
