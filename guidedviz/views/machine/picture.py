"""A machine as a figure: its diagram with a title above and a legend below, alone or inside a larger picture."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import (
    NEAR_EDGE,
    Drawn,
    Figure,
    bold,
    circle_at,
    figure_of,
    moved,
    path_of,
    rect,
    soft,
    wide,
    write,
    write_legend,
)
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.fold import fold, fold_loops
from guidedviz.views.layout.lay_out import lay_out, lay_out_rule, lay_out_states
from guidedviz.views.layout.sketch import Sketch, sketch_of
from guidedviz.views.machine.frame import MachineFrame, frame_of
from guidedviz.views.machine.highlight import Highlight, state_after
from guidedviz.views.machine.svg import CUT_STYLE, FEW_CALLS, STRIP, STYLE, mark_bytes, write_bytes, write_diagram
from guidedviz.views.machine.text import say_machine, say_size

TITLE_LINE = 20.0
TITLE_LETTER = 7.6  # pixels per character of the title, about
NARROWEST = 260.0
DRAWN_WHOLE = 40  # states of a finite machine that is drawn whole by default
ABOVE_INSIDE = 40.0  # pixels above a machine inside a larger picture


def draw_machine(
    machine: Any,
    at: int | Sequence[int] | State | bytes | str | None = None,
    *,
    title: str = "",
    died: str = "",
    compact: bool | None = None,
    folded: bool | None = None,
) -> Figure:
    """The states and arrows of a machine, or the rules of a grammar; with `at`, a state or a path is highlighted.

    A machine of one's own has `initial`, `step` and `is_accepting`; up to 24 states are drawn, of more the nearest 10.
    For a grammar's machine `at` is a state or a text. `died` names the byte that the last state of a path cannot read.
    With `folded` a chain or a loop such as a JSON string is one thick arrow, unless the current state is inside it or,
    for a loop, the path was. By default a finite machine of more than 40 states is folded; with folded=False it is
    drawn whole. With `compact` states in a row are dots on a line; by default if there are many.

    >>> print(gv.draw_machine(gv.regex("[0-9]+x?"), at=[0, 1]).text)
    machine: 3 states, now in q1
     →  q0  0-9 → q1
    ● ◎ q1  0-9 → q1 · x → q2
      ◎ q2
    >>> print(gv.draw_machine(gv.grammar('root ::= "(" root ")" | "x"'), "(").text)
    machine: 1 rule, 4 nodes, now in n1
    root
     →  n0  ( → n1 · x → n2
    ●   n1  calls root → n3
      ◎ n2
        n3  ) → n2
    """
    frame = frame_of(machine, "draw_machine")
    sketch = frame.sketch
    expect(title, str, "draw_machine, title", "a text")
    lit = Highlight(frame.lit, frame.lit, frame.lit_arrows)
    current: Sequence[int] = ()
    if isinstance(machine, PDA) and at is not None:
        text_or_state = expect(at, State | bytes | str, "draw_machine, at", "a state or a text")
        state = state_after(machine, text_or_state)
        lit = Highlight.of_state(machine, state)
        current = machine.places(state)
    elif at is not None:
        path = _check_path(sketch, at)
        lit = Highlight.of_path(path, expect(died, str, "draw_machine, died", "a text"))
        current = path[-1:]
    if folded is None:
        folded = not isinstance(machine, PDA) and len(sketch.names) > DRAWN_WHOLE
    diagram = _lay_out_around(sketch, lit, current, folded, compact)
    text = say_machine(diagram, lit, say_size(diagram))
    return _write_sheet(replace(frame, words=title or frame.words), diagram, lit, text)


def _lay_out_around(
    sketch: Sketch, lit: Highlight, current: Sequence[int], folded: bool, compact: bool | None = None
) -> Diagram:
    """The diagram; if folded, thick arrows stand for chains without the current state and for loops not met."""
    if folded:
        without_loops = fold_loops(sketch, lit.met.union(current))
        sketch = fold(without_loops, {*current})
    at = current[0] if current else -1
    return replace(lay_out(bare(sketch), at, compact), sketch=sketch)


def _check_path(sketch: Sketch, at: Any) -> list[int]:
    path = list(at) if isinstance(at, Sequence) else [at]
    states = range(len(sketch.names))
    for state in path:
        if type(state) is not int or state not in states:
            expected = f"0 to {len(states) - 1}"
            raise SettingError("draw_machine, at", seen=quoted(state), expected=expected)
    return path


def _write_sheet(frame: MachineFrame, diagram: Diagram, lit: Highlight, text: str) -> Figure:
    """The diagram of a frame as a figure, with its words above and a legend below."""
    title_width = min(LEAST_LEGEND, TITLE_LETTER * len(frame.words) + 2 * NEAR_EDGE)
    least = max(diagram.width + 2 * NEAR_EDGE, NARROWEST, title_width)
    legend, width, lower = write_machine_legend(diagram, lit, frame.lit_means, least)
    room = int((width - 2 * NEAR_EDGE) / TITLE_LETTER)
    lines = wrap(frame.words, room, break_on_hyphens=False)
    top = 8.0 + TITLE_LINE * len(lines)
    parts = [node("style", STYLE)]
    if diagram.sketch.cut:
        parts.append(node("style", CUT_STYLE))
    data, read = frame.tape
    if data:
        tape = write_bytes(data)
        tape += [mark for _, mark in mark_bytes(data, read)]
        parts.append(moved(0, top - NEAR_EDGE, *tape))
        top += STRIP - NEAR_EDGE
    for number, line in enumerate(lines, 1):
        parts.append(bold(NEAR_EDGE, TITLE_LINE * number, line))
    parts.append(moved(NEAR_EDGE, top, write_diagram(diagram, lit), class_="gv-on-page"))
    top += diagram.height
    parts.append(moved(NEAR_EDGE, top + 14, legend))
    return figure_of(width, top + lower + 30, text, *parts)


# --- a machine inside a larger picture ---


def draw_inside(machine: DFA, path: Sequence[int], width: float, height: float) -> Drawn:
    """A finite machine inside a larger picture, and its height; a long row is wrapped where that shows it whole."""
    sketch = sketch_of(machine)
    lit = Highlight.of_path(path)
    folded = len(sketch.names) > DRAWN_WHOLE
    diagram = _lay_out_around(sketch, lit, path[-1:], folded)
    if diagram.width > width and not folded:
        wrapped = lay_out_states(bare(sketch), range(len(sketch.names)), path[-1], None, width)
        if wrapped.height <= height - ABOVE_INSIDE:
            diagram = wrapped
    return _fit_inside(diagram, lit, say_size(diagram), path[-1], width, height)


def draw_focus(pda: PDA, state: State, width: float, height: float) -> Drawn:
    """A grammar as part of a larger picture: whole where that fits, else the innermost open rule."""
    sketch = sketch_of(pda)
    lit = Highlight.of_state(pda, state)
    places = pda.places(state)
    at = places[0] if places else pda.nodes.starts[0]
    diagram = lay_out(bare(sketch), at)
    if diagram.width > width or diagram.height > height:
        rule = sketch.rules[pda.nodes.rule_of[at]]
        diagram = lay_out_rule(bare(sketch), rule, at)
    part, high, _ = _crop(diagram, lit, at, width, height)
    left = (width - min(width, diagram.width)) / 2
    line = {"fill": "none", "stroke": "var(--gv-orange)", "stroke_width": 2}
    frame = rect(0, 0, width, high + 8, 5, **line)
    return frame + moved(left, 4, part), high + 8


def _crop(diagram: Diagram, lit: Highlight, at: int, width: float, height: float) -> tuple[Element, float, bool]:
    """A diagram, its height, and whether it is whole: else it is the part around a state."""
    wide = min(width, diagram.width)
    high = min(height, diagram.height)
    left = top = 0.0
    if at in diagram.spots:
        spot = diagram.spots[at]
        left = min(spot.x - wide / 2, diagram.width - wide)
        top = min(spot.y - high / 2, diagram.height - high)
        left = max(0.0, left)
        top = max(0.0, top)
    body = moved(0 - left, 0 - top, write_diagram(diagram, lit))
    part = node("style", STYLE) + node("svg", body, width=wide, height=high)
    return part, high, (wide, high) == (diagram.width, diagram.height)


def _fit_inside(diagram: Diagram, lit: Highlight, about: str, at: int, width: float, height: float) -> Drawn:
    """A diagram under its title, and its height: whole where it fits, else the part around a state."""
    part, high, whole = _crop(diagram, lit, at, width, height - ABOVE_INSIDE)
    if not whole:
        about += ", in part"
    names = [diagram.sketch.names[state] for state in sorted(lit.now)]
    now = shorten(" · ".join(names), int((width - 80) / TITLE_LETTER))
    title = bold(0, 13, "machine")
    said = bold(width, 13, now, fill="var(--gv-orange)", text_anchor="end")
    below = soft(0, 32, shorten(about, int(width / 6.2)))
    drawn = title + said + below + moved(0, ABOVE_INSIDE, part)
    return drawn, high + ABOVE_INSIDE


def bare(sketch: Sketch) -> Sketch:
    """The sketch without groups, so that all frames share one cached layout."""
    return replace(sketch, groups=())


# --- the legend: the icon and the meaning of each shape ---


LEAST_LEGEND = 620.0  # the legend of a narrower diagram may be this wide
ROW_HEIGHT = 20.0
LEGEND_LETTER = 6.6  # pixels per character, about
MOST_IN_FULL = 8  # shortened labels in full; the others have their tooltip
LINE_ICON = path_of("M1,0h17", class_="gv-line")
CROSS_ICON = path_of("M4,-5l10,10m0,-10l-10,10")
CHIP_ICON = rect(0, -6, 18, 12, 6, class_="gv-chip")
CALL_SIDES = path_of("M3,-7v14M15,-7v14", class_="gv-box")
CALL_ICON = rect(0, -7, 18, 14, class_="gv-box") + CALL_SIDES

Sign = tuple[object, Element, str]  # a sign is in the legend if the first of its three values is true


def write_machine_legend(
    diagram: Diagram, lit: Highlight, lit_means: str, width: float
) -> tuple[Element, float, float]:
    """The legend, the least width of the picture, and the y of the last line."""
    limit = max(width, LEAST_LEGEND)
    signs = [*_signs_of_states(diagram, lit, lit_means), *_signs_of_calls(diagram, lit), *_signs_of_parts(diagram)]
    shown = ((_icon("machine", icon), words) for there, icon, words in signs if there)
    parts, right, y = write_legend(shown, 0, 4, limit)
    short = [label for label in diagram.labels if label.words.endswith("…")]
    texts = dict.fromkeys((label.words, label.full) for label in short)
    for words, full in list(texts)[:MOST_IN_FULL]:
        start = wide(words, 12) + 12
        parts.append(write(0, y + ROW_HEIGHT, words, 12, mono=True))
        for line in wrap(full, int((limit - start) / LEGEND_LETTER), break_on_hyphens=False):
            y += ROW_HEIGHT
            parts.append(soft(start, y, line))
    return together(parts), max(width, right + NEAR_EDGE), y - 4


def _signs_of_states(diagram: Diagram, lit: Highlight, lit_means: str) -> Iterator[Sign]:
    """The start, the ends, and the path that is highlighted."""
    sketch = diagram.sketch
    start = "where a rule begins" if diagram.blocks else "start"
    end = "the rule may end here" if diagram.blocks else sketch.ring_means
    taken = "taken, byte by byte" if lit.numbers else "taken"
    has_epsilon = not all(arrow.ranges or arrow.call for arrow in sketch.arrows)
    start_icon = LINE_ICON + _circle(3, "head", 3) + _tip("head")
    yield sketch.initial in diagram.spots, start_icon, start
    end_icon = _circle(7) + _circle(4.4, "ring")
    yield sketch.accepting & diagram.spots.keys(), end_icon, end
    yield lit.now, _icon("lit", _circle(5.5)), lit_means
    yield lit.arrows, _arrow_icon("on"), taken
    yield lit.cross, _icon("cross", CROSS_ICON), "refused here"
    yield has_epsilon, _arrow_icon("free"), "ε reads nothing"
    yield sketch.cut, _icon("cut", _circle(6)), "cut: the byte cannot be read"
    yield sketch.below_cut, _icon("cut gv-below-cut", _circle(6)), "below a cut: not asked"


def _signs_of_calls(diagram: Diagram, lit: Highlight) -> Iterator[Sign]:
    """The calls of a grammar, and their curves."""
    calls = any(arrow.call for arrow in diagram.sketch.arrows)
    few = len(diagram.jumps) <= FEW_CALLS
    jumps = diagram.jumps and (lit.calls or lit.last or few)
    yield calls, _icon("call", CALL_ICON), "calls a rule"
    yield lit.calls, _icon("call gv-open", CALL_ICON), "open: on the stack"
    yield lit.last, _icon("call gv-last", CALL_ICON), "last call of its rule: not on the stack"
    yield jumps, _jump_icon("push"), "push: to the rule's start"
    yield jumps, _jump_icon("pop"), "pop: back from its end"
    yield lit.back, _icon("back", _circle(5.5)), "where the caller continues"


def _signs_of_parts(diagram: Diagram) -> Iterator[Sign]:
    """What is folded, and what is not drawn in full."""
    sketch = diagram.sketch
    folded = any(map(sketch.is_chain, sketch.arrows))
    dots = any(spot.dot and not spot.in_name for spot in diagram.spots.values())
    chips = any(label.chip for label in diagram.labels)
    yield folded, _arrow_icon("chain"), say_thick(sketch)
    yield dots, _icon("dot", _circle(3.4)), "a state inside a run or a character"
    yield chips, _icon("arrow", CHIP_ICON), "one special token"
    yield diagram.more, _icon("more", _circle(7)), "has neighbours that are not drawn"


def say_thick(sketch: Sketch) -> str:
    """The meaning of a thick arrow."""
    said = "thick: bytes in a row without a choice"
    if any(arrow.folds_loop for arrow in sketch.arrows):
        said += ", or a loop with all its states"
    if sketch.folded:
        said += f"; {counted(len(sketch.folded), 'state')} inside"
    return said


def _icon(kind: str, shape: Element) -> Element:
    return node("g", shape, class_=f"gv-{kind}")


def _arrow_icon(kind: str) -> Element:
    return _icon(kind, LINE_ICON + _tip("head"))


def _jump_icon(kind: str) -> Element:
    return path_of("M0,0h13", class_=f"gv-{kind}") + _tip(f"{kind}-head")


def _circle(radius: float, kind: str = "disc", x: float = 9) -> Element:
    return circle_at(x, 0, radius, class_=f"gv-{kind}")


def _tip(kind: str) -> Element:
    return node("polygon", points="19,0 12,-3.2 12,3.2", class_=f"gv-{kind}")
