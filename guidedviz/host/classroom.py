"""The class: where the students stand, the run that the teacher shows, and the requests about both.

A follower says which run it knows, and gets the whole run if it is another one: after each move of the teacher it has
another name. So a request that is repeated changes nothing, and a late follower gets everything.
"""

import asyncio
import hashlib
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from guidedviz.decoding.records import Count, read_value
from guidedviz.errors import SettingError, TraceError, escaped, quoted
from guidedviz.files import PACKAGE
from guidedviz.host.batcher import Engine
from guidedviz.host.limits import MINUTE, SECRET, TEACHER, Account, Few, Guard, Refused, name_session
from guidedviz.models.frames import JSON
from guidedviz.models.remote import MOST_RUN, forget
from guidedviz.models.reports import ANSWER, NICKNAME, PLACE_LENGTH, can_be_seen

# What a host reads: a student's report, and a run. The followers check what is in it.


def between(low: int, high: int) -> Callable[[Any, str], None]:
    """Checks that a value is a text of so many characters."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or not low <= len(value) <= high:
            expected = f"a text of {low} to {high} characters"
            hint = "write a text there, or shorten it"
            raise TraceError(where, seen=quoted(value), expected=expected, hint=hint)

    return check


Answer = str | int | float


@dataclass(frozen=True)
class Report:
    """What a student tells: where they stand and, for a question, its choices and the answer."""

    nickname: Annotated[str, between(1, NICKNAME)]
    lab: Annotated[str, between(0, 48)]
    place: Annotated[str, between(0, PLACE_LENGTH)]  # the name of a check, or a question
    state: Literal["open", "answered", "right", "wrong"]
    choices: tuple[Annotated[str, between(0, ANSWER)], ...] | None = None  # () for a number; None for a check
    answer: Annotated[Answer | None, lambda value, where: None] = None  # `read_answer` checks it


@dataclass(frozen=True)
class ShownRun:
    """The run that the teacher shows: how many steps it has, and all of it as the followers read it."""

    name: Annotated[str, between(0, 64)]  # as the teacher's stage calls it
    begins: bool
    steps: Count
    shown: Annotated[str, between(1, MOST_RUN)]


FORMS = "the same version of guidedviz in the kernel and on the host; guidedviz/host/README.md has the forms"


def read_body(kind: Any, body: bytes, where: str) -> Any:
    """What a body has of this kind; anything else is refused."""
    try:
        return read_value(kind, json.loads(body), where)
    except TraceError as error:
        place = error.where.replace(".", ", ", 1)
        raise SettingError(place, seen=error.seen, expected=error.expected, hint=error.hint or FORMS) from None
    except (ValueError, RecursionError):
        raise SettingError(where, seen=quoted(body), expected="a JSON object", hint=FORMS) from None


CHOICES = 12  # of a question, at most
DIGITS = 12  # of a number


def read_report(body: bytes) -> Report:
    """The report in a body, with its texts escaped and its number rounded; anything else is refused.

    >>> read_report(b'{"nickname": "Ada", "lab": "03_fsm", "place": "check advance", "state": "right"}').nickname
    'Ada'
    >>> read_report(b'{"nickname": ""}')
    Traceback (most recent call last):
    guidedviz.errors.SettingError: report, nickname: saw '', expected a text of 1 to 32 characters; try: ...
    """
    said: Report = read_body(Report, body, "report")
    if not said.nickname.strip() or not can_be_seen(said.nickname + said.lab):
        seen, expected = quoted(f"{said.nickname}, {said.lab}"), "characters that can be seen"
        raise SettingError("report, nickname or lab", seen=seen, expected=expected, hint='a nickname such as "Ada"')
    choices = None if said.choices is None else tuple(map(escaped, said.choices))
    if choices and (len(choices) > CHOICES or len(set(choices)) < len(choices)):
        expected = f"at most {CHOICES} different texts"
        hint = "an empty list for a question about a number"
        raise SettingError("report, choices", seen=quoted(choices), expected=expected, hint=hint)
    answer = read_answer(said.answer, choices or ())
    return replace(said, place=escaped(said.place), choices=choices, answer=answer)


def read_answer(said: Any, choices: Sequence[str]) -> Answer | None:
    """One of the choices or, without choices, a number; None if the question is not answered yet."""
    if said is None:
        return None
    if isinstance(said, str) and escaped(said) in choices:
        return escaped(said)
    if not choices and type(said) in (int, float) and abs(said) < 1e300:
        return float(f"{said:.{DIGITS}g}")
    expected = "one of the choices" if choices else "a number"
    raise SettingError("report, answer", seen=quoted(said), expected=expected, hint="null for a question that is open")


# The run that the teacher shows.


FOLLOWS = 15.0  # seconds since the last request of a follower
MOST_ASKED = 5000  # followers


class Showing:
    """The run that is shown now; each has another name, and without one there is none."""

    def __init__(self) -> None:
        self.name, self.steps, self.known, self._answer = "", 0, "", say({"known": "", "shown": ""})
        self._asked: OrderedDict[str, float] = OrderedDict()  # who follows, and when they asked last
        self._changed = asyncio.Event()

    def publish(self, run: ShownRun) -> None:
        """Show this run; a move of one that was shown before is refused."""
        if self.known and run.name != self.name and not run.begins:
            expected = "the run that is shown, or a new one"
            hint = "show it to the class again"
            raise SettingError("run", seen="another run is shown", expected=expected, hint=hint)
        self.name, self.steps, self.known = run.name, run.steps, token_hex(8)
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
        self._asked.move_to_end(student)
        forget(self._asked, MOST_ASKED)
        if known == self.known:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        return self._answer if known != self.known else say({"known": known, "shown": ""})


# Where the students stand who gave a nickname, and how a class answered a question.
#
# Answers are counted without names: a question keeps who has answered, and apart from that how often each answer came.
# A student without a token of their own is a session, which belongs to a secret that the student's client has made: a
# nickname is only a label, and an address no proof. Everything is bounded, and forgotten when nothing was heard of it
# for two hours.


STUDENTS, QUESTIONS, ANSWERS = 500, 40, 200  # at most so many are kept
NEW = 20  # sessions per address and minute
BARS = 12  # numbers that a histogram shows
KEPT_SECONDS = 2 * 3600.0  # seconds
NOW = 600.0  # seconds in which the students answered who say which question is open


class Student(NamedTuple):
    """Where a student stands, and since when."""

    report: Report
    at: float


@dataclass
class Question:
    """A question, who answered it and when, and apart from that how often each answer came."""

    lab: str
    text: str
    choices: tuple[str, ...]
    at: float
    students: dict[str, float] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)  # the sessions that have answered, or seen it
    counts: Counter[Answer] = field(default_factory=Counter)


class Sessions:
    """The sessions that have reported; an address gets few new ones per minute."""

    def __init__(self) -> None:
        self._new = Few(NEW)
        self._known: OrderedDict[str, None] = OrderedDict()

    def enter(self, address: str, secret: str) -> str:
        """The session of a secret."""
        if len(secret) < SECRET:
            seen = f"{len(secret)} characters"
            expected = f"a secret of at least {SECRET} that the client has made"
            hint = "a newer guidedviz in the kernel; in a client of your own secrets.token_urlsafe(24)"
            raise Refused(400, "header X-Guidedviz-Student", seen, expected, hint)
        session = name_session(secret)
        if session not in self._known:
            if self._new.full(address):
                hint = "again in a minute, or a host with a token per student"
                raise Refused(429, "session", f"{NEW} new ones from this address", "a pause of a minute", hint)
            self._new.add(address)
        self._known[session] = None
        self._known.move_to_end(session)
        forget(self._known, 2 * STUDENTS)
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
        """Keep what a student told."""
        now = self._now()
        self._drop_old(now)
        self.students[key] = Student(report, now)
        self.students.move_to_end(key)
        forget(self.students, STUDENTS)
        if report.choices is not None:
            self._count(key, report, report.choices)
        while len(self.questions) > QUESTIONS:  # one with few answers first: no student pushes out those of the class
            del self.questions[min(self.questions, key=self._worth)]

    def _count(self, key: str, report: Report, choices: tuple[str, ...]) -> None:
        """Count the first answer of a student to a question, or that they have seen it."""
        lab, text, answer, now = report.lab, report.place, report.answer, self._now()
        name = hashlib.sha256(json.dumps([lab, text, choices]).encode()).hexdigest()[:16]
        question = self.questions.setdefault(name, Question(lab, text, choices, now))
        if len(question.reached) < STUDENTS:
            question.reached.add(key)
        if answer is not None and key in question.reached and key not in question.students:
            question.students[key] = question.at = now
            known = answer in question.counts or len(question.counts) < ANSWERS
            question.counts[answer if known else "another answer"] += 1

    def summary(self) -> dict[str, Any]:
        """What the teacher's page shows: the students, the questions with their bars, and which question is open."""
        now = self._now()
        self._drop_old(now)
        students = [
            {"nickname": r.nickname, "lab": r.lab, "place": r.place, "state": r.state, "ago": round(now - at)}
            for r, at in sorted(self.students.values(), key=lambda one: (one.report.lab, one.report.nickname))
        ]
        questions = [
            {"id": name, "lab": q.lab, "text": q.text, "bars": bars(q.choices, q.counts)}
            | {"answers": len(q.students), "sessions": len(q.reached)}
            for name, q in sorted(self.questions.items(), key=lambda pair: -pair[1].at)
        ]
        return {"standing": students, "questions": questions, "open": self._open(now)}

    def _open(self, now: float) -> str:
        """The question that most students answered last; "" for none."""
        answers = ((at, key, name) for name, one in self.questions.items() for key, at in one.students.items())
        last = {key: name for at, key, name in sorted(answers) if at > now - NOW}
        said = Counter(last.values())
        return max(said, key=lambda name: (said[name], self.questions[name].at), default="")

    def _worth(self, name: str) -> tuple[int, float]:
        return len(self.questions[name].students), self.questions[name].at

    def _drop_old(self, now: float) -> None:
        since = now - KEPT_SECONDS
        self.students = OrderedDict((key, one) for key, one in self.students.items() if one.at >= since)
        self.questions = {name: one for name, one in self.questions.items() if one.at >= since}


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


