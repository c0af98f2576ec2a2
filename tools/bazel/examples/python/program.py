"""Prints the sum of its arguments."""

import array
import sys

import example

print(example.sum_of(array.array("i", [int(argument) for argument in sys.argv[1:]])))
