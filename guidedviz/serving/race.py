"""A race of an engine of one's own: compile, first masks and masks that were asked before, beside the real engines.

All engines get the same machine, the same vocabulary and the same text. To compile is all that is done before the first
mask, the reading of the vocabulary too, so each round begins with a new vocabulary. What turns a mask into an array is
not counted. An engine with a wrong mask gets no times. The functions in which the time goes are found in a run of its
own, because a profiler slows each call.
"""

import cProfile
import pstats
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from guidedviz.errors import GuidedVizError, SettingError, expect, quoted
from guidedviz.extras import installed
from guidedviz.files import PACKAGE
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.machines.pushdown.pda import json
from guidedviz.markup import Element, node, together
from guidedviz.models.load import load_model
from guidedviz.models.reports import RACE_PLACES, report
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.engines import PREPARE, Asked, prepared
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.index import compute_index
from guidedviz.tokens.own_engine import MakeEngine, OwnMatcher, Prepared, prepare_engine, start_engine
from guidedviz.tokens.vocabulary import Vocabulary, longest_tokens

RACE_TEXT = '{"name": "Ada", "tags": ["a", "b"], "at": {"x": -1.5, "on": true}}'
REAL_ENGINES = ("xgrammar", "llguidance")
MOST_PARTS = 6  # functions that are named
LAP_COLUMNS = ("engine", "compile", "first mask", "warm mask")
MICROSECONDS = 1e6
RACE_CELL = "text-align:left;padding:1px 18px 1px 0"
RACE_ROUNDS = 3
LONG_ROUND = 2.0  # seconds; after it there is no other round
SLOW_TEXT = (
    "xgrammar is slow here because it reads the library's text of JSON, whose rule `string` repeats one character; "
    "with its own text it is fast (the notebook What xgrammar keeps, section 3)"
)

AskMask = Callable[[], object]
Made = TypeVar("Made")


class Lap(NamedTuple):
    """The shortest times of one engine in seconds: to compile, per mask when first asked, and when asked again."""

    name: str
    compile: float
    first: float
    warm: float


class RacePart(NamedTuple):
    """The share of the time inside a function, without those that it calls."""

    name: str
    share: float
    calls: int


