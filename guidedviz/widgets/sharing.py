"""A stage in a class: the teacher's is shown to the students, whose stages follow it.

A run is sent whole, compressed: its steps, and the machine of the constraint as data. The teacher's moves are sent in a
thread, which skips what is outdated. A student's stage asks for the latest run in a thread, and shows it with a guide
of its own, so that the student can go on alone from any step. What comes from a host is checked like a file of a
stranger.
"""

import asyncio
import json
import threading
import time
import weakref
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import quote

from guidedviz.decoding.player import LiveWalk, Player, Taken, read_taken
from guidedviz.decoding.recording import compress, decompress
from guidedviz.decoding.records import Count, as_json, read_value
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Step, Trace, check_steps
from guidedviz.errors import GuidedVizError, ModelError, SettingError, TraceError, VocabularyError, quoted
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.written import to_gbnf
from guidedviz.models.chat import Prompt
from guidedviz.models.connection import Address, Connection
from guidedviz.models.model import Model
from guidedviz.models.remote import MOST_RUN, Background
from guidedviz.tokens.build_guide import guide as make_guide
from guidedviz.tokens.guide import Guide, MachineGuide
from guidedviz.tokens.vocabulary import shared_length
from guidedviz.widgets.display import Message
from guidedviz.widgets.runner import LiveStage, running_loop, say_failure

MOST_MACHINE = 256 << 10  # bytes of a machine; a larger one is left out
STEP_WAIT = 10  # seconds that a host waits for the next step before it answers
CLASS_PATIENCE = 1.0  # seconds in which a lost host is asked again
HOST_TIMEOUT = 5.0  # seconds that an answer may take
HOST_PAUSE = 1.0  # seconds after which a lost host is asked again
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
    machine: SentMachine | None
    settings: Settings  # of the next step
    tokens: tuple[Count, ...] = ()  # of a chat prompt; another one is encoded


@dataclass(frozen=True)
class SentRun:
    """A run as a host keeps it: its steps, the step that comes next, and the cursor."""

    head: Head
    records: tuple[Record, ...]
    next: Record | None
    cursor: Count
    ended: bool = False


def make_run(trace: Trace, guide: Guide | None, player: Player, vocabulary: str, ended: bool = False) -> SentRun:
    """The run of a stage."""
    now = player.settings
    common = replace(trace, steps=(), recording="", guide=None, seed=now.seed, temperature=now.temperature)
    tokens = trace.prompt.tokens if isinstance(trace.prompt, Prompt) else ()
    head = Head(common, vocabulary, send_machine(guide), now, tokens)

    def record(taken: Taken) -> Record:
        return Record(taken.step, taken.settings, taken.walk is not player.walk)

    ahead = record(player.peek) if player.peek else None
    return SentRun(head, tuple(map(record, player.taken)), ahead, player.cursor, ended)


def send_machine(guide: Guide | None) -> SentMachine | None:
    """The machine of a guide as data; None where it is no finite or pushdown machine, or too large."""
    machine = guide.machine if isinstance(guide, MachineGuide) else None
    said = None
    if isinstance(machine, DFA):
        said = SentMachine(machine.edges, tuple(sorted(machine.accepting)))
    elif isinstance(machine, PDA):
        with suppress(GuidedVizError):  # a grammar that GBNF cannot write
            said = SentMachine(grammar=machine.grammar.text or to_gbnf(machine))
    return said if len(as_json(said)) <= MOST_MACHINE else None


def pack_shared_run(run: SentRun, name: str = "", begins: bool = False) -> bytes:
    """The message with a run; one that is too long for a host is refused."""
    shown = compress(run)
    if len(shown) > MOST_RUN:
        expected = f"at most {MOST_RUN >> 10} kB"
        raise SettingError("shared run", seen=f"{len(run.records)} steps, {len(shown) >> 10} kB", expected=expected)
    return as_json({"name": name, "begins": begins, "steps": len(run.records), "shown": shown}).encode()


