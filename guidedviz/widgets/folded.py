"""A machine whose chains can be folded and unfolded on the page: each folded chain is one thick arrow."""

from copy import copy
from typing import Any, Self

from guidedviz.views.figure import Figure
from guidedviz.views.layout.fold import ArrowRow, find_chains, fold, inside_row, join
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import say_arrow_in_full, sketch_of
from guidedviz.views.machine.film import bare_drawing
from guidedviz.views.machine.highlight import arrow_key
from guidedviz.views.machine.picture import draw_machine, say_thick
from guidedviz.views.machine.text import say_size
from guidedviz.widgets.display import Display, Message, Shown, said

FOLD_HINT = "Press a thick arrow to unfold it, press it again to fold it."


NOTHING_TO_FOLD = "Nothing to fold: no two successive bytes without a choice between them."


def folded(machine: Any) -> "FoldedMachine":
    """A live drawing of a machine with its chains folded: `gv.folded(gv.regex("abc[0-9]"))`."""
    return FoldedMachine(machine)


class FoldedMachine(Shown):
    """What `gv.folded` returns."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self.sketch = sketch_of(machine, "gv.folded")
        self._chains = {chain[0].target: chain for chain in find_chains(self.sketch)}  # named by the first state inside
        self.unfolded: frozenset[int] = frozenset()
        self.display = Display("fold", self._news, self._hear, record=self._record)

    def turn(self, state: int) -> Self:
        """Unfold the chain with this state inside, or fold it again."""
        self.unfolded ^= {first for first, arrows in self._chains.items() if state in inside_row(arrows)}
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

    def _record(self) -> Message:
        """Pages with the chains as they are, all folded, all unfolded, and all but one."""
        every = frozenset(self._chains)
        ones = [frozenset({first}) for first in self._chains]
        all_but_one = [every - one for one in ones]
        pages = list(dict.fromkeys([self.unfolded, frozenset(), every, *ones, *all_but_one]))
        record = [self._record_page(page, pages) for page in pages]
        return record[0] | {"pages": record}

    def _record_page(self, page: frozenset[int], pages: list[frozenset[int]]) -> Message:
        """A page with these chains unfolded, and to which page each press leads."""
        every = frozenset(self._chains)
        presses = {said("turn", chain=first): page ^ {first} for first in every}
        presses |= {said("all", unfold=True): every, said("all", unfold=False): frozenset()}
        moves = {}
        for press, unfolded in presses.items():
            if unfolded not in pages:  # no page has two chains unfolded of many: the last one stays
                unfolded -= page
            moves[press] = pages.index(unfolded)
        other = copy(self)
        other.unfolded = page
        return other._news(True) | {"moves": moves}

    def _hear(self, heard: Message) -> None:
        match heard:
            case {"do": "turn", "chain": int(state)}:
                self.turn(state)
            case {"do": "all", "unfold": bool(unfold)}:
                self.turn_all(unfold)

    def _news(self, everything: bool) -> Message:
        now = fold(self.sketch, self.unfolded)
        legend = NOTHING_TO_FOLD
        if self._chains:
            legend = f"{say_thick(now)}. {FOLD_HINT}"
        size = say_size(lay_out(now, -1, None))
        shapes = bare_drawing(now, compact=None).shapes
        chains = [self._pack(first, chain) for first, chain in self._chains.items()]
        return {"drawing": shapes, "words": size, "legend": legend, "chains": chains}

    def _pack(self, first: int, chain: ArrowRow) -> Message:
        """The arrows and states of a chain on the drawing; its first arrow has the same key, folded or not."""
        opened = first in self.unfolded
        shown = chain if opened else chain[:1]
        states = list(inside_row(chain)) if opened else []
        words = say_arrow_in_full(join(chain))
        keys = list(map(arrow_key, shown))
        return {"name": first, "open": opened, "words": words, "arrows": keys, "states": states}
