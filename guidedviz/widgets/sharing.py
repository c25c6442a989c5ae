"""What a stage does in a class: it is shown to the students, or it follows the teacher's.

The teacher's moves are sent in a thread, which skips what is outdated. A student's stage asks for the next steps in a
thread, and shows them with a guide of the student's own, so that the student can go on alone from any of them.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
import weakref
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from typing import Any

from guidedviz.decoding.player import LiveWalk, Player, Run, shared_steps
from guidedviz.decoding.sharing import (
    WAIT,
    Change,
    Head,
    Record,
    ask_change,
    follow,
    make_head,
    unpack_machine,
    write_changes,
)
from guidedviz.decoding.trace import Trace, check_steps
from guidedviz.errors import GuidedVizError, ModelError, SettingError, TraceError, VocabularyError, quoted
from guidedviz.models.chat import Prompt
from guidedviz.models.model import Model
from guidedviz.models.remote import Address, Background, Connection
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.guide import guide as make_guide
from guidedviz.widgets.panels import read_taken
from guidedviz.widgets.runner import LiveStage, running_loop, say_failure


def make_bar(words: str, **keys: str) -> dict[str, Any]:
    """A line on the page, and its keys: what each says to the kernel, and its label."""
    return {"words": words, "keys": [[do, label] for do, label in keys.items()]}


SEND_PATIENCE, SEND_TIMEOUT = 2.0, 5.0  # seconds
PAUSE = 2.0  # seconds after which a lost host gets the run again


class Publisher:
    """Shows a stage to the class; its state is "shows", "ends" until the host knows, or "ended"."""

    follows = False

    def __init__(self, place: Address, vocabulary: str) -> None:
        self._wire, self._vocabulary = Connection(place, patience=SEND_PATIENCE, timeout=SEND_TIMEOUT), vocabulary
        self._latest: tuple[Trace, Guide | None, Player] | None = None
        self._told: tuple[Head, Player] | None = None  # what the host has
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
        """Send what the host lacks."""
        if self._latest is None:
            return
        (trace, guide, player), told, ended = self._latest, self._told, self._state == "ends"
        head = make_head(trace, guide, self._vocabulary, player.settings)
        known = told[1] if told and told[0] == head else None
        if known is player and not ended:
            return
        start = shared_steps(known.taken, player.taken) if known and known.walk is player.walk else 0
        try:
            for message in write_changes(self._run, None if known else head, player, start, ended):
                self.followers = int(json.loads(self._wire.ask("POST", "/v1/run", message)).get("followers", 0))
        except SettingError as error:
            if told is None or "no run" not in error.seen:
                raise
            self._told = None  # the host was restarted: it gets everything
            return self._publish()
        self._told, self.trouble = (head, player), ""
        self._state = "ended" if ended else self._state


ASK_PATIENCE = 1.0  # seconds
ALONE = "go on alone from here"


@dataclass(frozen=True)
class Scene:
    """The teacher's run as a student's stage shows it."""

    head: Trace
    guide: Guide | None
    player: Player


class Follower:
    """Shows the teacher's run on a stage."""

    follows = True

    def __init__(self, model: Model, place: Address, guide: Guide | None = None) -> None:
        self._model, self._guide = model, guide
        self._wire = Connection(place, patience=ASK_PATIENCE, timeout=WAIT + 10)
        self._stage: weakref.ref[Any] = weakref.ref(self)
        self._scene: Scene | None = None
        self._shown: Scene | None = None  # what the stage shows
        self._live, self._over, self._stopped, self.trouble = True, False, False, ""

    def start(self, stage: LiveStage) -> None:
        """Follow from now on; where nobody can click, show what there is now."""
        self._stage = weakref.ref(stage)
        self._take(ask_change(self._wire, wait=0))
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
        if self._shown is None:
            return make_bar(self.trouble or "The teacher shows no run yet.")
        catch_up = {} if self._live else {"catch_up": "back to the teacher"}
        return make_bar(self.trouble or words, **catch_up, branch=ALONE)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take each change as it comes, in a thread."""
        for change in follow(self._wire, self._goes_on, lambda why: self._say(loop, why)):
            self._take(change)
            if loop.is_closed():
                return
            loop.call_soon_threadsafe(self._arrive)
        self._wire.close()

    def _goes_on(self) -> bool:
        return not self._stopped and self._stage() is not None

    def _say(self, loop: asyncio.AbstractEventLoop, why: str) -> None:
        if why != self.trouble and not loop.is_closed():
            self.trouble = why
            loop.call_soon_threadsafe(self._arrive)

    def _take(self, change: Change) -> None:
        """Read a change; one that cannot be shown is told."""
        try:
            self._scene = read_scene(self._model, self._guide, self._scene, change)
            self._over = change.ended
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
    kept = before.player.taken[: change.start] if before and not change.head else ()
    if len(kept) != change.start:
        raise TraceError("shared run", seen=f"a change from step {change.start}", expected=f"from step {len(kept)}")
    steps = tuple(record.step for record in change.add)
    size = len(model.vocabulary)
    trace = replace(scene.head, steps=tuple(t.step for t in kept) + steps, vocabulary_size=size)
    check_steps(trace)
    taken = read_steps(scene, kept, change.add)
    cursor = min(change.cursor, len(taken))
    peek = None
    if change.next and cursor == len(taken):
        check_steps(replace(trace, steps=(*trace.steps, change.next.step)))
        *_, peek = read_steps(scene, taken, (change.next,))
    return replace(scene, player=replace(scene.player, taken=taken, cursor=cursor, peek=peek))


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


def read_steps(scene: Scene, taken: Run, records: tuple[Record, ...]) -> Run:
    """The steps so far with those of the records; the guide reads their tokens."""
    walk, earlier = scene.player.walk, copy(scene.player.walk)  # a step under an earlier constraint has another walk
    steps = [(one.step, one.settings, earlier if one.earlier else walk) for one in records]
    return read_taken("shared run, step", scene.guide, taken[-1].after if taken else walk.first, steps, taken)
