"""One run over one profile: sources in, files out."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import header
from .build import Builder
from .problems import Problems
from .profile import Profile
from .source import Reader


class Refused(Exception):
    def __init__(self, problems: Problems):
        super().__init__(problems.report())
        self.problems = problems


def read_abi(cindex, root: Path, profile: Profile) -> dict:
    """Parses the sources and applies every rule; raises Refused with all that was found."""
    problems = Problems()
    before = os.getcwd()
    os.chdir(root)
    try:
        sources = Reader(cindex, root, profile, problems).read()
        if problems:
            raise Refused(problems)
        abi = Builder(cindex, profile, problems, sources).build()
    finally:
        os.chdir(before)
    if problems:
        raise Refused(problems)
    return abi


def generate(root: Path, profile: Profile, abi: dict) -> dict[str, str]:
    """Headers and abi.json by their path in the repository."""
    files = header.all_headers(root, profile, abi)
    files[profile.abi_json] = json_text(profile, abi)
    return files


def json_text(profile: Profile, abi: dict) -> str:
    return json.dumps({"generated": header.banner(profile), **public(abi)}, indent=1, ensure_ascii=False) + "\n"


def public(abi):
    """Without what only this run needs (keys that start with _)."""
    if isinstance(abi, dict):
        return {k: public(v) for k, v in abi.items() if not k.startswith("_")}
    if isinstance(abi, list):
        return [public(v) for v in abi]
    return abi
