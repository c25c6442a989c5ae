"""The time to the first mask and the time of each mask: our engines and the real ones, in one run and one thread.

    compile      from the text of the constraint to a compiled constraint; ours has no masks yet
    first mask   from the text of the constraint to the first mask; ours has walked from one state
    mask         one mask along real texts, at the first read after the compile; at the second state of a finite
                 machine ours builds the masks of all states, which is its p99 ("trie" walks again at every new state)
    again        the same texts once more
    legal        tokens allowed at the start, including EOS; if engines differ here, one of them is wrong

The vocabulary is prepared before the clock starts (trie, tokenizer info, LLTokenizer, Vocabulary). The engines' rounds
alternate, so a slow minute affects all. A time is the median of the rounds; x is its ratio to ours. The real engines
are timed but not verified.
"""

from __future__ import annotations

import gc
import json
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from statistics import median
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import guidedviz as gv
from bench import pin_thread, print_about, share
from bench.cases import CASES, TURN, Case
from guidedviz.extras import need
from guidedviz.machines.regular.regex import regex
from guidedviz.models.gguf import SMOLLM2
from guidedviz.tokens.engines import PREPARE, Asked
from guidedviz.tokens.index import compute_index
from guidedviz.tokens.split import inlined
from guidedviz.tokens.vocabulary import longest_tokens

HEADS = ("compile", "first mask", "mask median", "p99", "max", "again median", "p99", "legal")
OURS = {"guidedviz": "auto", "guidedviz, trie": "trie"}
SOME = ("date", "email", "four fields, a schema", "JSON")  # over SmolLM2's tokens, too
WIDE = 22


class Engine(NamedTuple):
    """A name, and the compiler that is timed: it gives a matcher (`fill`, `take`, `copy`, `mask`)."""

    name: str
    compile: Callable[[Case], Any]
    forget: Callable[[], None] = lambda: None  # called before each compile, not timed


@dataclass
class Ours:
    """Our guide as a matcher: a text is read token by token."""

    guide: Any
    state: Any

    def fill(self) -> Any:
        """Compute the mask."""
        return self.guide.mask(self.state)

    mask = fill

    def take(self, token: int) -> bool:
        """Append a token; False if it is illegal."""
        try:
            self.state = self.guide.advance(self.state, token)
        except gv.IllegalToken:
            return False
        return True

    def copy(self) -> Ours:
        """One more text from here."""
        return Ours(self.guide, self.state)


