"""A connection to a shared host: requests that fail are repeated, with pauses that double.

Each request names the whole text, so the host remembers nothing that a student needs: after a restart, or on another
replica, the next request is answered as if nothing had happened. guidedviz/host/README.md has the protocol.
"""

import json
import os
import secrets
import ssl
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

from guidedviz.errors import GuidedVizError, ModelError, SettingError, quoted, shorten
from guidedviz.models import frames

HOST_PATIENCE = 30.0  # seconds that a lost host is asked again
SLOW_ANSWER = 2.0  # seconds of one request after which a person is told
OFFER = 8.0  # seconds after which another model is offered
ANSWER_TIMEOUT = 10.0  # seconds that one answer may take
MOST_CARD = 1 << 16  # bytes
BUSY = {429, 500, 502, 503, 504}  # the same request may succeed later
GO_ON_WITH = 'gv.load_model("clerk", device="numpy")'
TOKEN_REFUSED = {401, 403}
OTHER_MODEL = 409


class Address(NamedTuple):
    """Where a host is."""

    secure: bool
    name: str
    port: int
    path: str
    token: str

    def __str__(self) -> str:
        name = self.name
        if ":" in self.name:
            name = f"[{self.name}]"
        return f"{name}:{self.port}"


def read_address(address: str, token: str | None = None) -> Address:
    """The place that an address names; without a token, the variable GUIDEDVIZ_TOKEN has it.

    >>> str(read_address("http://gpu.school:8765/", "x"))
    'gpu.school:8765'
    """
    token = os.environ.get("GUIDEDVIZ_TOKEN", "") if token is None else token
    if not isinstance(token, str) or not (token.isascii() and token.isprintable()) or " " in token:
        expected = "printable ASCII characters without spaces"
        hint = "copy the token again, without spaces and quotes"
        raise ModelError("token", seen="other characters", expected=expected, hint=hint)
    place = split_address(address)
    if place is None:
        expected = "http://host:port, and the token as token=..."
        hint = 'gv.load_model("http://host:8765", token="...")'
        raise ModelError(f"model {quoted(address)}", seen="no address of a host", expected=expected, hint=hint)
    return place._replace(token=token)


def split_address(address: str) -> Address | None:
    """The place of an address, without a token; None if it names no host, or more than a host.

    >>> split_address("https://gpu.school/a"), split_address("http://me@gpu.school")
    (Address(secure=True, name='gpu.school', port=443, path='/a', token=''), None)
    """
    try:
        parts = urlsplit(address)
        port = parts.port
        name = parts.hostname
    except ValueError:
        return None
    if not name or parts.query or parts.fragment or "@" in parts.netloc or not address.isascii():
        return None
    secure = parts.scheme == "https"
    return Address(secure, name, port or (443 if secure else 80), parts.path.rstrip("/"), "")


HEARD: list[Callable[[Address, str], None]] = []  # what is told of each answer: which host, and which start of it


