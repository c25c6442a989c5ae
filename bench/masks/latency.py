"""The time to the first mask and the time of each mask: our engines and the real ones, in one run and one thread.

    compile      from the text of the constraint to a compiled constraint; ours has no masks yet
    first mask   from the text of the constraint to the first mask; ours has walked from one state
    mask         one mask along real texts, at the first read after the compile; at the second state ours builds
                 the masks of all states, which is its p99 ("lazy" walks again at every new state)
    again        the same texts once more
    memory       the size of the compiled constraint as reported (ours: the packed index; a guide unpacks up to 16 MB)
    legal        tokens allowed at the start, including EOS; if engines differ here, one of them is wrong

The vocabulary is prepared before the clock starts (trie, tokenizer info, LLTokenizer, Vocabulary). The engines' rounds
alternate, so a slow minute affects all. A time is the median of the rounds; x is its ratio to ours.
"""

from __future__ import annotations

import gc
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from bench.about import pin_thread, print_about
from bench.masks.cases import CASES, Case
from bench.masks.engines import Compiled, Engine, build_machine, find_engines
from bench.masks.tensors import TensorWalk
from guidedviz.errors import SettingError
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.arrays import unpack
from guidedviz.tokens.index import compute_index
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.vocabulary import Vocabulary

HEADS = ("compile", "first mask", "mask median", "p99", "max", "again median", "p99", "memory", "legal")
WIDE = 20


@dataclass
class Samples:
    """Measured seconds."""

    compile: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    mask: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    nbytes: int | None = None
    legal: int = 0
    said: str = ""  # the error of the engine, if any

    def figures(self) -> dict[str, Any]:
        """The numbers of one line; None for missing ones."""
        times = (self.compile, self.first, self.mask, self.again)
        middle = [median(seconds) if seconds else None for seconds in times]
        high = [_p99(seconds) for seconds in times[2:]]
        most = max(self.mask, default=None)
        row = (middle[0], middle[1], middle[2], high[0], most, middle[3], high[1], self.nbytes, self.legal)
        names = ("compile", "first", "mask", "mask_p99", "mask_max", "again", "again_p99", "nbytes", "legal")
        return dict(zip(names, row, strict=True)) | ({"said": self.said} if self.said else {})


def _p99(seconds: list[float]) -> float | None:
    if len(seconds) < 2:
        return None
    return quantiles(seconds, n=100, method="inclusive")[98]


def time_case(case: Case, engines: Sequence[Engine], vocabulary: Vocabulary, rounds: int) -> dict[str, Samples]:
    """Time all engines on one case, in alternating rounds."""
    texts = [list(longest_tokens(vocabulary, text.encode())) for text in case.texts]
    samples = {engine.name: Samples() for engine in engines}
    for turn in range(rounds + 1):
        gc.collect()
        first = turn % len(engines)  # rotate the first engine, because the processor is cold then
        for engine in (*engines[first:], *engines[:first]):
            sample = samples[engine.name] if turn else Samples()  # the first round is a warm-up and is not counted
            try:
                _time_once(engine, case, texts, sample)
            except Exception as error:  # a failure of an engine is a result and does not end the benchmark
                samples[engine.name].said = f"{type(error).__name__}: {error}".splitlines()[0][:100]
            if turn == 0:
                samples[engine.name].said = samples[engine.name].said or sample.said
    return samples


def _time_once(engine: Engine, case: Case, texts: list[list[int]], sample: Samples) -> None:
    engine.forget()
    gc.disable()
    try:
        began = perf_counter()
        compiled = engine.compile(case)
        ready = perf_counter()
        session = compiled.open()
        opened = perf_counter()
        session.mask()
        there = perf_counter()
        sample.compile.append(ready - began)
        sample.first.append(there - opened + ready - began)
        sample.mask.append(there - opened)
        for text in texts:
            sample.said = _time_masks(compiled, text, sample.mask) or sample.said
        for text in texts:
            _time_masks(compiled, text, sample.again)
    finally:
        gc.enable()
    sample.nbytes, sample.legal = compiled.nbytes(), engine.legal(compiled.open())


