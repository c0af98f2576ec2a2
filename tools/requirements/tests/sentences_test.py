"""Sentences, their headings and their words of obligation."""

import hashlib
import unittest

from contract import sentences

TEXT = """The Title

Boxes

A box is shut. It MUST be
opened before use (e.g., by hand). box_open MAY fail; callers SHOULD look.

int box_open(
    void*  box,
    Box**  out
);

• Lids MUST NOT be thrown, and MUST be kept. Keep them: MUST fits.
• Nothing else.

Ends

The end MUST:

1. Come.
2. Come once:
   • MUST NOT come twice.

It has come.
"""


class SentencesTest(unittest.TestCase):
    def setUp(self):
        self.found = sentences.parse(TEXT)

    def test_texts_and_headings(self):
        self.assertEqual([(s.section, s.text) for s in self.found], [
            ("Boxes", "A box is shut."),
            ("Boxes", "It MUST be opened before use (e.g., by hand)."),
            ("Boxes", "box_open MAY fail; callers SHOULD look."),
            ("Boxes", "Lids MUST NOT be thrown, and MUST be kept."),
            ("Boxes", "Keep them: MUST fits."),
            ("Boxes", "Nothing else."),
            ("Ends", "The end MUST:"),
            ("Ends", "Come."),
            ("Ends", "Come once:"),
            ("Ends", "MUST NOT come twice."),
            ("Ends", "It has come."),
        ])

    def test_words_of_obligation_and_what_items_inherit(self):
        self.assertEqual([s.strengths for s in self.found], [
            (), ("MUST",), ("MAY", "SHOULD"), ("MUST NOT", "MUST"), ("MUST",), (), ("MUST",), ("MUST",), ("MUST",), ("MUST NOT",),
            ()])

    def test_words_within_words_oblige_to_nothing(self):
        self.assertEqual(sentences.strengths("must MUSTARD MAYBE MUST_NOT"), ())

    def test_white_space_does_not_count(self):
        self.assertEqual(sentences.digest("a  b\n c"), hashlib.sha256(b"a b c").hexdigest())
        self.assertEqual(sentences.parse("A\n\nOne   two\nthree.\n")[0].digest, sentences.digest("One two three."))


if __name__ == "__main__":
    unittest.main()
