"""Descriptors that only a reader with options accepts: triples of name, descriptor and options."""

import valid_layouts
import valid_sections
from sections import T, quantized, section
from wire import COL_MAJOR, DYNAMIC, Descriptor, Handle

PERMISSIVE, PRIVATE_TAGS = "permissive", "private_tags"
F32 = T["float32"]


def unknown():
    """Tags that a permissive reader keeps without knowing them."""
    for tag in (0x05, 0x3F, 0x47, 0x7F, 0x80, 0xEF):
        yield f"unknown_type_{tag:02x}", Descriptor(tag, (3, 4), buffers=(Handle(5),))
    yield "unknown_type_dynamic", Descriptor(0x60, (3, DYNAMIC), COL_MAJOR, buffers=(Handle(64),))
    for tag in (0x0C, 0x3F, 0x41, 0x7F, 0x80, 0xEF):
        yield f"unknown_layout_{tag:02x}", Descriptor(
            F32, (3, 4), tag, 7, buffers=(Handle(48),), parent_shape=(3, 4), shard_offset=(0, 0)
        )
    yield "unknown_type_and_layout", Descriptor(0x30, (2,), 0x30, buffers=(Handle(1),))
    for scheme in (0x06, 0x3F, 0x40, 0x60, 0x80, 0xEF):
        yield f"unknown_scheme_{scheme:02x}", quantized(
            "int8", (4,), section(scheme, [("private", b"\1\2\3")], version=2, flags=0x8000), 3
        )


def all_valid():
    for group in (valid_sections.with_private_scheme, valid_layouts.private_layouts):
        for name, descriptor in group():
            yield name, descriptor, [PRIVATE_TAGS]
    for name, descriptor in unknown():
        yield name, descriptor, [PERMISSIVE]
    yield "unknown_scheme_of_private_layout", quantized(
        "int8",
        (4,),
        section(0x55, []),
        layout_tag=0xF6,
        layout=valid_layouts.Private(0xF6, 5, b"x"),
    ), [PERMISSIVE, PRIVATE_TAGS]
