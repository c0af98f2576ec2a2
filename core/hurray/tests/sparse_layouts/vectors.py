"""Sparse tensors: those that every strict reader must take, and descriptors that it must refuse."""

import dataclasses
import random

import sections
from sparse import COO, CSC, CSF, CSR, Sparse, element_bits, indices
from wire import DYNAMIC, TAG_OF_TYPE, TYPES, Handle

F32 = TAG_OF_TYPE["float32"]
U8 = TAG_OF_TYPE["uint8"]
INT8 = TAG_OF_TYPE["int8"]
INT4 = TAG_OF_TYPE["int4"]
BOOL = TAG_OF_TYPE["bool"]
F6 = TAG_OF_TYPE["float6_e3m2"]

NAMES = {COO: "coo", CSR: "csr", CSC: "csc", CSF: "csf"}
ONE, TWO, THREE, FOUR, FIVE = 0x3F800000, 0x40000000, 0x40400000, 0x40800000, 0x40A00000

# The examples of the format.
MATRIX = {(0, 0): ONE, (0, 3): TWO, (1, 2): THREE, (2, 1): FOUR, (2, 4): FIVE}
CUBE = {(0, 0, 1): ONE, (0, 2, 3): TWO, (1, 1, 0): THREE, (1, 1, 2): FOUR}


def some(type_tag, shape, density, seed):
    """Elements other than zero at random places."""
    random_source = random.Random(seed)
    top = 2 ** element_bits(type_tag) - 1
    return {
        index: random_source.randint(1, top) for index in indices(shape) if random_source.random() < density
    }


def shapes_of(layout):
    return ((3, 4, 5), (2, 3, 2, 4)) if layout == CSF else ((6, 7), (1, 9), (9, 1))


