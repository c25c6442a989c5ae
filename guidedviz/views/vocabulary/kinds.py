"""The kinds of cells on a map: their names, colours and outlines, and how many there are of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.work import grouped
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.split import Split
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, REJECTED
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.vocabulary.atlas import Atlas
from guidedviz.views.words import share


@dataclass(frozen=True)
class Kind:
    """The cells of one colour, in byte order, and their name."""

    name: str
    colour: str
    cells: Mask
    outline: str = ""  # the dashes of a line around them; empty for no line

    @property
    def count(self) -> int:
        """The number of cells."""
        return int(self.cells.sum())


def legal_kinds(mask: Mask) -> tuple[Kind, ...]:
    """The two kinds of a mask."""
    return Kind("legal", "sea", mask), Kind("illegal", "land", ~mask)


def say_mask(vocabulary: Vocabulary, mask: Mask) -> str:
    """The number of legal tokens, and whether the text may end."""
    count, ends = int(mask.sum()), sorted(vocabulary.eos)
    end = f", EOS {'legal' if mask[ends].any() else 'illegal'}" if ends else ""
    return f"{count:,} of {len(mask):,} tokens legal ({share(count / max(1, len(mask)))}){end}"


def count_regions(made: Atlas, cells: Mask) -> dict[str, int]:
    """How many of these cells each region has, for people who cannot see the map."""
    parts = grouped((place.name, int(cells[place.start : place.stop].sum())) for place in made.regions)
    return {name: sum(counts) for name, counts in parts.items()}


def outlined_cells(kinds: Sequence[Kind]) -> Mask:
    """The cells of the kinds with a line around them."""
    cells = [kind.cells if kind.outline else np.zeros_like(kind.cells) for kind in kinds]
    return np.asarray(np.logical_or.reduce(cells), dtype=np.bool_)


def ink_on(kinds: Sequence[Kind], start: int, stop: int) -> dict[str, Any]:
    """The text colour for the most frequent kind of these cells, with an outline in the colour of the cells."""
    ground = max(kinds, key=lambda kind: int(kind.cells[start:stop].sum())).colour
    ink, ground = {"land": ("ink", "land"), "sea": ("foam", "sea")}.get(ground, ("ink", "page"))
    seam = {"stroke": f"var(--gv-{ground})", "stroke_width": 3, "stroke_linejoin": "round", "paint_order": "stroke"}
    return {"fill": f"var(--gv-{ink})", **seam}


SOLID, DASHED = "none", "3 2"


def split_kinds(split: Split, made: Atlas, state: State) -> tuple[Kind, ...]:
    """The tokens at a state by the verdicts of the nodes and, for context-dependent tokens, of the stack."""
    verdicts, legal = split.answers(state), split.mask(state)
    asked = verdicts == DEPENDENT
    return (
        *_independent(made, verdicts),
        Kind("context-dependent, legal", "gold", made.ordered(asked & legal), outline=SOLID),
        Kind("context-dependent, illegal", "orange", made.ordered(asked & ~legal), outline=DASHED),
    )


def _independent(made: Atlas, verdicts: Any) -> tuple[Kind, Kind]:
    legal, illegal = (made.ordered(verdicts == verdict) for verdict in (ACCEPTED, REJECTED))
    return Kind("accepted", "sea", legal), Kind("rejected", "land", illegal)


def say_kinds(kinds: Sequence[Kind]) -> str:
    """The number of tokens of each kind."""
    legal, illegal, *asked = (kind.count for kind in kinds)
    said = f"of {legal + illegal + sum(asked):,} tokens {legal:,} are accepted, {illegal:,} rejected"
    if not sum(asked):
        return f"{said}, none is context-dependent"
    if len(asked) == 1:
        return f"{said}, {asked[0]:,} context-dependent"
    return f"{said}, {sum(asked):,} context-dependent: {asked[0]:,} legal, {asked[1]:,} illegal"