@dataclass(frozen=True)
class Race:
    """The laps, ours first, and where the time of the engine goes. `str()` formats them as text."""

    laps: tuple[Lap, ...]
    parts: tuple[RacePart, ...]
    notes: tuple[str, ...] = ()  # on engines that are not installed, or do not take the constraint, or are slow

    def __str__(self) -> str:
        lines = [" · ".join(row) for row in (LAP_COLUMNS, *self.rows())]
        lines += [f"{name}: {share}, {calls} calls" for name, share, calls in self.part_rows()]
        lines += self.notes
        return "\n".join(lines)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The cells of the table: a time, and how many times as long as ours it is."""
        ours = self.laps[0]
        for lap in self.laps:
            cells = [lap.name]
            for mine, base in zip(lap[1:], ours[1:], strict=True):
                said = spell_time(mine)
                if lap is not ours:
                    said += f" ({spell_ratio(mine / base)})"
                cells.append(said)
            yield tuple(cells)

    def part_rows(self) -> Iterator[tuple[str, str, str]]:
        """The functions, their share of the time, and how often they are called."""
        for part in self.parts:
            yield part.name, f"{part.share:.0%}", f"{part.calls:,}"

    def _repr_html_(self) -> str:
        parts = write_table(("where your time goes: the function itself", "share", "calls"), self.part_rows())
        notes = [node("p", said) for said in self.notes]
        return str(together([write_table(LAP_COLUMNS, self.rows()), parts, *notes]))


def write_table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Element:
    """A table with a head."""
    lines = [node("tr", *[node("th", name, style=RACE_CELL) for name in head])]
    lines += [node("tr", *[node("td", cell, style=RACE_CELL) for cell in row]) for row in rows]
    return node("table", *lines, style="margin:6px 0 12px")


def spell_ratio(ratio: float) -> str:
    """How many times as long.

    >>> spell_ratio(0.0312), spell_ratio(2.345), spell_ratio(3100.7)
    ('0.031x', '2.3x', '3,101x')
    """
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.2g}x"


def spell_time(seconds: float) -> str:
    """A time in words.

    >>> spell_time(0.0123), spell_time(0.00123), spell_time(4.5e-07)
    ('12.3 ms', '1.23 ms', '0.45 µs')
    """
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * MICROSECONDS:.3g} µs"


def race(
    make: MakeEngine,
    machine: Machine[Any] | None = None,
    text: str | bytes = RACE_TEXT,
    vocabulary: Vocabulary | None = None,
    engines: Sequence[str] = REAL_ENGINES,
) -> Race:
    """How fast a class of your own compiles and fills masks along a text, beside ours and the installed engines.

    By default the constraint is JSON, and the vocabulary is that of `clerk`. An engine with wrong masks is refused. The
    ratios of this race are told to the class of a student who gave a nickname.

    >>> class Table:
    ...     initial = 0
    ...     def __init__(self, moves, ends, pieces, eos): self.moves = moves
    ...     def mask(self, state): return {0} if state == 0 else {1}
    ...     def advance(self, state, token): return 1
    ...     def forced(self, state): return b""
    >>> found = gv.race(Table, gv.regex("a"), "a", gv.Vocabulary([b"a", b"</s>"], eos={1}), engines=())
    >>> [lap.name for lap in found.laps]
    ['guidedviz', 'Table']
    """
    if not callable(make):
        raise SettingError("race", seen=type(make).__name__, expected="the class of your engine")
    is_usual = machine is None and vocabulary is None and text == RACE_TEXT
    machine = json() if machine is None else machine
    if vocabulary is None:
        vocabulary = load_model("clerk").vocabulary
    expect(vocabulary, Vocabulary, "race, vocabulary", "a vocabulary")
    tokens = list(longest_tokens(vocabulary, to_bytes(text)))
    name = getattr(make, "__name__", "yours")
    given = prepare_engine(machine, vocabulary)
    refuse_wrong_masks(name, start_engine(make, given, vocabulary), guide(machine, vocabulary), tokens)
    laps = [time_guide(machine, vocabulary, tokens), time_own(name, make, given, vocabulary, tokens)]
    if is_usual:
        report_race(*laps)
    notes = []
    for engine in engines:
        if not installed(engine):
            notes.append(f"{engine} is not installed: pip install 'guidedviz[engines]'")
            continue
        try:
            laps.append(time_real(engine, machine, vocabulary, tokens))
        except GuidedVizError as error:
            notes.append(f"{engine} does not take it: {error.seen}")
        if is_usual and engine == "xgrammar":
            notes.append(SLOW_TEXT)
    return Race(tuple(laps), tuple(find_parts(make, given, vocabulary, tokens)), tuple(notes))


def report_race(ours: Lap, own: Lap) -> None:
    """Tell the class how many times as long as ours the times of an engine are."""
    for place, mine, base in zip(RACE_PLACES, own[1:], ours[1:], strict=True):
        report(place, "answered", answer=mine / base)


def refuse_wrong_masks(name: str, own: OwnMatcher, ours: Guide, tokens: Sequence[int]) -> None:
    """Raise an error at the first place of a text at which an engine has a wrong mask, or refuses the text."""
    vocabulary = own.vocabulary
    state = ours.initial
    text = b""
    for token in [*tokens, None]:
        wrong = np.flatnonzero(own.mask() != ours.mask(state))
        if wrong.size:
            verb = "forbids" if ours.mask(state)[wrong[0]] else "allows"
            raise wrong_engine(name, f"its mask {verb} {vocabulary.display(int(wrong[0]))} after {quoted(text)}")
        if token is not None:
            if not own.take(token):
                raise wrong_engine(name, f"it refuses {vocabulary.display(token)}")
            state = ours.advance(state, token)
            text += vocabulary.pieces[token]


def wrong_engine(name: str, seen: str) -> SettingError:
    """The error for an engine that cannot race."""
    return SettingError(f"race, {name}", seen=seen, expected="a right engine", hint=f"gv.checks.engine({name})")


def unread(vocabulary: Vocabulary) -> Vocabulary:
    """The same vocabulary, of which nothing is computed yet."""
    return Vocabulary(vocabulary.pieces, vocabulary.eos, vocabulary.special)


def time_guide(machine: Machine[Any], vocabulary: Vocabulary, tokens: Sequence[int]) -> Lap:
    """The lap of our engine."""

    def start(fresh: Vocabulary) -> Guide:
        compute_index.cache_clear()  # it would know an equal vocabulary
        _ = fresh.trie
        return guide(machine, fresh)

    def list_asks(ours: Guide) -> list[AskMask]:
        states = [ours.initial]
        for token in tokens:
            states.append(ours.advance(states[-1], token))
        return [partial(ours.mask, state) for state in states]

    return time_rounds("guidedviz", vocabulary, start, list_asks)


def time_own(name: str, make: MakeEngine, given: Prepared, vocabulary: Vocabulary, tokens: Sequence[int]) -> Lap:
    """The lap of an engine of one's own."""

    def list_asks(matcher: OwnMatcher) -> list[AskMask]:
        asks: list[AskMask] = [partial(matcher.engine.mask, matcher.state)]
        for token in tokens:
            matcher.take(token)
            asks.append(partial(matcher.engine.mask, matcher.state))
        return asks

    return time_rounds(name, vocabulary, lambda fresh: start_engine(make, given, fresh), list_asks)


