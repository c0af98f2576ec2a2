"""Descriptors of sparse, block-paged, composite and private layouts that every reader must accept."""

import dataclasses

import dense_vectors
import sections
from dense_layouts import Hilbert, Morton, Tiles, dense
from indexed_layouts import (
    ADD,
    GROUP,
    INDEX,
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
from sections import T, blocks_only, member, per_block, per_channel, per_tensor
from wire import COL_MAJOR, DYNAMIC, STRIDED, TYPES, Descriptor, Handle

F32 = T["float32"]
F16 = T["float16"]
U8 = T["uint8"]
I8 = T["int8"]
INT4 = T["int4"]
BOOL = T["bool"]

SHARD = {"parent_shape": (8, 10), "shard_offset": (4, 5)}


def known_nnz(nnz, mask=1):
    return sections.statistics(mask, 0, (0.5, -1, 1, 1, 0, 0.5), nnz)


def quantized(tensor, payload, *parameters):
    """The tensor with buffers of parameters behind its own."""
    return dataclasses.replace(tensor, quantization=payload, buffers=tensor.table() + handles(*parameters))


def coo():
    yield "coo_4x4", indexed(F32, (4, 4), Coo(3))
    yield "coo_unsorted", indexed(F32, (4, 4), Coo(3, 0))
    yield "coo_empty", indexed(F32, (4, 4), Coo(0))
    yield "coo_full", indexed(F32, (2, 3), Coo(6))
    yield "coo_rank_1", indexed(F32, (10,), Coo(2))
    yield "coo_rank_5", indexed(F32, (2, 3, 4, 5, 6), Coo(7))
    yield "coo_rank_64", indexed(U8, (2,) * 63 + (1,), Coo(5, 0))
    yield "coo_no_elements", indexed(F32, (0, 4), Coo(0))
    yield "coo_dynamic", indexed(F32, (DYNAMIC, 4), Coo(3))
    yield "coo_huge_shape", indexed(F32, (2**31, 2**31), Coo(3))
    yield "coo_largest_nnz", indexed(BOOL, (2**60,), Coo(2**60))
    yield "coo_int4_odd", indexed(INT4, (4, 4), Coo(3))
    yield "coo_bool_9", indexed(BOOL, (4, 4), Coo(9))
    yield "coo_float6_5", indexed(T["float6_e2m3"], (4, 4), Coo(5))
    yield "coo_complex128_4x4", indexed(T["complex128"], (4, 4), Coo(2))
    yield "coo_device", indexed(F32, (4, 4), Coo(3), buffers=(Handle(12, 256, 1, 1, 1), Handle(48, 64, 1, 2, 1)))
    yield "coo_shard", indexed(F32, (4, 5), Coo(3), **SHARD)
    yield "coo_statistics", indexed(F32, (4, 4), Coo(3), statistics=known_nnz(3))
    yield "coo_statistics_of_others", indexed(F32, (4, 4), Coo(3), statistics=known_nnz(9, 2))
    yield "coo_quantized", quantized(indexed(I8, (4, 4), Coo(3)), per_tensor(0.5, -3))
    yield "coo_quantized_channels", quantized(indexed(I8, (4, 5), Coo(3)), per_channel(1, 2, 3, flags=0), 20, 20)
    yield "coo_overlay_member", indexed(F16, (4, 5), Coo(3), composite_member=member(0), **SHARD)
    yield "coo_private_type", indexed(
        0xF5, (4, 4), Coo(3), buffers=handles(9, 48), extension_type=sections.extension(**sections.FLOAT24)
    )
    yield "coo_later_minor", indexed(F32, (4, 4), Coo(3), minor=1, trailing=b"\xff" * 9)


def compressed():
    for name, make, lines in (("csr", csr, 0), ("csc", csc, 1)):
        yield f"{name}_4x5", indexed(F32, (4, 5), make(5))
        yield f"{name}_empty", indexed(F32, (4, 5), make(0))
        yield f"{name}_full", indexed(F32, (2, 3), make(6))
        yield f"{name}_no_rows", indexed(F32, (0, 5), make(0))
        yield f"{name}_no_columns", indexed(F32, (5, 0), make(0))
        yield f"{name}_1x1", indexed(T["float64"], (1, 1), make(1))
        dynamic = tuple(DYNAMIC if k == lines else 5 for k in range(2))
        yield f"{name}_dynamic_lines", indexed(F32, dynamic, make(2), buffers=handles(8, 16, 4 * INDEX))
        dynamic = tuple(5 if k == lines else DYNAMIC for k in range(2))
        yield f"{name}_dynamic_width", indexed(F32, dynamic, make(2))
        yield f"{name}_uint2_odd", indexed(T["uint2"], (4, 5), make(5))
        yield f"{name}_bool", indexed(BOOL, (3, 9), make(17))
        yield f"{name}_large", indexed(U8, (2**20, 2**40), make(2**33 + 1))
        yield f"{name}_shard", indexed(F32, (4, 5), make(5), **SHARD)
        yield f"{name}_statistics", indexed(F32, (4, 5), make(5), statistics=known_nnz(5, 63 - 16))
        yield f"{name}_quantized", quantized(indexed(U8, (4, 5), make(5)), per_channel(0, 3), 16)
        yield f"{name}_overlay_member", indexed(F16, (4, 5), make(2), composite_member=member(0), **SHARD)
        yield f"{name}_later_minor", indexed(F32, (4, 5), make(5), minor=9, trailing=b"x")


def csf():
    def make(type_tag, shape, nnz, order=None, nodes=None, **other):
        order = tuple(range(len(shape))) if order is None else order
        return indexed(type_tag, shape, Csf(nnz, order, nodes), **other)

    yield "csf_2x3x4", make(F32, (2, 3, 4), 4, nodes=(2, 3))
    yield "csf_empty", make(F32, (2, 3, 4), 0)
    yield "csf_one", make(F32, (2, 3, 4), 1)
    yield "csf_full", make(F32, (2, 3, 4), 24, nodes=(2, 6))
    for order in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        yield "csf_order_" + "".join(map(str, order)), make(F32, (2, 3, 4), 4, order, (2, 3))
    yield "csf_rank_4", make(F32, (2, 3, 4, 5), 7, (3, 1, 0, 2), (2, 4, 6))
    yield "csf_rank_64", make(U8, (1,) + (2,) * 63, 1, tuple(reversed(range(64))))
    yield "csf_no_elements", make(F32, (2, 0, 4), 0)
    yield "csf_dynamic", make(F32, (2, DYNAMIC, 4), 4, nodes=(2, 3))
    yield "csf_int4_odd", make(INT4, (2, 3, 4), 5, nodes=(1, 2))
    yield "csf_statistics", make(F32, (2, 3, 4), 4, nodes=(2, 3), statistics=known_nnz(4))
    yield "csf_quantized", quantized(make(I8, (2, 3, 4), 4, nodes=(2, 3)), per_tensor(0.125, 7))
    yield "csf_quantized_channels", quantized(make(I8, (2, 3, 4), 4, nodes=(2, 3)), per_channel(2, 7), 16)
    yield "csf_later_minor", make(F32, (2, 3, 4), 4, nodes=(2, 3), minor=2, trailing=bytes(20))


def paged():
    def make(type_tag=F16, shape=(9, 2, 8), **fields):
        other = {key: fields.pop(key) for key in tuple(fields) if key not in Paged.__dataclass_fields__}
        return indexed(type_tag, shape, Paged(**fields), **other)

    yield "paged_example", make(layer_index=3)
    for role in range(3):
        yield f"paged_role_{role}", make(kv_role=role)
    yield "paged_wide_tables", make(index_type=1)
    yield "paged_layer_0", make(layer_index=0)
    yield "paged_no_sequences", make(shape=(0, 2, 8), num_seqs=0, entries=0)
    yield "paged_no_pages", make(shape=(0, 2, 8), num_pages=0, num_seqs=1, entries=0)
    yield "paged_one_token_pages", make(shape=(3, 2, 8), page_size=1)
    yield "paged_largest_pages", make(U8, (2**32 - 1, 1, 1), page_size=2**32 - 1, num_pages=1, num_seqs=1, entries=1)
    yield "paged_many_pages", make(U8, (16, 1, 1), page_size=16, num_pages=2**36, num_seqs=1, entries=1, index_type=1)
    yield "paged_many_sequences", make(num_seqs=2**32 - 1, shape=(0, 2, 8), entries=0)
    yield "paged_no_heads", make(shape=(9, 0, 8))
    yield "paged_no_dimension", make(shape=(9, 2, 0))
    yield "paged_dynamic_tokens", make(shape=(DYNAMIC, 2, 8))
    yield "paged_dynamic_heads", make(shape=(9, DYNAMIC, 8), buffers=handles(640, 12, 12))
    yield "paged_int4_9x3x1", make(INT4, (9, 3, 1))
    yield "paged_float6_9x1x3", make(T["float6_e3m2"], (9, 1, 3))
    yield "paged_shared_prefix", make(shape=(2**20, 2, 8), entries=2**18)
    yield "paged_device", make(buffers=(Handle(640, 4096, 1, 1, 0), Handle(12, 64, 1, 0, 0), Handle(12, 64, 1, 2, 0)))
    yield "paged_quantized_tensor", quantized(make(I8), per_tensor(0.5, 1))
    for axis, size in ((1, 2), (2, 8)):
        yield f"paged_quantized_channels_{axis}", quantized(make(I8), per_channel(axis, 3), 4 * size)
    yield "paged_quantized_blocks", quantized(make(I8), per_block(0, 4, 3), 5 * 4 * 4)
    yield "paged_quantized_blocks_zero_points", quantized(make(INT4), per_block(0, 4, 3, 4, 1, flags=0), 40, 80)
    yield "paged_quantized_blocks_shared", quantized(make(I8), per_block(0, 4, 3, 3, 3, flags=0), 160)
    yield "paged_statistics", make(statistics=known_nnz(100))
    yield "paged_later_minor", make(minor=4, trailing=b"more")


def composite():
    def head(type_tag, shape, *fields, **other):
        return indexed(type_tag, shape, Composite(*fields), **other)

    yield "composite_partition", head(F32, (8, 8), PARTITION, 0, 2)
    yield "composite_overlay_replace", head(F16, (4096, 4096), OVERLAY, REPLACE, 2)
    yield "composite_overlay_add", head(F16, (4096, 4096), OVERLAY, ADD, 3)
    yield "composite_overlay_base_only", head(F16, (4, 4), OVERLAY, REPLACE, 1)
    yield "composite_group", head(F32, (1,), GROUP, 0, 7)
    yield "composite_group_empty", head(F32, (1,), GROUP, 0, 0)
    yield "composite_partition_empty", head(F32, (0, 3), PARTITION, 0, 0)
    yield "composite_most_members", head(F32, (2**20, 2**20), PARTITION, 0, 2**32 - 2)
    yield "composite_rank_64", head(BOOL, (1,) * 64, PARTITION, 0, 1)
    yield "composite_dynamic", head(F32, (DYNAMIC, 8), GROUP, 0, 1)
    yield "composite_nested_member", head(F32, (4, 5), PARTITION, 0, 2, **SHARD)
    yield "composite_statistics", head(F32, (8, 8), PARTITION, 0, 2, statistics=known_nnz(64))
    yield "composite_private_type", head(
        0xF2, (8, 8), PARTITION, 0, 2, extension_type=sections.extension(**sections.FLOAT24)
    )
    yield "composite_later_minor", head(F32, (8, 8), PARTITION, 0, 2, minor=1, trailing=b"\0")


def members():
    """Members of overlays and partitions, which are tensors of any layout."""
    yield "member_base_quantized", Descriptor(
        INT4,
        (4, 64),
        buffers=handles(128, 16),
        quantization=per_block(1, 32, scale_type=1),
        parent_shape=(4, 64),
        shard_offset=(0, 0),
        composite_member=member(1),
    )
    yield "member_correction_strided", Descriptor(
        F32, (2, 3), STRIDED, 20, (-3, 1), buffers=handles(64), parent_shape=(4, 6), shard_offset=(2, 3),
        composite_member=member(0),
    )


def dense_combinations():
    """Layouts with tiles and curves and the sections that they can have."""
    full = sections.statistics(63, 0, (0.25, -1, 2, 2, 0.5, 0.25), 3, (1, 4), (1, 1))
    for name, tensor in (
        ("tiled", dense(I8, (8, 16), Tiles((4, 8)))),
        ("morton", dense(I8, (8, 16), Morton((3, 4)))),
        ("hilbert", dense(I8, (16, 16), Hilbert(4, 2))),
        ("col_major", dense_like(COL_MAJOR)),
    ):
        rows, columns = tensor.shape
        yield f"{name}_quantized_tensor", quantized(tensor, per_tensor(0.5, 5))
        yield f"{name}_quantized_channels", quantized(tensor, per_channel(0, 1, 2, flags=0), 4 * rows, 4 * rows)
        yield f"{name}_quantized_blocks", quantized(tensor, per_block(1, 8), 4 * rows * columns // 8)
        nf4 = dataclasses.replace(tensor, type_tag=T["uint4"])
        yield f"{name}_nf4", quantized(nf4, blocks_only(4, 0, 8), 4 * columns * rows // 8)
        yield f"{name}_mxfp", quantized(tensor, blocks_only(5, 1, 16), rows * columns // 16)
        yield f"{name}_statistics", dataclasses.replace(tensor, statistics=full)
        yield f"{name}_everything", dataclasses.replace(
            quantized(tensor, per_channel(1), 4 * columns),
            parent_shape=(2**40, 2**40),
            shard_offset=(2**39, 7),
            statistics=full,
            composite_member=member(1),
        )
        yield f"{name}_later_minor", dataclasses.replace(tensor, minor=3, trailing=b"\x01\x02")


def dense_like(layout_tag):
    return Descriptor(I8, (8, 16), layout_tag, buffers=handles(128))


def every_type():
    """Every element type in layouts that count elements in their own way."""
    for tag, (name, _, _) in TYPES.items():
        yield f"coo_{name}", indexed(tag, (7, 3), Coo(5))
        yield f"paged_{name}", indexed(tag, (5, 3, 3), Paged(page_size=3, num_pages=3))
        yield f"tiled_{name}_5x3", dense(tag, (5, 3), Tiles((2, 2)))


def private_layouts():
    """These need a reader that is told to allow private tags."""
    for tag in (0xF0, 0xF7, 0xFE):
        yield f"layout_{tag:02x}", indexed(F32, (3, 4), Private(tag, 0x0123456789ABCDEF, b"own data"))
    yield "layout_private_without_data", indexed(F32, (3, 4), Private(0xF1, 0))
    yield "layout_private_much_data", indexed(F32, (3, 4), Private(0xF1, 2**64 - 1, bytes(range(256)) * 5))
    yield "layout_private_no_buffers", indexed(F32, (3, 4), Private(0xF2, 1, b"\0"), buffers=())
    yield "layout_private_five_buffers", indexed(F32, (3, 4), Private(0xF2, 1, b"\0"), buffers=handles(0, 1, 2, 3, 4))
    yield "layout_private_dynamic", indexed(F32, (DYNAMIC,), Private(0xF2, 1), buffers=handles(64))
    yield "layout_private_sections", indexed(
        I8,
        (5, 3),
        Private(0xF3, 7, b"abc"),
        buffers=handles(15, 12),
        quantization=per_channel(1),
        parent_shape=(9, 9),
        shard_offset=(4, 6),
        statistics=known_nnz(3, 63),
        composite_member=member(0),
    )
    yield "layout_private_type", indexed(
        0xF4, (3,), Private(0xF5, 9), buffers=handles(9), extension_type=sections.extension(**sections.FLOAT24)
    )
    for device in (0xF0, 0xFE):
        for memory in (0x00, 0xF0, 0xFE):
            yield f"device_{device:02x}_class_{memory:02x}", Descriptor(
                F32, (16,), buffers=(Handle(64, 64, device, 1, memory),)
            )
    for scheme in (0xF0, 0xF9, 0xFE):
        yield f"scheme_private_{scheme:02x}", sections.quantized(
            "float32", (4,), sections.section(scheme, [("private", bytes(range(12)))], version=3, flags=0x8001), 7
        )
    yield "scheme_private_header_only", sections.quantized("float32", (4,), sections.section(0xF1, []))
    for rule in (0xF0, 0xFE):
        yield f"composite_private_{rule:02x}", indexed(F32, (4, 4), Composite(rule, 9, 2))


def all_dense():
    yield from dense_vectors.all_valid()
    yield from dense_vectors.large()
    yield from dense_combinations()


def all_valid():
    """Pairs of name and descriptor for a strict reader."""
    yield from all_dense()
    for group in (coo, compressed, csf, paged, composite, members, every_type):
        yield from group()
