"""Sparse, block-paged, composite and private descriptors that every strict reader must refuse: name, descriptor, code and
field at fault. Behind an @, the field is only where the fault is: a section that may not be there, or that is missing."""

import dataclasses

import sections
from indexed_layouts import (
    ADD,
    CSR,
    GROUP,
    OVERLAY,
    PARTITION,
    REPLACE,
    Composite,
    Coo,
    Csf,
    Paged,
    Private,
    csc,
    csr,
    handles,
    indexed,
)
from invalid_descriptors import COMPOSITE, QUANTIZATION, STRUCTURE, SYNC, TYPE
from sections import T, member, per_block, per_channel, per_tensor
from wire import Descriptor, Handle

F32 = T["float32"]
F16 = T["float16"]
I8 = T["int8"]
U8 = T["uint8"]
SHARD = {"parent_shape": (8, 10), "shard_offset": (4, 5)}
MOST = 2**64 - 1


def changed(tensor, **fields):
    return dataclasses.replace(tensor, **fields)


def with_sizes(tensor, *sizes):
    return changed(tensor, buffers=handles(*sizes))


def sizes_of(tensor):
    return [handle.byte_size for handle in tensor.table()]


def cut(tensor, field, kept=0):
    """A descriptor that says itself that it ends within a field, of which `kept` bytes are there."""
    return changed(tensor, length=tensor.offset_of(field) + kept)


def cuts(name, tensor):
    """The fields of a layout that end early, each before it and in it."""
    for field, encoded in tensor.layout.fields():
        plain = field.replace("[", "_").replace("]", "")
        for kept in sorted({0, len(encoded) - 1} - {-1}):
            yield f"{name}_cut_{plain}_{kept}", cut(tensor, field, kept), STRUCTURE, field


def short_buffers(name, tensor):
    """Each buffer in turn with one byte less than its entries take."""
    sizes = sizes_of(tensor)
    for index, size in enumerate(sizes):
        if size == 0:
            continue
        shorter = [*sizes[:index], size - 1, *sizes[index + 1 :]]
        yield f"{name}_buffer_{index}_short", with_sizes(tensor, *shorter), STRUCTURE, f"buffers[{index}].byte_size"


def counts(name, tensor):
    """One buffer less and one more than the layout has."""
    sizes = sizes_of(tensor)
    yield f"{name}_buffer_too_few", with_sizes(tensor, *sizes[:-1]), STRUCTURE, "buffer_count"
    yield f"{name}_buffer_too_many", with_sizes(tensor, *sizes, 64), STRUCTURE, "buffer_count"
    yield f"{name}_no_buffers", with_sizes(tensor), STRUCTURE, "buffer_count"


def wrong_statistics(name, tensor, nnz):
    for wrong in (nnz - 1, nnz + 1, MOST):
        section = sections.statistics(1, 0, (0,) * 6, wrong)
        # The statistics have a field of the name of the layout's.
        section = tuple((("statistics nnz" if field == "nnz" else field), encoded) for field, encoded in section)
        yield f"{name}_statistics_{wrong}", changed(tensor, statistics=section), STRUCTURE, "statistics nnz"


def reserved(name, tensor, code=STRUCTURE):
    for byte in (b"\x01", b"\x80"):
        wrong = byte + tensor.layout.reserved[1:]
        yield f"{name}_reserved_{byte.hex()}", changed(
            tensor, layout=dataclasses.replace(tensor.layout, reserved=wrong)
        ), code, "reserved"


