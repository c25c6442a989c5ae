"""The frames of a film for the page: every set of states is laid out once, and a frame lists what it shows of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.visible import name_node
from guidedviz.machines.work import grouped
from guidedviz.markup import Element, node
from guidedviz.views.figure import drawing, moved
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import Arrow, Sketch, sketch_of
from guidedviz.views.machine.highlight import arrow_key
from guidedviz.views.machine.picture import bare
from guidedviz.views.machine.svg import STYLE, write_diagram
from guidedviz.views.machine.tape import CELL, EDGE, STRIP, mark_bytes, write_bytes

MOST_WATCHED = 80  # states that a person can follow
NAMED = 9  # states that a sentence names
PAD = 2.0  # around a machine in a film
MOST_FRAMES = 300


def check_watchable(where: str, size: int, of: str, hint: str, most: int = MOST_WATCHED) -> None:
    """Refuse a film that a person could not follow."""
    if size > most:
        raise SettingError(where, seen=f"{size:,} {of}", expected=f"at most {most}", hint=hint)


def check_machine(text: str, machine: NFA | DFA) -> None:
    of, hint = f"{type(machine).__name__} states", "a shorter one, or the result alone: gv.draw_machine(gv.regex(text))"
    check_watchable(f"film of {quoted(text, 40)}", len(machine), of, hint)


def list_names(names: Iterable[str]) -> str:
    """Names in a sentence, the first few of them."""
    named = list(names)
    return " ".join(named[:NAMED]) + (f" and {len(named) - NAMED} more" if len(named) > NAMED else "")


def say_nodes(states: Iterable[int]) -> str:
    return list_names(map(name_node, sorted(states)))


@dataclass(frozen=True)
class FilmDrawings:
    """The drawings of a film and, per frame, its drawing and the parts that are visible and highlighted."""

    drawings: tuple[Element, ...]
    frames: tuple[dict[str, Any], ...]


def pack_frame(
    states: Sequence[int], arrows: Sequence[str], lit: Iterable[int], on: Sequence[str], words: str, **more: Any
) -> dict[str, Any]:
    """A frame for the page: the visible states and arrows, and which of them are highlighted."""
    seen = {"drawing": 0, "states": states, "arrows": arrows, "lit": list(lit), "on": on, "groups": [], "words": words}
    return seen | more


def build_film(frames: Iterable[Any]) -> FilmDrawings:
    """Lay out every set of states once, with the arrows of all its frames."""
    sketches = [sketch_of(frame, "gv.film, frames") for frame in frames]
    if not sketches:
        raise SettingError("gv.film", seen="no frames", expected="one sketch or more", hint="gv.views.dfa_frames(text)")
    kinds = grouped(((sketch.names, sketch.initial), sketch) for sketch in sketches)
    drawings = tuple(bare_drawing(overlay(of_kind), frames=of_kind) for of_kind in kinds.values())
    return FilmDrawings(drawings, tuple(_pack(s, [*kinds].index((s.names, s.initial))) for s in sketches))


def overlay(sketches: Sequence[Sketch]) -> Sketch:
    """One sketch with the arrows of all; of an arrow that gains bytes the last version.

    >>> one = Sketch(("a", "b"), (Arrow(0, 1, ((97, 97),)),), 0, frozenset())
    >>> len(overlay([one, replace(one, arrows=(Arrow(1, 1, ()),))]).arrows)
    2
    """
    arrows: dict[tuple[int, int, bool], Arrow] = {}
    for sketch in sketches:
        arrows |= {(arrow.source, arrow.target, not arrow.ranges): arrow for arrow in sketch.arrows}
    accepting = frozenset[int]().union(*(sketch.accepting for sketch in sketches))
    return replace(bare(sketches[-1]), arrows=tuple(arrows.values()), accepting=accepting)


def bare_drawing(sketch: Sketch, at: int = -1, compact: bool | None = False, frames: Iterable[Sketch] = ()) -> Element:
    """A machine without highlights, and the tape of its frames; the page adds the highlights."""
    diagram, tapes = lay_out(sketch, at, compact), [frame.tape for frame in frames if frame.tape[0]]
    top, alt = STRIP * bool(tapes), f"a machine of {len(sketch.names):,} states"
    parts = [node("style", STYLE), moved(PAD, top, write_diagram(diagram)), *write_bytes(tapes[0][0] if tapes else b"")]
    marks = {key: mark for tape in tapes for key, mark in mark_bytes(*tape)}
    parts += [node("g", mark, data_arrow=key) for key, mark in marks.items()]
    width = max([diagram.width + 2 * PAD, *(2 * EDGE + CELL * len(text) for text, _ in tapes)])
    return drawing(width, top + diagram.height, *parts, alt=alt)


def _pack(sketch: Sketch, place: int) -> dict[str, Any]:
    """The parts of a frame; a state is visible once an arrow touches it."""
    touched = {end for arrow in sketch.arrows for end in (arrow.source, arrow.target)}
    shown = touched | {sketch.initial} | sketch.lit | {state for _, states in sketch.groups for state in states}
    arrows = [*map(arrow_key, sketch.arrows), *dict(mark_bytes(*sketch.tape))]
    groups = [[title, sorted(states)] for title, states in sketch.groups]
    on = sorted(sketch.lit_arrows)
    return pack_frame(sorted(shown), arrows, sorted(sketch.lit), on, sketch.words, drawing=place, groups=groups)
