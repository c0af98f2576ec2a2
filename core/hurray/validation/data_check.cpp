#include "core/hurray/validation/data_check.hpp"

#include <algorithm>

#include "core/hurray/host_memory.hpp"
#include "core/hurray/quantization/parameter_check.hpp"
#include "core/hurray/validation/sparse_data.hpp"

namespace hurray::validation_detail {
namespace {

using Check = Result<void> (*)(const Tensor& tensor, const WorkOptions& options);

// Which check the index arrays of a layout have.
struct LayoutCheck {
    std::uint8_t layout;
    Check check;
};
constexpr LayoutCheck layout_checks[] = {
    {layout_tag::coo, check_coo_data},
    {layout_tag::csr, check_compressed_data},
    {layout_tag::csc, check_compressed_data},
    {layout_tag::csf, check_csf_data},
    {layout_tag::block_paged, check_block_paged_data},
};

// Parameters that belong to channels or blocks of the shape; those of slots are check_slot_parameters' matter.
Result<void> check_parameters(const Tensor& tensor, const WorkOptions& options) {
    if (auto checked = check_quantization_parameters(tensor); !checked) return checked;
    return Work(options, 0).finish();
}

// What is checked of all layouts, once the index arrays are known to be right; the buffers in their order.
constexpr Check checks[] = {check_elements_data, check_unused_bits, check_block_padding, check_parameters,
                            check_slot_parameters};

// Reports the progress of several checks as that of one.
class Steps {
  public:
    // All steps count the same: most of them have nothing to do, and none of them tells before how much it has.
    Steps(const WorkOptions& options, std::uint64_t steps, std::uint64_t total) noexcept
        : options_(options), share_(total / steps), total_(total) {}

    Result<void> run(Check check, const Tensor& tensor) {
        WorkOptions inner{.memory_limit = options_.memory_limit};
        if (options_.progress != nullptr) {
            inner.progress = report;
            inner.context = this;
        }
        auto checked = check(tensor, inner);
        before_ += share_;
        return checked;
    }

  private:
    // The end of all is reported by who runs the steps.
    static bool report(void* context, std::uint64_t done, std::uint64_t total) {
        auto* self = static_cast<Steps*>(context);
        const double part = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
        const auto share = static_cast<std::uint64_t>(part * static_cast<double>(self->share_));
        self->done_ = std::max(self->done_, std::min(self->before_ + share, self->total_));
        if (self->done_ == self->total_) return true;
        return self->options_.progress(self->options_.context, self->done_, self->total_);
    }

    const WorkOptions& options_;
    std::uint64_t share_;
    std::uint64_t total_;
    std::uint64_t before_ = 0;
    std::uint64_t done_ = 0;
};

// The tensor with buffers that are as long as its descriptor says: what is behind that is nobody's matter.
Tensor cut_to_size(const Tensor& tensor) {
    Tensor cut = tensor;
    for (std::size_t i = 0; i < cut.buffers.size(); ++i) {
        cut.buffers[i].handle.byte_size = tensor.descriptor.buffers()[i].byte_size;
    }
    return cut;
}

}  // namespace

Result<void> check_data(const Tensor& tensor, const WorkOptions& options) {
    const Tensor cut = cut_to_size(tensor);
    if (auto checked = check_host_buffers(cut); !checked) return checked;
    std::uint64_t total = 0;
    for (const Buffer& buffer : cut.buffers) total += buffer.handle.byte_size;
    Steps steps(options, std::size(checks) + 1, total);
    for (const LayoutCheck& row : layout_checks) {
        if (row.layout != cut.descriptor.layout()) continue;
        if (auto checked = steps.run(row.check, cut); !checked) return checked;
    }
    for (const Check check : checks) {
        if (auto checked = steps.run(check, cut); !checked) return checked;
    }
    return Work(options, total).finish();
}

}  // namespace hurray::validation_detail
