"""All spellings of a text: every way to cut its bytes into tokens.

They share their parts, so they are kept as a lattice: for each byte the tokens that may begin there. A run of 30 bytes
can have millions of spellings; its lattice has a few hundred tokens.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from guidedviz.tokens.guide import Guide
from guidedviz.tokens.jump import longer_tokens
from guidedviz.tokens.longest import find_texts
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Lattice:
    """For each byte of a run the tokens that begin there and end in it, and those that go beyond its end."""

    run: bytes
    vocabulary: Vocabulary
    fits: tuple[tuple[int, ...], ...]
    beyond: tuple[tuple[int, ...], ...]

    @cached_property
    def ways(self) -> tuple[int, ...]:
        """How many spellings there are of no bytes, of the first byte, of the first two, and so on."""
        ways = [1] + [0] * len(self.run)
        for at, tokens in enumerate(self.fits):
            for token in tokens:
                ways[at + len(self.vocabulary.pieces[token])] += ways[at]
        return tuple(ways)

    @property
    def count(self) -> int:
        """How many spellings end where the run ends."""
        return self.ways[-1]

    @property
    def count_beyond(self) -> int:
        """How many have a last token that goes beyond it."""
        return sum(ways * len(tokens) for ways, tokens in zip(self.ways, self.beyond, strict=False))


def build_lattice(vocabulary: Vocabulary, text: bytes | str) -> Lattice:
    """The lattice of a text that ends here: nothing goes beyond.

    >>> lattice = build_lattice(Vocabulary([b"a", b"b", b"ab", b"ba"]), "abab")
    >>> lattice.fits, lattice.ways, lattice.count
    (((0, 2), (1, 3), (0, 2), (1,)), (1, 1, 2, 3, 5), 5)
    """
    run = text.encode() if isinstance(text, str) else text
    legal, longest = find_texts(vocabulary)
    fits = tuple(
        tuple(
            token
            for end in range(at + 1, min(at + longest, len(run)) + 1)
            for token in vocabulary.ids(run[at:end])
            if token in legal
        )
        for at in range(len(run))
    )
    return Lattice(run, vocabulary, fits, ((),) * len(run))


def build_forced_lattice(guide: Guide, state: Hashable) -> Lattice:
    """The lattice of the forced run of a state, with the legal tokens that go beyond its end.

    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.engines import guide
    >>> v = Vocabulary([b"or", b"der", b"order", b"orderId", b"derI"])
    >>> lattice = build_forced_lattice(guide(regex("order(Id)?"), v), 0)
    >>> lattice.run, lattice.count, lattice.beyond
    (b'order', 2, ((3,), (), (4,), (), ()))
    """
    lattice = build_lattice(guide.vocabulary, guide.forced(state))
    run, pieces, states = lattice.run, guide.vocabulary.pieces, {0: state}
    fits: list[tuple[int, ...]] = [()] * len(run)
    beyond = fits.copy()
    for at in range(len(run)):
        if at not in states:  # no token ends here
            continue
        mask = guide.mask(states[at])
        fits[at] = tuple(token for token in lattice.fits[at] if mask[token])
        longer = longer_tokens(guide.vocabulary, run[at:])
        beyond[at] = tuple(longer[mask[longer]].tolist())
        for token in fits[at]:
            end = at + len(pieces[token])
            if end not in states:
                states[end] = guide.advance(states[at], token)
    return Lattice(run, guide.vocabulary, tuple(fits), tuple(beyond))
