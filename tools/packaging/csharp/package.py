"""Makes the packages for C#: a nupkg with the assemblies and the native libraries, and a snupkg with the symbols.

    package.py --assemblies net8.0=FOLDER --assemblies net10.0=FOLDER --native linux-x64=libhurray.so.1 ...
               --readme FILE --out Hurray.0.1.0.nupkg --symbols Hurray.0.1.0.snupkg

What the project file says about packages that a framework needs is read from the project file, and from nowhere else.
"""

from __future__ import annotations

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tools.packaging.archives import Entry, entry_of, write_zip
from tools.packaging.metadata import Metadata, load

_NUSPEC = "http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_CONTENT_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
# What a name ends with decides in an Open Packaging archive what the file is.
_TYPES = {
    "rels": "application/vnd.openxmlformats-package.relationships+xml",
    "nuspec": "application/octet",
    "dll": "application/octet",
    "pdb": "application/octet",
    "xml": "application/octet",
    "md": "application/octet",
    "1": "application/octet",
    "dylib": "application/octet",
}
_FRAMEWORK = re.compile(r"net\d+\.0")
_RID = re.compile(r"(linux|linux-musl|osx|win)-(x64|arm64)")


class PackageError(ValueError):
    """What is to be packed is not what a package needs. The message says what."""


def package_id(metadata: Metadata) -> str:
    """Name of the package, of its assembly and of its namespace."""
    return metadata.title


def dependencies(project: Path, framework: str) -> list[tuple[str, str]]:
    """Name and version of each package that the project references for a framework."""
    found = []
    for reference in ElementTree.parse(project).getroot().iter("PackageReference"):
        condition = reference.get("Condition")
        if condition is None or f"'$(TargetFramework)' == '{framework}'" == condition:
            found.append((reference.attrib["Include"], reference.attrib["Version"]))
        elif not re.fullmatch(r"'\$\(TargetFramework\)' == '[^']+'", condition):
            raise PackageError(f"{project.name}: a condition that is not understood: {condition}")
    return sorted(found)


def assemblies(metadata: Metadata, framework: str, folder: Path, endings: list[str]) -> list[Entry]:
    """The assembly's files of a framework, out of the folder that it was built to."""
    if not _FRAMEWORK.fullmatch(framework):
        raise PackageError(f"{framework}: expected a framework such as net8.0")
    name = package_id(metadata)
    return [entry_of(f"lib/{framework}/{name}.{ending}", folder / f"{name}.{ending}") for ending in endings]


def native(rid: str, library: Path) -> Entry:
    """A native library where .NET's loader looks for it."""
    if not _RID.fullmatch(rid):
        raise PackageError(f"{rid}: expected a runtime identifier such as linux-x64")
    return entry_of(f"runtimes/{rid}/native/{library.name}", library, executable=True)


def nuspec(metadata: Metadata, groups: dict[str, list[tuple[str, str]]], *, symbols: bool = False) -> Entry:
    """What NuGet reads first: who and what the package is, and what it needs."""
    texts = {
        "id": package_id(metadata),
        "version": metadata.version,
        "authors": ", ".join(metadata.authors),
        "description": metadata.description,
        "projectUrl": metadata.url,
        "tags": " ".join(metadata.keywords),
    }
    lines = [f"    <{name}>{escape(text)}</{name}>" for name, text in texts.items()]
    if symbols:
        lines.append('    <packageTypes><packageType name="SymbolsPackage" /></packageTypes>')
    else:
        lines.append(f'    <license type="expression">{escape(metadata.licence)}</license>')
        lines.append("    <readme>README.md</readme>")
        lines.append("    <dependencies>")
        for framework, needed in sorted(groups.items()):
            lines.append(f"      <group targetFramework={quoteattr(framework)}>")
            lines += [f"        <dependency id={quoteattr(name)} version={quoteattr(version)} />" for name, version in needed]
            lines.append("      </group>")
        lines.append("    </dependencies>")
    text = "\n".join(['<?xml version="1.0" encoding="utf-8"?>', f'<package xmlns="{_NUSPEC}">', "  <metadata>", *lines, "  </metadata>", "</package>", ""])
    return Entry(f"{package_id(metadata)}.nuspec", text.encode())


def write(out: Path, metadata: Metadata, description: Entry, files: list[Entry]) -> None:
    """Writes a package around its files: what Open Packaging asks for comes first."""
    relations = (
        f'<?xml version="1.0" encoding="utf-8"?>\n<Relationships xmlns="{_RELATIONS}">\n'
        f'  <Relationship Id="R1" Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{description.name}" />\n'
        "</Relationships>\n"
    )
    parts = [*files, description]
    endings = sorted({part.name.rpartition(".")[2] for part in parts if "." in part.name.rpartition("/")[2]} | {"rels"})
    unknown = [ending for ending in endings if ending not in _TYPES]
    if unknown:
        raise PackageError(f".{unknown[0]}: a kind of file that the package has no content type for")
    types = [f'  <Default Extension="{ending}" ContentType="{_TYPES[ending]}" />' for ending in endings]
    # A file without an ending is named by its whole name.
    types += [
        f'  <Override PartName="/{escape(part.name)}" ContentType="application/octet" />'
        for part in sorted(parts, key=lambda part: part.name)
        if "." not in part.name.rpartition("/")[2]
    ]
    content = "\n".join(['<?xml version="1.0" encoding="utf-8"?>', f'<Types xmlns="{_CONTENT_TYPES}">', *types, "</Types>", ""])
    first = ["[Content_Types].xml", "_rels/.rels", description.name]
    write_zip(out, [Entry(first[0], content.encode()), Entry(first[1], relations.encode()), *parts], first=first)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="package.py", description="Makes the nupkg and the snupkg.")
    parser.add_argument("--assemblies", action="append", required=True, metavar="FRAMEWORK=FOLDER")
    parser.add_argument("--native", action="append", required=True, metavar="RID=FILE")
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--readme", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, required=True)
    options = parser.parse_args(arguments)
    metadata = load()
    files = [Entry("LICENSE", metadata.licence_text), entry_of("README.md", options.readme)]
    symbols: list[Entry] = []
    groups = {}
    for pair in options.assemblies:
        framework, _, folder = pair.partition("=")
        files += assemblies(metadata, framework, Path(folder), ["dll", "xml"])
        symbols += assemblies(metadata, framework, Path(folder), ["pdb"])
        groups[framework] = dependencies(options.project, framework)
    for pair in options.native:
        rid, _, library = pair.partition("=")
        files.append(native(rid, Path(library)))
    write(options.out, metadata, nuspec(metadata, groups), files)
    write(options.symbols, metadata, nuspec(metadata, groups, symbols=True), symbols)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