def common(name, tensor, nnz):
    """What is wrong with any sparse layout."""
    for offset in (1, MOST):
        yield f"{name}_byte_offset_{offset}", changed(tensor, byte_offset=offset), STRUCTURE, "byte_offset"
    yield from short_buffers(name, tensor)
    yield from counts(name, tensor)
    yield from reserved(name, tensor)
    yield from cuts(name, tensor)
    yield from wrong_statistics(name, tensor, nnz)
    empty = tuple(0 for _ in tensor.shape)
    yield f"{name}_nnz_of_nothing", changed(tensor, shape=empty, buffers=tensor.table()), STRUCTURE, "nnz"
    most = dataclasses.replace(tensor.layout, nnz=MOST)
    yield f"{name}_nnz_largest", changed(tensor, layout=most, buffers=tensor.table()), STRUCTURE, "nnz"
    yield f"{name}_scalar", changed(tensor, shape=(), buffers=tensor.table()), STRUCTURE, "rank"
    table = tensor.table()
    wrong = (*table[:-1], changed(table[-1], device_tag=1))
    yield f"{name}_two_devices", changed(tensor, buffers=wrong), TYPE, f"buffers[{len(table) - 1}].device_tag"
    wrong = (*table[:-1], changed(table[-1], memory_class=1))
    yield f"{name}_two_classes", changed(tensor, buffers=wrong), TYPE, f"buffers[{len(table) - 1}].memory_class"
    wrong = (table[0], changed(table[1], alignment=32), *table[2:])
    yield f"{name}_index_alignment", changed(tensor, buffers=wrong), STRUCTURE, "buffers[1].alignment"
    wrong = (table[0], changed(table[1], sync_mode=1), *table[2:])
    yield f"{name}_index_sync", changed(tensor, buffers=wrong), SYNC, "buffers[1].sync_mode"
    payload = per_tensor(0.0)
    integers = changed(tensor, type_tag=I8, quantization=payload, buffers=tensor.table())
    yield f"{name}_quantized_scale", integers, QUANTIZATION, "scale"
    extra = changed(tensor, type_tag=I8, quantization=per_tensor(1), buffers=(*tensor.table(), Handle(4)))
    yield f"{name}_quantized_extra", extra, STRUCTURE, "buffer_count"
    own = len(tensor.table())
    for index in sorted({0, 1, own - 1, own + 1}):
        wrong = changed(
            tensor,
            type_tag=I8,
            quantization=per_channel(0, index),
            buffers=(*tensor.table(), Handle(4 * tensor.shape[0])),
        )
        yield f"{name}_scales_in_buffer_{index}", wrong, QUANTIZATION, "scale_buffer"
    yield f"{name}_byte_offset_before_nnz", changed(tensor, byte_offset=8, layout=most, buffers=table), (
        STRUCTURE
    ), "byte_offset"
    yield f"{name}_nnz_before_reserved", changed(
        tensor, layout=dataclasses.replace(most, reserved=b"\xff" * len(tensor.layout.reserved)), buffers=table
    ), STRUCTURE, "nnz"


def coo():
    tensor = indexed(F32, (4, 5), Coo(3))
    yield from common("coo", tensor, 3)
    yield "coo_nnz_21_of_20", indexed(F32, (4, 5), Coo(21)), STRUCTURE, "nnz"
    for value in (2, 0xFF):
        yield f"coo_is_sorted_{value}", indexed(F32, (4, 5), Coo(3, value)), STRUCTURE, "is_sorted"
    yield "coo_is_sorted_before_reserved", indexed(F32, (4, 5), Coo(3, 2, b"\1" * 7)), STRUCTURE, "is_sorted"
    yield "coo_reserved_before_count", changed(
        indexed(F32, (4, 5), Coo(3, 1, b"\1" * 7)), buffers=()
    ), STRUCTURE, "reserved"
    # 2^61 indices of two numbers of 8 bytes each are 2^65 bytes.
    huge = indexed(U8, (2**32, 2**29), Coo(2**61))
    yield "coo_indices_wrap", with_sizes(huge, 2**61, MOST), STRUCTURE, "buffers[1].byte_size"
    yield "coo_indices_wrap_to_0", with_sizes(huge, 2**61, 0), STRUCTURE, "buffers[1].byte_size"
    yield "coo_values_wrap", with_sizes(
        indexed(T["complex128"], (2**62,), Coo(2**60)), 0, MOST
    ), STRUCTURE, "buffers[0].byte_size"
    yield "coo_bool_values_short", with_sizes(indexed(T["bool"], (4, 5), Coo(9)), 1, 144), STRUCTURE, (
        "buffers[0].byte_size"
    )
    yield "coo_int4_values_short", with_sizes(indexed(T["int4"], (4, 5), Coo(3)), 1, 48), STRUCTURE, (
        "buffers[0].byte_size"
    )
    yield "coo_shard_outside", indexed(
        F32, (4, 5), Coo(3), parent_shape=(8, 10), shard_offset=(4, 6)
    ), STRUCTURE, "shard_offset[1]"
    yield "coo_shape_wraps", indexed(U8, (2**32, 2**32), Coo(3)), STRUCTURE, "shape[1]"
    yield "coo_values_before_indices", with_sizes(tensor, 11, 47), STRUCTURE, "buffers[0].byte_size"
    yield "coo_count_before_sizes", with_sizes(tensor, 11), STRUCTURE, "buffer_count"


