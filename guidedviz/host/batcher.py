"""Read the texts of many students in common passes, in turn: no student's burst delays the others.

A pass takes at most one text per student before it takes a second one of anybody, and it reads a limited number of
tokens: a long prompt is read in parts, between which other students have their turns. A pass begins at most `wait`
seconds after the first text arrived. While a pass runs, the next one collects.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guidedviz.errors import ModelError
from guidedviz.host.metrics import Metrics
from guidedviz.host.prefixes import Prefix, Prefixes
from guidedviz.models.language_model import Network
from guidedviz.models.safetensors import Array
from guidedviz.tokens.arrays import Ids

WAIT = 0.002  # seconds
MOST = 32  # texts per pass
PASS_TOKENS = 256  # new tokens per pass


@dataclass(eq=False)
class Job:
    """A text whose logits are wanted from place `start` on."""

    tokens: Ids
    start: int
    answer: asyncio.Future[Array]
    prefix: Prefix | None = None
    rows: list[Array] = field(default_factory=list)

    def next_part(self, most: int) -> tuple[Ids, bool]:
        """The tokens that the next pass reads, and whether a row is wanted for each of them."""
        done = 0 if self.prefix is None else len(self.prefix.tokens)
        every = done >= self.start and self.start < len(self.tokens) - 1
        end = len(self.tokens) if every or self.start == len(self.tokens) - 1 else self.start
        return self.tokens[done : min(end, done + most)], every

    @property
    def done(self) -> bool:
        """Whether the whole text was read."""
        return self.prefix is not None and len(self.prefix.tokens) == len(self.tokens)


class Turns:
    """The jobs that wait, per student; students take turns.

    >>> turns = Turns()
    >>> for student, job in [("Ada", 1), ("Ada", 2), ("Ada", 3), ("Bob", 4)]:
    ...     turns.add(student, job)
    >>> turns.take(3)
    [('Ada', 1), ('Bob', 4), ('Ada', 2)]
    """

    def __init__(self) -> None:
        self._queues: OrderedDict[str, deque[Any]] = OrderedDict()
        self.count = 0

    def add(self, student: str, job: Any, first: bool = False) -> None:
        """Add a job at the end of the student's queue, or at its beginning."""
        queue = self._queues.setdefault(student, deque())
        (queue.appendleft if first else queue.append)(job)
        self.count += 1

    def take(self, most: int) -> list[tuple[str, Any]]:
        """The jobs whose turn it is, at most so many."""
        out: list[tuple[str, Any]] = []
        while self._queues and len(out) < most:
            student, queue = self._queues.popitem(last=False)
            out.append((student, queue.popleft()))
            if queue:
                self._queues[student] = queue
        self.count -= len(out)
        return out


class Batcher:
    """The one that runs the model; all other parts of the host run in the event loop."""

    def __init__(self, network: Network, prefixes: Prefixes, metrics: Metrics, wait: float = WAIT) -> None:
        self.network, self.prefixes, self.metrics, self.wait = network, prefixes, metrics, wait
        self.pass_tokens = PASS_TOKENS if "cuda" not in network.device else 32 * PASS_TOKENS
        self.turns = Turns()
        self._thread = ThreadPoolExecutor(1, "guidedviz-pass")
        self._running: asyncio.Task[None] | None = None

    async def logits(self, student: str, tokens: Sequence[int], start: int) -> Array:
        """The logits after each token from place `start` on, once a pass has read them."""
        loop = asyncio.get_running_loop()
        job = Job(np.array(tokens, np.int32), start, loop.create_future())
        self.turns.add(student, job)
        if self._running is None:
            self._running = loop.create_task(self._run())
        return await job.answer

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        """Run passes while jobs wait."""
        loop = asyncio.get_running_loop()
        try:
            if self.turns.count < MOST:
                await asyncio.sleep(self.wait)
            while self.turns.count:
                taken = [(student, job) for student, job in self.turns.take(MOST) if not job.answer.done()]
                if not taken:
                    continue
                try:
                    await loop.run_in_executor(self._thread, self.read, [job for _, job in taken])
                except Exception as error:  # one pass fails; the host goes on
                    self._fail([job for _, job in taken], error)
                for student, job in reversed(taken):
                    self._finish(student, job)
        finally:
            self._running = None

    def _finish(self, student: str, job: Job) -> None:
        """Give the rows to the one that waits; a text of which a part is left has its next turn."""
        if job.answer.done():
            return
        if job.done:
            job.answer.set_result(np.concatenate(job.rows))
        else:
            self.turns.add(student, job, first=True)

    def _fail(self, jobs: list[Job], error: Exception) -> None:
        seen = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
        for job in jobs:
            if not job.answer.done():
                job.answer.set_exception(ModelError("the host's model", seen=seen, expected="a pass that succeeds"))

    def read(self, jobs: list[Job]) -> None:
        """One turn of these jobs: a pass for those that want their last row, and one for those that want every row."""
        fresh = [job for job in jobs if job.prefix is None]
        twins = self._first_of_each(fresh)
        for job, prefix in zip(twins, self.prefixes.find([(j.tokens, j.start) for j in twins]), strict=True):
            job.prefix = prefix
        ready = [job for job in jobs if job.prefix is not None]
        parts = [(job, *job.next_part(max(1, self.pass_tokens // len(ready)))) for job in ready]
        for every in (False, True):
            self._pass([(job, part) for job, part, wanted in parts if wanted == every], every)
        for job in ready:
            if job.done and job.prefix:
                self.prefixes.keep(job.prefix)
        self._copy_to_twins(ready, [job for job in fresh if job.prefix is None])

    @staticmethod
    def _first_of_each(jobs: list[Job]) -> list[Job]:
        """The jobs without those that want the same as another."""
        return [*{(job.tokens.tobytes(), job.start): job for job in reversed(jobs)}.values()]

    @staticmethod
    def _copy_to_twins(read: list[Job], left: list[Job]) -> None:
        """A job that wants the same as one that was read gets its rows."""
        known = {(job.tokens.tobytes(), job.start): job for job in read if job.done}
        for job in left:
            if twin := known.get((job.tokens.tobytes(), job.start)):
                job.prefix, job.rows = twin.prefix, twin.rows

    def _pass(self, parts: list[tuple[Job, Ids]], every: bool) -> None:
        if not parts:
            return
        caches = [job.prefix.cache for job, _ in parts if job.prefix]
        rows = self.network.read(caches, [part.tolist() for _, part in parts], every)
        self.metrics.passed(len(parts), sum(len(part) for _, part in parts))
        for (job, part), found in zip(parts, rows, strict=True):
            if job.prefix:
                job.prefix.tokens = np.concatenate([job.prefix.tokens, part])
            if every or job.done:
                job.rows.append(found)
