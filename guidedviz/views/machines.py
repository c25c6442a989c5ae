"""Machines side by side, and what they say about each other's states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA, build_dfa_steps
from guidedviz.machines.frames import merged_states, title_of
from guidedviz.machines.nfa import NFA
from guidedviz.machines.sketch import Sketch
from guidedviz.views.diagram import lay_out
from guidedviz.views.figure import Figure, drawing, node, write
from guidedviz.views.flat import NEAR
from guidedviz.views.ink import STYLE, write_diagram
from guidedviz.views.light import DARK
from guidedviz.views.machine import EDGE, bare, sketch_of
from guidedviz.views.machine_words import count_states, say_machine

WIDEST = 1100.0  # what does not fit goes below


def draw_machines(*machines: Any, titles: Sequence[str] = ()) -> Figure:
    """Machines side by side; states that the next one merges carry the same letter and colour.

    Hover over a state of a DFA made from the NFA before it to see the set of NFA states that it stands for.
    """
    if not machines:
        raise SettingError("draw_machines", seen="none", expected="one machine or more")
    named = [*titles, *map(_kind, machines[len(titles) :])]
    parts, texts, x, y, row, width = [], [], 0.0, 0.0, 0.0, 0.0
    for place in range(len(machines)):
        sketch, notes = _with_partners(machines, place)
        diagram = lay_out(bare(sketch), compact=False if len(sketch.names) <= NEAR else None)
        body = node("g", write_diagram(replace(diagram, sketch=sketch), notes=notes), transform="translate(0 26)")
        title = f"{named[place]}: {count_states(diagram)}"
        wide = max(diagram.width, 8.0 * len(title)) + 24
        if x and x + wide > WIDEST:
            x, y, row = 0.0, y + row, 0.0
        head = write(0, 14, title, 13, font_weight="bold")
        parts.append(node("g", head, body, transform=f"translate({x + EDGE:g} {y + 10:g})"))
        x, row, width = x + wide, max(row, diagram.height + 44), max(width, x + wide)
        texts.append(f"{named[place]}, {say_machine(sketch, DARK, count_states(diagram), notes)}")
    text = "\n\n".join(texts)
    style = node("style", STYLE)
    inside = node("g", *parts, style="--gv-under:var(--gv-page)")
    return Figure(drawing(width + EDGE, y + row + 12, style, inside, alt=text), text, text)


def _kind(machine: Any) -> str:
    return type(machine).__name__


def _with_partners(machines: Sequence[Any], place: int) -> tuple[Sketch, dict[int, str]]:
    """A machine's sketch with what its neighbours say about its states."""
    machine, sketch, notes = machines[place], sketch_of(machines[place]), {}
    before = machines[place - 1] if place else None
    after = machines[place + 1] if place + 1 < len(machines) else None
    if isinstance(machine, DFA):
        if isinstance(before, NFA):
            notes = nfa_sets(before, machine)
        smaller, larger = (machine, before) if isinstance(before, DFA) else (after, machine)
        if isinstance(smaller, DFA) and isinstance(larger, DFA) and len(smaller) <= len(larger):
            blocks = merged_states(larger, smaller)
            sketch = replace(sketch, groups=_groups(blocks, machine is smaller))
            notes |= {
                n: " ".join(f"q{old}" for old in sorted(b))
                for n, b in enumerate(blocks)
                if machine is smaller and len(b) > 1
            }
    return sketch, notes


def _groups(blocks: Sequence[frozenset[int]], merged: bool) -> tuple[tuple[str, frozenset[int]], ...]:
    """A letter for every block of several states, the same in both machines."""
    several = [(state, block) for state, block in enumerate(blocks) if len(block) > 1]
    return tuple((title_of(n), frozenset({state}) if merged else block) for n, (state, block) in enumerate(several))


def nfa_sets(nfa: NFA, dfa: DFA) -> dict[int, str]:
    """Which NFA states every DFA state stands for; nothing if the DFA was not made from this NFA.

    >>> from guidedviz.machines.regex import machine_stages
    >>> nfa_sets(*machine_stages("ab")[:2])
    {0: '{n0}', 1: '{n2}', 2: '{n1}'}
    """
    steps = build_dfa_steps(nfa)
    subsets: list[frozenset[int]] = []
    while True:
        try:
            subsets.append(next(steps).subset)
        except StopIteration as done:
            names = [f"{{{', '.join(f'n{old}' for old in sorted(subset))}}}" for subset in subsets]
            return dict(enumerate(names)) if done.value == dfa else {}
