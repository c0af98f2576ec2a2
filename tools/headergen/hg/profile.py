"""A profile: what one family of headers is made of, and which rules hold for it. The keys are explained in README.md."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

FIXED_INTS = {
    "int8_t": (8, True), "int16_t": (16, True), "int32_t": (32, True), "int64_t": (64, True),
    "uint8_t": (8, False), "uint16_t": (16, False), "uint32_t": (32, False), "uint64_t": (64, False),
}


@dataclass
class Section:
    title: str
    sources: list[str]
    text: str = ""


@dataclass
class Header:
    path: str
    conventions: str
    sections: list[Section]


@dataclass
class Profile:
    file: str
    name: str
    sources: str
    include: list[str]
    defines: list[str]
    standard: str
    output: str
    abi_json: str
    gen: str
    umbrella: dict | None
    headers: list[Header]
    function_prefixes: list[str]
    type_prefixes: list[str]
    constant_prefixes: list[str]
    extra_types: dict[str, tuple[int, bool]]
    foreign_types: dict[str, str]
    status_type: str
    status_ok: str
    error_type: str | None
    without_error: list[str]
    verbatim_structs: list[str]
    version_constant: str
    version_function: str
    generation: int
    released: bool
    default_since: int
    required_tags: list[str]
    import_macro: str
    version_nodes: dict | None
    snapshot: str
    raw: dict = field(repr=False, default_factory=dict)

    @property
    def all_sources(self) -> list[str]:
        return [s for h in self.headers for section in h.sections for s in section.sources]


class ProfileError(Exception):
    pass


_KNOWN = {
    "comment", "name", "sources", "include", "defines", "standard", "output", "abi_json", "gen", "umbrella", "headers",
    "prefixes", "extra_types", "foreign_types", "status_type", "status_ok", "error_type", "without_error", "abi",
    "verbatim_structs",
    "required_tags", "import_macro", "version_nodes", "snapshot", "emitters",
}


def load(root: Path, file: str) -> Profile:
    try:
        data = json.loads((root / file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProfileError(f"{file}: {error}") from error
    unknown = set(data) - _KNOWN
    if unknown:
        raise ProfileError(f"{file}: unknown key {sorted(unknown)[0]!r}")
    try:
        return Profile(
            file=file,
            name=data["name"],
            sources=data["sources"],
            include=data.get("include", []),
            defines=data.get("defines", []),
            standard=data.get("standard", "c++23"),
            output=data["output"],
            abi_json=data["abi_json"],
            gen=data["gen"],
            umbrella=data.get("umbrella"),
            headers=[
                Header(h["path"], h["conventions"], [Section(s["title"], s["sources"], s.get("text", ""))
                                                     for s in h["sections"]])
                for h in data["headers"]
            ],
            function_prefixes=data["prefixes"]["function"],
            type_prefixes=data["prefixes"]["type"],
            constant_prefixes=data["prefixes"]["constant"],
            extra_types={k: (v["bits"], v["signed"]) for k, v in data.get("extra_types", {}).items()},
            foreign_types=data.get("foreign_types", {}),
            status_type=data["status_type"],
            status_ok=data["status_ok"],
            error_type=data.get("error_type"),
            without_error=data.get("without_error", []),
            verbatim_structs=data.get("verbatim_structs", []),
            version_constant=data["abi"]["version_constant"],
            version_function=data["abi"]["version_function"],
            generation=data["abi"]["generation"],
            released=data["abi"]["released"],
            default_since=data["abi"]["default_since"],
            required_tags=data.get("required_tags", ["since", "thread", "owner"]),
            import_macro=data.get("import_macro", ""),
            version_nodes=data.get("version_nodes"),
            snapshot=data["snapshot"],
            raw=data,
        )
    except KeyError as error:
        raise ProfileError(f"{file}: the key {error} is missing") from error