def time_real(name: str, machine: Machine[Any], vocabulary: Vocabulary, tokens: Sequence[int]) -> Lap:
    """The lap of a real engine."""
    prepared(name, vocabulary)  # its package is loaded before

    def list_asks(matcher: Any) -> list[AskMask]:
        places = [matcher]
        for token in tokens:
            after = places[-1].copy()
            after.take(token)
            places.append(after)
        return [place.fill for place in places]

    return time_rounds(name, vocabulary, lambda fresh: PREPARE[name](fresh)(Asked(machine)), list_asks)


def time_rounds(
    name: str,
    vocabulary: Vocabulary,
    start: Callable[[Vocabulary], Made],
    list_asks: Callable[[Made], Sequence[AskMask]],
) -> Lap:
    """The shortest time of each kind in several rounds, each with an engine made anew; a stall counts in one only."""
    rounds = []
    for _ in range(RACE_ROUNDS):
        fresh = unread(vocabulary)
        began = perf_counter()
        made = start(fresh)
        compiled = perf_counter() - began
        asks = list_asks(made)
        rounds.append((compiled, fmean(map(time_call, asks)), fmean(map(time_call, asks))))
        if perf_counter() - began > LONG_ROUND:
            break
    return Lap(name, *map(min, zip(*rounds, strict=True)))


def time_call(ask: AskMask) -> float:
    """The seconds of a call."""
    began = perf_counter()
    ask()
    return perf_counter() - began


def find_parts(make: MakeEngine, given: Prepared, vocabulary: Vocabulary, tokens: Sequence[int]) -> Iterator[RacePart]:
    """The functions in which an engine spends its time, the largest share first."""
    profile = cProfile.Profile()
    profile.enable()
    matcher = start_engine(make, given, vocabulary)
    matcher.engine.mask(matcher.state)
    for token in tokens:
        matcher.take(token)
        matcher.engine.mask(matcher.state)
    profile.disable()
    found: Any = pstats.Stats(profile)
    rows = []
    for (file, _, name), (_, calls, own, _, _) in found.stats.items():
        if not file.startswith(str(PACKAGE)):
            rows.append((own, calls, name))
    whole = sum(own for own, _, _ in rows) or 1.0
    for own, calls, name in sorted(rows, reverse=True)[:MOST_PARTS]:
        yield RacePart(name, own / whole, calls)
