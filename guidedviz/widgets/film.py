"""A film of a construction: step through its frames, forward and back, play, scrub. It runs on the page alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from guidedviz.machines.sketch import Sketch
from guidedviz.views.figure import Figure
from guidedviz.views.frames import draw_frame, wind
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.show import OnPage, show


def film(frames: Iterable[Sketch], title: str = "") -> Film:
    """Frames on one drawing: `gv.film(gv.nfa_frames("a|b"))`."""
    return Film(list(frames), title)


class Film(OnPage):
    """What `gv.film` gives: its frames, and a page that shows them one after the other."""

    kind = "film"

    def __init__(self, frames: list[Sketch], title: str) -> None:
        self.cell = ("", "")
        self.frames, self.title = frames, title
        self.reel = wind(frames)
        move_in(self)

    @property
    def figure(self) -> Figure:
        """The last frame as a still picture."""
        return draw_frame(self.frames)

    def _everything(self) -> dict[str, Any]:
        return {"title": self.title, "drawings": self.reel.drawings, "frames": self.reel.frames}

    def __repr__(self) -> str:
        last = self.reel.frames[-1]["words"]
        return f"Film: {len(self.frames)} frames" + (f"; the last: {last}" if last else "")

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return show(replace(self.figure, text=repr(self)), self, **wanted)
