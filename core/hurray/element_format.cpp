#include "core/hurray/element_format.hpp"

#include "core/hurray/descriptor/extension_type_section.hpp"

namespace hurray {

Result<NumberFormat> element_format(const Descriptor& descriptor) {
    if (descriptor.is_opaque()) {
        return fail(Status::unsupported, Error::no_offset,
                    "descriptor: opaque (of an unknown type, layout or scheme), its elements are not known");
    }
    const auto fields = extension_type_fields(descriptor);
    if (!fields) return number_format(descriptor.element_type());
    return number_format(descriptor.element_type(), {.bit_width = fields->bit_width,
                                                     .is_float = fields->is_float,
                                                     .is_signed = fields->is_signed,
                                                     .sign_bits = fields->sign_bits,
                                                     .exponent_bits = fields->exponent_bits,
                                                     .mantissa_bits = fields->mantissa_bits,
                                                     .exponent_bias = fields->exponent_bias,
                                                     .has_nan = fields->has_nan,
                                                     .has_inf = fields->has_inf});
}

}  // namespace hurray
