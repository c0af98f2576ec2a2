#include "core/hurray/quantization/scheme.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/hurray/base/endian.hpp"

namespace hurray {
namespace {

constexpr const QuantizationScheme* schemes[] = {
    &per_tensor_affine_scheme, &per_channel_affine_scheme, &per_block_affine_scheme, &nf4_scheme, &mxfp_scheme,
};

std::uint64_t unpadded_size(const QuantizationFields& fields) noexcept {
    if (const QuantizationScheme* scheme = find_scheme(fields.scheme)) return scheme->size;
    return scheme_header_size + fields.private_data.size();
}

}  // namespace

const QuantizationScheme* find_scheme(std::uint8_t tag) noexcept {
    for (const QuantizationScheme* scheme : schemes) {
        if (scheme->tag == tag) return scheme;
    }
    return nullptr;
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
    if (!scheme->scale_types.empty()) fields.scale_type = scheme->scale_types.front();
    for (const SchemeFieldPlace& place : scheme->fields) {
        const std::byte* at = bytes + place.offset;
        switch (place.field) {
            case SchemeField::scale:
                fields.scale = std::bit_cast<float>(load_le<std::uint32_t>(at));
                break;
            case SchemeField::zero_point:
                fields.zero_point = static_cast<std::int32_t>(load_le<std::uint32_t>(at));
                break;
            case SchemeField::axis:
                fields.axis = load_le<std::uint32_t>(at);
                break;
            case SchemeField::block_size:
                fields.block_size = load_le<std::uint32_t>(at);
                break;
            case SchemeField::scale_buffer:
                fields.scale_buffer = load_le<std::uint32_t>(at);
                break;
            case SchemeField::zero_point_buffer:
                fields.zero_point_buffer = load_le<std::uint32_t>(at);
                break;
            case SchemeField::scale_type:
                fields.scale_type = static_cast<std::uint8_t>(*at);
                break;
            case SchemeField::reserved:
                break;
        }
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
