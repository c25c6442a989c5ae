"""Compare the masks of all engines with ours along one text, and name the reason of each difference.

The machine is the referee: it reads the bytes of each disputed token one by one, without trie, index or cache. The
reason is the first of a list that fits; every fault in the list was observed by running the engine.
"""

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from guidedviz.errors import GuidedVizError, SettingError, shorten
from guidedviz.extras import installed
from guidedviz.machines import source
from guidedviz.machines.graph import grouped
from guidedviz.machines.machine import Machine, read, to_bytes
from guidedviz.machines.regular.minimal import live_machine
from guidedviz.machines.visible import show_line
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.engines import PREPARE, VARIANTS, Asked, Matcher, prepared
from guidedviz.tokens.guide import token_path
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary, join_pieces, longest_tokens

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
        said = f"{self.engine}: {self.kind}, {self.name}"
        return f"{said} ({', '.join(counts)})"


@dataclass
class EnginePosition:
    """Where our machine and an engine are in a text."""

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
            compile_constraint = prepared(self.engine, self.vocabulary)
            matcher = compile_constraint(Asked(self.asked.machine)).copy()
            if all(map(matcher.take, self.taken)):
                return matcher.mask()
        except GuidedVizError:
            pass
        return None

    def is_legal(self, token: int) -> bool:
        """Whether a token is legal: its text or its name is read byte by byte, without trie or cache."""
        machine = self.asked.machine
        reads = self.vocabulary.read_by(machine)
        if reads.is_text(token) and read(machine, reads.pieces[token], self.state) is not None:
            return True
        return token in self.vocabulary.eos and bool(machine.is_accepting(self.state))


def find_differences(here: EnginePosition, ours: Mask) -> Iterator[Disagreement]:
    """The tokens on which the engine's mask differs from ours, grouped by reason."""
    try:
        theirs = here.matcher.mask()
    except GuidedVizError as error:
        missing = tuple(np.flatnonzero(ours).tolist())
        yield Disagreement(here.engine, "not known", f"gives no mask: {error.seen}", missing, ())
        return
    doubtful = np.flatnonzero(ours != theirs).tolist()
    here.allowed = int(theirs.sum())
    here.may_ask = len(doubtful) <= MOST_DISPUTED
    extra_of = {token: bool(theirs[token]) for token in doubtful}
    reasons = grouped((_reason(here, token, extra), token) for token, extra in extra_of.items())
    for (kind, name), tokens in reasons.items():
        missing = tuple(token for token in tokens if not extra_of[token])
        extra = tuple(token for token in tokens if extra_of[token])
        yield Disagreement(here.engine, kind, name, missing, extra)


def _reason(here: EnginePosition, token: int, extra: bool) -> tuple[str, str]:
    """The kind and the name of the first reason that fits."""
    if here.is_legal(token) == extra:
        return "ours", "the machine says so"
    for kind, name, fits in EXTRA_REASONS if extra else MISSING_REASONS:
        if fits(here, token):
            return kind, name
    return NO_REASON


def _accepts(here: EnginePosition, token: int) -> bool:
    """Whether the engine's accept function takes the token, regardless of its mask."""
    return here.may_ask and here.matcher.copy().take(token)


def _reads_otherwise(here: EnginePosition, token: int) -> bool:
    """Whether the engine agrees with us when it gets the machine instead of the regex."""
    exact = here.exact if here.asked.kind == "regex" else None
    return exact is not None and bool(exact[token]) == here.is_legal(token)


def _is_surrogate(here: EnginePosition, token: int) -> bool:
    """Whether the text with this token holds the start of an encoded surrogate, which UTF-8 forbids."""
    text = join_pieces(here.vocabulary, (*here.taken, token))
    return bool(re.search(rb"\xed[\xa0-\xbf]", text))


def _leaves_an_end(here: EnginePosition, token: int) -> bool:
    """Whether the text may end before the token's last byte and not after it."""
    if here.engine != "outlines-core":
        return False
    machine = here.asked.machine
    path = token_path(machine, here.vocabulary, here.state, token)
    ends = [machine.is_accepting(state) for state in path[-2:]]
    return ends == [True, False]


def _first_alternative(here: EnginePosition, token: int) -> bool:
    """Whether the engine's regex has an alternative or a lazy quantifier."""
    return here.engine == "outlines-core" and bool(re.search(r"\||[*+?}]\?", here.asked.regex))


def _read_special_text(here: EnginePosition, token: int) -> bool:
    """Whether the engine may have read a special id before this token as the text that it looks like."""
    return here.engine.endswith("special text") and not here.vocabulary.special.isdisjoint(here.taken)