def valid():
    yield "coo_example", Sparse(COO, F32, (4, 4), {(0, 1): ONE, (2, 0): TWO, (3, 3): THREE})
    yield "csr_example", Sparse(CSR, F32, (4, 5), MATRIX)
    yield "csc_example", Sparse(CSC, F32, (4, 5), MATRIX)
    yield "csf_example", Sparse(CSF, F32, (2, 3, 4), CUBE)
    yield "coo_unsorted", Sparse(COO, F32, (4, 4), {(0, 1): ONE, (2, 0): TWO, (3, 3): THREE}, ((3, 3), (0, 1), (2, 0)))
    yield "coo_sorted_but_unsaid", Sparse(COO, F32, (4, 4), {(0, 1): ONE, (2, 0): TWO}, is_sorted=0)
    yield "coo_rank_1", Sparse(COO, U8, (300,), {(0,): 1, (255,): 2, (256,): 3, (299,): 4})
    yield "coo_rank_5", Sparse(COO, F32, (2, 3, 2, 3, 2), some(F32, (2, 3, 2, 3, 2), 0.2, 5))
    yield "coo_rank_64", Sparse(COO, U8, (1,) * 62 + (3, 2), {(0,) * 62 + (2, 0): 7, (0,) * 62 + (0, 1): 9})
    yield "coo_full", Sparse(COO, U8, (2, 3), {index: i + 1 for i, index in enumerate(indices((2, 3)))})
    yield "csr_full", Sparse(CSR, U8, (2, 3), {index: i + 1 for i, index in enumerate(indices((2, 3)))})
    yield "csf_full", Sparse(CSF, U8, (2, 3, 2), {index: i + 1 for i, index in enumerate(indices((2, 3, 2)))})
    for layout in (COO, CSR, CSC, CSF):
        name = NAMES[layout]
        shape = (3, 4, 2) if layout == CSF else (3, 4)
        yield f"{name}_nothing_stored", Sparse(layout, F32, shape)
        for k in range(len(shape)):
            empty = tuple(0 if i == k else size for i, size in enumerate(shape))
            yield f"{name}_empty_{k}", Sparse(layout, F32, empty)
        yield f"{name}_all_empty", Sparse(layout, F32, (0,) * len(shape))
        for type_tag, (type_name, _, _) in TYPES.items():
            yield f"{name}_{type_name}", Sparse(layout, type_tag, shape, some(type_tag, shape, 0.4, type_tag))
        for i, other in enumerate(shapes_of(layout)):
            yield f"{name}_random_{i}", Sparse(layout, F32, other, some(F32, other, 0.3, i))
        corner = {tuple(size - 1 for size in shape): ONE}
        yield f"{name}_last_element", Sparse(layout, F32, shape, corner)
        yield f"{name}_values_that_are_zero", Sparse(layout, F32, shape, {(0,) * len(shape): 0, **corner})
        yield f"{name}_spare_values", Sparse(layout, F32, shape, corner, spare={0: 60})
        if layout != CSF:
            yield f"{name}_spare_everywhere", Sparse(layout, F32, shape, corner, spare={0: 1, 1: 9, 2: 17})
            yield f"{name}_shard", Sparse(layout, F32, shape, corner, shard=((8, 8), (1, 2)))
        yield f"{name}_quantized", Sparse(
            layout, INT8, shape, some(INT8, shape, 0.5, 1), quantization=sections.per_tensor(0.5, 3)
        )
        scales = b"\0\0\x80\x3f" * shape[1]
        first = 2 * len(shape) + 1 if layout == CSF else 2 if layout == COO else 3
        yield f"{name}_per_channel", Sparse(
            layout,
            INT4,
            shape,
            some(INT4, shape, 0.5, 2),
            quantization=sections.per_channel(1, first),
            parameters=(scales,),
        )
        yield f"{name}_statistics", Sparse(layout, F32, shape, corner, statistics=sections.statistics(1, nnz=1))
        yield f"{name}_statistics_without_nnz", Sparse(
            layout, F32, shape, corner, statistics=sections.statistics(0, nnz=77)
        )
    for i, modes in enumerate(((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))):
        yield f"csf_modes_{i}", Sparse(CSF, F32, (2, 3, 4), CUBE, mode_order=modes)
        shape = (3, 4, 5)
        yield f"csf_modes_random_{i}", Sparse(CSF, F32, shape, some(F32, shape, 0.3, i), mode_order=modes)
    yield "csf_rank_5", Sparse(
        CSF, F32, (2, 3, 2, 3, 2), some(F32, (2, 3, 2, 3, 2), 0.2, 6), mode_order=(4, 1, 3, 0, 2)
    )
    yield "csf_rank_64", Sparse(
        CSF,
        U8,
        (1,) * 62 + (3, 2),
        {(0,) * 62 + (2, 0): 7, (0,) * 62 + (0, 1): 9},
        mode_order=tuple(reversed(range(64))),
    )


# Descriptors that decode as well, whose data is too large or not known, and is not here.
def large():
    def sized(*sizes):
        return tuple(Handle(size) for size in sizes)

    yield "coo_over_4_gib", Sparse(COO, U8, (2**20, 2**20), nnz=2**33, buffers=sized(2**33, 2**37))
    yield "coo_most_indices", Sparse(COO, BOOL, (2**60,), nnz=2**60, buffers=sized(2**57, 2**63))
    yield "coo_dynamic", Sparse(COO, F32, (DYNAMIC, 4), nnz=2**40, buffers=sized(2**42, 2**44))
    yield "csr_dynamic_rows", Sparse(CSR, F32, (DYNAMIC, 4), nnz=9, buffers=sized(36, 72, 0))
    yield "csr_dynamic_columns", Sparse(CSR, F32, (4, DYNAMIC), nnz=9, buffers=sized(36, 72, 40))
    yield "csc_dynamic_columns", Sparse(CSC, F32, (4, DYNAMIC), nnz=9, buffers=sized(36, 72, 0))
    yield "csc_dynamic_rows", Sparse(CSC, F32, (DYNAMIC, 4), nnz=9, buffers=sized(36, 72, 40))
    yield "csr_most_rows", Sparse(CSR, F32, (2**61 - 2, 1), nnz=0, buffers=sized(0, 0, 2**64 - 8))
    yield "csf_dynamic", Sparse(
        CSF, F32, (DYNAMIC, 4, DYNAMIC), nnz=9, buffers=sized(36, 16, 8, 16, 16, 24, 72)
    )
    yield "csf_nodes_without_leaves", Sparse(
        CSF, F32, (9, 9, 9), nnz=1, buffers=sized(4, 16, 40, 48, 24, 32, 8)
    )
    yield "csf_most_nodes", Sparse(
        CSF, BOOL, (1, 2**62, 1), nnz=1, buffers=sized(1, 16, 8, 16, 2**64 - 16, 2**64 - 8, 8)
    )