def _time_masks(compiled: Compiled, text: list[int], seconds: list[float]) -> str:
    """Time a mask before each token and one after the last; return a message if the engine rejects a token."""
    session = compiled.open()
    for token in [*text, None]:
        began = perf_counter()
        session.mask()
        seconds.append(perf_counter() - began)
        if token is not None and not session.advance(token):
            return f"refuses token {token} of a text that is right"
    return ""


def print_case(case: Case, samples: dict[str, Samples], where: str = "") -> None:
    """One table; the ratios are to its first line."""
    rows = {name: sample.figures() for name, sample in samples.items()}
    ours = next(iter(rows.values()))
    print(f"\n{where}{', ' * bool(where)}{case.name}: {case}")
    print(" " * 28 + "".join(f"{head:>{WIDE}}" for head in HEADS))
    for name, row in rows.items():
        said = row.pop("said", "")
        cells = "".join(f"{_cell(key, value, ours[key]):>{WIDE}}" for key, value in row.items())
        print(f"{name:28}{cells}{'  ' + said if said else ''}")


def _cell(key: str, value: float | None, ours: float | None) -> str:
    if value is None:
        return "-"
    if key == "legal":
        return f"{value:,}"
    if key == "nbytes":
        return f"{value / 1e6:.2f} MB"
    shown = f"{value * 1e3:.2f} ms" if key in ("compile", "first") else f"{value * 1e6:.2f} us"
    ratio = value / ours if ours else 1.0
    return shown + f"{ratio:{'8.2f' if ratio < 10 else '8,.0f'}}x"


def bench(options: Namespace) -> dict[str, Any]:
    """Time and print every case, and return the figures."""
    vocabulary = Vocabulary.llama3()
    about = print_about(vocabulary=repr(vocabulary), threads=pin_thread())
    engines, missing = find_engines(vocabulary)
    for line in missing:
        print(line)
    walk = find_walk(options.device, vocabulary)
    kept = {}
    for case in CASES:
        if options.only in case.name:
            samples = time_case(case, engines, vocabulary, options.rounds)
            print_case(case, samples)
            kept[case.name] = {name: sample.figures() for name, sample in samples.items()}
            if walk is not None:
                kept[case.name]["torch"] = time_walks(case, walk, vocabulary, options.rounds)
    return {"about": about, "missing": missing, "cases": kept}


def find_walk(device: str, vocabulary: Vocabulary) -> TensorWalk | None:
    """The walk on the requested device, if it is present."""
    try:
        return TensorWalk(vocabulary, device) if device else None
    except SettingError as error:
        print(error)
        return None


def time_walks(case: Case, walk: TensorWalk, vocabulary: Vocabulary, rounds: int) -> dict[str, Any]:
    """Time and compare the masks of all states computed by torch and by NumPy."""
    machine = build_machine(case)
    index = compute_index(machine, vocabulary)
    same = bool((walk.masks(machine).cpu().numpy() == unpack(index.bits, len(vocabulary))[index.row]).all())
    seconds = {
        "device": walk.time(lambda: walk.masks(machine), rounds),
        "numpy": _time_index(machine, vocabulary, rounds),
    }
    shown = f"torch on {walk.device} {seconds['device'] * 1e3:.2f} ms, NumPy {seconds['numpy'] * 1e3:.2f} ms"
    print(f"all masks of {len(machine)} states: {shown}, {'the same masks' if same else 'DIFFERENT MASKS'}")
    return seconds | {"name": walk.device, "same": same}


def _time_index(machine: DFA, vocabulary: Vocabulary, rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        began = perf_counter()
        unpack(compute_index(machine, vocabulary).bits, len(vocabulary))
        seconds.append(perf_counter() - began)
    return median(seconds)
