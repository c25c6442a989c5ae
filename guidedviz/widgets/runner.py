"""Steps taken in a thread while the notebook stays responsive, as many per second as the person wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol

from guidedviz.decoding.player import Player
from guidedviz.errors import GuidedVizError
from guidedviz.tokens.guide import Guide

WORKER = ThreadPoolExecutor(1, "guidedviz-step")  # one model call at a time, outside the kernel's event loop
GLANCE = 0.3  # seconds between two glances at a model that may wait for its host


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the kernel, or None outside one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def say_failure(error: Exception) -> str:
    """An error of ours as it is; another one with its type."""
    return str(error) if isinstance(error, GuidedVizError) else f"{type(error).__name__}: {error}"


class Host(Protocol):
    """What the runner and the editor need of the stage."""

    player: Player
    playing: bool
    speed: float
    note: str

    @property
    def guide(self) -> Guide | None: ...
    def accept(self, player: Player) -> None: ...
    def adopt(self, guide: Guide, cursor: int | None = None) -> Any: ...
    def play(self) -> Any: ...
    def tell(self, wake: bool = True) -> Any: ...


class Runner:
    """Takes the steps of a stage: one after the other while it plays, or one by hand."""

    def __init__(self, host: Host) -> None:
        self._host, self._hurry = host, False
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
            self._wish = token, self._host.player.cursor
        if free:
            self._by_hand = asyncio.get_running_loop().create_task(self._take())

    def nudge(self) -> None:
        """End the rest between two steps, because something has moved."""
        self._nudged.set()

    async def _run(self) -> None:
        loop, host = asyncio.get_running_loop(), self._host
        due = loop.time()
        while host.playing and not host.player.at_end and await self._step():
            due = max(due + (0 if self._hurry else 1 / host.speed), loop.time() - 0.1)
            self._nudged.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._nudged.wait(), max(0.0, due - loop.time()))
        host.playing = False
        host.tell()

    async def _take(self) -> None:
        while self._wish is not None:
            await self._step(by_hand=True)

    def look(self) -> None:
        """Compute the step that comes next, so that the page can show its distribution before the draw."""
        player, loop = self._host.player, running_loop()
        if not player.wants_look or player is self._failed or (self._looking and not self._looking.done()):
            return
        if loop:
            self._looking = loop.create_task(self._look())
        else:
            try:
                self._host.player = player.look()
            except Exception as error:  # it is computed again when the step is taken
                self._fail(player, error)

    def _fail(self, player: Player, error: Exception) -> None:
        self._failed, self._host.note, self._host.playing = player, say_failure(error), False

    async def _in_worker(self, player: Player, work: Callable[[], Player]) -> Player:
        """Run in the worker; while the model waits for its host, the stage says so."""
        host, said = self._host, ""
        model = getattr(player.walk, "model", None)
        running = asyncio.get_running_loop().run_in_executor(WORKER, work)
        while not (await asyncio.wait({running}, timeout=GLANCE))[0]:
            waiting = getattr(model, "waiting", "")
            if waiting not in ("", host.note):
                host.note = said = waiting
                host.tell(wake=False)
        if said and host.note == said:
            host.note = ""
        return running.result()

    async def _look(self) -> None:
        host = self._host
        while (before := host.player).wants_look and before is not self._failed:
            async with self._one_at_a_time:
                try:
                    after = await self._in_worker(before, before.look)
                except Exception as error:
                    self._fail(before, error)
                    after = before
            if host.player is before:
                host.player = after
            host.tell(wake=False)

    async def _step(self, by_hand: bool = False) -> bool:
        """Take a step in the worker; its result counts only if nothing else moved the player meanwhile."""
        async with self._one_at_a_time:
            host, token = self._host, None
            before = host.player
            if by_hand and self._wish is not None:
                (token, cursor), self._wish = self._wish, None
                if cursor != before.cursor or (token is None and before.at_end):
                    return False
            work = before.forward if token is None else lambda: before.choose(token)
            try:
                after = work() if token is None and before.ahead else await self._in_worker(before, work)
                if host.player is before:
                    host.accept(after)
            except Exception as error:  # the notebook goes on whatever a model or a guide does
                self._fail(before, error)
                return False
            finally:
                host.tell(wake=False)
            return True
