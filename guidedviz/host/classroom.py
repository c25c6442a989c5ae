"""The class: where the students stand, the run that the teacher shows, and the requests about both.

A follower says which run it knows, and gets the whole run if it is another one: after each move of the teacher it has
another name. So a request that is repeated changes nothing, and a late follower gets everything.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Annotated, Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from guidedviz.decoding.records import AtMost, Count
from guidedviz.errors import SettingError, quoted
from guidedviz.files import PACKAGE
from guidedviz.host.batcher import Engine
from guidedviz.host.limits import MINUTE, TEACHER, Account, Guard, Refused
from guidedviz.host.standing import Sessions, Standing, read_body, read_report
from guidedviz.markup import node
from guidedviz.models.frames import JSON
from guidedviz.models.remote import MOST_RUN, mark_used


@dataclass(frozen=True)
class ShownRun:
    """The run that the teacher shows: how many steps it has, and all of it as the followers read it."""

    name: Annotated[str, AtMost(64)]  # as the teacher's stage calls it
    begins: bool
    steps: Count
    shown: Annotated[str, AtMost(MOST_RUN, least=1)]


# The run that the teacher shows.


FOLLOWS = 15.0  # seconds since the last request of a follower
MOST_FOLLOWERS = 5000  # followers


class Showing:
    """The run that is shown now; each has another name, and without one there is none."""

    def __init__(self) -> None:
        self.name = ""
        self.steps = 0
        self.known = ""
        self._answer = say({"known": "", "shown": ""})
        self._asked: OrderedDict[str, float] = OrderedDict()  # who follows, and when they asked last
        self._changed = asyncio.Event()

    def publish(self, run: ShownRun) -> None:
        """Show this run; a move of one that was shown before is refused."""
        if self.known and run.name != self.name and not run.begins:
            expected = "the run that is shown, or a new one"
            hint = "show it to the class again"
            raise SettingError("run", seen="another run is shown", expected=expected, hint=hint)
        self.name = run.name
        self.steps = run.steps
        self.known = token_hex(8)
        self._answer = say({"known": self.known, "shown": run.shown})
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def followers(self) -> int:
        """How many students follow: they asked a short time ago."""
        since = time.monotonic() - FOLLOWS
        return sum(at > since for at in self._asked.values())

    async def latest(self, student: str, known: str, seconds: float) -> Response:
        """The run, or nothing for who knows it; it waits for another one so many seconds.

        All followers get the bytes that are kept, not copies.
        """
        self._asked[student] = time.monotonic()
        mark_used(self._asked, student, MOST_FOLLOWERS)
        if known == self.known:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        if known != self.known:
            return self._answer
        return say({"known": known, "shown": ""})


# The requests about the class.


VERSION = 3  # of this part of the protocol
MOST_CHANGE = MOST_RUN + 4096  # bytes
LONGEST_WAIT = 10.0  # seconds that a follower waits for the next step, at most
HOST_PLACES = {  # the start message and the page / name them
    "/v1": "the API of OpenAI: the base_url of a client",
    "/runs": "the last runs, each as a stage",
    "/class": "the class, for the teacher",
}
CLASS_PAGE = {
    "/class": "text/html",
    "/class/class.js": "text/javascript",
    "/class/class.css": "text/css",
    "/runs": "text/html",
    "/class/runs.js": "text/javascript",
}
PAGE_FILES = {"/class": "class.html", "/runs": "runs.html"}
FILES = PACKAGE / "widgets" / "page" / "dist"  # built with the widgets
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Desk:
    """The class of one host."""

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine = engine
        self._guard = guard
        self._sessions = Sessions()
        self.standing = Standing()
        self.run = Showing()

    async def sum_up(self, request: Request) -> Response:
        """The class, for the teacher."""
        self._check_teacher(request)
        run = self.run
        said = sum_up_class(self._guard.accounts, self._engine.card, self._engine.waiting, self._guard.named)
        shown = {"steps": run.steps, "followers": run.followers} if run.known else None
        return say(said | self.standing.summary() | {"run": shown})

    async def report(self, request: Request) -> Response:
        """Where a student stands. A token of their own says who it is, else the secret that their client has made."""
        report = read_report(request.state.body)
        student = request.state.student
        if not self._guard.is_named(student):
            secret = request.headers.get("x-guidedviz-student", "")
            student = self._sessions.enter(request.state.peer, secret)
        self.standing.take(student, report)
        return say({})

    async def forget(self, request: Request) -> Response:
        """Forget where the students stand, and their answers."""
        self._check_teacher(request)
        self.standing.forget()
        return say({})

    async def show(self, request: Request) -> Response:
        """The run that the teacher shows."""
        self._check_teacher(request)
        self.run.publish(read_body(ShownRun, request.state.body, "run"))
        return say({"followers": self.run.followers})

    async def follow(self, request: Request) -> Response:
        """The run for a follower; who knows it waits for another one."""
        answer = await self.run.latest(request.state.student, *read_wish(request.query_params))
        if not request.state.account.run.use(len(answer.body), time.monotonic()):
            expected = f"at most {self._guard.limits.run_rate:,.0f} bytes per second"
            raise Refused(429, "student", "too many bytes of the run", expected, "ask again in a second")
        return answer

    def _check_teacher(self, request: Request) -> None:
        """Refuse anybody but the teacher; where no token is asked for, everybody on this machine is."""
        if self._guard.guarded and request.state.student != TEACHER:
            hint = "a line `teacher TOKEN` in the file of tokens, or GUIDEDVIZ_TEACHER_TOKEN where the host starts"
            raise Refused(403, "token", "a token of another person", f"the token named {TEACHER!r}", hint)


async def no_class(request: Request) -> Response:
    """The refusal of a cluster."""
    raise Refused(404, "class", "a cluster", "a host of one process", "python -m guidedviz host")


async def serve_page(request: Request) -> Response:
    """The teacher's page, the list of runs, or a script or style of theirs; they hold nothing by themselves."""
    path = request.scope["path"]
    file = FILES / PAGE_FILES.get(path, path.rpartition("/")[2])
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    return Response(file.read_bytes(), headers=headers, media_type=CLASS_PAGE[path])