def with_buffer(tensor, index, byte_size):
    """The tensor with another size of one buffer."""
    table = list(tensor.table())
    table[index] = Handle(byte_size)
    return dataclasses.replace(tensor, buffers=tuple(table))


def cut(tensor, field, kept=0):
    """A descriptor that says itself that it ends within a field, of which `kept` bytes are there."""
    return dataclasses.replace(tensor, length=tensor.offset_of(field) + kept)


def plain(layout, **other):
    if layout == CSF:
        return Sparse(CSF, F32, (2, 3, 4), CUBE, **other)
    return Sparse(layout, F32, (4, 5), MATRIX, **other)


def size_of(buffer):
    return f"buffers[{buffer}].byte_size"


def invalid_of_every_layout(layout):
    name = NAMES[layout]
    base = plain(layout)
    own = len(base.table())
    first_reserved = 7 if layout == COO else 8
    # By their type: one byte or group less than the values take.
    for type_tag, (type_name, _, _) in TYPES.items():
        shape = (3, 4, 2) if layout == CSF else (3, 4)
        tensor = Sparse(layout, type_tag, shape, some(type_tag, shape, 0.4, type_tag))
        yield f"{name}_values_short_{type_name}", with_buffer(tensor, 0, tensor.table()[0].byte_size - 1), size_of(0)
    for i in range(1, own):
        yield f"{name}_short_{i}", with_buffer(base, i, base.table()[i].byte_size - 1), size_of(i)
        yield f"{name}_nothing_{i}", with_buffer(base, i, 0), size_of(i)
    for value in (1, 4, 2**64 - 1):
        yield f"{name}_byte_offset_{value}", dataclasses.replace(base, byte_offset=value), "byte_offset"
    yield f"{name}_byte_offset_in_room", dataclasses.replace(with_buffer(base, 0, 64), byte_offset=8), "byte_offset"
    for k in range(first_reserved):
        reserved = bytes(0x80 if i == k else 0 for i in range(first_reserved))
        yield f"{name}_reserved_{k}", dataclasses.replace(base, reserved=reserved), "reserved"
    most = 24 if layout == CSF else 20
    for value in (most + 1, 2**61, 2**63, 2**64 - 1):
        yield f"{name}_nnz_{value}", dataclasses.replace(base, nnz=value, buffers=base.table()), "nnz"
    empty = dataclasses.replace(base, shape=(0,) + base.shape[1:], elements={})
    yield f"{name}_nnz_of_empty", dataclasses.replace(empty, nnz=1), "nnz"
    huge = (DYNAMIC,) * len(base.shape)
    for value in (2**61, 2**62 + 1, 2**64 - 1):
        # Eight times that, or that times the rank, wraps to something small.
        yield f"{name}_wraps_{value}", Sparse(
            layout, BOOL, huge, nnz=value, buffers=(Handle(2**61), *(Handle(64),) * (own - 1))
        ), size_of(1)
    yield f"{name}_values_wrap", Sparse(
        layout, F32, huge, nnz=2**62, buffers=(Handle(2**64 - 1), *(Handle(64),) * (own - 1))
    ), size_of(0)
    for count in sorted({0, 1, own - 1, own + 1, 255}):
        yield f"{name}_buffers_{count}", dataclasses.replace(base, buffers=(Handle(512),) * count), "buffer_count"
    parameters = dataclasses.replace(
        plain(layout), type_tag=INT8, elements={index: 1 for index in base.elements}, quantization=sections.per_tensor()
    )
    yield f"{name}_buffers_beside_per_tensor", dataclasses.replace(
        parameters, buffers=parameters.table() + (Handle(64),)
    ), "buffer_count"
    yield f"{name}_missing_parameters", dataclasses.replace(
        parameters, quantization=sections.per_channel(1, own)
    ), "buffer_count"
    yield f"{name}_parameters_in_own_buffer", dataclasses.replace(
        parameters, quantization=sections.per_channel(1, own - 1), parameters=(bytes(4 * base.shape[1]),)
    ), "scale_buffer"
    yield f"{name}_statistics_nnz", dataclasses.replace(
        base, statistics=sections.statistics(1, nnz=len(base.elements) + 1)
    ), "statistics nnz"
    # The first fault counts.
    yield f"{name}_byte_offset_before_nnz", dataclasses.replace(
        base, byte_offset=1, nnz=99, buffers=base.table()
    ), "byte_offset"
    yield f"{name}_nnz_before_reserved", dataclasses.replace(
        base, nnz=99, buffers=base.table(), reserved=b"\1" * first_reserved
    ), "nnz"
    yield f"{name}_reserved_before_count", dataclasses.replace(
        base, reserved=b"\1" * first_reserved, buffers=()
    ), "reserved"
    yield f"{name}_values_before_indices", with_buffer(with_buffer(base, 0, 0), 1, 0), size_of(0)
    ends_early = cut(base, "reserved", 3)
    yield f"{name}_byte_offset_before_end", dataclasses.replace(ends_early, byte_offset=1), "byte_offset"
    yield f"{name}_reserved_before_end", dataclasses.replace(ends_early, reserved=b"\1" * first_reserved), "reserved"
    yield f"{name}_nnz_before_end", dataclasses.replace(ends_early, nnz=99, buffers=base.table()), "nnz"
    yield f"{name}_reserved_before_end_of_fields", dataclasses.replace(
        cut(base, "buffer_count"), reserved=b"\1" * first_reserved
    ), "reserved"
    for kept in range(8):
        yield f"{name}_cut_nnz_{kept}", cut(base, "nnz", kept), "nnz"
    for kept in range(first_reserved):
        yield f"{name}_cut_reserved_{kept}", cut(base, "reserved", kept), "reserved"
    yield f"{name}_cut_count", cut(base, "buffer_count"), "buffer_count"
    for i in range(own):
        yield f"{name}_cut_table_{i}", cut(base, size_of(i)), size_of(i)
        short = with_buffer(base, i, 0)
        yield f"{name}_short_before_end_{i}", cut(short, f"buffers[{i}].alignment"), size_of(i)


