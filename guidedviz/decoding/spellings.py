"""The spellings (tokenizations) of a forced run, and the model's probability of each.

The bytes are forced, but their tokenization is not: under the mask every spelling has some probability. Appending
one without a forward pass removes this choice (dottxt, "Coalescence: making LLM inference 5x faster";
llguidance, docs/fast_forward.md).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from heapq import heappop, heappush
from math import inf, log
from typing import Any

import numpy as np

from guidedviz.decoding.loop import start
from guidedviz.decoding.records import AtLeastOne, check_number
from guidedviz.decoding.sampling import masked_softmax
from guidedviz.errors import SettingError
from guidedviz.models.model import Model, Source
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.jump import spell_output
from guidedviz.tokens.vocabulary import fitting_tokens, spell_longest


def count_spellings(guide: Guide, run: bytes) -> tuple[int, int]:
    """How many spellings end where a forced run ends, and how many have a last token that ends beyond it.

    >>> v = gv.Vocabulary([b"or", b"der", b"order", b"orderId", b"derI"])
    >>> count_spellings(gv.guide(gv.regex("order(Id)?"), v), b"order")
    (2, 2)
    """
    vocabulary = guide.vocabulary
    states = {0: guide.initial}  # at each byte where a token ends
    ways = Counter({0: 1})  # the number of spellings of the bytes before
    beyond = 0
    for begin in range(len(run)):
        if begin not in states:
            continue
        mask = guide.mask(states[begin])
        beyond += ways[begin] * int(np.count_nonzero(mask[vocabulary.longer(run[begin:])]))
        for token in fitting_tokens(vocabulary, run, begin):
            if mask[token]:
                end = begin + len(vocabulary.pieces[token])
                ways[end] += ways[begin]
                if end not in states:
                    states[end] = guide.advance(states[begin], token)
    return ways[len(run)], beyond


LEAST_EXPLORED = 1e-6  # less likely spellings are only counted, because a run can have thousands of spellings
Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """One tokenization of the run, or a prefix of one."""

    tokens: Tokens
    pieces: tuple[bytes, ...]
    probability: float  # under the mask: the product over its tokens
    canonical: bool = False  # the tokenizer's own spelling
    longest: bool = False  # takes the longest token at each position
    dead: bool = False  # a prefix after which no token is legal

    @property
    def cost(self) -> float:
        """The cost of forcing this spelling in nats: -ln p.

        >>> round(Spelling((0,), (b"a",), 0.5).cost, 3)
        0.693
        """
        return -log(self.probability) if self.probability else inf


@dataclass(frozen=True)
class Spellings:
    """The explored spellings of a run. The probabilities of `spellings`, `open` and `faint` add up to 1."""

    run: bytes
    spellings: tuple[Spelling, ...]  # the likeliest first
    open: tuple[Spelling, ...]  # prefixes that do not reach the end of the run: not explored further, or dead
    faint: tuple[int, float]  # spellings below LEAST_EXPLORED: their number and total probability
    count: int  # the number of spellings that end exactly at the end of the run
    count_beyond: int  # the number of spellings whose last token extends beyond the run
    passes: int  # forward passes
    model: str
    device: str
    date: str
    vocabulary_size: int
    source: Source

    @property
    def rest(self) -> float:
        """The probability that was not explored; 0.0 if the record is exact."""
        return sum((part.probability for part in self.open if not part.dead), 0.0)

    @property
    def lost(self) -> float:
        """The probability of dead ends: prefixes of legal tokens after which no token is legal."""
        return sum((part.probability for part in self.open if part.dead), 0.0)

    @property
    def canonical(self) -> Spelling | None:
        """The tokenizer's spelling; None if the passes did not reach its end."""
        return next((spelling for spelling in self.spellings if spelling.canonical), None)