# The requests about the class.


VERSION = 3  # of this part of the protocol
MOST_CHANGE = MOST_RUN + 4096  # bytes
WAIT = 10.0  # seconds that a follower waits for the next step, at most
CLASS_PAGE = {"/class": "text/html", "/class/class.js": "text/javascript", "/class/class.css": "text/css"}
FILES = PACKAGE / "widgets" / "page" / "dist"  # built with the widgets
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Desk:
    """The class of one host."""

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine, self._guard = engine, guard
        self.standing, self.run, self._sessions = Standing(), Showing(), Sessions()

    async def sum_up(self, request: Request) -> Response:
        """The class, for the teacher."""
        self._check_teacher(request)
        guard, engine, run = self._guard, self._engine, self.run
        said = sum_up_class(guard.accounts, engine.card, engine.waiting, guard.named)
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
    """The teacher's page, or its script or style; it holds nothing by itself."""
    path = request.scope["path"]
    file = FILES / ("class.html" if path == "/class" else path.rpartition("/")[2])
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    return Response(file.read_bytes(), headers=headers, media_type=CLASS_PAGE[path])


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
        hint = f"whole seconds from 0 to {WAIT:g}"
        raise SettingError("run", seen=quoted(seconds), expected=expected, hint=hint)
    return query.get("known", ""), min(WAIT, float(seconds))


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
