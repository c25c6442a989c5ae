"""A machine with its chains folded, alive: press a thick arrow and it unfolds, press it again and it folds."""

from __future__ import annotations

from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.fold import Chain, find_chains, fold, inside_chain, join
from guidedviz.machines.sketch import Sketch
from guidedviz.views.arrows import say_arrow
from guidedviz.views.diagram import lay_out
from guidedviz.views.figure import Figure
from guidedviz.views.frames import bare_drawing
from guidedviz.views.legend import say_thick
from guidedviz.views.light import arrow_key
from guidedviz.views.machine import draw_machine, sketch_of
from guidedviz.views.machine_words import count_states
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.show import OnPage, show

HINT = "Press a thick arrow to unfold it, press it again to fold it."
NOTHING = "Nothing to fold: no two bytes in a row without a choice between them."


def folded(machine: Any) -> FoldedMachine:
    """The folded machine on the page: `gv.folded(gv.regex("abc[0-9]"))`."""
    return FoldedMachine(machine)


class FoldedMachine(OnPage):
    """What `gv.folded` gives."""

    kind = "fold"

    def __init__(self, machine: Any) -> None:
        self.cell = ("", "")
        self.machine, self.sketch = machine, _sketch(machine)
        self._chains = {chain[0].target: chain for chain in find_chains(self.sketch)}  # named by the first state inside
        self.unfolded: frozenset[int] = frozenset()
        move_in(self)

    def turn(self, state: int) -> FoldedMachine:
        """Unfold the chain with this state inside, or fold it again."""
        self.unfolded ^= {first for first, arrows in self._chains.items() if state in inside_chain(arrows)}
        self._tell()
        return self

    def turn_all(self) -> FoldedMachine:
        """Fold everything if a chain is unfolded, else unfold all."""
        self.unfolded = frozenset() if self.unfolded else frozenset(self._chains)
        self._tell()
        return self

    @property
    def figure(self) -> Figure:
        """The same as a still picture."""
        return draw_machine(self._now())

    def __repr__(self) -> str:
        return self.figure.text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return show(self.figure, self, **wanted)

    def _now(self) -> Sketch:
        return fold(self.sketch, self.unfolded)

    def _hear(self, said: dict[str, Any]) -> None:
        match said:
            case {"do": "turn", "chain": int(state)}:
                self.turn(state)
            case {"do": "all"}:
                self.turn_all()

    def _news(self, everything: bool) -> dict[str, Any]:
        now = self._now()
        return {
            "svg": bare_drawing(now, compact=None),
            "words": count_states(lay_out(now, -1, None)),
            "legend": f"{say_thick(now)}. {HINT}" if self._chains else NOTHING,
            "chains": [self._pack(first, chain) for first, chain in self._chains.items()],
        }

    def _pack(self, first: int, chain: Chain) -> dict[str, Any]:
        """A chain's arrows and states on the drawing; its first arrow has the same key, folded or not."""
        opened = first in self.unfolded
        return {
            "name": first,
            "open": opened,
            "words": say_arrow(join(chain), whole=True),
            "arrows": [arrow_key(arrow) for arrow in (chain if opened else chain[:1])],
            "states": list(inside_chain(chain)) * opened,
        }


def _sketch(machine: Any) -> Sketch:
    try:
        return sketch_of(machine)
    except SettingError as error:  # it names the picture, not what was called
        raise SettingError("folded", seen=error.seen, expected=error.expected, hint=error.hint) from None
