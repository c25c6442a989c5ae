"""A film that the page plays alone: the frames of a construction on one drawing."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.views.figure import Figure
from guidedviz.views.machine.film import build_film
from guidedviz.views.machine.frame import MachineFrame
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.stack.earley_chart import build_chart_film, draw_frame
from guidedviz.views.stack.earley_film import ChartFrame
from guidedviz.views.stack.stack_film import StackFrame, build_stack_film, draw_stack_frame
from guidedviz.widgets.display import Display, Message, Shown

FRAMES_HINT = "gv.film(gv.views.dfa_frames('a|b'))"
FILMS: dict[type, tuple[Any, Any]] = {  # of frames: how a film is built, and how one frame is drawn
    ChartFrame: (build_chart_film, draw_frame),
    StackFrame: (build_stack_film, draw_stack_frame),
}
MACHINE = build_film, lambda frame: draw_machine(frame, compact=False)


def film(frames: Iterable[MachineFrame | ChartFrame | StackFrame], title: str = "", show: int = -1) -> "Film":
    """A film of frames on one drawing: `gv.film(gv.views.dfa_frames("a|b"))`.

    `show` is the frame at which it opens and that its picture shows; by default it opens at the first frame, and the
    picture shows the last one.
    """
    expect(title, str, "gv.film, title", "a text")
    listed: list[Any] = list(expect(frames, Iterable, "gv.film, frames", "frames", hint=FRAMES_HINT))
    last = len(listed) - 1
    if listed and (type(show) is not int or not -1 <= show <= last):
        raise SettingError("gv.film, show", seen=quoted(show), expected=f"a frame, 0 to {last}")
    return Film(listed, title, show)


class Film(Shown):
    """What `gv.film` returns."""

    def __init__(self, frames: list[Any], title: str, show: int) -> None:
        self.frames = frames
        self.title = title
        self.shown = show
        kinds = {type(frame) for frame in frames}
        kind = kinds.pop() if len(kinds) == 1 else object
        build, self.draw = FILMS.get(kind, MACHINE)
        self.drawings, self.packed = build(frames)
        self.display = Display("film", saved=self._everything)

    @property
    def figure(self) -> Figure:
        """The shown frame, by default the last one, as a still picture."""
        last = self.packed[-1]["words"]
        said = f"Film: {len(self.frames)} frames"
        if last:
            said += f"; the last: {last}"
        figure: Figure = self.draw(self.frames[self.shown])
        return replace(figure, text=said)

    def _everything(self) -> Message:
        drawings = [drawing.shapes for drawing in self.drawings]
        return {"title": self.title, "drawings": drawings, "frames": self.packed, "show": max(self.shown, 0)}
