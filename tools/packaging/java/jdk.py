"""The tools of a JDK, called so that their output depends on their input alone."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.packaging.archives import Entry, entries_below

# What the documentation of this project says in its sentences and not in tags.
_TAGS = re.compile(r"warning: no @(param|return|throws)\b")


class ToolError(RuntimeError):
    """A tool of the JDK failed. The message is what it said."""


def manifest(attributes: dict[str, str]) -> bytes:
    """A jar's manifest. Lines have 72 bytes at most; none here is longer."""
    lines = ["Manifest-Version: 1.0", *(f"{name}: {value}" for name, value in attributes.items())]
    too_long = [line for line in lines if len(line.encode()) > 70]
    if too_long:
        raise ValueError(f"{too_long[0]}: is longer than a line of a manifest")
    return "".join(line + "\r\n" for line in lines).encode() + b"\r\n"


@dataclass(frozen=True)
class Jdk:
    """A JDK below a folder, and the release for which it compiles."""

    home: Path
    release: int = 17

    def compile(self, sources: dict[str, str], scratch: Path, options: list[str]) -> list[Entry]:
        """Compiles sources, given by their paths; the classes."""
        files = self._write(sources, scratch / "sources")
        classes = scratch / "classes"
        self._run("javac", ["-encoding", "UTF-8", "--release", str(self.release), "-Xlint:all,-module", "-Werror", *options, "-d", str(classes), *files])
        return entries_below(classes)

    def document(self, sources: dict[str, str], scratch: Path, title: str) -> list[Entry]:
        """The pages of javadoc. A public thing without a comment, a broken link or a wrong tag is an error."""
        files = self._write(sources, scratch / "sources")
        pages = scratch / "pages"
        said = self._run(
            "javadoc",
            ["-quiet", "-notimestamp", "-encoding", "UTF-8", "-docencoding", "UTF-8", "-charset", "UTF-8", "--release", str(self.release),
             "-Xdoclint:all", "-Xmaxwarns", "100000", "-windowtitle", title, "-doctitle", title, "-d", str(pages), *files],
        )
        problems = [line for line in said.splitlines() if "warning:" in line and not _TAGS.search(line)]
        if problems:
            raise ToolError("javadoc:\n" + "\n".join(problems))
        return entries_below(pages)

    @staticmethod
    def _write(sources: dict[str, str], folder: Path) -> list[str]:
        files = []
        for name, text in sorted(sources.items()):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            files.append(str(file))
        return files

    def _run(self, tool: str, arguments: list[str]) -> str:
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        done = subprocess.run(
            [self.home / "bin" / tool, "-J-XX:-UsePerfData", *arguments],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True,
        )
        if done.returncode != 0:
            raise ToolError(f"{tool}: {done.stdout.strip()}")
        return done.stdout
