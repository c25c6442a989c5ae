"""A run that a teacher shows to a class, as messages: a head that is sent once, and a record per step.

The head has what a student's stage needs to show the same panels and to go on alone: where the run comes from, the
vocabulary, and the machine of the constraint as data. What comes from a host is checked like a file of a stranger.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any
from urllib.parse import quote

from guidedviz.decoding.player import Player, Taken
from guidedviz.decoding.recording import compress, decompress
from guidedviz.decoding.records import Count, as_json, read_value
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import GuidedVizError, TraceError, quoted
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.source import to_gbnf
from guidedviz.models.chat import Prompt
from guidedviz.models.remote import Connection
from guidedviz.tokens.guide import Guide, MachineGuide

MOST_MESSAGE = 56 << 10  # bytes of a message to the host
MOST_MACHINE = 32 << 10  # bytes of a machine in the head; a larger one is left out
MOST_UNPACKED = 4 << 20
MOST_ANSWER = (8 << 20) + (1 << 18)  # bytes: the run that a host keeps, and what stands around it
WAIT = 10  # seconds that a host waits for the next step before it answers
PAUSE = 1.0  # seconds after which a lost host is asked again


@dataclass(frozen=True)
class Record:
    """A step, its settings, and whether it was taken under an earlier constraint."""

    step: Step
    settings: Settings
    earlier: bool = False


@dataclass(frozen=True)
class Head:
    """What all steps have in common."""

    trace: Trace  # without steps
    vocabulary: str  # the fingerprint
    machine: str  # packed; "" for none
    settings: Settings  # of the next step
    tokens: tuple[Count, ...] = ()  # of a chat prompt; another one is encoded


@dataclass(frozen=True)
class Change:
    """What a follower lacks: another head, the records from `start` on, the step that comes next, and the cursor."""

    run: str
    version: Count
    head: Head | None
    start: Count
    add: tuple[Record, ...]
    next: Record | None
    cursor: Count
    ended: bool


# --- the teacher's side ---


def make_head(trace: Trace, guide: Guide | None, vocabulary: str, now: Settings) -> Head:
    """The head of a run."""
    head = replace(trace, steps=(), recording="", guide=None, seed=now.seed, temperature=now.temperature)
    tokens = trace.prompt.tokens if isinstance(trace.prompt, Prompt) else ()
    return Head(head, vocabulary, pack_machine(guide), now, tokens)


def pack_machine(guide: Guide | None) -> str:
    """The machine of a guide as text; "" where it is no finite or pushdown machine, or too large."""
    machine, said = guide.machine if isinstance(guide, MachineGuide) else None, dict[str, Any]()
    if isinstance(machine, DFA):
        said = {"edges": machine.edges, "accepting": sorted(machine.accepting)}
    elif isinstance(machine, PDA):
        try:
            said = {"grammar": machine.grammar.text or to_gbnf(machine)}
        except GuidedVizError:  # a grammar that GBNF cannot write
            return ""
    packed = compress(said) if said else ""
    return packed if len(packed) <= MOST_MACHINE else ""


def write_changes(run: str, head: Head | None, player: Player, start: int, ended: bool = False) -> Iterator[bytes]:
    """The messages that bring a host from `start` steps to this player, each of a bounded size."""
    records = [_record(taken, player) for taken in player.taken[start:]]
    sizes = [len(as_json(record)) for record in records]
    ahead = _record(player.peek, player) if player.peek else None
    while True:
        room = MOST_MESSAGE - len(as_json([head, ahead]))
        count = max(1, sum(size < room for size in accumulate(sizes)))
        message = {"run": run, "ended": ended, "head": head, "from": start, "add": records[:count]}
        start, records, sizes = start + count, records[count:], sizes[count:]
        message |= {"next": None if records else ahead, "cursor": min(player.cursor, start)}
        yield as_json(message).encode()
        if not records:
            return
        head = None


def _record(taken: Taken, player: Player) -> Record:
    return Record(taken.step, taken.settings, taken.walk is not player.walk)


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
        said["start"] = said.pop("from")
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise TraceError("shared run", seen=quoted(body), expected="an answer of a host") from None
    change: Change = read_value(Change, said, "shared run")
    return change


def unpack_machine(packed: str) -> Machine[Any]:
    """The machine in a head.

    >>> words = gv.Vocabulary([b"a", b"b"])
    >>> unpack_machine(pack_machine(gv.guide(gv.regex("(ab)+"), words))).accepts(b"abab")
    True
    """
    where, expected = "shared run, machine", "a machine of the teacher's stage"
    match decompress(packed, where, expected, MOST_UNPACKED):
        case {"grammar": str(text)}:
            return grammar(text)
        case {"edges": edges, "accepting": accepting}:
            return read_dfa(edges, accepting)
        case said:
            raise TraceError(where, seen=quoted(said), expected=expected)


def read_dfa(edges: Any, accepting: Any) -> DFA:
    """A finite machine from JSON: its edges are sorted and disjoint, and lead to its states."""
    rows = read_value(tuple[tuple[tuple[Count, Count, Count], ...], ...], edges, "shared run, edges")
    ends = read_value(tuple[Count, ...], accepting, "shared run, accepting")
    if not rows or max(ends, default=0) >= len(rows):
        raise TraceError("shared run, accepting", seen=quoted(ends), expected="known states")
    for row in rows:
        for (low, high, target), (after, *_) in zip(row, [*row[1:], (256,)], strict=False):
            if not (low <= high < after <= 256 and target < len(rows)):
                expected = "sorted ranges of bytes, to known states"
                raise TraceError("shared run, edges", seen=quoted(row), expected=expected)
    return DFA(rows, frozenset(ends))
