"""The spellings of a forced run, and what each is worth to the model.

The bytes are forced, their cut into tokens is not: under the mask the model would choose every spelling with some
probability. Whoever puts one of them without asking takes that choice away (dottxt, "Coalescence: making LLM inference
5x faster"; llguidance, docs/fast_forward.md).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from heapq import heappop, heappush
from math import inf, log
from typing import Any

from guidedviz.decoding.loop import Model, check_guide, start
from guidedviz.decoding.sampling import masked_softmax
from guidedviz.decoding.trace import Source
from guidedviz.errors import SettingError
from guidedviz.tokens.compare import shared_length
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.jump import spell_output
from guidedviz.tokens.longest import spell_longest
from guidedviz.tokens.spell import build_forced_lattice
from guidedviz.tokens.vocabulary import Vocabulary

LEAST = 1e-6  # what is less likely is counted and not kept: a run can end in thousands of ways
Tokens = tuple[int, ...]
Leaf = tuple[Tokens, float]  # a spelling or a beginning of one, and its probability


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to cut the run into tokens, or the beginning of one."""

    tokens: Tokens
    pieces: tuple[bytes, ...]
    probability: float  # under the mask: the product of what its tokens have
    beyond: bytes = b""  # what its last token adds after the run
    canonical: bool = False  # the tokenizer cuts the output so
    longest: bool = False  # the longest token that fits, each time
    dead: bool = False  # a beginning after which no token is legal

    @property
    def cost(self) -> float:
        """How many nats it costs to force this spelling: -ln p.

        >>> round(Spelling((0,), (b"a",), 0.5).cost, 3)
        0.693
        """
        return -log(self.probability) if self.probability else inf


@dataclass(frozen=True)
class Spellings:
    """What was looked at of all spellings of a run. The probabilities of `spellings`, `open` and `faint` sum to 1."""

    run: bytes
    spellings: tuple[Spelling, ...]  # the likeliest first
    open: tuple[Spelling, ...]  # beginnings that stop short of the end of the run: not followed further, or dead
    faint: tuple[int, float]  # further ones, each below LEAST: how many, and how likely together
    count: int  # how many spellings there are that end where the run ends
    count_beyond: int  # and how many whose last token goes beyond it
    back: int  # tokens of the output before the run that the canonical spelling would take back
    passes: int  # forward passes
    prompt: str
    text: str  # the output before the run
    model: str
    device: str
    date: str
    vocabulary_size: int
    source: Source

    @property
    def rest(self) -> float:
        """The probability that was not looked at; 0.0 if the record is exact."""
        return sum((part.probability for part in self.open if not part.dead), 0.0)

    @property
    def lost(self) -> float:
        """The probability that ends where no token is legal: the model gets there by legal tokens, and is stuck."""
        return sum((part.probability for part in self.open if part.dead), 0.0)

    @property
    def canonical(self) -> Spelling | None:
        """The tokenizer's own; None where it would take something back, or if the passes did not reach its end."""
        return next((spelling for spelling in self.spellings if spelling.canonical), None)

    @property
    def longest(self) -> Spelling | None:
        """The one of the longest tokens."""
        return next((spelling for spelling in self.spellings if spelling.longest), None)

    def through(self, tokens: Sequence[int]) -> float:
        """The probability of all that begins with these tokens, as far as it was looked at."""
        begun = (part.probability for part in self.spellings + self.open if part.tokens[: len(tokens)] == tuple(tokens))
        return sum(begun, 0.0)


def spellings(model: Model, prompt: str, guide: Guide, text: str = "", limit: int = 64) -> Spellings:
    """The spellings of the run that is forced after the prompt and an output so far, the likeliest ones first.

    The canonical and the longest are looked at before all others; more than `limit` forward passes are not made.

    >>> from guidedviz.decoding.toy import ToyModel
    >>> from guidedviz.machines.regex import regex
    >>> from guidedviz.tokens.engines import guide
    >>> toy = ToyModel([b"a", b"b", b"ab", b"\\n"], lambda tokens: [0, 0, 0, 0])
    >>> found = spellings(toy, "\\n", guide(regex("ab\\n"), toy.vocabulary))
    >>> [(spelling.pieces, spelling.probability) for spelling in found.spellings]
    [((b'a', b'b', b'\\n'), 0.5), ((b'ab', b'\\n'), 0.5)]
    >>> found.rest, found.passes, found.canonical.pieces
    (0.0, 4, (b'ab', b'\\n'))
    """
    _check(model, guide, text, limit)
    before, written = start(model, prompt, guide).tokens, tuple(model.encode(text)) if text else ()
    state = reduce(guide.advance, written, guide.initial)
    lattice = build_forced_lattice(guide, state)
    if not lattice.run:
        hint = "an output so far as `text`, after which one way is left"
        raise SettingError("spellings", seen=f"a choice after {text!r}", expected="a forced run", hint=hint)
    back, canonical = _canonical(model, written, lattice.run)
    named = canonical, tuple(spell_longest(model.vocabulary, lattice.run))
    found = _search(model, guide, (*before, *written), state, len(lattice.run), named, limit)
    return Spellings(
        run=lattice.run,
        spellings=_make_all(found.done, model.vocabulary, lattice.run, named),
        open=_make_all(found.open, model.vocabulary, lattice.run, named)
        + _make_all(found.dead, model.vocabulary, lattice.run, named, dead=True),
        faint=(len(found.faint), sum(found.faint, 0.0)),
        count=lattice.count,
        count_beyond=lattice.count_beyond,
        back=back,
        passes=found.passes,
        prompt=prompt,
        text=text,
        model=model.name,
        device=model.device,
        date=date.today().isoformat(),
        vocabulary_size=len(model.vocabulary),
        source=model.source,
    )