def read_latest(body: bytes) -> tuple[str, str]:
    """What a host calls the run that it has now, and the run, packed; "" if it is no other one."""
    with suppress(ValueError, RecursionError):
        match json.loads(body):
            case {"known": str(known), "shown": str(shown)}:
                return known, shown
    raise TraceError("shared run", seen=quoted(body), expected="an answer of a host")


def read_run(shown: str) -> SentRun:
    """A packed run; its machine and its steps are checked when they are shown."""
    run: SentRun = read_value(SentRun, decompress(shown, "shared run", "a run"), "shared run")
    return run


def read_machine(said: SentMachine) -> Machine[Any]:
    """The machine in a head: a grammar, or edges that are sorted and disjoint, and lead to its states.

    >>> words = gv.Vocabulary([b"a", b"b"])
    >>> read_machine(send_machine(gv.guide(gv.regex("(ab)+"), words))).accepts(b"abab")
    True
    """
    where = "shared run, machine"
    if said.grammar:
        return grammar(said.grammar)
    states = range(len(said.edges))
    if not states or not set(said.accepting).issubset(states):
        raise TraceError(f"{where}, accepting", seen=quoted(said.accepting), expected="known states")
    for row in said.edges:
        least = 0
        for low, high, target in row:
            if not (least <= low <= high <= 255 and target in states):
                expected = "sorted ranges of bytes, to known states"
                raise TraceError(f"{where}, edges", seen=quoted(row), expected=expected)
            least = high + 1
    return DFA(said.edges, frozenset(said.accepting))


# --- the two roles of a stage ---


def make_bar(words: str, **keys: str) -> Message:
    """A line on the page, and its keys: what each says to the kernel, and its label."""
    return {"words": words, "keys": [[do, label] for do, label in keys.items()]}


class Publisher:
    """Shows a stage to the class; its state is "shows", "ends" until the host knows, or "ended"."""

    def __init__(self, place: Address, vocabulary: str) -> None:
        self.followers = 0
        self.trouble = ""
        self._wire = Connection(place, patience=CLASS_PATIENCE, timeout=HOST_TIMEOUT)
        self._vocabulary = vocabulary
        self._state = "ended"
        self._name = ""  # of the run
        self._begins = False  # whether the host has not heard of the run
        self._told: Player | None = None  # what the host has
        self._loop = running_loop()
        self._background = Background(self._work)

    def start(self, stage: LiveStage) -> None:
        """Show the stage as a new run; an error says why this is not possible."""
        self._begin(stage)
        self._publish()

    def _begin(self, stage: LiveStage) -> None:
        self._name = token_hex(8)
        self._begins = True
        self._state = "shows"
        self._told = None
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

    def bar(self) -> Message:
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
        before = self.bar()
        lost = False
        try:
            if self._state != "ended":
                self._publish()
        except ModelError as error:
            self.trouble = str(error)
            self._told = None
            lost = self._state == "shows"
        except GuidedVizError as error:
            self.trouble = str(error)
            self._state = "ended"
        if self._loop and before != self.bar() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell)
        if lost:
            time.sleep(HOST_PAUSE)
            self._background.wake()

    def _publish(self) -> None:
        """Send the run, if it has moved."""
        trace, guide, player = self._latest
        ended = self._state == "ends"
        if self._told is player and not ended:
            return
        run = make_run(trace, guide, player, self._vocabulary, ended)
        answer = self._wire.ask("POST", "/v1/run", pack_shared_run(run, self._name, self._begins))
        self.followers = int(json.loads(answer).get("followers", 0))
        self.trouble = ""
        self._told = player
        self._begins = False
        if ended:
            self._state = "ended"


class Scene(NamedTuple):
    """The teacher's run as a student's stage shows it."""

    run: SentRun
    head: Trace
    guide: Guide | None
    player: Player


