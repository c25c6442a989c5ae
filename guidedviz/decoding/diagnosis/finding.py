"""What a diagnosis says: findings with their evidence, and what was looked at."""

from __future__ import annotations

from dataclasses import dataclass

from guidedviz.errors import escaped
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node, notice, table

UNSEEN = "whether the values are right: no mask and no record can tell"


@dataclass(frozen=True)
class Finding:
    """A likely cause: its name, the step that shows it first, the evidence, what to check and what to try."""

    name: str
    step: int  # the place in `trace.steps`
    seen: str
    check: str
    cure: str

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The finding without its name and its step, line by line."""
        return ("seen", self.seen), ("check", self.check), ("try", self.cure)


@dataclass(frozen=True)
class Diagnosis:
    """The findings of a run, the likeliest cause first; none if the run looks sound."""

    findings: tuple[Finding, ...]
    ended: str  # how long the run was and how it ended, in words
    looked: tuple[str, ...]
    skipped: tuple[str, ...] = ()  # what could not be looked at without the guide

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the findings."""
        return tuple(finding.name for finding in self.findings)

    @property
    def head(self) -> str:
        """The result in one line."""
        result = counted(len(self.findings), "finding") if self.findings else "the run looks sound"
        return f"{result} · {self.ended}"

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """What was looked at, and what was not."""
        skipped = (("not looked at", "; ".join(self.skipped) + " (this needs the guide)"),) if self.skipped else ()
        return ("looked at", "; ".join(self.looked)), *skipped, ("not visible", UNSEEN)

    def __repr__(self) -> str:
        lines = [self.head]
        for number, finding in enumerate(self.findings, 1):
            lines.append(f"{number}. {finding.name}, at step {finding.step}")
            lines += [f"   {name:<5}  {said}" for name, said in finding.rows]
        return escaped("\n".join([*lines, *(f"{name}: {said}" for name, said in self.notes)]))

    def _repr_html_(self) -> str:
        icon, colour = ("!", "#b3400a") if self.findings else ("✓", "#0b6e4f")
        lines = (part for name, said in self.notes for part in (node("br"), f"{name}: {escaped(said)}"))
        notes = node("div", *[*lines][1:], style="margin-top:6px;font-size:.85em;opacity:.75")
        return str(notice(f"{icon} {escaped(self.head)}", colour, *map(_show, self.findings), notes))


def _show(finding: Finding) -> Element:
    title = node("b", escaped(finding.name)), f", at step {finding.step}"
    return node("div", *title, table((name, escaped(said)) for name, said in finding.rows), style="margin:8px 0 0")
