"""A copy of the sample sources in a folder of its own, to be changed by a test."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).absolute().parent
HEADERGEN = HERE.parent
ROOT = HEADERGEN.parent.parent
sys.path.insert(0, str(HEADERGEN))

from hg import cli, facts, profile, run  # noqa: E402
from hg.clang import require  # noqa: E402

GOLDEN = HERE / "golden"
PROFILE = "headergen.json"


class SampleTest(unittest.TestCase):
    """Each test gets a fresh sample with the annotations of the project and a frozen snapshot of itself."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="headergen_", dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.root)
        for file in sorted((HERE / "fixture").rglob("*")):
            if file.is_file():
                target = self.root / file.relative_to(HERE / "fixture")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_bytes())
        (self.root / "src/api/annotations.hpp").write_bytes((ROOT / "abi/src/api/annotations.hpp").read_bytes())
        shutil.copyfile(GOLDEN / "snapshot.json", self.root / "snapshot.json")

    def edit(self, file: str, old: str, new: str) -> None:
        """Replaces a text that must occur exactly once."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1, f"{old!r} in {file}")
        path.write_text(text.replace(old, new), encoding="utf-8")

    def line_of(self, file: str, text: str) -> int:
        lines = (self.root / file).read_text(encoding="utf-8").splitlines()
        return next(i for i, line in enumerate(lines, 1) if text in line)

    def headergen(self, *arguments: str) -> tuple[int, str]:
        """Exit code and all that was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = cli.main(["--root", str(self.root), "--profile", PROFILE, *arguments])
        return code, out.getvalue()

    def abi(self) -> dict:
        return run.read_abi(require(), self.root, profile.load(self.root, PROFILE))

    def files(self) -> dict[str, str]:
        chosen = profile.load(self.root, PROFILE)
        abi = self.abi()
        return {**run.generate(self.root, chosen, abi), chosen.snapshot: facts.dump(facts.of(abi))}

    def refused(self, rule: str, *texts: str, at: tuple[str, str] | None = None) -> None:
        """headergen refuses the sources because of `rule`, with these words, at the line of `file` that holds a text."""
        code, printed = self.headergen()
        self.assertEqual(code, 1, printed)
        lines = [line for line in printed.splitlines() if line.endswith(f"[{rule}]")]
        self.assertTrue(lines, printed)
        for text in texts:
            self.assertTrue(any(text in line for line in lines), f"{text!r} in:\n{printed}")
        if at is not None:
            place = f"{at[0]}:{self.line_of(*at)}: "
            self.assertTrue(any(line.startswith(place) for line in lines), f"{place!r} in:\n{printed}")
        self.assertFalse((self.root / "include").exists(), "nothing is written when something is refused")
