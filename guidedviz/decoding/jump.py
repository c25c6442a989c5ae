"""What jump-forward saves, by a cost model and by tasks that are timed, and the spellings that it chooses among.

A forced token needs no forward pass of its own, but a later pass still has to read it. With a fraction f of the tokens
forced, the speed-up is at most 1 / (1 - f); the cost model adds the cost of reading.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import product
from math import inf, log
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter
from typing import Annotated, Any, Literal, Self

from guidedviz.decoding import records
from guidedviz.decoding.loop import record, start
from guidedviz.decoding.records import AtLeastOne, Between, Count, Milliseconds, Share, check_number
from guidedviz.decoding.sampling import masked_softmax
from guidedviz.decoding.trace import Trace, standing
from guidedviz.errors import SettingError, TraceError
from guidedviz.machines.regular.regex import regex
from guidedviz.models.model import LanguageModel, Model, Source
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.jump import WAYS, build_forced_lattice, encode_text, spell_output
from guidedviz.tokens.vocabulary import Vocabulary, spell_longest

FRACTIONS = tuple(at / 20 for at in range(20))  # the positions of the slider: 0, 0.05, ... 0.95
Place = Annotated[float, Between(0, FRACTIONS[-1])]
Parts = tuple[tuple[str, bool], ...]  # a text token by token, True where a token is fixed


def ideal(fraction: float) -> float:
    """The speed-up if forced tokens cost nothing.

    >>> ideal(0.75), ideal(1)
    (4.0, inf)
    """
    check_number(Share, fraction, "fraction")
    return 1 / (1 - fraction) if fraction < 1 else inf


def nearest_fraction(fraction: float) -> int:
    """The index in FRACTIONS of the nearest position.

    >>> nearest_fraction(0.7), nearest_fraction(0.0), nearest_fraction(0.949)
    (14, 0, 19)
    """
    check_number(Place, fraction, "fraction")
    return round(fraction * len(FRACTIONS))


def fixed_share(parts: Parts) -> float:
    """The share of the tokens that are fixed.

    >>> fixed_share((("{", True), ("x", False)))
    0.5
    """
    return sum(fixed for _, fixed in parts) / max(1, len(parts))


@dataclass(frozen=True)
class Cost:
    """The fixed cost of a forward pass and the cost per token that it reads; both grow with the number of rows.

    >>> cost = Cost(pass_ms=9.0, token_ms=1.0)
    >>> round(cost.speedup(0.75), 2), round(cost.speedup(0.75, rows=128), 2)
    (3.08, 1.05)
    """

    pass_ms: Milliseconds  # per pass, independent of the number of tokens
    token_ms: Milliseconds  # per token of each row
    row_ms: Milliseconds = 0.0  # per row and pass: the cached keys and values are read again
    put_ms: Milliseconds = 0.0  # per forced token, to find and append it, once for all rows

    def prices(self, rows: int = 1) -> tuple[float, float]:
        """The fixed milliseconds of a pass, and the milliseconds per token that it reads."""
        return self.pass_ms + self.row_ms * rows, self.put_ms + self.token_ms * rows

    def speedup(self, fraction: float, rows: int = 1) -> float:
        """The time without jump-forward divided by the time with it; both read the same tokens."""
        own, each = self.prices(rows)
        spent = own / ideal(fraction) + each
        return (own + each) / spent if spent else ideal(fraction)


def median_cost(costs: Iterable[Cost]) -> Cost:
    """The median of each constant.

    >>> median_cost([Cost(9.0, 1.0), Cost(8.0, 3.0), Cost(90.0, 2.0)])
    Cost(pass_ms=9.0, token_ms=2.0, row_ms=0.0, put_ms=0.0)
    """
    return Cost(*map(median, zip(*map(astuple, costs), strict=True)))


Difference = Literal["same tokens", "same text, other tokens", "other text"]


def find_difference(plain: Trace, jumped: Trace) -> Difference:
    """How greedy decodes of one prompt without and with jump-forward differ.

    Forced bytes may be tokenized differently than the model would choose, and the model reads tokens. The only other
    cause of a difference is rounding: a pass over several tokens adds numbers in a different order than passes over
    one token. If one output is truncated, only as many bytes as both have are compared.
    """
    if plain.tokens == jumped.tokens:
        return "same tokens"
    cut = any(trace.steps[-1].end in ("max_tokens", "context", "stop") for trace in (plain, jumped))
    size = min(len(plain.output), len(jumped.output)) if cut else None
    return "same text, other tokens" if plain.output[:size] == jumped.output[:size] else "other text"


# Times of live runs of jump-forward, and the record that stores them with the constants of the cost model.


Positive = Annotated[float, Between(1e-9)]


@dataclass(frozen=True)
class Timed:
    """One task decoded greedily with and without jump-forward, timed from the end of the prompt.

    If it was timed several times, the times are those of the run with the median speed-up.
    """

    asked: Place  # the fraction that the task was built for
    fraction: Share  # the measured fraction: forced tokens divided by all tokens
    rows: AtLeastOne  # copies of the text in every pass
    naive_ms: Positive  # milliseconds
    jump_ms: Positive
    naive_passes: AtLeastOne
    jump_passes: Count
    prefilled: Count  # forced tokens that passes read
    tokens: AtLeastOne  # of the run with jump-forward
    parts: Parts  # its text, token by token; True if forced
    difference: Difference  # compared with the run without jump-forward
    speedups: tuple[Positive, ...] = ()  # of all runs of this task; () if it was timed once

    @property
    def speedup(self) -> float:
        """The speed-up per token: without jump-forward the same text may take more tokens."""
        return (self.naive_ms / self.naive_passes) / (self.jump_ms / self.tokens)


def median_run(runs: Sequence[Timed]) -> Timed:
    """The run with the median speed-up, and the speed-ups of all runs of the task."""
    ranked = sorted(runs, key=lambda run: run.speedup)
    speedups = tuple(round(run.speedup, 4) for run in ranked) if len(runs) > 1 else ()
    return replace(ranked[(len(ranked) - 1) // 2], speedups=speedups)


@dataclass(frozen=True)
class Payoff:
    """Timed runs at positions of the slider, with their origin."""

    cost: Cost
    runs: tuple[Timed, ...]
    previews: tuple[Parts, ...]  # the task at each position
    model: str
    device: str
    date: str  # ISO day
    way: str  # how forced runs were tokenized
    source: Source = "LIVE"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save_record` wrote. The record is marked RECORDED unless it is a TOY."""
        return records.load_record(cls, path, hint="python -m bench jump --device cpu", check=check_payoff)


