"""The frames of a construction; frames with the same states share one drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.markup import Element, node
from guidedviz.sketches.sketch import Arrow, Sketch
from guidedviz.views.figure import drawing, moved
from guidedviz.views.layout.diagram import lay_out
from guidedviz.views.machine.highlight import arrow_key
from guidedviz.views.machine.picture import bare, sketch_of
from guidedviz.views.machine.svg import STYLE, write_diagram

PAD = 2.0


@dataclass(frozen=True)
class FilmDrawings:
    """The drawings of a film and, per frame, its drawing and the parts that are visible and highlighted."""

    drawings: tuple[Element, ...]
    frames: tuple[dict[str, Any], ...]


def build_film(frames: Iterable[Any]) -> FilmDrawings:
    """Lay out every set of states once, with the arrows of all its frames."""
    sketches = [sketch_of(frame, "gv.film, frames") for frame in frames]
    if not sketches:
        hint = "gv.sketches.dfa_frames(text)"
        raise SettingError("gv.film", seen="no frames", expected="one sketch or more", hint=hint)
    kinds = list(dict.fromkeys((sketch.names, sketch.initial) for sketch in sketches))
    drawings = tuple(bare_drawing(overlay([s for s in sketches if (s.names, s.initial) == kind])) for kind in kinds)
    return FilmDrawings(drawings, tuple(_pack(s, kinds.index((s.names, s.initial))) for s in sketches))


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


def bare_drawing(sketch: Sketch, at: int = -1, compact: bool | None = False) -> Element:
    """A machine without highlights; the page adds them."""
    diagram = lay_out(sketch, at, compact)
    body = moved(PAD, 0, write_diagram(diagram))
    alt = f"a machine of {len(sketch.names):,} states"
    return drawing(diagram.width + 2 * PAD, diagram.height, node("style", STYLE), body, alt=alt)


def _pack(sketch: Sketch, place: int) -> dict[str, Any]:
    """The parts of a frame; a state is visible once an arrow touches it."""
    touched = {end for arrow in sketch.arrows for end in (arrow.source, arrow.target)}
    shown = touched | {sketch.initial} | sketch.lit | {state for _, states in sketch.groups for state in states}
    return {
        "drawing": place,
        "states": sorted(shown),
        "arrows": [arrow_key(arrow) for arrow in sketch.arrows],
        "lit": sorted(sketch.lit),
        "on": [arrow_key(arrow) for arrow in sketch.arrows if (arrow.source, arrow.target) in sketch.lit_arrows],
        "groups": [[title, sorted(states)] for title, states in sketch.groups],
        "words": sketch.words,
    }
