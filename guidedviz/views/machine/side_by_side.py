"""Machines side by side: how a construction step merges or names states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from guidedviz.errors import SettingError, expect
from guidedviz.machines.names import name_state
from guidedviz.machines.regular.dfa import DFA
from guidedviz.markup import node
from guidedviz.views.figure import Figure, drawing, moved, write
from guidedviz.views.layout.diagram import NEAR, lay_out
from guidedviz.views.layout.sketch import Sketch
from guidedviz.views.machine.films import merged_states, title_of
from guidedviz.views.machine.highlight import UNLIT
from guidedviz.views.machine.picture import EDGE, bare, count_states, say_machine, sketch_of
from guidedviz.views.machine.svg import STYLE, write_diagram

WIDEST = 1100.0  # further machines start a new row


def draw_machines(*machines: Any, titles: Sequence[str] = ()) -> Figure:
    """Machines side by side; states that the next machine merges have the same letter and colour."""
    if not machines:
        raise SettingError("draw_machines", seen="none", expected="one machine or more")
    named = [*expect(titles, list | tuple, "draw_machines, titles", "a list of texts")]
    named += [type(machine).__name__ for machine in machines[len(named) :]]
    parts, texts, x, y, row, width = [], [], 0.0, 0.0, 0.0, 0.0
    for place, name in enumerate(named[: len(machines)]):
        sketch, notes = _with_partners(machines, place)
        diagram = replace(lay_out(bare(sketch), compact=False if len(sketch.names) <= NEAR else None), sketch=sketch)
        title = f"{name}: {count_states(diagram)}"
        wide = max(diagram.width, 8.0 * len(title)) + 24
        if x and x + wide > WIDEST:
            x, y, row = 0.0, y + row, 0.0
        head, body = write(0, 14, title, 13, font_weight="bold"), moved(0, 26, write_diagram(diagram, notes=notes))
        parts.append(moved(x + EDGE, y + 10, head, body))
        x, row, width = x + wide, max(row, diagram.height + 44), max(width, x + wide)
        texts.append(f"{name}, {say_machine(diagram, UNLIT, count_states(diagram), notes)}")
    text = "\n\n".join(texts)
    inside = node("g", *parts, class_="gv-on-page")
    return Figure(drawing(width + EDGE, y + row + 12, node("style", STYLE), inside, alt=text), text, text)


def _with_partners(machines: Sequence[Any], place: int) -> tuple[Sketch, dict[int, str]]:
    """A machine's sketch, with notes on how its states relate to those of its neighbours."""
    machine, sketch, notes = machines[place], sketch_of(machines[place], "draw_machines"), dict[int, str]()
    if not isinstance(machine, DFA):
        return sketch, notes
    before, after = (machines[n] if 0 <= n < len(machines) else None for n in (place - 1, place + 1))
    smaller, larger = (machine, before) if isinstance(before, DFA) else (after, machine)
    if isinstance(smaller, DFA) and len(smaller) <= len(larger):
        merged = machine is smaller
        blocks = [(n, block) for n, block in enumerate(merged_states(larger, smaller)) if len(block) > 1]
        groups = ((title_of(k), frozenset({n}) if merged else block) for k, (n, block) in enumerate(blocks))
        sketch = replace(sketch, groups=tuple(groups))
        notes = {n: " ".join(map(name_state, sorted(block))) for n, block in blocks if merged}
    return sketch, notes
