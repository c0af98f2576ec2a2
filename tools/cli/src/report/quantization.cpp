#include "quantization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../shared/interrupt.hpp"
#include "../shared/text.hpp"

namespace cli::report {
namespace {

constexpr Attempt all_attempts[] = {
    {"int8, per channel", "a float32 scale for each row", HURRAY_SCHEME_PER_CHANNEL_AFFINE, HURRAY_TYPE_INT8,
     HURRAY_TYPE_FLOAT32, 0, 0},
    {"int4, blocks of 32", "a float16 scale for each 32 elements", HURRAY_SCHEME_PER_BLOCK_AFFINE, HURRAY_TYPE_INT4,
     HURRAY_TYPE_FLOAT16, 1, 32},
    {"int4, blocks of 64", "a float16 scale for each 64 elements", HURRAY_SCHEME_PER_BLOCK_AFFINE, HURRAY_TYPE_INT4,
     HURRAY_TYPE_FLOAT16, 1, 64},
    {"NF4, blocks of 64", "quantiles of the normal distribution, the largest magnitude of each 64 elements",
     HURRAY_SCHEME_NF4, HURRAY_TYPE_UINT4, 0, 1, 64},
    {"MXFP4", "float4_e2m1, a power of two for each 32 elements", HURRAY_SCHEME_MXFP, HURRAY_TYPE_FLOAT4_E2M1, 0, 1,
     32},
    {"MXFP8", "float8_e4m3, a power of two for each 32 elements", HURRAY_SCHEME_MXFP, HURRAY_TYPE_FLOAT8_E4M3, 0, 1,
     32},
};

hurray::Result<double> bits_of(const hurray::Tensor& tensor, std::uint64_t elements) {
    const auto descriptor = tensor.descriptor();
    if (!descriptor) return descriptor.error();
    const auto info = descriptor->info();
    if (!info) return info.error();
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < info->buffer_count; ++i) {
        const auto buffer = tensor.buffer(i);
        if (!buffer) return buffer.error();
        const auto content = buffer->bytes();
        if (!content) return content.error();
        bytes += content->size();
    }
    return 8 * static_cast<double>(bytes) / static_cast<double>(elements);
}

hurray::Result<Cost> try_it(const Attempt& attempt, const hurray::Tensor& numbers, std::span<const double> values) {
    auto spec = hurray::sized<HurrayQuantizeSpec>();
    spec.scheme = attempt.scheme;
    spec.storage_type = attempt.storage_type;
    spec.scale_type = attempt.scale_type;
    spec.axis = attempt.axis;
    spec.block_size = attempt.block_size;
    spec.symmetric =
        attempt.scheme == HURRAY_SCHEME_PER_CHANNEL_AFFINE || attempt.scheme == HURRAY_SCHEME_PER_BLOCK_AFFINE;
    const auto progress = [](std::uint64_t, std::uint64_t) { return !is_interrupted(); };
    hurray::WorkOptions work;
    work.progress = progress;
    const auto quantized = numbers.quantize(spec, work);
    if (!quantized) return quantized.error();
    Cost cost;
    const auto bits = bits_of(*quantized, values.size());
    if (!bits) return bits.error();
    cost.bits = *bits;
    const auto back = quantized->dequantize(HURRAY_TYPE_FLOAT64, work);
    if (!back) return back.error();
    const auto view = back->view();
    if (!view) return view.error();
    const auto got = view->as<double>();
    if (!got) return got.error();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double error = (*got)[i] - values[i];
        cost.signal += values[i] * values[i];
        cost.noise += error * error;
        cost.largest = std::max(cost.largest, std::abs(error));
    }
    cost.rms = std::sqrt(cost.noise / static_cast<double>(values.size()));
    return cost;
}

}  // namespace

hurray::Span<const Attempt> attempts() {
    return all_attempts;
}

