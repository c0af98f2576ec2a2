"""What a writer makes of the fields of a valid descriptor, where that is not the same bytes.

Writers emit version 1.0 and truth values of 0 and 1, refuse tiles that do not divide each other, and have no way to say
what they do not know.
"""

import dataclasses

import wire
from dense_layouts import Tiles
from invalid_descriptors import NAMES, STRUCTURE


def misfit(tiles):
    """The field of the first inner tile that does not divide the outer one."""
    level = 2
    while tiles.nested is not None:
        for k, (outer, inner) in enumerate(zip(tiles.shape, tiles.nested.shape)):
            if outer % inner != 0:
                return f"level {level}: tile_shape[{k}]"
        tiles, level = tiles.nested, level + 1
    return None


def with_truth_values(section):
    """Statistics whose flags are 0 or 1."""
    return tuple(
        (name, bytes([min(encoded[0], 1)]) if name in ("has_nan", "has_inf") else encoded) for name, encoded in section
    )


def is_opaque(descriptor, options):
    """Whether there is a tag that the reader does not know."""
    fields = descriptor.as_json()
    scheme = fields["quantization"] or {"scheme": None, "scheme_tag": 0}
    if "unknown" in (fields["type"], fields["layout"], scheme["scheme"]):
        return True
    tags = [fields["layout_tag"], scheme["scheme_tag"]] + [buffer["device_tag"] for buffer in fields["buffers"]]
    return "private_tags" not in options and any(tag in wire.PRIVATE_TAGS for tag in tags)


def expected(descriptor, options):
    """The field of the manifest's entry, or nothing when the bytes are the same."""
    if is_opaque(descriptor, options):
        return {"rebuilt": None}
    if isinstance(descriptor.layout, Tiles):
        field = misfit(descriptor.layout)
        if field is not None:
            error = {"code": STRUCTURE, "name": NAMES[STRUCTURE], "offset": descriptor.offset_of(field)}
            return {"rebuilt": {"error": error}}
    written = dataclasses.replace(descriptor, minor=0, trailing=b"", after=b"")
    if descriptor.statistics is not None:
        written = dataclasses.replace(written, statistics=with_truth_values(descriptor.statistics))
    encoded = written.encoded()
    if encoded == descriptor.encoded()[: len(encoded)]:
        return {}
    return {"rebuilt": encoded.hex()}
