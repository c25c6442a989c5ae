"""The stage's machine: drawn once, then every step tells only the states its bytes went through."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from guidedviz.decoding.trace import Step, follows
from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.pda import PDA, State
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import Explanation
from guidedviz.views.diagram import lay_out
from guidedviz.views.frames import bare_drawing
from guidedviz.views.machine import sketch_of
from guidedviz.views.machine_words import count_states
from guidedviz.views.trail import check_same_machine
from guidedviz.widgets.stack import StackFeed

Drawn = DFA | PDA
Path = tuple[Any, ...]  # the states inside a token, the one before it first


def machine_of(guide: Any) -> Drawn | None:
    """The machine behind a guide, if it is one that can be drawn."""
    machine = getattr(guide, "machine", None)
    return machine if isinstance(machine, Drawn) else None


def read_step(machine: Drawn, state: Any, step: Step) -> Path:
    """The states inside a step's token; an end reads no byte."""
    path = [state]
    for byte in b"" if step.how == "none" or step.end == "eos" else step.piece:
        if (reached := machine.step(path[-1], byte)) is None:
            break
        path.append(reached)
    return tuple(path)


def check_recording(machine: Drawn, steps: tuple[Step, ...]) -> None:
    """Whether a record can be of this machine; by its bytes where the names of states do not last."""
    if isinstance(machine, DFA):
        return check_same_machine(machine, steps)
    reached: list[Any] = [machine.initial]
    for number, (step, place) in enumerate(zip(steps, follows(steps), strict=True), 1):
        path = read_step(machine, reached[place], step)
        if step.how != "none" and step.end != "eos" and len(path) <= len(step.piece):
            seen, hint = f"step {number}, {visible(step.piece)!r}", "gv.stage(trace) shows it without a machine"
            raise SettingError("this guide", seen=seen, expected="the guide of the recording", hint=hint)
        reached.append(path[-1])


def number_of(state: Any) -> int:
    """A state's number on the page."""
    return state.number if isinstance(state, State) else int(state)


class MachineFeed:
    """What the page is told about a machine."""

    def __init__(self, machine: Drawn) -> None:
        self.machine, self._sketch = machine, sketch_of(machine)
        self._stacks = StackFeed(machine) if isinstance(machine, PDA) else None
        self._drawn: frozenset[int] | None = None
        self._steps: tuple[Step, ...] = ()
        self._paths: list[Path] = []

    def paths(self, steps: tuple[Step, ...]) -> list[Path]:
        """The states inside the token of every step; what was read before is not read again."""
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(self._steps, steps, strict=False)))
        del self._paths[same:]
        for step, place in zip(steps[same:], follows(steps)[same:], strict=True):
            self._paths.append(read_step(self.machine, self.at(place), step))
        self._steps = steps
        return self._paths

    def at(self, cursor: int) -> Any:
        """Where the machine stands after so many of the steps it has read."""
        return self._paths[cursor - 1][-1] if cursor else self.machine.initial

    def pack(self, steps: tuple[Step, ...], same: int) -> list[dict[str, Any]]:
        """The ways of the steps that the page does not have."""
        ways = zip(self.paths(steps)[same:], steps[same:], strict=True)
        return [self._pack(path, step.piece) for path, step in ways]

    def _pack(self, path: Path, piece: bytes) -> dict[str, Any]:
        way: dict[str, Any] = {"path": [number_of(state) for state in path]}
        if not self._stacks:
            return way
        seen = [visible(bytes([byte])) for byte in piece[: len(path) - 1]]
        return {**way, "taken": self._stacks.taken(path, piece), "bytes": seen}

    def news(self, cursor: int, same: int, everything: bool) -> dict[str, Any]:
        """What a page lacks that had the first steps."""
        states = [self.machine.initial, *(state for path in self._paths[same:] for state in path)]
        stacks = {"stacks": self._stacks.news(states, everything)} if self._stacks else {}
        return {**stacks, **self.drawing(self._node(self.at(cursor)), everything)}

    def drawing(self, at: int, everything: bool) -> dict[str, Any]:
        """The drawing, if the page does not have one with this place; of a large machine it is the neighbourhood."""
        if not everything and self._drawn is not None and at in self._drawn:
            return {}
        self._drawn = frozenset(lay_out(self._sketch, at, None).spots)
        return {"machine": self._draw(at)}

    def kept(self, cursor: int) -> dict[str, Any]:
        """The drawing around a state, and the stacks of one step."""
        path = self._paths[cursor - 1] if cursor else (self.machine.initial,)
        stacks = {"stacks": self._stacks.pack(path)} if self._stacks else {}
        return {"machine": self._draw(self._node(path[-1])), **stacks}

    def _node(self, state: Any) -> int:
        """The place in the drawing that must be seen."""
        if isinstance(state, State):
            return state.tops[0][0] if state.tops else min(self._drawn or {-1})
        return int(state)

    def _draw(self, at: int) -> dict[str, Any]:
        svg, words = bare_drawing(self._sketch, at, None), count_states(lay_out(self._sketch, at, None))
        stack = self._stacks is not None
        return {"svg": svg, "words": words, "initial": number_of(self.machine.initial), "stack": stack}

    def why(self, why: Explanation, path: Path) -> dict[str, Any]:
        """The way of a token that was forbidden, and the byte at which it died."""
        if why.legal or not path:
            return {}
        died = why.piece[why.died_at : why.died_at + 1] if why.died_at is not None else b""
        stacks = {"stacks": self._stacks.pack(path)} if self._stacks else {}
        return {**self._pack(path, why.piece), "died": visible(died) or "end", **stacks}

    def names(self, path: Path) -> list[str]:
        """What the states of a way are called: of a pushdown machine the innermost rules."""
        pda = self.machine
        if isinstance(pda, PDA):
            return [(pda.stack(state) or ("the end",))[0] for state in path]
        return [f"q{state}" for state in path]
