#include "values.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace cli::report {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Every pattern of a small type as a tensor, so that it is the library that says what its numbers are.
std::shared_ptr<const std::vector<double>> table_of(std::uint8_t type, std::uint32_t bits) {
    static std::map<std::uint8_t, std::shared_ptr<const std::vector<double>>> tables;
    auto& table = tables[type];
    if (table) return table;
    const std::size_t count = std::size_t{1} << bits;
    std::vector<std::uint8_t> codes(std::max<std::size_t>(count * bits / 8, 1));
    for (std::size_t code = 0; code < count; ++code) {
        if (bits == 16)
            std::memcpy(&codes[2 * code], &code, 2);
        else
            codes[code * bits / 8] |= static_cast<std::uint8_t>(code << (code * bits % 8));
    }
    const std::uint64_t shape[] = {count};
    hurray::DenseSpec spec;
    spec.element_type = type;
    spec.shape = shape;
    spec.read_only = true;
    const auto tensor = hurray::Tensor::from_host(spec, codes.data(), codes.size(), [] {});
    if (!tensor) return nullptr;
    auto made = std::make_shared<std::vector<double>>(count, nan);
    for (std::uint64_t code = 0; code < count; ++code) {
        const std::uint64_t index[] = {code};
        // float8_e8m0 has a pattern that is no element.
        if (const auto value = tensor->element(index)) (*made)[code] = *value;
    }
    table = std::move(made);
    return table;
}

template <typename T>
void convert(const std::uint8_t* data, std::uint64_t first, std::span<double> into) {
    const std::uint8_t* from = data + first * sizeof(T);
    for (double& value : into) {
        T number;
        std::memcpy(&number, from, sizeof number);
        value = static_cast<double>(number);
        from += sizeof number;
    }
}

bool is_real(std::uint8_t type) {
    return type != HURRAY_TYPE_COMPLEX64 && type != HURRAY_TYPE_COMPLEX128;
}

}  // namespace

std::optional<Decoder> Decoder::of(std::uint8_t type, std::uint32_t bits) {
    static_assert(std::endian::native == std::endian::little, "elements are decoded as they lie");
    Decoder decoder;
    decoder.type_ = type;
    decoder.bits_ = bits;
    switch (type) {
        case HURRAY_TYPE_FLOAT32:
        case HURRAY_TYPE_FLOAT64:
        case HURRAY_TYPE_INT32:
        case HURRAY_TYPE_UINT32:
        case HURRAY_TYPE_INT64:
        case HURRAY_TYPE_UINT64:
            return decoder;
        default:
            break;
    }
    // Elements of 6 bits cross bytes: the library finds them one by one.
    if (!is_real(type) || hurray::is_private_tag(type)) return std::nullopt;
    if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16) return std::nullopt;
    decoder.table_ = table_of(type, bits);
    if (!decoder.table_) return std::nullopt;
    return decoder;
}

void Decoder::read(const std::uint8_t* data, std::uint64_t first, std::span<double> into) const {
    switch (type_) {
        case HURRAY_TYPE_FLOAT32:
            return convert<float>(data, first, into);
        case HURRAY_TYPE_FLOAT64:
            return convert<double>(data, first, into);
        case HURRAY_TYPE_INT32:
            return convert<std::int32_t>(data, first, into);
        case HURRAY_TYPE_UINT32:
            return convert<std::uint32_t>(data, first, into);
        case HURRAY_TYPE_INT64:
            return convert<std::int64_t>(data, first, into);
        case HURRAY_TYPE_UINT64:
            return convert<std::uint64_t>(data, first, into);
        default:
            break;
    }
    const std::vector<double>& table = *table_;
    if (bits_ == 16) {
        for (std::size_t i = 0; i < into.size(); ++i) {
            const std::uint8_t* from = data + 2 * (first + i);
            into[i] = table[static_cast<std::size_t>(from[0] | from[1] << 8)];
        }
        return;
    }
    const std::uint32_t mask = (1U << bits_) - 1;
    const std::uint64_t in_byte = 8 / bits_;
    for (std::size_t i = 0; i < into.size(); ++i) {
        const std::uint64_t element = first + i;
        into[i] = table[data[element / in_byte] >> (element % in_byte * bits_) & mask];
    }
}

