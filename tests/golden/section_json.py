"""What a reader finds in a section that is given as pairs of a field's name and its bytes. (design: JSON of a descriptor)"""

import math
import struct

SCHEMES = {1: "per_tensor_affine", 2: "per_channel_affine", 3: "per_block_affine", 4: "nf4", 5: "mxfp"}
# The names that the JSON has, behind those that every scheme has.
SCHEME_FIELDS = {
    "axis": ("axis", "<I"),
    "block_size": ("block_size", "<I"),
    "scale": ("scale", "<f"),
    "zero_point": ("zero_point", "<i"),
    "scale_buffer": ("scale_buffer_index", "<I"),
    "zero_point_buffer": ("zero_point_buffer_index", "<I"),
    "scale_type": ("scale_type_tag", "<B"),
}
STATISTICS_FIELDS = {
    "computed_mask": "<I",
    "nnz": "<Q",
    "sparsity_ratio": "<d",
    "value_min": "<d",
    "value_max": "<d",
    "value_abs_max": "<d",
    "value_mean": "<d",
    "value_stddev": "<d",
    "nm_n": "<B",
    "nm_m": "<B",
    "has_nan": "<?",
    "has_inf": "<?",
}
EXTENSION_FIELDS = {
    "bit_width": "<I",
    "packing_factor": "<B",
    "is_float": "<?",
    "is_signed": "<?",
    "sign_bits": "<B",
    "exponent_bits": "<B",
    "mantissa_bits": "<B",
    "exponent_bias": "<I",
    "has_nan": "<?",
    "has_inf": "<?",
}


def put(result, name, encoded, form):
    """Adds a field; a float as a number, or None when it is not finite, and as its bits."""
    (value,) = struct.unpack(form, encoded)
    if not isinstance(value, float):
        result[name] = value
        return
    result[name] = value if math.isfinite(value) else None
    result[f"{name}_bits"] = encoded[::-1].hex()


def quantization(section):
    """Null or the fields of a quantization section."""
    if section is None:
        return None
    fields = dict(section)
    payload = b"".join(encoded for _, encoded in section[1:])
    scheme = payload[0]
    version, flags = struct.unpack("<BH", payload[1:4])
    name = SCHEMES.get(scheme, "private" if 0xF0 <= scheme <= 0xFE else "unknown")
    result = {
        "quantization_length": len(payload),
        "scheme_tag": scheme,
        "scheme_version": version,
        "flags": flags,
        "scheme": name,
    }
    if scheme in (2, 3):
        result["symmetric"] = flags & 1 == 1
    if scheme in SCHEMES:
        for field, (key, form) in SCHEME_FIELDS.items():
            if field in fields:
                put(result, key, fields[field], form)
    result["raw_hex"] = payload.hex()
    return result


def plain(section, forms):
    if section is None:
        return None
    fields = dict(section)
    result = {}
    for name, form in forms.items():
        put(result, name, fields[name], form)
    return result


def statistics(section):
    """Null or the fields of a statistics section."""
    return plain(section, STATISTICS_FIELDS)


def extension_type(section):
    """Null or the fields of an extension type section."""
    return plain(section, EXTENSION_FIELDS)


def composite_member(section):
    """Null or the fields of a composite member section."""
    return plain(section, {"member_role": "<B"})