def _check(model: Any, guide: Any, text: Any, limit: Any) -> None:
    """Refuse what cannot be asked; `start` looks at the prompt."""
    if not hasattr(model, "logits"):
        hint = 'gv.load_model("clerk")'
        raise SettingError("spellings, model", seen=type(model).__name__, expected="a model", hint=hint)
    check_guide(guide, model.vocabulary)
    if not isinstance(text, str):
        hint = 'the output so far, "" at its start'
        raise SettingError("spellings, text", seen=type(text).__name__, expected="a text", hint=hint)
    if not isinstance(limit, int) or limit < 1:
        expected = "a whole number of forward passes, at least one"
        raise SettingError("spellings, limit", seen=repr(limit), expected=expected, hint="limit=64")


def _make_all(
    leaves: Sequence[Leaf], vocabulary: Vocabulary, run: bytes, named: tuple[Tokens, Tokens], dead: bool = False
) -> tuple[Spelling, ...]:
    """The likeliest first."""
    made = []
    for tokens, odds in sorted(leaves, key=lambda leaf: (-leaf[1], leaf[0])):
        pieces = tuple(vocabulary.pieces[token] for token in tokens)
        beyond = b"".join(pieces)[len(run) :]
        made.append(Spelling(tokens, pieces, odds, beyond, tokens == named[0], tokens == named[1], dead))
    return tuple(made)


def _canonical(model: Model, written: Tokens, run: bytes) -> tuple[int, Tokens]:
    """How many tokens the tokenizer would take back if it cut the output and the run together; if none, its tokens."""
    spelled = spell_output(model.vocabulary, model.encode, written, run)
    if spelled is None:
        return 0, ()
    back = len(written) - shared_length(written, spelled)
    return back, () if back else tuple(spelled[len(written) :])


@dataclass
class _Found:
    """The leaves of the search so far."""

    done: list[Leaf] = field(default_factory=list)
    open: list[Leaf] = field(default_factory=list)
    dead: list[Leaf] = field(default_factory=list)
    faint: list[float] = field(default_factory=list)
    passes: int = 0


def _search(
    model: Model, guide: Guide, before: Tokens, state: Hashable, size: int, named: Sequence[Tokens], limit: int
) -> _Found:
    """Follow the likeliest beginning next, but first of all those of the spellings that have a name."""
    waiting: list[tuple[int, float, Tokens, Any]] = [(0, -1.0, (), state)]
    found, pieces = _Found(), guide.vocabulary.pieces
    while waiting and found.passes < limit:
        _, odds, tokens, state = heappop(waiting)
        mask = guide.mask(state)
        if not mask.any():
            found.dead.append((tokens, -odds))
            continue
        shares = masked_softmax(model.logits([*before, *tokens]), mask)
        found.passes += 1
        left = size - sum(len(pieces[token]) for token in tokens)
        for token in mask.nonzero()[0].tolist():
            longer, likely = (*tokens, token), -odds * float(shares[token])
            if len(pieces[token]) < left:
                heappush(waiting, (_turn(longer, named), -likely, longer, guide.advance(state, token)))
            elif likely < LEAST and longer not in named:
                found.faint.append(likely)
            else:
                found.done.append((longer, likely))
    found.open = [(tokens, -odds) for _, odds, tokens, _ in waiting]
    return found


def _turn(tokens: Tokens, named: Sequence[Tokens]) -> int:
    """Beginnings of the first name come first, then those of the second, then all others."""
    return next((turn for turn, name in enumerate(named) if name[: len(tokens)] == tokens), len(named))
