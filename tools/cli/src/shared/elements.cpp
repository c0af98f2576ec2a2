#include "elements.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "exit.hpp"
#include "text.hpp"

namespace cli {
namespace {

template <typename T>
T load(const std::uint8_t* data, std::uint64_t at) {
    T value;
    std::memcpy(&value, data + at * sizeof value, sizeof value);
    return value;
}

// The numbers of all patterns of a type, which the library tells: a tensor of them, read element by element, once a type.
std::shared_ptr<const std::vector<double>> table_for(std::uint8_t type, std::uint32_t bits) {
    static std::array<std::shared_ptr<const std::vector<double>>, 256> tables;
    auto& known = tables[type];
    if (known) return known;
    const std::uint64_t count = std::uint64_t{1} << bits;
    std::vector<std::uint8_t> patterns((count * bits + 7) / 8 + 2);
    for (std::uint64_t i = 0; i < count; ++i) {
        for (std::uint32_t b = 0; b < bits; ++b) {
            if ((i >> b & 1) != 0) patterns[(i * bits + b) / 8] |= static_cast<std::uint8_t>(1U << ((i * bits + b) % 8));
        }
    }
    hurray::DenseSpec spec;
    spec.element_type = type;
    spec.shape = hurray::Span<const std::uint64_t>(&count, 1);
    const auto tensor = take(hurray::Tensor::from_host(spec, patterns.data(), patterns.size(), [] {}), "table of numbers", failed);
    auto table = std::make_shared<std::vector<double>>(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto number = tensor.element(hurray::Span<const std::uint64_t>(&i, 1));
        (*table)[i] = number ? *number : std::numeric_limits<double>::quiet_NaN();
    }
    known = table;
    return known;
}

bool is_integer(std::uint8_t type) {
    return (type >= HURRAY_TYPE_INT8 && type <= HURRAY_TYPE_UINT64) || (type >= HURRAY_TYPE_INT4 && type <= HURRAY_TYPE_UINT2) ||
           type == HURRAY_TYPE_BOOL;
}

std::string double_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return fmt::format("{}", value);
}

std::string float_text(double value) {
    if (!std::isfinite(value)) return double_text(value);
    return fmt::format("{}", static_cast<float>(value));
}

}  // namespace

Elements Elements::of(const hurray::Item& item, bool stored, const hurray::WorkOptions& work, const std::string& subject) {
    Elements result;
    result.subject_ = subject;
    hurray::Tensor& tensor = result.tensor_;
    tensor = item.tensor ? take(item.tensor.share(), subject) : take(item.composite.merged(work), subject, failed);
    if (!stored && take(take(tensor.descriptor(), subject).quantization(), subject).present != 0) {
        tensor = take(tensor.dequantize(HURRAY_TYPE_FLOAT32, work), subject, failed);
    }
    const auto dense = tensor.view();
    if (!dense || !dense->contiguous()) tensor = take(tensor.transcode(HURRAY_LAYOUT_ROW_MAJOR, work), subject, failed);
    const hurray::View view = take(tensor.view(), subject, failed);
    if (!view.contiguous()) throw Failure(failed, subject, "the row-major elements are not contiguous");
    result.type_ = view.element_type();
    result.bits_ = view.bits();
    for (const std::int64_t dimension : view.shape()) result.shape_.push_back(static_cast<std::uint64_t>(dimension));
    result.count_ = view.element_count();
    const auto bytes = view.bytes();
    result.data_ = bytes.data();
    result.byte_size_ = bytes.size();
    switch (result.type_) {
        case HURRAY_TYPE_FLOAT32: result.way_ = Way::float32; break;
        case HURRAY_TYPE_FLOAT64: result.way_ = Way::float64; break;
        case HURRAY_TYPE_INT32: result.way_ = Way::int32; break;
        case HURRAY_TYPE_UINT32: result.way_ = Way::uint32; break;
        case HURRAY_TYPE_INT64: result.way_ = Way::int64; break;
        case HURRAY_TYPE_UINT64: result.way_ = Way::uint64; break;
        default:
            if (result.bits_ <= 16 && !hurray::is_private_tag(result.type_)) {
                result.table_ = table_for(result.type_, result.bits_);
                result.way_ = Way::table;
            }
    }
    return result;
}

bool Elements::is_complex() const { return type_ == HURRAY_TYPE_COMPLEX64 || type_ == HURRAY_TYPE_COMPLEX128; }

std::uint64_t Elements::raw(std::uint64_t at) const {
    // Up to 16 bits may lie in three bytes, of which the last may not be there.
    const std::uint64_t first = at * bits_;
    std::uint64_t value = 0;
    for (std::uint64_t byte = first / 8, k = 0; byte <= (first + bits_ - 1) / 8; ++byte, ++k) {
        value |= static_cast<std::uint64_t>(data_[byte]) << (8 * k);
    }
    return value >> (first % 8) & ((std::uint64_t{1} << bits_) - 1);
}

std::vector<std::uint64_t> Elements::index_of(std::uint64_t at) const {
    std::vector<std::uint64_t> index(shape_.size());
    for (std::size_t d = shape_.size(); d-- > 0;) {
        index[d] = at % shape_[d];
        at /= shape_[d];
    }
    return index;
}

double Elements::number(std::uint64_t at) const {
    switch (way_) {
        case Way::table: return (*table_)[raw(at)];
        case Way::float32: return static_cast<double>(load<float>(data_, at));
        case Way::float64: return load<double>(data_, at);
        case Way::int32: return load<std::int32_t>(data_, at);
        case Way::uint32: return load<std::uint32_t>(data_, at);
        case Way::int64: return static_cast<double>(load<std::int64_t>(data_, at));
        case Way::uint64: return static_cast<double>(load<std::uint64_t>(data_, at));
        case Way::call: break;
    }
    if (is_complex()) return complex(at).real();
    const auto number = tensor_.element(index_of(at));
    if (number) return *number;
    if (number.error().code() == HURRAY_ERR_INVALID_TYPE) return std::numeric_limits<double>::quiet_NaN();
    throw Failure(failed, subject_, number.error());
}

std::complex<double> Elements::complex(std::uint64_t at) const {
    if (!is_complex()) return {number(at), 0};
    return take(tensor_.element_complex(index_of(at)), subject_, failed);
}

HurrayElementBits Elements::element_bits(std::uint64_t at) const {
    return take(tensor_.element_bits(index_of(at)), subject_, failed);
}

std::string Elements::text(std::uint64_t at) const {
    if (way_ == Way::int64) return fmt::format("{}", load<std::int64_t>(data_, at));
    if (way_ == Way::uint64) return fmt::format("{}", load<std::uint64_t>(data_, at));
    if (is_integer(type_)) return fmt::format("{:.0f}", number(at));
    if (is_complex()) {
        const auto value = complex(at);
        const auto half = type_ == HURRAY_TYPE_COMPLEX64 ? float_text : double_text;
        const std::string imaginary = half(value.imag());
        return fmt::format("{}{}{}j", half(value.real()), imaginary.starts_with('-') ? "" : "+", imaginary);
    }
    return way_ == Way::float64 || way_ == Way::call ? double_text(number(at)) : float_text(number(at));
}

}  // namespace cli