class Outlines:
    """outlines-core with the call that its documentation names for serving: the mask is written into a buffer."""

    def __init__(self, matcher: Any) -> None:
        self.matcher, self.words = matcher, np.zeros((matcher.size + 31) // 32, np.int32)
        self.walker = need("outlines_core", "engines").Guide(matcher.index)
        self.fill = partial(self.walker.write_mask_into, self.words.ctypes.data, self.words.size, 4)
        self.mask = matcher.mask

    def take(self, token: int) -> bool:
        """Append a token; False if it is illegal."""
        try:
            self.walker.advance(token, return_tokens=False)
        except ValueError:
            return False
        return bool(self.matcher.take(token))

    def copy(self) -> Outlines:
        """One more text from the start."""
        return Outlines(self.matcher.copy())


def find_engines(vocabulary: gv.Vocabulary, names: Sequence[str] = (*OURS, *PREPARE)) -> tuple[list[Engine], list[str]]:
    """The engines of these names, and one line for each that is not available."""
    found, missing = [], []
    for name in names:
        try:
            if name in OURS:
                found.append(Engine(name, partial(compile_ours, OURS[name], vocabulary), forget))
            else:
                found.append(Engine(name, partial(compile_real, name, PREPARE[name](vocabulary), vocabulary)))
        except gv.SettingError as error:
            missing.append(str(error))
    return found, missing


def build_machine(case: Case) -> Any:
    """Our machine for a case."""
    if case.grammar:
        return gv.grammar(case.grammar)
    if case.schema is None:
        return gv.regex(case.regex)
    return gv.json_schema(case.schema, extra_keys="open" if case.is_open else "closed")


def compile_ours(engine: str, vocabulary: gv.Vocabulary, case: Case) -> Ours:
    """Build a guide from the text of a constraint, as users do."""
    guide = gv.guide(build_machine(case), vocabulary, engine)
    return Ours(guide, guide.initial)


def forget() -> None:
    """Empty our caches in memory."""
    regex.cache_clear()
    compute_index.cache_clear()
    inlined.cache_clear()


def compile_real(name: str, prepared: Callable[[Any], Any], vocabulary: gv.Vocabulary, case: Case) -> Any:
    """Compile with a real engine, which gets the text in its own syntax; an engine's parser reads a schema itself."""
    matcher = prepared(asked_of(case, vocabulary))
    return Outlines(matcher) if name == "outlines-core" else matcher


# what an engine asks of a machine whose text it gets
OVER_TEXT = SimpleNamespace(reads_names=False)


@cache
def asked_of(case: Case, vocabulary: gv.Vocabulary) -> Any:
    """What an engine reads; a grammar is converted once, before the clock starts."""
    if case.grammar:
        asked = Asked(gv.grammar(case.grammar), "grammar", case.grammar)
        shown = {"gbnf": asked.gbnf(vocabulary), "lark": case.lark or asked.lark(vocabulary)}
        return SimpleNamespace(
            kind="machine",
            machine=asked.machine,
            grammar=asked.grammar,
            gbnf=lambda _: shown["gbnf"],
            lark=lambda _: shown["lark"],
        )
    if case.schema is not None:
        return SimpleNamespace(kind="schema", text=json.dumps(case.schema), machine=OVER_TEXT)
    lark = "start: /" + case.regex.replace("/", r"\/") + "/"
    return SimpleNamespace(kind="regex", text=case.regex, regex=case.regex, lark=lambda _: lark, machine=OVER_TEXT)


def cut_text(vocabulary: gv.Vocabulary, text: str) -> list[int]:
    """The longest tokens of a text, in which `<|name|>` is a special token."""
    from guidedviz.machines.names import name_bytes  # here, because a checkout of `--before` may not have it

    data = re.sub(rb"<\|\w+\|>", lambda found: name_bytes(found[0]), text.encode())
    return list(longest_tokens(vocabulary.named, data))


@dataclass
class Samples:
    """Measured seconds."""

    compile: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    mask: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    legal: int = 0
    said: str = ""  # the error of the engine, if any

    def figures(self) -> dict[str, Any]:
        """The numbers of one line; None for missing ones."""
        middle = [median(seconds) if seconds else None for seconds in (self.compile, self.first, self.mask, self.again)]
        high = [share(seconds, 0.99) if seconds else None for seconds in (self.mask, self.again)]
        row = (*middle[:3], high[0], max(self.mask, default=None), middle[3], high[1], self.legal)
        names = ("compile", "first", "mask", "mask_p99", "mask_max", "again", "again_p99", "legal")
        return dict(zip(names, row, strict=True)) | ({"said": self.said} if self.said else {})


def time_case(case: Case, engines: Sequence[Engine], vocabulary: gv.Vocabulary, rounds: int) -> dict[str, Samples]:
    """Time all engines on one case, in alternating rounds; the first round is a warm-up."""
    texts = [cut_text(vocabulary, text) for text in case.texts]
    samples = {engine.name: Samples() for engine in engines}
    for turn in range(rounds + 1):
        gc.collect()
        first = turn % len(engines)  # rotate the first engine, because the processor is cold then
        for engine in (*engines[first:], *engines[:first]):
            sample = samples[engine.name] if turn else Samples()
            try:
                asked_of(case, vocabulary)
                time_once(engine, case, texts, sample)
            except Exception as error:  # a failure of an engine is a result and does not end the bench
                sample.said = f"{type(error).__name__}: {error}".splitlines()[0][:100]
            samples[engine.name].said = sample.said
    return samples


def time_once(engine: Engine, case: Case, texts: list[list[int]], sample: Samples) -> None:
    """One compile, and all texts twice."""
    engine.forget()
    gc.disable()
    try:
        began = perf_counter()
        compiled = engine.compile(case)
        ready = perf_counter()
        session = compiled.copy()
        opened = perf_counter()
        session.fill()
        there = perf_counter()
        sample.compile.append(ready - began)
        sample.first.append(there - opened + ready - began)
        sample.mask.append(there - opened)
        for seconds in (sample.mask, sample.again):
            for text in texts:
                sample.said = time_masks(compiled.copy(), text, seconds) or sample.said
    finally:
        gc.enable()
    sample.legal = int(compiled.mask().sum())


def time_masks(session: Any, text: list[int], seconds: list[float]) -> str:
    """Time a mask before each token and one after the last; return a message if the engine rejects a token."""
    for token in [*text, None]:
        began = perf_counter()
        session.fill()
        seconds.append(perf_counter() - began)
        if token is not None and not session.take(token):
            return f"refuses token {token} of a text that is right"
    return ""


def print_case(case: Case, samples: dict[str, Samples]) -> None:
    """One table; the ratios are to its first line."""
    rows = {name: sample.figures() for name, sample in samples.items()}
    ours = next(iter(rows.values()))
    print(f"\n{case.name}\n{'':20}" + "".join(f"{head:>{WIDE}}" for head in HEADS))
    for name, row in rows.items():
        said = row.pop("said", "")
        cells = "".join(f"{cell_of(key, value, ours[key]):>{WIDE}}" for key, value in row.items())
        print(f"{name:20}{cells}{'  ' + said if said else ''}")


def cell_of(key: str, value: float | None, ours: float | None) -> str:
    """A time and its ratio to ours."""
    if value is None or key == "legal":
        return "-" if value is None else f"{value:,}"
    shown = f"{value * 1e3:.2f} ms" if key in ("compile", "first") else f"{value * 1e6:.2f} us"
    ratio = value / ours if ours else 1.0
    return shown + f"{ratio:{'8.2f' if ratio < 10 else '8,.0f'}}x"


def bench(options: Namespace) -> dict[str, Any]:
    """Time and print every case, over Llama 3's tokens and a third as often over SmolLM2's; return the figures."""
    figures: dict[str, Any] = {"about": print_about(threads=pin_thread())}
    figures["missing"], figures["cases"] = time_cases(
        gv.Vocabulary.llama3(), (*CASES, TURN), options.rounds, options.only
    )
    try:
        vocabulary = gv.load_model(SMOLLM2).vocabulary
    except gv.GuidedVizError as error:  # it is not on this machine
        print(error)
        return figures
    some = [case for case in CASES if case.name in SOME]
    _, figures[SMOLLM2] = time_cases(vocabulary, some, max(1, options.rounds // 3), options.only)
    return figures


def time_cases(vocabulary: gv.Vocabulary, cases: Sequence[Case], rounds: int, only: str) -> tuple[list[str], Any]:
    """Time and print cases over a vocabulary: what is not installed, and the figures of each case and engine."""
    engines, missing = find_engines(vocabulary)
    print(f"\n{vocabulary}", *missing, sep="\n")
    kept = {}
    for case in cases:
        if only in case.name:
            samples = time_case(case, engines, vocabulary, rounds)
            print_case(case, samples)
            kept[case.name] = {name: sample.figures() for name, sample in samples.items()}
    return missing, kept
