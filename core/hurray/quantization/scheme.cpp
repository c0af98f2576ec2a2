#include "core/hurray/quantization/scheme.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <type_traits>

#include "core/hurray/base/endian.hpp"

namespace hurray {
namespace {

// By tag.
constexpr const QuantizationScheme* schemes[] = {
    nullptr, &per_tensor_affine_scheme, &per_channel_affine_scheme, &per_block_affine_scheme, &nf4_scheme, &mxfp_scheme,
};

std::uint64_t unpadded_size(const QuantizationFields& fields) noexcept {
    if (const QuantizationScheme* scheme = find_scheme(fields.scheme)) return scheme->size;
    return scheme_header_size + fields.private_data.size();
}

}  // namespace

const QuantizationScheme* find_scheme(std::uint8_t tag) noexcept {
    return tag < std::size(schemes) ? schemes[tag] : nullptr;
}

QuantizationFields read_scheme_fields(const QuantizationScheme* scheme, std::span<const std::byte> payload) noexcept {
    const std::byte* bytes = payload.data();
    QuantizationFields fields;
    fields.scheme = static_cast<std::uint8_t>(bytes[0]);
    fields.version = static_cast<std::uint8_t>(bytes[1]);
    fields.flags = load_le<std::uint16_t>(bytes + 2);
    if (scheme == nullptr) {
        fields.private_data = payload.subspan(scheme_header_size);
        return fields;
    }
    fields.padding = static_cast<std::uint32_t>(payload.size() - scheme->size);
    const auto read = [&](SchemeField field, auto& value) {
        const std::uint32_t offset = scheme->offset_of(field);
        if (offset != 0)
            value = static_cast<std::remove_reference_t<decltype(value)>>(load_le<std::uint32_t>(bytes + offset));
    };
    if (const std::uint32_t offset = scheme->offset_of(SchemeField::scale); offset != 0)
        fields.scale = std::bit_cast<float>(load_le<std::uint32_t>(bytes + offset));
    read(SchemeField::zero_point, fields.zero_point);
    read(SchemeField::axis, fields.axis);
    read(SchemeField::block_size, fields.block_size);
    read(SchemeField::scale_buffer, fields.scale_buffer);
    read(SchemeField::zero_point_buffer, fields.zero_point_buffer);
    if (const std::uint32_t offset = scheme->offset_of(SchemeField::scale_type); offset != 0) {
        fields.scale_type = static_cast<std::uint8_t>(bytes[offset]);
    } else if (!scheme->scale_types.empty()) {
        fields.scale_type = scheme->scale_types.front();
    }
    return fields;
}

std::uint64_t payload_size(const QuantizationFields& fields) noexcept {
    return unpadded_size(fields) + fields.padding;
}

void write_scheme_fields(const QuantizationFields& fields, std::span<std::byte> payload) noexcept {
    std::ranges::fill(payload, std::byte{0});
    std::byte* bytes = payload.data();
    bytes[0] = std::byte{fields.scheme};
    bytes[1] = std::byte{fields.version};
    store_le(bytes + 2, fields.flags);
    const QuantizationScheme* scheme = find_scheme(fields.scheme);
    if (scheme == nullptr) {
        std::ranges::copy(fields.private_data, bytes + scheme_header_size);
        return;
    }
    for (const SchemeFieldPlace& place : scheme->fields) {
        std::byte* at = bytes + place.offset;
        switch (place.field) {
            case SchemeField::scale:
                store_le(at, std::bit_cast<std::uint32_t>(fields.scale));
                break;
            case SchemeField::zero_point:
                store_le(at, static_cast<std::uint32_t>(fields.zero_point));
                break;
            case SchemeField::axis:
                store_le(at, fields.axis);
                break;
            case SchemeField::block_size:
                store_le(at, fields.block_size);
                break;
            case SchemeField::scale_buffer:
                store_le(at, fields.scale_buffer);
                break;
            case SchemeField::zero_point_buffer:
                store_le(at, fields.zero_point_buffer);
                break;
            case SchemeField::scale_type:
                *at = std::byte{fields.scale_type};
                break;
            case SchemeField::reserved:
                break;
        }
    }
}

}  // namespace hurray
