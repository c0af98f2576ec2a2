"""The vectors on disk are those that the generator makes, and its own algorithms keep the format's promises."""

import itertools
import pathlib
import unittest

import dense_layouts
import generate

VECTORS = pathlib.Path("core/hurray/tests/dense_layouts/vectors.json")


class GeneratorTest(unittest.TestCase):
    def test_vectors_are_not_stale(self):
        self.assertEqual(VECTORS.read_text(), generate.text(), "run core/hurray/tests/dense_layouts/generate.py")

    def test_hilbert_of_order_2_is_the_formats_table(self):
        table = "00 10 11 01 02 03 13 12 22 23 33 32 31 21 20 30".split()
        curve = dense_layouts.Hilbert(2, 2)
        places = [curve.offset((4, 4), (int(x), int(y))) for x, y in table]
        self.assertEqual(places, list(range(16)))

    def test_hilbert_visits_every_place_once_in_steps_of_one(self):
        for rank, order in itertools.product((2, 3, 4), (1, 2, 3)):
            if rank * order > 9:
                continue
            shape = (2**order,) * rank
            curve = dense_layouts.Hilbert(order, rank)
            of_place = {curve.offset(shape, index): index for index in dense_layouts.indices(shape)}
            path = [of_place[place] for place in range(2 ** (order * rank))]
            for one, next_one in zip(path, path[1:]):
                self.assertEqual(sum(abs(a - b) for a, b in zip(one, next_one)), 1)

    def test_examples_of_the_format(self):
        self.assertEqual(dense_layouts.Tiles((2, 4)).offset((6, 8), (3, 5)), 29)
        self.assertEqual(dense_layouts.Morton((2, 2)).offset((4, 4), (2, 3)), 14)


if __name__ == "__main__":
    unittest.main()
