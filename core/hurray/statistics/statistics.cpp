#include "core/hurray/statistics/statistics.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/descriptor/extension_type_section.hpp"
#include "core/hurray/element.hpp"
#include "core/hurray/element_format.hpp"
#include "core/hurray/host_memory.hpp"
#include "core/hurray/layout/block_paged.hpp"
#include "core/hurray/layout/coo.hpp"
#include "core/hurray/layout/paged_view.hpp"
#include "core/hurray/layout/sparse_fields.hpp"
#include "core/hurray/layout/sparse_view.hpp"
#include "core/hurray/layout/storage_order.hpp"
#include "core/hurray/quantization/dequantize.hpp"
#include "core/hurray/statistics/group_counts.hpp"
#include "core/hurray/statistics/number_stream.hpp"
#include "core/hurray/statistics/summary.hpp"

namespace hurray {
namespace {

using namespace statistics_detail;
using ull = unsigned long long;

constexpr std::uint8_t float32_tag = 0x03;

Result<void> check_request(const Tensor& tensor, std::uint32_t mask) {
    const Descriptor& descriptor = tensor.descriptor;
    if ((mask & ~statistics_bit::all) != 0) {
        return fail(Status::invalid_argument, Error::no_offset, "mask: expected bits 6 to 31 to be 0, got %08X", mask);
    }
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "statistics: an opaque descriptor, expected a known type, layout and scheme");
    }
    if (descriptor.layout() == layout_tag::composite) {
        return fail(Status::unsupported, Error::no_offset,
                    "layout_tag: a composite head has no elements of its own, expected a tensor");
    }
    if (const auto count = descriptor.element_count(); !count) return std::unexpected(count.error());
    return check_host_buffers(tensor);
}

// Whether the format has numbers for what is asked.
Result<void> check_type(const NumberFormat& format, std::uint32_t mask) {
    if (auto checked = check_arithmetic(format); !checked) return checked;
    const std::uint32_t ordered = mask & (statistics_bit::range | statistics_bit::moments);
    if (format.kind != ElementKind::complex || ordered == 0) return {};
    return fail(Status::unsupported, Error::no_offset,
                "mask: %s has neither range nor moments, expected bits 2 and 3 to be 0, got %08X", format.name, mask);
}

// The size of the dimension in which groups lie; 0 when none are asked for.
std::uint64_t row_of_groups(const Descriptor& descriptor, std::uint32_t mask) noexcept {
    if ((mask & statistics_bit::nm_sparsity) == 0 || descriptor.rank() == 0) return 0;
    return descriptor.shape().back();
}

// Bytes of the elements that are read, for reports; saturates.
std::uint64_t work_of(const Descriptor& descriptor, const NumberFormat& format, std::uint32_t mask) {
    const bool sparse = is_sparse_layout(descriptor.layout());
    // All sparse layouts have nnz as their first word.
    const std::uint64_t count = sparse ? descriptor.layout_words()[0] : descriptor.element_count().value_or(0);
    const bool twice = sparse && row_of_groups(descriptor, mask) != 0;
    return checked_mul(count, (format.bits + 7) / 8 * (twice ? 2 : 1)).value_or(~std::uint64_t{0});
}

// What a pass over the elements finds.
struct Found {
    Summary summary;
    GroupCounts groups;
    /// All elements, those that are not stored among them.
    std::uint64_t elements = 0;
    /// What nnz is where the layout says it.
    std::optional<std::uint64_t> stored = std::nullopt;
};

// Elements that lie one after the other and are read where they are; fewer are gathered first.
constexpr std::uint64_t least_run = 64;

// One pass over a tensor's elements.
class Pass {
  public:
    /// @param values the quantized tensor's numbers in the order of dequantize_into; null for others
    /// @param mask of what is asked for
    Pass(const Tensor& tensor, const NumberFormat& format, const Tensor* values, std::uint32_t mask, double scale,
         Work& work)
        : tensor_(tensor),
          values_(values),
          reader_(format),
          width_((format.bits + 7) / 8),
          work_(work),
          found_{Summary(scale), GroupCounts(row_of_groups(tensor.descriptor, mask))} {}

    Result<Found> run() {
        const Descriptor& descriptor = tensor_.descriptor;
        // check_request has shown that it is known.
        found_.elements = descriptor.element_count().value_or(0);
        Result<void> done;
        if (found_.elements != 0 || is_sparse_layout(descriptor.layout())) {
            if (is_sparse_layout(descriptor.layout())) {
                done = run_sparse();
            } else if (descriptor.layout() == layout_tag::block_paged) {
                done = run_paged();
            } else {
                done = run_dense();
            }
        }
        if (!done) return std::unexpected(done.error());
        return found_;
    }

