"""A stage in a class: the teacher's is shown to the students, whose stages follow it.

A run is sent as a head, which has the machine of the constraint as data, and a record per step. The teacher's moves are
sent in a thread, which skips what is outdated. A student's stage asks for the next steps in a thread, and shows them
with a guide of its own, so that the student can go on alone from any of them. What comes from a host is checked like a
file of a stranger.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import accumulate, takewhile
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import quote

from guidedviz.decoding.player import LiveWalk, Player, Taken, read_taken, shared_steps
from guidedviz.decoding.recording import compress, decompress
from guidedviz.decoding.records import Count, as_json, read_value
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Step, Trace, check_steps
from guidedviz.errors import GuidedVizError, ModelError, SettingError, TraceError, VocabularyError, quoted
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.source import to_gbnf
from guidedviz.models.chat import Prompt
from guidedviz.models.model import Model
from guidedviz.models.remote import Address, Background, Connection
from guidedviz.tokens.guide import Guide, MachineGuide
from guidedviz.tokens.guide import guide as make_guide
from guidedviz.widgets.runner import LiveStage, running_loop, say_failure

MOST_MESSAGE = 56 << 10  # bytes of a message to the host
MOST_MACHINE = 32 << 10  # bytes of a machine in the head; a larger one is left out
MOST_UNPACKED = 4 << 20
MOST_ANSWER = (8 << 20) + (1 << 18)  # bytes: the run that a host keeps, and what stands around it
WAIT = 10  # seconds that a host waits for the next step before it answers
PATIENCE, TIMEOUT = 1.0, 5.0  # seconds that a lost host is asked again, and that an answer may take
PAUSE = 1.0  # seconds after which a lost host is asked again
ALONE = "go on alone from here"

# --- what is sent ---


@dataclass(frozen=True)
class Record:
    """A step, its settings, and whether it was taken under an earlier constraint."""

    step: Step
    settings: Settings
    earlier: bool = False


@dataclass(frozen=True)
class SentMachine:
    """The edges of a finite machine, or a grammar as GBNF."""

    edges: tuple[tuple[tuple[Count, Count, Count], ...], ...] = ()
    accepting: tuple[Count, ...] = ()
    grammar: str = ""


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


def make_head(trace: Trace, guide: Guide | None, vocabulary: str, now: Settings) -> Head:
    """The head of a run."""
    head = replace(trace, steps=(), recording="", guide=None, seed=now.seed, temperature=now.temperature)
    tokens = trace.prompt.tokens if isinstance(trace.prompt, Prompt) else ()
    return Head(head, vocabulary, pack_machine(guide), now, tokens)


def pack_machine(guide: Guide | None) -> str:
    """The machine of a guide as text; "" where it is no finite or pushdown machine, or too large."""
    machine, said = guide.machine if isinstance(guide, MachineGuide) else None, None
    if isinstance(machine, DFA):
        said = SentMachine(machine.edges, tuple(sorted(machine.accepting)))
    elif isinstance(machine, PDA):
        with suppress(GuidedVizError):  # a grammar that GBNF cannot write
            said = SentMachine(grammar=machine.grammar.text or to_gbnf(machine))
    packed = compress(asdict(said)) if said else ""
    return packed if len(packed) <= MOST_MACHINE else ""


def write_changes(run: str, head: Head | None, player: Player, start: int, ended: bool = False) -> Iterator[bytes]:
    """The messages that bring a host from `start` steps to this player, each of a bounded size."""
    records = [_record(taken, player) for taken in player.taken[start:]]
    ahead = _record(player.peek, player) if player.peek else None
    while True:
        room = MOST_MESSAGE - len(as_json([head, ahead]))
        sizes = accumulate(len(as_json(record)) for record in records)
        count = max(1, len([*takewhile(room.__gt__, sizes)]))
        message = {"run": run, "ended": ended, "head": head, "from": start, "add": records[:count]}
        head, start, records = None, start + count, records[count:]
        message |= {"next": None if records else ahead, "cursor": min(player.cursor, start)}
        yield as_json(message).encode()
        if not records:
            return


def _record(taken: Taken, player: Player) -> Record:
    return Record(taken.step, taken.settings, taken.walk is not player.walk)


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
    """The machine in a head: a grammar, or edges that are sorted and disjoint, and lead to its states.

    >>> words = gv.Vocabulary([b"a", b"b"])
    >>> unpack_machine(pack_machine(gv.guide(gv.regex("(ab)+"), words))).accepts(b"abab")
    True
    """
    where = "shared run, machine"
    said: SentMachine = read_value(SentMachine, decompress(packed, where, "a machine", MOST_UNPACKED), where)
    if said.grammar:
        return grammar(said.grammar)
    states = range(len(said.edges))
    if not states or not set(said.accepting).issubset(states):
        raise TraceError(f"{where}, accepting", seen=quoted(said.accepting), expected="known states")
    for row in said.edges:
        for (low, high, target), (after, *_) in zip(row, [*row[1:], (256,)], strict=False):
            if not (low <= high < after <= 256 and target in states):
                expected = "sorted ranges of bytes, to known states"
                raise TraceError(f"{where}, edges", seen=quoted(row), expected=expected)
    return DFA(said.edges, frozenset(said.accepting))


# --- the two roles of a stage ---


def make_bar(words: str, **keys: str) -> dict[str, Any]:
    """A line on the page, and its keys: what each says to the kernel, and its label."""
    return {"words": words, "keys": [[do, label] for do, label in keys.items()]}


class Publisher:
    """Shows a stage to the class; its state is "shows", "ends" until the host knows, or "ended"."""

    follows = False

    def __init__(self, place: Address, vocabulary: str) -> None:
        self._wire, self._vocabulary = Connection(place, patience=PATIENCE, timeout=TIMEOUT), vocabulary
        self._latest: tuple[Trace, Guide | None, Player] | None = None
        self._told: Player | None = None  # what the host has
        self._run, self._state, self.followers, self.trouble = "", "ended", 0, ""
        self._loop, self._background = running_loop(), Background(self._work)

    def start(self, stage: LiveStage) -> None:
        """Show the stage as a new run; an error says why this is not possible."""
        self._begin(stage)
        self._publish()

    def _begin(self, stage: LiveStage) -> None:
        self._run, self._state, self._told = token_hex(8), "shows", None
        self._tell = partial(stage.tell, wake=False)
        self._latest = stage.head, stage.guide, stage.player

    def moved(self, stage: LiveStage) -> None:
        """Send what has changed."""
        if self._state == "shows":
            self._latest = stage.head, stage.guide, stage.player
            self._background.wake()

    def hear(self, said: Any, stage: LiveStage) -> bool:
        """Stop, or show the run again."""
        match said:
            case {"do": "unshare"}:
                self.stop()
            case {"do": "share"}:
                self._begin(stage)
                self._background.wake()
            case _:
                return False
        stage.tell()
        return True

    def bar(self) -> dict[str, Any]:
        """Whether the class sees the run."""
        if self._state == "shows" and not self.trouble:
            students = "1 student follows" if self.followers == 1 else f"{self.followers} students follow"
            return make_bar(f"The class sees this run; {students}.", unshare="stop showing it")
        return make_bar(self.trouble or "The class does not see this run.", share="show it to the class")

    def stop(self) -> None:
        """Show the run no longer; it stays on the students' stages."""
        if self._state == "shows":
            self._state = "ends"
            self._background.wake()

    def _work(self) -> None:
        """Send the latest run; a lost host gets all of it again."""
        before, lost = self.bar(), False
        try:
            if self._state != "ended":
                self._publish()
        except ModelError as error:
            self.trouble, self._told, lost = str(error), None, self._state == "shows"
        except GuidedVizError as error:
            self.trouble, self._state = str(error), "ended"
        if self._loop and before != self.bar() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell)
        if lost:
            time.sleep(PAUSE)
            self._background.wake()

    def _publish(self) -> None:
        """Send what the host lacks; another constraint or other settings are another head, and everything is sent."""
        if self._latest is None:
            return
        (trace, guide, player), told, ended = self._latest, self._told, self._state == "ends"
        if told is player and not ended:
            return
        same = told and told.walk is player.walk and told.settings == player.settings
        head = None if same else make_head(trace, guide, self._vocabulary, player.settings)
        start = shared_steps(told.taken, player.taken) if told and same else 0
        try:
            for message in write_changes(self._run, head, player, start, ended):
                self.followers = int(json.loads(self._wire.ask("POST", "/v1/run", message)).get("followers", 0))
        except SettingError as error:
            if told is None or "no run" not in error.seen:
                raise
            self._told = None  # the host was restarted: it gets everything
            return self._publish()
        self._told, self.trouble = player, ""
        self._state = "ended" if ended else self._state


