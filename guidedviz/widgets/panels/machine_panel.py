"""The machine panel: the drawing is sent once, then each step sends only the states that its bytes passed."""

from __future__ import annotations

from typing import Any

from guidedviz.decoding.trace import Step, follows
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import Explanation
from guidedviz.tokens.spelling import shared_length
from guidedviz.views.layout.diagram import lay_out
from guidedviz.views.layout.sketch import sketch_of
from guidedviz.views.machine.films import bare_drawing
from guidedviz.views.machine.highlight import Drawable, StatePath, read_step
from guidedviz.views.machine.picture import count_states
from guidedviz.widgets.panels.stack_panel import StackFeed


def machine_of(guide: Any) -> Drawable | None:
    """The machine behind a guide, if it is one that can be drawn."""
    machine = getattr(guide, "machine", None)
    return machine if isinstance(machine, Drawable) else None


def number_of(state: Any) -> int:
    """The number of a state on the page."""
    return state.number if isinstance(state, State) else int(state)


class MachineFeed:
    """What the page is told about a machine."""

    def __init__(self, machine: Drawable) -> None:
        self.machine, self._sketch = machine, sketch_of(machine)
        self._stacks = StackFeed(machine) if isinstance(machine, PDA) else None
        self._drawings: list[tuple[frozenset[int], dict[str, Any]]] = []
        self._sent = 0  # drawings that the page has
        self._known = False  # whether the page knows the machine
        self._passed: set[Any] = {machine.initial}  # states that the page needs with the next news
        self._steps: tuple[Step, ...] = ()
        self._paths: list[StatePath] = []

    def paths(self, steps: tuple[Step, ...]) -> list[StatePath]:
        """The states inside the token of every step; steps read before are not read again."""
        same = shared_length(self._steps, steps)
        del self._paths[same:]
        for step, place in zip(steps[same:], follows(steps)[same:], strict=True):
            self._paths.append(read_step(self.machine, self.at(place), step))
        self._steps = steps
        return self._paths

    def at(self, cursor: int) -> Any:
        """The state after the first `cursor` steps."""
        return self._paths[cursor - 1][-1] if cursor else self.machine.initial

    def pack(self, steps: tuple[Step, ...], same: int) -> list[dict[str, Any]]:
        """The paths of the steps from `same` on, and the drawing that shows where each of them ends."""
        paths = self.paths(steps)[same:]
        self._passed.update(state for path in paths for state in path)
        ways = zip(paths, steps[same:], strict=True)
        return [self._pack(path, step.piece) | {"drawing": self._drawing(path[-1])} for path, step in ways]

    def _pack(self, path: StatePath, piece: bytes) -> dict[str, Any]:
        way: dict[str, Any] = {"path": [number_of(state) for state in path]}
        if not self._stacks:
            return way
        seen = [visible(bytes([byte])) for byte in piece[: len(path) - 1]]
        return {**way, "taken": self._stacks.taken(path, piece), "bytes": seen}

    def _drawing(self, state: Any) -> int:
        """The number of a drawing in which a state is visible; a large machine is drawn around the state."""
        if isinstance(state, State) and not state.tops:
            return max(0, len(self._drawings) - 1)
        at: int = state.tops[0][0] if isinstance(state, State) else int(state)
        for number in reversed(range(len(self._drawings))):
            if at in self._drawings[number][0]:
                return number
        plan = lay_out(self._sketch, at, None)
        words, _, _ = count_states(plan).partition(":")
        drawing = {"shapes": bare_drawing(self._sketch, at, None).shapes, "words": words}
        self._drawings.append((frozenset(plan.spots), drawing))
        return len(self._drawings) - 1

    def news(self, everything: bool) -> dict[str, Any]:
        """The machine, its drawings and the stacks, as far as the page lacks them."""
        first = self._drawing(self.machine.initial)
        everything |= not self._known
        new = range(0 if everything else self._sent, len(self._drawings))
        news: dict[str, Any] = {"drawings": {number: self._drawings[number][1] for number in new}} if new else {}
        self._sent, self._known = len(self._drawings), True
        if everything:
            news["machine"] = self._head(first)
        if self._stacks:
            news["stacks"] = self._stacks.news(self._passed, everything)
        self._passed = {self.machine.initial}
        return news

    def kept(self) -> dict[str, Any]:
        """The machine with all its drawings, and the stacks of all steps that were packed just before."""
        first = self._drawing(self.machine.initial)
        stacks = {"stacks": self._stacks.pack(self._passed)} if self._stacks else {}
        drawings = {number: drawing for number, (_, drawing) in enumerate(self._drawings)}
        return {"machine": self._head(first), "drawings": drawings, **stacks}

    def _head(self, first: int) -> dict[str, Any]:
        return {"initial": number_of(self.machine.initial), "drawing": first, "stack": self._stacks is not None}

    def why(self, why: Explanation, path: StatePath) -> dict[str, Any]:
        """The path of a forbidden token, and the byte that the machine rejects."""
        if why.legal or not path:
            return {}
        died = why.piece[why.died_at : why.died_at + 1] if why.died_at is not None else b""
        stacks = {"stacks": self._stacks.pack(path)} if self._stacks else {}
        return {**self._pack(path, why.piece), "died": visible(died) or "end", **stacks}
