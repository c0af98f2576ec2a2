"""The README that HURRAY_README names has the text of its samples; and what must fail, fails."""

import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import readme_samples


class ReadmeTest(unittest.TestCase):
    def test_code_is_that_of_the_samples(self):
        readme = pathlib.Path(os.environ["HURRAY_README"])
        self.assertIn("<!-- sample:", readme.read_text(encoding="utf-8"))
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            code = readme_samples.main([str(readme)])
        self.assertEqual(code, 0, errors.getvalue())


class CheckTest(unittest.TestCase):
    SAMPLE = "x\n  // sample: one\n  a\n    b\n  // end sample\n# sample: two\nc\n# end sample\n"
    GOOD = "text\n<!-- sample: s.txt#one -->\n```zig\na\n  b\n```\n```sh\nfree\n```\n"

    def check(self, readme, sample=SAMPLE, write=False):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "README.md"
            path.write_text(readme, encoding="utf-8")
            (pathlib.Path(folder) / "s.txt").write_text(sample, encoding="utf-8")
            with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
                code = readme_samples.main((["--write"] if write else []) + [str(path)])
            return code, errors.getvalue(), path.read_text(encoding="utf-8")

    def test_equal_text_passes(self):
        self.assertEqual(self.check(self.GOOD)[:2], (0, ""))

    def test_other_text_fails_and_is_written(self):
        stale = self.GOOD.replace("  b", "  old")
        code, errors, text = self.check(stale)
        self.assertEqual((code, text), (1, stale))
        self.assertIn("+  b", errors)
        self.assertEqual(self.check(stale, write=True), (0, "", self.GOOD))

    def test_what_nobody_could_check_fails(self):
        for readme, says in {
            self.GOOD.replace("#one", "#none"): "no region none",
            self.GOOD.replace("s.txt", "t.txt"): "no file",
            "```zig\nx\n```\n": "without a marker",
            "```zig\nx\n": "no end",
            "<!-- sample: s.txt#one -->\n\n```zig\n```\n": "right below",
            "<!-- sample: s.txt -->\n": "expected <!-- sample",
            "<!-- sample: s.txt#one -->\n": "ends with a marker",
        }.items():
            with self.subTest(readme):
                code, errors, _ = self.check(readme)
                self.assertEqual(code, 1)
                self.assertIn(says, errors)

    def test_wrong_samples_fail(self):
        for sample, says in {
            "// sample: one\n": "has no end",
            "// end sample\n": "none began",
            "// sample: one\n// sample: two\n": "begins within",
            "// sample: one\n// end sample\n// sample: one\n// end sample\n": "second time",
        }.items():
            with self.subTest(sample):
                code, errors, _ = self.check(self.GOOD, sample)
                self.assertEqual(code, 1)
                self.assertIn(says, errors)


if __name__ == "__main__":
    unittest.main()
