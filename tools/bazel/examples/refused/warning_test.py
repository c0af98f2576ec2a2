import os
import unittest


class WarningTest(unittest.TestCase):
    def test_leaves_a_file_open(self):
        open(os.devnull, encoding="utf-8")
