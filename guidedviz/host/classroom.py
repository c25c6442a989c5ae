"""The class: the run that the teacher shows, where the students stand, and the requests about both.

A follower of the run says which version it has, and gets the records that changed since then. So a request that is
repeated changes nothing, a late follower gets everything, and a host that was restarted is noticed by the name of the
run.
"""

import asyncio
import hashlib
import json
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from guidedviz.errors import SettingError, escaped, quoted
from guidedviz.files import PACKAGE
from guidedviz.host.batcher import Engine
from guidedviz.host.limits import MINUTE, TEACHER, Account, Few, Guard, Refused
from guidedviz.models.frames import JSON
from guidedviz.models.remote import can_be_seen, forget

MOST = 8 << 20  # bytes of a run
MOST_RECORDS = 5000
MOST_NAME = 64
FOLLOWS = 15.0  # seconds since the last request of a follower
MOST_ASKED = 5000  # followers
KEPT_CHANGES = 4000  # changes that are remembered; who lacks more gets everything


class SharedRun:
    """The run that is shown now; without a name there is none."""

    def __init__(self) -> None:
        self.name = ""  # as the teacher's stage calls it
        self._asked: dict[str, float] = {}  # who follows, and when they asked last
        self._life, self._head, self._next = "", "null", "null"
        self._records: list[str] = []
        self._cursor, self._ended = 0, False
        self._version, self._head_version = 0, 0
        self._cuts: deque[int] = deque(maxlen=KEPT_CHANGES)  # the first record that each of the last changes changed
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._records)

    @property
    def life(self) -> str:
        """The name that followers know: another one after each start of the host."""
        return self._life

    def publish(self, body: bytes) -> int:
        """Take a change of the teacher's stage; gives the number of the version."""
        said = read_change(body)
        if said["head"] is None and said["run"] != self.name:
            hint = "the whole run with its head"
            seen = "another run is shown" if self.name else "no run is shown"
            raise SettingError("run", seen=seen, expected="a head", hint=hint)
        start, records = said["from"], [write(record) for record in said["add"]]
        if said["run"] != self.name:
            self._begin(said["run"])
        head = self._head if said["head"] is None else write(said["head"])
        kept = self._records[:start]
        if start > len(kept):
            raise SettingError("run, from", seen=str(start), expected=f"0 to {len(kept)}")
        size = len(head) + sum(map(len, kept)) + sum(map(len, records))
        if size > MOST or len(kept) + len(records) > MOST_RECORDS:
            seen = f"{len(kept) + len(records)} records with {size} bytes"
            raise SettingError("run", seen=seen, expected=f"at most {MOST_RECORDS} records and {MOST} bytes")
        self._version += 1
        if head != self._head:
            self._head, self._head_version = head, self._version
        self._records, self._next = [*kept, *records], write(said["next"])
        self._cursor, self._ended = said["cursor"], said["ended"]
        self._cuts.append(start)
        event, self._changed = self._changed, asyncio.Event()
        event.set()
        return self._version

    @property
    def followers(self) -> int:
        """How many students follow: they asked a short time ago."""
        since = time.monotonic() - FOLLOWS
        self._asked = {student: at for student, at in self._asked.items() if at > since}
        return len(self._asked)

    async def changes(self, student: str, life: str, version: int, seconds: float) -> list[str]:
        """What changed since a version, as pieces of JSON; it waits for a change so many seconds."""
        self._asked.pop(student, None)
        self._asked[student] = time.monotonic()
        if len(self._asked) > MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        if life == self._life and version >= self._version:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        return self._write(version if life == self._life and 0 <= version <= self._version else 0)

    def _begin(self, name: str) -> None:
        """Show another run."""
        self.name, self._life = name, f"{name}-{token_hex(8)}"
        self._records, self._head, self._version, self._head_version = [], "null", 0, 0
        self._cuts.clear()

    def _write(self, since: int) -> list[str]:
        """The pieces of an answer; the records among them are those that the run keeps, not copies."""
        start, lacks = 0, self._version - since
        if since and lacks <= len(self._cuts):
            start = min([*self._cuts][len(self._cuts) - lacks :], default=len(self._records))
        head = self._head if self._head_version > since else "null"
        before = f'{{"run":{write(self._life)},"version":{self._version},"head":{head},"from":{start},"add":['
        cursor, ended = self._cursor, write(self._ended)
        after = f'],"next":{self._next},"cursor":{cursor},"ended":{ended}}}'
        records = [piece for record in self._records[start:] for piece in (",", record)][1:]
        return [before, *records, after]


def write(value: Any) -> str:
    """A value as JSON without spaces, in ASCII."""
    return json.dumps(value, separators=(",", ":"))


