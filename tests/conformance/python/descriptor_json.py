"""A descriptor as the JSON object of the golden manifests, and back through the builder."""

import math
import struct

import hurray
from hurray import Layout

NO_BUFFER = 2**32 - 1
NO_LAYER = 2**32 - 1


def floats(name, value, form):
    """A field as a number, where it is finite, and as its bits."""
    return {name: value if math.isfinite(value) else None, f"{name}_bits": struct.pack(form, value).hex()}


def type_name(tag):
    try:
        return hurray.ElementType(tag).name.lower()
    except ValueError:
        return "private" if 0xF0 <= tag <= 0xFE else "unknown"


def layout_name(tag):
    try:
        return Layout(tag).name.lower()
    except ValueError:
        return "private_extension" if 0xF0 <= tag <= 0xFE else "unknown"


def tiled_json(levels):
    first, *rest = levels
    return {"tile_shape": list(first.tile_shape), "outer_layout": int(first.outer_layout),
            "inner_layout": int(first.inner_layout), "outer_strides": list(first.outer_strides or ()),
            "inner_strides": list(first.inner_strides or ()), "inner_tiled": tiled_json(rest) if rest else None}


def layout_json(fields, rank):
    match fields:
        case hurray.Strided(strides):
            return {"strides": list(strides)}
        case hurray.Tiled(levels):
            return tiled_json(levels)
        case hurray.Morton(bits):
            return {"morton_bits": list(bits)}
        case hurray.Hilbert(order):
            return {"hilbert_order": order, "hilbert_rank": rank}
        case hurray.Coo(nnz, is_sorted):
            return {"nnz": nnz, "is_sorted": is_sorted}
        case hurray.Csr(nnz) | hurray.Csc(nnz):
            return {"nnz": nnz}
        case hurray.Csf(nnz, mode_order):
            return {"nnz": nnz, "mode_order": list(mode_order)}
        case hurray.BlockPaged():
            return {"page_size": fields.page_size, "num_pages": fields.num_pages, "paged_axis": fields.paged_axis,
                    "num_seqs": fields.num_seqs, "kv_role": int(fields.kv_role),
                    "layer_index": NO_LAYER if fields.layer_index is None else fields.layer_index,
                    "block_table_index_type": int(fields.index_type)}
        case hurray.CompositeHead():
            return {"composition_rule": int(fields.rule), "combine_op": int(fields.combine_op),
                    "member_count": fields.member_count}
        case hurray.PrivateLayout():
            return {"extension_layout_id": fields.id, "extension_data_length": len(fields.data),
                    "extension_data_hex": fields.data.hex()}
    return {}


SCHEMES = {hurray.PerTensorAffine: hurray.Scheme.PER_TENSOR_AFFINE,
           hurray.PerChannelAffine: hurray.Scheme.PER_CHANNEL_AFFINE,
           hurray.PerBlockAffine: hurray.Scheme.PER_BLOCK_AFFINE, hurray.Nf4: hurray.Scheme.NF4,
           hurray.Mxfp: hurray.Scheme.MXFP}


def scheme_json(section):
    if isinstance(section, hurray.PrivateScheme):
        return {"scheme_tag": section.scheme, "flags": section.flags,
                "scheme": "private" if 0xF0 <= section.scheme <= 0xFE else "unknown"}
    scheme = SCHEMES[type(section)]
    result = {"scheme_tag": int(scheme), "flags": 0, "scheme": scheme.name.lower()}
    if isinstance(section, hurray.PerTensorAffine):
        return {**result, **floats("scale", section.scale, ">f"), "zero_point": section.zero_point}
    result["axis"] = section.axis
    if not isinstance(section, hurray.PerChannelAffine):
        result["block_size"] = section.block_size
    result["scale_buffer_index"] = section.scale_buffer
    if isinstance(section, (hurray.Nf4, hurray.Mxfp)):
        return result
    symmetric = section.zero_point_buffer is None
    return {**result, "flags": int(symmetric), "symmetric": symmetric, "scale_type_tag": int(section.scale_type),
            "zero_point_buffer_index": NO_BUFFER if symmetric else section.zero_point_buffer}


def quantization_json(descriptor):
    section = descriptor.quantization
    if section is None:
        return None
    payload = descriptor.quantization_payload
    return {"quantization_length": len(payload), "raw_hex": payload.hex(), "scheme_version": section.version,
            **scheme_json(section)}


def statistics_json(section):
    if section is None:
        return None
    result = {"computed_mask": int(section.computed), "nnz": section.nnz}
    for name, value in (("sparsity_ratio", section.sparsity_ratio), ("value_min", section.min), ("value_max", section.max),
                        ("value_abs_max", section.abs_max), ("value_mean", section.mean),
                        ("value_stddev", section.stddev)):
        result |= floats(name, value, ">d")
    return {**result, "nm_n": section.nm_n, "nm_m": section.nm_m, "has_nan": section.has_nan, "has_inf": section.has_inf}


def extension_json(section):
    if section is None:
        return None
    names = ("bit_width", "packing_factor", "is_float", "is_signed", "sign_bits", "exponent_bits", "mantissa_bits",
             "exponent_bias", "has_nan", "has_inf")
    return {name: getattr(section, name) for name in names}


def describe(descriptor, input_length):
    """Every field, read through the binding."""
    shard = descriptor.shard
    return {
        "version_major": descriptor.version[0],
        "version_minor": descriptor.version[1],
        "descriptor_length": len(descriptor),
        "trailing_bytes": input_length - len(descriptor),
        "flags": descriptor.flags,
        "type": type_name(descriptor.dtype),
        "type_tag": int(descriptor.dtype),
        "layout": layout_name(descriptor.layout),
        "layout_tag": int(descriptor.layout),
        "rank": len(descriptor.shape),
        "shape": list(descriptor.shape),
        "byte_offset": descriptor.byte_offset,
        "layout_fields": layout_json(descriptor.layout_fields, len(descriptor.shape)),
        "buffers": [buffer._asdict() for buffer in descriptor.buffers],
        "quantization": quantization_json(descriptor),
        "shard": None if shard is None else {"parent_shape": list(shard.parent_shape),
                                             "shard_offset": list(shard.shard_offset)},
        "statistics": statistics_json(descriptor.statistics),
        "extension_type": extension_json(descriptor.extension_type),
        "composite_member": None if descriptor.member_role is None else {"member_role": int(descriptor.member_role)},
    }


def rebuild(descriptor, private_tags):
    """The bytes of a descriptor that is built anew from the fields; None for one with tags that nobody knows."""
    if descriptor.is_opaque:
        return None
    fields = descriptor.layout_fields
    return hurray.Descriptor.build(
        descriptor.dtype,
        descriptor.shape,
        layout=descriptor.layout if fields is None else fields,
        byte_offset=descriptor.byte_offset,
        shard=descriptor.shard,
        quantization=descriptor.quantization,
        statistics=descriptor.statistics,
        extension_type=descriptor.extension_type,
        member_role=descriptor.member_role,
        private_tags=private_tags,
        buffers=descriptor.buffers,
    ).encode()
