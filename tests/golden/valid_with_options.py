"""Descriptors that only a reader with options accepts: triples of name, descriptor and options."""

import valid_layouts
import valid_sections
from indexed_layouts import Private, indexed
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


def private():
    """Private tags, which a permissive reader keeps without knowing what was agreed upon."""
    for tag in (0xF1, 0xFD):
        yield f"unknown_private_layout_{tag:02x}", indexed(F32, (5,), Private(tag, 7, b"own"), buffers=(Handle(9),))
        yield f"unknown_private_scheme_{tag:02x}", quantized("int8", (5,), section(tag, [("private", b"abc")]), 3)
        for memory in (0x00, 0xF9):
            yield f"unknown_private_device_{tag:02x}_class_{memory:02x}", Descriptor(
                F32, (5,), buffers=(Handle(20, 64, tag, 2, memory),)
            )


def all_valid():
    for group in (valid_sections.with_private_scheme, valid_layouts.private_layouts):
        for name, descriptor in group():
            yield name, descriptor, [PRIVATE_TAGS]
    for group in (unknown, private):
        for name, descriptor in group():
            yield name, descriptor, [PERMISSIVE]
    yield "unknown_scheme_of_private_layout", quantized(
        "int8",
        (4,),
        section(0x55, []),
        layout_tag=0xF6,
        layout=Private(0xF6, 5, b"x"),
    ), [PERMISSIVE, PRIVATE_TAGS]
