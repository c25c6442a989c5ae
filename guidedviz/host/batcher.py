"""Collect the requests of many students for common passes, in turn: no student's burst delays the others.

A pass takes at most one text per student, in turns. A text that is read in parts has its next turn in the next pass. A
pass begins at most `wait` seconds after the first text arrived. While a pass runs, the next one collects.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import ModelError
from guidedviz.host.reader import WantedText
from guidedviz.models.frames import Ask

WAIT = 0.002  # seconds
MOST = 32  # texts per pass


@dataclass(eq=False)
class Job:
    """A request, the one who waits for its answer, and how far it is."""

    ask: Ask
    answer: asyncio.Future[bytes]
    text: WantedText | None = None
    body: bytes = b""  # the answer, once it is there
    failed: int = 0


Turn = Callable[[list[Job]], Awaitable[None]]


class Turns:
    """The jobs that wait, per student; students take turns.

    >>> turns = Turns()
    >>> for student, job in [("Ada", 1), ("Ada", 2), ("Bob", 3), ("Eve", 4)]:
    ...     turns.add(student, job)
    >>> turns.take(2), turns.take(9)
    ([('Ada', 1), ('Bob', 3)], [('Eve', 4), ('Ada', 2)])
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
        """The jobs whose turn it is: at most so many, and at most one per student."""
        out: list[tuple[str, Any]] = []
        for _ in range(min(most, len(self._queues))):
            student, queue = self._queues.popitem(last=False)
            out.append((student, queue.popleft()))
            if queue:
                self._queues[student] = queue
        self.count -= len(out)
        return out


class Batcher:
    """Takes the jobs whose turn it is to `turn`, which answers them; as many turns at once as there are `lanes`."""

    def __init__(self, turn: Turn, lanes: int = 1, tries: int = 1) -> None:
        self.turns, self.wait = Turns(), WAIT
        self._turn, self._lanes, self._tries = turn, lanes, tries
        self._running: set[asyncio.Task[None]] = set()

    async def answer(self, student: str, ask: Ask) -> bytes:
        """The rows of logits that a request wants, as bytes."""
        loop = asyncio.get_running_loop()
        job = Job(ask, loop.create_future())
        self.turns.add(student, job)
        if len(self._running) < self._lanes:
            lane = loop.create_task(self._run())
            self._running.add(lane)
            lane.add_done_callback(self._running.discard)
        return await job.answer

    async def _run(self) -> None:
        """Take turns while jobs wait."""
        if self.turns.count < MOST:
            await asyncio.sleep(self.wait)
        while self.turns.count:
            taken = [(student, job) for student, job in self.turns.take(MOST) if not job.answer.done()]
            if not taken:
                continue
            try:
                await self._turn([job for _, job in taken])
            except Exception as error:  # one turn fails; the host goes on
                self._fail([job for _, job in taken], error)
            for student, job in reversed(taken):
                if job.body and not job.answer.done():
                    job.answer.set_result(job.body)
                elif not job.answer.done():  # a part of the text is left
                    self.turns.add(student, job, first=True)

    def _fail(self, jobs: list[Job], error: Exception) -> None:
        """Count a failure; who failed too often hears so."""
        seen = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
        for job in jobs:
            job.failed, job.text = job.failed + 1, None
            if job.failed >= self._tries and not job.answer.done():
                job.answer.set_exception(ModelError("the host's model", seen=seen, expected="a pass that succeeds"))
