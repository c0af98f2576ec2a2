"""The vectors on disk are those that the generator makes, and its own algorithms make the format's examples."""

import pathlib
import unittest

import generate
import sparse
import vectors
from sparse import COO, CSC, CSF, CSR, Sparse

VECTORS = pathlib.Path("core/hurray/tests/sparse_layouts/vectors.json")


def arrays(tensor):
    """The buffers behind the values, as numbers."""
    contents = tensor.contents()[1:]
    return [[int.from_bytes(c[i : i + 8], "little") for i in range(0, len(c), 8)] for c in contents]


class GeneratorTest(unittest.TestCase):
    def test_vectors_are_not_stale(self):
        self.assertEqual(VECTORS.read_text(), generate.text(), "run core/hurray/tests/sparse_layouts/generate.py")

    def test_examples_of_the_format(self):
        coo = Sparse(COO, vectors.F32, (4, 4), {(0, 1): 1, (2, 0): 2, (3, 3): 3})
        self.assertEqual(arrays(coo), [[0, 1, 2, 0, 3, 3]])
        csr = Sparse(CSR, vectors.F32, (4, 5), vectors.MATRIX)
        self.assertEqual(arrays(csr), [[0, 3, 2, 1, 4], [0, 2, 3, 5, 5]])
        csc = Sparse(CSC, vectors.F32, (4, 5), vectors.MATRIX)
        self.assertEqual(arrays(csc), [[0, 2, 1, 0, 2], [0, 1, 2, 3, 4, 5]])
        csf = Sparse(CSF, vectors.F32, (2, 3, 4), vectors.CUBE)
        self.assertEqual(arrays(csf), [[0, 2], [0, 1], [0, 2, 3], [0, 2, 1], [0, 1, 2, 4], [1, 3, 0, 2]])
        nothing = Sparse(CSF, vectors.F32, (2, 3, 4))
        self.assertEqual(arrays(nothing), [[0, 0], [], [0], [], [0], []])

    def test_elements_of_6_bits_fill_three_bytes_by_four(self):
        self.assertEqual(sparse.packed(vectors.F6, [1, 2, 4, 8]).hex(), "814020")
        self.assertEqual(sparse.packed(vectors.BOOL, [1] * 9).hex(), "ff01")


if __name__ == "__main__":
    unittest.main()
