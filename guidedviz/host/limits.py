"""Who may ask, and how much: tokens of a class or of each student, requests per second, and requests at once.

What was asked and answered is counted in the text format of Prometheus
(https://prometheus.io/docs/instrumenting/exposition_formats/).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import secrets
import time
from bisect import bisect_left
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guidedviz.errors import GuidedVizError, SettingError, quoted

TEACHER = "teacher"  # the name of the token that may see the class, and show it a run
SHORTEST = 16  # characters of a token
MOST_NAME = 64
STEPS = 400  # of a student that are remembered
WRONG = 10  # wrong tokens per address and minute
MINUTE = 60.0


class Refused(GuidedVizError):
    """A request that is refused, with the status that HTTP has for it."""

    def __init__(self, status: int, where: str, seen: str, expected: str, hint: str = "") -> None:
        super().__init__(where, seen=seen, expected=expected, hint=hint)
        self.status = status


@dataclass(frozen=True)
class Limits:
    """What one student may do, and how many students and texts a host knows at once."""

    rate: float = 100.0  # requests per second
    burst: float = 200.0
    together: int = 8  # requests at once
    waits: int = 4  # requests at once that only wait for the teacher's next step
    waiting: int = 2000  # texts of all students
    students: int = 5000
    rows_bytes: int = 1 << 25  # of one answer
    run_bytes: int = 1 << 25  # of a shown run that may be sent at once
    run_rate: float = 1 << 20  # bytes of it per second


@dataclass
class Account:
    """What is left of a student's requests."""

    left: float
    seen: float
    number: int = 0
    together: int = 0
    waits: int = 0
    sent: float = 0.0  # bytes of the run that is shown, less those that its rate allows
    sent_at: float = 0.0
    steps: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=STEPS))  # when, and seconds