  private:
    // Takes numbers in row-major order, or in any other when no groups are counted.
    Result<void> take(std::span<const double> numbers) {
        found_.summary.add(numbers);
        found_.groups.add(numbers);
        if (!work_.advance(numbers.size() * width_)) return work_.cancelled();
        return {};
    }
    Result<void> take_packed(std::span<const std::byte> data, std::uint64_t first, std::uint64_t count) {
        return for_each_block(reader_, data, first, count,
                              [&](std::span<const double> numbers) { return take(numbers); });
    }

    Result<void> run_dense() {
        const Tensor& source = values_ != nullptr ? *values_ : tensor_;
        // Checks that no element lies in bytes of somebody else.
        if (const auto reader = ElementReader::make(source); !reader) return std::unexpected(reader.error());
        const auto map = AddressMap::make(source.descriptor);
        if (!map) return std::unexpected(map.error());
        const std::uint8_t layout = source.descriptor.layout();
        const bool counts = found_.groups.applies();
        const std::uint64_t format_bits = map->element_bits();
        if (layout == layout_tag::row_major || (layout == layout_tag::col_major && !counts)) {
            // Without gaps, unless blocks are padded, and those are read from `values_`.
            return take_packed(std::span<const std::byte>(source.buffers[0].bytes()).subspan(map->byte_offset()), 0,
                               map->element_count());
        }
        ElementGatherer gatherer(*map, source.buffers[0].data);
        Result<void> outcome;
        const auto use = [&](std::int64_t offset) {
            gatherer.append(offset);
            if (gatherer.count() == block_elements) outcome = take_gathered(gatherer);
            return outcome.has_value();
        };
        if (counts) {
            for_each_offset_in_row_major(*map, use);
        } else {
            StorageOrder order(*map);
            for (StorageRun run; outcome && order.next(run);) {
                if (run.stride == 1 && run.count >= least_run && format_bits % 8 == 0) {
                    const auto data = std::span<const std::byte>(source.buffers[0].bytes());
                    outcome = take_packed(data.subspan(map->byte_of(run.offset)), 0, run.count);
                    continue;
                }
                for (std::uint64_t i = 0; i < run.count; ++i) {
                    if (!use(run.offset + static_cast<std::int64_t>(i) * run.stride)) break;
                }
            }
        }
        if (!outcome) return outcome;
        return take_gathered(gatherer);
    }

    Result<void> take_gathered(ElementGatherer& gatherer) {
        auto taken = take_packed(gatherer.bytes(), 0, gatherer.count());
        gatherer.clear();
        return taken;
    }

    Result<void> run_sparse() {
        const auto view = SparseView::make(tensor_);
        if (!view) return std::unexpected(view.error());
        const std::uint64_t nnz = view->nnz();
        found_.stored = nnz;
        const auto data = values_ != nullptr ? std::span<const std::byte>(values_->buffers[0].bytes()) : view->values();
        auto taken = for_each_block(reader_, data, 0, nnz, [&](std::span<const double> numbers) -> Result<void> {
            found_.summary.add(numbers);
            if (!work_.advance(numbers.size() * width_)) return work_.cancelled();
            return {};
        });
        if (!taken) return taken;
        found_.summary.add_zeros(found_.elements - std::min(nnz, found_.elements));
        return found_.groups.applies() ? count_sparse_groups(*view, data) : Result<void>{};
    }

    Result<void> count_sparse_groups(const SparseView& view, std::span<const std::byte> data) {
        const std::uint8_t layout = tensor_.descriptor.layout();
        const bool in_order =
            layout == layout_tag::csr || (layout == layout_tag::coo && coo_fields(tensor_.descriptor).is_sorted);
        // The numbers in row-major order of those that are not 0.
        std::vector<std::uint64_t> numbers;
        if (!in_order) {
            const auto size = checked_mul(view.nnz(), 8);
            if (auto reserved = work_.reserve(size.value_or(~std::uint64_t{0})); !reserved) return reserved;
            numbers.reserve(view.nnz());
        }
        std::array<double, block_elements> block;
        std::uint64_t block_start = ~std::uint64_t{0};
        Result<void> outcome;
        const auto shape = view.shape();
        auto walked = view.for_each([&](std::span<const std::uint64_t> index, std::uint64_t position) {
            if (const std::uint64_t start = position / block_elements * block_elements; start != block_start) {
                block_start = start;
                const std::span some(block.data(), std::min(view.nnz() - start, block_elements));
                outcome = reader_.read(data, start, some);
                if (outcome && !work_.advance(some.size() * width_)) outcome = work_.cancelled();
                if (!outcome) return false;
            }
            if (block[position - block_start] == 0) return true;
            std::uint64_t number = 0;
            for (std::size_t k = 0; k < shape.size(); ++k) number = number * shape[k] + index[k];
            if (in_order) {
                found_.groups.add_nonzero(number);
            } else {
                numbers.push_back(number);
            }
            return true;
        });
        if (!outcome) return outcome;
        if (!walked) return walked;
        std::ranges::sort(numbers);
        for (const std::uint64_t number : numbers) found_.groups.add_nonzero(number);
        return {};
    }

