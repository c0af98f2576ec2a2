"""Publishes the packages for C and C++: a folder of tar.gz files with SHA256SUMS, which is how such files are offered anywhere."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

SUMS = "SHA256SUMS"


class PublishError(RuntimeError):
    """Nothing, or not all, was published. The message says why."""


def publish(packages: list[Path], to: Path | str) -> None:
    """Lays packages into a folder, or uploads them.

    to: a folder, or an https URL of one that takes uploads by PUT: curl is run, with the token in HURRAY_PUBLISH_TOKEN.
    A package that is there already under that name stays as it is: publishing other bytes is refused.
    """
    for package in packages:
        if not package.name.endswith(".tar.gz"):
            raise PublishError(f"{package.name}: expected a tar.gz")
    if re.match(r"[a-z]+:/", str(to)):
        _upload(packages, re.sub(r":/+", "://", str(to)))
        return
    folder = Path(to)
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        target = folder / package.name
        if not target.exists():
            shutil.copyfile(package, target)
        elif target.read_bytes() != package.read_bytes():
            raise PublishError(f"{package.name}: is published already, with other bytes")
    (folder / SUMS).write_text(_sums(sorted(folder.glob("*.tar.gz"))), encoding="ascii")


def _sums(packages: list[Path]) -> str:
    """As sha256sum writes and checks them."""
    return "".join(f"{hashlib.sha256(package.read_bytes()).hexdigest()}  {package.name}\n" for package in packages)


def _upload(packages: list[Path], url: str) -> None:
    if not url.startswith("https://"):
        raise PublishError(f"{url}: packages are uploaded by https only")
    curl = shutil.which("curl")
    if curl is None:
        raise PublishError("curl is not installed: it uploads the packages")
    token = os.environ.get("HURRAY_PUBLISH_TOKEN")
    if not token:
        raise PublishError("HURRAY_PUBLISH_TOKEN is not set: it says who may upload")
    with tempfile.TemporaryDirectory() as folder:
        sums = Path(folder) / SUMS
        sums.write_text(_sums(sorted(packages)), encoding="ascii")
        for file in [*packages, sums]:
            # The token goes through a pipe: everybody can read the arguments of a process.
            header = f'header = "Authorization: Bearer {token}"\n'
            done = subprocess.run(
                [curl, "--fail", "--silent", "--show-error", "--config", "-", "--upload-file", file, f"{url.rstrip('/')}/{file.name}"],
                input=header.encode(),
                stderr=subprocess.PIPE,
                check=False,
            )
            if done.returncode != 0:
                raise PublishError(f"{file.name}: {done.stderr.decode(errors='replace').strip()}")