def spellings(model: Model, prompt: str, guide: Guide, limit: int = 64) -> Spellings:
    """The spellings of the run that is forced after the prompt; the likeliest first.

    The canonical and the longest spelling are explored first. There are at most `limit` forward passes.

    >>> toy = gv.ToyModel([b"a", b"b", b"ab", b"\\n"], lambda tokens: [0, 0, 0, 0])
    >>> found = gv.spellings(toy, "\\n", gv.guide(gv.regex("ab\\n"), toy.vocabulary))
    >>> [(spelling.pieces, spelling.probability) for spelling in found.spellings]
    [((b'a', b'b', b'\\n'), 0.5), ((b'ab', b'\\n'), 0.5)]
    >>> found.rest, found.passes, found.canonical.pieces
    (0.0, 4, (b'ab', b'\\n'))
    """
    check_guide(guide)
    check_number(AtLeastOne, limit, "spellings, limit")
    before = start(model, prompt, guide).tokens
    run = guide.forced(guide.initial)
    if not run:
        hint = "a guide after whose start only one continuation is legal"
        raise SettingError("spellings", seen="a choice at the start", expected="a forced run", hint=hint)
    canonical = tuple(spell_output(model.vocabulary, model.encode, (), run) or ())
    longest = tuple(spell_longest(model.vocabulary, run))
    count, beyond = count_spellings(guide, run)
    found = Search(model, guide, before, run, (canonical, longest))
    found.explore(limit)
    faint = found.faint
    return Spellings(
        run=run, spellings=ranked(found.done), open=ranked(found.parts), faint=(len(faint), sum(faint, 0.0)),
        count=count, count_beyond=beyond, passes=found.passes,
        model=model.name, device=model.device, date=date.today().isoformat(),
        vocabulary_size=len(model.vocabulary), source=model.source,
    )  # fmt: skip


def ranked(spellings: Iterable[Spelling]) -> tuple[Spelling, ...]:
    """Spellings in order: the likeliest first, those that are dead last."""
    return tuple(sorted(spellings, key=lambda one: (one.dead, -one.probability, one.tokens)))


class Search:
    """A search of the spellings of a run: prefixes of the named spellings are extended first, then the likeliest."""

    def __init__(self, model: Model, guide: Guide, before: Tokens, run: bytes, named: tuple[Tokens, Tokens]) -> None:
        self.model = model
        self.guide = guide
        self.before = before
        self.run = run
        self.named = named
        self.waiting: list[tuple[int, float, Tokens, Any]] = [(0, -1.0, (), guide.initial)]  # a heap
        self.done: list[Spelling] = []
        self.parts: list[Spelling] = []  # prefixes that are dead, or not explored
        self.faint: list[float] = []  # the probabilities of those that are only counted
        self.passes = 0

    def explore(self, limit: int) -> None:
        """Extend prefixes until none is left, or until there were so many forward passes."""
        while self.waiting and self.passes < limit:
            _, odds, tokens, state = heappop(self.waiting)
            mask = self.guide.mask(state)
            if mask.any():
                self.extend(tokens, -odds, state, mask)
            else:
                self.parts.append(self.spelling(tokens, -odds, dead=True))
        for _, odds, tokens, _ in self.waiting:
            self.parts.append(self.spelling(tokens, -odds))

    def extend(self, tokens: Tokens, odds: float, state: Any, mask: Mask) -> None:
        """Extend a prefix by each legal token. One forward pass."""
        pieces = self.guide.vocabulary.pieces
        shares = masked_softmax(self.model.logits([*self.before, *tokens]), mask)
        self.passes += 1
        left = len(self.run) - sum(len(pieces[token]) for token in tokens)
        for token in mask.nonzero()[0].tolist():
            longer = (*tokens, token)
            likely = odds * float(shares[token])
            if len(pieces[token]) < left:
                heappush(self.waiting, (self.turn(longer), -likely, longer, self.guide.advance(state, token)))
            elif likely < LEAST_EXPLORED and longer not in self.named:
                self.faint.append(likely)
            else:
                self.done.append(self.spelling(longer, likely))

    def turn(self, tokens: Tokens) -> int:
        """Prefixes of the first named spelling come first, then those of the second, then all others."""
        for place, name in enumerate(self.named):
            if name[: len(tokens)] == tokens:
                return place
        return len(self.named)

    def spelling(self, tokens: Tokens, odds: float, dead: bool = False) -> Spelling:
        """The record of a spelling or of a prefix."""
        pieces = tuple(self.guide.vocabulary.pieces[token] for token in tokens)
        canonical, longest = self.named
        return Spelling(tokens, pieces, odds, tokens == canonical, tokens == longest, dead)
