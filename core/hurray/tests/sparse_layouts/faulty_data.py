"""Tensors whose descriptors are right and whose data is not: each breaks one rule of the format.

A fault has the buffer, the number of the u64 in it, and what the message says of what was expected.
"""

from sparse import COO, CSC, CSF, CSR, Sparse
from vectors import CUBE, F32, MATRIX, NAMES

COO_ORDER = [0, 0, 0, 3, 1, 2, 2, 1, 2, 4]
CSR_COLUMNS, CSR_ROWS = [0, 3, 2, 1, 4], [0, 2, 3, 5, 5]
CSC_ROWS, CSC_COLUMNS = [0, 2, 1, 0, 2], [0, 1, 2, 3, 4, 5]
# pos_0, crd_0, pos_1, crd_1, pos_2, crd_2 of the cube.
CSF_ARRAYS = {1: [0, 2], 2: [0, 1], 3: [0, 2, 3], 4: [0, 2, 1], 5: [0, 1, 2, 4], 6: [1, 3, 0, 2]}
MOST = 2**64 - 1


def changed(array, at, value):
    return array[:at] + [value] + array[at + 1 :]


def coo():
    def make(array, **other):
        return Sparse(COO, F32, (4, 5), MATRIX, arrays={1: array}, **other)

    for value in (4, 5, 2**32, MOST):
        yield f"row_{value}", make(changed(COO_ORDER, 8, value)), 1, 8, "expected less than shape[0] = 4"
    for value in (5, MOST):
        yield f"column_{value}", make(changed(COO_ORDER, 3, value)), 1, 3, "expected less than shape[1] = 5"
    yield "first_entry", make(changed(COO_ORDER, 0, 4)), 1, 0, "expected less than shape[0] = 4"
    yield "row_before", make(changed(COO_ORDER, 4, 2)), 1, 7, "expected at least the 2 of entry 2"
    yield "row_after", make(changed(COO_ORDER, 6, 0)), 1, 6, "expected at least the 1 of entry 2"
    yield "column_before", make(changed(COO_ORDER, 9, 0)), 1, 9, "expected at least the 1 of entry 3"
    yield "twice", make(changed(COO_ORDER, 9, 1)), 1, 8, "expected an index of its own, got that of entry 3"
    yield "twice_first", make(changed(COO_ORDER, 3, 0)), 1, 2, "expected an index of its own, got that of entry 0"
    unsorted = {"is_sorted": 0}
    yield "unsorted_row", make(changed(COO_ORDER, 8, 4), **unsorted), 1, 8, "expected less than shape[0] = 4"
    yield "unsorted_column", make(changed(COO_ORDER, 3, MOST), **unsorted), 1, 3, "expected less than shape[1] = 5"
    yield "unsorted_order", make(changed(COO_ORDER, 6, 0), **unsorted), 1, None, None


def coo_duplicates():
    """Entries with the same index, which only who compares all entries of an unsorted tensor finds."""

    def make(array, **other):
        return Sparse(COO, F32, (4, 5), MATRIX, arrays={1: array}, is_sorted=0, **other)

    for later, earlier in ((1, 0), (4, 0), (4, 3), (3, 1)):
        pair = COO_ORDER[2 * earlier : 2 * earlier + 2]
        array = COO_ORDER[: 2 * later] + pair + COO_ORDER[2 * later + 2 :]
        yield f"unsorted_{later}_as_{earlier}", make(array), 1, 2 * later, (
            f"expected an index of its own, got that of entry {earlier}"
        )
    yield "unsorted_three_times", make([1, 1, 0, 0, 1, 1, 2, 2, 1, 1]), 1, 4, (
        "expected an index of its own, got that of entry 0"
    )
    yield "unsorted_two_pairs", make([1, 1, 0, 0, 2, 2, 0, 0, 1, 1]), 1, 6, (
        "expected an index of its own, got that of entry 1"
    )


