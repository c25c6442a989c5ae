"""A class that follows the teacher's run: each step must reach each follower in time, once, and in its place.

The teacher shows runs of `clerk` at a steady pace, in one case of eight five steps back and on from there. A third of
the followers comes later and gets what was shown before. A step's time counts from the moment it was due until the
follower has read it.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from guidedviz.bench.host.students import PATIENCE, Asked, summarize
from guidedviz.decoding.loop import make_trace
from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.sharing import Head, follow, make_head, write_changes
from guidedviz.machines.pushdown.counted_regex import regex
from guidedviz.models.model import LanguageModel
from guidedviz.models.remote import Connection, read_address
from guidedviz.tokens.machine_guide import guide

PROMPTS = ("Ada is 36.\nSummary:\n", "Alan Turing lives in London.\nSummary:\n", "Grace wrote to Emmy.\nSummary:\n")
PATTERN = r"[A-Za-z0-9 .,']{60,200}"
STEPS, BACK = 60, 5  # of a run; of a move back
JOIN, LEAVE = 1.0, 2.0  # seconds before the first step, and after the last one


@dataclass(frozen=True)
class Shown:
    """A step that was shown: when it was due, the version of the run with it, and all tokens then."""

    due: float
    run: str
    version: int
    tokens: tuple[int, ...]


@dataclass
class Follower:
    """A student who follows from some time on, and what was read: when, the run, its version and its tokens."""

    token: str
    since: float = 0.0
    read: list[tuple[float, str, int, tuple[int, ...]]] = field(default_factory=list)


class Lesson:
    """A teacher and followers on one host."""

    def __init__(self, address: str, teacher: str, tokens: Sequence[str], model: LanguageModel, rate: float) -> None:
        self.period, self._address = 1 / rate, address
        self._wire = Connection(read_address(address, teacher), patience=PATIENCE)
        self.shown: list[Shown] = []
        self.followers, self.sent, self._end = [Follower(token) for token in tokens], 0, threading.Event()
        over = guide(regex(PATTERN), model.vocabulary)
        self._runs = [decode(LiveWalk(model, text, over), text, seed) for seed, text in enumerate(PROMPTS)]

    def study(self, seconds: float) -> dict[str, Any]:
        """Show runs for so many seconds; gives the figures."""
        began = time.perf_counter() + JOIN
        for number, follower in enumerate(self.followers):
            follower.since = began - JOIN if number % 3 else began + seconds / 3
        threads = [threading.Thread(target=self._follow, args=(one,), daemon=True) for one in self.followers]
        for thread in threads:
            thread.start()
        end = self._show(began, began + seconds)
        time.sleep(LEAVE)
        self._end.set()
        self._ask(end)  # whoever waits hears that it is over
        for thread in threads:
            thread.join(PATIENCE)
        asked = [one for follower in self.followers for one in judge(follower, self.shown)]
        row: dict[str, Any] = summarize(asked)
        row |= {"per second": round(len(asked) / seconds, 1), "shown": len(self.shown)}
        return row | {"bytes per step": round(self.sent / max(1, len(self.shown)))}

    def _show(self, due: float, until: float) -> bytes:
        """The teacher: a step per period, one run after the other; gives the message that ends the last one."""
        dice, number, message = random.Random(0), 0, b""
        while due < until:
            number += 1
            (whole, head), cursor = self._runs[number % len(self._runs)], 0
            first: Head | None = head
            while cursor < len(whole.taken) and due < until:
                known, back = cursor, cursor > BACK and dice.random() < 1 / 8
                cursor += -BACK if back else 1
                time.sleep(max(0.0, due - time.perf_counter()))
                now = replace(whole, taken=whole.taken[:cursor], cursor=cursor)
                for message in write_changes(f"run {number}", first, now, min(known, cursor)):
                    version = self._ask(message)
                    self.sent += len(message)
                self.shown.append(Shown(due, f"run {number}", version, tuple(step.token for step in now.steps)))
                first, due = None, due + self.period
                message = next(write_changes(f"run {number}", None, now, cursor, ended=True))
        return message

    def _ask(self, message: bytes) -> int:
        version: int = json.loads(self._wire.ask("POST", "/v1/run", message))["version"]
        return version

    def _follow(self, follower: Follower) -> None:
        """A student: everything that comes is read, as a stage reads it."""
        time.sleep(max(0.0, follower.since - time.perf_counter()))
        wire = Connection(read_address(self._address, follower.token), patience=PATIENCE, timeout=PATIENCE)
        tokens: tuple[int, ...] = ()
        for change in follow(wire, lambda: not self._end.is_set(), lambda why: None):
            tokens = (*tokens[: change.start], *(record.step.token for record in change.add))
            follower.read.append((time.perf_counter(), change.run.rpartition("-")[0], change.version, tokens))


def decode(walk: LiveWalk, prompt: str, seed: int) -> tuple[Player, Head]:
    """A whole run, and its head."""
    player = Player(walk, Settings(seed=seed, max_tokens=STEPS))
    while not player.at_end:
        player = player.forward()
    trace = make_trace(walk.model, prompt, (), constraint=PATTERN, seed=seed)
    return player, make_head(trace, walk.guide, walk.model.vocabulary.fingerprint, player.settings)


def judge(follower: Follower, shown: Sequence[Shown]) -> list[Asked]:
    """When a follower had read each step that was shown; "wrong" if another run was read with it.

    >>> steps = [Shown(1.0, "a", 1, (7,)), Shown(2.0, "a", 2, (7, 8)), Shown(3.0, "b", 1, (5,)), Shown(4.0, "b", 2, ())]
    >>> read = [(1.5, "a", 1, (7,)), (2.25, "a", 2, (7, 7)), (4.5, "b", 2, ())]
    >>> [(one.took, one.end) for one in judge(Follower("", 0.0, read), steps)]
    [(0.5, ''), (0.25, 'wrong'), (1.5, ''), (0.5, '')]
    >>> [one.end for one in judge(Follower("", 0.0, read[:1]), steps)]
    ['', 'lost', 'lost', 'lost']
    """
    whole, out = {(one.run, one.version): one.tokens for one in shown}, []
    for one in shown:
        if one.due < follower.since + JOIN:  # the follower came later
            continue
        read = next((read for read in follower.read if read[1] == one.run and read[2] >= one.version), None)
        if read is None:
            out.append(Asked(one.due, PATIENCE, "lost"))
        else:
            at, run, version, tokens = read
            out.append(Asked(one.due, at - one.due, "" if whole.get((run, version), tokens) == tokens else "wrong"))
    return out