def _is_special_text(here: EnginePosition, token: int) -> bool:
    """Whether the engine reads this special id, or may have read one before it, as the text that it looks like."""
    if _read_special_text(here, token):
        return True
    if token not in here.vocabulary.special:
        return False
    spelled = here.vocabulary.pieces[token]
    return read(here.asked.machine, spelled, here.state) is not None


def _is_named_eos(here: EnginePosition, token: int) -> bool:
    """Whether the token is an EOS id where the text may not end, so that the machine reads its name."""
    return token in here.vocabulary.eos and not here.asked.machine.is_accepting(here.state)


Reason = tuple[str, str, Callable[[EnginePosition, int], bool]]
OTHERWISE: Reason = ("lawful choice", "reads the regex in another way than Python", _reads_otherwise)
NO_REASON = ("not known", "against the machine")
EXTRA_REASONS: tuple[Reason, ...] = (
    ("known fault", "takes a special id without text where another may come",
     lambda here, token: not here.vocabulary.pieces[token]),
    ("known fault", "takes special ids for text", _is_special_text),
    ("known fault", "takes surrogates, which UTF-8 has not", _is_surrogate),
    ("lawful choice", "JSON written in more ways", lambda here, token: here.asked.kind == "schema"),
    OTHERWISE,
)  # fmt: skip
MISSING_REASONS: tuple[Reason, ...] = (
    ("forced only", "the canonical token of a forced run",  # one token in the mask
     lambda here, token: here.engine.endswith("forcing") and here.allowed == 1),
    ("known fault", "its mask omits what its accept takes", _accepts),
    ("known fault", "takes special ids for text", _read_special_text),
    ("known fault", "never allows an EOS id that the machine names", _is_named_eos),
    ("known fault", "knows one EOS id", lambda here, token: token in here.vocabulary.eos),
    ("known fault", "drops a token that leaves an end with its last byte", _leaves_an_end),
    ("lawful choice", "JSON written in fewer ways", lambda here, token: here.asked.kind == "schema"),
    ("known fault", "takes the first alternative that fits", _first_alternative),
    OTHERWISE,
)  # fmt: skip


ALL_ENGINES = (*PREPARE, *VARIANTS)
NAMED_TOKENS = 6  # tokens of a difference that are named
LEAST_JOINED = 3  # positions of which the same is said, to be one line
MOST_JOINED = 40  # characters of their tokens


@dataclass(frozen=True)
class ComparedStep:
    """One position of the text: our mask and the differences of the engines."""

    position: int
    token: int | None  # the next token; None after the last
    legal: int  # tokens that our mask allows
    differences: tuple[Disagreement, ...]
    refused_by: tuple[str, ...]  # engines that reject the next token; they are not compared any further
    stopped: bool = False  # whether the constraint forbids the next token


@dataclass(frozen=True)
class Comparison:
    """All steps of a comparison; `str()` formats them as text."""

    constraint: str
    vocabulary: Vocabulary
    engines: tuple[tuple[str, str], ...]  # a name and its version
    unable: tuple[tuple[str, str], ...]  # an engine, and why it rejects the constraint
    steps: tuple[ComparedStep, ...]

    def __str__(self) -> str:
        named = [f"{name} {version}" for name, version in self.engines]
        names = ", ".join(named) or "no engine"
        lines = [f"{on_one_line(self.constraint)}: {names}"]
        for name, why in self.unable:
            reason = on_one_line(why)
            lines.append(f"cannot take it: {name}: {reason}")
        for details, steps in groupby(self.steps, self._details):
            places = list(steps)
            if len(places) < LEAST_JOINED:
                for step in places:
                    lines += [self._head(step), *details]
            else:
                lines += [self._joined_head(places), *details]
        return "\n".join(lines)

    def _head(self, step: ComparedStep) -> str:
        agree = "" if step.differences else ", all agree"
        return f"{step.position:3} before {self.name_next(step)}: {step.legal:,} legal{agree}"

    def _joined_head(self, steps: Sequence[ComparedStep]) -> str:
        """One line for positions one after the other of which the same is said."""
        first, *_, last = steps
        tokens = shorten("".join(map(self.name_next, steps[:-1])), MOST_JOINED)
        counts = sorted(step.legal for step in steps)
        legal = f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,} to {counts[-1]:,}"
        agree = "" if first.differences else ", all agree"
        return f"{first.position:3} to {last.position}, {tokens} to {self.name_next(last)}: {legal} legal{agree}"

    def _details(self, step: ComparedStep) -> tuple[str, ...]:
        """What is said of a position below its first line."""
        shown = self.name_next(step)
        lines = [f"      {found}: {self.name_tokens(found)}" for found in step.differences]
        lines += [f"      {name} refuses {shown}" for name in step.refused_by]
        if step.stopped:
            lines.append(f"      the constraint does not allow {shown}")
        return tuple(lines)

    def name_next(self, step: ComparedStep) -> str:
        """The token that follows a step."""
        return "the end" if step.token is None else self.vocabulary.display(step.token)

    def name_tokens(self, found: Disagreement) -> str:
        """The first tokens of a difference."""
        tokens = (*found.missing, *found.extra)
        names = [shorten(self.vocabulary.display(token), 24) for token in tokens[:NAMED_TOKENS]]
        if len(tokens) > NAMED_TOKENS:
            names.append("…")
        return " ".join(names)


