#include "core/hurray/quantization/parameter_arrays.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "core/hurray/base/checked.hpp"
#include "core/hurray/base/endian.hpp"
#include "core/hurray/quantization/parameters.hpp"
#include "core/hurray/quantization/scheme.hpp"
#include "core/hurray/quantization/scheme_types.hpp"
#include "core/hurray/values/convert.hpp"

namespace hurray::quantization_detail {
namespace {

using ull = unsigned long long;

// Not at an address of null, so that entries of empty arrays can be pointed at.
constexpr std::byte nothing[1] = {};

Result<void> check_size(const Tensor& tensor, std::uint32_t buffer, std::uint64_t expected) {
    if (buffer >= tensor.buffers.size()) {
        return fail(Status::invalid_quantization, Error::no_offset, "buffer %u: expected one of %zu", buffer,
                    tensor.buffers.size());
    }
    const std::uint64_t size = tensor.buffers[buffer].handle.byte_size;
    if (size == expected) return {};
    return fail(Status::invalid_quantization, Error::no_offset,
                "buffer %u: expected exactly the %llu bytes of the parameters, got %llu", buffer,
                static_cast<ull>(expected), static_cast<ull>(size));
}

void to_floats(std::uint8_t type, const std::byte* from, std::size_t count, float* out) noexcept {
    switch (type) {
        case scheme_types::float8_e8m0:
            for (std::size_t i = 0; i < count; ++i) {
                out[i] = std::bit_cast<float>(std::to_integer<std::uint32_t>(from[i]) << 23);
            }
            return;
        case scheme_types::float32:
            for (std::size_t i = 0; i < count; ++i) {
                out[i] = std::bit_cast<float>(load_le<std::uint32_t>(from + i * 4));
            }
            return;
        default: {
            // float16 and bfloat16, which every number format knows.
            static const NumberFormat halves[] = {number_format(scheme_types::float16).value(),
                                                  number_format(scheme_types::bfloat16).value()};
            const NumberFormat& format = halves[type == scheme_types::float16 ? 0 : 1];
            static_cast<void>(to_float32(format, {from, count * 2}, 0, {out, count}));
            return;
        }
    }
}

}  // namespace

Result<ParameterArrays> ParameterArrays::make(const Tensor& tensor, const QuantizationFields& fields) {
    ParameterArrays arrays;
    const QuantizationScheme* scheme = find_scheme(fields.scheme);
    if (scheme == nullptr) {
        return fail(Status::unsupported, Error::no_offset, "scheme: expected one of the format's, got %02X",
                    fields.scheme);
    }
    if (!scheme->has(SchemeField::scale_buffer)) {
        store_le(arrays.inline_.data(), std::bit_cast<std::uint32_t>(fields.scale));
        store_le(arrays.inline_.data() + 4, static_cast<std::uint32_t>(fields.zero_point));
        arrays.has_zeros_ = fields.zero_point != 0;
        return arrays;
    }
    const auto sizes = parameter_sizes(tensor.descriptor, fields);
    if (!sizes) return fail(Status::invalid_layout, Error::no_offset, "shape: expected no dynamic dimension");
    if (!sizes->scale_bytes || !sizes->zero_point_bytes) {
        return fail(Status::invalid_quantization, Error::no_offset, "scales: more than 2^64-1 bytes");
    }
    arrays.entries_ = sizes->entries;
    arrays.scale_width_ = sizes->scale_width;
    arrays.scale_type_ = fields.scale_type;
    arrays.has_zeros_ = sizes->zero_point_width != 0;
    arrays.scale_buffer_ = fields.scale_buffer;
    const bool shared = arrays.has_zeros_ && fields.zero_point_buffer == fields.scale_buffer;
    const std::uint64_t zeros_in_scales = shared ? *sizes->zero_point_bytes : 0;
    const auto expected = checked_add(*sizes->scale_bytes, zeros_in_scales);
    if (auto fits = check_size(tensor, fields.scale_buffer, expected.value_or(~std::uint64_t{0})); !fits) {
        return std::unexpected(fits.error());
    }
    const auto start = [&](std::uint32_t buffer) {
        const std::byte* data = tensor.buffers[buffer].data;
        return data == nullptr ? nothing : data;
    };
    arrays.scales_ = start(fields.scale_buffer);
    if (!arrays.has_zeros_) return arrays;
    arrays.zero_buffer_ = fields.zero_point_buffer;
    if (shared) {
        arrays.zeros_start_ = *sizes->scale_bytes;
        arrays.zeros_ = arrays.scales_ + *sizes->scale_bytes;
        return arrays;
    }
    if (auto fits = check_size(tensor, fields.zero_point_buffer, *sizes->zero_point_bytes); !fits) {
        return std::unexpected(fits.error());
    }
    arrays.zeros_ = start(fields.zero_point_buffer);
    return arrays;
}

void ParameterArrays::read_scales(std::uint64_t first, std::size_t count, float* out) const noexcept {
    to_floats(scale_type_, scales() + first * scale_width_, count, out);
}

void ParameterArrays::gather_scales(std::uint64_t first, std::uint64_t stride, std::size_t count,
                                    float* out) const noexcept {
    std::array<std::byte, 1024> together;
    const std::size_t piece = together.size() / scale_width_;
    for (std::size_t done = 0; done < count; done += piece) {
        const std::size_t now = std::min(piece, count - done);
        const std::byte* from = scales() + (first + done * stride) * scale_width_;
        const std::uint64_t distance = stride * scale_width_;
        const auto copy = [&]<std::size_t width>() {
            for (std::size_t i = 0; i < now; ++i) {
                std::memcpy(together.data() + i * width, from + i * distance, width);
            }
        };
        if (scale_width_ == 4) copy.template operator()<4>();
        if (scale_width_ == 2) copy.template operator()<2>();
        if (scale_width_ == 1) copy.template operator()<1>();
        to_floats(scale_type_, together.data(), now, out + done);
    }
}

void ParameterArrays::gather_zeros(std::uint64_t first, std::uint64_t stride, std::size_t count,
                                   std::int32_t* out) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<std::int32_t>(load_le<std::uint32_t>(zeros() + (first + i * stride) * 4));
    }
}

std::int32_t ParameterArrays::zero(std::uint64_t entry) const noexcept {
    return has_zeros_ ? static_cast<std::int32_t>(load_le<std::uint32_t>(zeros() + entry * 4)) : 0;
}

std::uint32_t ParameterArrays::scale_bits(std::uint64_t entry) const noexcept {
    const std::byte* from = scales() + entry * scale_width_;
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < scale_width_; ++i) bits |= std::to_integer<std::uint32_t>(from[i]) << (8 * i);
    return bits;
}

}  // namespace hurray::quantization_detail
