"""Requirements of pages: what a page says, and what is found when page, entry or table disagree."""

import json
import pathlib
import tempfile
import unittest

from contract import entries, pages
from contract.sentences import digest

PAGE = """\
# A page

It starts so. It goes on
over two lines: twice.

```c
This is code. It says nothing.
```

## Ends

| what | then |
|---|---|
| a cut | an error |

- One item, which
  has two lines.
- Another.
"""


class Statements(unittest.TestCase):
    def test_sentences_items_and_rows_by_heading(self):
        found = pages.statements(PAGE)
        self.assertEqual(found["A page"], {digest(text) for text in ("It starts so.", "It goes on over two lines:", "twice.")})
        self.assertLessEqual({digest(text) for text in ("| a cut | an error |", "One item, which has two lines.", "Another.")}, found["Ends"])
        self.assertNotIn(digest("This is code."), set().union(*found.values()))


class Problems(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/page.md", PAGE)
        self.write("cut/BUILD.bazel", 'py_test(name = "cut_test", srcs = ["cut_test.py"])\n')
        self.write("cut/cut_test.py", "class Cut:\n    def test_cut(self):\n        pass\n")
        self.entry = {"id": "PAGE-1", "section": "docs/page.md: Ends", "strength": [], "sentence": digest("| a cut | an error |"),
                      "requirement": "Files that are cut are refused.", "tests": ["//cut:cut_test Cut.test_cut"]}

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def problems(self, fresh=True, **changes):
        self.write(pages.ENTRIES, json.dumps({"contract": "docs", "whole_targets": {}, "requirements": [{**self.entry, **changes}]}))
        self.write(pages.PAGE, pages.table(entries.load(self.root / pages.ENTRIES)) if fresh else "stale\n")
        return "\n".join(pages.problems(self.root))

    def test_what_is_true_is_no_problem(self):
        self.assertEqual(self.problems(), "")

    def test_a_page_that_says_something_else_is_found(self):
        self.write("docs/page.md", PAGE.replace("an error", "no error"))
        self.assertIn('PAGE-1: nothing that docs/page.md says under "Ends"', self.problems())

    def test_another_heading_is_found(self):
        self.assertIn("PAGE-1: nothing that docs/page.md says", self.problems(section="docs/page.md: A page"))

    def test_a_page_that_is_not_there_is_found(self):
        self.assertIn("there is no page docs/other.md", self.problems(section="docs/other.md: Ends"))

    def test_a_test_that_is_not_there_is_found(self):
        self.assertIn("//cut:cut_test has no test Cut.test_torn", self.problems(tests=["//cut:cut_test Cut.test_torn"]))
        self.assertIn("no test proves it", self.problems(tests=[]))

    def test_a_file_that_cannot_be_read_is_found(self):
        self.assertIn("requirements.json", "\n".join(pages.problems(self.root)))

    def test_a_stale_table_is_found(self):
        self.assertIn("is stale", self.problems(fresh=False))


if __name__ == "__main__":
    unittest.main()
