"""A class on one host: 30 students at 5 steps per second with `clerk`, without faults and with each fault.

Every row of logits is compared with the local model's. The students are threads of this process, on the same machine
as the host: their time is in the figures, and so is whatever else runs there. A step is due one period after the step
before, or at once if that one came late; its time counts from the moment it was due. `--seconds` is the length of the
run without faults; a run with a fault takes a third of it, and the fault lasts for its middle third. "x local" is the
median as a multiple of the same steps on the local model.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import guidedviz as gv
from bench import print_about
from guidedviz.models.connection import Connection, read_address
from guidedviz.models.frames import Ask, pack_ask
from guidedviz.models.remote import RemoteModel

RATE, PORT, PATIENCE, SETTLE = 5.0, 8917, 60.0, 5.0  # steps per second; seconds
SLACK = 5e-3  # of a logit: sums of 32-bit floats in another order, beside the rounding to 16 bits
NAMES = ("Ada Lovelace", "Alan Turing", "Grace Hopper", "Noam Chomsky", "Emmy Noether", "Kurt Goedel")
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
GARBAGE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50,
    b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 50_000 + b"\r\n\r\n",
    b"POST /v1/logits HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
    b"POST /v1/logits HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"\xff" * 3000,
)
COLUMNS = ("steps", "p50, ms", "p95, ms", "p99, ms", "max, ms", "x local", "lost", "wrong", "retries", "load")


class Run(NamedTuple):
    """A decode: all tokens, the length of the prompt, and the local model's logits of each step."""

    tokens: tuple[int, ...]
    prompt: int
    logits: Any


class Asked(NamedTuple):
    """A step of a student: when it was due, how long it took, and how it ended: "lost", "wrong", or nothing."""

    due: float
    took: float
    end: str


def build_runs(model: Any, count: int = 48) -> tuple[list[Run], float]:
    """Decodes as in the labs: a record, a date, and text without a constraint; and the milliseconds of a local step."""
    person, date = (gv.guide(one, model.vocabulary) for one in (gv.json_schema(PERSON), gv.regex(r"\d{4}-\d\d-\d\d")))
    runs, times = [], []
    for seed in range(count):
        about = f"{NAMES[seed % len(NAMES)]} is {20 + seed} years old and lives in London.\n"
        kind = (("JSON with name, age:\n", person), ("Date as YYYY-MM-DD:\n", date), ("Summary:\n", None))[seed % 3]
        trace = gv.record(model, about + kind[0], kind[1], seed=seed, max_tokens=40, temperature=1.2)
        times += [step.forward_ms for step in trace.steps[1:]]
        prompt = model.encode(about + kind[0])
        tokens = [*prompt, *trace.tokens][:-1]  # nobody asks for what follows the last token
        runs.append(Run(tuple(tokens), len(prompt), model.all_logits(tokens, len(prompt) - 1)))
    return runs, median(times)


def is_right(found: Any, known: Any) -> bool:
    """Whether a row is the local model's, up to the rounding to 16 bits."""
    return bool((np.abs(found - known) <= (known.max() - known) / 2048 + SLACK).all())


class Students:
    """A class of students, a thread each. In one case of eight a student goes five steps back."""

    def __init__(self, address: str, tokens: Sequence[str], runs: Sequence[Run], rate: float = RATE) -> None:
        self.period, self.runs, self.end = 1 / rate, runs, threading.Event()
        self.asked: list[Asked] = []
        self.models = [RemoteModel(Connection(read_address(address, token), patience=PATIENCE)) for token in tokens]
        for model in self.models:
            model.logits(runs[0].tokens[:1])  # every process of the host has answered

    def study(self, seconds: float, events: Sequence[tuple[float, Callable[[], object]]] = ()) -> None:
        """Step for so many seconds; each event happens at its time."""
        began = time.perf_counter()
        threads = [threading.Thread(target=self.step, args=(n, began), daemon=True) for n in range(len(self.models))]
        for thread in threads:
            thread.start()
        for at, event in (*events, (seconds, self.end.set)):
            time.sleep(max(0.0, began + at - time.perf_counter()))
            event()
        for thread in threads:
            thread.join(2 * PATIENCE)

    def step(self, number: int, began: float) -> None:
        """The steps of one student."""
        dice, model = random.Random(number), self.models[number]
        due = began + dice.random() * self.period
        while True:
            run = dice.choice(self.runs)
            end = run.prompt
            while end <= len(run.tokens):
                time.sleep(max(0.0, due - time.perf_counter()))
                if self.end.is_set():
                    return
                try:
                    right = is_right(model.all_logits(run.tokens[:end], end - 1)[0], run.logits[end - run.prompt])
                    said = "" if right else "wrong"
                except gv.GuidedVizError:
                    said = "lost"
                now = time.perf_counter()
                self.asked.append(Asked(due - began, now - due, said))
                due = max(due + self.period, now)
                end = max(run.prompt, end - 5) if dice.random() < 1 / 8 else end + 1


def summarize(asked: Sequence[Asked], local: float, begin: float = 0.0, end: float = np.inf) -> dict[str, float]:
    """The steps that were due in a span of time: how many, how many lost or wrong, and the milliseconds.

    >>> summarize([Asked(0.1, 0.01, ""), Asked(0.2, 0.03, "lost"), Asked(9, 1, "")], 2.0, end=5)["x local"]
    10.0
    """
    chosen = [one for one in asked if begin <= one.due < end]
    times, ends = [1e3 * one.took for one in chosen] or [np.nan], [one.end for one in chosen]
    levels = {"p50, ms": 50, "p95, ms": 95, "p99, ms": 99, "max, ms": 100}
    row = {name: round(float(np.percentile(times, level)), 1) for name, level in levels.items()}
    row["x local"] = round(row["p50, ms"] / local, 1)
    return {"steps": len(chosen), "lost": ends.count("lost"), "wrong": ends.count("wrong")} | row