def read_change(body: bytes) -> dict[str, Any]:
    """A change in a body, with all its parts; anything else is refused. The followers read heads and records.

    >>> read_change(b'{"run": "a", "head": {}, "from": 0, "add": []}')["cursor"]
    0
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise SettingError("run", seen=quoted(body), expected="a JSON object")
    found = {"head": None, "next": None, "cursor": 0, "ended": False, **said}
    kinds: dict[str, Any] = {"run": str, "from": int, "add": list, "cursor": int, "ended": bool}
    for name, kind in kinds.items():
        if type(found.get(name)) is not kind:
            raise SettingError(
                f"run, {name}", seen=quoted(found.get(name)), expected=f"a value of type {kind.__name__}"
            )
    for name, value in (("head", found["head"]), ("next", found["next"]), *(("add", one) for one in found["add"])):
        if not (isinstance(value, dict) or (value is None and name != "add")):
            raise SettingError(f"run, {name}", seen=quoted(value), expected="a JSON object")
    if not 0 < len(found["run"]) <= MOST_NAME or min(found["from"], found["cursor"]) < 0:
        raise SettingError(
            "run", seen=quoted(found["run"]), expected=f"a name of 1 to {MOST_NAME} characters, and counts"
        )
    return found


# Where the students stand who gave a nickname, and how a class answered a question.
#
# Answers are counted without names: a question keeps who has answered, and apart from that how often each answer came.
# A student without a token of their own is a session that the host has issued. Everything is bounded, and forgotten
# when nothing was heard of it for two hours.


STUDENTS, QUESTIONS, ANSWERS, CHOICES = 500, 40, 200, 12  # at most so many are kept
LENGTHS = {"nickname": 32, "lab": 48, "place": 300, "answer": 120, "session": 64}  # characters
NEW = 20  # sessions per address and minute
DIGITS = 12  # of a number
BARS = 12  # numbers that a histogram shows
KEPT_SECONDS = 2 * 3600.0  # seconds
NOW = 600.0  # seconds in which the students answered who say which question is open
STATES = ("open", "answered", "right", "wrong")
Answer = str | int | float


@dataclass(frozen=True)
class Report:
    """What a student tells: where they stand and, for a question, its choices and the answer."""

    nickname: str
    lab: str
    place: str  # the name of a check, or a question
    state: str
    choices: tuple[str, ...] | None = None  # () for a number; None for a check
    answer: Answer | None = None
    session: str = ""  # as the host has called it


@dataclass
class Student:
    """Where a student stands, since when, and the question that they answered last."""

    report: Report
    at: float
    answered: str = ""
    answered_at: float = 0.0


@dataclass
class Question:
    """A question, who answered it, and apart from that how often each answer came."""

    lab: str
    text: str
    choices: tuple[str, ...]
    at: float
    students: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)  # the sessions that have answered, or seen it
    counts: Counter[Answer] = field(default_factory=Counter)


class Sessions:
    """The sessions that the host has issued: each has one nickname, and an address gets few new ones per minute.

    >>> issued = Sessions()
    >>> ada = issued.find("10.0.0.1", "", "Ada")
    >>> issued.find("10.0.0.1", "made up", "Ada") == issued.find("10.0.0.2", ada, "Ada") == ada
    True
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._new = Few(NEW, now)
        self._issued: OrderedDict[str, None] = OrderedDict()
        self._kernels: OrderedDict[tuple[str, str], str] = OrderedDict()  # one that starts again has no session yet

    def find(self, address: str, session: str, nickname: str) -> str:
        """The session of a report: the one that it names, that of this nickname at this address, or a new one."""
        if session not in self._issued:
            session = self._kernels.get((address, nickname), "")
        if session not in self._issued:
            if self._new.full(address):
                raise Refused(429, "session", f"{NEW} new ones from this address", "a pause of a minute")
            self._new.add(address)
            session = token_hex(16)
        self._issued[session], self._kernels[address, nickname] = None, session
        for kept in (self._issued, self._kernels):
            forget(kept, STUDENTS)
        return session