def compressed():
    for name, make, tag in (("csr", csr, CSR), ("csc", csc, CSR + 1)):
        tensor = indexed(F32, (4, 5), make(5))
        yield from common(name, tensor, 5)
        yield f"{name}_nnz_21_of_20", indexed(F32, (4, 5), make(21)), STRUCTURE, "nnz"
        for rank in (1, 3, 64):
            wrong = changed(tensor, shape=(2,) * rank, buffers=tensor.table())
            yield f"{name}_rank_{rank}", wrong, STRUCTURE, "rank"
        # As many pointers as the other dimension has.
        other = indexed(F32, (5, 4) if tag == CSR else (4, 5), make(5))
        yield f"{name}_pointers_of_the_other", with_sizes(other, 20, 40, 40), STRUCTURE, "buffers[2].byte_size"
        huge = (2**61, 1) if tag == CSR else (1, 2**61)
        yield f"{name}_pointers_wrap", indexed(U8, huge, make(0), buffers=handles(0, 0, 8)), STRUCTURE, (
            "buffers[2].byte_size"
        )
        huge = (2**62, 2) if tag == CSR else (2, 2**62)
        yield f"{name}_indices_wrap", indexed(U8, huge, make(2**61), buffers=handles(2**61, 0, MOST)), STRUCTURE, (
            "buffers[1].byte_size"
        )
        yield f"{name}_reserved_last", changed(tensor, layout=make(5, reserved=b"\1" + bytes(6) + b"\1")), STRUCTURE, (
            "reserved"
        )
        yield f"{name}_shard_outside", changed(tensor, parent_shape=(8, 8), shard_offset=(5, 3)), STRUCTURE, (
            "shard_offset[0]"
        )
        yield f"{name}_indices_before_pointers", with_sizes(tensor, 20, 39, 0), STRUCTURE, "buffers[1].byte_size"


def csf():
    tensor = indexed(F32, (2, 3, 4), Csf(4, (0, 1, 2), (2, 3)))
    yield from common("csf", tensor, 4)
    yield "csf_nnz_25_of_24", indexed(F32, (2, 3, 4), Csf(25, (0, 1, 2))), STRUCTURE, "nnz"
    for rank in (1, 2):
        wrong = indexed(F32, (2,) * rank, Csf(1, (0,) * rank), buffers=handles(4, *(16, 8) * rank))
        yield f"csf_rank_{rank}", wrong, STRUCTURE, "rank"
    for name, order, at in (
        ("duplicate", (0, 1, 0), 2),
        ("duplicate_first", (1, 1, 2), 1),
        ("all_zero", (0, 0, 0), 1),
        ("out_of_range", (0, 3, 1), 1),
        ("out_of_range_first", (2**32 - 1, 0, 1), 0),
        ("wraps", (0, 1, 2**32 - 1), 2),
        ("64", (0, 64, 1), 1),
    ):
        wrong = indexed(F32, (2, 3, 4), Csf(4, order, (2, 3)))
        yield f"csf_order_{name}", wrong, STRUCTURE, f"mode_order[{at}]"
    yield "csf_order_before_reserved", indexed(F32, (2, 3, 4), Csf(4, (0, 1, 1), (2, 3), b"\1" * 8)), STRUCTURE, (
        "mode_order[2]"
    )
    yield "csf_nnz_before_order", indexed(F32, (2, 3, 4), Csf(25, (3, 3, 3))), STRUCTURE, "nnz"
    sizes = sizes_of(tensor)
    for index in range(1, 7):
        longer = [*sizes[:index], sizes[index] + 8, *sizes[index + 1 :]]
        # Another count of nodes is the fault of the array of the next level that does not go with it.
        at = index + 1 if index in (2, 4) else index
        yield f"csf_buffer_{index}_longer", with_sizes(tensor, *longer), STRUCTURE, f"buffers[{at}].byte_size"
    yield "csf_no_root", with_sizes(tensor, 16, 8, *sizes[2:]), STRUCTURE, "buffers[1].byte_size"
    empty = indexed(F32, (2, 3, 4), Csf(0, (0, 1, 2)))
    yield "csf_empty_with_nodes", with_sizes(empty, 0, 16, 8, 16, 8, 16, 0), STRUCTURE, "buffers[2].byte_size"
    yield "csf_shard", changed(tensor, parent_shape=(2, 3, 4), shard_offset=(0, 0, 0)), STRUCTURE, (
        "@parent_shape[0]"
    )
    yield "csf_shape_wraps", indexed(U8, (2**32, 2**31, 2), Csf(1, (0, 1, 2))), STRUCTURE, "shape[2]"


