"""A film of a construction: its frames one after the other, played by the page alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from guidedviz.errors import expect
from guidedviz.sketches.sketch import Sketch
from guidedviz.views.figure import Figure
from guidedviz.views.machine.film_frames import build_film
from guidedviz.views.machine.picture import draw_machine
from guidedviz.widgets.display import Display

HINT = "gv.film(gv.sketches.nfa_frames('a|b'))"


def film(frames: Iterable[Sketch], title: str = "") -> Film:
    """A film of frames on one drawing: `gv.film(gv.sketches.nfa_frames("a|b"))`."""
    expect(title, str, "gv.film, title", "a text")
    return Film(list(expect(frames, Iterable, "gv.film, frames", "frames", hint=HINT)), title)


class Film:
    """What `gv.film` returns."""

    def __init__(self, frames: list[Sketch], title: str) -> None:
        self.frames, self.title = frames, title
        self.reel = build_film(frames)
        self.display = Display("film", saved=self._everything)

    @property
    def figure(self) -> Figure:
        """The last frame as a still picture."""
        return draw_machine(self.frames[-1], compact=False)

    def _everything(self) -> dict[str, Any]:
        return {"title": self.title, "drawings": self.reel.drawings, "frames": self.reel.frames}

    def __repr__(self) -> str:
        last = self.reel.frames[-1]["words"]
        return f"Film: {len(self.frames)} frames" + (f"; the last: {last}" if last else "")

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return self.display.bundle(replace(self.figure, text=repr(self)), **wanted)
