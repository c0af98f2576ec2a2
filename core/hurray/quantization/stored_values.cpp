#include "core/hurray/quantization/stored_values.hpp"

#include <bit>

#include "core/hurray/quantization/nf4_levels.hpp"
#include "core/hurray/quantization/scheme_types.hpp"
#include "core/hurray/values/codecs.hpp"

namespace hurray::quantization_detail {
namespace {

void set_range(StoredValues& values, unsigned bits, bool is_signed) {
    const std::int64_t count = std::int64_t{1} << bits;
    values.smallest = is_signed ? -count / 2 : 0;
    values.largest = values.smallest + count - 1;
    for (std::int64_t code = 0; bits <= 4 && code < count; ++code) {
        values.levels[static_cast<std::size_t>(code)] =
            static_cast<float>(code > values.largest ? code - count : code);
    }
}

}  // namespace

Result<StoredValues> StoredValues::make(std::uint8_t scheme, std::uint8_t storage_type) {
    StoredValues values;
    const auto integers = [&](Codes codes, bool is_signed) {
        values.codes = codes;
        set_range(values, bits_of(codes), is_signed);
        return values;
    };
    if (scheme == scheme_tag::nf4 && storage_type == scheme_types::uint4) {
        values.codes = Codes::four_bits;
        values.levels = nf4_levels;
        return values;
    }
    switch (storage_type) {
        case scheme_types::int8:
            return integers(Codes::int8, true);
        case scheme_types::uint8:
            return integers(Codes::uint8, false);
        case scheme_types::int16:
            return integers(Codes::int16, true);
        case scheme_types::uint16:
            return integers(Codes::uint16, false);
        case scheme_types::int32:
            return integers(Codes::int32, true);
        case scheme_types::uint32:
            return integers(Codes::uint32, false);
        case scheme_types::int4:
            return integers(Codes::four_bits, true);
        case scheme_types::uint4:
            return integers(Codes::four_bits, false);
        case scheme_types::int2:
            return integers(Codes::two_bits, true);
        case scheme_types::uint2:
            return integers(Codes::two_bits, false);
        case scheme_types::float8_e4m3:
            values.codes = Codes::e4m3;
            return values;
        case scheme_types::float8_e5m2:
            values.codes = Codes::e5m2;
            return values;
        case scheme_types::float6_e2m3:
            values.codes = Codes::e2m3;
            return values;
        case scheme_types::float6_e3m2:
            values.codes = Codes::e3m2;
            return values;
        case scheme_types::float4_e2m1:
            values.codes = Codes::four_bits;
            for (std::uint8_t code = 0; code < 16; ++code) {
                values_detail::FloatCodec<float_formats::e2m1>::decode(code, values.levels[code]);
            }
            return values;
        default:
            return fail(Status::unsupported, Error::no_offset,
                        "type_tag: expected a type that quantization scheme %02X stores, got %02X", scheme,
                        storage_type);
    }
}

}  // namespace hurray::quantization_detail
