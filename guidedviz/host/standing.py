"""Where the students stand who gave a nickname, how far their engines are, and how a class answered a question.

Answers are counted without names: a question keeps who has answered, and apart from that how often each answer came.
A milestone of the project (labs/project.ipynb) is the check of its part, a ratio of `gv.race` a place with a number.
Both are what a student's kernel says, and any cell can forge them.

A student without a token of their own is a session, which belongs to a secret that the student's client has made: a
nickname is only a label, and an address no proof. Everything is bounded, and forgotten when nothing was heard of it
for two hours.
"""

import hashlib
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple

from guidedviz.decoding.records import AtMost, read_value
from guidedviz.errors import SettingError, TraceError, escaped, quoted
from guidedviz.host.limits import SECRET, PerMinute, Refused, name_session
from guidedviz.models.remote import mark_used
from guidedviz.models.reports import ANSWER, NICKNAME, PLACE_LENGTH, RACE_PLACES, can_be_seen

# What a host reads: a student's report, and a run. The followers check what is in it.

GivenAnswer = str | int | float


@dataclass(frozen=True)
class Report:
    """What a student tells: where they stand and, for a question, its choices and the answer."""

    nickname: Annotated[str, AtMost(NICKNAME, least=1)]
    lab: Annotated[str, AtMost(48)]
    place: Annotated[str, AtMost(PLACE_LENGTH)]  # the name of a check, or a question
    state: Literal["open", "answered", "right", "wrong"]
    choices: tuple[Annotated[str, AtMost(ANSWER)], ...] | None = None  # () for a number; None for a check
    answer: Annotated[GivenAnswer | None, lambda value, where: None] = None  # `read_answer` checks it


FORMS_HINT = "the same version of guidedviz in the kernel and on the host; guidedviz/host/README.md has the forms"


def read_body(kind: Any, body: bytes, where: str) -> Any:
    """What a body has of this kind; anything else is refused."""
    try:
        return read_value(kind, json.loads(body), where)
    except TraceError as error:
        place = error.where.replace(".", ", ", 1)
        raise SettingError(place, seen=error.seen, expected=error.expected, hint=error.hint or FORMS_HINT) from None
    except (ValueError, RecursionError):
        raise SettingError(where, seen=quoted(body), expected="a JSON object", hint=FORMS_HINT) from None


CHOICES = 12  # of a question, at most
DIGITS = 12  # of a number


def read_report(body: bytes) -> Report:
    """The report in a body, with its texts escaped and its number rounded; anything else is refused.

    >>> read_report(b'{"nickname": "Ada", "lab": "03_fsm", "place": "check advance", "state": "right"}').nickname
    'Ada'
    >>> read_report(b'{"nickname": ""}')
    Traceback (most recent call last):
    guidedviz.errors.SettingError: report, nickname: saw 0 characters, expected at least 1; try: ...
    """
    said: Report = read_body(Report, body, "report")
    if not said.nickname.strip() or not can_be_seen(said.nickname + said.lab):
        seen = quoted(f"{said.nickname}, {said.lab}")
        expected = "characters that can be seen"
        raise SettingError("report, nickname or lab", seen=seen, expected=expected, hint='a nickname such as "Ada"')
    choices = None
    if said.choices is not None:
        choices = tuple(map(escaped, said.choices))
    if choices and (len(choices) > CHOICES or len(set(choices)) < len(choices)):
        expected = f"at most {CHOICES} different texts"
        hint = "an empty list for a question about a number"
        raise SettingError("report, choices", seen=quoted(choices), expected=expected, hint=hint)
    answer = read_answer(said.answer, choices or ())
    return replace(said, place=escaped(said.place), choices=choices, answer=answer)


def read_answer(said: Any, choices: Sequence[str]) -> GivenAnswer | None:
    """One of the choices or, without choices, a number; None if the question is not answered yet."""
    if said is None:
        return None
    if isinstance(said, str) and escaped(said) in choices:
        return escaped(said)
    if not choices and type(said) in (int, float) and abs(said) < 1e300:
        return float(f"{said:.{DIGITS}g}")
    expected = "one of the choices" if choices else "a number"
    raise SettingError("report, answer", seen=quoted(said), expected=expected, hint="null for a question that is open")


STUDENTS = 500  # at most so many are kept
QUESTIONS = 40
ANSWERS = 200
NEW = 20  # sessions per address and minute
BARS = 12  # numbers that a histogram shows
KEPT_SECONDS = 2 * 3600.0  # seconds
ENGINE_PARTS = {  # the check of a milestone -> what is built, in the order of the project
    "check trie": "trie",
    "check rows": "index",
    "check push": "stack",
    "check split_node": "split",
    "check engine_masks": "masks",
    "check forced_moves": "jump",
}
NOW = 600.0  # seconds in which the students answered who say which question is open


