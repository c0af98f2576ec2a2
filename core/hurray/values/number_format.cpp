#include "core/hurray/values/number_format.hpp"

#include "core/hurray/values/kernels.hpp"

namespace hurray {
namespace {

constexpr std::uint32_t widest = 128;

Result<FloatFormat> private_float(const PrivateNumber& fields) {
    const unsigned sum = 0U + fields.sign_bits + fields.exponent_bits + fields.mantissa_bits;
    if (fields.sign_bits > 1) {
        return fail(Status::invalid_argument, Error::no_offset, "sign_bits: expected 0 or 1, got %u",
                    unsigned{fields.sign_bits});
    }
    if (sum != fields.bit_width) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "bit_width: expected sign_bits + exponent_bits + mantissa_bits (%u), got %u", sum,
                    unsigned{fields.bit_width});
    }
    if (fields.exponent_bits < 1 || fields.exponent_bits > 32) {
        return fail(Status::unsupported, Error::no_offset,
                    "exponent_bits: floating-point numbers with 1 to 32 bits of exponent are converted, got %u",
                    unsigned{fields.exponent_bits});
    }
    if (fields.mantissa_bits > 112) {
        return fail(Status::unsupported, Error::no_offset,
                    "mantissa_bits: floating-point numbers with at most 112 bits of mantissa are converted, got %u",
                    unsigned{fields.mantissa_bits});
    }
    if (sum - fields.sign_bits > widest - 1) {
        return fail(Status::unsupported, Error::no_offset,
                    "exponent_bits: at most 127 bits of exponent and mantissa are converted, got %u",
                    sum - fields.sign_bits);
    }
    FloatFormat format{fields.sign_bits, fields.exponent_bits, fields.mantissa_bits, fields.exponent_bias,
                       SpecialPatterns::none};
    if (fields.has_inf && fields.has_nan) {
        if (fields.mantissa_bits == 0) {
            return fail(Status::unsupported, Error::no_offset,
                        "mantissa_bits: infinity and NaN need one bit of mantissa to differ in, got 0");
        }
        format.special = SpecialPatterns::infinity_and_nan;
    } else if (fields.has_nan) {
        format.special = SpecialPatterns::one_nan;
    } else if (fields.has_inf) {
        if (fields.mantissa_bits != 0) {
            return fail(Status::unsupported, Error::no_offset,
                        "has_nan: what the patterns beside infinity mean without NaN is not defined, with %u bits of "
                        "mantissa",
                        unsigned{fields.mantissa_bits});
        }
        format.special = SpecialPatterns::one_infinity;
    }
    return format;
}

}  // namespace

Result<NumberFormat> number_format(std::uint8_t tag) {
    const ElementTypeInfo* type = find_element_type(tag);
    if (type == nullptr) {
        return fail(Status::invalid_type, Error::no_offset,
                    is_private_element_type(tag)
                        ? "element type: private type %02X needs the fields of its extension section"
                        : "element type: expected the tag of a known type, got %02X",
                    tag);
    }
    const auto* row = values_detail::find_conversion(tag);
    if (row == nullptr) {
        return fail(Status::unsupported, Error::no_offset, "element type: %s is not converted", type->name);
    }
    return NumberFormat{tag, type->kind, type->bits, type->name, row->floating, &row->kernels};
}

Result<NumberFormat> number_format(std::uint8_t tag, const PrivateNumber& fields) {
    if (!is_private_element_type(tag)) {
        return fail(Status::invalid_argument, Error::no_offset,
                    "element type: expected a private tag (F0 to FE), got %02X", tag);
    }
    const std::uint32_t bits = fields.bit_width;
    if (bits == 0 || (bits < 8 && bits != 1 && bits != 2 && bits != 4)) {
        return fail(Status::invalid_argument, Error::no_offset, "bit_width: expected 1, 2, 4 or at least 8, got %u",
                    unsigned{bits});
    }
    if (bits % 8 != 0 && bits > 8) {
        return fail(Status::unsupported, Error::no_offset,
                    "bit_width: how elements of %u bits, which are no whole bytes, are packed is not defined",
                    unsigned{bits});
    }
    if (!fields.is_float) {
        if (bits > 64) {
            return fail(Status::unsupported, Error::no_offset,
                        "bit_width: integers of at most 64 bits are converted, got %u", unsigned{bits});
        }
        const auto kind = fields.is_signed ? ElementKind::signed_integer : ElementKind::unsigned_integer;
        return NumberFormat{tag, kind, bits, "private", {}, &values_detail::private_integer_kernels};
    }
    if (bits > widest) {
        return fail(Status::unsupported, Error::no_offset,
                    "bit_width: floating-point numbers of at most 128 bits are converted, got %u", unsigned{bits});
    }
    const auto format = private_float(fields);
    if (!format) return std::unexpected(format.error());
    return NumberFormat{tag,     ElementKind::floating_point,          bits, "private",
                        *format, &values_detail::private_float_kernels};
}

Result<void> check_arithmetic(const NumberFormat& format) {
    const bool too_wide = format.kind == ElementKind::floating_point && format.bits > 64;
    if (too_wide) {
        return fail(Status::unsupported, Error::no_offset,
                    "element type: %s of %u bits is converted only; arithmetic on it is not defined", format.name,
                    unsigned{format.bits});
    }
    return {};
}

}  // namespace hurray