def invalid_coo():
    for value in (2, 0x80, 0xFF):
        yield f"coo_is_sorted_{value}", plain(COO, is_sorted=value), "is_sorted"
    yield "coo_is_sorted_before_reserved", plain(COO, is_sorted=2, reserved=b"\1" * 7), "is_sorted"
    yield "coo_nnz_before_is_sorted", plain(COO, is_sorted=2, nnz=99, buffers=(Handle(20), Handle(80))), "nnz"
    yield "coo_cut_is_sorted", cut(plain(COO), "is_sorted"), "is_sorted"
    yield "coo_is_sorted_before_end", cut(plain(COO, is_sorted=3), "reserved", 2), "is_sorted"
    yield "coo_rank_0", Sparse(COO, F32, (), buffers=(Handle(0), Handle(0))), "rank"
    yield "coo_indices_wrap", Sparse(
        COO, BOOL, (DYNAMIC,) * 64, nnz=2**58, buffers=(Handle(2**61), Handle(2**64 - 1))
    ), size_of(1)


def invalid_compressed(layout):
    name = NAMES[layout]
    for shape in ((), (4,), (2, 2, 2), (1,) * 64):
        yield f"{name}_rank_{len(shape)}", Sparse(layout, F32, shape, nnz=0, buffers=(Handle(64),) * 3), "rank"
    rows, columns = (2**61 - 1, 1) if layout == CSR else (1, 2**61 - 1)
    yield f"{name}_pointers_wrap", Sparse(
        layout, F32, (rows, columns), nnz=0, buffers=(Handle(0), Handle(0), Handle(2**64 - 1))
    ), size_of(2)
    most = (2**64 - 2, 0) if layout == CSR else (0, 2**64 - 2)
    yield f"{name}_most_pointers", Sparse(
        layout, F32, most, nnz=0, buffers=(Handle(0), Handle(0), Handle(2**64 - 1))
    ), size_of(2)