def compressed(layout):
    major, minor = ("row", 1) if layout == CSR else ("column", 0)
    indices, pointers = (CSR_COLUMNS, CSR_ROWS) if layout == CSR else (CSC_ROWS, CSC_COLUMNS)
    size = 5 if layout == CSR else 4

    def make(array=None, starts=None):
        arrays = {i: values for i, values in ((1, array), (2, starts)) if values is not None}
        return Sparse(layout, F32, (4, 5), MATRIX, arrays=arrays)

    for value in (1, 2, MOST):
        yield f"start_{value}", make(starts=changed(pointers, 0, value)), 2, 0, "expected 0"
    for value in (4, 6, 2**63, MOST):
        least = pointers[-2]
        expected = f"expected at least entry {len(pointers) - 2} = {least}" if value < least else "expected nnz = 5"
        yield f"end_{value}", make(starts=changed(pointers, len(pointers) - 1, value)), 2, len(pointers) - 1, expected
    yield "pointer_falls", make(starts=changed(pointers, 2, 0)), 2, 2, (
        f"expected at least entry 1 = {pointers[1]}"
    )
    for value in (6, 2**61 + 1, MOST):
        yield f"pointer_{value}", make(starts=changed(pointers, 1, value)), 2, 1, "expected at most nnz = 5"
    for value in (size, 2**32, MOST):
        yield f"index_{value}", make(changed(indices, 4, value)), 1, 4, f"expected less than shape[{minor}] = {size}"
        yield f"first_index_{value}", make(changed(indices, 0, value)), 1, 0, f"expected less than shape[{minor}] = {size}"
    # Two entries in one slice.
    wide = {(0, 0): 1, (0, 2): 2} if layout == CSR else {(0, 0): 1, (3, 0): 2}
    for value in (0, 1):
        array = [value + 1, value]
        yield f"falls_{value}", Sparse(layout, F32, (4, 5), wide, arrays={1: array}), 1, 1, (
            f"expected more than entry 0 = {value + 1} of the same {major}"
        )
    yield "twice", Sparse(layout, F32, (4, 5), wide, arrays={1: [2, 2]}), 1, 1, (
        f"expected more than entry 0 = 2 of the same {major}"
    )
    yield "falls_between_slices_only", make(), 1, None, None
    empty = (0, 5) if layout == CSR else (5, 0)
    yield "nothing_start", Sparse(layout, F32, empty, arrays={2: [3]}), 2, 0, "expected 0"
    no_room = (4, 0) if layout == CSR else (0, 4)
    yield "nothing_in_no_room", Sparse(layout, F32, no_room), 1, None, None
    yield "nothing_end", Sparse(layout, F32, no_room, arrays={2: [0, 0, 0, 1, 0]}), 2, 3, "expected at most nnz = 0"


def csf():
    def make(**arrays):
        other = {int(name[1:]): value for name, value in arrays.items()}
        return Sparse(CSF, F32, (2, 3, 4), CUBE, arrays=other)

    for buffer in (1, 3, 5):
        level = buffer // 2
        positions = CSF_ARRAYS[buffer]
        end = len(positions) - 1
        for value in (1, MOST):
            yield f"start_{level}_{value}", make(**{f"b{buffer}": changed(positions, 0, value)}), buffer, 0, "expected 0"
        for value in (0, positions[-1] - 1, positions[-1] + 1, 2**63, MOST):
            yield f"end_{level}_{value}", make(**{f"b{buffer}": changed(positions, end, value)}), buffer, end, (
                f"expected the {positions[-1]} nodes of the level"
            )
    yield "falls_1", make(b3=[0, 4, 3]), 3, 1, "expected at most the 3 nodes"
    yield "falls_2", make(b5=[0, 3, 2, 4], b6=[1, 2, 3, 2]), 5, 2, "expected at least entry 1 = 3"
    yield "beyond_2", make(b5=[0, MOST, 2, 4]), 5, 1, "expected at most the 4 nodes"
    for buffer in (2, 4, 6):
        level = buffer // 2 - 1
        coordinates = CSF_ARRAYS[buffer]
        size = (2, 3, 4)[level]
        for value in (size, 2**32, MOST):
            for at in (0, len(coordinates) - 1):
                yield f"coordinate_{level}_{at}_{value}", make(
                    **{f"b{buffer}": changed(coordinates, at, value)}
                ), buffer, at, f"expected less than shape[{level}] = {size}"
    yield "twice_0", make(b2=[0, 0]), 2, 1, "expected more than entry 0 = 0 below the same node"
    yield "falls_0", make(b2=[1, 0]), 2, 1, "expected more than entry 0 = 1 below the same node"
    yield "twice_1", make(b4=[2, 2, 1]), 4, 1, "expected more than entry 0 = 2 below the same node"
    yield "falls_coordinate_1", make(b4=[2, 0, 1]), 4, 1, "expected more than entry 0 = 2 below the same node"
    yield "twice_2", make(b6=[1, 3, 2, 2]), 6, 3, "expected more than entry 2 = 2 below the same node"
    yield "falls_coordinate_2", make(b6=[1, 3, 3, 2]), 6, 3, "expected more than entry 2 = 3 below the same node"
    yield "node_without_child", Sparse(
        CSF, F32, (2, 3, 4), CUBE, arrays={3: [0, 3, 3], 4: [0, 1, 2]}
    ), 1, None, None
    for buffer in (1, 3, 5):
        positions = [0, 1] if buffer == 1 else [1]
        yield f"nothing_{buffer}", Sparse(CSF, F32, (2, 3, 4), arrays={buffer: positions}), buffer, len(positions) - 1, (
            "expected the 0 nodes" if buffer == 1 else "expected 0"
        )
    # Level 0 is of dimension 2, which has the nodes 0, 1, 2, 3.
    yield "modes_coordinate", Sparse(
        CSF, F32, (2, 3, 4), CUBE, mode_order=(2, 0, 1), arrays={2: [0, 1, 2, 4]}
    ), 2, 3, "expected less than shape[2] = 4"


def found_on_the_way():
    for layout, group in ((COO, coo()), (CSR, compressed(CSR)), (CSC, compressed(CSC)), (CSF, csf())):
        for name, *fault in group:
            yield f"{NAMES[layout]}_{name}", *fault


def found_by_comparing_all():
    for name, *fault in coo_duplicates():
        yield f"coo_{name}", *fault
