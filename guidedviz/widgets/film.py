"""A film of a construction: its frames one after the other, played by the page alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from guidedviz.errors import expect
from guidedviz.sketches.earley_film import ChartFrame
from guidedviz.sketches.sketch import Sketch
from guidedviz.views.figure import Figure
from guidedviz.views.machine.film_frames import build_film
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.stack.chart_film import build_chart_film, draw_frame
from guidedviz.widgets.display import Display

HINT = "gv.film(gv.sketches.nfa_frames('a|b'))"


def film(frames: Iterable[Sketch | ChartFrame], title: str = "") -> Film:
    """A film of frames on one drawing: `gv.film(gv.sketches.nfa_frames("a|b"))`."""
    expect(title, str, "gv.film, title", "a text")
    return Film(list(expect(frames, Iterable, "gv.film, frames", "frames", hint=HINT)), title)


class Film:
    """What `gv.film` returns."""

    def __init__(self, frames: list[Any], title: str) -> None:
        self.frames, self.title = frames, title
        self.of_chart = bool(frames) and all(isinstance(frame, ChartFrame) for frame in frames)
        self.reel = build_chart_film(frames) if self.of_chart else build_film(frames)
        self.display = Display("film", saved=self._everything)

    @property
    def figure(self) -> Figure:
        """The last frame as a still picture."""
        return draw_frame(self.frames[-1]) if self.of_chart else draw_machine(self.frames[-1], compact=False)

    def _everything(self) -> dict[str, Any]:
        return {"title": self.title, "drawings": self.reel.drawings, "frames": self.reel.frames}

    def __repr__(self) -> str:
        last = self.reel.frames[-1]["words"]
        return f"Film: {len(self.frames)} frames" + (f"; the last: {last}" if last else "")

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return self.display.bundle(replace(self.figure, text=repr(self)), **wanted)
