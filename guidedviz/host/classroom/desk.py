"""The requests about the class: a student's report, the teacher's page, and the run that is shown to everyone."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from guidedviz.errors import SettingError, quoted
from guidedviz.files import PACKAGE
from guidedviz.host.classroom.shared_run import SharedRun
from guidedviz.host.classroom.standing import Sessions, Standing, read_report
from guidedviz.host.engine import Engine
from guidedviz.host.limits import MINUTE, TEACHER, Account, Guard, Refused
from guidedviz.models.frames import JSON

VERSION = 1  # of this part of the protocol
MOST_REPORT = 1 << 13  # bytes
MOST_CHANGE = 1 << 16
AT_ONCE = 1 << 16  # characters of an answer
WAIT = 10.0  # seconds that a follower waits for the next step, at most
CLASS_PAGE = {"/class": "text/html", "/class/class.js": "text/javascript", "/class/class.css": "text/css"}
FILES = PACKAGE / "widgets" / "page" / "dist"  # built with the widgets
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
Handler = Callable[[Request], Awaitable[Response]]


class Desk:
    """The class of one host."""

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine, self._guard = engine, guard
        self.standing, self.run, self._sessions = Standing(), SharedRun(), Sessions()

    def routes(self, whole: bool) -> list[Route]:
        """What is asked here; a replica of a cluster, which knows a part of the class, has none of it."""
        handlers: dict[tuple[str, str], Handler] = {
            ("GET", "/v1/class"): self.sum_up,
            ("POST", "/v1/class"): self.report,
            ("POST", "/v1/class/forget"): self.forget,
            ("GET", "/v1/run"): self.follow,
            ("POST", "/v1/run"): self.show,
        }
        return [
            Route(path, handler if whole or handler == self.sum_up else no_class, methods=[method])
            for (method, path), handler in handlers.items()
        ]

    async def sum_up(self, request: Request) -> Response:
        """The class, for the teacher."""
        self._check_teacher(request)
        guard, engine, run = self._guard, self._engine, self.run
        said = sum_up_class(guard.accounts, engine.card, engine.waiting, guard.named)
        shown = {"steps": len(run), "followers": run.followers} if run.name else None
        return say(said | self.standing.summary() | {"run": shown})

    async def report(self, request: Request) -> Response:
        """Where a student stands; without a token of their own, a session that the host issues says who it is."""
        report, state = read_report(short(request, "report", MOST_REPORT)), request.state
        if self._guard.named:
            self.standing.take(state.student, report)
            return say({})
        session = self._sessions.find(state.peer, report.session, report.nickname)
        self.standing.take(session, report)
        return say({"session": session})

    async def forget(self, request: Request) -> Response:
        """Forget where the students stand, and their answers."""
        self._check_teacher(request)
        self.standing.forget()
        return say({})

    async def show(self, request: Request) -> Response:
        """A change of the run that the teacher shows."""
        self._check_teacher(request)
        version = self.run.publish(short(request, "run", MOST_CHANGE))
        return say({"version": version, "followers": self.run.followers})

    async def follow(self, request: Request) -> Response:
        """What of the run a follower lacks; where that is nothing, it waits for the next step."""
        student = request.state.student
        life, version, seconds = read_wish(request.scope["query_string"].decode("latin-1"))
        with self._guard.resting(student) as may_wait:
            if not may_wait:
                await asyncio.sleep(0.1)
            lacks = await self.run.changes(student, life, version, seconds if may_wait else 0.0)
        answer = Pieces(lacks)
        self._guard.pay(student, answer.size)
        return answer

    def _check_teacher(self, request: Request) -> None:
        """Refuse anybody but the teacher; where no token is asked for, everybody on this machine is."""
        if self._guard.guarded and request.state.student != TEACHER:
            hint = "a line `teacher TOKEN` in the file of tokens, or GUIDEDVIZ_TEACHER_TOKEN where the host starts"
            raise Refused(403, "token", "a token of another person", f"the token named {TEACHER!r}", hint)


class Pieces(Response):
    """An answer that is sent in pieces, so that no copy of it waits for a slow reader."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces, self.size = pieces, sum(map(len, pieces))
        super().__init__(headers={"Content-Length": str(self.size)}, media_type=JSON)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        some, size = list[str](), 0
        for piece in self._pieces:
            some.append(piece)
            size += len(piece)
            if size >= AT_ONCE:
                await send({"type": "http.response.body", "body": "".join(some).encode(), "more_body": True})
                some, size = [], 0
        await send({"type": "http.response.body", "body": "".join(some).encode()})


async def no_class(request: Request) -> Response:
    """The refusal of a cluster."""
    raise Refused(404, "class", "a cluster", "a host of one process", "python -m guidedviz host, with --replicas N")


async def serve_page(request: Request) -> Response:
    """The teacher's page, or its script or style; it holds nothing by itself."""
    path = request.scope["path"]
    file = FILES / ("class.html" if path == "/class" else path.rpartition("/")[2])
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    return Response(file.read_bytes(), headers=headers, media_type=CLASS_PAGE[path])


def say(value: Any, status: int = 200) -> Response:
    """A value as JSON, in ASCII."""
    return Response(json.dumps(value), status, media_type=JSON)


def short(request: Request, name: str, most: int) -> bytes:
    """The body of a request, at most so many bytes."""
    body: bytes = request.state.body
    if len(body) > most:
        raise Refused(413, name, f"{len(body)} bytes", f"at most {most}")
    return body


def read_wish(query: str) -> tuple[str, int, float]:
    """The run and the version that a follower has, and the seconds that it waits.

    >>> read_wish("run=a&version=17&wait=5"), read_wish("")
    (('a', 17, 5.0), ('', 0, 0.0))
    """
    try:
        asked = parse_qs(query, max_num_fields=8)
        numbers = [asked.get(name, ["0"])[0] for name in ("version", "wait")]
    except ValueError:
        numbers = [""]
    if not all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers):
        raise SettingError("run", seen=quoted(query), expected="/v1/run?run=NAME&version=NUMBER&wait=SECONDS")
    return asked.get("run", [""])[0], int(numbers[0]), min(WAIT, float(numbers[1]))


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
