"""The stage's machine: drawn once, then every step tells only the states its bytes went through."""

from __future__ import annotations

from typing import Any

from guidedviz.decoding.trace import Step
from guidedviz.machines.dfa import DFA
from guidedviz.machines.sketch import sketch_dfa
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import Explanation
from guidedviz.views.diagram import lay_out
from guidedviz.views.frames import bare_drawing
from guidedviz.views.machine import count_states
from guidedviz.views.trail import states_named, step_path


def machine_of(guide: Any) -> DFA | None:
    """The finite machine behind a guide, if there is one."""
    machine = getattr(guide, "machine", None)
    return machine if isinstance(machine, DFA) else None


class MachineFeed:
    """What the page is told about a machine."""

    def __init__(self, machine: DFA) -> None:
        self.machine, self._sketch = machine, sketch_dfa(machine)
        self._drawn: frozenset[int] | None = None

    def path(self, step: Step) -> list[int]:
        """The states inside a step's token."""
        return list(step_path(self.machine, step))

    def at(self, step: Step | None) -> int:
        """Where the machine stands after a step."""
        return ([self.machine.initial] + (self.path(step) if step else []))[-1]

    def news(self, at: int, everything: bool) -> dict[str, Any]:
        """The drawing, if the page does not have one with this state; of a large machine it is the neighbourhood."""
        if not everything and self._drawn is not None and at in self._drawn:
            return {}
        self._drawn = frozenset(lay_out(self._sketch, at).spots)
        return {"machine": self.kept(at)}

    def kept(self, at: int) -> dict[str, Any]:
        """The drawing around a state."""
        words = count_states(lay_out(self._sketch, at))
        return {"svg": bare_drawing(self._sketch, at, None), "words": words, "initial": self.machine.initial}

    def why(self, why: Explanation) -> dict[str, Any]:
        """The way of a token that was forbidden, and the byte at which it died."""
        path = states_named(self.machine, why.states)
        died = why.piece[why.died_at : why.died_at + 1] if why.died_at is not None else b""
        return {"path": list(path), "died": visible(died) or "end"} if path and not why.legal else {}
