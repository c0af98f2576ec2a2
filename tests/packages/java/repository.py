"""A Maven repository folder as a build tool sees it: coordinates in, files out, whose checksums are compared on the way."""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ElementTree
from pathlib import Path


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def versions(self, group: str, artifact: str) -> list[str]:
        metadata = ElementTree.parse(self._verified(Path(*group.split(".")) / artifact / "maven-metadata.xml")).getroot()
        return [version.text or "" for version in metadata.iterfind("versioning/versions/version")]

    def file(self, coordinates: str, kind: str = "jar") -> Path:
        """group:artifact:version or group:artifact:version:classifier."""
        group, artifact, version, *classifier = coordinates.split(":")
        name = "-".join([artifact, version, *classifier]) + "." + kind
        return self._verified(Path(*group.split(".")) / artifact / version / name)

    def _verified(self, place: Path) -> Path:
        file = self.folder / place
        for kind in ("md5", "sha1", "sha256"):
            found = hashlib.new(kind, file.read_bytes()).hexdigest()
            said = file.with_name(file.name + "." + kind).read_text(encoding="ascii")
            if found != said:
                raise AssertionError(f"{place}.{kind}: says {said}, and it is {found}")
        return file
