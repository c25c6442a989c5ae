"""Compare the masks of all engines with ours along one text, and classify each difference.

The machine is the reference: it reads the bytes of each disputed token one by one, without trie, index or cache.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.extras import installed
from guidedviz.machines.grammars.grammar import show_line
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.tokens.arrays import Mask, pack, unpack
from guidedviz.tokens.compare.faults import Doubt, Position, find_reason
from guidedviz.tokens.engines.constraint import Asked, Matcher, ask
from guidedviz.tokens.engines.engine_guide import PREPARE, VARIANTS, prepared
from guidedviz.tokens.guide import guide
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary, longest_tokens

KINDS = ("forced only", "known fault", "lawful choice", "ours", "not known")
MOST_ASKED = 1000  # the engine's accept is called only if at most this many tokens differ
ALL = (*PREPARE, *VARIANTS)


@dataclass(frozen=True)
class Disagreement:
    """The tokens of one step on which an engine and the machine disagree for one reason."""

    engine: str
    kind: str  # one of KINDS
    name: str  # which fault or choice
    missing: tuple[int, ...]  # ids that the machine allows and the engine does not
    extra: tuple[int, ...]  # ids that the engine allows and the machine does not

    def __str__(self) -> str:
        counts = [f"{len(ids):,} {what}" for what, ids in (("missing", self.missing), ("extra", self.extra)) if ids]
        return f"{self.engine}: {self.kind}, {self.name} ({', '.join(counts)})"


@dataclass(frozen=True)
class ComparedStep:
    """One position of the text: our mask and the differences of the engines."""

    position: int
    token: int | None  # the next token; None after the last
    legal: int  # tokens that our mask allows
    differences: tuple[Disagreement, ...]
    refused_by: tuple[str, ...]  # engines that reject the next token; they are not compared any further
    bits: bytes = field(repr=False)  # our mask, packed

    @property
    def mask(self) -> Mask:
        """Our mask, one entry per token id; up to seven padding entries at the end are False."""
        return unpack(np.frombuffer(self.bits, np.uint8), 8 * len(self.bits))

    @property
    def agree(self) -> bool:
        """Whether the masks of all remaining engines equal ours."""
        return not self.differences


@dataclass(frozen=True)
class Comparison:
    """All steps of a comparison; `str()` formats them as text."""

    constraint: str
    vocabulary: Vocabulary
    engines: tuple[tuple[str, str], ...]  # a name and its version
    unable: tuple[tuple[str, str], ...]  # an engine, and why it rejects the constraint
    steps: tuple[ComparedStep, ...]

    @property
    def stopped(self) -> bool:
        """Whether the constraint forbids the token of the last step."""
        return any(step.token is not None and not step.mask[step.token] for step in self.steps[-1:])

    def kinds(self) -> dict[tuple[str, str, str], int]:
        """The number of steps per engine, kind and name of a difference."""
        seen = Counter((d.engine, d.kind, d.name) for step in self.steps for d in step.differences)
        return dict(sorted(seen.items()))

    def __str__(self) -> str:
        names = ", ".join(f"{name} {version}" for name, version in self.engines)
        lines = [f"{_shown(self.constraint)}: {names or 'no engine'}"]
        lines += [f"cannot take it: {name}: {_shown(why)}" for name, why in self.unable]
        return "\n".join([*lines, *(self._line(step) for step in self.steps)])

    def _line(self, step: ComparedStep) -> str:
        shown = "the end" if step.token is None else self.vocabulary.display(step.token)
        lines = [f"{step.position:3} before {shown}: {step.legal:,} legal" + ", all agree" * step.agree]
        lines += [f"      {found}: {self._samples(found)}" for found in step.differences]
        lines += [f"      {name} refuses {shown}" for name in step.refused_by]
        stopped = step is self.steps[-1] and self.stopped
        return "\n".join([*lines, *[f"      the constraint does not allow {shown}"] * stopped])

    def _samples(self, found: Disagreement) -> str:
        tokens = (*found.missing, *found.extra)
        return " ".join(map(self.vocabulary.display, tokens[:4])) + " ..." * (len(tokens) > 4)


def _shown(text: str) -> str:
    """The text on one line, with control characters escaped."""
    return show_line(text.replace("\n", "↵"))


def compare_engines(
    constraint: Machine | str | Mapping[str, Any],
    vocabulary: Vocabulary,
    text: str | bytes | Sequence[int],
    engines: Iterable[str] = ALL,
) -> Comparison:
    """Compare our masks with those of every installed engine along a text or its token ids.

    >>> v = Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> found = compare_engines("a|ab", v, "ab", ["outlines-core"])
    >>> for step in found.steps:
    ...     print(step.legal, *step.differences)
    2 outlines-core: known fault, takes the first alternative that fits (1 missing)
    1
    """
    check_vocabulary(vocabulary, "compare_engines")
    asked = ask(constraint)
    tokens = list(read_text(vocabulary, text))
    matchers, unable = open_engines(asked, vocabulary, engines)
    versions = tuple((name, installed(name.partition(",")[0])) for name in matchers)
    steps = tuple(_Walk(asked, vocabulary).steps(tokens, matchers))
    return Comparison(str(asked), vocabulary, versions, tuple(unable.items()), steps)


def read_text(vocabulary: Vocabulary, text: str | bytes | Sequence[int]) -> Iterable[int]:
    """The token ids of a text; ids are returned unchanged."""
    if isinstance(text, str | bytes):
        return longest_tokens(vocabulary, to_bytes(text))
    return [vocabulary.as_id(token) for token in text]


def open_engines(
    asked: Asked, vocabulary: Vocabulary, names: Iterable[str]
) -> tuple[dict[str, Matcher], dict[str, str]]:
    """A matcher for each engine that supports the constraint, and the error of each other engine."""
    found, unable = {}, {}
    for name in names:
        if name not in ALL:
            raise SettingError("compare, engines", seen=repr(name), expected=", ".join(map(repr, ALL)))
        try:
            found[name] = prepared(name, vocabulary)(asked)
        except GuidedVizError as error:
            unable[name] = error.seen
    return found, unable


class _Walk:
    """Our guide and machine at one position of the text."""

    def __init__(self, asked: Asked, vocabulary: Vocabulary) -> None:
        self.asked, self.machine, self.vocabulary = asked, asked.machine, vocabulary
        self.guide = guide(asked.machine, vocabulary)
        self.state: Hashable = self.machine.initial
        self.text, self.taken = b"", list[int]()
        self.written_out: dict[str, Matcher] = {}

    def steps(self, tokens: Sequence[int], matchers: dict[str, Matcher]) -> Iterator[ComparedStep]:
        for position, token in enumerate([*tokens, None]):
            mask = self.guide.mask(self.state)
            differences = tuple(d for name, matcher in matchers.items() for d in self.differ(name, matcher, mask))
            legal = token is not None and token not in self.vocabulary.eos and bool(mask[token])
            refused = [name for name, matcher in matchers.items() if legal and not matcher.take(tokens[position])]
            matchers = {name: matcher for name, matcher in matchers.items() if name not in refused}
            bits = pack(mask).tobytes()
            yield ComparedStep(position, token, int(mask.sum()), differences, tuple(refused), bits)
            if token is None or not legal:
                return
            self.state, self.text = self.guide.advance(self.state, token), self.text + self.vocabulary.pieces[token]
            self.taken.append(token)

    def differ(self, name: str, matcher: Matcher, ours: Mask) -> list[Disagreement]:
        """The differences of the engine's mask, grouped by reason."""
        try:
            theirs = matcher.mask()
        except GuidedVizError as error:
            missing = tuple(np.flatnonzero(ours).tolist())
            return [Disagreement(name, "not known", f"gives no mask: {error.seen}", missing, ())]
        doubtful = np.flatnonzero(ours != theirs).tolist()
        allowed, may_ask = int(theirs.sum()), len(doubtful) <= MOST_ASKED
        exact = partial(self.exact, name)
        place = Position(name, self.asked, self.vocabulary, self.text, self.state, matcher, allowed, may_ask, exact)
        groups: dict[tuple[str, str], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for token in doubtful:
            extra = bool(theirs[token])
            groups[find_reason(Doubt(place, token, extra))][extra].append(token)
        return [Disagreement(name, *why, tuple(lost), tuple(added)) for why, (lost, added) in groups.items()]

    def exact(self, name: str) -> Mask | None:
        """The engine's mask here if it gets the machine instead of the text; None if it fails earlier."""
        try:
            if name not in self.written_out:
                self.written_out[name] = prepared(name, self.vocabulary)(ask(self.machine))
            matcher = self.written_out[name].copy()
            return matcher.mask() if all(map(matcher.take, self.taken)) else None
        except GuidedVizError:
            return None
