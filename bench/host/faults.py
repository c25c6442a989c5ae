"""What goes wrong in a class: requests that are cancelled, garbage, a flood, and a process that dies."""

from __future__ import annotations

import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from guidedviz.models.frames import Ask, pack_ask

GARBAGE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50,
    b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 50_000 + b"\r\n\r\n",
    b"POST /v1/logits HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
    b"POST /v1/logits HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"\xff" * 3000,
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
)


class Attacker:
    """A student who does harm, in some threads, until `stop`."""

    def __init__(self, port: int, token: str, act: Callable[[Attacker, random.Random], None], threads: int) -> None:
        self.port, self.token, self._act = port, token, act
        self.sent, self._end = Counter[str](), threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(seed,), daemon=True) for seed in range(threads)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End."""
        self._end.set()
        for thread in self._threads:
            thread.join(0.1)

    def _run(self, seed: int) -> None:
        dice = random.Random(seed)
        while not self.ended:
            with suppress(OSError):
                self._act(self, dice)

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self._end.is_set()

    def line(self) -> socket.socket:
        """A new connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=5)

    def request(self, dice: random.Random, tokens: int) -> bytes:
        """A request for the logits of a random text."""
        body = pack_ask(Ask(tuple(dice.randrange(100, 4000) for _ in range(tokens))))
        head = (
            f"POST /v1/logits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nContent-Length: {len(body)}"
        )
        return head.encode() + b"\r\n\r\n" + body


def cancel(attacker: Attacker, dice: random.Random) -> None:
    """Ask for the logits of a new text of 200 tokens, and leave at once."""
    with attacker.line() as line:
        line.sendall(attacker.request(dice, 200))
        time.sleep(0.005)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a farewell
    attacker.sent["cancelled requests"] += 1
    time.sleep(0.035)


def garble(attacker: Attacker, dice: random.Random) -> None:
    """Send something that is no request, or a request whose body is none."""
    with attacker.line() as line:
        whole = attacker.request(dice, 8)
        line.sendall(dice.choice([*GARBAGE, whole[:-5] + b"\xff" * 5, whole.replace(b"GVQ1", b"\x80\x04\x95\x00")]))
        line.settimeout(0.05)
        with suppress(TimeoutError):
            line.recv(1 << 14)
    attacker.sent["garbled requests"] += 1
    time.sleep(0.01)


def flood(attacker: Attacker, dice: random.Random) -> None:
    """Ask again as soon as an answer is there."""
    with attacker.line() as line:
        while not attacker.ended:
            line.sendall(attacker.request(dice, 30))
            head = read_answer(line)
            attacker.sent[f"status {head[9:12].decode('latin-1')}"] += 1
            if not head:
                return


def read_answer(line: socket.socket) -> bytes:
    """Read one whole answer; gives its head, or nothing if the connection was closed."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = line.recv(1 << 16)
        if not part:
            return b""
        answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    lengths = [row.partition(b":")[2] for row in head.split(b"\r\n") if row.lower().startswith(b"content-length")]
    left = int(lengths[0]) - len(body) if lengths else 0
    while left > 0:
        part = line.recv(min(left, 1 << 16))
        if not part:
            return b""
        left -= len(part)
    return head