class Follower:
    """Shows the teacher's run on a stage."""

    def __init__(self, model: Model, place: Address, guide: Guide | None = None) -> None:
        self._model = model
        self._guide = guide
        self._wire = Connection(place, patience=CLASS_PATIENCE, timeout=STEP_WAIT + 10)
        self._stage: weakref.ref[Any] = weakref.ref(self)
        self._known = ""  # the run that was heard last, as the host calls it
        self._scene: Scene | None = None
        self._shown: Scene | None = None  # what the stage shows
        self._live = True  # whether the stage stands where the teacher's does
        self._over = False
        self._stopped = False
        self.lost = ""  # why the host does not answer
        self.trouble = ""  # why its answer cannot be shown

    def start(self, stage: LiveStage) -> None:
        """Follow from now on; where nobody can click, show what there is now."""
        self._stage = weakref.ref(stage)
        self._ask(wait=0)
        self._arrive()
        loop = running_loop()
        if loop:
            threading.Thread(target=self._listen, args=(loop,), daemon=True).start()

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

    def bar(self) -> Message:
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
                self._ask(STEP_WAIT)
                self.lost = ""
            except GuidedVizError as error:
                self.lost = f"{error.where}: {error.seen}; asked again"
            if loop.is_closed():
                break
            if before != (self._known, self.lost):
                loop.call_soon_threadsafe(self._arrive)
            time.sleep(HOST_PAUSE if self.lost else 0)
        self._wire.close()

    def _ask(self, wait: int) -> None:
        """Ask for another run, for which the host waits so many seconds; one that cannot be shown is told."""
        path = f"/v1/run?known={quote(self._known)}&wait={wait}"
        self._known, shown = read_latest(self._wire.ask("GET", path, most=MOST_RUN + 4096))
        if not shown:
            return
        try:
            run = read_run(shown)
            self._scene = read_scene(self._model, self._guide, self._scene, run)
            self._over = run.ended
            self.trouble = ""
        except Exception as error:  # the notebook goes on whatever a host sends
            self.trouble = say_failure(error)

    def _arrive(self) -> None:
        """Show the latest scene on the stage."""
        stage = self._stage()
        if stage is None or self._stopped:
            return
        scene = self._scene
        if scene is not None:
            if self._shown is None or self._shown.head is not scene.head:
                stage.begin(scene.head, scene.guide)
            self._shown = scene
            stage.accept(scene.player if self._live else scene.player.go(stage.player.cursor))
        stage.tell(wake=False)


def read_scene(model: Model, guide: Guide | None, before: Scene | None, run: SentRun) -> Scene:
    """The scene of a run; where its head is the one before, the steps that are the same stay."""
    scene = before if before and before.run.head == run.head else open_scene(model, guide, run)
    kept = scene.player.taken[: shared_length(scene.run.records, run.records)]
    count = len(run.records)
    records = run.records
    if run.next and run.cursor >= count:
        records = (*records, run.next)
    steps = tuple(one.step for one in records)
    check_steps(replace(scene.head, steps=steps, vocabulary_size=len(model.vocabulary)))
    walk = scene.player.walk
    earlier = copy(walk)  # a step under an earlier constraint has another walk
    rows = [(one.step, one.settings, earlier if one.earlier else walk) for one in records[len(kept) :]]
    taken = read_taken("shared run, step", scene.guide, kept[-1].after if kept else walk.first, rows, kept)
    peek = taken[-1] if len(taken) > count else None
    player = replace(scene.player, taken=taken[:count], cursor=min(run.cursor, count), peek=peek)
    return scene._replace(run=run, player=player)


def open_scene(model: Model, guide: Guide | None, run: SentRun) -> Scene:
    """A scene without steps."""
    head = run.head
    if head.vocabulary != model.vocabulary.fingerprint:
        expected = f"the model of the teacher, {quoted(head.trace.model)}"
        raise VocabularyError("shared run", seen=f"{model.name}, another vocabulary", expected=expected)
    if guide is None and head.machine:
        guide = make_guide(read_machine(head.machine), model.vocabulary)
    prompt = head.trace.prompt
    if head.tokens:
        prompt = Prompt(prompt, head.tokens, head.trace.prompt_parts)
    walk = LiveWalk(model, prompt, guide)
    return Scene(run, replace(head.trace, prompt=prompt), guide, Player(walk, head.settings))
