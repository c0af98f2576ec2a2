"""What a run refuses, each with file, line and reason."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Problem:
    file: str
    line: int
    rule: str  # short name of the rule, stable: tests and profiles refer to it
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason} [{self.rule}]"


@dataclass
class Problems:
    found: list[Problem] = field(default_factory=list)

    def add(self, where: tuple[str, int], rule: str, reason: str) -> None:
        problem = Problem(where[0], where[1], rule, reason)
        if problem not in self.found:
            self.found.append(problem)

    def __bool__(self) -> bool:
        return bool(self.found)

    def report(self) -> str:
        return "\n".join(str(p) for p in sorted(self.found, key=lambda p: (p.file, p.line, p.reason)))
