"""The requests about the class: a student's report, the teacher's page, and the run that is shown to everyone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from guidedviz.errors import SettingError, quoted
from guidedviz.host.classroom.shared_run import SharedRun
from guidedviz.host.classroom.standing import Standing, read_report
from guidedviz.host.engine import Engine
from guidedviz.host.limits import TEACHER, Account, Guard
from guidedviz.host.replies import JSON, Handler, Reply, Request, refusal, say

VERSION = 1  # of this part of the protocol
MOST_REPORT = 1 << 13  # bytes
MOST_CHANGE = 1 << 16
WAIT = 10.0  # seconds that a follower waits for the next step, at most
MINUTE = 60.0


class Desk:
    """The class of one host."""

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine, self._guard = engine, guard
        self.standing, self.run = Standing(), SharedRun()
        self.handlers: dict[tuple[str, str], Handler] = {
            ("POST", "/v1/class"): self.report,
            ("POST", "/v1/class/forget"): self.forget,
            ("GET", "/v1/run"): self.follow,
            ("POST", "/v1/run"): self.show,
        }

    async def sum_up(self, student: str, request: Request) -> Reply:
        """The class, for the teacher."""
        if not self._is_teacher(student):
            return self._not_the_teacher()
        guard, engine, run = self._guard, self._engine, self.run
        said = sum_up_class(guard.accounts, engine.card, engine.waiting, guard.named)
        shown = {"steps": len(run), "followers": run.followers} if run.name else None
        return say(said | self.standing.summary() | {"run": shown})

    async def report(self, student: str, request: Request) -> Reply:
        """Where a student stands."""
        if len(request.body) > MOST_REPORT:
            return refusal(413, "report", f"{len(request.body)} bytes", f"at most {MOST_REPORT}")
        report = read_report(request.body)
        key = student if self._guard.named else f"{request.peer}/{report.nickname}"  # a kernel may be restarted
        self.standing.take(key, report)
        return say({})

    async def forget(self, student: str, request: Request) -> Reply:
        """Forget where the students stand, and their answers."""
        if not self._is_teacher(student):
            return self._not_the_teacher()
        self.standing.forget()
        return say({})

    async def show(self, student: str, request: Request) -> Reply:
        """A change of the run that the teacher shows."""
        if not self._is_teacher(student):
            return self._not_the_teacher()
        if len(request.body) > MOST_CHANGE:
            return refusal(413, "run", f"{len(request.body)} bytes", f"at most {MOST_CHANGE} per request")
        return say({"version": self.run.publish(request.body), "followers": self.run.followers})

    async def follow(self, student: str, request: Request) -> Reply:
        """What of the run a follower lacks; where that is nothing, it waits for the next step."""
        life, version, seconds = read_wish(request.path)
        with self._guard.resting(student) as may_wait:
            if not may_wait:
                await asyncio.sleep(0.1)
            return Reply(200, await self.run.changes(student, life, version, seconds if may_wait else 0.0), JSON)

    def _is_teacher(self, student: str) -> bool:
        """Whether this is the teacher; where no token is asked for, everybody on this machine is."""
        return student == TEACHER or not self._guard.guarded

    def _not_the_teacher(self) -> Reply:
        expected = f"the token named {TEACHER!r}"
        hint = "a line `teacher TOKEN` in the file of tokens, or GUIDEDVIZ_TEACHER_TOKEN where the host starts"
        return refusal(403, "token", "a token of another person", expected, hint)


def sum_up_class(
    accounts: Mapping[str, Account], card: Mapping[str, Any], waiting: int, named: bool, now: float | None = None
) -> dict[str, Any]:
    """What the page shows: the students who took a step in the last minute, and the class as a whole.

    With a token of the whole class students have numbers instead of names.
    """
    now = time.monotonic() if now is None else now
    students, every = [], list[float]()
    for name, account in accounts.items():
        recent = [(at, took) for at, took in account.steps if at > now - MINUTE]
        if not recent:
            continue
        times = [1e3 * took for _, took in recent]
        every += times
        known = name if named else f"student {account.number}"
        median, ago = round(float(np.median(times)), 1), round(now - recent[-1][0])
        students.append({"name": known, "steps": len(recent), "ms": median, "ago": ago})
    levels = [float(np.percentile(every, level)) for level in (50, 95)] if every else [0.0, 0.0]
    facts = (
        f"{card['name']} · {card['device']} · {len(students)} students · {len(every) / MINUTE:.1f} steps per second · "
        f"median {levels[0]:.0f} ms, 95 of 100 within {levels[1]:.0f} ms · {waiting} texts wait"
    )
    return {"facts": facts, "students": sorted(students, key=lambda student: str(student["name"]))}


def read_wish(path: str) -> tuple[str, int, float]:
    """The run and the version that a follower has, and the seconds that it waits.

    >>> read_wish("/v1/run?run=a&version=17&wait=5"), read_wish("/v1/run")
    (('a', 17, 5.0), ('', 0, 0.0))
    """
    try:
        asked = parse_qs(urlsplit(path).query, max_num_fields=8)
        numbers = [asked.get(name, ["0"])[0] for name in ("version", "wait")]
    except ValueError:
        numbers = [""]
    if not all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers):
        raise SettingError("run", seen=quoted(path), expected="/v1/run?run=NAME&version=NUMBER&wait=SECONDS")
    return asked.get("run", [""])[0], int(numbers[0]), min(WAIT, float(numbers[1]))
