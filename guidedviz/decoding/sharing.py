"""A run that a teacher shows to a class, as messages: a head that is sent once, and a record per step.

The head has what a student's stage needs to show the same panels and to go on alone: where the run comes from, the
vocabulary, and the machine of the constraint as data. What comes from a host is checked like a file of a stranger.
"""

from __future__ import annotations

import json
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import quote

from guidedviz.decoding.player import Player, Taken
from guidedviz.decoding.records import Between, Count, as_json, read_value
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import GuidedVizError, TraceError, quoted
from guidedviz.machines.decompile import to_gbnf
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.dfa import DFA
from guidedviz.models.remote import Connection
from guidedviz.tokens.guide import Guide, MachineGuide, guide

MOST_MESSAGE = 56 << 10  # bytes of a message to the host
MOST_MACHINE = 32 << 10  # bytes of a machine in the head; a larger one is left out
MOST_UNPACKED = 4 << 20
MOST_ANSWER = (8 << 20) + (1 << 18)  # bytes: the run that a host keeps, and what stands around it
WAIT = 10  # seconds that a host waits for the next step before it answers
PAUSE = 1.0  # seconds after which a lost host is asked again


@dataclass(frozen=True)
class Chosen:
    """The settings of a step that a stage can change or name."""

    temperature: Annotated[float, Between(0, 100)] = 1.0
    top_k: Count = 0
    top_p: Annotated[float, Between(0, 1)] = 1.0
    seed: Count = 0
    max_tokens: Count = 1
    bias: tuple[tuple[Count, Annotated[float, Between(-100, 100)]], ...] = ()
    jump_forward: str = ""


@dataclass(frozen=True)
class Record:
    """A step, its settings, and whether it was taken under an earlier constraint."""

    step: Step
    chosen: Chosen
    earlier: bool = False


@dataclass(frozen=True)
class Head:
    """What all steps have in common."""

    trace: Trace  # without steps
    vocabulary: str  # the fingerprint
    machine: str  # packed; "" for none
    guided: bool  # whether there is a constraint
    chosen: Chosen  # of the next step


@dataclass(frozen=True)
class Change:
    """What a follower lacks: another head, the records from `start` on, the step that comes next, and the cursor."""

    run: str
    version: Count
    head: tuple[Head, ...]  # one, or none
    start: Count
    add: tuple[Record, ...]
    next: tuple[Record, ...]  # one, or none
    cursor: Count
    ended: bool


# --- the teacher's side ---


def make_head(trace: Trace, guide: Guide | None, vocabulary: str, now: Settings) -> Head:
    """The head of a run."""
    head = replace(trace, steps=(), recording="", guide=None, seed=now.seed, temperature=now.temperature)
    return Head(head, vocabulary, pack_machine(guide), guide is not None, choose(now))


def choose(now: Settings) -> Chosen:
    """Settings as a record; a draft is left out."""
    bias = tuple(sorted(now.bias.items()))
    return Chosen(now.temperature, now.top_k, now.top_p, now.seed, now.max_tokens, bias, now.way)


def pack_machine(guide: Guide | None) -> str:
    """The machine of a guide as text; "" where it is no finite or pushdown machine, or too large."""
    machine = guide.machine if isinstance(guide, MachineGuide) else None
    if isinstance(machine, DFA):
        said: Any = {"edges": machine.edges, "accepting": sorted(machine.accepting)}
    elif isinstance(machine, PDA):
        try:
            said = {"grammar": machine.grammar.text or to_gbnf(machine)}
        except GuidedVizError:  # a grammar that GBNF cannot write
            return ""
    else:
        return ""
    packed = b64encode(zlib.compress(as_json(said).encode(), 9)).decode()
    return packed if len(packed) <= MOST_MACHINE else ""