double Cost::signal_to_noise() const {
    if (noise == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(signal / noise);
}

std::vector<Cost> costs_of(const Sample& sample) {
    std::vector<Cost> costs;
    if (sample.values.empty()) return costs;
    const std::uint64_t shape[] = {sample.rows, sample.columns};
    hurray::DenseSpec spec;
    spec.element_type = HURRAY_TYPE_FLOAT64;
    spec.shape = shape;
    spec.read_only = true;
    const auto numbers = hurray::Tensor::from_host(spec, const_cast<double*>(sample.values.data()),
                                                   sample.values.size() * sizeof(double), [] {});
    for (const Attempt& attempt : all_attempts) {
        const auto cost = numbers ? try_it(attempt, *numbers, sample.values) : hurray::Result<Cost>(numbers.error());
        check_interrupt();
        if (cost) {
            costs.push_back(*cost);
            continue;
        }
        costs.emplace_back();
        costs.back().refused = cost.error().message();
    }
    return costs;
}

std::optional<Steps> steps_of(const hurray::Tensor& tensor) {
    const auto descriptor = tensor.descriptor();
    if (!descriptor) return std::nullopt;
    const auto info = descriptor->info();
    const auto section = descriptor->quantization();
    if (!info || !section || section->present == 0) return std::nullopt;
    if (section->scheme == HURRAY_SCHEME_PER_TENSOR_AFFINE) {
        const auto scale = static_cast<double>(section->scale);
        return Steps{1, 1, scale, scale, scale};
    }
    if (section->scale_type == 0 || section->scale_buffer == HURRAY_NO_BUFFER || section->axis >= info->rank)
        return std::nullopt;
    const std::uint64_t axis = info->shape[section->axis];
    if (info->element_count == 0 || info->element_count == HURRAY_DIMENSION_DYNAMIC) return std::nullopt;
    Steps steps;
    // A scale for each channel, or for each block along the axis.
    steps.count = axis;
    if (section->block_size != 0) {
        steps.count = info->element_count / axis * (axis / section->block_size + (axis % section->block_size != 0));
    }
    // Slots of pages have scales of their own, whether there is a token in them or not.
    if (info->layout == HURRAY_LAYOUT_BLOCK_PAGED) steps.count = std::numeric_limits<std::uint64_t>::max();
    const auto buffer = tensor.buffer(section->scale_buffer);
    if (!buffer) return std::nullopt;
    const auto bytes = buffer->bytes();
    std::uint32_t bits = 32;
    if (section->scale_type == HURRAY_TYPE_FLOAT16 || section->scale_type == HURRAY_TYPE_BFLOAT16) bits = 16;
    if (section->scale_type == HURRAY_TYPE_FLOAT8_E8M0) bits = 8;
    const auto decoder = Decoder::of(section->scale_type, bits);
    if (!bytes || !decoder) return std::nullopt;
    steps.count = std::min<std::uint64_t>(steps.count, bytes->size() * 8 / bits);
    if (steps.count == 0) return std::nullopt;
    constexpr std::uint64_t most = std::uint64_t{1} << 20;
    steps.seen = std::min(steps.count, most);
    std::vector<double> scales(static_cast<std::size_t>(steps.seen));
    if (steps.seen == steps.count) {
        decoder->read(bytes->data(), 0, scales);
    } else {
        const std::uint64_t distance = steps.count / steps.seen;
        for (std::size_t i = 0; i < scales.size(); ++i) decoder->read(bytes->data(), i * distance, {&scales[i], 1});
    }
    std::erase_if(scales, [](double scale) { return std::isnan(scale); });
    if (scales.empty()) return std::nullopt;
    const auto [least, greatest] = std::ranges::minmax(scales);
    steps.least = least;
    steps.greatest = greatest;
    auto half = scales.begin() + static_cast<std::ptrdiff_t>(scales.size() / 2);
    std::ranges::nth_element(scales, half);
    steps.median = *half;
    return steps;
}

}  // namespace cli::report
