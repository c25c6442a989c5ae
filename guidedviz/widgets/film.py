"""Drawings that the page plays alone: the frames of a construction, and a machine whose chains can be folded."""

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any, Self

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.views.figure import Figure
from guidedviz.views.layout.arrow_words import say_arrow_in_full
from guidedviz.views.layout.fold import Chain, find_chains, fold, inside_chain, join
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import Sketch, sketch_of
from guidedviz.views.machine.film import bare_drawing, build_film
from guidedviz.views.machine.highlight import arrow_key
from guidedviz.views.machine.legend import say_thick
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.machine.text import say_size
from guidedviz.views.stack.earley_chart import build_chart_film, draw_frame
from guidedviz.views.stack.earley_film import ChartFrame
from guidedviz.views.stack.stack_film import StackFrame, build_stack_film, draw_stack_frame
from guidedviz.widgets.display import Display, Shown, said

HINT = "gv.film(gv.views.dfa_frames('a|b'))"
KINDS: dict[type, tuple[Any, Any]] = {  # of frames: how a film is built, and how one frame is drawn
    ChartFrame: (build_chart_film, draw_frame),
    StackFrame: (build_stack_film, draw_stack_frame),
}
MACHINE = build_film, lambda sketch: draw_machine(sketch, compact=False)


def film(frames: Iterable[Sketch | ChartFrame | StackFrame], title: str = "", show: int = -1) -> "Film":
    """A film of frames on one drawing: `gv.film(gv.views.dfa_frames("a|b"))`; `show` is the frame of its picture."""
    expect(title, str, "gv.film, title", "a text")
    listed: list[Any] = list(expect(frames, Iterable, "gv.film, frames", "frames", hint=HINT))
    last = len(listed) - 1
    if listed and (type(show) is not int or not -1 <= show <= last):
        raise SettingError("gv.film, show", seen=quoted(show), expected=f"a frame, 0 to {last}")
    return Film(listed, title, show)


class Film(Shown):
    """What `gv.film` returns."""

    def __init__(self, frames: list[Any], title: str, show: int) -> None:
        self.frames, self.title, self.shown = frames, title, show
        kinds = set(map(type, frames))
        build, self.draw = KINDS.get(kinds.pop(), MACHINE) if len(kinds) == 1 else MACHINE
        self.reel = build(frames)
        self.display = Display("film", saved=self._everything)

    @property
    def figure(self) -> Figure:
        """The shown frame, by default the last one, as a still picture."""
        last = self.reel.frames[-1]["words"]
        said = f"Film: {len(self.frames)} frames" + (f"; the last: {last}" if last else "")
        figure: Figure = self.draw(self.frames[self.shown])
        return replace(figure, text=said)

    def _everything(self) -> dict[str, Any]:
        drawings = [drawing.shapes for drawing in self.reel.drawings]
        return {"title": self.title, "drawings": drawings, "frames": self.reel.frames}


# A machine whose chains can be folded and unfolded on the page: each folded chain is one thick arrow.


FOLD_HINT = "Press a thick arrow to unfold it, press it again to fold it."
NOTHING = "Nothing to fold: no two successive bytes without a choice between them."


def folded(machine: Any) -> "FoldedMachine":
    """A live drawing of a machine with its chains folded: `gv.folded(gv.regex("abc[0-9]"))`."""
    return FoldedMachine(machine)


class FoldedMachine(Shown):
    """What `gv.folded` returns."""

    def __init__(self, machine: Any) -> None:
        self.machine, self.sketch = machine, sketch_of(machine, "gv.folded")
        self._chains = {chain[0].target: chain for chain in find_chains(self.sketch)}  # named by the first state inside
        self.unfolded: frozenset[int] = frozenset()
        self.display = Display("fold", self._news, self._hear, record=self._record)

    def turn(self, state: int) -> Self:
        """Unfold the chain with this state inside, or fold it again."""
        self.unfolded ^= {first for first, arrows in self._chains.items() if state in inside_chain(arrows)}
        self.display.tell()
        return self

    def turn_all(self, unfold: bool = True) -> Self:
        """Unfold all chains, or fold all."""
        self.unfolded = frozenset(self._chains) if unfold else frozenset()
        self.display.tell()
        return self

    @property
    def figure(self) -> Figure:
        """The drawing as a still picture."""
        return draw_machine(fold(self.sketch, self.unfolded))

    def _record(self) -> dict[str, Any]:
        """Pages with the chains as they are, all folded, all unfolded, and all but one."""
        every = frozenset(self._chains)
        ones = [frozenset({first}) for first in self._chains]
        pages = list(dict.fromkeys([self.unfolded, frozenset(), every, *ones, *(every - one for one in ones)]))
        record: list[dict[str, Any]] = []
        for page in pages:
            other = copy(self)
            other.unfolded = page
            answers = {said("turn", chain=first): page ^ {first} for first in every}
            answers |= {said("all", unfold=True): every, said("all", unfold=False): frozenset()}
            # no page has two chains unfolded of many: the last one stays
            moves = {ask: pages.index(to if to in pages else to - page) for ask, to in answers.items()}
            record.append(other._news(True) | {"moves": moves})
        return record[0] | {"pages": record}

    def _hear(self, heard: dict[str, Any]) -> None:
        match heard:
            case {"do": "turn", "chain": int(state)}:
                self.turn(state)
            case {"do": "all", "unfold": bool(unfold)}:
                self.turn_all(unfold)

    def _news(self, everything: bool) -> dict[str, Any]:
        now = fold(self.sketch, self.unfolded)
        return {
            "drawing": bare_drawing(now, compact=None).shapes,
            "words": say_size(lay_out(now, -1, None)),
            "legend": f"{say_thick(now)}. {FOLD_HINT}" if self._chains else NOTHING,
            "chains": [self._pack(first, chain) for first, chain in self._chains.items()],
        }

    def _pack(self, first: int, chain: Chain) -> dict[str, Any]:
        """The arrows and states of a chain on the drawing; its first arrow has the same key, folded or not."""
        opened = first in self.unfolded
        return {
            "name": first,
            "open": opened,
            "words": say_arrow_in_full(join(chain)),
            "arrows": [arrow_key(arrow) for arrow in (chain if opened else chain[:1])],
            "states": list(inside_chain(chain)) * opened,
        }
