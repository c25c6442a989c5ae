"""Who may ask, and how much: tokens of a class or of each student, requests per second, and requests at once."""

import hashlib
import ipaddress
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import count

from guidedviz.errors import GuidedVizError
from guidedviz.models.remote import mark_used

TEACHER = "teacher"  # the name of the token that may see the class, and show it a run
SECRET = 22  # characters of a student's secret: 128 bits in base64
STEPS = 400  # of a student that are remembered
WRONG = 10  # wrong tokens per address and minute
MINUTE = 60.0


class Refused(GuidedVizError):
    """A request that is refused, with the status that HTTP has for it."""

    def __init__(self, status: int, where: str, seen: str, expected: str, hint: str) -> None:
        super().__init__(where, seen=seen, expected=expected, hint=hint)
        self.status = status


@dataclass(frozen=True)
class Limits:
    """What one student may do, and how many students and texts a host knows at once."""

    rate: float = 100.0  # requests per second
    burst: float = 200.0
    together: int = 8  # requests at once
    answers: int = 32  # of the API at once
    waiting: int = 2000  # texts of all students
    students: int = 5000
    rows_bytes: int = 1 << 25  # of one answer
    run_bytes: int = 1 << 25  # of a shown run that may be sent at once
    run_rate: float = 1 << 20  # bytes of it per second
    sent_bytes: int = 1 << 28  # of all answers that are being sent; half of them to an address, an eighth to a student


class Bucket:
    """What may be used at once, and how much of it comes back per second.

    >>> bucket = Bucket(2, rate=10, now=0.0)
    >>> [bucket.use(1, now) for now in (0.0, 0.0, 0.0, 0.1)]
    [True, True, False, True]
    """

    def __init__(self, most: float, rate: float, now: float) -> None:
        self._most = most
        self._rate = rate
        self._left = most
        self._seen = now

    def use(self, amount: float, now: float) -> bool:
        """Use an amount, which may be more than what is left; False if nothing is left."""
        regained = (now - self._seen) * self._rate
        self._left = min(self._most, self._left + regained)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= amount
        return True


@dataclass
class Account:
    """What is left of a student's requests, and of the bytes of a shown run."""

    requests: Bucket
    run: Bucket
    number: int
    together: int = 0
    steps: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=STEPS))  # when, and seconds


class Outgoing:
    """The bytes of the answers that are being sent: of all, and of each address and student.

    An answer is refused where it would make too many, unless it is the only one of all, of its address or its student.

    >>> outgoing = Outgoing()
    >>> with outgoing.counted(50, {"all": 100, "Ada": 40}), outgoing.counted(50, {"all": 100, "Bob": 40}):
    ...     with outgoing.counted(1, {"all": 100, "Cleo": 40}):
    ...         pass
    Traceback (most recent call last):
    guidedviz.host.limits.Refused: answer of 1 bytes: saw 100 bytes on their way, expected at most 100 ...; try: ...
    """

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()

    @contextmanager
    def counted(self, size: int, shares: Mapping[str, int]) -> Iterator[None]:
        """Count an answer while it is sent, in each of these shares; they name the most bytes."""
        for name, most in shares.items():
            before = self._bytes[name]
            if before and before + size > most:
                seen = f"{before} bytes on their way"
                expected = f"at most {most} for {name}"
                hint = "ask again in a second, and read each answer at once"
                raise Refused(503, f"answer of {size} bytes", seen, expected, hint)
        self._bytes.update(dict.fromkeys(shares, size))
        try:
            yield
        finally:
            self._bytes.subtract(dict.fromkeys(shares, size))
            self._bytes += Counter()  # forgets who gets nothing now