def attack(act: Callable[..., None], threads: int, token: str, ended: threading.Event, port: int = PORT) -> None:
    """A student who does harm, in some threads, until it is ended."""

    def run(seed: int) -> None:
        dice = random.Random(seed)
        while not ended.is_set():
            with suppress(OSError, HTTPException), socket.create_connection(("127.0.0.1", port), timeout=5) as line:
                act(line, token, dice)

    for seed in range(threads):
        threading.Thread(target=run, args=(seed,), daemon=True).start()


def request(token: str, dice: random.Random, tokens: int) -> bytes:
    """A request for the logits of a random text."""
    body = pack_ask(Ask(tuple(dice.randrange(100, 4000) for _ in range(tokens))))
    head = (
        f"POST /v1/logits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def cancel(line: socket.socket, token: str, dice: random.Random) -> None:
    """Ask for the logits of a new text of 200 tokens, and leave at once."""
    line.sendall(request(token, dice, 200))
    time.sleep(0.005)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not a farewell
    line.close()
    time.sleep(0.035)


def garble(line: socket.socket, token: str, dice: random.Random) -> None:
    """Send something that is no request, or a request whose body is none."""
    whole = request(token, dice, 8)
    line.sendall(dice.choice([*GARBAGE, whole[:-5] + b"\xff" * 5, whole.replace(b"GVQ2", b"\x80\x04\x95\x00")]))
    line.settimeout(0.05)
    line.recv(1 << 14)


def flood(line: socket.socket, token: str, dice: random.Random) -> None:
    """Ask again as soon as an answer comes, 100 times."""
    for _ in range(100):
        line.sendall(request(token, dice, 30))
        answer = HTTPResponse(line)
        answer.begin()
        answer.read()


ATTACKS = {"cancelled requests": (cancel, 4), "garbage": (garble, 2), "a flood": (flood, 8)}


class Host:
    """A host that runs in processes of its own."""

    def __init__(self, words: list[str], token: str) -> None:
        self.words, self.address, self.token = words, f"http://127.0.0.1:{PORT}", token

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        while "gv.load_model" not in (line := self.process.stdout.readline()):
            if not line:
                raise gv.ModelError("bench host", seen="a host that ended", expected="a host that starts")

    def stop(self, hard: bool = False) -> None:
        """End it; `hard` gives it no time to say farewell."""
        self.process.send_signal(signal.SIGKILL if hard else signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def restart(self, hard: bool) -> None:
        """End it and start it again."""
        self.stop(hard)
        self.start()


@contextmanager
def hosting(tokens: dict[str, str]) -> Iterator[Host]:
    """A host."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokens"
        file.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
        words = [sys.executable, "-m", "guidedviz", "host", "--port", str(PORT), "--tokens", str(file)]
        host = Host(words, tokens["teacher"])
        host.start()
        try:
            yield host
        finally:
            host.stop()


def bench(options: Namespace) -> dict[str, Any]:
    """Print the tables and return the figures."""
    about = print_about(load="{:.2f} {:.2f} {:.2f} before".format(*os.getloadavg()))
    runs, local = build_runs(gv.load_model("clerk"))
    tokens = {name: secrets.token_urlsafe(24) for name in [*map(str, range(options.students)), "Mallory", "teacher"]}
    print(f"\n{options.students} students, {RATE:g} steps per second each; a local step takes {local:.2f} ms")
    figures: dict[str, Any] = {}
    print(f"\n{'fault':24}" + "  ".join(COLUMNS))
    for fault in ["no fault", *ATTACKS, "a restart"]:
        if options.only in fault:
            seconds = options.seconds if fault == "no fault" else max(12.0, options.seconds / 3)
            with hosting(tokens) as host:
                figures[fault] = measure(host, fault, tokens, runs, local, seconds)
            for name, row in figures[fault].items():
                print(f"{name:24}" + "  ".join(f"{row.get(head, ''):>{len(head)}}" for head in COLUMNS), flush=True)
    return {"about": about, "students": options.students, "rate": RATE, "local, ms": local, "runs": figures}


def measure(
    host: Host, fault: str, tokens: dict[str, str], runs: Sequence[Run], local: float, seconds: float
) -> dict[str, dict[str, float]]:
    """One run of the class, with this fault in its middle third."""
    students = Students(host.address, [token for name, token in tokens.items() if name.isdecimal()], runs)
    time.sleep(SETTLE)
    begin, end = seconds / 3, 2 * seconds / 3
    events: list[tuple[float, Callable[[], object]]] = []
    if fault in ATTACKS:
        ended = threading.Event()
        events = [(begin, partial(attack, *ATTACKS[fault], tokens["Mallory"], ended)), (end, ended.set)]
    elif fault == "a restart":
        events = [(begin, partial(host.restart, hard=True))]
    students.study(seconds, events)
    whole = summarize(students.asked, local)
    whole |= {"retries": sum(model.wire.retries for model in students.models), "load": round(os.getloadavg()[0], 1)}
    return {fault: whole} | (
        {} if fault == "no fault" else {"… while it lasts": summarize(students.asked, local, begin, end)}
    )