class Scene(NamedTuple):
    """The teacher's run as a student's stage shows it."""

    head: Trace
    guide: Guide | None
    player: Player


class Follower:
    """Shows the teacher's run on a stage."""

    follows = True

    def __init__(self, model: Model, place: Address, guide: Guide | None = None) -> None:
        self._model, self._guide = model, guide
        self._wire = Connection(place, patience=PATIENCE, timeout=WAIT + 10)
        self._stage: weakref.ref[Any] = weakref.ref(self)
        self._known = "", 0  # the run and its version
        self._scene: Scene | None = None
        self._shown: Scene | None = None  # what the stage shows
        self._live, self._over, self._stopped = True, False, False
        self.lost, self.trouble = "", ""  # why the host does not answer, and why its answer cannot be shown

    def start(self, stage: LiveStage) -> None:
        """Follow from now on; where nobody can click, show what there is now."""
        self._stage = weakref.ref(stage)
        self._ask(wait=0)
        self._arrive()
        if loop := running_loop():
            threading.Thread(target=self._listen, args=(loop,), daemon=True).start()

    def moved(self, stage: LiveStage) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Follow no longer."""
        self._stopped = True

    def hear(self, said: Any, stage: LiveStage) -> bool:
        """Move among the teacher's steps, return to the teacher, or leave."""
        match said:
            case {"do": "branch"}:
                stage.branch()
            case {"do": "catch_up" | "play" | "pause" | "end" | "step"}:
                self._live = True
                self._arrive()
            case {"do": "go", "cursor": int(cursor)}:
                self._live = self._shown is not None and cursor == self._shown.player.cursor
                return False
            case _:
                return False
        return True

    def bar(self) -> dict[str, Any]:
        """Where the teacher is."""
        words = "The teacher has stopped showing this run." if self._over else "You follow the teacher's run."
        trouble = self.lost or self.trouble
        if self._shown is None:
            return make_bar(trouble or "The teacher shows no run yet.")
        catch_up = {} if self._live else {"catch_up": "back to the teacher"}
        return make_bar(trouble or words, **catch_up, branch=ALONE)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take each change as it comes, in a thread."""
        while not self._stopped and self._stage() is not None:
            before = self._known, self.lost
            try:
                self._ask(WAIT)
                self.lost = ""
            except GuidedVizError as error:
                self.lost = f"{error.where}: {error.seen}; asked again"
            if loop.is_closed():
                break
            if before != (self._known, self.lost):
                loop.call_soon_threadsafe(self._arrive)
            time.sleep(PAUSE if self.lost else 0)
        self._wire.close()

    def _ask(self, wait: int) -> None:
        """Ask what changed, for which the host waits so many seconds; a change that cannot be shown is told."""
        run, version = self._known
        path = f"/v1/run?run={quote(run)}&version={version}&wait={wait}"
        change = read_change(self._wire.ask("GET", path, most=MOST_ANSWER))
        if self._known == (change.run, change.version):
            return
        self._known = change.run, change.version
        try:
            self._scene = read_scene(self._model, self._guide, self._scene, change)
            self._over, self.trouble = change.ended, ""
        except Exception as error:  # the notebook goes on whatever a host sends
            self.trouble = say_failure(error)

    def _arrive(self) -> None:
        """Show the latest scene on the stage."""
        stage, scene, before = self._stage(), self._scene, self._shown
        if stage is None or self._stopped:
            return
        if scene is not None:
            self._shown = scene
            if before is None or before.head is not scene.head:
                stage.begin(scene.head, scene.guide)
            stage.accept(scene.player if self._live else scene.player.go(stage.player.cursor))
        stage.tell(wake=False)


def read_scene(model: Model, guide: Guide | None, before: Scene | None, change: Change) -> Scene | None:
    """The scene after a change; None while no run is shown."""
    scene = open_scene(model, guide, change.head) if change.head else before
    if scene is None:
        return None
    kept = scene.player.taken[: change.start]
    if len(kept) != change.start:
        raise TraceError("shared run", seen=f"a change from step {change.start}", expected=f"from step {len(kept)}")
    count = len(kept) + len(change.add)
    ahead = (change.next,) if change.next and change.cursor >= count else ()
    records = change.add + ahead
    steps = tuple(one.step for one in kept + records)
    check_steps(replace(scene.head, steps=steps, vocabulary_size=len(model.vocabulary)))
    walk, earlier = scene.player.walk, copy(scene.player.walk)  # a step under an earlier constraint has another walk
    rows = [(one.step, one.settings, earlier if one.earlier else walk) for one in records]
    run = read_taken("shared run, step", scene.guide, kept[-1].after if kept else walk.first, rows, kept)
    player = replace(scene.player, taken=run[:count], cursor=min(change.cursor, count), peek=None)
    return scene._replace(player=replace(player, peek=run[-1]) if ahead else player)


def open_scene(model: Model, guide: Guide | None, head: Head) -> Scene:
    """A scene without steps."""
    if head.vocabulary != model.vocabulary.fingerprint:
        seen, expected = f"{model.name}, another vocabulary", f"the model of the teacher, {quoted(head.trace.model)}"
        raise VocabularyError("shared run", seen=seen, expected=expected)
    if guide is None and head.machine:
        guide = make_guide(unpack_machine(head.machine), model.vocabulary)
    trace = head.trace
    prompt = Prompt(trace.prompt, head.tokens, trace.parts) if head.tokens else trace.prompt
    walk = LiveWalk(model, prompt, guide)
    return Scene(replace(trace, prompt=prompt), guide, Player(walk, head.settings))
