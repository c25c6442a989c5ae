"""The spellings (tokenizations) of a forced run, and the model's probability of each.

The bytes are forced, but their tokenization is not: under the mask every spelling has some probability. Appending
one without a forward pass removes this choice (dottxt, "Coalescence: making LLM inference 5x faster";
llguidance, docs/fast_forward.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from heapq import heappop, heappush
from math import inf, log
from typing import Any

from guidedviz.decoding.annotations import AtLeastOne, check_number
from guidedviz.decoding.loop import start
from guidedviz.decoding.sampling import masked_softmax
from guidedviz.errors import SettingError
from guidedviz.models.model import Model, Source
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.jump import spell_output
from guidedviz.tokens.lattice import build_forced_lattice
from guidedviz.tokens.spelling import spell_longest

LEAST = 1e-6  # less likely spellings are only counted, because a run can have thousands of spellings
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
    faint: tuple[int, float]  # spellings below LEAST: their number and total probability
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
    >>> found = spellings(toy, "\\n", gv.guide(gv.regex("ab\\n"), toy.vocabulary))
    >>> [(spelling.pieces, spelling.probability) for spelling in found.spellings]
    [((b'a', b'b', b'\\n'), 0.5), ((b'ab', b'\\n'), 0.5)]
    >>> found.rest, found.passes, found.canonical.pieces
    (0.0, 4, (b'ab', b'\\n'))
    """
    check_guide(guide)
    check_number(AtLeastOne, limit, "spellings, limit")
    before, lattice = start(model, prompt, guide).tokens, build_forced_lattice(guide, guide.initial)
    if not lattice.run:
        hint = "a guide after whose start only one continuation is legal"
        raise SettingError("spellings", seen="a choice at the start", expected="a forced run", hint=hint)
    canonical = tuple(spell_output(model.vocabulary, model.encode, (), lattice.run) or ())
    named = canonical, tuple(spell_longest(model.vocabulary, lattice.run))
    done, parts, faint, passes = _search(model, guide, before, lattice.run, named, limit)
    return Spellings(
        run=lattice.run, spellings=done, open=parts, faint=(len(faint), sum(faint, 0.0)),
        count=lattice.count, count_beyond=lattice.count_beyond, passes=passes,
        model=model.name, device=model.device, date=date.today().isoformat(),
        vocabulary_size=len(model.vocabulary), source=model.source,
    )  # fmt: skip


def _search(
    model: Model, guide: Guide, before: Tokens, run: bytes, named: Sequence[Tokens], limit: int
) -> tuple[tuple[Spelling, ...], tuple[Spelling, ...], list[float], int]:
    """The spellings, their prefixes that are open or dead, the probabilities of faint spellings, and the passes.

    It extends prefixes of the named spellings first, then the likeliest prefix.
    """

    def spelling(tokens: Tokens, odds: float, dead: bool = False) -> Spelling:
        parts = tuple(pieces[token] for token in tokens)
        return Spelling(tokens, parts, odds, tokens == named[0], tokens == named[1], dead)

    def turn(tokens: Tokens) -> int:  # prefixes of the first named spelling, then of the second, then all others
        return next((place for place, name in enumerate(named) if name[: len(tokens)] == tokens), len(named))

    def rank(one: Spelling) -> tuple[bool, float, Tokens]:
        return one.dead, -one.probability, one.tokens

    waiting: list[tuple[int, float, Tokens, Any]] = [(0, -1.0, (), guide.initial)]
    pieces, done, parts, faint, passes = guide.vocabulary.pieces, list[Spelling](), list[Spelling](), list[float](), 0
    while waiting and passes < limit:
        _, odds, tokens, state = heappop(waiting)
        mask = guide.mask(state)
        if not mask.any():
            parts.append(spelling(tokens, -odds, dead=True))
            continue
        shares = masked_softmax(model.logits([*before, *tokens]), mask)
        passes += 1
        left = len(run) - sum(len(pieces[token]) for token in tokens)
        for token in mask.nonzero()[0].tolist():
            longer, likely = (*tokens, token), -odds * float(shares[token])
            if len(pieces[token]) < left:
                heappush(waiting, (turn(longer), -likely, longer, guide.advance(state, token)))
            elif likely < LEAST and longer not in named:
                faint.append(likely)
            else:
                done.append(spelling(longer, likely))
    parts += [spelling(tokens, -odds) for _, odds, tokens, _ in waiting]
    return tuple(sorted(done, key=rank)), tuple(sorted(parts, key=rank)), faint, passes
