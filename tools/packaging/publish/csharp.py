"""Publishes the packages for C#: a NuGet folder feed, or a NuGet server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path


class PublishError(RuntimeError):
    """Nothing, or not all, was published. The message says why."""


def publish(packages: list[Path], to: Path | str) -> None:
    """Lays packages into a folder feed, or pushes them to a server.

    to: a folder, which NuGet takes as a source as it is; or the https URL of a server's index: `dotnet nuget push` is run,
    with the key in NUGET_API_KEY. It sends the snupkg that lies beside a nupkg along with it.
    A package that is there already under that name stays as it is: publishing other bytes is refused.
    """
    for package in packages:
        if package.suffix not in (".nupkg", ".snupkg"):
            raise PublishError(f"{package.name}: expected a nupkg or snupkg")
    if re.match(r"[a-z]+:/", str(to)):
        _push(packages, re.sub(r":/+", "://", str(to)))
        return
    folder = Path(to)
    for package in packages:
        target = folder / package.name
        if target.exists() and target.read_bytes() != package.read_bytes():
            raise PublishError(f"{package.name}: is published already, with other bytes")
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        if not (folder / package.name).exists():
            shutil.copyfile(package, folder / package.name)


def _push(packages: list[Path], url: str) -> None:
    if not url.startswith("https://"):
        raise PublishError(f"{url}: packages are pushed by https only")
    dotnet = shutil.which("dotnet")
    if dotnet is None:
        raise PublishError("dotnet is not installed: it pushes the packages")
    key = os.environ.get("NUGET_API_KEY")
    if not key:
        raise PublishError("NUGET_API_KEY is not set: it says who may push")
    for package in packages:
        if package.suffix == ".snupkg" and package.with_suffix(".nupkg") in packages:
            continue
        done = subprocess.run(
            [dotnet, "nuget", "push", package, "--source", url, "--api-key", key], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise PublishError(f"{package.name}: {(done.stdout + done.stderr).replace(key, '***').strip()}")