def paged():
    tensor = indexed(F16, (9, 2, 8), Paged())

    def wrong(**fields):
        buffers = fields.pop("buffers", None)
        return changed(tensor, layout=dataclasses.replace(tensor.layout, **fields), buffers=buffers)

    for offset in (1, MOST):
        yield f"paged_byte_offset_{offset}", changed(tensor, byte_offset=offset), STRUCTURE, "byte_offset"
    yield "paged_page_size_0", wrong(page_size=0), STRUCTURE, "page_size"
    for axis in (1, 2, 3, 2**32 - 1):
        yield f"paged_axis_{axis}", wrong(paged_axis=axis), STRUCTURE, "paged_axis"
    for role in (3, 0x80, 0xFF):
        yield f"paged_role_{role:02x}", wrong(kv_role=role), STRUCTURE, "kv_role"
    for index_type in (2, 0xFF):
        yield f"paged_index_type_{index_type:02x}", wrong(index_type=index_type), STRUCTURE, "block_table_index_type"
    yield from reserved("paged", tensor)
    yield from cuts("paged", tensor)
    for rank in (1, 2, 4, 64):
        shape = (9, 2, 8, 1)[:rank] if rank < 64 else (1,) * 64
        yield f"paged_rank_{rank}", changed(tensor, shape=shape, buffers=tensor.table()), STRUCTURE, "rank"
    yield "paged_scalar", changed(tensor, shape=(), buffers=tensor.table()), STRUCTURE, "rank"
    yield from counts("paged", tensor)
    yield "paged_pool_short", with_sizes(tensor, 639, 12, 12), STRUCTURE, "buffers[0].byte_size"
    yield "paged_pool_int4_short", with_sizes(
        indexed(T["int4"], (9, 1, 1), Paged(page_size=3, num_pages=1)), 1, 12, 12
    ), STRUCTURE, "buffers[0].byte_size"
    yield "paged_pointers_short", with_sizes(tensor, 640, 12, 11), STRUCTURE, "buffers[2].byte_size"
    yield "paged_no_pointers", with_sizes(tensor, 640, 12, 0), STRUCTURE, "buffers[2].byte_size"
    wide = wrong(index_type=1)
    yield "paged_wide_pointers_short", with_sizes(wide, 640, 24, 12), STRUCTURE, "buffers[2].byte_size"
    yield "paged_pool_wraps", wrong(num_pages=2**62, buffers=handles(64, 12, 12)), STRUCTURE, "buffers[0].byte_size"
    yield "paged_pool_wraps_to_0", wrong(num_pages=2**60, page_size=16, buffers=handles(0, 12, 12)), STRUCTURE, (
        "buffers[0].byte_size"
    )
    yield "paged_most_pages", wrong(num_pages=MOST, buffers=handles(64, 12, 12)), STRUCTURE, "buffers[0].byte_size"
    yield "paged_shard", changed(tensor, parent_shape=(9, 2, 8), shard_offset=(0, 0, 0)), STRUCTURE, (
        "@parent_shape[0]"
    )
    yield "paged_shape_wraps", changed(tensor, shape=(2**32, 2**32, 2), buffers=tensor.table()), STRUCTURE, "shape[1]"
    table = tensor.table()
    yield "paged_two_devices", changed(tensor, buffers=(*table[:2], changed(table[2], device_tag=1))), TYPE, (
        "buffers[2].device_tag"
    )
    yield "paged_offset_before_page_size", changed(
        tensor, byte_offset=2, layout=Paged(page_size=0), buffers=table
    ), STRUCTURE, "byte_offset"
    yield "paged_page_size_before_axis", wrong(page_size=0, paged_axis=9), STRUCTURE, "page_size"
    yield "paged_axis_before_role", wrong(paged_axis=1, kv_role=9), STRUCTURE, "paged_axis"
    yield "paged_role_before_index_type", wrong(kv_role=9, index_type=9), STRUCTURE, "kv_role"
    yield "paged_index_type_before_reserved", wrong(index_type=9, reserved=b"\1" * 6), STRUCTURE, (
        "block_table_index_type"
    )
    yield "paged_reserved_before_count", wrong(reserved=b"\1" * 6, buffers=()), STRUCTURE, "reserved"

    def quantized(payload, *parameters, type_tag=I8):
        stored = changed(tensor, type_tag=type_tag)
        return changed(stored, quantization=payload, buffers=stored.table() + handles(*parameters))

    yield "paged_channel_axis_0", quantized(per_channel(0, 3), 36), QUANTIZATION, "axis"
    for axis, size in ((1, 2), (2, 8)):
        yield f"paged_block_axis_{axis}", quantized(per_block(axis, 4, 3), 4 * size), QUANTIZATION, "axis"
    for block in (2, 8):
        yield f"paged_block_{block}_of_4", quantized(per_block(0, block, 3), 80), QUANTIZATION, "block_size"
    for size in (79, 81, 12, 0):
        yield f"paged_block_scales_{size}", quantized(per_block(0, 4, 3), size), QUANTIZATION, "scale_buffer"
    yield "paged_block_zero_points_short", quantized(per_block(0, 4, 3, 4, flags=0), 80, 79), QUANTIZATION, (
        "zero_point_buffer"
    )
    yield "paged_block_shared_short", quantized(per_block(0, 4, 3, 3, flags=0), 159), QUANTIZATION, "scale_buffer"
    for index in (0, 1, 2, 4):
        yield f"paged_scales_in_buffer_{index}", quantized(per_block(0, 4, index), 80), QUANTIZATION, "scale_buffer"
    yield "paged_channel_scales_short", quantized(per_channel(1, 3), 7), QUANTIZATION, "scale_buffer"
    yield "paged_tensor_extra", quantized(per_tensor(), 4), STRUCTURE, "buffer_count"
    yield "paged_block_missing", quantized(per_block(0, 4, 3)), STRUCTURE, "buffer_count"


