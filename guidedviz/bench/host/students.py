"""Students who step through runs at a steady pace, each with a model of their own; every row is compared.

The runs are decoded before by the local model. A student goes to the next step, in one case of eight five steps back,
and after a run to another one. A step is due one period after the step before, or at once if that one came late; its
time counts from the moment it was due.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from guidedviz.decoding.loop import record
from guidedviz.errors import GuidedVizError
from guidedviz.machines.pushdown.counted_regex import regex
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.models.model import Array, LanguageModel
from guidedviz.models.remote import Connection, RemoteModel, read_address
from guidedviz.tokens.machine_guide import guide

NAMES = ("Ada Lovelace", "Alan Turing", "Grace Hopper", "Noam Chomsky", "Emmy Noether", "Kurt Goedel")
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
SLACK = 5e-3  # of a logit: sums of 32-bit floats in another order, beside the rounding to 16 bits
PATIENCE = 60.0


@dataclass(frozen=True)
class Run:
    """A decode: all tokens, the length of the prompt, and the local model's logits of each step."""

    tokens: tuple[int, ...]
    prompt: int
    logits: Array


@dataclass(frozen=True)
class Asked:
    """A step of a student: when it was due, how long it took, and how it ended."""

    due: float
    took: float
    end: str = ""  # "lost", "wrong", or nothing


def build_runs(model: LanguageModel, count: int = 48) -> list[Run]:
    """Decodes as in the labs: a record, a date, and text without a constraint."""
    person, date = (guide(machine, model.vocabulary) for machine in (json_schema(PERSON), regex(r"\d{4}-\d{2}-\d{2}")))
    runs = []
    for seed in range(count):
        name = NAMES[seed % len(NAMES)]
        about = f"{name} is {20 + seed} years old and lives in London.\n"
        kind = (("JSON with name, age:\n", person), ("Date as YYYY-MM-DD:\n", date), ("Summary:\n", None))[seed % 3]
        trace = record(model, about + kind[0], kind[1], seed=seed, max_tokens=40, temperature=1.2)
        prompt, written = model.encode(about + kind[0]), [step.token for step in trace.steps]
        tokens = [*prompt, *written][:-1]  # nobody asks for what follows the last token
        runs.append(Run(tuple(tokens), len(prompt), model.all_logits(tokens, len(prompt) - 1)))
    return runs


def is_right(found: Array, known: Array) -> bool:
    """Whether a row is the local model's, up to the rounding to 16 bits."""
    bound = (known.max() - known) / 2048 + SLACK
    return bool((np.abs(found - known) <= bound).all())


class Students:
    """A class of students, a thread each."""

    def __init__(self, address: str, tokens: Sequence[str], runs: Sequence[Run], rate: float) -> None:
        self.period, self._runs, self._end = 1 / rate, runs, threading.Event()
        self.asked: list[Asked] = []
        self.models = [RemoteModel(Connection(read_address(address, token), patience=PATIENCE)) for token in tokens]
        self.began = time.perf_counter()
        self._threads = [threading.Thread(target=self._study, args=(n,), daemon=True) for n in range(len(tokens))]

    def warm_up(self) -> None:
        """Ask once each, so that every process of the host has answered."""
        for model in self.models:
            model.logits(self._runs[0].tokens[:1])

    def study(self, seconds: float, events: Sequence[tuple[float, Callable[[], None]]] = ()) -> None:
        """Step for so many seconds; each event happens at its time."""
        self.began = time.perf_counter()
        for thread in self._threads:
            thread.start()
        for at, event in events:
            time.sleep(max(0.0, self.began + at - time.perf_counter()))
            event()
        time.sleep(max(0.0, self.began + seconds - time.perf_counter()))
        self._end.set()
        for thread in self._threads:
            thread.join(2 * PATIENCE)

    @property
    def retries(self) -> int:
        """How often a request was repeated."""
        return sum(model.wire.retries for model in self.models)

    def _study(self, number: int) -> None:
        """The steps of one student."""
        dice, model = random.Random(number), self.models[number]
        due = self.began + dice.random() * self.period
        while True:
            run = dice.choice(self._runs)
            end = run.prompt
            while end <= len(run.tokens):
                time.sleep(max(0.0, due - time.perf_counter()))
                if self._end.is_set():
                    return
                said = self._ask(model, run, end)
                now = time.perf_counter()
                self.asked.append(Asked(due - self.began, now - due, said))
                due = max(due + self.period, now)
                end = max(run.prompt, end - 5) if dice.random() < 1 / 8 else end + 1

    @staticmethod
    def _ask(model: RemoteModel, run: Run, end: int) -> str:
        try:
            found = model.all_logits(run.tokens[:end], end - 1)[0]
        except GuidedVizError:
            return "lost"
        return "" if is_right(found, run.logits[end - run.prompt]) else "wrong"


def summarize(asked: Sequence[Asked], begin: float = 0.0, end: float = np.inf) -> dict[str, float]:
    """The steps that were due in a span of time: how many, how many lost or wrong, and the milliseconds.

    >>> summarize([Asked(0.1, 0.01), Asked(0.2, 0.03, "lost"), Asked(9, 1)], end=5)["p50, ms"]
    20.0
    """
    chosen = [one for one in asked if begin <= one.due < end]
    times = np.array([1e3 * one.took for one in chosen] or [np.nan])
    ends = [one.end for one in chosen]
    out = {"steps": len(chosen), "lost": ends.count("lost"), "wrong": ends.count("wrong")}
    levels = {"p50, ms": 50, "p95, ms": 95, "p99, ms": 99, "max, ms": 100}
    return out | {name: round(float(np.percentile(times, level)), 1) for name, level in levels.items()}
