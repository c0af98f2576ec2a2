import array
import unittest

import numpy

import example


class ExampleTest(unittest.TestCase):
    def test_sums(self):
        self.assertEqual(example.sum_of(array.array("i", [1, 2, 39])), 42)

    def test_numpy(self):
        self.assertEqual(example.sum_of(numpy.arange(4, dtype=numpy.int32)), 6)

    def test_refuses_what_is_no_buffer(self):
        with self.assertRaises(TypeError):
            example.sum_of(1)