def composite():
    head = indexed(F32, (8, 8), Composite())

    def wrong(**fields):
        return changed(head, layout=dataclasses.replace(head.layout, **fields))

    for rule in (0x00, 0x04, 0x7F, 0xEF, 0xF0, 0xFE, 0xFF):
        yield f"composite_rule_{rule:02x}", wrong(rule=rule), COMPOSITE, "composition_rule"
    for rule, name in ((PARTITION, "partition"), (GROUP, "group")):
        for op in (REPLACE, ADD, 0xFF):
            yield f"composite_{name}_op_{op:02x}", wrong(rule=rule, combine_op=op), COMPOSITE, "combine_op"
    for op in (0x00, 0x03, 0xF0, 0xFF):
        yield f"composite_overlay_op_{op:02x}", wrong(rule=OVERLAY, combine_op=op), COMPOSITE, "combine_op"
    yield from reserved("composite", head, COMPOSITE)
    for rule, op in ((PARTITION, 0), (OVERLAY, ADD), (GROUP, 0)):
        yield f"composite_open_{rule}", wrong(rule=rule, combine_op=op, member_count=2**32 - 1), COMPOSITE, (
            "member_count"
        )
    yield "composite_overlay_of_nothing", wrong(rule=OVERLAY, combine_op=REPLACE, member_count=0), COMPOSITE, (
        "member_count"
    )
    for offset in (1, MOST):
        yield f"composite_byte_offset_{offset}", changed(head, byte_offset=offset), STRUCTURE, "byte_offset"
    yield "composite_buffer", with_sizes(head, 256), STRUCTURE, "buffer_count"
    yield "composite_buffers_empty", with_sizes(head, 0, 0), STRUCTURE, "buffer_count"
    yield "composite_scalar", changed(head, shape=()), STRUCTURE, "rank"
    yield "composite_shape_wraps", changed(head, shape=(2**32, 2**32)), STRUCTURE, "shape[1]"
    yield "composite_quantized", changed(head, type_tag=I8, quantization=per_tensor()), COMPOSITE, (
        "@quantization_length"
    )
    yield "composite_member_section", changed(head, composite_member=member(0)), COMPOSITE, "@member_role"
    yield "composite_shard_outside", changed(head, parent_shape=(8, 9), shard_offset=(0, 2)), STRUCTURE, (
        "shard_offset[1]"
    )
    yield "composite_undescribed_type", changed(head, type_tag=0xF0), TYPE, "type_tag"
    # Each of its reserved bytes is a field of its own.
    yield from (cut_off for cut_off in cuts("composite", head) if cut_off[0] != "composite_cut_reserved_1")
    yield "composite_offset_before_rule", changed(head, byte_offset=1, layout=Composite(0)), STRUCTURE, "byte_offset"
    yield "composite_rule_before_op", wrong(rule=0, combine_op=9, reserved=b"\1\1"), COMPOSITE, "composition_rule"
    yield "composite_op_before_reserved", wrong(combine_op=9, reserved=b"\1\1"), COMPOSITE, "combine_op"
    yield "composite_reserved_before_members", wrong(reserved=b"\1\1", member_count=2**32 - 1), COMPOSITE, (
        "reserved"
    )
    yield "composite_members_before_count", with_sizes(wrong(member_count=2**32 - 1), 64), COMPOSITE, (
        "member_count"
    )


