"""One line of the result, and the table of all of them."""

import dataclasses
import fnmatch


@dataclasses.dataclass
class Row:
    """A figure beside its target. `value` is None where nothing could be measured; `note` says why then."""

    name: str
    # "ratio": the baseline's time by the subject's, at least the target; "instructions": at most the target.
    kind: str
    value: float | None
    # 0 for a row that only informs.
    target: float
    # What the figure is made of, such as the medians in nanoseconds.
    details: dict = dataclasses.field(default_factory=dict)
    note: str = ""

    @property
    def met(self):
        """Whether the figure is good enough; None for a row without a target."""
        if not self.target:
            return None
        if self.value is None:
            return False
        return self.value >= self.target if self.kind == "ratio" else self.value <= self.target

    def as_json(self):
        return {**dataclasses.asdict(self), "met": self.met}

    def figure(self):
        if self.value is None:
            return "-"
        return f"{self.value:.2f}" if self.kind == "ratio" else f"{self.value:.0f}"

    def limit(self):
        if not self.target:
            return ""
        return f">= {self.target:.2f}" if self.kind == "ratio" else f"<= {self.target:.0f}"

    def remark(self):
        if self.note:
            return self.note
        if self.kind != "ratio":
            return self.details.get("unit", "")
        subject, baseline = self.details["subject_ns"], self.details["baseline_ns"]
        return f"{microseconds(subject)} against {microseconds(baseline)} of {self.details['baseline']}"


def microseconds(nanoseconds):
    return f"{nanoseconds / 1000:.1f} us"


def chosen(name, names):
    """Whether a row of that name was asked for: all are when no names are given. A name may be a part or a pattern."""
    return not names or any(part in name or fnmatch.fnmatchcase(name, part) for part in names)


def table(rows):
    """The rows as text."""
    cells = [("benchmark", "figure", "target", "met", "")]
    cells += [(row.name, row.figure(), row.limit(), {True: "yes", False: "NO", None: ""}[row.met], row.remark()) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    lines = []
    for name, figure, limit, met, remark in cells:
        line = f"{name:<{widths[0]}}  {figure:>{widths[1]}}  {limit:>{widths[2]}}  {met:<{widths[3]}}  {remark}"
        lines.append(line.rstrip())
    return "\n".join(lines)
