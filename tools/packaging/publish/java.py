"""Publishes the package for Java: a folder laid out as a Maven repository, or mvn deploy where the place is a URL."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

_POM = "{http://maven.apache.org/POM/4.0.0}"
CHECKSUMS = ("md5", "sha1", "sha256")
# Of a repository's list of versions; nobody asks when a release came. The same packages give the same bytes.
_LAST_UPDATED = "19800101000000"


class PublishError(RuntimeError):
    """Nothing, or not all, was published. The message says why."""


def publish(packages: list[Path], to: Path | str) -> None:
    """Lays packages into a repository, or deploys them.

    packages: files, or folders of them: jars and the POMs that they belong to.
    to: a folder, or an https URL: mvn is run then, with the credentials that its settings have for the repository that
        HURRAY_MAVEN_REPOSITORY_ID names.
    A file that is there already stays as it is: publishing other bytes under its name is refused.
    """
    files = [file for package in packages for file in (sorted(Path(package).iterdir()) if Path(package).is_dir() else [Path(package)])]
    poms = [file for file in files if file.suffix == ".pom"]
    if len(poms) != 1:
        raise PublishError(f"expected one POM among the files, found {len(poms)}")
    group, artifact, version = coordinates(poms[0])
    stem = f"{artifact}-{version}"
    strangers = [file.name for file in files if not re.fullmatch(re.escape(stem) + r"(-[a-z0-9_-]+)?\.(jar|pom)", file.name)]
    if strangers:
        raise PublishError(f"{strangers[0]}: does not belong to {group}:{artifact}:{version}")
    if not any(file.name == f"{stem}.jar" for file in files):
        raise PublishError(f"{stem}.jar is not among the files")
    if re.match(r"[a-z]+:/", str(to)):
        _deploy(files, stem, re.sub(r":/+", "://", str(to)))
    else:
        _lay(files, Path(to) / group.replace(".", "/") / artifact, group, artifact, version)


def coordinates(pom: Path) -> tuple[str, str, str]:
    """Group, artifact and version, as the POM has them."""
    try:
        project = ElementTree.parse(pom).getroot()
    except ElementTree.ParseError as error:
        raise PublishError(f"{pom.name}: {error}") from error
    words = [project.findtext(_POM + name) or "" for name in ("groupId", "artifactId", "version")]
    if not all(re.fullmatch(r"[A-Za-z0-9_.-]+", word) and ".." not in word for word in words):
        raise PublishError(f"{pom.name}: groupId, artifactId or version is missing or no name")
    return words[0], words[1], words[2]


def _lay(files: list[Path], folder: Path, group: str, artifact: str, version: str) -> None:
    target = folder / version
    for file in files:
        there = target / file.name
        if there.exists() and there.read_bytes() != file.read_bytes():
            raise PublishError(f"{file.name}: is published already, with other bytes")
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, target / file.name)
        _sum(target / file.name)
    versions = sorted((entry.name for entry in folder.iterdir() if entry.is_dir()), key=_order)
    listed = "".join(f"      <version>{one}</version>\n" for one in versions)
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<metadata>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <versioning>
    <latest>{versions[-1]}</latest>
    <release>{versions[-1]}</release>
    <versions>
{listed}    </versions>
    <lastUpdated>{_LAST_UPDATED}</lastUpdated>
  </versioning>
</metadata>
"""
    (folder / "maven-metadata.xml").write_text(text, encoding="utf-8")
    _sum(folder / "maven-metadata.xml")


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _sum(file: Path) -> None:
    for kind in CHECKSUMS:
        file.with_name(f"{file.name}.{kind}").write_text(hashlib.new(kind, file.read_bytes()).hexdigest(), encoding="ascii")


def _deploy(files: list[Path], stem: str, url: str) -> None:
    if not url.startswith("https://"):
        raise PublishError(f"{url}: packages are deployed by https only")
    maven = shutil.which("mvn")
    if maven is None:
        raise PublishError("mvn is not installed: it deploys the package")
    repository = os.environ.get("HURRAY_MAVEN_REPOSITORY_ID")
    if not repository:
        raise PublishError("HURRAY_MAVEN_REPOSITORY_ID is not set: it names the credentials in Maven's settings")
    further = [file for file in files if file.suffix == ".jar" and file.name != f"{stem}.jar"]
    jar = next(file for file in files if file.name == f"{stem}.jar")
    with tempfile.TemporaryDirectory() as scratch:
        # Maven takes the POM out of a file of this name.
        pom = Path(scratch) / "pom.xml"
        shutil.copyfile(next(file for file in files if file.suffix == ".pom"), pom)
        done = subprocess.run(
            [
                maven, "--batch-mode", "deploy:deploy-file", f"-Durl={url}", f"-DrepositoryId={repository}", f"-DpomFile={pom}",
                f"-Dfile={jar}",
                "-Dfiles=" + ",".join(str(file) for file in further),
                "-Dclassifiers=" + ",".join(file.stem[len(stem) + 1:] for file in further),
                "-Dtypes=" + ",".join("jar" for _ in further),
            ],
            cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )
    if done.returncode != 0:
        raise PublishError(f"mvn: {done.stdout.decode(errors='replace').strip()[-2000:]}")