class Standing:
    """Where a class stands."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self.forget()

    def forget(self) -> None:
        """Forget everything."""
        self.students: OrderedDict[str, Student] = OrderedDict()
        self.questions: dict[str, Question] = {}

    def take(self, key: str, report: Report) -> None:
        """Keep what a student told; of several answers to a question the first one counts."""
        now = self._now()
        self._drop_old(now)
        old = self.students.pop(key, None)
        student = self.students[key] = Student(report, now)
        if old:
            student.answered, student.answered_at = old.answered, old.answered_at
        if report.choices is not None:
            name = self._count(key, report, now)
            if report.answer is not None:
                student.answered, student.answered_at = name, now
        while len(self.students) > STUDENTS:
            self.students.popitem(last=False)
        while len(self.questions) > QUESTIONS:
            del self.questions[min(self.questions, key=self._worth)]

    def summary(self) -> dict[str, Any]:
        """What the teacher's page shows: the students, the questions with their bars, and which question is open."""
        now = self._now()
        self._drop_old(now)
        students = [
            {"nickname": r.nickname, "lab": r.lab, "place": r.place, "state": r.state, "ago": round(now - one.at)}
            for one in self.students.values()
            for r in (one.report,)
        ]
        newest = sorted(self.questions.items(), key=lambda pair: -pair[1].at)
        questions = [
            {"id": name, "lab": q.lab, "text": q.text, "bars": bars(q.choices, q.counts)}
            | {"answers": len(q.students), "sessions": len(q.reached)}
            for name, q in newest
        ]
        students.sort(key=lambda one: (str(one["lab"]), str(one["nickname"])))
        return {"standing": students, "questions": questions, "open": self._open(now)}

    def _count(self, key: str, report: Report, now: float) -> str:
        """Count an answer, or that a question was seen; gives the name of the question."""
        choices = report.choices or ()
        name = name_question(report.lab, report.place, choices)
        question = self.questions.setdefault(name, Question(report.lab, report.place, choices, now))
        if len(question.reached) < STUDENTS:
            question.reached.add(key)
        if report.answer is not None and key in question.reached - question.students:
            question.students.add(key)
            known = report.answer in question.counts or len(question.counts) < ANSWERS
            question.counts[report.answer if known else "another answer"] += 1
            question.at = now
        return name

    def _open(self, now: float) -> str:
        """The question that most students answered last; "" for none."""
        said = Counter(s.answered for s in self.students.values() if s.answered_at > now - NOW)
        known = [name for name in said if name in self.questions]
        return max(known, key=lambda name: (said[name], self.questions[name].at), default="")

    def _worth(self, name: str) -> tuple[int, float]:
        """A question with few answers is forgotten first, so that no student can push out those of the class."""
        return len(self.questions[name].students), self.questions[name].at

    def _drop_old(self, now: float) -> None:
        for key in [key for key, student in self.students.items() if student.at < now - KEPT_SECONDS]:
            del self.students[key]
        for name in [name for name, question in self.questions.items() if question.at < now - KEPT_SECONDS]:
            del self.questions[name]


def bars(choices: Sequence[str], counts: Counter[Answer]) -> list[tuple[str, int]]:
    """The bars of a histogram: all choices, or the numbers in their order; of many numbers the most frequent.

    >>> bars(("yes", "no"), Counter({"no": 3}))
    [('yes', 0), ('no', 3)]
    >>> bars((), Counter({10: 1, 2.5: 2}))
    [('2.5', 2), ('10', 1)]
    >>> bars((), Counter({1e299: 1}))
    [('1e+299', 1)]
    """
    if choices:
        return [(choice, counts[choice]) for choice in choices]
    common = [(value, count) for value, count in counts.most_common() if not isinstance(value, str)][:BARS]
    rest = counts.total() - sum(count for _, count in common)
    shown = [(f"{value:,.{DIGITS}g}", count) for value, count in sorted(common)]
    return [*shown, ("another number", rest)] if rest else shown


def name_question(lab: str, text: str, choices: Sequence[str]) -> str:
    """A short name of a question."""
    return hashlib.sha256(json.dumps([lab, text, choices]).encode()).hexdigest()[:16]


def read_report(body: bytes) -> Report:
    """The report in a body; anything else is refused.

    >>> read_report(b'{"nickname": "Ada", "lab": "03_fsm", "place": "check advance", "state": "right"}').nickname
    'Ada'
    >>> read_report(b'{"nickname": ""}')
    Traceback (most recent call last):
    guidedviz.errors.SettingError: report, lab: saw None, expected a text of at most 48 characters
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise SettingError("report", seen=quoted(body), expected="a JSON object")
    state, session = said.get("state"), _text("session", said.get("session", ""))
    nickname, lab, place = (_text(name, said.get(name)) for name in ("nickname", "lab", "place"))
    if not nickname.strip() or not can_be_seen(nickname + lab):
        expected = f"1 to {LENGTHS['nickname']} characters that can be seen"
        raise SettingError("report, nickname or lab", seen=quoted(f"{nickname}, {lab}"), expected=expected)
    if state not in STATES:
        raise SettingError("report, state", seen=quoted(state), expected=" or ".join(STATES))
    if said.get("choices") is None:
        return Report(nickname, lab, escaped(place), state, session=session)
    choices = _choices(said["choices"])
    answer = _answer(said.get("answer"), choices)
    return Report(nickname, lab, escaped(place), state, choices, answer, session)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LENGTHS[name]:
        expected = f"a text of at most {LENGTHS[name]} characters"
        raise SettingError(f"report, {name}", seen=quoted(value), expected=expected)
    return value


def _choices(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > CHOICES or len(set(map(str, value))) < len(value):
        expected = f"at most {CHOICES} different texts"
        raise SettingError("report, choices", seen=quoted(value), expected=expected)
    return tuple(escaped(_text("answer", one)) for one in value)


def _answer(value: Any, choices: tuple[str, ...]) -> Answer | None:
    """One of the choices, or a finite number, rounded; None if the question is not answered yet."""
    if value is None:
        return None
    if choices and isinstance(value, str) and escaped(value) in choices:
        return escaped(value)
    if not choices and type(value) in (int, float) and abs(value) < 1e300 and isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    expected = "one of the choices" if choices else "a number"
    raise SettingError("report, answer", seen=quoted(value), expected=expected)


# The requests about the class: a student's report, the teacher's page, and the run that is shown to everyone.


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