def check_payoff(payoff: Payoff) -> None:
    """Reject a record without a text per position."""
    if len(payoff.previews) != len(FRACTIONS):
        raise TraceError("previews", seen=str(len(payoff.previews)), expected=f"{len(FRACTIONS)}, one per position")


# Texts with a given fraction of forced tokens: from one long free title to an object of many short values.
#
# Every example is JSON about a book: a title of any length, constant values as in the response of an API, and values of
# one free digit. Each part of a text that is not fixed has a regex of what may stand there, so that the text has one.


PROMPT = "The Bridge and the Clock and the Desert is by Ada Lovelace.\nJSON:\n"
WORDS = """Bridge Castle Desert Forest Garden Harbor Island Journey Kingdom Lantern Mirror Night Ocean River Storm Tower
Violin Winter""".split()  # different initials prevent a small model from repeating one word
CONSTANTS = (
    '"author": "Ada Lovelace"', '"status": "ok"', '"city": "London"', '"member": true', '"date": "2026-11-22"',
)  # fmt: skip
KEYS = "pages stock score count points seats minutes order total amount length number".split()
Example = list[tuple[str, str]]  # a text in parts, each with the regex of what may stand there; "" for a fixed part


@dataclass(frozen=True)
class SliderTask:
    """The task that is decoded at a position of the slider."""

    fraction: float  # the requested fraction
    prompt: str
    text: Parts  # an example, token by token; True if fixed; free letters and digits are dots
    vocabulary: Vocabulary
    pattern: str = ""  # the regex of the example

    @cached_property
    def guide(self) -> Guide:
        """The guide, built when it is first used."""
        return guide(regex(self.pattern), self.vocabulary)


