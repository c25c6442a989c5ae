"""Where the students stand who gave a nickname, and how a class answered a question.

Answers are counted without names: a question keeps who has answered, and apart from that how often each answer came.
A student without a token of their own is a session that the host has issued. Everything is bounded, and forgotten when
nothing was heard of it for two hours.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from secrets import token_hex
from typing import Any

from guidedviz.errors import SettingError, escaped, quoted
from guidedviz.host.limits import Few, Refused, forget
from guidedviz.models.class_reports import can_be_seen

STUDENTS, QUESTIONS, ANSWERS, CHOICES = 500, 40, 200, 12  # at most so many are kept
LENGTHS = {"nickname": 32, "lab": 48, "place": 300, "answer": 120, "session": 64}  # characters
NEW = 20  # sessions per address and minute
DIGITS = 12  # of a number
BARS = 12  # numbers that a histogram shows
KEPT = 2 * 3600.0  # seconds
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
        for key in [key for key, student in self.students.items() if student.at < now - KEPT]:
            del self.students[key]
        for name in [name for name, question in self.questions.items() if question.at < now - KEPT]:
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
