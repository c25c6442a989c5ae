"""Steps taken in a thread while the notebook stays responsive, as many per second as the person wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
    """Takes the steps of a stage: one after the other while it plays, or one by hand."""

    def __init__(self, stage: LiveStage) -> None:
        self._stage, self._hurry = stage, False
        self._running: asyncio.Task[None] | None = None
        self._by_hand: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._failed: Player | None = None  # the next step of this player cannot be computed
        self._wish: tuple[int | None, int] | None = None  # a token, and the cursor it was chosen at
        self._nudged, self._one_at_a_time = asyncio.Event(), asyncio.Lock()

    def run(self, hurry: bool) -> None:
        """Take steps until the stage stops playing; `hurry` takes them as fast as the model can."""
        self._hurry = hurry
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._run())

    def take(self, token: int | None) -> None:
        """Take one step, or replace the current token; while one of these runs, the latest token waits."""
        free = self._by_hand is None or self._by_hand.done()
        if free or token is not None:
            self._wish = token, self._stage.player.cursor
        if free:
            self._by_hand = asyncio.get_running_loop().create_task(self._take())

    def nudge(self) -> None:
        """End the rest between two steps, because something has moved."""
        self._nudged.set()

    async def _run(self) -> None:
        loop, stage = asyncio.get_running_loop(), self._stage
        due = loop.time()
        while stage.playing and not stage.player.at_end and await self._step():
            due = max(due + (0 if self._hurry else 1 / stage.speed), loop.time() - 0.1)
            self._nudged.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._nudged.wait(), max(0.0, due - loop.time()))
        stage.playing = False
        stage.tell()

    async def _take(self) -> None:
        while self._wish is not None:
            await self._step(by_hand=True)

    def look(self) -> None:
        """Compute the step that comes next, so that the page can show its distribution before the draw."""
        player, loop = self._stage.player, running_loop()
        if not player.wants_look or player is self._failed or (self._looking and not self._looking.done()):
            return
        if loop:
            self._looking = loop.create_task(self._look())
        else:
            try:
                self._stage.player = player.look()
            except Exception as error:  # it is computed again when the step is taken
                self._fail(player, error)

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

    async def _look(self) -> None:
        stage = self._stage
        while (before := stage.player).wants_look and before is not self._failed:
            async with self._one_at_a_time:
                try:
                    after = await self._in_worker(before, before.look)
                except Exception as error:
                    self._fail(before, error)
                    after = before
            if stage.player is before:
                stage.player = after
            stage.tell(wake=False)

    async def _step(self, by_hand: bool = False) -> bool:
        """Take a step in the worker; its result counts only if nothing else moved the player meanwhile."""
        async with self._one_at_a_time:
            stage, token = self._stage, None
            before = stage.player
            if by_hand and self._wish is not None:
                (token, cursor), self._wish = self._wish, None
                if cursor != before.cursor or (token is None and before.at_end):
                    return False
            work = before.forward if token is None else lambda: before.choose(token)
            try:
                after = work() if token is None and before.ahead else await self._in_worker(before, work)
                if stage.player is before:
                    stage.accept(after)
            except Exception as error:  # the notebook goes on whatever a model or a guide does
                self._fail(before, error)
                return False
            finally:
                stage.tell(wake=False)
            return True