class Connection:
    """One connection to a host, which is opened when it is needed and repeats what fails."""

    def __init__(
        self, place: Address, patience: float = HOST_PATIENCE, timeout: float = ANSWER_TIMEOUT, secret: str = ""
    ) -> None:
        self.place = place
        self.patience = patience
        self.timeout = timeout
        self.where = f"host {place}"  # in errors
        self._asked = 0.0  # since when a request runs; 0: none
        self._failed = ""  # why the last try failed
        self.retries = 0
        self.known = False  # whether it was a host of guidedviz before
        self._answered = False
        self._random = Random()  # its own, because a student may have set a seed
        self.headers = {"X-Guidedviz-Student": secret or secrets.token_urlsafe(24)}  # without it nobody is this student
        if place.token:
            self.headers["Authorization"] = f"Bearer {place.token}"
        self._lock = threading.Lock()
        self._connection: HTTPConnection | None = None

    def ask(self, method: str, path: str, body: bytes = b"", most: int = MOST_CARD) -> bytes:
        """The body of the answer, at most so many bytes; the request is repeated until the patience ends."""
        with self._lock:
            began = time.monotonic()
            pause = 0.05
            self._asked = began
            try:
                while True:
                    again, why, answer = self._try(method, path, body, most)
                    if not why:
                        return answer
                    spent = time.monotonic() - began
                    pause = max(again, pause)
                    if spent + pause > self.patience:
                        hint = f"again: the run goes on where it was; or go on with an embedded model, {GO_ON_WITH}"
                        seen = f"{why}, for {spent:.0f} s"
                        raise ModelError(self.where, seen=seen, expected="an answer", hint=hint)
                    self.retries += 1
                    self._failed = why
                    time.sleep(pause * self._random.uniform(0.5, 1.0))
                    pause = min(2 * pause, 2.0)
            finally:
                self._asked = 0.0
                self._failed = ""

    @property
    def waiting(self) -> str:
        """What to tell a person while the host is slow or does not answer; "" while it answers."""
        asked = self._asked
        spent = time.monotonic() - asked if asked else 0.0
        if not self._failed and spent < SLOW_ANSWER:
            return ""
        why = shorten(self._failed or "it is slow", 80)
        said = f"The host {self.place} does not answer ({why}); asked again for {spent:.0f} s."
        said += " The run goes on where it was."
        return f"{said} Meanwhile {GO_ON_WITH} is an embedded model." if spent >= OFFER else said

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def _try(self, method: str, path: str, body: bytes, most: int) -> tuple[float, str, bytes]:
        """One request: the pause that the host asks for, why it failed (or nothing), and the body."""
        try:
            answer, found = self._send(method, path, body, most)
        except (OSError, HTTPException) as error:
            self.close()
            self._raise_lasting(error)
            why = getattr(error, "strerror", "") or error or type(error).__name__
            return 0.0, str(why), b""
        status = answer.status
        if status == 200 and len(found) <= most:
            return 0.0, "", found
        if status in BUSY:
            pause = read_pause(answer.headers.get("Retry-After", ""))
            return pause, f"status {status}", b""
        if self.known and status == 404 and not read_error(found):  # a proxy before which nothing stands yet
            return 0.0, "status 404", b""
        raise self._refused(status, found)

    def _send(self, method: str, path: str, body: bytes, most: int) -> tuple[HTTPResponse, bytes]:
        """Send one request and read its answer."""
        if self._connection is None:
            self._connection = self._connect()
        headers = self.headers
        if method == "POST":
            headers = headers | {"Content-Type": frames.body_type(path)}
        self._connection.request(method, self.place.path + path, body or None, headers)
        answer = self._connection.getresponse()
        self._answered = True
        for hear in HEARD:
            hear(self.place, answer.headers.get("X-Guidedviz-Start", ""))
        most = most if answer.status == 200 else MOST_CARD
        found = read_whole(answer, most, time.monotonic() + self.timeout)
        if len(found) > most or answer.will_close:
            self.close()
        return answer, found

    def _raise_lasting(self, error: Exception) -> None:
        """Raise an error if another try would fail in the same way."""
        if isinstance(error, ssl.SSLCertVerificationError):
            hint = "the name in the certificate as the address; for one of your own the variable SSL_CERT_FILE"
            seen = error.verify_message
            raise ModelError(self.where, seen=seen, expected="a trusted certificate", hint=hint) from None
        if not self._answered and isinstance(error, ssl.SSLError | HTTPException):  # it speaks the other one
            speaks = "https" if self.place.secure else "http"
            other = "http" if self.place.secure else "https"
            hint = f'gv.load_model("{other}://{self.place}")'
            expected = f"an address that begins with {other}://, if it speaks that"
            raise ModelError(self.where, seen=f"no answer in {speaks}", expected=expected, hint=hint) from None

    def _connect(self) -> HTTPConnection:
        place = self.place
        if not place.secure:
            return HTTPConnection(place.name, place.port, timeout=self.timeout)
        return HTTPSConnection(place.name, place.port, timeout=self.timeout, context=ssl.create_default_context())

    def _refused(self, status: int, body: bytes) -> GuidedVizError:
        """The error for a request that will fail again."""
        where = self.where
        said = read_error(body)
        if status in TOKEN_REFUSED and not (status == 403 and said):  # 403: the token is known, and not the teacher's
            hint = 'gv.load_model(address, token="..."), or the variable GUIDEDVIZ_TOKEN'
            return ModelError(where, seen="it refused the token", expected="the token of the class", hint=hint)
        if not said:
            hint = "the address that the host printed when it started"
            return ModelError(where, seen=f"status {status}", expected="a host of guidedviz", hint=hint)
        kind = ModelError if status == OTHER_MODEL else SettingError
        return kind(f"{where}, {said['where']}", seen=said["seen"], expected=said["expected"], hint=said["try"])


def read_pause(after: str) -> float:
    """The seconds that a busy host asks to wait; another text, or more than 99 seconds, is none."""
    if after.isdecimal() and len(after) < 3:
        return float(after)
    return 0.0


def read_whole(answer: HTTPResponse, most: int, deadline: float) -> bytes:
    """The body of an answer, up to one byte more than so many; one that comes byte by byte ends at the deadline."""
    found = b""
    while len(found) <= most:
        part = answer.read1(most + 1 - len(found))
        if not part:
            break
        found += part
        if time.monotonic() > deadline:
            raise TimeoutError("the answer takes too long")
    if answer.length and len(found) <= most:
        raise ConnectionError("the answer ended early")
    answer.close()  # the connection stays open for the next request
    return found


def read_error(body: bytes) -> dict[str, str]:
    """The four parts of an error of a host, each at most 200 characters; nothing if there is none in the body."""
    try:
        said = json.loads(body)["error"]
        return {part: shorten(str(said[part]), 200) for part in ("where", "seen", "expected", "try")}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
