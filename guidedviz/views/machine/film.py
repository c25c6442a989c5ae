"""The frames of a film for the page: every set of states is laid out once, and a frame lists what it shows of it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.graph import grouped
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.visible import name_node
from guidedviz.markup import Element, node
from guidedviz.views.figure import NEAR_EDGE, check_count, drawing, moved
from guidedviz.views.layout.diagram import Diagram
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import Arrow, Sketch
from guidedviz.views.machine.frame import MachineFrame, frame_of
from guidedviz.views.machine.highlight import arrow_key
from guidedviz.views.machine.picture import bare
from guidedviz.views.machine.svg import CELL, STRIP, STYLE, mark_bytes, write_bytes, write_diagram

MOST_WATCHED = 80  # states that a person can follow
MOST_IN_SENTENCE = 9  # states that a sentence names
FILM_PAD = 2.0  # around a machine in a film
MOST_FRAMES = 300
FilmFrame = dict[str, Any]  # as the page takes it: its drawing, and the parts that are visible and highlighted
Reel = tuple[list[Element], list[FilmFrame]]  # the drawings of a film, and its frames


def check_machine(text: str, machine: NFA | DFA) -> None:
    """Refuse a film of the states of a large machine."""
    hint = "a shorter one, or the result alone: gv.draw_machine(gv.regex(text))"
    states = f"{type(machine).__name__} states"
    check_count(f"film of {quoted(text, 40)}", len(machine), states, MOST_WATCHED, hint)


def list_names(names: Iterable[str]) -> str:
    """Names in a sentence, the first few of them.

    >>> list_names("abc"), list_names("abcdefghijk")
    ('a b c', 'a b c d e f g h i and 2 more')
    """
    named = list(names)
    said = " ".join(named[:MOST_IN_SENTENCE])
    left = len(named) - MOST_IN_SENTENCE
    return f"{said} and {left} more" if left > 0 else said


def say_nodes(states: Iterable[int]) -> str:
    """The names of NFA states in a sentence."""
    return list_names(map(name_node, sorted(states)))


def pack_frame(
    states: Sequence[int], arrows: Sequence[str], lit: Iterable[int], on: Sequence[str], words: str, **more: Any
) -> FilmFrame:
    """A frame for the page: the visible states and arrows, and which of them are highlighted."""
    seen = {"drawing": 0, "states": states, "arrows": arrows, "lit": list(lit), "on": on}
    return seen | {"groups": [], "words": words} | more


def build_film(frames: Iterable[Any]) -> Reel:
    """Lay out every set of states once, with the arrows of all its frames."""
    shown = [frame_of(frame, "gv.film, frames") for frame in frames]
    if not shown:
        raise SettingError("gv.film", seen="no frames", expected="one sketch or more", hint="gv.views.dfa_frames(text)")
    keys = [(frame.sketch.names, frame.sketch.initial) for frame in shown]
    alike = grouped(zip(keys, shown, strict=True))
    drawings = []
    for frames_alike in alike.values():
        tapes = [frame.tape for frame in frames_alike if frame.tape[0]]
        whole = overlay([frame.sketch for frame in frames_alike])
        drawings.append(bare_drawing(whole, tapes=tapes))
    numbers = map(list(alike).index, keys)
    return drawings, list(map(_pack_machine, shown, numbers))


def overlay(sketches: Sequence[Sketch]) -> Sketch:
    """One sketch with the arrows of all; of an arrow that gains bytes the last version.

    >>> one = Sketch(("a", "b"), (Arrow(0, 1, ((97, 97),)),), 0, frozenset())
    >>> len(overlay([one, replace(one, arrows=(Arrow(1, 1, ()),))]).arrows)
    2
    """
    arrows: dict[tuple[int, int, bool], Arrow] = {}
    accepting: frozenset[int] = frozenset()
    for sketch in sketches:
        accepting |= sketch.accepting
        for arrow in sketch.arrows:
            arrows[arrow.source, arrow.target, not arrow.ranges] = arrow
    return replace(bare(sketches[-1]), arrows=tuple(arrows.values()), accepting=accepting)


def bare_drawing(
    sketch: Sketch, at: int = -1, compact: bool | None = False, tapes: Sequence[tuple[bytes, int]] = ()
) -> Element:
    """A machine without highlights, and the text above it with all its marks; the page adds the highlights."""
    diagram = lay_out(sketch, at, compact)
    top = STRIP if tapes else 0.0
    parts = [node("style", STYLE), moved(FILM_PAD, top, write_diagram(diagram))]
    widths = [diagram.width + 2 * FILM_PAD]
    marks: dict[str, Element] = {}
    for text, read in tapes:
        widths.append(2 * NEAR_EDGE + CELL * len(text))
        marks |= mark_bytes(text, read)
    if tapes:
        parts.append(node("g", *write_bytes(tapes[0][0]), data_part="tape"))
    parts += [node("g", mark, data_arrow=key) for key, mark in marks.items()]
    alt = f"a machine of {len(sketch.names):,} states"
    return drawing(max(widths), top + diagram.height, *parts, alt=alt)


def rule_drawing(diagram: Diagram) -> Element:
    """One rule of a grammar without highlights."""
    alt = f"a rule of {len(diagram.spots):,} nodes"
    return drawing(diagram.width, diagram.height, moved(0, 0, write_diagram(diagram)), alt=alt)


def _pack_machine(frame: MachineFrame, number: int) -> FilmFrame:
    """The parts of a frame of this drawing; a state is visible once an arrow touches it."""
    sketch = frame.sketch
    shown = {sketch.initial, *frame.lit}
    for arrow in sketch.arrows:
        shown |= {arrow.source, arrow.target}
    groups = []
    for title, states in sketch.groups:
        shown |= states
        groups.append([title, sorted(states)])
    arrows = list(map(arrow_key, sketch.arrows))
    arrows += [key for key, _ in mark_bytes(*frame.tape)]
    more: FilmFrame = {"drawing": number, "groups": groups}
    if frame.ride != ("", ()):
        more["ride"] = frame.ride
    if frame.merged:
        more["merged"] = [sorted(states) for states in frame.merged]
    return pack_frame(sorted(shown), arrows, sorted(frame.lit), sorted(frame.lit_arrows), frame.words, **more)
