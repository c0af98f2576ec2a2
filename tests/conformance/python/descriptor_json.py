"""A descriptor as the JSON object of the golden manifests, and back through the builder."""

import hurray


def describe(descriptor, input_length):
    """Every field, read through the binding."""
    shard = descriptor.shard
    strides = descriptor.strides
    return {
        "version_major": descriptor.version[0],
        "version_minor": descriptor.version[1],
        "descriptor_length": len(descriptor),
        "trailing_bytes": input_length - len(descriptor),
        "flags": descriptor.flags,
        "type": descriptor.dtype.name.lower(),
        "type_tag": int(descriptor.dtype),
        "layout": descriptor.layout.name.lower(),
        "layout_tag": int(descriptor.layout),
        "rank": len(descriptor.shape),
        "shape": list(descriptor.shape),
        "byte_offset": descriptor.byte_offset,
        "layout_fields": {} if strides is None else {"strides": list(strides)},
        "buffers": [buffer._asdict() for buffer in descriptor.buffers],
        "quantization": None,
        "shard": None if shard is None else {"parent_shape": list(shard.parent_shape),
                                             "shard_offset": list(shard.shard_offset)},
        "statistics": None,
        "extension_type": None,
        "composite_member": None,
    }


def reencode(descriptor):
    """The bytes of a descriptor that is built anew from the fields; a later minor version's from the decoded one, whose
    unknown bytes no field holds."""
    if descriptor.version != (1, 0):
        return descriptor.encode()
    return hurray.Descriptor.build(
        descriptor.dtype,
        descriptor.shape,
        layout=descriptor.layout,
        strides=descriptor.strides,
        byte_offset=descriptor.byte_offset,
        shard=descriptor.shard,
        buffers=descriptor.buffers,
    ).encode()
