"""A machine in words: how many states it has, and a line for each with its ways out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guidedviz.machines.sketch import Arrow, Sketch
from guidedviz.machines.visible import counted
from guidedviz.views.arrows import say_arrow, say_ranges
from guidedviz.views.figure import shorten
from guidedviz.views.ink import NOTHING
from guidedviz.views.light import Light, arrow_key
from guidedviz.views.spots import Diagram

ROWS = 40  # states that get a line


def count_states(diagram: Diagram) -> str:
    """How many states there are, how many of them are folded, and how many are drawn where not all are."""
    sketch, drawn = diagram.sketch, len(diagram.spots)
    if diagram.blocks:
        every = sum(len(nodes) for _, nodes in sketch.rules)
        whole = f"{counted(len(sketch.rules), 'rule')}, {counted(every, 'node')}"
        part = f"{len(diagram.blocks)} of {counted(len(sketch.rules), 'rule')}, {drawn} of {counted(every, 'node')}"
    else:
        every = len(sketch.names)
        whole = counted(every, "state")
        part = f"{drawn} of {whole}"
    folded = f", {len(sketch.folded):,} of them folded" if sketch.folded else ""
    return whole + folded if drawn + len(sketch.folded) == every else f"{part}{folded}: those around the current one"


def say_machine(
    sketch: Sketch, light: Light, about: str, notes: Mapping[int, str] = NOTHING, shown: Sequence[int] = ()
) -> str:
    """The same in words: a line a state."""
    out: dict[int, list[Arrow]] = {}
    for arrow in sketch.arrows:
        out.setdefault(arrow.source, []).append(arrow)
    now = f", now in {', '.join(sketch.names[s] for s in sorted(light.now))}" if light.now else ""
    died = f", where {light.cross[1]} cannot come" if light.cross else ""
    heads = {nodes[0]: name for name, nodes in sketch.rules}
    known = set(shown) or {*range(len(sketch.names))}
    nodes = [node for _, nodes in sketch.rules for node in nodes] or range(len(sketch.names))
    every = [node for node in nodes if node not in sketch.folded]
    shown = [state for state in every if state in known][:ROWS]
    long = max((len(shorten(sketch.names[state], 14)) for state in shown), default=0)
    lines = [f"machine: {about}{now}{died}"]
    for state in shown:
        lines += [heads[state]] if state in heads else []
        marks = "●" if state in light.now else "↩" if state in light.back else " "
        marks += "→" if state == sketch.initial else " "
        marks += "◎" if state in sketch.accepting else " "
        ways = " · ".join(f"{_say_arrow(a, light)} → {sketch.names[a.target]}" for a in out.get(state, ()))
        groups = "".join(f" [{title}]" for title, states in sketch.groups if state in states)
        note = f" = {notes[state]}" if state in notes else ""
        lines.append(f"{marks} {shorten(sketch.names[state], 14):<{long}}{groups}{note}  {ways}".rstrip())
    if len(every) > len(shown):
        lines.append(f"    … and {len(every) - len(shown):,} more")
    return "\n".join(lines)


def _say_arrow(arrow: Arrow, light: Light) -> str:
    if arrow.through:
        return say_arrow(arrow, whole=True)
    if not arrow.call:
        return say_ranges(arrow.ranges)
    times = dict(light.calls).get(arrow_key(arrow), 0)
    last = " (called last)" * (arrow_key(arrow) in light.last)
    return f"calls {arrow.call}" + (f" (open{f' ×{times}' * (times > 1)})" if times else last)
