"""The stage: watch a model decode, stop it, go back, take another token. It only wires the player to the page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from guidedviz.decoding.loop import Model, make_trace
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.headless import headless
from guidedviz.tokens.guide import Explanation, Guide
from guidedviz.views.stage import draw_stage
from guidedviz.views.trail import check_same_machine
from guidedviz.views.words import (
    after_name,
    is_free,
    label,
    milliseconds,
    others,
    reading,
    say_step,
    short,
    shown_candidates,
)
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.machine import MachineFeed, machine_of
from guidedviz.widgets.map import MapFeed
from guidedviz.widgets.player import ClosedWalk, LiveWalk, Player, ReplayWalk, Taken
from guidedviz.widgets.show import show

SPEEDS = (1, 2, 4, 8, 15, 30, 60)  # steps a second
WORKER = ThreadPoolExecutor(1, "guidedviz-step")  # one model call at a time, away from the kernel's loop


def stage(
    model: Model | Trace,
    prompt: str = "",
    guide: Guide | None = None,
    *,
    temperature: float = 1.0,
    seed: int = 0,
    max_tokens: int = 60,
    top_k: int = 0,
    top_p: float = 1.0,
    bias: Mapping[int, float] | None = None,
    constraint: str = "",
    steps: int | None = None,
) -> Stage:
    """A live stage for a model, or the replay of a trace; `steps` are taken before it is shown.

    A guide with a finite machine shows the machine; so does a trace that comes with the guide it was recorded with.
    """
    if isinstance(model, Trace):
        settings = Settings(model.temperature, seed=model.seed, max_tokens=max(1, len(model.steps)))
        if machine := machine_of(guide):
            check_same_machine(machine, model.steps)
        return Stage(Player(ReplayWalk(model), settings), model, guide, steps)
    if not prompt:
        raise SettingError("gv.stage", seen="no prompt", expected="gv.stage(model, prompt, guide)")
    settings = Settings(temperature, top_k, top_p, seed, max_tokens, dict(bias or {}))
    constraint = constraint or (str(getattr(guide, "name", "")) or "a guide" if guide else "")
    head = make_trace(model, prompt, (), constraint=constraint, seed=seed, temperature=temperature)
    return Stage(Player(LiveWalk(model, prompt, guide), settings), head, guide, steps)


class Stage:
    """What `gv.stage` gives: a player, a cursor, and a page that shows them."""

    def __init__(self, player: Player, head: Trace, guide: Guide | None, steps: int | None) -> None:
        self.cell = ("", "")
        move_in(self)
        self.player, self.playing, self.speed, self.note = player, False, 4.0, ""
        self._head, self._guide = head, guide
        self._map = MapFeed(guide) if guide is not None and isinstance(player.walk, LiveWalk) else None
        machine = machine_of(guide)
        self._machine = MachineFeed(machine) if machine else None
        self._why: dict[str, Any] | None = None
        self._busy = self._hurry = False
        self._sent: Player | None = None
        self._runner: asyncio.Task[None] | None = None
        self._hand: asyncio.Task[None] | None = None
        self._keeper: asyncio.TimerHandle | None = None
        self._nudge = asyncio.Event()
        self._wire: Any = None
        self.take(steps if steps is not None else player.settings.max_tokens + 1 if headless() else 0)

    # --- what a person or a notebook does ---

    @property
    def trace(self) -> Trace:
        """The record up to the cursor, with the settings of now."""
        now = self.player.settings
        steps = self.player.steps[: self.player.cursor]
        return replace(self._head, steps=steps, seed=now.seed, temperature=now.temperature)

    @property
    def text(self) -> str:
        """The output up to the cursor."""
        return self.trace.text

    def take(self, count: int = 1) -> Stage:
        """Take steps at once, without a page; stops where the decode ends or fails."""
        for _ in range(count):
            if self.player.at_end or not self._try(self.player.forward):
                break
        return self._moved()

    def back(self, count: int = 1) -> Stage:
        """Go back some steps."""
        return self.go(self.player.cursor - count)

    def go(self, cursor: int) -> Stage:
        """Go to a step that is known."""
        self.playing = False
        self.player = self.player.go(cursor)
        return self._moved()

    def choose(self, token: int) -> Stage:
        """Put another token in the place of the current one."""
        self.playing = False
        self._try(lambda: self.player.choose(token))
        return self._moved()

    def change(self, **settings: Any) -> Stage:
        """Change temperature, seed and the like for the steps from here on."""
        self._try(lambda: self.player.change(**settings))
        return self._moved()

    def reset(self) -> Stage:
        """Back to the prompt, everything forgotten."""
        self.playing = False
        self.player = self.player.reset()
        return self._moved()

    def play(self, hurry: bool = False) -> Stage:
        """Take steps on their own until paused; `hurry` takes them as fast as the model can."""
        if headless():
            return self.take(self.player.settings.max_tokens + 1)
        self.playing, self._hurry, self.note = not self.player.at_end, hurry, ""
        if self._runner is None or self._runner.done():
            self._runner = asyncio.get_running_loop().create_task(self._run())
        return self._moved()

    def pause(self) -> Stage:
        """Stop, at the latest after the step that is under way."""
        self.playing = False
        return self._moved()

    def close(self) -> None:
        """Stop, and let go of the model; the steps stay as a picture."""
        self.playing = False
        self.player, self._guide, self._map = self.player.close(), None, None
        self.note = "This cell was run again: the newer stage has the model."
        self._moved()
        if self._wire is not None:
            self._wire.close()
        self._wire = None

    @property
    def widget(self) -> Any:
        """The widget behind the stage, made when it is first asked for."""
        if self._wire is None:
            from guidedviz.widgets.wire import Wire

            self._wire = Wire("stage", self._hear, self._news)
            self._wire.saved = self._everything()
        return self._wire

    def __repr__(self) -> str:
        return draw_stage(self.trace).text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        kept = replace(self.trace, source="RECORDED") if self.trace.source == "LIVE" else self.trace
        figure = draw_stage(kept, machine=self._machine.machine if self._machine else None)  # a picture is never live
        return show(figure, self, still=isinstance(self.player.walk, ClosedWalk), **wanted)

    # --- taking steps while the notebook goes on ---

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while self.playing and not self.player.at_end:
            if not await self._step_aside():
                break
            due = max(due + (0 if self._hurry else 1 / self.speed), loop.time() - 0.1)
            await self._rest(due - loop.time())
        self.playing = False
        self._moved()

    async def _rest(self, seconds: float) -> None:
        self._nudge.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._nudge.wait(), max(0.0, seconds))

    async def _step_aside(self, token: int | None = None) -> bool:
        """One step in the worker; its result counts only if nothing else moved the player meanwhile."""
        before, self._busy = self.player, True
        work = before.forward if token is None else lambda: before.choose(token)
        try:
            after = before.forward() if token is None and before.known else await self._in_worker(work)
            if self.player is before:
                self.player, self.note, self._why = after, "", None
            return True
        except GuidedVizError as error:
            self.note = str(error)
            return False
        except Exception as error:  # the notebook stays alive whatever a model or a guide does
            self.note = f"{type(error).__name__}: {error}"
            return False
        finally:
            self._busy = False
            self._moved(wake=False)

    async def _in_worker(self, work: Any) -> Player:
        player: Player = await asyncio.get_running_loop().run_in_executor(WORKER, work)
        return player

    # --- what the page says ---

    def _hear(self, said: dict[str, Any]) -> None:
        do = said.get("do")
        if do == "play":
            self.play()
        elif do == "end":
            self.player = self.player.go(len(self.player.taken)) if not self.player.stale else self.player
            self.play(hurry=True)
        elif do in ("step", "choose"):
            self._take_by_hand(said.get("token"), int(said.get("cursor", 0)))
        elif do == "go":
            self.note, self._why = "", None
            self.go(int(said["cursor"]))
        elif do == "speed":
            self.speed = float(said["value"])
            self._moved()
        elif do == "set":
            self.change(**{said["name"]: said["value"]})
        elif do == "map" and self._map is not None:
            self._map.hear(said, self._masked_at(self.player.cursor))
            self._moved(wake=False)
        elif do in ("pause", "reset", "back"):
            self.note, self._why = "", None
            getattr(self, do)()

    def _take_by_hand(self, token: int | None, cursor: int) -> None:
        """A step, or another token for the step that the page shows; at most one of these waits."""
        self.playing = False
        self._nudge.set()
        if token is not None:
            self.player = self.player.go(cursor)
            if self._forbidden(token):
                self._why = self._explain(token)
                self._moved()
                return
        if self._hand is None or self._hand.done():
            self._hand = asyncio.get_running_loop().create_task(self._step_once(token))

    async def _step_once(self, token: int | None) -> None:
        while self._busy:
            await asyncio.sleep(0.005)
        if token is not None or not self.player.at_end:
            await self._step_aside(token)

    def _forbidden(self, token: int) -> bool:
        current = self.player.current
        return current is not None and any(c.token == token and not c.legal for c in current.candidates)

    def _explain(self, token: int) -> dict[str, Any]:
        piece = next((c.piece for c in self.player.steps[self.player.cursor - 1].candidates if c.token == token), b"")
        plain = {"label": label(piece), "reason": "The constraint forbids it here.", "rows": [], "stack": []}
        if self._guide is None or (self._map is None and self._machine is None):
            recorded = "The recording says that it was forbidden here." if self._head.source == "RECORDED" else ""
            return plain | {"reason": recorded or "It is a special token, no text."}
        try:
            why = self._guide.explain(self._masked_at(self.player.cursor), token)
            return _pack_explanation(why) | (self._machine.why(why) if self._machine else {})
        except Exception as error:  # a guide that cannot explain still forbids
            return plain | {"reason": f"The constraint forbids it here ({type(error).__name__}: {error})."}

    def _try(self, change: Any) -> bool:
        try:
            self.player, self.note, self._why = change(), "", None
        except GuidedVizError as error:
            self.note = str(error)
            return False
        return True

    # --- what the page is told ---

    def _moved(self, wake: bool = True) -> Stage:
        if wake:
            self._nudge.set()
        if self._wire is not None:
            self._wire.tell()
            self._keep_soon()
        return self

    def _keep_soon(self) -> None:
        """Once nothing has moved for a while, leave the picture of it in the notebook."""
        if self._keeper:
            self._keeper.cancel()
        with suppress(RuntimeError):
            self._keeper = asyncio.get_running_loop().call_later(0.7, self._keep)

    def _keep(self) -> None:
        if self._wire is not None and not self.playing:
            self._wire.saved = self._everything()

    def _news(self, everything: bool) -> dict[str, Any]:
        """The steps that the page does not have yet, and where everything stands."""
        same = 0 if everything or self._sent is None else _shared(self._sent, self.player)
        self._sent = self.player
        head = {"head": self._pack_head()} if everything else {}
        machine = self._machine.news(self._machine.at(self.player.current), everything) if self._machine else {}
        add = [self._pack(t) for t in self.player.taken[same:]]
        return {"from": same, "add": add, **head, **machine, **self._standing(), **self._pack_map(everything)}

    def _everything(self) -> dict[str, Any]:
        steps = [self._pack(taken) for taken in self.player.taken]
        kept = {"machine": self._machine.kept(self._machine.at(self.player.current))} if self._machine else {}
        return {
            "from": 0, "add": steps, "head": self._pack_head(), **kept, **self._standing(), **self._pack_map(keep=True)
        }  # fmt: skip

    def _pack(self, taken: Taken) -> dict[str, Any]:
        return pack_taken(taken) | ({"path": self._machine.path(taken.step)} if self._machine else {})

    def _standing(self) -> dict[str, Any]:
        return {
            "cursor": self.player.cursor,
            "playing": self.playing,
            "ended": self.player.at_end,
            "stale": self.player.stale,
            "speed": self.speed,
            "temperature": self.player.settings.temperature,
            "seed": self.player.settings.seed,
            "note": self.note,
            "why": self._why,
        }

    def _masked_at(self, cursor: int) -> Any:
        """The guide's state whose mask the step at the cursor obeyed; at the prompt the one that comes first."""
        if self._machine and isinstance(self.player.walk, ReplayWalk):
            return self._machine.path(self.player.steps[max(0, cursor - 1)])[0]
        return self.player.point(max(0, cursor - 1)).state

    def _pack_map(self, everything: bool = False, keep: bool = False) -> dict[str, Any]:
        """The mask of the step at the cursor, that of the step before, and where the candidates lie."""
        if self._map is None:
            return {}
        cursor, step = self.player.cursor, self.player.current
        now, before = self._masked_at(cursor), self._masked_at(cursor - 1) if cursor > 1 else None
        ranks = self._map.ranks([c.token for c in shown_candidates(step)]) if step else []
        return {"map": {**(self._map.kept(now) if keep else self._map.news(now, before, everything)), "ranks": ranks}}

    def _pack_head(self) -> dict[str, Any]:
        head, settings = self._head, self.player.settings
        cuts = [f"top-k {settings.top_k}"] * bool(settings.top_k) + [f"top-p {settings.top_p:g}"] * (settings.top_p < 1)
        cuts += [f"{len(settings.bias)} biased"] * bool(settings.bias)
        return {
            "source": head.source,
            "about": f"{head.model} · {head.device} · {head.vocabulary_size:,} tokens",
            "date": head.date if head.source == "RECORDED" else "",
            "prompt": reading(head.prompt),
            "constraint": " · ".join([head.constraint or "no constraint", *cuts]),
            "vocabulary": head.vocabulary_size,
            "live": isinstance(self.player.walk, LiveWalk),
            "speeds": SPEEDS,
            "limit": settings.max_tokens,
        }


