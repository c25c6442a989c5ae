"""The frames of a construction on as few drawings as they need: all that have the same states share one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.sketch import Arrow, Sketch
from guidedviz.views.diagram import lay_out
from guidedviz.views.figure import Figure, drawing, node
from guidedviz.views.ink import STYLE, write_diagram
from guidedviz.views.light import arrow_key
from guidedviz.views.machine import bare, draw_machine, sketch_of

PAD = 10.0


@dataclass(frozen=True)
class Reel:
    """Drawings, and for every frame which drawing it is on and what of it is there and lit."""

    drawings: tuple[str, ...]
    frames: tuple[dict[str, Any], ...]


def wind(frames: Iterable[Any]) -> Reel:
    """Lay out every set of states once, with all arrows that any of its frames has."""
    sketches = [sketch_of(frame) for frame in frames]
    if not sketches:
        raise SettingError("gv.film", seen="no frames", expected="one sketch or more", hint="gv.nfa_frames(text)")
    kinds = list(dict.fromkeys((sketch.names, sketch.initial) for sketch in sketches))
    drawings = tuple(bare_drawing(overlay([s for s in sketches if (s.names, s.initial) == kind])) for kind in kinds)
    return Reel(drawings, tuple(_pack(s, kinds.index((s.names, s.initial))) for s in sketches))


def overlay(sketches: Sequence[Sketch]) -> Sketch:
    """All arrows of sketches with the same states; one that grows is as it is in the end.

    >>> one = Sketch(("a", "b"), (Arrow(0, 1, ((97, 97),)),), 0, frozenset())
    >>> len(overlay([one, replace(one, arrows=(Arrow(1, 1, ()),))]).arrows)
    2
    """
    arrows: dict[tuple[int, int, bool], Arrow] = {}
    for sketch in sketches:
        arrows |= {(arrow.source, arrow.target, not arrow.ranges): arrow for arrow in sketch.arrows}
    accepting = frozenset[int]().union(*(sketch.accepting for sketch in sketches))
    return replace(bare(sketches[-1]), arrows=tuple(arrows.values()), accepting=accepting)


def bare_drawing(sketch: Sketch, at: int = -1, compact: bool | None = False) -> str:
    """A machine with nothing lit, for a page that lights it."""
    diagram = lay_out(sketch, at, compact)
    body = node("g", write_diagram(diagram), transform=f"translate({PAD:g} 0)")
    alt = f"a machine of {len(sketch.names):,} states"
    return drawing(diagram.width + 2 * PAD, diagram.height, node("style", STYLE), body, alt=alt)


def _pack(sketch: Sketch, place: int) -> dict[str, Any]:
    """What is there: a state that no arrow touches yet is not."""
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


def draw_frame(frames: Sequence[Any], place: int = -1) -> Figure:
    """One frame as a still picture."""
    return draw_machine(frames[place], compact=False)
