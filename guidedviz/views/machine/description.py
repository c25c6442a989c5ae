"""A machine as text: how many states it has, and one line per state with its arrows."""

from __future__ import annotations

from collections.abc import Mapping

from guidedviz.errors import shorten
from guidedviz.machines.visible import counted
from guidedviz.sketches.sketch import Arrow
from guidedviz.views.layout.labels import say_arrow, say_ranges
from guidedviz.views.layout.parts import Diagram
from guidedviz.views.machine.highlight import Highlight, arrow_key
from guidedviz.views.machine.svg import NO_NOTES

ROWS = 40  # at most so many states have a line


def count_states(diagram: Diagram) -> str:
    """The number of states, of folded ones and, unless all are drawn, of drawn ones."""
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


def say_machine(diagram: Diagram, lit: Highlight, about: str, notes: Mapping[int, str] = NO_NOTES) -> str:
    """The diagram as text: one line per state that is drawn."""
    sketch = diagram.sketch
    out: dict[int, list[Arrow]] = {}
    for arrow in sketch.arrows:
        out.setdefault(arrow.source, []).append(arrow)
    now = f", now in {', '.join(sketch.names[s] for s in sorted(lit.now))}" if lit.now else ""
    died = f", where {lit.cross[1]} cannot come" if lit.cross else ""
    heads = {nodes[0]: name for name, nodes in sketch.rules}
    counters = {rule: f", {said}" for rule, said in (*sketch.repeats, *lit.counts)}
    nodes = [node for _, nodes in sketch.rules for node in nodes] or range(len(sketch.names))
    every = [node for node in nodes if node not in sketch.folded]
    shown = [state for state in every if state in diagram.spots][:ROWS]
    long = max((len(shorten(sketch.names[state], 14)) for state in shown), default=0)
    lines = [f"machine: {about}{now}{died}"]
    for state in shown:
        lines += [heads[state] + counters.get(heads[state], "")] if state in heads else []
        marks = "●" if state in lit.now else "↩" if state in lit.back else " "
        marks += "→" if state == sketch.initial else " "
        marks += "◎" if state in sketch.accepting else " "
        ways = " · ".join(f"{_say_arrow(a, lit)} → {sketch.names[a.target]}" for a in out.get(state, ()))
        groups = "".join(f" [{title}]" for title, states in sketch.groups if state in states)
        note = f" = {notes[state]}" if state in notes else ""
        lines.append(f"{marks} {shorten(sketch.names[state], 14):<{long}}{groups}{note}  {ways}".rstrip())
    left = len(every) - len(shown)
    return "\n".join(lines + [f"    … and {left:,} more"] * bool(left))


def _say_arrow(arrow: Arrow, lit: Highlight) -> str:
    if arrow.through:
        return say_arrow(arrow, whole=True)
    if arrow.loop:
        return f"{arrow.loop} times"
    if not arrow.call:
        return say_ranges(arrow.ranges)
    times = dict(lit.calls).get(arrow_key(arrow), 0)
    last = " (called last)" * (arrow_key(arrow) in lit.last)
    return f"calls {arrow.call}" + (f" (open{f' ×{times}' * (times > 1)})" if times else last)