def on_one_line(text: str) -> str:
    """A text with signs for line ends, in which nothing is hidden."""
    return show_line(text.replace("\n", "↵"))


def compare_engines(
    constraint: Machine[Any] | str | Mapping[str, Any],
    vocabulary: Vocabulary,
    text: str | bytes | Sequence[int],
    engines: Iterable[str] = ALL_ENGINES,
) -> Comparison:
    """Compare our masks with those of every installed engine along a text or its token ids.

    >>> v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> found = gv.compare_engines("a|ab", v, "ab", ["outlines-core"])
    >>> for step in found.steps:
    ...     print(step.legal, *step.differences)
    2 outlines-core: known fault, takes the first alternative that fits (1 missing)
    1
    """
    check_vocabulary(vocabulary, "compare_engines")
    asked = ask(constraint, vocabulary)
    if isinstance(text, str | bytes):
        tokens = list(longest_tokens(vocabulary.read_by(asked.machine), to_bytes(text)))
    else:
        tokens = [vocabulary.as_id(token) for token in text]
    matchers, unable = load_matchers(engines, asked, vocabulary)
    versions = tuple((name, installed(name.partition(",")[0])) for name in matchers)
    steps = tuple(compare_steps(asked, vocabulary, tokens, matchers))
    return Comparison(str(asked), vocabulary, versions, tuple(unable.items()), steps)


def ask(constraint: Machine[Any] | str | Mapping[str, Any], vocabulary: Vocabulary | None = None) -> Asked:
    """Read a constraint: a machine, or a text that is a regex, a grammar in GBNF or Lark, or a schema.

    A grammar may name special tokens by the ids that they have in the vocabulary.

    >>> ask("a|ab").kind, ask({"type": "null"}).kind, ask('root ::= "a"').kind
    ('regex', 'schema', 'grammar')
    """
    if isinstance(constraint, Mapping):
        kind = "schema"
        constraint = json.dumps(constraint)
    elif isinstance(constraint, str):
        kind = source.guess_kind(constraint)
    else:
        return Asked(live_machine(constraint, "constraint"))
    machine = source.compile_text(kind, constraint, vocabulary)
    return Asked(live_machine(machine, "constraint"), kind, constraint)


def load_matchers(
    engines: Iterable[str], asked: Asked, vocabulary: Vocabulary
) -> tuple[dict[str, Matcher], dict[str, str]]:
    """The engines at the start of a text, and why others do not take the constraint."""
    matchers = dict[str, Matcher]()
    unable = dict[str, str]()
    for name in engines:
        if name not in ALL_ENGINES:
            raise SettingError("compare, engines", seen=repr(name), expected=", ".join(map(repr, ALL_ENGINES)))
        try:
            matchers[name] = prepared(name, vocabulary)(asked)
        except GuidedVizError as error:
            unable[name] = error.seen
    return matchers, unable


def compare_steps(
    asked: Asked, vocabulary: Vocabulary, tokens: Sequence[int], matchers: dict[str, Matcher]
) -> Iterator[ComparedStep]:
    """Compare the masks before each token and at the end; an engine that refuses a token is left out from there on."""
    ours = guide(asked.machine, vocabulary)
    state = asked.machine.initial
    for position, token in enumerate([*tokens, None]):
        mask = ours.mask(state)
        found: list[Disagreement] = []
        for name, matcher in matchers.items():
            here = EnginePosition(name, asked, vocabulary, tuple(tokens[:position]), state, matcher)
            found += find_differences(here, mask)
        step = ComparedStep(position, token, int(mask.sum()), tuple(found), ())
        if token is None or not mask[token]:
            yield replace(step, stopped=token is not None)
            return
        if token in vocabulary.eos:
            yield step
            return
        refused = tuple(name for name, matcher in matchers.items() if not matcher.take(token))
        yield replace(step, refused_by=refused)
        matchers = {name: matcher for name, matcher in matchers.items() if name not in refused}
        state = ours.advance(state, token)
