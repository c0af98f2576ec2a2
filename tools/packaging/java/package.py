"""Makes the package for Java: the jar, its sources, its documentation, a jar of native code for each platform, and the POM.

    package.py --jdk FOLDER --jar FILE --source FILE ... --newer-source FILE ... --native CLASSIFIER=FILE ... --readme FILE
               --out FOLDER

A source's place is what follows the last "src/", "gen/" or "newer/" of its path; a .srcjar is a zip of sources.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tools.packaging.archives import Entry, entry_of, write_zip
from tools.packaging.java import jdk, natives
from tools.packaging.java.pom import ARTIFACT, pom
from tools.packaging.metadata import Metadata, load

MANIFEST = "META-INF/MANIFEST.MF"
_NEWER_RELEASE = 22


class PackageError(ValueError):
    """What is to be packed is not what a package needs. The message says what."""


def sources_of(files: list[Path], folders: tuple[str, ...] = ("src/", "gen/")) -> dict[str, str]:
    """Sources by their paths in their package."""
    found: dict[str, str] = {}
    for file in files:
        if file.suffix == ".srcjar":
            with zipfile.ZipFile(file) as archive:
                named = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".java")}
        else:
            place = max((file.as_posix().rpartition(folder) for folder in folders), key=lambda parts: len(parts[0]) if parts[1] else -1)
            if not place[1]:
                raise PackageError(f"{file}: lies in none of the folders {', '.join(folders)}")
            named = {place[2]: file.read_text(encoding="utf-8")}
        for name, text in named.items():
            if name in found:
                raise PackageError(f"{name}: is there twice")
            found[name] = text
    return found


def main_entries(metadata: Metadata, jar: Path, readme: Path) -> list[Entry]:
    """What Bazel's jar has, and what packages say about themselves."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and name != MANIFEST]
        classes = [Entry(name, archive.read(name)) for name in names]
    if "module-info.class" not in names:
        raise PackageError(f"{jar}: is no module")
    if not any(name.startswith(f"META-INF/versions/{_NEWER_RELEASE}/") for name in names):
        raise PackageError(f"{jar}: has no classes for Java {_NEWER_RELEASE}: it was built without such a JDK, and cannot be released")
    folder = f"META-INF/maven/{metadata.java_group}/{ARTIFACT}"
    properties = f"groupId={metadata.java_group}\nartifactId={ARTIFACT}\nversion={metadata.version}\n"
    return [
        Entry(MANIFEST, jdk.manifest({
            "Implementation-Title": metadata.title,
            "Implementation-Version": metadata.version,
            "Multi-Release": "true",
        })),
        Entry("META-INF/LICENSE", metadata.licence_text),
        entry_of("META-INF/README.md", readme),
        Entry(f"{folder}/pom.xml", pom(metadata)),
        Entry(f"{folder}/pom.properties", properties.encode()),
        *classes,
    ]


def _plain(metadata: Metadata, what: str) -> list[Entry]:
    return [
        Entry(MANIFEST, jdk.manifest({"Implementation-Title": f"{metadata.title} ({what})", "Implementation-Version": metadata.version})),
        Entry("META-INF/LICENSE", metadata.licence_text),
    ]


@dataclass(frozen=True)
class Parts:
    """What a package is made of.

    jar: the binding, as Bazel makes it; libraries: JNI libraries by the classifiers of their jars.
    """

    jar: Path
    readme: Path
    sources: list[Path]
    newer: list[Path]
    libraries: dict[str, Path]


def make(metadata: Metadata, tools: jdk.Jdk, parts: Parts, out: Path) -> None:
    """Writes all files of the package into a folder."""
    stem = f"{ARTIFACT}-{metadata.version}"
    texts = sources_of(parts.sources)
    newer_texts = sources_of(parts.newer, ("newer/",))
    main_jar = out / f"{stem}.jar"
    write_zip(main_jar, main_entries(metadata, parts.jar, parts.readme), first=[MANIFEST])
    all_sources = {**texts, **{f"META-INF/versions/{_NEWER_RELEASE}/{name}": text for name, text in newer_texts.items()}}
    write_zip(
        out / f"{stem}-sources.jar",
        _plain(metadata, "sources") + [Entry(name, text.encode()) for name, text in all_sources.items()],
        first=[MANIFEST],
    )
    with tempfile.TemporaryDirectory() as scratch:
        pages = tools.document(texts, Path(scratch) / "javadoc", f"{metadata.title} {metadata.version}")
        licence_of_pages = [entry for entry in _plain(metadata, "javadoc") if entry.name not in {page.name for page in pages}]
        write_zip(out / f"{stem}-javadoc.jar", licence_of_pages + pages, first=[MANIFEST])
        for classifier, library in parts.libraries.items():
            packed = natives.entries(metadata, classifier, library.read_bytes(), main_jar, Path(scratch), tools)
            write_zip(out / f"{stem}-{classifier}.jar", packed, first=[MANIFEST])
    (out / f"{stem}.pom").write_bytes(pom(metadata))


def _pair(text: str) -> tuple[str, Path]:
    classifier, mark, file = text.partition("=")
    if not mark:
        raise argparse.ArgumentTypeError(f"{text}: expected CLASSIFIER=FILE")
    return classifier, Path(file)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jdk", required=True, type=Path)
    parser.add_argument("--jar", required=True, type=Path)
    parser.add_argument("--source", required=True, type=Path, action="append")
    parser.add_argument("--newer-source", type=Path, action="append", default=[])
    parser.add_argument("--native", required=True, type=_pair, action="append")
    parser.add_argument("--readme", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    given = parser.parse_args(arguments)
    parts = Parts(given.jar, given.readme, given.source, given.newer_source, dict(given.native))
    make(load(), jdk.Jdk(given.jdk), parts, given.out)


if __name__ == "__main__":
    main(sys.argv[1:])
