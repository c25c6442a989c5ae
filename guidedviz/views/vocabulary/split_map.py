"""A split on the map: the tokens that are accepted, rejected, or depend on the stack; the last are enlarged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from guidedviz.errors import expect
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.visible import name_node
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.split.split import ACCEPTED, DEPENDENT, REJECTED, Split, build_split
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.machine.highlight import check_pda, state_after
from guidedviz.views.vocabulary.atlas import Atlas, atlas
from guidedviz.views.vocabulary.map import Kind, map_figure
from guidedviz.views.vocabulary.zoom import draw_zoom
from guidedviz.views.words import label

SOLID, DASHED = "none", "3 2"


def draw_split(split: Split | Guide, at: int | State | bytes | str | None = None, title: str = "") -> Figure:
    """All tokens at a node, with an unknown stack, or after a text, with the answers of the stack.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split(nested, 0).text)
    Split, node n0 of root: of 6 tokens 2 are accepted, 1 rejected, 3 context-dependent
    >>> print(draw_split(nested, "((").text)
    Split, after ((: of 6 tokens 3 are accepted, 1 rejected, 2 context-dependent: 1 legal, 1 illegal
    """
    expect(title, str, "draw_split, title", "a text")
    split = as_split(split)
    made = atlas(split.vocabulary)
    if isinstance(at, int | np.integer):
        name, kinds = _at_node(split, made, int(at))
    else:
        name, kinds = _name(split, at), split_kinds(split, made, state_after(split.pda, b"" if at is None else at))
    text = f"Split, {name}: {say_kinds(kinds)}"
    return map_figure(made, kinds, title or name, text, _by_place(made, kinds), draw_zoom(made, kinds))


def as_split(split: Split | Guide) -> Split:
    """A split, the split of a guide, or, for a guide of another engine, a split of its machine."""
    found = split if isinstance(split, Split) else getattr(split, "split", None)
    if isinstance(found, Split):
        return found
    machine = getattr(split, "machine", None)
    check_pda(machine, "draw_split")
    return _split_of(machine, split.vocabulary)


@lru_cache(maxsize=4)
def _split_of(machine: PDA, vocabulary: Vocabulary) -> Split:
    return build_split(machine, vocabulary, inline=False)


def _at_node(split: Split, made: Atlas, node: int) -> tuple[str, tuple[Kind, ...]]:
    part = split.node(node)
    verdicts = part.verdicts
    return f"node {name_node(node)} of {split.pda.nodes.name_of(node)}", (
        *_independent(made, verdicts == ACCEPTED, verdicts == REJECTED),
        Kind("context-dependent", "gold", made.ordered(verdicts == DEPENDENT), outline=SOLID),
    )


def split_kinds(split: Split, made: Atlas, state: State) -> tuple[Kind, ...]:
    """The tokens at a state by the verdicts of the nodes and, for context-dependent tokens, of the stack."""
    said, legal = split.answers(state), split.mask(state)
    asked = said == DEPENDENT
    return (
        *_independent(made, said == ACCEPTED, said == REJECTED),
        Kind("context-dependent, legal", "gold", made.ordered(asked & legal), outline=SOLID),
        Kind("context-dependent, illegal", "orange", made.ordered(asked & ~legal), outline=DASHED),
    )


def _independent(made: Atlas, legal: Mask, illegal: Mask) -> tuple[Kind, ...]:
    return Kind("accepted", "sea", made.ordered(legal)), Kind("rejected", "land", made.ordered(illegal))


def _name(split: Split, text: State | bytes | str | None) -> str:
    if isinstance(text, State):
        return f"{text!r}"
    read = to_bytes(text or b"")
    return f"after {label(read[:20])}{'…' * (len(read) > 20)}" if read else "at the start"


def say_kinds(kinds: Sequence[Kind]) -> str:
    """The number of tokens of each kind."""
    legal, illegal, *asked = (kind.count for kind in kinds)
    said = f"of {legal + illegal + sum(asked):,} tokens {legal:,} are accepted, {illegal:,} rejected"
    if not sum(asked):
        return f"{said}, none is context-dependent"
    if len(asked) == 1:
        return f"{said}, {asked[0]:,} context-dependent"
    return f"{said}, {sum(asked):,} context-dependent: {asked[0]:,} legal, {asked[1]:,} illegal"


def _by_place(made: Atlas, kinds: Sequence[Kind]) -> str:
    """The number of context-dependent tokens per region, for people who cannot see the map."""
    asking = np.logical_or.reduce([kind.cells for kind in kinds[2:]])
    counts: Counter[str] = Counter()
    for place in made.regions:
        counts[place.name] += int(asking[place.start : place.stop].sum())
    return ", ".join(f"{name} {count:,} context-dependent" for name, count in counts.items() if count)