def build_tasks(model: Model, tokens: int = 64) -> tuple[SliderTask, ...]:
    """One task per position of the slider, each of about `tokens` tokens of the model's tokenizer.

    >>> first, *_, last = build_tasks(gv.load_model("clerk"))
    >>> "".join(text for text, _ in last.text)[:42], last.pattern[:10]
    ('{"author": "Ada Lovelace", "status": "ok",', '\\\\{"author"')
    """
    word = len(model.encode(" and the ".join(WORDS))) / len(WORDS)  # the tokens of a word and what joins it
    found = []
    for values in [None, *product(range(len(CONSTANTS) + 1), range(len(KEYS) + 1))]:
        room = tokens - len(cut_example(model, write_example(1, values)))
        words = round(room / word) + 1 if room > 0 or not values else 0
        example = write_example(words, values)
        text = cut_example(model, example)
        found.append(SliderTask(0.0, PROMPT, text, model.vocabulary, pattern_of(example)))

    def miss(task: SliderTask, place: float) -> float:
        return abs(fixed_share(task.text) - place) + abs(len(task.text) / tokens - 1) / 4

    return tuple(replace(min(found, key=lambda task: miss(task, place)), fraction=place) for place in FRACTIONS)


def write_example(words: int, values: tuple[int, int] | None) -> Example:
    """An object with a title of so many words, and so many constants and digits; without an object, the title alone.

    >>> "".join(text if not form else "·" for text, form in write_example(1, (1, 2)))
    '{"title": "The B·, "author": "Ada Lovelace", "pages": ·, "stock": ·}'
    """
    names = [WORDS[at % len(WORDS)] for at in range(words)]
    forms = (f"{name[0]}[a-z]{{2,8}}" for name in names)
    title = [('"The B', ""), (" and the ".join(names)[1:] + '"', "( and| of)( the)? ".join(forms)[1:] + '"')]
    if values is None:
        return title
    items: list[Example] = [[('"title": ', ""), *title]] if words else []
    items += [[(constant, "")] for constant in CONSTANTS[: values[0]]]
    items += [[(f'"{key}": ', ""), (str(at % 10), "[0-9]")] for at, key in enumerate(KEYS[: values[1]])]
    parts = [part for item in items for part in ((", ", ""), *item)]
    return [("{", ""), *parts[1:], ("}", "")]


def pattern_of(example: Example) -> str:
    """The regex of an example."""
    return "".join(form or re.escape(text) for text, form in example)


def cut_example(model: Model, example: Example) -> Parts:
    """The tokens of an example and EOS, True for a token without a free byte; free letters and digits are dots."""
    text = "".join(part for part, _ in example)
    shown = "".join(re.sub("[A-Za-z0-9]", "·", part) if form else part for part, form in example)
    fixed = [not form for part, form in example for _ in part]
    parts, at = [], 0
    for token in encode_text(model.vocabulary, model.encode, text):
        end = at + len(model.vocabulary.pieces[token])
        parts.append((shown[at:end], all(fixed[at:end])))
        at = end
    return (*parts, *((model.vocabulary.display(token), True) for token in sorted(model.vocabulary.eos)[:1]))


# Time greedy decoding with and without jump-forward, after the prompt has been read.


Run = tuple[float, Trace]  # milliseconds and the decode
MANY = 16  # rows
TRIES, WITHIN = 8, 0.2  # measurements of the constants at most, and how far the speed-ups of two may differ
PATIENCE = 3.0  # seconds; after that no measurement is begun
FREE = '"[a-z]{24}"'  # every token is chosen
FORCED = pattern_of(write_example(0, (3, 4)))  # one long forced run and several short ones, whose tokens cost more


def time_task(
    model: LanguageModel, task: SliderTask, rows: int, stop: Callable[[], bool] = lambda: False
) -> Timed | None:
    """Time one task without and with jump-forward; None as soon as `stop` returns True."""
    runs: list[Run] = []
    for way in ("", WAYS[0]):  # on a model that has read nothing: a text that it knows is forked at every token
        runs.append(time_once(model.side_by_side(rows), task, way, stop))
        if runs[-1][1].steps[-1].end == "stop":
            return None
    (naive_ms, naive), (jump_ms, jump) = runs
    tokens = len(jump.tokens)
    return Timed(
        asked=task.fraction, fraction=round(max(0.0, 1 - jump.passes / tokens), 4), rows=rows,
        naive_ms=round(naive_ms, 3), jump_ms=round(jump_ms, 3), naive_passes=naive.passes, jump_passes=jump.passes,
        prefilled=jump.prefilled, tokens=tokens, parts=mark_parts(jump),
        difference=find_difference(naive, jump),
    )  # fmt: skip