def _shared(old: Player, new: Player) -> int:
    """How many first steps two players have in common."""
    count = min(len(old.taken), len(new.taken))
    while count and old.taken[count - 1] is not new.taken[count - 1]:
        count -= 1
    return count


def pack_taken(taken: Taken) -> dict[str, Any]:
    """A step, and how it was drawn where that is not the plain way."""
    now, sampled = taken.settings, taken.step.how == "sampled"
    ways = [f"at temperature {now.temperature:g}"] * (now.temperature != 1)
    ways += [f"top-k {now.top_k}"] * bool(now.top_k) + [f"top-p {now.top_p:g}"] * (now.top_p < 1)
    return pack_step(taken.step) | {"drawn": ", ".join(ways) if sampled else ""}


def pack_step(step: Step) -> dict[str, Any]:
    """A step as the page wants it: short, and every token already made visible."""
    shown = shown_candidates(step)
    return {
        "token": step.token,
        "label": label(step.piece) if step.how != "none" else "⊘",
        "how": step.how,
        "raw": short(step.raw),
        "masked": short(step.masked),
        "rows": [[c.token, label(c.piece), short(c.raw), short(c.drawn), c.legal] for c in shown],
        "rest": [short(p) for p in others(step, shown)],
        "legal": step.legal,
        "free": is_free(step),
        "after": after_name(step),
        "mass": short(step.mass),
        "state": step.state,
        "stack": step.stack,
        "ms": [round(ms, 4) for ms in (step.forward_ms, step.mask_ms, step.sample_ms)],
        "times": [milliseconds(ms) for ms in (step.forward_ms, step.mask_ms, step.sample_ms)],
        "end": step.end,
        "words": say_step(step),
    }


def _pack_explanation(why: Explanation) -> dict[str, Any]:
    rows = []
    for place in range(len(why.piece)):
        died = place == why.died_at
        state = why.states[place] if place < len(why.states) else ""
        after = why.states[place + 1] if place + 1 < len(why.states) else ""
        fate = f"expected {why.expected}" if died else after and f"→ {after}"
        rows.append([label(why.piece[place : place + 1]), state, fate, died])
        if died:
            break
    return {"label": label(why.piece), "reason": why.reason, "rows": rows, "stack": list(why.stack)}
