"""A class on one host: 30 students at 5 steps per second with `clerk`, without faults and with each fault.

Every row of logits is compared with the local model's. The students are threads of this process, on the same machine
as the host: their time is in the figures, and so is whatever else runs there (`load` is that of the last minute).
`--seconds` is the length of the run without faults; a run with a fault takes a third of it, and the fault lasts for its
middle third. Then all students follow a run that the teacher shows (`followers.py`). Replicas of Ray are measured
where it is installed.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from guidedviz.bench.about import print_about
from guidedviz.bench.host.faults import Attacker, cancel, flood, garble
from guidedviz.bench.host.followers import Lesson
from guidedviz.bench.host.scale import plan
from guidedviz.bench.host.students import PATIENCE, Run, Students, build_runs, summarize
from guidedviz.decoding.sampling import sample, softmax
from guidedviz.errors import ModelError
from guidedviz.extras import is_missing
from guidedviz.host.limits import TEXTS
from guidedviz.models.frames import pack_rows, read_rows
from guidedviz.models.load import load_model
from guidedviz.models.model import LanguageModel
from guidedviz.models.remote import Connection, read_address

STUDENTS, RATE, SECONDS = 30, 5.0, 120.0
PORT = 8917
ATTACKS = {"cancelled requests": (cancel, 4), "garbage": (garble, 2), "a flood": (flood, 8)}
FOLLOWERS = "followers of a shown run"
AFTER_KILL = 10.0  # seconds
SETTLE = 5.0  # seconds that a host has after its start
TARGETS = {"p95, ms": 60.0, "p99, ms": 150.0}
COLUMNS = ("steps", "per second", "p50, ms", "p95, ms", "p99, ms", "max, ms", "lost", "wrong", "retries",
           "load", "texts per pass", "found", "cores")  # fmt: skip


@dataclass
class Host:
    """A host that runs in processes of its own."""

    words: list[str]
    port: int
    token: str
    process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        while "gv.load_model" not in (line := self.process.stdout.readline()):
            if not line:
                raise ModelError("bench host", seen="a host that ended", expected="a host that starts")

    def stop(self, hard: bool = False) -> None:
        """End it; `hard` gives it no time to say farewell."""
        if self.process:
            self.process.send_signal(signal.SIGKILL if hard else signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def restart(self, hard: bool) -> None:
        """End it and start it again."""
        self.stop(hard)
        self.start()

    def metrics(self) -> tuple[list[str], dict[str, float]]:
        """The processes that run the model, and all counters."""
        wire = Connection(read_address(self.address, self.token), patience=PATIENCE)
        text = wire.ask("GET", "/metrics").decode()
        counts = {name: float(value) for name, value in re.findall(r"^guidedviz_(\S+) (\S+)$", text, re.MULTILINE)}
        return re.findall(r'replica{process="(\d+)"}', text), counts


@contextmanager
def hosting(kind: str, file: Path, token: str) -> Iterator[Host]:
    """A host of this kind with two replicas, or plain with one process."""
    how = [] if kind == "plain" else ["--replicas", "2"]
    words = [sys.executable, "-m", "guidedviz", "host", "--port", str(PORT), "--tokens", str(file), *how]
    host = Host(words, PORT, token)
    try:
        host.start()
        yield host
    finally:
        host.stop()


def bench(options: Namespace) -> dict[str, Any]:
    """Print the tables and return the figures."""
    about = print_about(load="{:.2f} {:.2f} {:.2f} before".format(*os.getloadavg()))
    model = load_model("clerk")
    runs = build_runs(model)
    seconds, students = options.seconds or SECONDS, options.students or STUDENTS
    tokens = {name: secrets.token_urlsafe(24) for name in [*map(str, range(students)), "Mallory", "teacher"]}
    drawn = compare_draws(runs)
    print(
        f"\n{students} students, {RATE:g} steps per second each, {len(runs)} runs, a prompt of {runs[0].prompt} tokens"
    )
    print(f"16 bits: {drawn['other draws']} of {drawn['draws']:,} drawn tokens differ from those of the local logits")
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokens"
        file.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
        for kind in ["plain", *([] if is_missing("ray") else ["ray"])]:
            print(f"\n{kind}" + " " * 24 + "  ".join(COLUMNS))
            for fault in list_faults(kind):
                if options.only not in f"{kind}, {fault}":
                    continue
                span = seconds if fault in ("no fault", FOLLOWERS) else max(12.0, seconds / 3)
                with hosting(kind, file, tokens["teacher"]) as host:
                    if fault == FOLLOWERS:
                        row = measure_followers(host, tokens, model, span)
                        row |= {"date": about["date"], "device": about["machine"]}
                    else:
                        row = measure(host, kind, fault, tokens, runs, span)
                figures[f"{kind}, {fault}"] = row
                print_row(fault, row)
    about["load after"] = "{:.2f} {:.2f} {:.2f}".format(*os.getloadavg())
    print(f"load of the machine: {about['load']}, {about['load after']} after")
    out = {"about": about, "students": students, "rate": RATE, "rounding": drawn, "runs": figures}
    return out | plan(model, figures, options.device, options.price)


def list_faults(kind: str) -> list[str]:
    """The runs of a kind of host."""
    return ["no fault", *(["a replica is killed"] if kind == "ray" else []), *ATTACKS, "a restart", FOLLOWERS]


def print_row(fault: str, row: dict[str, Any]) -> None:
    """A line of the table, and below it what else was measured."""
    print(f"{fault:24}" + "  ".join(f"{row.get(name, ''):>{len(name)}}" for name in COLUMNS), flush=True)
    for name, more in row.items():
        if isinstance(more, dict):
            print(f"  {name}: " + ", ".join(f"{key} {value}" for key, value in more.items()))


def measure(
    host: Host, kind: str, fault: str, tokens: dict[str, str], runs: Sequence[Run], seconds: float
) -> dict[str, Any]:
    """One run of the class, with this fault in its middle third."""
    students = Students(host.address, [t for name, t in tokens.items() if name.isdecimal()], runs, RATE)
    students.warm_up()
    time.sleep(SETTLE)
    processes, before = host.metrics()
    more: dict[str, Any] = {}
    begin, end = seconds / 3, 2 * seconds / 3
    events: list[tuple[float, Callable[[], None]]] = []
    if fault in ATTACKS:
        act, threads = ATTACKS[fault]
        attacker = Attacker(host.port, tokens["Mallory"], act, threads)
        events = [(begin, attacker.start), (end, attacker.stop)]
    elif fault == "a replica is killed":
        events = [(begin, partial(os.kill, int(processes[0]), signal.SIGKILL))]
    elif fault == "a restart":
        events = [(begin, partial(timed_restart, host, kind == "plain", more))]
    every = {str(host.process and host.process.pid), *processes}
    cpu = cpu_seconds(every)
    students.study(seconds, events)
    row: dict[str, Any] = summarize(students.asked)
    row |= {"per second": round(len(students.asked) / seconds, 1), "retries": students.retries}
    row["load"] = round(os.getloadavg()[0], 1)
    if fault in ATTACKS:
        more["while it lasts"] = summarize(students.asked, begin, end)
        more["sent"] = dict(attacker.sent)
    if fault == "a replica is killed":
        more["ten seconds after the kill"] = summarize(students.asked, begin, begin + AFTER_KILL)
    if fault == "no fault":
        row |= {"cores": round((cpu_seconds(every) - cpu) / seconds, 2)} | count_passes(before, host.metrics()[1])
        more["reached"] = {name: bool(row[name] <= most) for name, most in TARGETS.items()}
    return row | more


def measure_followers(host: Host, tokens: dict[str, str], model: LanguageModel, seconds: float) -> dict[str, Any]:
    """A run that the teacher shows, and all students follow."""
    students = [token for name, token in tokens.items() if name.isdecimal()]
    lesson = Lesson(host.address, tokens["teacher"], students, model, RATE)
    time.sleep(SETTLE)
    every = {str(host.process and host.process.pid)}
    cpu = cpu_seconds(every)
    row = lesson.study(seconds)
    row |= {"load": round(os.getloadavg()[0], 1), "cores": round((cpu_seconds(every) - cpu) / seconds, 2)}
    return row | {"reached": {name: bool(row[name] <= most) for name, most in TARGETS.items()}}


def timed_restart(host: Host, hard: bool, more: dict[str, Any]) -> None:
    """Start the host again, and keep how long it was away."""
    began = time.perf_counter()
    host.restart(hard)
    more["the host was away"] = {"seconds": round(time.perf_counter() - began, 1)}


def count_passes(before: dict[str, float], after: dict[str, float]) -> dict[str, Any]:
    """Texts per pass, the share of tokens whose keys and values were found, and how many passes had how many texts."""
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    passes, texts, name = max(1.0, grown["passes_total"]), max(1.0, grown["pass_texts_sum"]), "prefix_tokens_total"
    found, read = grown[f'{name}{{found="yes"}}'], grown[f'{name}{{found="no"}}']
    sizes = {str(bound): grown[f'pass_texts_bucket{{le="{bound}"}}'] / passes for bound in TEXTS}
    return {
        "passes": int(passes),
        "texts per pass": round(texts / passes, 2),
        "found": round(found / max(1.0, found + read), 3),
        "tokens read per step": round(read / texts, 2),
        "pass, ms of a core per step": round(1e3 * grown["pass_cpu_seconds_total"] / texts, 3),
        "passes with at most so many texts": {bound: round(share, 3) for bound, share in sizes.items()},
    }


def cpu_seconds(processes: Iterable[str]) -> float:
    """The seconds of a core that processes took so far; 0 where /proc is not there."""
    total = 0.0
    for process in processes:
        with suppress(OSError, ValueError, IndexError):
            parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    return total


def compare_draws(runs: Sequence[Run], seeds: int = 20) -> dict[str, int]:
    """How many tokens are drawn otherwise when the logits were rounded as on the wire, with the same random numbers."""
    draws = other = 0
    for run in runs:
        count, size = run.logits.shape
        rounded = read_rows(pack_rows(run.logits), count, size).logits
        for place, (one, two) in enumerate(zip(run.logits, rounded, strict=True)):
            pair = softmax(one), softmax(two)
            for seed in range(seeds):
                draws += 1
                other += sample(pair[0], seed, place) != sample(pair[1], seed, place)
    return {"draws": draws, "other draws": other}
