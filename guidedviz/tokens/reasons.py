"""The reason of each difference between the mask of an engine and ours: the first of a list that fits.

The machine is the referee: it reads the bytes of each disputed token one by one, without trie, index or cache. Every
fault in the list was observed by running the engine.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from guidedviz.errors import GuidedVizError
from guidedviz.machines.graph import grouped
from guidedviz.machines.machine import read
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines import Asked, Matcher, ask, prepared
from guidedviz.tokens.explain import token_path
from guidedviz.tokens.spelling import join_pieces
from guidedviz.tokens.vocabulary import Vocabulary

MOST_DISPUTED = 1000  # the engine's accept is called only if at most this many tokens differ


@dataclass(frozen=True)
class Disagreement:
    """The tokens of one step on which an engine and the machine disagree for one reason."""

    engine: str
    kind: str  # "forced only", "known fault", "lawful choice", "ours" or "not known"
    name: str  # which fault or choice
    missing: tuple[int, ...]  # ids that the machine allows and the engine does not
    extra: tuple[int, ...]  # ids that the engine allows and the machine does not

    def __str__(self) -> str:
        counts = []
        if self.missing:
            counts.append(f"{len(self.missing):,} missing")
        if self.extra:
            counts.append(f"{len(self.extra):,} extra")
        return f"{self.engine}: {self.kind}, {self.name} ({', '.join(counts)})"


@dataclass
class EnginePosition:
    """A position of a text in our machine and in an engine."""

    engine: str
    asked: Asked
    vocabulary: Vocabulary
    taken: tuple[int, ...]  # the tokens so far
    state: Hashable  # the machine's state
    matcher: Matcher
    allowed: int = 0  # tokens in the engine's mask
    may_ask: bool = True  # whether tokens may be passed one by one to its accept function

    @cached_property
    def exact(self) -> Mask | None:
        """The engine's mask here if it gets the machine instead of the regex; None if it fails earlier."""
        try:
            matcher = prepared(self.engine, self.vocabulary)(ask(self.asked.machine)).copy()
            return matcher.mask() if all(map(matcher.take, self.taken)) else None
        except GuidedVizError:
            return None

    def is_legal(self, token: int) -> bool:
        """Whether a token is legal: its bytes are read one by one, without trie or cache."""
        if not self.vocabulary.is_text(token):
            return token in self.vocabulary.eos and bool(self.asked.machine.is_accepting(self.state))
        return read(self.asked.machine, self.vocabulary.pieces[token], self.state) is not None


def find_differences(place: EnginePosition, ours: Mask) -> Iterator[Disagreement]:
    """The differences of the engine's mask, grouped by reason."""
    try:
        theirs = place.matcher.mask()
    except GuidedVizError as error:
        missing = tuple(np.flatnonzero(ours).tolist())
        yield Disagreement(place.engine, "not known", f"gives no mask: {error.seen}", missing, ())
        return
    doubtful = np.flatnonzero(ours != theirs).tolist()
    place.allowed = int(theirs.sum())
    place.may_ask = len(doubtful) <= MOST_DISPUTED
    reasons = grouped((_reason(place, token, bool(theirs[token])), token) for token in doubtful)
    for (kind, name), tokens in reasons.items():
        missing = tuple(token for token in tokens if not theirs[token])
        extra = tuple(token for token in tokens if theirs[token])
        yield Disagreement(place.engine, kind, name, missing, extra)


def _reason(place: EnginePosition, token: int, extra: bool) -> tuple[str, str]:
    """The kind and the name of the first reason that fits."""
    if place.is_legal(token) == extra:
        return "ours", "the machine says so"
    for kind, name, fits in EXTRA_REASONS if extra else MISSING_REASONS:
        if fits(place, token):
            return kind, name
    return NO_REASON


def _accepts(place: EnginePosition, token: int) -> bool:
    """Whether the engine's accept function takes the token, regardless of its mask."""
    return place.may_ask and place.matcher.copy().take(token)


def _reads_otherwise(place: EnginePosition, token: int) -> bool:
    """Whether the engine agrees with us when it gets the machine instead of the regex."""
    exact = place.exact if place.asked.kind == "regex" else None
    return exact is not None and bool(exact[token]) == place.is_legal(token)


def _is_surrogate(place: EnginePosition, token: int) -> bool:
    """Whether the token ends in the beginning of an encoded surrogate, which UTF-8 forbids."""
    text = join_pieces(place.vocabulary, (*place.taken, token))
    return bool(re.search(rb"\xed[\xa0-\xbf]", text))


def _leaves_an_end(place: EnginePosition, token: int) -> bool:
    """Whether the text may end before the token's last byte and not after it."""
    if place.engine != "outlines-core":
        return False
    machine = place.asked.machine
    path = token_path(machine, place.vocabulary, place.state, token)
    return [machine.is_accepting(state) for state in path[-2:]] == [True, False]


def _first_alternative(place: EnginePosition, token: int) -> bool:
    """Whether the engine's regex has an alternative or a lazy quantifier."""
    return place.engine == "outlines-core" and bool(re.search(r"\||[*+?}]\?", place.asked.regex))


Reason = tuple[str, str, Callable[[EnginePosition, int], bool]]
OTHERWISE: Reason = ("lawful choice", "reads the regex in another way than Python", _reads_otherwise)
NO_REASON = ("not known", "against the machine")
EXTRA_REASONS: tuple[Reason, ...] = (
    ("known fault", "takes special ids for text", lambda place, token: token in place.vocabulary.special),
    ("known fault", "takes surrogates, which UTF-8 has not", _is_surrogate),
    ("lawful choice", "JSON written in more ways", lambda place, token: place.asked.kind == "schema"),
    OTHERWISE,
)
MISSING_REASONS: tuple[Reason, ...] = (
    ("forced only", "the canonical token of a forced run",  # one token in the mask
     lambda place, token: place.engine.endswith("forcing") and place.allowed == 1),
    ("known fault", "its mask omits what its accept takes", _accepts),
    ("known fault", "knows one EOS id", lambda place, token: token in place.vocabulary.eos),
    ("known fault", "drops a token that leaves an end with its last byte", _leaves_an_end),
    ("lawful choice", "JSON written in fewer ways", lambda place, token: place.asked.kind == "schema"),
    ("known fault", "takes the first alternative that fits", _first_alternative),
    OTHERWISE,
)  # fmt: skip
