"""A student's stage follows the teacher's: a thread asks the host for the next steps, and the stage shows them.

The steps are shown with a guide of the student's own, so that the student can go on alone from any of them.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.decoding.player import LiveWalk, Player, Taken
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.sharing import WAIT, Change, Chosen, Head, Record, ask_change, follow, read_guide
from guidedviz.decoding.trace import Trace, check_steps
from guidedviz.errors import IllegalToken, TraceError, VocabularyError, quoted
from guidedviz.models.model import Model
from guidedviz.models.remote import Address, Connection
from guidedviz.tokens.guide import Guide
from guidedviz.views.words import label
from guidedviz.widgets.runner import running_loop, say_failure
from guidedviz.widgets.sharing.role import Shown, make_bar

ASK_PATIENCE = 1.0  # seconds
READ_ONLY = 'You follow the teacher\'s run. Press "go on alone from here" to take steps of your own.'
ALONE = "go on alone from here"


@dataclass(frozen=True)
class Scene:
    """The teacher's run as a student's stage shows it."""

    head: Trace
    guide: Guide | None
    player: Player
    earlier: LiveWalk  # of the steps that were taken under an earlier constraint


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

    def start(self, stage: Shown) -> None:
        """Follow from now on; where nobody can click, show what there is now."""
        self._stage, loop = weakref.ref(stage), running_loop()
        self._take(ask_change(self._wire, wait=0))
        self._arrive()
        if loop:
            threading.Thread(target=self._listen, args=(loop,), daemon=True).start()

    def moved(self, stage: Shown) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Follow no longer."""
        self._stopped = True

    def hear(self, said: Any, stage: Shown) -> bool:
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
            case {"do": "choose", "token": int(token)} if stage.forbids(token):
                return False
            case {"do": "choose" | "reset" | "set" | "turn"}:
                stage.note = READ_ONLY
                stage.tell(wake=False)
            case _:
                return False
        return True

    def bar(self) -> dict[str, Any]:
        """Where the teacher is."""
        if self.trouble:
            words = self.trouble
        elif self._shown is None:
            words = "The teacher shows no run yet."
        elif self._over:
            words = "The teacher has stopped showing this run."
        else:
            words = "You follow the teacher's run."
        keys = {} if self._shown is None else {"branch": ALONE}
        return make_bar(words, **({} if self._live else {"catch_up": "back to the teacher"}), **keys)

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
    scene = open_scene(model, guide, change.head[0]) if change.head else before
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
        check_steps(replace(trace, steps=(*trace.steps, change.next[0].step)))
        *_, peek = read_steps(scene, taken, change.next)
    return replace(scene, player=replace(scene.player, taken=taken, cursor=cursor, peek=peek))


def open_scene(model: Model, guide: Guide | None, head: Head) -> Scene:
    """A scene without steps."""
    if head.vocabulary != model.vocabulary.fingerprint:
        seen, expected = f"{model.name}, another vocabulary", f"the model of the teacher, {quoted(head.trace.model)}"
        raise VocabularyError("shared run", seen=seen, expected=expected)
    guide = guide or read_guide(head, model.vocabulary)
    walk = LiveWalk(model, head.trace.prompt, guide)
    return Scene(head.trace, guide, Player(walk, read_settings(head.chosen)), copy(walk))


def read_settings(chosen: Chosen) -> Settings:
    """The settings of a record."""
    c = chosen
    return Settings(c.temperature, c.top_k, c.top_p, c.seed, c.max_tokens, dict(c.bias), c.jump_forward or False)


def read_steps(scene: Scene, taken: tuple[Taken, ...], records: tuple[Record, ...]) -> tuple[Taken, ...]:
    """The steps so far with those of the records; the guide reads their tokens."""
    walk, guide = scene.player.walk, scene.guide
    point = taken[-1].after if taken else walk.first
    out = [*taken]
    for record in records:
        step = record.step
        if step.how != "none":
            before = point.back(step.back)
            try:
                state = guide.advance(before.state, step.token) if guide else None
            except IllegalToken:
                seen, expected = quoted(label(step.piece)), "a token that the guide allows"
                raise TraceError(f"shared run, step {len(out) + 1}", seen=seen, expected=expected) from None
            point = before.then(step.token, state)
        out.append(Taken(step, point, read_settings(record.chosen), scene.earlier if record.earlier else walk))
    return tuple(out)