def invalid_csf():
    for shape in ((), (4,), (4, 5), (1,) * 65):
        own = 2 * len(shape) + 1
        yield f"csf_rank_{len(shape)}", Sparse(
            CSF, F32, shape, nnz=0, buffers=(Handle(64),) * min(own, 255), mode_order=tuple(range(len(shape)))
        ), "rank"
    base = plain(CSF)
    for modes, level in (
        ((0, 0, 2), 1),
        ((0, 1, 1), 2),
        ((2, 1, 2), 2),
        ((3, 1, 2), 0),
        ((0, 1, 3), 2),
        ((0, 2**32 - 1, 2), 1),
        ((0, 64, 2), 1),
        ((32, 0, 0), 0),
    ):
        wrong = dataclasses.replace(base, buffers=base.table(), mode_order=modes, elements={}, nnz=4)
        title = "_".join(map(str, modes))
        yield f"csf_modes_{title}", wrong, f"mode_order[{level}]"
        yield f"csf_modes_{title}_before_reserved", dataclasses.replace(wrong, reserved=b"\1" * 8), f"mode_order[{level}]"
        yield f"csf_modes_{title}_before_end", cut(wrong, "reserved", 1), f"mode_order[{level}]"
    wide = Sparse(CSF, U8, (1,) * 64, {(0,) * 64: 1})
    for level in (31, 32, 63):
        modes = tuple(0 if k == level else k for k in range(64))
        yield f"csf_modes_again_{level}", dataclasses.replace(
            wide, buffers=wide.table(), mode_order=modes
        ), f"mode_order[{level}]"
    for level in range(3):
        for kept in range(4):
            yield f"csf_cut_mode_{level}_{kept}", cut(base, f"mode_order[{level}]", kept), f"mode_order[{level}]"
    for index in range(1, 7):
        size = base.table()[index].byte_size
        # A level's sizes are its counts, hence exact.
        yield f"csf_long_{index}", with_buffer(base, index, size + 1), size_of(index)
        # One more node, which the next array does not know of; of the last one nnz does not.
        more = index + 1 if index in (2, 4) else index
        yield f"csf_more_{index}", with_buffer(base, index, size + 8), size_of(more)
    nothing = Sparse(CSF, F32, (2, 3, 4))
    yield "csf_nodes_above_nothing", dataclasses.replace(
        nothing, buffers=tuple(Handle(size) for size in (0, 16, 8, 16, 0, 8, 0))
    ), size_of(2)
    yield "csf_node_count_wraps", dataclasses.replace(
        base, buffers=tuple(Handle(size) for size in (16, 16, 2**64 - 8, 0, 24, 32, 32))
    ), size_of(2)
    yield "csf_shard", dataclasses.replace(base, shard=((4, 4, 4), (0, 0, 0))), "parent_shape[0]"
    # The layout is at fault before the shard section's own fields are.
    yield "csf_shard_beyond_end", dataclasses.replace(base, shard=((4, 4, 4), (4, 4, 4))), "parent_shape[0]"


def all_invalid():
    for layout in (COO, CSR, CSC, CSF):
        yield from invalid_of_every_layout(layout)
    yield from invalid_coo()
    yield from invalid_compressed(CSR)
    yield from invalid_compressed(CSC)
    yield from invalid_csf()
