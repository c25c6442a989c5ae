"""Machines as figures: one, several side by side, and as DOT text for whoever has Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA, build_dfa_steps
from guidedviz.machines.frames import merged_states, title_of
from guidedviz.machines.nfa import NFA
from guidedviz.machines.sketch import Arrow, Sketch, sketch_dfa, sketch_nfa
from guidedviz.machines.visible import counted
from guidedviz.views.diagram import NEAR, Diagram, lay_out
from guidedviz.views.figure import Figure, drawing, node, shorten, write
from guidedviz.views.ink import DARK, NOTHING, STYLE, Light, light_path, write_diagram
from guidedviz.views.plan import say_ranges
from guidedviz.views.words import reading

if TYPE_CHECKING:
    import graphviz

EDGE = 14.0
HIGHEST = 1000.0  # a taller machine is drawn smaller
WIDEST = 1100.0  # machines side by side; what does not fit goes below
ROWS = 40  # states that the table in words names


def sketch_of(machine: Any) -> Sketch:
    """A sketch of whatever can be drawn.

    >>> from guidedviz.machines.regex import regex
    >>> sketch_of(regex("ab")).names
    ('q0', 'q1', 'q2')
    """
    match machine:
        case Sketch():
            return _visible(machine)
        case DFA():
            return sketch_dfa(machine)
        case NFA():
            return sketch_nfa(machine)
    if callable(getattr(machine, "sketch", None)):
        return _visible(machine.sketch())
    raise SettingError("draw_machine", seen=type(machine).__name__, expected="a finite machine", hint="gv.regex(text)")


def _visible(sketch: Sketch) -> Sketch:
    """A sketch whose words come from anywhere, in words that can be shown."""
    names = tuple(reading(name) or "∅" for name in sketch.names)
    groups = tuple((reading(title), states) for title, states in sketch.groups)
    return replace(sketch, names=names, groups=groups, words=reading(sketch.words))


def draw_machine(
    machine: Any,
    at: int | Sequence[int] | None = None,
    *,
    title: str = "",
    died: str = "",
    compact: bool | None = None,
) -> Figure:
    """A finite machine; `at` lights a state, or the way a text took, and `died` the byte it could not read.

    >>> from guidedviz.machines.regex import regex
    >>> print(draw_machine(regex("[0-9]+x?"), at=[0, 1]).text)
    machine: 3 states, now in q1
     →  q0  0-9 → q1
    ● ◎ q1  0-9 → q1 · x → q2
      ◎ q2
    """
    sketch = sketch_of(machine)
    path = list(at) if isinstance(at, Sequence) else [] if at is None else [at]
    for state in path:
        _check_state(sketch, state)
    light = light_path(path, died)
    if at is None:
        light = Light(sketch.lit, sketch.lit, sketch.lit_arrows)
    diagram = lay_out(bare(sketch), path[-1] if path else -1, compact)
    said = title or sketch.words
    about = count_states(diagram)
    body = write_diagram(replace(diagram, sketch=sketch), light)
    scale = min(1.0, HIGHEST / diagram.height)
    width, height = max(diagram.width * scale + 2 * EDGE, 260.0), diagram.height * scale
    top = 28.0 if said else 8.0
    parts = [node("style", STYLE)]
    parts += [write(EDGE, 20, said, 13, font_weight="bold")] if said else []
    fit = f"translate({EDGE:g} {top:g}) scale({scale:.4g})"
    parts.append(node("g", body, transform=fit, style="--gv-under:var(--gv-page)"))
    legend, width = _legend(diagram, light, width)
    parts.append(node("g", legend, transform=f"translate({EDGE:g} {top + height + 14:g})"))
    text = say_machine(sketch, light, about, shown=sorted(diagram.spots))
    return Figure(drawing(width, top + height + 30, *parts, alt=text), text, text)


def draw_inside(machine: Any, path: Sequence[int], width: float, height: float) -> tuple[str, float]:
    """A machine as a part of a larger picture, made to fit; and how high it became."""
    sketch = sketch_of(machine)
    diagram = lay_out(bare(sketch), path[-1] if path else -1)
    scale = min(1.0, width / diagram.width, height / diagram.height)
    body = node("g", write_diagram(diagram, light_path(path)), transform=f"translate(0 22) scale({scale:.4g})")
    now = " → ".join(sketch.names[state] for state in path[-1:])
    title = write(0, 12, "machine", 13, font_weight="bold") + write(
        66, 12, count_states(diagram), 13, fill="var(--gv-soft)"
    )
    said = write(width, 12, now, 13, fill="var(--gv-orange)", text_anchor="end", font_weight="bold") if now else ""
    return node("style", STYLE) + title + said + body, diagram.height * scale + 26


def bare(sketch: Sketch) -> Sketch:
    """Only what decides where things stand, so that frames share one layout."""
    return replace(sketch, words="", lit=frozenset(), lit_arrows=frozenset(), groups=())


def _check_state(sketch: Sketch, state: Any) -> None:
    if not isinstance(state, int) or isinstance(state, bool) or not 0 <= state < len(sketch.names):
        expected = f"0 to {len(sketch.names) - 1}"
        raise SettingError("draw_machine, at", seen=repr(state), expected=expected)


def count_states(diagram: Diagram) -> str:
    """How many states there are, and how many of them are drawn."""
    every, drawn = len(diagram.sketch.names), len(diagram.spots)
    said = counted(every, "state")
    return said if drawn == every else f"{drawn} of {said}: those around the current one"


def say_machine(
    sketch: Sketch, light: Light, about: str, notes: Mapping[int, str] = NOTHING, shown: Sequence[int] = ()
) -> str:
    """The same in words: a line a state."""
    out: dict[int, list[Arrow]] = {}
    for arrow in sketch.arrows:
        out.setdefault(arrow.source, []).append(arrow)
    now = f", now in {', '.join(sketch.names[s] for s in sorted(light.now))}" if light.now else ""
    died = f", where {light.cross[1]} cannot come" if light.cross else ""
    shown = list(shown or range(len(sketch.names)))[:ROWS]
    long = max((len(shorten(sketch.names[state], 14)) for state in shown), default=0)
    lines = [f"machine: {about}{now}{died}"]
    for state in shown:
        marks = "●" if state in light.now else " "
        marks += "→" if state == sketch.initial else " "
        marks += "◎" if state in sketch.accepting else " "
        ways = " · ".join(f"{say_ranges(a.ranges)} → {sketch.names[a.target]}" for a in out.get(state, ()))
        groups = "".join(f" [{title}]" for title, states in sketch.groups if state in states)
        note = f" = {notes[state]}" if state in notes else ""
        lines.append(f"{marks} {shorten(sketch.names[state], 14):<{long}}{groups}{note}  {ways}".rstrip())
    if len(sketch.names) > len(shown):
        lines.append(f"    … and {len(sketch.names) - len(shown):,} more")
    return "\n".join(lines)


def _legend(diagram: Diagram, light: Light, width: float) -> tuple[str, float]:
    """What the shapes mean, only those that are there; and how wide the picture is at least."""
    x, parts = 0.0, []
    for icon, words in _signs(diagram, light):
        parts.append(node("g", *icon, transform=f"translate({x:g} 0)", class_="gv-machine"))
        parts.append(write(x + 24, 4, words, 12, fill="var(--gv-soft)"))
        x += 24 + 6.3 * len(words) + 20
    return "".join(parts), max(width, x + EDGE)


def _signs(diagram: Diagram, light: Light) -> Iterator[tuple[list[str], str]]:
    sketch, dots = diagram.sketch, [state for state, spot in diagram.spots.items() if spot.dot]
    line = node("path", d="M1,0h17", class_="gv-line")
    if sketch.initial in diagram.spots:
        yield [line, node("circle", cx=3, cy=0, r=3, class_="gv-head"), _tip()], "start"
    if any(state in sketch.accepting for state in diagram.spots):
        yield [_disc(7), node("circle", cx=9, cy=0, r=4.4, class_="gv-ring")], "may end here"
    if light.now:
        yield [node("g", _disc(5.5), class_="gv-lit")], "now"
    if light.arrows:
        yield [node("g", line, _tip(), class_="gv-on")], "taken" + ", byte by byte" * bool(light.numbers)
    if light.cross:
        yield [node("g", node("path", d="M4,-5l10,10m0,-10l-10,10"), class_="gv-cross")], "died here"
    if any(not arrow.ranges for arrow in sketch.arrows):
        yield [node("g", line, _tip(), class_="gv-free")], "ε reads nothing"
    if dots:
        yield (
            [node("g", node("circle", cx=9, cy=0, r=3.4, class_="gv-disc"), class_="gv-dot")],
            "a state inside a run or a character",
        )
    if diagram.more:
        yield [node("g", _disc(7), class_="gv-more")], "has neighbours that are not drawn"


def _disc(radius: float) -> str:
    return node("circle", cx=9, cy=0, r=radius, class_="gv-disc")


def _tip() -> str:
    return node("polygon", points="19,0 12,-3.2 12,3.2", class_="gv-head")


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


def to_dot(machine: Any) -> graphviz.Digraph:
    """The machine as DOT, for tools that read it; needs no Graphviz until it is rendered.

    >>> from guidedviz.machines.regex import regex
    >>> print(to_dot(regex("[0-9]")).source.splitlines()[-2].strip())
    0 -> 1 [label="0-9"]
    """
    import graphviz

    sketch = sketch_of(machine)
    graph = graphviz.Digraph(graph_attr={"rankdir": "LR"})
    graph.node("start", shape="point")
    for state, name in enumerate(sketch.names):
        shape = "doublecircle" if state in sketch.accepting else "circle"
        graph.node(str(state), graphviz.escape(name), shape=shape)
    if sketch.names:
        graph.edge("start", str(sketch.initial))
    for arrow in sketch.arrows:
        graph.edge(str(arrow.source), str(arrow.target), graphviz.escape(say_ranges(arrow.ranges, 16)))
    return graph
