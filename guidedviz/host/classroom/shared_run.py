"""The run that a teacher shows to the class: a head that is sent once, and a record per step.

A follower says which version it has, and gets the records that changed since then. So a request that is repeated
changes nothing, a late follower gets everything, and a host that was restarted is noticed by the name of the run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from contextlib import suppress
from secrets import token_hex
from typing import Any

from guidedviz.errors import SettingError, quoted

MOST = 8 << 20  # bytes of a run
MOST_RECORDS = 5000
MOST_NAME = 64
FOLLOWS = 15.0  # seconds since the last request of a follower
MOST_ASKED = 5000  # followers
KEPT = 4000  # changes that are remembered; who lacks more gets everything


class SharedRun:
    """The run that is shown now; without a name there is none."""

    def __init__(self) -> None:
        self.name = ""  # as the teacher's stage calls it
        self._asked: dict[str, float] = {}  # who follows, and when they asked last
        self._life, self._head, self._next = "", "null", "null"
        self._records: list[str] = []
        self._cursor, self._ended = 0, False
        self._version, self._head_version = 0, 0
        self._cuts: deque[int] = deque(maxlen=KEPT)  # the first record that each of the last changes changed
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._records)

    @property
    def life(self) -> str:
        """The name that followers know: another one after each start of the host."""
        return self._life

    def publish(self, body: bytes) -> int:
        """Take a change of the teacher's stage; gives the number of the version."""
        said = read_change(body)
        if said["head"] is None and said["run"] != self.name:
            hint = "the whole run with its head"
            seen = "another run is shown" if self.name else "no run is shown"
            raise SettingError("run", seen=seen, expected="a head", hint=hint)
        start, records = said["from"], [write(record) for record in said["add"]]
        if said["run"] != self.name:
            self._begin(said["run"])
        head = self._head if said["head"] is None else write(said["head"])
        kept = self._records[:start]
        if start > len(kept):
            raise SettingError("run, from", seen=str(start), expected=f"0 to {len(kept)}")
        size = len(head) + sum(map(len, kept)) + sum(map(len, records))
        if size > MOST or len(kept) + len(records) > MOST_RECORDS:
            seen = f"{len(kept) + len(records)} records with {size} bytes"
            raise SettingError("run", seen=seen, expected=f"at most {MOST_RECORDS} records and {MOST} bytes")
        self._version += 1
        if head != self._head:
            self._head, self._head_version = head, self._version
        self._records, self._next = [*kept, *records], write(said["next"])
        self._cursor, self._ended = said["cursor"], said["ended"]
        self._cuts.append(start)
        event, self._changed = self._changed, asyncio.Event()
        event.set()
        return self._version

    @property
    def followers(self) -> int:
        """How many students follow: they asked a short time ago."""
        since = time.monotonic() - FOLLOWS
        self._asked = {student: at for student, at in self._asked.items() if at > since}
        return len(self._asked)

    async def changes(self, student: str, life: str, version: int, seconds: float) -> list[str]:
        """What changed since a version, as pieces of JSON; it waits for a change so many seconds."""
        self._asked.pop(student, None)
        self._asked[student] = time.monotonic()
        if len(self._asked) > MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        if life == self._life and version >= self._version:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        return self._write(version if life == self._life and 0 <= version <= self._version else 0)

    def _begin(self, name: str) -> None:
        """Show another run."""
        self.name, self._life = name, f"{name}-{token_hex(8)}"
        self._records, self._head, self._version, self._head_version = [], "null", 0, 0
        self._cuts.clear()

    def _write(self, since: int) -> list[str]:
        """The pieces of an answer; the records among them are those that the run keeps, not copies."""
        start, lacks = 0, self._version - since
        if since and lacks <= len(self._cuts):
            start = min([*self._cuts][len(self._cuts) - lacks :], default=len(self._records))
        head = self._head if self._head_version > since else "null"
        before = f'{{"run":{write(self._life)},"version":{self._version},"head":{head},"from":{start},"add":['
        cursor, ended = self._cursor, write(self._ended)
        after = f'],"next":{self._next},"cursor":{cursor},"ended":{ended}}}'
        records = [piece for record in self._records[start:] for piece in (",", record)][1:]
        return [before, *records, after]


def write(value: Any) -> str:
    """A value as JSON without spaces, in ASCII."""
    return json.dumps(value, separators=(",", ":"))


def read_change(body: bytes) -> dict[str, Any]:
    """A change in a body, with all its parts; anything else is refused. The followers read heads and records.

    >>> read_change(b'{"run": "a", "head": {}, "from": 0, "add": []}')["cursor"]
    0
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise SettingError("run", seen=quoted(body), expected="a JSON object")
    found = {"head": None, "next": None, "cursor": 0, "ended": False, **said}
    kinds: dict[str, Any] = {"run": str, "from": int, "add": list, "cursor": int, "ended": bool}
    for name, kind in kinds.items():
        if type(found.get(name)) is not kind:
            raise SettingError(
                f"run, {name}", seen=quoted(found.get(name)), expected=f"a value of type {kind.__name__}"
            )
    for name, value in (("head", found["head"]), ("next", found["next"]), *(("add", one) for one in found["add"])):
        if not (isinstance(value, dict) or (value is None and name != "add")):
            raise SettingError(f"run, {name}", seen=quoted(value), expected="a JSON object")
    if not 0 < len(found["run"]) <= MOST_NAME or min(found["from"], found["cursor"]) < 0:
        raise SettingError(
            "run", seen=quoted(found["run"]), expected=f"a name of 1 to {MOST_NAME} characters, and counts"
        )
    return found
