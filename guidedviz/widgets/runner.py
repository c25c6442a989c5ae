"""What a stage does in threads while the notebook stays responsive: its steps, and the texts of its constraint.

Steps are taken as many per second as the person wants. In the box a person edits the constraint while the model
decodes: a text with an error changes nothing, and a constraint that rejects a token which was already taken waits until
the person goes back to that token or replaces it.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar

from guidedviz.decoding.player import Player, TakenSteps
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError, PatternError, shorten
from guidedviz.machines.source import compile_text, say_error
from guidedviz.tokens.budget import keep_budget
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.guide import Explanation, Guide
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.words import label, reading

WORKER = ThreadPoolExecutor(1, "guidedviz-step")  # one model call at a time, outside the kernel's event loop
GLANCE = 0.3  # seconds between two glances at a model that may wait for its host
MOST_BEHIND = 0.1  # seconds that steps which came late may be followed faster

T = TypeVar("T")
PlayerMove = Callable[[], Player]


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the kernel, or None outside one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def begin_work(
    work: Callable[[], T], finish: Callable[[Callable[[], T]], None], pool: ThreadPoolExecutor = WORKER
) -> asyncio.Future[T] | None:
    """Do this in a thread where there is an event loop, else now; `finish` gets what gives the result or its error."""
    loop = running_loop()
    if loop is None:
        finish(work)
        return None
    begun = loop.run_in_executor(pool, work)
    begun.add_done_callback(lambda done: None if done.cancelled() else finish(done.result))
    return begun


def say_failure(error: Exception) -> str:
    """An error of ours as it is; another one with its type."""
    if isinstance(error, GuidedVizError):
        return str(error)
    return f"{type(error).__name__}: {error}"


class LiveStage(Protocol):
    """What the parts of a stage need of it: the runner, the editor, a role in a class, a talk and the other runs."""

    player: Player
    playing: bool
    speed: float
    note: str
    head: Trace

    @property
    def guide(self) -> Guide | None: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def is_alone(self) -> bool: ...
    def accept(self, player: Player) -> None: ...
    def adopt(self, guide: Guide, name: str, cursor: int) -> Any: ...
    def begin(self, head: Trace, guide: Guide | None) -> Any: ...
    def branch(self) -> Any: ...
    def show_run(self, head: Trace, guide: Guide | None, player: Player) -> None: ...
    def tell(self, wake: bool = True) -> Any: ...


def step_on(player: Player) -> Player:
    """One step on or, where it is forced, to the end of the forced text: no pass is needed on the way."""
    player = player.forward()
    while player.current and player.current.how == "forced":
        try:
            ahead = player.look()
        except Exception:  # it is computed again when the step is taken
            return player
        if ahead.ahead is None or ahead.ahead.step.how != "forced":
            return ahead
        player = ahead.forward()
    return player


class Runner:
    """Takes the steps of a stage, one at a time: by hand, while it plays, and one ahead so that it can be seen."""

    def __init__(self, stage: LiveStage) -> None:
        self._stage = stage
        self._hurry = False
        self._due = 0.0  # when the next step is taken while the stage plays
        self._task: asyncio.Task[None] | None = None
        self._wish: tuple[tuple[int, ...], int] | None = None  # tokens, and the cursor they were chosen at
        self._by_hand = False  # whether a step that was asked for by hand is under way
        self._failed: Player | None = None  # the next step of this player cannot be computed
        self._nudged = asyncio.Event()

    def run(self, hurry: bool) -> None:
        """Take steps until the stage stops playing; `hurry` takes them as fast as the model can."""
        self._hurry = hurry
        self._due = asyncio.get_running_loop().time()
        self._failed = None
        self.wake()

    def take(self, *tokens: int) -> None:
        """Take one step, or put these tokens next; while one of these runs, the latest tokens wait."""
        if tokens or not self._by_hand:
            self._wish = tokens, self._stage.player.cursor
            self.wake()

    def nudge(self) -> None:
        """End the rest between two steps, because something has moved."""
        self._nudged.set()

    def wake(self) -> None:
        """Do what there is to do; without an event loop, compute the step that comes next."""
        player = self._stage.player
        loop = running_loop()
        if loop:
            self.nudge()
            if self._task is None or self._task.done():
                self._task = loop.create_task(self._work())
        elif self._wants_look(player):
            try:
                self._stage.player = player.look()
            except Exception as error:  # it is computed again when the step is taken
                self._fail(player, error)

    def _wants_look(self, player: Player) -> bool:
        """Whether the next distribution can be shown before its token is drawn."""
        return player.wants_look and player is not self._failed

    async def _work(self) -> None:
        """Do one thing after the other, and rest while the next step is not due; end when there is nothing to do."""
        clock = asyncio.get_running_loop().time
        while True:
            self._nudged.clear()
            work = self._wished() or self._due_step(clock())
            if work is None and self._wants_look(self._stage.player):
                work = self._stage.player.look
            if work:
                await self._do(work)
            elif self._stage.playing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._nudged.wait(), self._due - clock())
            else:
                return

    def _wished(self) -> PlayerMove | None:
        """The step that a person asked for, unless the cursor has moved since."""
        wish = self._wish
        self._wish = None
        self._by_hand = wish is not None and wish[1] == self._stage.player.cursor
        if wish is None or not self._by_hand:
            return None
        tokens, _ = wish
        if not tokens:
            return partial(step_on, self._stage.player)
        return partial(self._stage.player.choose, *tokens)

    def _due_step(self, now: float) -> PlayerMove | None:
        """The next step of a stage that plays, if it is time; at the end of the run the stage stops."""
        stage = self._stage
        if not stage.playing:
            return None
        if stage.player.at_end or stage.player is self._failed:
            stage.playing = False
            stage.tell()
            return None
        if self._due > now and not self._hurry:
            return None
        self._due = max(self._due + 1 / stage.speed, now - MOST_BEHIND)
        return stage.player.forward

    async def _do(self, work: PlayerMove) -> None:
        """Move the player in the worker; the result counts only if nothing else moved it meanwhile."""
        stage = self._stage
        player = stage.player
        try:
            after = await self._in_worker(work)
            if stage.player is player and after.cursor == player.cursor:  # the next step is known, and not taken
                stage.player = after
            elif stage.player is player:
                stage.accept(after)
        except Exception as error:  # the notebook goes on whatever a model or a guide does
            self._fail(player, error)
        stage.tell(wake=False)

    def _fail(self, player: Player, error: Exception) -> None:
        self._failed = player
        self._stage.note = say_failure(error)
        self._stage.playing = False

    async def _in_worker(self, work: PlayerMove) -> Player:
        """What the work gives; while the model waits for its host, the stage says so."""
        stage = self._stage
        said = ""
        model = getattr(stage.player.walk, "model", None)
        running = asyncio.get_running_loop().run_in_executor(WORKER, work)
        while not (await asyncio.wait({running}, timeout=GLANCE))[0]:
            waiting = getattr(model, "waiting", "")  # of a remote model
            if waiting not in ("", stage.note):
                said = waiting
                stage.note = said
                stage.tell(wake=False)
        if said and stage.note == said:
            stage.note = ""
        return running.result()


COMPILERS = ThreadPoolExecutor(2, "guidedviz-compile")  # two, so that a new text does not wait for an old one


class Editor:
    """The text of the box and its state: "", "compiling", "wrong", "waits" or "runs"."""

    def __init__(self, stage: LiveStage, vocabulary: Vocabulary, kind: str, text: str) -> None:
        self._kind = kind
        self.text = text
        self._state = ""
        self._error = ""
        self._stage = stage
        self._vocabulary = vocabulary
        self._compiling: asyncio.Future[Guide] | None = None
        self._waits: tuple[Guide, TakenSteps, Explanation] | None = None  # for the person to go back; the steps and why

    def turn(self, vocabulary: Vocabulary) -> None:
        """Go on for another run, whose model may have another vocabulary."""
        self._vocabulary = vocabulary
        self._waits = None
        self._state = ""

    def read(self, kind: str, text: str) -> None:
        """Compile another text, in a thread where there is an event loop, and drop the one before."""
        if self._compiling:
            self._compiling.cancel()
        self._kind = kind
        self.text = text
        self._state = "compiling"
        self._error = ""
        self._waits = None
        work = partial(compile_guide, kind, text, self._vocabulary)
        self._compiling = begin_work(work, self._finish, COMPILERS)
        if self._compiling:
            self._stage.tell()

    def _finish(self, compiled: Callable[[], Guide]) -> None:
        try:
            self._settle(compiled())
        except Exception as error:  # whatever a text does, the old constraint stays
            said = isinstance(error, PatternError) and say_error(self._kind, self.text, error)
            self._error = said or say_failure(error)
            self._state = "wrong"
        self._stage.tell()

    def _settle(self, new: Guide) -> None:
        """Use a new constraint from the cursor on, or wait if it rejects a token that was taken."""
        new = keep_budget(self._stage.guide, new)
        player = self._stage.player
        kept = player.adopt(new)
        place = len(kept.taken)
        if place >= player.cursor or player.taken[place].step.how == "none":
            self._use(new, player.cursor)
            return
        why = new.explain(kept.point(place).state, player.taken[place].step.token)
        self._waits = new, player.taken[: place + 1], why
        self._state = "waits"

    def _use(self, new: Guide, cursor: int) -> None:
        self._state = "runs"
        self._waits = None
        self._stage.adopt(new, name_text(self._kind, self.text), cursor)

    def go_back(self) -> None:
        """Go back to the first token that the new constraint rejects, and use the constraint from there."""
        if self._waits:
            new, steps, _ = self._waits
            self._use(new, len(steps) - 1)

    def moved(self) -> None:
        """Compare again if the rejected token was replaced."""
        if self._waits:
            new, steps, _ = self._waits
            if self._stage.player.taken[: len(steps)] != steps:
                self._settle(new)

    def pack(self) -> dict[str, Any]:
        """What the page shows of the box."""
        box = {"kind": self._kind, "text": self.text, "state": self._state, "error": self._error}
        if not self._waits:
            return box | {"rejects": None, "place": None}
        _, steps, why = self._waits
        return box | {"rejects": [label(why.piece), why.reason], "place": len(steps) - 1}


def compile_guide(kind: str, text: str, vocabulary: Vocabulary) -> Guide:
    """The guide of a text."""
    return guide(compile_text(kind, text), vocabulary)


def name_text(kind: str, text: str) -> str:
    """A constraint in one line.

    >>> name_text("regex", "[0-9]+")
    'regex [0-9]+'
    """
    return f"{kind} {shorten(reading(' '.join(text.split())), 60)}"
