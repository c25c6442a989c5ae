"""The kinds of cells on a map: their names, colours and outlines, and how many there are of each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.machines.pushdown.stack import State
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.split import Split
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, REJECTED
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.theme import paint
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
    count = int(mask.sum())
    part = share(count / max(1, len(mask)))
    said = f"{count:,} of {len(mask):,} tokens legal ({part})"
    if not vocabulary.eos:
        return said
    ends = "legal" if mask[sorted(vocabulary.eos)].any() else "illegal"
    return f"{said}, EOS {ends}"


def count_regions(made: Atlas, cells: Mask) -> dict[str, int]:
    """How many of these cells each region has, for people who cannot see the map."""
    counts = Counter[str]()
    for region in made.regions:
        counts[region.name] += int(cells[region.start : region.stop].sum())
    return counts


def outlined_cells(kinds: Sequence[Kind]) -> Mask:
    """The cells of the kinds with a line around them."""
    cells = np.zeros_like(kinds[0].cells)
    for kind in kinds:
        if kind.outline:
            cells |= kind.cells
    return cells


def ink_on(kinds: Sequence[Kind], start: int, stop: int) -> dict[str, Any]:
    """The text colour for the most frequent kind of these cells, with an outline in the colour of the cells."""
    ground = max(kinds, key=lambda kind: int(kind.cells[start:stop].sum())).colour
    ink = "foam" if ground == "sea" else "ink"
    seam = ground if ground in ("land", "sea") else "page"
    line = {"stroke_width": 3, "stroke_linejoin": "round", "paint_order": "stroke"}
    return {"fill": paint(ink), "stroke": paint(seam), **line}


SOLID = "none"
DASHED = "3 2"


def split_kinds(split: Split, made: Atlas, state: State) -> tuple[Kind, ...]:
    """The tokens at a state by the verdicts of the nodes and, for context-dependent tokens, of the stack."""
    verdicts = split.answers(state)
    legal = split.mask(state)
    asked = verdicts == DEPENDENT
    allowed = Kind("context-dependent, legal", "gold", made.ordered(asked & legal), outline=SOLID)
    refused = Kind("context-dependent, illegal", "orange", made.ordered(asked & ~legal), outline=DASHED)
    return (*independent_kinds(made, verdicts), allowed, refused)


def independent_kinds(made: Atlas, verdicts: Any) -> tuple[Kind, Kind]:
    accepted = made.ordered(verdicts == ACCEPTED)
    rejected = made.ordered(verdicts == REJECTED)
    return Kind("accepted", "sea", accepted), Kind("rejected", "land", rejected)


def say_kinds(kinds: Sequence[Kind]) -> str:
    """The number of tokens of each kind."""
    legal, illegal, *asked = (kind.count for kind in kinds)
    dependent = sum(asked)
    tokens = legal + illegal + dependent
    said = f"of {tokens:,} tokens {legal:,} are accepted, {illegal:,} rejected"
    if not dependent:
        return f"{said}, none is context-dependent"
    said += f", {dependent:,} context-dependent"
    if len(asked) == 1:
        return said
    allowed, refused = asked
    return f"{said}: {allowed:,} legal, {refused:,} illegal"
