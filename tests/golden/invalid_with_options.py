"""What a reader refuses whatever its options: name, descriptor, code, field at fault and options."""

import dataclasses

from indexed_layouts import Composite, Private, indexed
from invalid_descriptors import COMPOSITE, QUANTIZATION, STRUCTURE, TYPE
from invalid_layouts import cut, cuts
from sections import T, per_channel, quantized, section
from valid_with_options import PERMISSIVE, PRIVATE_TAGS
from wire import DYNAMIC, Descriptor, Handle

F32 = T["float32"]


def private_tags():
    for device in (0xF0, 0xFE):
        for memory in (0x01, 0x02, 0x03, 0x04, 0xEF, 0xFF):
            wrong = Descriptor(F32, (16,), buffers=(Handle(64, 64, device, 0, memory),))
            yield f"private_device_{device:02x}_class_{memory:02x}", wrong, TYPE, "buffers[0].memory_class"
    for device in (0x09, 0xEF, 0xFF):
        wrong = Descriptor(F32, (15,), buffers=(Handle(64, 64, device),))
        yield f"device_{device:02x}_though_private_ones_are_allowed", wrong, TYPE, "buffers[0].device_tag"
    layout = Private(0xF4, 5, b"some data")
    tensor = indexed(F32, (3, 4), layout)
    two = dataclasses.replace(tensor, buffers=(Handle(8, 64, 0xF1), Handle(8, 64, 0xF2)))
    yield "private_devices_differ", two, TYPE, "buffers[1].device_tag"
    two = dataclasses.replace(tensor, buffers=(Handle(8, 64, 0xF1, 0, 0xF1), Handle(8, 64, 0xF1, 0, 0xF2)))
    yield "private_classes_differ", two, TYPE, "buffers[1].memory_class"
    for name, wrong, code, field in cuts("private_layout", tensor):
        # Of data that end early the length says too much.
        yield name, wrong, code, "extension_data_length" if field == "extension_data" else field
    for length in (10 + 17 + 1, 2**31, 2**32 - 1):
        wrong = dataclasses.replace(tensor, layout=dataclasses.replace(layout, length=length))
        yield f"private_layout_length_{length}", wrong, STRUCTURE, "extension_data_length"
    yield "private_layout_scalar", dataclasses.replace(tensor, shape=(), buffers=tensor.table()), STRUCTURE, "rank"
    yield "private_layout_left_over", dataclasses.replace(tensor, trailing=b"\0"), STRUCTURE, "@trailing"
    wrong = dataclasses.replace(tensor, buffers=(Handle(48, 32),))
    yield "private_layout_alignment", wrong, STRUCTURE, "buffers[0].alignment"
    for scheme in (0x00, 0x06, 0x60, 0xEF, 0xFF):
        wrong = quantized("int8", (7,), section(scheme, [("rest", bytes(12))]))
        yield f"scheme_{scheme:02x}_though_private_ones_are_allowed", wrong, QUANTIZATION, "scheme"
    for rule in (0x00, 0x04, 0xEF, 0xFF):
        wrong = indexed(F32, (8, 7), Composite(rule))
        yield f"composite_rule_{rule:02x}_though_private_ones_are_allowed", wrong, COMPOSITE, "composition_rule"
    wrong = indexed(F32, (8, 8), Composite(0xF0, 1, 2**32 - 1))
    yield "composite_private_open", wrong, COMPOSITE, "member_count"
    wrong = indexed(F32, (8, 8), Composite(0xF0, 1, 2, b"\1\0"))
    yield "composite_private_reserved", wrong, COMPOSITE, "reserved"
    for tag in (0x00, 0x0C, 0xEF, 0xFF):
        wrong = Descriptor(F32, (3, 4), tag, buffers=(Handle(47),))
        yield f"layout_{tag:02x}_though_private_ones_are_allowed", wrong, STRUCTURE, "layout_tag"
    payload = dataclasses.replace(tensor, type_tag=T["int8"], quantization=per_channel(2, 0))
    yield "private_layout_axis", payload, QUANTIZATION, "axis"


def permissive():
    for tag in (0x00, 0xFF):
        wrong = Descriptor(tag, (3, 4), buffers=(Handle(46),))
        yield f"type_{tag:02x}_permissive", wrong, TYPE, "type_tag"
        wrong = Descriptor(F32, (3, 4), tag, buffers=(Handle(46),))
        yield f"layout_{tag:02x}_permissive", wrong, STRUCTURE, "layout_tag"
        wrong = quantized("int8", (6,), section(tag, [("rest", bytes(12))]))
        yield f"scheme_{tag:02x}_permissive", wrong, QUANTIZATION, "scheme"
    wrong = Descriptor(0xF0, (3, 4), buffers=(Handle(46),))
    yield "type_f0_undescribed_permissive", wrong, TYPE, "type_tag"
    unknown = Descriptor(F32, (3, 4), 0x3E, buffers=(Handle(46),))
    for bit in (5, 31):
        wrong = dataclasses.replace(unknown, flags=1 << bit)
        yield f"flag_bit_{bit}_permissive", wrong, STRUCTURE, "flags"
    yield "rank_65_permissive", dataclasses.replace(unknown, shape=(1,) * 65), STRUCTURE, "rank"
    yield "unknown_layout_shape_wraps", dataclasses.replace(unknown, shape=(2**40, 2**40)), STRUCTURE, "shape[1]"
    for field, kept in (("shape[0]", 0), ("shape[1]", 7), ("byte_offset", 0), ("byte_offset", 7)):
        plain = field.replace("[", "_").replace("]", "")
        yield f"unknown_layout_cut_{plain}_{kept}", cut(unknown, field, kept), STRUCTURE, field
    wrong = dataclasses.replace(unknown, shape=(3, DYNAMIC), parent_shape=(3, 4), shard_offset=(0, 0))
    yield "unknown_layout_dynamic_shard", wrong, STRUCTURE, "shape[1]"
    unknown = Descriptor(0x3E, (3, 4), buffers=(Handle(46),))
    yield "unknown_type_two_buffers", dataclasses.replace(unknown, buffers=(Handle(46),) * 2), STRUCTURE, "buffer_count"
    yield "unknown_type_byte_offset", dataclasses.replace(unknown, byte_offset=47), STRUCTURE, "byte_offset"
    yield "unknown_type_reserved", dataclasses.replace(unknown, buffers=(Handle(46, reserved=1),)), STRUCTURE, (
        "buffers[0].reserved"
    )
    yield "unknown_type_left_over", dataclasses.replace(unknown, trailing=b"\0"), STRUCTURE, "@trailing"
    for rule in (0xF0, 0xFE):
        wrong = indexed(F32, (8, 6), Composite(rule))
        yield f"composite_rule_{rule:02x}_permissive", wrong, COMPOSITE, "composition_rule"


def all_wrong():
    for name, descriptor, code, field in private_tags():
        yield name, descriptor, code, field, [PRIVATE_TAGS]
    for name, descriptor, code, field in permissive():
        yield name, descriptor, code, field, [PERMISSIVE]
