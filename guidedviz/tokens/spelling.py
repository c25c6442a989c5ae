"""Ways to cut a text into tokens: the longest token each time, and the lattice of all spellings.

A run of 30 bytes can have millions of spellings; the lattice holds their few hundred tokens, by the byte they begin at.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from guidedviz.errors import VocabularyError, quoted
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary


def fitting_tokens(vocabulary: Vocabulary, text: bytes, start: int) -> list[int]:
    """The text ids whose bytes the text has from this position on, the shortest first.

    >>> fitting_tokens(Vocabulary([b"a", b"ab", b"b", b"ab"]), b"xabc", 1)
    [0, 1, 3]
    """
    ends = range(start + 1, min(start + vocabulary.longest, len(text)) + 1)
    return [token for end in ends for token in vocabulary.ids(text[start:end]) if vocabulary.is_text(token)]


def longest_tokens(vocabulary: Vocabulary, text: bytes) -> Iterator[int]:
    """Cut a text into its longest tokens; the tokenizer itself often chooses other ids.

    >>> list(longest_tokens(Vocabulary([b"a", b"ab", b"b", b"<s>"], special={3}), b"abba"))
    [1, 2, 0]
    """
    start = 0
    while start < len(text):
        found = fitting_tokens(vocabulary, text, start)
        if not found:
            seen = quoted(text[start : start + 1])
            raise VocabularyError("a text in tokens", seen=seen, expected="a byte that some token has")
        token = max(found, key=lambda token: len(vocabulary.pieces[token]))
        yield token
        start += len(vocabulary.pieces[token])


def spell_longest(vocabulary: Vocabulary, text: bytes) -> list[int]:
    """The same as a list; no tokens at all if some byte has none.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> spell_longest(v, b"aba"), spell_longest(v, b"abc")
    ([1, 0], [])
    """
    try:
        return list(longest_tokens(vocabulary, text))
    except VocabularyError:
        return []


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """The number of elements two sequences have in common at their start.

    >>> shared_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


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
        ways = [1] + [0] * len(self.run)
        for at, tokens in enumerate(self.fits):
            for token in tokens:
                ways[at + len(self.vocabulary.pieces[token])] += ways[at]
        return tuple(ways)

    @property
    def count(self) -> int:
        """The number of spellings that end where the run ends."""
        return self.ways[-1]

    @property
    def count_beyond(self) -> int:
        """The number of spellings whose last token ends beyond the run."""
        return sum(ways * len(tokens) for ways, tokens in zip(self.ways, self.beyond, strict=False))


def build_lattice(vocabulary: Vocabulary, text: bytes | str) -> Lattice:
    """Build the lattice of a text; no token ends beyond it.

    >>> lattice = build_lattice(Vocabulary([b"a", b"b", b"ab", b"ba"]), "abab")
    >>> lattice.fits, lattice.ways, lattice.count
    (((0, 2), (1, 3), (0, 2), (1,)), (1, 1, 2, 3, 5), 5)
    """
    run = text.encode() if isinstance(text, str) else text
    fits = tuple(tuple(fitting_tokens(vocabulary, run, at)) for at in range(len(run)))
    return Lattice(run, vocabulary, fits, ((),) * len(run))


def build_forced_lattice(guide: Guide, state: Hashable) -> Lattice:
    """Build the lattice of a state's forced run, with the legal tokens that end beyond it.

    >>> v = gv.Vocabulary([b"or", b"der", b"order", b"orderId", b"derI"])
    >>> lattice = build_forced_lattice(gv.guide(gv.regex("order(Id)?"), v), 0)
    >>> lattice.run, lattice.count, lattice.beyond
    (b'order', 2, ((3,), (), (4,), (), ()))
    """
    vocabulary, run, states = guide.vocabulary, guide.forced(state), {0: state}
    fits: list[tuple[int, ...]] = [()] * len(run)
    beyond = fits.copy()
    for at in range(len(run)):
        if at not in states:  # no token ends here
            continue
        mask, longer = guide.mask(states[at]), vocabulary.longer(run[at:])
        fits[at] = tuple(token for token in fitting_tokens(vocabulary, run, at) if mask[token])
        beyond[at] = tuple(longer[mask[longer]].tolist())
        for token in fits[at]:
            end = at + len(vocabulary.pieces[token])
            if end not in states:
                states[end] = guide.advance(states[at], token)
    return Lattice(run, vocabulary, tuple(fits), tuple(beyond))