def time_once(model: LanguageModel, task: SliderTask, way: str, stop: Callable[[], bool] | None = None) -> Run:
    """Decode once and measure the milliseconds; the pass that reads the prompt is not timed."""
    model.logits(model.encode(task.prompt))
    guide = task.guide  # it is built when it is first used
    began = perf_counter()
    trace = record(model, task.prompt, guide, temperature=0.0, max_tokens=1000, jump_forward=way, stop=stop)
    return (perf_counter() - began) * 1e3, trace


def mark_parts(trace: Trace) -> Parts:
    """The text token by token; True if every byte was forced, also in retokenized tokens."""
    sure: list[bool] = []
    for at, step in enumerate(trace.steps):
        size = sum(len(s.piece) for s in standing(trace.steps[: at + 1]))
        sure += [step.how == "forced"] * (size - len(sure))
    parts, end = [], 0
    for step in standing(trace.steps):
        begin, end = end, end + len(step.piece)
        parts.append((step.piece.decode("utf-8", "replace"), all(sure[begin:end])))
    return tuple(parts)


@lru_cache(maxsize=1)
def _references(vocabulary: Vocabulary) -> tuple[SliderTask, SliderTask]:
    """Two tasks to measure the constants with: all tokens are chosen, and nearly all tokens are forced."""
    free, forced = (SliderTask(0.0, PROMPT, (), vocabulary, pattern) for pattern in (FREE, FORCED))
    return free, forced


def calibrate(model: LanguageModel) -> tuple[Cost, bool] | None:
    """The constants, measured until two measurements agree, and whether two do: on a busy machine it is the median.

    None where even the median predicts no less for many rows.
    """
    costs, end = list[Cost](), monotonic() + PATIENCE
    while len(costs) < TRIES and monotonic() < end:
        costs.append(measure_cost(model))
        for cost in costs[:-1]:
            if agree(cost, costs[-1]):
                return median_cost((cost, costs[-1])), True
    median = median_cost(costs)
    return (median, False) if agree(median, median) else None


def agree(one: Cost, other: Cost) -> bool:
    """Whether both predict about the same speed-ups for one row and for many, and less for many rows.

    >>> one = Cost(9.0, 1.0)
    >>> agree(one, Cost(8.5, 1.0)), agree(one, Cost(4.0, 1.0)), agree(Cost(9.0, 0.0), Cost(9.0, 0.0))
    (True, False, False)
    """
    found = [[cost.speedup(0.9, rows) for rows in (1, 8 * MANY)] for cost in (one, other)]
    close = all(max(pair) <= (1 + WITHIN) * min(pair) for pair in zip(*found, strict=True))
    return close and all(alone > many for alone, many in found)


def measure_cost(model: LanguageModel) -> Cost:
    """Measure the constants of the cost model once; on a busy machine one measurement may be far off.

    The cost of a pass is the constant time of a step: the constant part of the forward pass, the mask, the
    choice and its record. The cost of a token is its share of the forward pass and, as the tokens here are forced, the
    search for them and their records. Both are measured with one row and with many rows.
    """
    (pass_one, token_one), (pass_many, token_many) = (time_prices(model, rows) for rows in (1, MANY))
    row = max(0.0, (pass_many - pass_one) / (MANY - 1))
    token = min(token_one, max(0.0, (token_many - token_one) / (MANY - 1)))
    return Cost(max(0.0, pass_one - row), token, row, token_one - token)


def time_prices(model: LanguageModel, rows: int) -> tuple[float, float]:
    """The fixed milliseconds of a pass, and the milliseconds per token that it reads, with this many rows."""
    free, forced = _references(model.vocabulary)
    free_ms, chosen = time_once(model.side_by_side(rows), free, "")
    forced_ms, jumped = time_once(model.side_by_side(rows), forced, WAYS[0])
    passes, tokens, step_ms = jumped.passes, len(jumped.tokens), free_ms / len(chosen.tokens)
    token_ms = max(0.0, (forced_ms - passes * step_ms) / (tokens - passes))
    return max(0.0, step_ms - token_ms), token_ms


# The spellings (tokenizations) of a forced run, and the model's probability of each.
#
# The bytes are forced, but their tokenization is not: under the mask every spelling has some probability. Appending
# one without a forward pass removes this choice (dottxt, "Coalescence: making LLM inference 5x faster";
# llguidance, docs/fast_forward.md).


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
