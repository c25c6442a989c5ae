"""The stage: watch a model decode, stop it, go back, take another token. It only wires the player to the page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from guidedviz.decoding.loop import Model, make_trace, name_way
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.headless import headless
from guidedviz.machines.source import guess_kind
from guidedviz.tokens.guide import Guide
from guidedviz.views.stage import draw_stage
from guidedviz.views.words import kept_source
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.edit import Editor, compile_guide, name_text, read_wish
from guidedviz.widgets.machine import check_recording, machine_of
from guidedviz.widgets.pack import pack_head, pack_player, pack_times, shared_steps
from guidedviz.widgets.panels import Panels
from guidedviz.widgets.player import ClosedWalk, LiveWalk, Player, ReplayWalk
from guidedviz.widgets.runner import WORKER, Runner
from guidedviz.widgets.show import OnPage, show


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
    jump_forward: bool | str = False,
    edit: bool | str | tuple[str, str] = False,
) -> Stage:
    """A live stage for a model, or the replay of a trace; `steps` are taken before it is shown.

    A guide shows its machine, and its stack if it has one; so does a trace with the guide it was recorded with. What
    is forced is put without the model where `jump_forward` says so, as in `gv.decode`.
    `edit` gives a box to change the constraint in: its text (regex, JSON Schema or GBNF; or a pair that says which),
    which is the constraint where no guide is given, or True where the guide knows its text.
    """
    if isinstance(model, Trace):
        settings = Settings(model.temperature, seed=model.seed, max_tokens=max(1, len(model.steps)))
        if machine := machine_of(guide):
            check_recording(machine, model.steps)
        return Stage(Player(ReplayWalk(model), settings), model, guide, steps)
    if not prompt:
        raise SettingError("gv.stage", seen="no prompt", expected="gv.stage(model, prompt, guide)")
    settings = Settings(temperature, top_k, top_p, seed, max_tokens, dict(bias or {}), name_way(jump_forward))
    box = read_wish(edit, guide)
    if box and box[1] and guide is None:
        guide, constraint = compile_guide(*box, model.vocabulary), constraint or name_text(*box)
    constraint = constraint or (str(getattr(guide, "name", "")) or "a guide" if guide else "")
    head = make_trace(model, prompt, (), constraint=constraint, seed=seed, temperature=temperature)
    return Stage(Player(LiveWalk(model, prompt, guide), settings), head, guide, steps, box)


class Stage(OnPage):
    """What `gv.stage` gives: a player, a cursor, and a page that shows them."""

    kind = "stage"

    def __init__(
        self,
        player: Player,
        head: Trace,
        guide: Guide | None,
        steps: int | None,
        box: tuple[str, str] | None = None,
    ) -> None:
        self.cell = ("", "")
        move_in(self)
        self.player, self.playing, self.speed, self.note = player, False, 4.0, ""
        self._head, self._new_head = head, False
        walk = player.walk
        self._panels = Panels(guide, walk.trace if isinstance(walk, ReplayWalk) else None, self._tell)
        self._editor = Editor(self, walk.model.vocabulary, WORKER, *box) if box and isinstance(walk, LiveWalk) else None
        self._why: dict[str, Any] | None = None
        self._runner = Runner(self)
        self._sent: Player | None = None
        self._keeper: asyncio.TimerHandle | None = None
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

    def edit(self, text: str, kind: str = "") -> Stage:
        """Another constraint from here on; where it rejects a token that was taken, `go_back` goes there."""
        if self._editor is None:
            raise SettingError("stage.edit", seen="a stage without a box", expected="gv.stage(..., edit=True)")
        guessed = guess_kind(text)
        self._editor.read(kind or guessed, text)
        return self

    def go_back(self) -> Stage:
        """To the first token that the edited constraint rejects, and on under it."""
        if self._editor is not None:
            self._editor.go_back()
        return self

    def adopt(self, guide: Guide, cursor: int | None = None) -> Stage:
        """Put another guide in the place of the one that runs; what it rejects of the steps taken is cut."""
        if self._try(lambda: self.player.adopt(guide)):
            self.player = self.player.go(self.player.cursor if cursor is None else cursor)
            self._panels.turn(guide)
            since = f" from step {self.player.cursor + 1} on" * bool(self.player.cursor)
            name = name_text(self._editor.kind, self._editor.text) if self._editor else "another guide"
            self._head, self._new_head = replace(self._head, constraint=name + since), True
        return self._moved()

    @property
    def guide(self) -> Guide | None:
        """The guide that runs now."""
        return self._panels.guide

    def reset(self) -> Stage:
        """Back to the prompt, everything forgotten."""
        self.playing = False
        self.player = self.player.reset()
        return self._moved()

    def play(self, hurry: bool = False) -> Stage:
        """Take steps on their own until paused; `hurry` takes them as fast as the model can."""
        if headless():
            return self.take(self.player.settings.max_tokens + 1)
        self.playing, self.note = not self.player.at_end, ""
        self._runner.run(hurry)
        return self._moved()

    def pause(self) -> Stage:
        """Stop, at the latest after the step that is under way."""
        self.playing = False
        return self._moved()

    def close(self) -> None:
        """Stop, and let go of the model; the steps stay as a picture."""
        self.playing = False
        self.player, self._editor = self.player.close(), None
        self._panels.close()
        self.note = "This cell was run again: the newer stage has the model."
        self._moved()
        super().close()

    def __repr__(self) -> str:
        return draw_stage(self.trace).text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        kept = replace(self.trace, source=kept_source(self.trace.source))
        figure = draw_stage(kept, machine=self._panels.drawn, split=self._panels.split(self.player))
        return show(figure, self, still=isinstance(self.player.walk, ClosedWalk), **wanted)

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
        elif do in ("pause", "reset", "back"):
            self.note, self._why = "", None
            getattr(self, do)()
        elif not self._panels.hear(said, self.player) and self._editor is not None:
            self._editor.hear(said)

    def _take_by_hand(self, token: int | None, cursor: int) -> None:
        """A step, or another token for the step that the page shows."""
        self.playing = False
        self._runner.nudge()
        if token is not None:
            self.player = self.player.go(cursor)
            if self._panels.forbids(self.player, token):
                self._why = self._panels.explain(self.player, token)
                self._moved()
                return
        self._runner.take(token)

    def _try(self, change: Any) -> bool:
        try:
            self.accept(change())
        except GuidedVizError as error:
            self.note = str(error)
            return False
        return True

    def accept(self, player: Player) -> None:
        """Stand there now; what was said about the place before is said no more."""
        self.player, self.note, self._why = player, "", None

    # --- what the page is told ---

    def _moved(self, wake: bool = True) -> Stage:
        if wake:
            self._runner.nudge()
        if self._editor is not None:
            self._editor.moved()
        self._panels.moved(self.player)
        if self._wire is not None:
            self._wire.tell()
            self._keep_soon()
        return self

    tell = _moved

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
        same = 0 if everything or self._sent is None else shared_steps(self._sent, self.player)
        self._sent = self.player
        news = {"from": same, "add": self._panels.pack(self.player, same), **self._standing}
        if news["add"]:
            news |= pack_times(self.player.steps)
        if everything or self._new_head:
            news["head"], self._new_head = pack_head(self._head, self.player), False
        edit = self._editor.shown() if self._editor else None
        news |= self._panels.news(self.player, same, everything, edit.masks if edit else None)
        return news | (self._editor.news(everything) if self._editor else {})

    def _everything(self) -> dict[str, Any]:
        head = pack_head(self._head, self.player)
        news = {"from": 0, "add": self._panels.pack(self.player, 0), "head": head, **self._standing}
        news |= pack_times(self.player.steps)
        return news | self._panels.kept(self.player) | (self._editor.news(True) if self._editor else {})

    @property
    def _standing(self) -> dict[str, Any]:
        how = {"playing": self.playing, "speed": self.speed, "note": self.note, "why": self._why}
        return {**pack_player(self.player), **how}
