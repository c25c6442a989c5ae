"""All spellings of a forced run: for each of its bytes the tokens that begin there."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from guidedviz.tokens.guide import Guide
from guidedviz.tokens.spelling import fitting_tokens
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Lattice:
    """For each byte of a run the tokens that begin there and end inside the run, and those that end beyond it."""

    run: bytes
    vocabulary: Vocabulary
    fits: tuple[tuple[int, ...], ...]
    beyond: tuple[tuple[int, ...], ...]

    @cached_property
    def ways(self) -> tuple[int, ...]:
        """The number of spellings of no bytes, of the first byte, of the first two, and so on."""
        ways = Counter({0: 1})
        for begin, tokens in enumerate(self.fits):
            for token in tokens:
                end = begin + len(self.vocabulary.pieces[token])
                ways[end] += ways[begin]
        return tuple(ways[end] for end in range(len(self.run) + 1))

    @property
    def count(self) -> int:
        """The number of spellings that end where the run ends."""
        return self.ways[-1]

    @property
    def count_beyond(self) -> int:
        """The number of spellings whose last token ends beyond the run."""
        return sum(ways * len(tokens) for ways, tokens in zip(self.ways, self.beyond, strict=False))


def build_forced_lattice(guide: Guide, state: Hashable) -> Lattice:
    """Build the lattice of a state's forced run, with the legal tokens that end beyond it.

    >>> v = gv.Vocabulary([b"or", b"der", b"order", b"orderId", b"derI"])
    >>> lattice = build_forced_lattice(gv.guide(gv.regex("order(Id)?"), v), 0)
    >>> lattice.run, lattice.count, lattice.beyond
    (b'order', 2, ((3,), (), (4,), (), ()))
    """
    vocabulary = guide.vocabulary
    run = guide.forced(state)
    states = {0: state}  # of the guide, at each byte where a token ends
    fits: list[tuple[int, ...]] = []
    beyond: list[tuple[int, ...]] = []
    for begin in range(len(run)):
        if begin not in states:
            fits.append(())
            beyond.append(())
            continue
        mask = guide.mask(states[begin])
        longer = vocabulary.longer(run[begin:])
        fits.append(tuple(token for token in fitting_tokens(vocabulary, run, begin) if mask[token]))
        beyond.append(tuple(longer[mask[longer]].tolist()))
        for token in fits[begin]:
            end = begin + len(vocabulary.pieces[token])
            if end not in states:
                states[end] = guide.advance(states[begin], token)
    return Lattice(run, vocabulary, tuple(fits), tuple(beyond))