    Result<void> run_paged() {
        const auto view = PagedView::make(tensor_);
        if (!view) return std::unexpected(view.error());
        const auto data = values_ != nullptr ? std::span<const std::byte>(values_->buffers[0].bytes()) : view->pool();
        const std::uint64_t elements = view->slot_elements();
        for (std::uint64_t sequence = 0; sequence < view->fields().num_seqs; ++sequence) {
            Result<void> outcome;
            auto walked = view->for_each_run(sequence, [&](std::uint64_t slot, std::uint64_t count) {
                outcome = take_packed(data, slot * elements, count * elements);
                return outcome.has_value();
            });
            if (!outcome) return outcome;
            if (!walked) return walked;
        }
        return {};
    }

    const Tensor& tensor_;
    const Tensor* values_;
    NumberReader reader_;
    std::uint64_t width_;
    Work& work_;
    Found found_;
};

StatisticsFields fields_of(const Found& found, std::uint32_t mask) {
    const Summary& summary = found.summary;
    StatisticsFields fields;
    const auto has = [&](std::uint32_t bit, bool known) {
        if ((mask & bit) == 0 || !known) return false;
        fields.computed_mask |= bit;
        return true;
    };
    // Never more than there are elements: decode checks that of what a layout stores.
    const std::uint64_t nnz = std::min(found.stored.value_or(summary.nonzero()), found.elements);
    if (has(statistics_bit::nnz, true)) fields.nnz = nnz;
    if (has(statistics_bit::sparsity, found.elements != 0)) {
        fields.sparsity_ratio = static_cast<double>(found.elements - nnz) / static_cast<double>(found.elements);
    }
    if (has(statistics_bit::range, summary.has_range())) {
        fields.value_min = summary.least();
        fields.value_max = summary.most();
        fields.value_abs_max = summary.largest_magnitude();
    }
    if (has(statistics_bit::moments, summary.has_moments())) {
        fields.value_mean = summary.mean();
        fields.value_stddev = summary.deviation();
    }
    if (has(statistics_bit::nm_sparsity, true)) {
        const GroupCounts::Pattern pattern = found.groups.pattern();
        fields.nm_n = pattern.n;
        fields.nm_m = pattern.m;
    }
    if (has(statistics_bit::nan_inf, true)) {
        fields.has_nan = summary.has_nan();
        fields.has_inf = summary.has_inf();
    }
    return fields;
}

}  // namespace

Result<StatisticsFields> compute_statistics(const Tensor& tensor, std::uint32_t mask, const WorkOptions& options) {
    if (auto checked = check_request(tensor, mask); !checked) return std::unexpected(checked.error());
    const Descriptor& descriptor = tensor.descriptor;
    const bool is_quantized = (descriptor.flags() & descriptor_flag::quantization) != 0;
    const auto format = is_quantized ? number_format(float32_tag) : element_format(descriptor);
    if (!format) return std::unexpected(format.error());
    if (auto checked = check_type(*format, mask); !checked) return std::unexpected(checked.error());

    Work work(options, work_of(descriptor, *format, mask));
    std::optional<Tensor> values;
    if (is_quantized) {
        // All of them at once. The elements are read again behind it, so that this is reported as no progress yet.
        WorkOptions waiting{.memory_limit = options.memory_limit};
        if (options.progress != nullptr) {
            waiting.progress = [](void* context, std::uint64_t, std::uint64_t total) {
                const auto& whole = *static_cast<const WorkOptions*>(context);
                return whole.progress(whole.context, 0, total);
            };
            waiting.context = const_cast<WorkOptions*>(&options);
        }
        auto made = dequantize(tensor, float32_tag, waiting);
        if (!made) return std::unexpected(made.error());
        if (auto reserved = work.reserve(made->buffers[0].handle.byte_size); !reserved) {
            return std::unexpected(reserved.error());
        }
        values.emplace(std::move(*made));
    }
    const auto pass = [&](std::uint32_t asked, double scale) {
        return Pass(tensor, *format, values ? &*values : nullptr, asked, scale, work).run();
    };
    auto found = pass(mask, 1);
    if (!found) return std::unexpected(found.error());
    StatisticsFields fields = fields_of(*found, mask);
    const double scale = found->summary.better_scale();
    if (scale != 1 && (fields.computed_mask & statistics_bit::moments) != 0) {
        // Squares of such numbers leave the range of float64: the same again, in another unit.
        const auto scaled = pass(statistics_bit::moments, scale);
        if (!scaled) return std::unexpected(scaled.error());
        fields.value_mean = scaled->summary.mean();
        fields.value_stddev = scaled->summary.deviation();
    }
    if (auto finished = work.finish(); !finished) return std::unexpected(finished.error());
    return fields;
}

}  // namespace hurray