def private():
    """Private layouts, which a strict reader refuses by their tag."""
    for tag in (0xF0, 0xFE):
        tensor = indexed(F32, (3, 4), Private(tag, 1, b"own"))
        yield f"layout_{tag:02x}_not_allowed", tensor, STRUCTURE, "layout_tag"


def combinations():
    """Faults in sections of layouts that are right themselves; of several the earliest counts."""
    tensor = indexed(I8, (4, 5), Coo(3))
    full = {
        "quantization": per_channel(0, 2),
        "buffers": tensor.table() + handles(16),
        "statistics": sections.statistics(1, 0, (0,) * 6, 3),
        "composite_member": member(0),
        **SHARD,
    }
    yield "sections_coo_axis", changed(tensor, **{**full, "quantization": per_channel(2, 2)}), QUANTIZATION, "axis"
    yield "sections_coo_shard", changed(tensor, **{**full, "parent_shape": (3, 5)}), STRUCTURE, "parent_shape[0]"
    yield "sections_coo_role", changed(tensor, **{**full, "composite_member": member(2)}), COMPOSITE, "member_role"
    yield "sections_coo_mask", changed(
        tensor, **{**full, "statistics": sections.statistics(64)}
    ), STRUCTURE, "computed_mask"
    everything = {
        **full,
        "quantization": per_channel(2, 9, 9, 9),
        "parent_shape": (0, 0),
        "statistics": sections.statistics(2**32 - 1),
        "composite_member": member(9),
    }
    yield "sections_quantization_before_shard", changed(tensor, **everything), QUANTIZATION, "axis"
    everything["quantization"] = full["quantization"]
    yield "sections_shard_before_statistics", changed(tensor, **everything), STRUCTURE, "parent_shape[0]"
    everything["parent_shape"] = full["parent_shape"]
    yield "sections_statistics_before_member", changed(tensor, **everything), STRUCTURE, "computed_mask"
    base = Descriptor(0xF0, (3,), buffers=handles(9), extension_type=sections.extension(**sections.FLOAT24))
    wrong = changed(base, extension_type=sections.extension(bit_width=0), composite_member=member(9))
    yield "sections_extension_before_member", wrong, TYPE, "bit_width"
    wrong = changed(wrong, statistics=sections.statistics(64))
    yield "sections_statistics_before_extension", wrong, STRUCTURE, "computed_mask"
    # The flag of a section that is not there.
    for name, flag in (("quantization", 1), ("shard", 2), ("statistics", 8), ("member", 16)):
        yield f"sections_{name}_missing", Descriptor(F32, (3, 4), flags=flag), STRUCTURE, "@trailing"


def all_wrong():
    for group in (coo, compressed, csf, paged, composite, private, combinations):
        yield from group()
