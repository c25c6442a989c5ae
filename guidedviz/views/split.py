"""The vocabulary in three colours: which tokens are surely legal, which surely not, and which must ask the stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pda import PDA, State
from guidedviz.tokens.guide import Guide, Mask
from guidedviz.tokens.split import ASK, NO, YES, Split, build_split
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.atlas import Atlas, atlas
from guidedviz.views.figure import Figure
from guidedviz.views.map import Kind, map_figure
from guidedviz.views.pda import check_pda, state_after
from guidedviz.views.words import label

SOLID, DASHED = "none", "3 2"
Kinds = tuple[Kind, ...]


def draw_split(split: Split | Guide, at: int | State | bytes | str | None = None, title: str = "") -> Figure:
    """All tokens at a node, where nothing is known of the stack; or after a text, when the stack has answered.

    >>> from guidedviz.machines.pda import grammar
    >>> v = Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = build_split(grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split(nested, 0).text)
    Split, node 0 of root: of 6 tokens 2 are surely legal, 1 surely illegal, 3 ask the stack
    >>> print(draw_split(nested, "((").text)
    Split, after ((: of 6 tokens 3 are surely legal, 1 surely illegal, 2 asked the stack: 1 legal, 1 illegal
    """
    split = as_split(split)
    made = atlas(split.vocabulary)
    name, kinds = _at_node(split, made, int(at)) if isinstance(at, int | np.integer) else _at_state(split, made, at)
    text = f"Split, {name}: {say_kinds(kinds)}"
    return map_figure(made, kinds, title or name, text, _by_place(made, kinds))


def as_split(split: Split | Guide) -> Split:
    """The split itself; that of a guide, or for another engine's guide one of its machine as it is."""
    split = getattr(split, "split", split)
    if isinstance(split, Split):
        return split
    machine = getattr(split, "machine", None)
    check_pda(machine, "draw_split")
    return _split_of(machine, split.vocabulary)


@lru_cache(maxsize=4)
def _split_of(machine: PDA, vocabulary: Vocabulary) -> Split:
    return build_split(machine, vocabulary, inline=False)


def _at_node(split: Split, made: Atlas, node: int) -> tuple[str, Kinds]:
    part = split.node(node)
    sure, ask = (np.zeros(len(made), dtype=np.bool_) for _ in range(2))
    part.sure.put(sure)
    ask[part.ask] = True
    return f"node {node} of {split.pda.nodes.name_of(node)}", (
        *_sure(made, sure, ~(sure | ask)),
        Kind("ask the stack", "gold", made.ordered(ask), shore=SOLID),
    )


def _at_state(split: Split, made: Atlas, text: State | bytes | str | None) -> tuple[str, Kinds]:
    return _name(split, text), split_kinds(split, made, state_after(split.pda, b"" if text is None else text))


def split_kinds(split: Split, made: Atlas, state: State) -> Kinds:
    """What the nodes alone say of the tokens at a state, and what the stack said where it was asked."""
    said, legal = split.answers(state), split.mask(state)
    asked = said == ASK
    return (
        *_sure(made, said == YES, said == NO),
        Kind("asked, legal", "gold", made.ordered(asked & legal), shore=SOLID),
        Kind("asked, illegal", "orange", made.ordered(asked & ~legal), shore=DASHED),
    )


def _sure(made: Atlas, legal: Mask, illegal: Mask) -> Kinds:
    return Kind("surely legal", "sea", made.ordered(legal)), Kind("surely illegal", "land", made.ordered(illegal))


def _name(split: Split, text: State | bytes | str | None) -> str:
    if isinstance(text, State):
        return f"{text!r}"
    read = to_bytes(text or b"")
    return f"after {label(read[:20])}{'…' * (len(read) > 20)}" if read else "at the start"


def say_kinds(kinds: Sequence[Kind]) -> str:
    """How many tokens there are of each kind."""
    legal, illegal, *asked = (kind.count for kind in kinds)
    said = f"of {legal + illegal + sum(asked):,} tokens {legal:,} are surely legal, {illegal:,} surely illegal"
    if not sum(asked):
        return f"{said}, none asks the stack"
    if len(asked) == 1:
        return f"{said}, {asked[0]:,} ask the stack"
    return f"{said}, {sum(asked):,} asked the stack: {asked[0]:,} legal, {asked[1]:,} illegal"


def _by_place(made: Atlas, kinds: Sequence[Kind]) -> str:
    """Where the tokens that ask are, for a person who hears the map."""
    asking = np.logical_or.reduce([kind.cells for kind in kinds[2:]])
    counts: Counter[str] = Counter()
    for place in made.places:
        counts[place.name] += int(asking[place.start : place.stop].sum())
    return ", ".join(f"{name} {count:,} ask" for name, count in counts.items() if count)
