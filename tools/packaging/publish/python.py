"""Publishes wheels: a folder of the simple index form, or an index on the network by twine, as the community does."""

from __future__ import annotations

import hashlib
import html
import os
import re
import shutil
import subprocess
import zipfile
from email.parser import BytesParser
from pathlib import Path
from urllib.parse import quote


class PublishError(RuntimeError):
    """Nothing, or not all, was published. The message says why."""


def publish(packages: list[Path], to: Path | str) -> None:
    """Lays wheels into a simple index (`pip install --index-url file:///.../simple`), or uploads them.

    to: a folder, in which simple/<name>/index.html and the wheels come to lie; or the URL of an index's upload service, for
    which twine must be installed and have credentials (its own settings, environment or keyring; it is never asked for any).
    A wheel that is there already stays as it is: publishing other bytes is refused.
    """
    wheels = [Path(package) for package in packages]
    described = [(wheel, _described(wheel)) for wheel in wheels]
    url = re.match(r"(https?):/+(.*)", str(to))
    if url:
        # A Path has lost one of the slashes.
        _upload(wheels, f"{url[1]}://{url[2]}")
        return
    for wheel, (name, _) in described:
        _lay(wheel, Path(to) / "simple" / name)
    for name in {name for _, (name, _) in described}:
        _write_project(Path(to) / "simple" / name)
    _write_index(Path(to) / "simple")


def normalized(name: str) -> str:
    """The form of a project's name in an index."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _described(wheel: Path) -> tuple[str, str]:
    """Normalized name and Requires-Python of a wheel."""
    parts = re.fullmatch(r"([A-Za-z0-9_.]+)-([A-Za-z0-9_.!+]+)(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl", wheel.name)
    if parts is None:
        raise PublishError(f"{wheel.name}: is no name of a wheel")
    try:
        with zipfile.ZipFile(wheel) as archive:
            header = BytesParser().parsebytes(archive.read(f"{parts[1]}-{parts[2]}.dist-info/METADATA"), headersonly=True)
    except (zipfile.BadZipFile, KeyError) as error:
        raise PublishError(f"{wheel.name}: is no wheel: {error}") from error
    return normalized(parts[1]), header.get("Requires-Python", "")


def _lay(wheel: Path, folder: Path) -> None:
    target = folder / wheel.name
    if target.exists() and target.read_bytes() != wheel.read_bytes():
        raise PublishError(f"{wheel.name}: is published already, with other bytes")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(wheel, target)


def _page(title: str, lines: list[str]) -> str:
    body = "\n".join(lines)
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="pypi:repository-version" content="1.0">\n'
            f"<title>{html.escape(title)}</title>\n</head>\n<body>\n{body}\n</body>\n</html>\n")


def _write_project(folder: Path) -> None:
    lines = []
    for wheel in sorted(folder.glob("*.whl")):
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        requires = html.escape(_described(wheel)[1], quote=True)
        attribute = f' data-requires-python="{requires}"' if requires else ""
        lines.append(f'<a href="{quote(wheel.name)}#sha256={digest}"{attribute}>{html.escape(wheel.name)}</a><br>')
    (folder / "index.html").write_text(_page(f"Links for {folder.name}", lines), encoding="utf-8")


def _write_index(folder: Path) -> None:
    names = sorted(page.parent.name for page in folder.glob("*/index.html"))
    lines = [f'<a href="{quote(name)}/">{html.escape(name)}</a><br>' for name in names]
    (folder / "index.html").write_text(_page("Simple index", lines), encoding="utf-8")


def _upload(wheels: list[Path], url: str) -> None:
    twine = shutil.which("twine")
    if twine is None:
        raise PublishError("twine is not installed: it uploads wheels to an index")
    command = [twine, "upload", "--non-interactive", "--disable-progress-bar", "--repository-url", url, *map(str, wheels)]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise PublishError(f"twine: {done.stderr.strip() or done.stdout.strip()}")
