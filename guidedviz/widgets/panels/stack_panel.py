"""The stack panel: each state of a pushdown machine is sent once; its other pictures only while they are visible."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from guidedviz.errors import GuidedVizError
from guidedviz.machines.earley.earley import earley
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.markup import Shapes
from guidedviz.views.figure import Figure
from guidedviz.views.machine.highlight import highlight_state, taken_arrows
from guidedviz.views.stack.chart import draw_chart, draw_derivation
from guidedviz.views.stack.graph import draw_shared_stacks
from guidedviz.views.stack.stack import draw_depth, say_ground, say_ways
from guidedviz.widgets.runner import running_loop

PAINTER = ThreadPoolExecutor(1, "guidedviz-picture")
PICTURES: dict[str, Callable[[PDA, bytes], Figure]] = {
    "shared": draw_shared_stacks,
    "tree": draw_derivation,
    "chart": lambda pda, text: draw_chart(earley(pda), text),
    "depth": draw_depth,
}


class StackFeed:
    """The states of a pushdown machine, each sent once."""

    def __init__(self, pda: PDA) -> None:
        self.pda = pda
        self._told: set[int] = set()
        self._packed: dict[int, dict[str, Any]] = {}
        self._taken: dict[tuple[int, int], tuple[str, ...]] = {}

    def news(self, states: Iterable[State], everything: bool) -> dict[int, Any]:
        """The states that the page does not know yet."""
        if everything:
            self._told.clear()
        new = {state.number: state for state in states if state.number not in self._told}
        self._told |= set(new)
        return self.pack(new.values())

    def pack(self, states: Iterable[State]) -> dict[int, Any]:
        """What the page shows of these states."""
        return {state.number: self._pack(state) for state in states}

    def taken(self, path: tuple[State, ...], piece: bytes) -> list[tuple[str, ...]]:
        """The arrows by which each byte of a token was read."""
        return [self._arrows(state, byte) for state, byte in zip(path[:-1], piece, strict=False)]

    def _arrows(self, state: State, byte: int) -> tuple[str, ...]:
        key = state.number, byte
        if key not in self._taken:
            self._taken[key] = taken_arrows(self.pda, state, byte)
        return self._taken[key]

    def _pack(self, state: State) -> dict[str, Any]:
        if state.number not in self._packed:
            self._packed[state.number] = pack_state(self.pda, state)
        return self._packed[state.number]


def pack_state(pda: PDA, state: State) -> dict[str, Any]:
    """What is highlighted in the drawing, and the frames of the stack, top first."""
    lit = highlight_state(pda, state)
    return {
        "name": repr(state),
        "now": sorted(lit.now),
        "back": sorted(lit.back),
        "calls": lit.calls,
        "last": sorted(lit.last),
        "rules": sorted(lit.rules),
        "counts": lit.counts,
        "depth": pda.depth(state),
        "frames": [[frame.number, frame.rule, frame.waits] for frame in pda.frames(state)],
        "ways": say_ways(state),
        "ground": say_ground(state),
    }


class Pictures:
    """The other pictures of a text. The visible one is drawn in a thread, for the newest text first."""

    def __init__(self, pda: PDA, tell: Callable[[], Any]) -> None:
        self.pda, self.name, self._tell = pda, "stack", tell
        self._wanted = self._drawn = ("stack", b"")
        self._picture: Shapes | str = ""
        self._new = False
        self._task: asyncio.Task[None] | None = None

    def want(self, name: str, text: bytes) -> None:
        """Ask for a picture of a text; the stack itself needs none."""
        self._wanted = (name, text)
        if name not in PICTURES or self._wanted == self._drawn or (self._task and not self._task.done()):
            return
        if loop := running_loop():
            self._task = loop.create_task(self._draw())
        else:
            self._keep(self._wanted, draw_picture(self.pda, name, text))

    async def _draw(self) -> None:
        while self._wanted != self._drawn and self._wanted[0] in PICTURES:
            wanted = self._wanted
            drawn = asyncio.get_running_loop().run_in_executor(PAINTER, draw_picture, self.pda, *wanted)
            self._keep(wanted, await drawn)
            self._tell()

    def _keep(self, drawn: tuple[str, bytes], picture: Shapes | str) -> None:
        self._drawn, self._picture, self._new = drawn, picture, True

    def news(self, everything: bool) -> dict[str, Any]:
        """The picture, if it is new."""
        new, self._new = self._new or everything, False
        return {"picture": [self._drawn[0], self._picture]} if new and self._picture else {}


def draw_picture(pda: PDA, name: str, text: bytes) -> Shapes | str:
    """The shapes of a picture, or the reason why it cannot be drawn."""
    try:
        return PICTURES[name](pda, text).drawing.shapes
    except GuidedVizError as error:
        return str(error)