class Guard:
    """Checks tokens, and counts what each student asks."""

    def __init__(
        self, tokens: Mapping[str, str], limits: Limits | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits = limits or Limits()
        self.guarded = bool(tokens)
        self.named = bool(tokens) and "" not in tokens  # whether each student has a token of their own
        self.accounts: OrderedDict[str, Account] = OrderedDict()
        self._now = now
        self._names = {digest(token): name for name, token in tokens.items()}
        self._numbers = count(1)
        self._wrong = PerMinute(WRONG, now)
        self._sent: OrderedDict[tuple[str, bytes], None] = OrderedDict()  # the tokens that each address has sent
        self._outgoing = Outgoing()

    def name(self, authorization: str, secret: str, peer: str) -> str:
        """The student that a request comes from, by its token; an unknown token is refused.

        A token of a whole class does not say which student it is: the address does, and the session, which is the
        digest of a secret that the client made. After many different wrong tokens, an address has to wait with each
        that it has not sent before, also with a right one.
        """
        guest = f"{peer}/{name_session(secret)}"
        if not self.guarded:
            return guest
        kind, _, token = authorization.partition(" ")
        given = digest(token if kind.lower() == "bearer" else "")
        if (peer, given) not in self._sent:
            if self._wrong.full(peer):
                hint = "again in a minute, with the token that the teacher gave you"
                raise Refused(429, "token", f"{WRONG} wrong tokens from this address", "a pause of a minute", hint)
            self._sent[peer, given] = None
            mark_used(self._sent, (peer, given), self.limits.students)
            if token and given not in self._names:
                self._wrong.add(peer)
        if given not in self._names:
            hint = "the token that the teacher gave you, without spaces"
            raise Refused(401, "token", "an unknown token, or none", "Authorization: Bearer TOKEN", hint)
        return self._names[given] or guest

    @contextmanager
    def counted(self, student: str, together: int = 0) -> Iterator[Account]:
        """Count a request while it runs; a student who asks too much is refused. `together`: as many at once."""
        now = self._now()
        most = self.limits
        together = together or most.together
        if student not in self.accounts:
            requests = Bucket(most.burst, most.rate, now)
            run = Bucket(most.run_bytes, most.run_rate, now)
            self.accounts[student] = Account(requests, run, next(self._numbers))
        mark_used(self.accounts, student, most.students)
        account = self.accounts[student]
        if account.together >= together:
            seen = f"{account.together} requests at once"
            expected = f"at most {together}"
            raise Refused(429, "student", seen, expected, "wait for an answer before you ask more")
        if not account.requests.use(1, now):
            seen = f"more than {most.rate:g} requests per second"
            raise Refused(429, "student", seen, "fewer requests", "again in a second, or a host with a higher --rate")
        account.together += 1
        try:
            yield account
        finally:
            account.together -= 1

    def sent(self, student: str, peer: str, size: int) -> AbstractContextManager[None]:
        """Count an answer while it is sent; too many bytes on their way are refused.

        Students with a token of their own may share an address, and have no share of it.
        """
        most = self.limits.sent_bytes
        shares = {"all students": most, f"student {student}": most // 8}
        if not self.is_named(student):
            shares[f"address {peer}"] = most // 2
        return self._outgoing.counted(size, shares)

    def check_room(self, waiting: int) -> None:
        """Refuse a request while so many texts wait."""
        if waiting >= self.limits.waiting:
            raise Refused(503, "host", "too many texts that wait", "a free place", "ask again")

    def is_named(self, student: str) -> bool:
        """Whether a token says who this is: it is that of one student, not that of the class."""
        return student != "" and student in self._names.values()


class PerMinute:
    """What an address may do only so often per minute.

    >>> wrong = PerMinute(2, now=lambda: 0.0)
    >>> wrong.add("10.0.0.1"), wrong.full("10.0.0.1"), wrong.add("10.0.0.1"), wrong.full("10.0.0.1")
    (None, False, None, True)
    """

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._now = now
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def add(self, address: str) -> None:
        """Count one more."""
        self._times.setdefault(address, deque(maxlen=self._most)).append(self._now())
        mark_used(self._times, address, Limits.students)

    def full(self, address: str) -> bool:
        """Whether there were so many in the last minute."""
        times = self._times.get(address, deque[float]())
        return len(times) == self._most and self._now() - times[0] < MINUTE


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


def name_session(secret: str) -> str:
    """What the host calls the session of a secret; "" without a secret. The host keeps no secret."""
    return digest(secret).hex()[:32] if secret else ""