async def serve_front(request: Request) -> Response:
    """The page / : what this host has, and where."""
    rows = []
    for path, words in HOST_PLACES.items():
        name = node("code", path) if path == "/v1" else node("a", path, href=path)  # the API has no page
        rows.append(node("li", name, f": {words}"))
    head = node("head", node("meta", charset="utf-8"), node("title", "guidedviz host"))
    body = node("body", node("main", node("h1", "A host of guidedviz"), node("ul", *rows)))
    page = f"<!doctype html>\n{node('html', head, body, lang='en')}\n"
    return Response(page, headers={"Content-Security-Policy": POLICY}, media_type="text/html")


def say(value: Any, status: int = 200) -> Response:
    """A value as JSON, in ASCII."""
    return Response(json.dumps(value), status, media_type=JSON)


def read_wish(query: Mapping[str, str]) -> tuple[str, float]:
    """The run that a follower knows, and the seconds that it waits.

    >>> read_wish({"known": "a", "wait": "5"}), read_wish({})
    (('a', 5.0), ('', 0.0))
    """
    seconds = query.get("wait", "0")
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) < 10):
        expected = "/v1/run?known=NAME&wait=SECONDS"
        hint = f"whole seconds from 0 to {LONGEST_WAIT:g}"
        raise SettingError("run", seen=quoted(seconds), expected=expected, hint=hint)
    return query.get("known", ""), min(LONGEST_WAIT, float(seconds))


def sum_up_class(
    accounts: Mapping[str, Account], card: Mapping[str, Any], waiting: int, named: bool, now: float | None = None
) -> dict[str, Any]:
    """What the page shows: the students who took a step in the last minute, and the class as a whole.

    With a token of the whole class students have numbers instead of names.
    """
    now = time.monotonic() if now is None else now
    students = []
    every: list[float] = []
    for name, account in accounts.items():
        recent = [(at, took) for at, took in account.steps if at > now - MINUTE]
        if not recent:
            continue
        times = [1e3 * took for _, took in recent]
        every += times
        known = name if named else f"student {account.number}"
        median = round(float(np.median(times)), 1)
        ago = round(now - recent[-1][0])
        students.append({"name": known, "steps": len(recent), "ms": median, "ago": ago})
    middle, most = np.percentile(every or [0.0], (50, 95))
    facts = [card["name"], card["device"], f"{len(students)} students"]
    facts.append(f"{len(every) / MINUTE:.1f} steps per second")
    facts.append(f"median {middle:.0f} ms, 95 of 100 within {most:.0f} ms")
    facts.append(f"{waiting} texts wait")
    students.sort(key=lambda student: str(student["name"]))
    return {"facts": " · ".join(facts), "students": students}
