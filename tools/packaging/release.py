"""Builds all packages, and publishes them.

Into a folder they go in the form that each community's own tool reads: DIR/maven, DIR/nuget, DIR/goproxy, DIR/simple (wheels)
and DIR/archives (C and C++). To publish for everybody is the same command with LANGUAGE=URL: then the community's own
command runs, with its own credentials.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent

# Where a language's packages lie in a folder of registries. The publisher of Python makes its folder, simple, itself.
REGISTRIES = {"cpp": "archives", "csharp": "nuget", "go": "goproxy", "java": "maven", "python": "."}


class ReleaseError(Exception):
    """What was asked for cannot be done. The message says why."""


def destinations(asked: list[str]) -> dict[str, str]:
    """Where each language's packages go, of what the command line says: one folder for all, or LANGUAGE=FOLDER_OR_URL.

    Languages that are not named are left out, unless there is a folder for all.
    """
    found: dict[str, str] = {}
    for text in asked:
        language, equals, place = text.partition("=")
        if equals and language in REGISTRIES:
            if not place:
                raise ReleaseError(f"{text}: expected a folder or a URL behind the =")
            found[language] = place
        elif "://" in text:
            raise ReleaseError(f"{text}: which language? Expected LANGUAGE={text}, with one of {', '.join(REGISTRIES)}")
        else:
            for name, folder in REGISTRIES.items():
                found.setdefault(name, str(Path(text) / folder))
    return found


def packages_of(folder: Path, language: str) -> list[Path]:
    """A language's packages in what //:dist has gathered."""
    found = sorted(path for path in (folder / language).rglob("*") if path.is_file()) if (folder / language).is_dir() else []
    if not found:
        raise ReleaseError(f"{folder / language}: no package is there")
    return found


def publish(folder: Path, where: dict[str, str]) -> None:
    """Hands the packages of a folder that //:dist made to the publishers of their languages. Nothing is published unless
    every language's packages are there."""
    packages = {language: packages_of(folder, language) for language in where}
    for language, place in where.items():
        publisher = importlib.import_module(f"tools.packaging.publish.{language}")
        publisher.publish(packages[language], place if "://" in place else Path(place))
        print(f"{language}: {len(packages[language])} files to {place}")


def build(target: str) -> Path:
    """Builds the packages and says where they are."""
    subprocess.run(["bazel", "build", "--config=release", target], cwd=_ROOT, check=True)
    shown = subprocess.run(["bazel", "info", "--config=release", "bazel-bin"], cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Path(shown.stdout.strip()) / target.rpartition(":")[2]


def main(arguments: list[str]) -> int:
    """The command tools/release."""
    parser = argparse.ArgumentParser(prog="tools/release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true", help="packages with this machine's platform only (//:dist_here), for tests")
    parser.add_argument("--from", dest="built", type=Path, metavar="DIR", help="packages that are built already, in a folder for each language")
    parser.add_argument(
        "--publish-to",
        action="append",
        default=[],
        metavar="DIR|LANGUAGE=DIR_OR_URL",
        help="a folder of registries for all languages, or the registry of one; may be given again",
    )
    given = parser.parse_args(arguments)
    try:
        where = destinations(given.publish_to)
        folder = given.built or build("//:dist_here" if given.here else "//:dist")
        publish(folder, where)
    except (ReleaseError, ValueError, RuntimeError) as error:
        print(f"tools/release: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"tools/release: {' '.join(map(str, error.cmd[:3]))} failed", file=sys.stderr)
        return error.returncode
    if not where:
        print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
