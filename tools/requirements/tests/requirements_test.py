"""The project's own requirements: each sentence of the contract has a test that is there, and docs/abi.md says which."""

import pathlib
import unittest

from contract import cli, document, entries, pages

ROOT = pathlib.Path.cwd()


class RequirementsTest(unittest.TestCase):
    def test_every_sentence_is_proven(self):
        found = cli.problems(ROOT)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_statement_about_files_and_channels_is_proven(self):
        found = pages.problems(ROOT)
        self.assertEqual(found, [], "\n" + "\n".join(found))
        self.assertGreaterEqual(len(entries.load(ROOT / pages.ENTRIES).entries), 80)

    def test_there_are_requirements(self):
        requirements = entries.load(ROOT / document.ENTRIES)
        must = [entry for entry in requirements.entries if {"MUST", "MUST NOT", "SHOULD"} & set(entry.strengths)]
        self.assertGreaterEqual(len(must), 50)


if __name__ == "__main__":
    unittest.main()
