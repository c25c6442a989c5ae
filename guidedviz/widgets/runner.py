"""Steps taken in a thread while the notebook stays responsive, as many per second as the person wants."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError
from guidedviz.models.remote import RemoteModel
from guidedviz.tokens.guide import Guide

WORKER = ThreadPoolExecutor(1, "guidedviz-step")  # one model call at a time, outside the kernel's event loop
GLANCE = 0.3  # seconds between two glances at a model that may wait for its stage


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the kernel, or None outside one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def say_failure(error: Exception) -> str:
    """An error of ours as it is; another one with its type."""
    return str(error) if isinstance(error, GuidedVizError) else f"{type(error).__name__}: {error}"


class LiveStage(Protocol):
    """What the runner, the editor and a role in a class need of the stage."""

    player: Player
    playing: bool
    speed: float
    note: str
    head: Trace

    @property
    def guide(self) -> Guide | None: ...
    def accept(self, player: Player) -> None: ...
    def adopt(self, guide: Guide, cursor: int | None = None) -> Any: ...
    def begin(self, head: Trace, guide: Guide | None) -> Any: ...
    def branch(self) -> Any: ...
    def play(self) -> Any: ...
    def tell(self, wake: bool = True) -> Any: ...


class Runner:
    """Takes the steps of a stage, one at a time: by hand, while it plays, and one ahead so that it can be seen."""

    def __init__(self, stage: LiveStage) -> None:
        self._stage, self._hurry, self._due = stage, False, 0.0
        self._task: asyncio.Task[None] | None = None
        self._wish: tuple[int | None, int] | None = None  # a token, and the cursor it was chosen at
        self._by_hand = False  # whether a step that was asked for by hand is under way
        self._failed: Player | None = None  # the next step of this player cannot be computed
        self._nudged = asyncio.Event()

    def run(self, hurry: bool) -> None:
        """Take steps until the stage stops playing; `hurry` takes them as fast as the model can."""
        self._hurry, self._due, self._failed = hurry, asyncio.get_running_loop().time(), None
        self.wake()

    def take(self, token: int | None) -> None:
        """Take one step, or replace the current token; while one of these runs, the latest token waits."""
        if token is not None or not self._by_hand:
            self._wish = token, self._stage.player.cursor
            self.wake()

    def nudge(self) -> None:
        """End the rest between two steps, because something has moved."""
        self._nudged.set()

    def wake(self) -> None:
        """Do what there is to do; without an event loop, compute the step that comes next."""
        if loop := running_loop():
            self._nudged.set()
            if self._task is None or self._task.done():
                self._task = loop.create_task(self._work())
        elif self._wants_look(player := self._stage.player):
            try:
                self._stage.player = player.look()
            except Exception as error:  # it is computed again when the step is taken
                self._fail(player, error)

    def _wants_look(self, player: Player) -> bool:
        """Whether the next distribution can be shown before its token is drawn."""
        return player.wants_look and player is not self._failed

    async def _work(self) -> None:
        loop, stage = asyncio.get_running_loop(), self._stage
        while True:
            self._nudged.clear()
            player, now = stage.player, loop.time()
            self._by_hand = self._wish is not None
            if self._wish is not None:
                (token, cursor), self._wish = self._wish, None
                if cursor == player.cursor and not (token is None and player.at_end):
                    await self._do(player, player.forward if token is None else partial(player.choose, token))
            elif stage.playing and (player.at_end or player is self._failed):
                stage.playing = False
                stage.tell()
            elif stage.playing and (self._hurry or self._due <= now):
                self._due = max(self._due + 1 / stage.speed, now - 0.1)
                await self._do(player, player.forward)
            elif self._wants_look(player):
                await self._do(player, player.look)
            elif stage.playing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._nudged.wait(), self._due - now)
            else:
                return

    async def _do(self, player: Player, work: Callable[[], Player]) -> None:
        """Move the player in the worker; the result counts only if nothing else moved it meanwhile."""
        stage = self._stage
        try:
            after = await self._in_worker(player, work)
            if stage.player is player and after.cursor == player.cursor:  # the next step is known, and not taken
                stage.player = after
            elif stage.player is player:
                stage.accept(after)
        except Exception as error:  # the notebook goes on whatever a model or a guide does
            self._fail(player, error)
        stage.tell(wake=False)

    def _fail(self, player: Player, error: Exception) -> None:
        self._failed, self._stage.note, self._stage.playing = player, say_failure(error), False

    async def _in_worker(self, player: Player, work: Callable[[], Player]) -> Player:
        """Run in the worker; while the model waits for its stage, the stage says so."""
        stage, said = self._stage, ""
        model = player.walk.model if isinstance(player.walk, LiveWalk) else None
        running = asyncio.get_running_loop().run_in_executor(WORKER, work)
        while not (await asyncio.wait({running}, timeout=GLANCE))[0]:
            waiting = model.waiting if isinstance(model, RemoteModel) else ""
            if waiting not in ("", stage.note):
                stage.note = said = waiting
                stage.tell(wake=False)
        if said and stage.note == said:
            stage.note = ""
        return running.result()