hurray::Result<Values> Values::of(const hurray::Tensor& tensor, Meter& meter, std::uint64_t bytes) {
    const auto descriptor = tensor.descriptor();
    if (!descriptor) return descriptor.error();
    const auto info = descriptor->info();
    if (!info) return info.error();
    const auto quantization = descriptor->quantization();
    if (!quantization) return quantization.error();
    if (!is_real(info->element_type)) {
        return hurray::Error(HURRAY_ERR_UNSUPPORTED, "complex numbers have no order that a histogram could follow");
    }
    if (info->element_count == HURRAY_DIMENSION_DYNAMIC) {
        return hurray::Error(HURRAY_ERR_UNSUPPORTED, "the shape is dynamic: there are no elements yet");
    }
    Values values;
    values.tensor_ = &tensor;
    values.quantized_ = quantization->present != 0;
    values.count_ = info->element_count;
    values.shape_.assign(info->shape, info->shape + info->rank);

    const auto stopped = [](const hurray::Error& error) { return error.code() == HURRAY_ERR_CANCELLED; };
    const auto report = [&](std::uint64_t done, std::uint64_t total) { return meter.part(done, total, bytes); };
    hurray::WorkOptions work;
    work.memory_limit = memory_limit;
    work.progress = report;

    // Whatever is not contiguous numbers becomes so, if there is room for it.
    const hurray::Tensor* source = &tensor;
    hurray::Tensor dequantized;
    if (values.quantized_) {
        auto made = tensor.dequantize(HURRAY_TYPE_FLOAT32, work);
        if (!made) {
            if (made.error().code() == HURRAY_ERR_LIMIT_EXCEEDED) return values;
            return made.error();
        }
        dequantized = std::move(*made);
        source = &dequantized;
    }
    auto view = source->view();
    if (!view || !view->contiguous() || info->layout == HURRAY_LAYOUT_COL_MAJOR) {
        auto made = source->transcode(HURRAY_LAYOUT_ROW_MAJOR, work);
        if (!made) {
            if (stopped(made.error()) || info->layout == HURRAY_LAYOUT_BLOCK_PAGED) return made.error();
            return values;
        }
        values.copy_ = std::move(*made);
        view = values.copy_.view();
    } else if (values.quantized_) {
        values.copy_ = std::move(dequantized);
    }
    if (!view || view->raw().device != HURRAY_DEVICE_CPU) return values;
    values.decoder_ = Decoder::of(view->element_type(), view->bits());
    values.data_ = static_cast<const std::uint8_t*>(view->raw().data);
    values.count_ = view->element_count();
    values.shape_.assign(view->shape().begin(), view->shape().end());
    return values;
}

hurray::Result<void> Values::read(std::uint64_t first, std::span<double> into) const {
    if (into.empty()) return {};
    if (decoder_) {
        decoder_->read(data_, first, into);
        return {};
    }
    std::vector<std::uint64_t> index(shape_.size());
    for (std::size_t i = 0; i < into.size(); ++i) {
        std::uint64_t rest = first + i;
        for (std::size_t d = shape_.size(); d-- > 0;) {
            index[d] = rest % shape_[d];
            rest /= shape_[d];
        }
        const auto value = quantized_ ? tensor_->element_dequantized(index) : tensor_->element(index);
        if (value)
            into[i] = *value;
        else if (value.error().code() == HURRAY_ERR_INVALID_TYPE)
            into[i] = nan;
        else
            return value.error();
    }
    return {};
}

}  // namespace cli::report