class Student(NamedTuple):
    """Where a student stands, since when, and what they have reached in the project: a state or a ratio per place."""

    report: Report
    at: float
    project: Mapping[str, str | float]


@dataclass
class Question:
    """A question, who answered it and when, and apart from that how often each answer came."""

    lab: str
    text: str
    choices: tuple[str, ...]
    at: float
    students: dict[str, float] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)  # the sessions that have answered, or seen it
    counts: Counter[GivenAnswer] = field(default_factory=Counter)


class Sessions:
    """The sessions that have reported; an address gets few new ones per minute."""

    def __init__(self) -> None:
        self._new = PerMinute(NEW)
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
        mark_used(self._known, session, 2 * STUDENTS)
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
        before = self.students.get(key)
        reached = {**before.project} if before else {}
        self.students[key] = Student(report, now, reached | part_of_project(report))
        mark_used(self.students, key, STUDENTS)
        if report.choices is not None:
            self._count(key, report, report.choices)
        while len(self.questions) > QUESTIONS:  # one with few answers first: no student pushes out those of the class
            del self.questions[min(self.questions, key=self._worth)]

    def _count(self, key: str, report: Report, choices: tuple[str, ...]) -> None:
        """Count the first answer of a student to a question, or that they have seen it."""
        now = self._now()
        about = json.dumps([report.lab, report.place, choices])
        name = hashlib.sha256(about.encode()).hexdigest()[:16]
        question = self.questions.setdefault(name, Question(report.lab, report.place, choices, now))
        if len(question.reached) < STUDENTS:
            question.reached.add(key)
        answer = report.answer
        if answer is None or key in question.students or key not in question.reached:
            return
        question.students[key] = now
        question.at = now
        if answer not in question.counts and len(question.counts) >= ANSWERS:
            answer = "another answer"
        question.counts[answer] += 1

    def summary(self) -> dict[str, Any]:
        """What the teacher's page shows: the students, their projects, the questions, and which is open."""
        now = self._now()
        self._drop_old(now)
        students = []
        projects = []
        by_name = sorted(self.students.values(), key=lambda one: (one.report.lab, one.report.nickname))
        for r, at, reached in by_name:
            row = {"nickname": r.nickname, "lab": r.lab, "place": r.place, "state": r.state}
            students.append(row | {"ago": round(now - at)})
            if reached:
                milestones = [(name, reached.get(check, "open")) for check, name in ENGINE_PARTS.items()]
                ratios = [reached.get(place) for place in RACE_PLACES]
                projects.append({"nickname": r.nickname, "milestones": milestones, "ratios": ratios})
        questions = []
        newest_first = sorted(self.questions.items(), key=lambda pair: -pair[1].at)
        for name, q in newest_first:
            said: dict[str, Any] = {"id": name, "lab": q.lab, "text": q.text}
            said["bars"] = bars(q.choices, q.counts)
            questions.append(said | {"answers": len(q.students), "sessions": len(q.reached)})
        return {"standing": students, "projects": projects, "questions": questions, "open": self._open(now)}

    def _open(self, now: float) -> str:
        """The question that most students answered last; "" for none."""
        answers = []
        for name, question in self.questions.items():
            for key, at in question.students.items():
                if at > now - NOW:
                    answers.append((at, key, name))
        last = {key: name for _, key, name in sorted(answers)}
        said = Counter(last.values())
        return max(said, key=lambda name: (said[name], self.questions[name].at), default="")

    def _worth(self, name: str) -> tuple[int, float]:
        return len(self.questions[name].students), self.questions[name].at

    def _drop_old(self, now: float) -> None:
        since = now - KEPT_SECONDS
        self.students = OrderedDict((key, one) for key, one in self.students.items() if one.at >= since)
        self.questions = {name: one for name, one in self.questions.items() if one.at >= since}


def part_of_project(report: Report) -> dict[str, str | float]:
    """What a report says of the project: the state of a milestone, or a ratio."""
    if report.place in ENGINE_PARTS:
        return {report.place: report.state}
    if report.place in RACE_PLACES and isinstance(report.answer, float) and report.answer > 0:
        return {report.place: report.answer}
    return {}


def bars(choices: Sequence[str], counts: Counter[GivenAnswer]) -> list[tuple[str, int]]:
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
    numbers = [value for value, _ in counts.most_common() if not isinstance(value, str)]
    common = sorted(numbers[:BARS])
    shown = [(f"{value:,.{DIGITS}g}", counts[value]) for value in common]
    rest = counts.total() - sum(counts[value] for value in common)
    if rest:
        shown.append(("another number", rest))
    return shown