class Guard:
    """Checks tokens, and counts what each student asks."""

    def __init__(
        self, tokens: Mapping[str, str], limits: Limits | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits, self._now = limits or Limits(), now
        self._known = {digest(token)[:8]: (digest(token), name) for name, token in tokens.items()}
        self.guarded = bool(tokens)
        self.named = bool(tokens) and "" not in tokens  # whether each student has a token of their own
        self.accounts: OrderedDict[str, Account] = OrderedDict()
        self._number, self._wrong = 0, Few(WRONG, now)
        self._judged: OrderedDict[tuple[str, bytes], bool] = OrderedDict()  # whether an address's token is right

    def name(self, authorization: str, session: str, peer: str) -> str:
        """The student that a request comes from, by its token; an unknown token is refused.

        A token of a whole class does not say which student it is: the student's session and address do. After many
        different wrong ones, an address has to wait with each that it has not sent before, also with a right one.
        """
        guest = f"{peer}/{session[:MOST_NAME]}"
        if not self._known:
            return guest
        kind, _, token = authorization.partition(" ")
        given = digest(token if kind.lower() == "bearer" else "")
        right, name = self._known.get(given[:8], (b"", ""))
        if (peer, given) not in self._judged:
            if self._wrong.full(peer):
                raise Refused(429, "token", f"{WRONG} wrong tokens from this address", "a pause of a minute")
            self._judged[peer, given] = hmac.compare_digest(right, given)
            forget(self._judged, self.limits.students)
            if token and not self._judged[peer, given]:
                self._wrong.add(peer)
        if not self._judged[peer, given]:
            raise Refused(401, "token", "an unknown token, or none", "Authorization: Bearer TOKEN")
        return name or guest

    def refuse(self, student: str) -> str:
        """Why this student may not ask now; "" if the request is counted, and `release` must follow."""
        now, most = self._now(), self.limits
        account = self.accounts.get(student)
        if account is None:
            self._number += 1
            account = self.accounts[student] = Account(most.burst, now, self._number)
            forget(self.accounts, most.students)
        self.accounts.move_to_end(student)
        account.left = min(most.burst, account.left + (now - account.seen) * most.rate)
        account.seen = now
        if account.together >= most.together:
            return f"{account.together} requests at once, expected at most {most.together}"
        if account.left < 1:
            return f"more than {most.rate:g} requests per second"
        account.left -= 1
        account.together += 1
        return ""

    def release(self, student: str) -> None:
        """A request that was counted has ended."""
        if account := self.accounts.get(student):
            account.together = max(0, account.together - 1)

    @contextmanager
    def resting(self, student: str) -> Iterator[bool]:
        """A request that only waits: it is none of those at once. False if the student has too many of them."""
        account = self.accounts.get(student)
        if account is None or account.waits >= self.limits.waits:
            yield False
            return
        account.together -= 1
        account.waits += 1
        try:
            yield True
        finally:
            account.together += 1
            account.waits -= 1

    def pay(self, student: str, size: int) -> None:
        """Count an answer of so many bytes; a student who has got too many is refused."""
        now, most = self._now(), self.limits
        if account := self.accounts.get(student):
            account.sent = max(0.0, account.sent - (now - account.sent_at) * most.run_rate)
            account.sent_at = now
            if account.sent > most.run_bytes:
                raise Refused(429, "student", f"more than {most.run_rate:,.0f} bytes per second", "fewer requests")
            account.sent += size

    def step(self, student: str, seconds: float) -> None:
        """A student got logits after so many seconds."""
        if account := self.accounts.get(student):
            account.steps.append((self._now(), seconds))

    def active(self, seconds: float = 60.0) -> int:
        """How many students asked something in the last seconds."""
        since = self._now() - seconds
        return sum(account.seen >= since for account in self.accounts.values())


class Few:
    """What an address may do only so often per minute.

    >>> wrong = Few(2, now=lambda: 0.0)
    >>> wrong.add("10.0.0.1"), wrong.full("10.0.0.1"), wrong.add("10.0.0.1"), wrong.full("10.0.0.1")
    (None, False, None, True)
    """

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._now = most, now
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def add(self, address: str) -> None:
        """Count one more."""
        self._times.setdefault(address, deque(maxlen=self._most)).append(self._now())
        self._times.move_to_end(address)
        forget(self._times, Limits.students)

    def full(self, address: str) -> bool:
        """Whether there were so many in the last minute."""
        times = self._times.get(address, deque[float]())
        return len(times) == self._most and self._now() - times[0] < MINUTE


def forget(kept: OrderedDict[Any, Any], most: int) -> None:
    """Forget what was used longest ago when there are too many."""
    while len(kept) > most:
        kept.popitem(last=False)


def is_loopback(name: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def digest(token: str) -> bytes:
    """The digest of a token: a lookup by it does not show how much of a guess is right."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def read_tokens(path: Path) -> dict[str, str]:
    """The tokens in a file: a line per student, with a name, a space and the token; or one token for the class."""
    where = f"tokens file {quoted(str(path))}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        seen = getattr(error, "strerror", None) or "other bytes than UTF-8"
        raise SettingError(where, seen=seen, expected="a text file that can be read") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, token = line.strip().rpartition(" ")
        check_token(f"{where}, line {number}", token)
        if name.strip() in found or token in found.values():
            raise SettingError(
                f"{where}, line {number}", seen="the same name or token twice", expected="each only once"
            )
        found[name.strip()] = token
    if not found:
        raise SettingError(where, seen="no token", expected="a line per student: name token")
    return found


def find_tokens(file: Path | None, token: str = "") -> dict[str, str]:
    """The tokens by student: those of a file, or one for the class, else that of the variable GUIDEDVIZ_TOKEN.

    The variable GUIDEDVIZ_TEACHER_TOKEN adds the teacher's.
    """
    token = token or os.environ.get("GUIDEDVIZ_TOKEN", "")
    found = read_tokens(file) if file else {"": check_token("--token", token)} if token else {}
    if teacher := os.environ.get("GUIDEDVIZ_TEACHER_TOKEN", ""):
        where = "GUIDEDVIZ_TEACHER_TOKEN"
        if not found or teacher in (other for name, other in found.items() if name != TEACHER):
            seen = "the token of a student" if found else "no token of the students"
            raise SettingError(where, seen=seen, expected="a token of the teacher beside those of the students")
        found[TEACHER] = check_token(where, teacher)
    return found


def check_token(where: str, token: str) -> str:
    """A token that cannot be guessed and that fits into a header."""
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        expected = f"at least {SHORTEST} printable ASCII characters without spaces"
        raise SettingError(where, seen=f"a token of {len(token)} characters", expected=expected, hint=make_token())
    return token


def make_token() -> str:
    """A new token."""
    return secrets.token_urlsafe(24)


SECONDS = (0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
TEXTS = (1, 2, 4, 8, 16, 32)
HELP = {
    "requests_total": "counter: answers by kind and status",
    "answer_seconds": "histogram: seconds from a request for logits to its answer",
    "queue": "gauge: texts that wait for a pass",
    "students": "gauge: students seen in the last minute",
    "replica": "gauge: the processes that run the model",
    "passes_total": "counter: forward passes",
    "pass_texts": "histogram: texts per pass",
    "pass_cpu_seconds_total": "counter: seconds of a core in passes",
    "tokens_read_total": "counter: tokens that passed through the model",
    "prefix_tokens_total": "counter: tokens of requests whose keys and values were found, or had to be read",
    "prefix_bytes": "gauge: bytes of the kept prefixes",
    "prefixes": "gauge: prefixes that are kept",
}
Counts = dict[str, float]  # a name, maybe with labels, and its value


class Histogram:
    """How many values lie below each bound.

    >>> found = Histogram((1, 2))
    >>> for value in (0.5, 1.5, 9):
    ...     found.add(value)
    >>> found.counted("x")
    {'x_bucket{le="1"}': 1.0, 'x_bucket{le="2"}': 2.0, 'x_bucket{le="+Inf"}': 3.0, 'x_sum': 11.0, 'x_count': 3.0}
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds, self._counts, self._total = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._total += value

    def counted(self, name: str) -> Counts:
        """Its lines by name."""
        below, out = 0.0, {}
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            below += count
            out[f'{name}_bucket{{le="{bound}"}}'] = below
        return {**out, f"{name}_sum": self._total, f"{name}_count": below}


class Metrics:
    """The counters of one host."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.seconds = Histogram(SECONDS)

    def counts(self) -> Counts:
        """Answers, and how long they took."""
        answers = {f'requests_total{{kind="{k}",status="{s}"}}': float(n) for (k, s), n in sorted(self.answers.items())}
        return answers | self.seconds.counted("answer_seconds")


def add_counts(parts: Iterable[Counts]) -> Counts:
    """The sums of several processes.

    >>> add_counts([{"a": 1, "b": 2}, {"a": 5}])
    {'a': 6.0, 'b': 2.0}
    """
    out: Counts = {}
    for part in parts:
        for name, value in part.items():
            out[name] = out.get(name, 0.0) + value
    return out


def write_counts(counts: Mapping[str, float]) -> str:
    """Counts as the text that Prometheus reads."""
    lines = []
    for name, about in HELP.items():
        kind, _, said = about.partition(": ")
        lines += [f"# HELP guidedviz_{name} {said}", f"# TYPE guidedviz_{name} {kind}"]
        ends = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        names = {name + end for end in ends}
        lines += [f"guidedviz_{key} {value:.10g}" for key, value in counts.items() if key.partition("{")[0] in names]
    return "\n".join(lines) + "\n"