def write_changes(run: str, head: Head | None, player: Player, start: int, ended: bool = False) -> Iterator[bytes]:
    """The messages that bring a host from `start` steps to this player, each of a bounded size."""
    records = [as_json(_record(taken, player)) for taken in player.taken[start:]]
    ahead = as_json(_record(player.peek, player)) if player.peek else "null"
    common = {"run": json.dumps(run), "ended": json.dumps(ended)}
    first = as_json(head) if head else "null"
    while True:
        size, count = len(first) + len(ahead), 0
        while count < len(records) and (not count or size + len(records[count]) < MOST_MESSAGE):
            size += len(records[count])
            count += 1
        some, records = records[:count], records[count:]
        cursor = min(player.cursor, start + count)
        parts = common | {"head": first, "from": str(start), "add": f"[{','.join(some)}]", "cursor": str(cursor)}
        parts["next"] = "null" if records else ahead
        yield f"{{{','.join(f'{json.dumps(name)}:{text}' for name, text in parts.items())}}}".encode()
        if not records:
            return
        start, first = start + count, "null"


def _record(taken: Taken, player: Player) -> Record:
    return Record(taken.step, choose(taken.settings), taken.walk is not player.walk)


# --- the student's side ---


def follow(wire: Connection, goes_on: Callable[[], bool], lost: Callable[[str], None]) -> Iterator[Change]:
    """The changes of the run that is shown, as they come. `lost` hears why none comes, or "" when they come again."""
    run, version = "", 0
    while goes_on():
        try:
            change = ask_change(wire, run, version)
        except GuidedVizError as error:
            lost(f"{error.where}: {error.seen}; asked again")
            time.sleep(PAUSE)
            continue
        lost("")
        if (change.run, change.version) != (run, version):
            run, version = change.run, change.version
            yield change


def ask_change(wire: Connection, run: str = "", version: int = 0, wait: int = WAIT) -> Change:
    """What changed since this version of a run; the host waits for a change so many seconds."""
    body = wire.ask("GET", f"/v1/run?run={quote(run)}&version={version}&wait={wait}", most=MOST_ANSWER)
    return read_change(body)


def read_change(body: bytes) -> Change:
    """The change in an answer of a host."""
    try:
        said = json.loads(body)
        parts = {"start" if name == "from" else name: value for name, value in said.items()}
        parts |= {name: [] if parts.get(name) is None else [parts[name]] for name in ("head", "next")}
    except (ValueError, AttributeError, RecursionError):
        raise TraceError("shared run", seen=quoted(body), expected="an answer of a host") from None
    change: Change = read_value(Change, parts, "shared run")
    return change


def read_guide(head: Head, vocabulary: Any) -> Guide | None:
    """The guide of a head over a student's vocabulary; None if the head has no machine."""
    if not head.machine:
        return None
    return guide(unpack_machine(head.machine), vocabulary)


def unpack_machine(packed: str) -> Machine[Any]:
    """The machine in a head.

    >>> words = gv.Vocabulary([b"a", b"b"])
    >>> unpack_machine(pack_machine(gv.guide(gv.regex("(ab)+"), words))).accepts(b"abab")
    True
    """
    where, expected = "shared run, machine", "a machine of the teacher's stage"
    try:
        said = json.loads(zlib.decompressobj().decompress(b64decode(packed, validate=True), MOST_UNPACKED))
    except (ValueError, zlib.error, RecursionError) as error:
        raise TraceError(where, seen=str(error)[:80], expected=expected) from None
    match said:
        case {"grammar": str(text)}:
            return grammar(text)
        case {"edges": edges, "accepting": accepting}:
            return read_dfa(edges, accepting)
    raise TraceError(where, seen=quoted(said), expected=expected)


def read_dfa(edges: Any, accepting: Any) -> DFA:
    """A finite machine from JSON: its edges are sorted and disjoint, and lead to its states."""
    rows = read_value(tuple[tuple[tuple[Count, Count, Count], ...], ...], edges, "shared run, edges")
    ends = read_value(tuple[Count, ...], accepting, "shared run, accepting")
    for row in rows:
        for (low, high, target), (after, *_) in zip(row, [*row[1:], (256,)], strict=False):
            if not (low <= high < after <= 256 and target < len(rows)):
                expected = "sorted ranges of bytes, to known states"
                raise TraceError("shared run, edges", seen=quoted(row), expected=expected)
    if not rows or max(ends, default=0) >= len(rows):
        raise TraceError("shared run, accepting", seen=quoted(ends), expected="known states")
    return DFA(rows, frozenset(ends))
