"""Publishes the Go module: a folder as GOPROXY=file://... reads it, or a release of the Git repository that Go fetches from."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

# A version without a history has no time of its own: that of all files in the packages.
_TIME = "1980-01-01T00:00:00Z"


class PublishError(RuntimeError):
    """Nothing, or not all, was published. The message says why."""


def publish(packages: list[Path], to: Path | str) -> None:
    """Lays module zips into a proxy's folder, or makes a commit with a tag of each in a Git repository.

    to: a folder for GOPROXY, or the URL of the Git repository that the module's path leads to: Go fetches modules from
    there, and so to publish one is to push its tag. git asks for credentials as it is set up to, never on a terminal.
    A version that is there already stays as it is: publishing other bytes is refused.
    """
    for package in packages:
        module, version = _coordinates(package)
        url = re.match(r"([a-z+]+):/+(.*)", str(to))
        if url:
            # A Path has lost some of the slashes.
            slashes = "///" if url[1] == "file" else "//"
            _push(package, f"{module}@{version}/", version, f"{url[1]}:{slashes}{url[2]}")
        else:
            _lay(package, module, version, Path(to))


def _coordinates(package: Path) -> tuple[str, str]:
    """Module and version, which a module's zip has as the name of its folder."""
    try:
        with zipfile.ZipFile(package) as archive:
            roots = {re.match(r"([^@]+)@([^/]+)/|", name).groups() for name in archive.namelist()}
    except zipfile.BadZipFile as error:
        raise PublishError(f"{package.name}: is no zip") from error
    module, version = roots.pop() if len(roots) == 1 else (None, None)
    if module is None:
        raise PublishError(f"{package.name}: expected one folder, module@version")
    if not re.fullmatch(r"[a-z0-9.\-_~/]+", module) or not re.fullmatch(r"v\d+\.\d+\.\d+", version):
        raise PublishError(f"{package.name}: {module}@{version} is no module that is published")
    return module, version


def _lay(package: Path, module: str, version: str, to: Path) -> None:
    folder = to / module / "@v"
    target = folder / f"{version}.zip"
    if target.exists() and target.read_bytes() != package.read_bytes():
        raise PublishError(f"{module}@{version}: is published already, with other bytes")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(package) as archive:
        (folder / f"{version}.mod").write_bytes(archive.read(f"{module}@{version}/go.mod"))
    (folder / f"{version}.info").write_text(json.dumps({"Version": version, "Time": _TIME}), encoding="ascii")
    shutil.copyfile(package, target)
    versions = sorted((file.stem for file in folder.glob("*.zip")), key=lambda name: [int(part) for part in name[1:].split(".")])
    (folder / "list").write_text("".join(f"{name}\n" for name in versions), encoding="ascii")


def _push(package: Path, prefix: str, version: str, url: str) -> None:
    git = shutil.which("git")
    if git is None:
        raise PublishError("git is not installed: a Go module is published by pushing its tag")

    def run(*arguments: str) -> str:
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        done = subprocess.run([git, *arguments], cwd=work, env=environment, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise PublishError(f"git {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        work = folder
        run("clone", "--quiet", "--depth=1", "--", url, "module")
        work = f"{folder}/module"
        if run("ls-remote", "--tags", "origin", f"refs/tags/{version}").strip():
            run("fetch", "--quiet", "--depth=1", "origin", f"refs/tags/{version}")
            if _committed(run, work) != _packed(package, prefix):
                raise PublishError(f"{version}: is published already, with other bytes")
            return
        for entry in Path(work).iterdir():
            if entry.name != ".git":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for name, data in _packed(package, prefix).items():
            file = Path(work, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        run("add", "--all", "--force")
        run("commit", "--quiet", "--allow-empty", "-m", f"Release {version}")
        run("tag", version)
        run("push", "--quiet", "--atomic", "origin", "HEAD", f"refs/tags/{version}")


def _packed(package: Path, prefix: str) -> dict[str, bytes]:
    with zipfile.ZipFile(package) as archive:
        return {name.removeprefix(prefix): archive.read(name) for name in archive.namelist()}


def _committed(run, work: str) -> dict[str, bytes]:
    run("checkout", "--quiet", "FETCH_HEAD")
    files = [file for file in Path(work).rglob("*") if file.is_file() and ".git" not in file.relative_to(work).parts]
    return {file.relative_to(work).as_posix(): file.read_bytes() for file in files}
