"""Steps taken while the notebook goes on: one at a time in a thread, and not more a second than a person wishes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol

from guidedviz.errors import GuidedVizError
from guidedviz.widgets.player import Player

WORKER = ThreadPoolExecutor(1, "guidedviz-step")  # one model call at a time, away from the kernel's loop


class Host(Protocol):
    """The stage, as a runner needs it."""

    player: Player
    playing: bool
    speed: float
    note: str

    def accept(self, player: Player) -> None: ...
    def tell(self, wake: bool = True) -> Any: ...


class Runner:
    """What takes the host's steps: on its own while it plays, or one by hand."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._busy = self._hurry = False
        self._running: asyncio.Task[None] | None = None
        self._by_hand: asyncio.Task[None] | None = None
        self._wish: tuple[int | None, int] | None = None  # a token, and for which place
        self._nudged = asyncio.Event()

    def run(self, hurry: bool) -> None:
        """Take steps until the host does not play any more; `hurry` takes them as fast as the model can."""
        self._hurry = hurry
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._run())

    def take(self, token: int | None) -> None:
        """One step, or another token for the current one; while one of these is taken, the latest token waits."""
        free = self._by_hand is None or self._by_hand.done()
        if free or token is not None:
            self._wish = token, self._host.player.cursor
        if free:
            self._by_hand = asyncio.get_running_loop().create_task(self._take())

    def nudge(self) -> None:
        """Something has moved: do not rest any longer."""
        self._nudged.set()

    async def _run(self) -> None:
        loop, host = asyncio.get_running_loop(), self._host
        due = loop.time()
        while host.playing and not host.player.at_end:
            if not await self._step():
                break
            due = max(due + (0 if self._hurry else 1 / host.speed), loop.time() - 0.1)
            await self._rest(due - loop.time())
        host.playing = False
        host.tell()

    async def _rest(self, seconds: float) -> None:
        self._nudged.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._nudged.wait(), max(0.0, seconds))

    async def _take(self) -> None:
        while self._wish is not None:
            while self._busy:
                await asyncio.sleep(0.005)
            (token, cursor), self._wish = self._wish, None
            player = self._host.player
            if not player.at_end if token is None else cursor == player.cursor:
                await self._step(token)

    async def _step(self, token: int | None = None) -> bool:
        """One step in the worker; its result counts only if nothing else moved the player meanwhile."""
        host = self._host
        before, self._busy = host.player, True
        work = before.forward if token is None else lambda: before.choose(token)
        try:
            after = before.forward() if token is None and before.known else await _in_worker(work)
            if host.player is before:
                host.accept(after)
            return True
        except GuidedVizError as error:
            host.note = str(error)
            return False
        except Exception as error:  # the notebook stays alive whatever a model or a guide does
            host.note = f"{type(error).__name__}: {error}"
            return False
        finally:
            self._busy = False
            host.tell(wake=False)


async def _in_worker(work: Callable[[], Player]) -> Player:
    return await asyncio.get_running_loop().run_in_executor(WORKER, work)
