"""Documentation comments: `///`, `/** */` and trailing `///<`, with tags at the start of a line."""

from __future__ import annotations

from dataclasses import dataclass, field

TAGS = ("owner", "thread", "errors", "since", "spec", "return", "note")
_GROUP = ("@group", "@endgroup")


@dataclass
class Doc:
    summary: str = ""
    paragraphs: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Summary and free text as one string, paragraphs apart by an empty line."""
        return "\n\n".join([p for p in [self.summary, *self.paragraphs] if p])


def strip(raw: str | None) -> list[str]:
    """The lines of a comment without its markers."""
    lines = []
    for line in (raw or "").splitlines():
        line = line.strip()
        for marker in ("///<", "///", "//!", "/**<", "/**", "/*!"):
            if line.startswith(marker):
                line = line[len(marker):]
                break
        else:
            if line.startswith("*") and not line.startswith("*/"):
                line = line[1:]
        if line.endswith("*/"):
            line = line[:-2]
        lines.append(line[1:].rstrip() if line.startswith(" ") else line.rstrip())
    return lines


def is_documentation(raw: str) -> bool:
    return raw.startswith(("///", "/**", "//!", "/*!")) and not raw.startswith(("////", "/***"))


def without_group_lines(lines: list[str]) -> list[str]:
    """What documents the declaration when its comment touches the line that opens a group."""
    for index in range(len(lines) - 1, -1, -1):
        if lines[index].startswith(_GROUP):
            return lines[index + 1:]
    return lines


def parse(raw: str | None) -> Doc:
    doc = Doc()
    paragraph: list[str] = []
    paragraphs: list[str] = []
    tag: str | None = None

    def end_paragraph():
        if paragraph:
            paragraphs.append(_join(paragraph))
            paragraph.clear()

    for line in without_group_lines(strip(raw)):
        if line.lstrip().startswith("@"):
            end_paragraph()
            word, _, rest = line.strip()[1:].partition(" ")
            rest = rest.strip()
            if word == "param":
                name, _, rest = rest.partition(" ")
                tag = "param:" + name
                doc.params[name] = rest.strip()
            elif word in TAGS:
                tag = word
                doc.tags[word] = (doc.tags[word] + " " + rest) if word in doc.tags else rest
            else:
                doc.unknown.append(word)
                tag = None
        elif not line.strip():
            end_paragraph()
            tag = None
        elif tag is None:
            paragraph.append(line)
            if not paragraphs and line.endswith("."):
                end_paragraph()  # the first lines, up to one that ends a sentence, are the summary
        elif tag.startswith("param:"):
            name = tag[len("param:"):]
            doc.params[name] = (doc.params[name] + " " + line.strip()).strip()
        else:
            doc.tags[tag] = (doc.tags[tag] + " " + line.strip()).strip()
    end_paragraph()
    if paragraphs:
        doc.summary, doc.paragraphs = paragraphs[0], paragraphs[1:]
    return doc


def _join(lines: list[str]) -> str:
    """One paragraph: flowing text becomes one line, indented or listed lines stay as they are."""
    out: list[str] = []
    for line in lines:
        listed = line.startswith(("  ", "- ", "* "))
        if out and not listed and not out[-1].startswith("    "):
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    return "\n".join(out)


@dataclass
class Group:
    name: str
    title: str
    doc: str
    line: int


def groups(comments: list[tuple[int, int, str]], declaration_lines: set[int]) -> list[tuple[int, Group | None]]:
    """The groups that comments of one file open and close: (line from which it holds, group or None).

    `comments` are (first line, last line, text) of every comment token; neighbouring `///` lines form one block.
    """
    blocks: list[tuple[int, int, list[str]]] = []
    for first, last, text in comments:
        if not is_documentation(text):
            continue
        lines = strip(text)
        if blocks and blocks[-1][1] + 1 == first:
            blocks[-1] = (blocks[-1][0], last, blocks[-1][2] + lines)
        else:
            blocks.append((first, last, lines))
    found: list[tuple[int, Group | None]] = []
    for first, last, lines in blocks:
        for index, line in enumerate(lines):
            if line.startswith("@endgroup"):
                found.append((first + index, None))
            elif line.startswith("@group"):
                name, _, title = line[len("@group"):].strip().partition(" ")
                rest = lines[index + 1:]
                stands_alone = last + 1 not in declaration_lines
                found.append((first + index, Group(name, title.strip(), _join([r for r in rest if r])
                                                   if stands_alone else "", first + index)))
    return found
