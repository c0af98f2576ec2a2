"""Sentences of the contract's text, and the words of obligation in them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

# Longest first, so that MUST NOT is not counted as a MUST.
_STRENGTHS = re.compile(r"\b(MUST NOT|SHOULD NOT|MUST|SHOULD|MAY)\b")
_ITEM = re.compile(r"\s*(?:•|\d+\.)\s+(?P<text>.*)")
_END = re.compile(r"(?<=\.)\s+")
# A line of C: what a sentence never ends with, or never starts with.
_CODE = re.compile(r"(typedef |#define |/\*|[A-Za-z]\w* \*?\w+\(|\s+\w+\*+\s|\s+\S.*[,;]$|\);?$|.*[;{}]$)")


@dataclass(frozen=True)
class Sentence:
    """One sentence: the heading that it stands under, its text without line breaks, and what it obliges to."""

    section: str
    text: str
    strengths: tuple[str, ...]

    @property
    def digest(self) -> str:
        return digest(self.text)


def digest(text: str) -> str:
    """SHA-256 of a sentence in which every run of white space is one blank."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def strengths(text: str) -> tuple[str, ...]:
    """The words of obligation in a sentence, each once, in their order."""
    return tuple(dict.fromkeys(_STRENGTHS.findall(text)))


def parse(text: str) -> list[Sentence]:
    """All sentences of a text of paragraphs, items and headings. C code in it is none.

    The items under a sentence that ends with "MUST:" inherit that word; so do the items below an item.
    """
    found: list[Sentence] = []
    section = ""
    inherited: tuple[str, ...] = ()
    for paragraph in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        if not lines:
            continue
        if len(lines) == 1 and not _ITEM.fullmatch(lines[0]) and not re.search(r"[.:;]\s*$", lines[0]):
            section, inherited = lines[0].strip(), ()
            continue
        for block, is_item in _blocks(lines):
            if not is_item:
                inherited = ()
            for sentence in _END.split(block):
                own = strengths(sentence)
                found.append(Sentence(section, sentence, own or (inherited if is_item else ())))
            last = strengths(block)
            if not is_item and block.endswith(":") and last:
                inherited = last[-1:]
    return found


def _blocks(lines: list[str]) -> list[tuple[str, bool]]:
    """Items and running text, each as one line, with whether it is an item."""
    blocks: list[tuple[str, bool]] = []
    open_text = False
    for line in lines:
        item = _ITEM.fullmatch(line)
        if item:
            blocks.append((item["text"].strip(), True))
            open_text = True
        elif _CODE.match(line):
            open_text = False
        elif open_text:
            blocks[-1] = (f"{blocks[-1][0]} {line.strip()}", blocks[-1][1])
        else:
            blocks.append((line.strip(), False))
            open_text = True
    return blocks
