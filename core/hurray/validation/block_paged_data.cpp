// The tables of block-paged tensors, and the parameters of their slots. (format: block-paged, storage invariants)
#include <cmath>

#include "core/hurray/base/endian.hpp"
#include "core/hurray/layout/paged_view.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/types/element_type.hpp"
#include "core/hurray/validation/data_check.hpp"
#include "core/hurray/validation/used_slots.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray::validation_detail {
namespace {

using ull = unsigned long long;

// Parameters of slots: arrays with an entry for each.
class SlotParameters {
  public:
    SlotParameters(const Tensor& tensor, const QuantizationFields& fields, const ParameterSizes& sizes,
                   const NumberFormat& scale)
        : fields_(fields),
          scale_(scale),
          scale_width_(sizes.scale_width),
          scales_(tensor.buffers[fields.scale_buffer].bytes()),
          type_(*find_element_type(tensor.descriptor.element_type())) {
        if (fields.symmetric()) return;
        zeros_start_ = fields.zero_point_buffer == fields.scale_buffer ? sizes.scale_bytes.value_or(0) : 0;
        zeros_ = tensor.buffers[fields.zero_point_buffer].bytes();
        if (type_.kind == ElementKind::signed_integer) {
            lowest_ = -(std::int64_t{1} << (type_.bits - 1));
            highest_ = (std::int64_t{1} << (type_.bits - 1)) - 1;
        } else {
            highest_ = (std::int64_t{1} << type_.bits) - 1;
        }
    }

    [[nodiscard]] Result<void> check(std::uint64_t slot) const {
        const auto scale = load_float32(scale_, scales_, slot);
        if (!scale) return std::unexpected(scale.error());
        if (!std::isfinite(*scale) || *scale == 0) {
            return fail(Status::invalid_quantization, slot * scale_width_,
                        "buffer %u: scale %llu: expected a finite number other than 0, got %g", fields_.scale_buffer,
                        static_cast<ull>(slot), static_cast<double>(*scale));
        }
        if (fields_.symmetric()) return {};
        const std::uint64_t at = zeros_start_ + slot * 4;
        const auto zero = static_cast<std::int32_t>(load_le<std::uint32_t>(&zeros_[static_cast<std::size_t>(at)]));
        if (zero >= lowest_ && zero <= highest_) return {};
        return fail(Status::invalid_quantization, at, "buffer %u: zero point %llu: expected %lld to %lld for %s, got %d",
                    fields_.zero_point_buffer, static_cast<ull>(slot), static_cast<long long>(lowest_),
                    static_cast<long long>(highest_), type_.name, zero);
    }

  private:
    const QuantizationFields& fields_;
    const NumberFormat& scale_;
    std::uint32_t scale_width_;
    std::span<const std::byte> scales_;
    const ElementTypeInfo& type_;
    std::span<const std::byte> zeros_;
    std::uint64_t zeros_start_ = 0;
    std::int64_t lowest_ = 0;
    std::int64_t highest_ = 0;
};

}  // namespace

Result<void> check_block_paged_data(const Tensor& tensor, const WorkOptions& options) {
    const auto view = PagedView::make(tensor);
    if (!view) return std::unexpected(view.error());
    const std::uint64_t sequences = view->fields().num_seqs;
    Work work(options, sequences + view->logical_page_count());
    if (sequences == 0 && view->logical_page_count() != 0) {
        return fail(Status::invalid_layout, 0, "buffer %u (seq_ptr): entry 0: expected 0, got %llu",
                    block_paged_buffer::seq_ptr, static_cast<ull>(view->logical_page_count()));
    }
    for (std::uint64_t s = 0; s < sequences; ++s) {
        if (const auto pages = view->pages(s); !pages) return std::unexpected(pages.error());
        if (!work.advance(1)) return work.cancelled();
    }
    for (std::uint64_t entry = 0; entry < view->logical_page_count(); ++entry) {
        if (const auto page = view->page(entry); !page) return std::unexpected(page.error());
        if (!work.advance(1)) return work.cancelled();
    }
    return work.finish();
}

Result<void> check_slot_parameters(const Tensor& tensor, const WorkOptions& options) {
    const auto fields = quantization_fields(tensor.descriptor);
    if (!fields || tensor.descriptor.layout() != layout_tag::block_paged) return {};
    const QuantizationScheme* scheme = find_scheme(fields->scheme);
    if (scheme == nullptr || !scheme->has_blocks()) return {};
    const auto sizes = parameter_sizes(tensor.descriptor, *fields);
    if (!sizes || sizes->entries == 0) return {};
    const auto scale = number_format(fields->scale_type);
    if (!scale) return std::unexpected(scale.error());
    const auto view = PagedView::make(tensor);
    if (!view) return std::unexpected(view.error());
    const SlotParameters parameters(tensor, *fields, *sizes, *scale);
    Work work(options, sizes->entries + view->logical_page_count());
    auto checked = for_each_used_run(*view, work, [&](std::uint64_t first, std::uint64_t count) -> Result<void> {
        for (std::uint64_t slot = first; slot < first + count; ++slot) {
            if (auto right = parameters.check(slot); !right) return right;
            if (!work.advance(1)) return work.cancelled();
        }
        return {};
    });
    if (!checked) return checked;
    return work.finish();
}

}  // namespace hurray::validation_detail
