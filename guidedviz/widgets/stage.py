"""`gv.stage`: watch a model decode, stop it, go back, choose another token.

The stage connects the player, whose states are values, with the page, which shows them.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

from guidedviz.decoding.loop import check_fit, make_trace, settings_for
from guidedviz.decoding.player import ClosedWalk, LiveWalk, Player, ReplayWalk, recorded_settings, shared_steps
from guidedviz.decoding.recording import PackedHead, PackedWhy
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError, SettingError, expect, quoted
from guidedviz.machines.source import guess_kind
from guidedviz.models.model import Model, check_model, check_utf8
from guidedviz.models.remote import find_host
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.views.stage import draw_stage
from guidedviz.views.words import kept_source
from guidedviz.widgets import panels
from guidedviz.widgets.display import Display, is_still
from guidedviz.widgets.runner import Editor, Runner, compile_guide, name_text, running_loop
from guidedviz.widgets.sharing import ALONE, Follower, Publisher


class Stage:
    """What `gv.stage` returns: a player, a cursor, and a page that shows them."""

    def __init__(
        self,
        player: Player,
        head: Trace,
        guide: Guide | None,
        *,
        steps: int | None = None,
        show: int | None = None,
        box: tuple[str, str] | None = None,
        stack: bool = False,
    ) -> None:
        self.player, self.head, self.playing, self.speed, self.note = player, head, False, 4.0, ""
        walk, self._stack = player.walk, stack
        trace = walk.trace if isinstance(walk, ReplayWalk) else None
        loaded = trace if trace and trace.recording and guide is None else None
        self.panels = panels.RecordedPanels(loaded) if loaded else panels.Panels(guide, trace, stack)
        self._editor = Editor(self, walk.model.vocabulary, *box) if box and isinstance(walk, LiveWalk) else None
        self._why: PackedWhy | None = None
        self._runner = Runner(self)
        self._page = panels.Page()
        self._turn = 0  # the last move of the page that was heard
        self._keeper: asyncio.TimerHandle | None = None
        self.role: Publisher | Follower | None = None  # in a class
        kept = {"saved": lambda: self._tell_page(panels.Page()), "record": self._record}
        self.display = Display("stage", self._news, self._hear, **kept, on_close=self._release)
        self.display.opens_at = show or 0
        by_default = player.settings.max_tokens + 1 if is_still() else 0
        self.take(max(by_default if steps is None else steps, show or 0))
        if show is not None:
            self.go(show)

    def join(self, role: Publisher | Follower) -> Self:
        """Show this stage to a class, or follow the teacher's."""
        self.role = role
        role.start(self)
        return self.tell()

    @property
    def follows(self) -> bool:
        """Whether the steps are the teacher's."""
        return isinstance(self.role, Follower)

    def begin(self, head: Trace, guide: Guide | None) -> None:
        """Show another run, or go on under another guide."""
        self.head, self.panels = head, panels.Panels(guide, None, self._stack)

    def branch(self) -> Self:
        """Stop following the teacher, and go on from here; the teacher's run is kept as one that was left."""
        walk, head = self.player.walk, self.head
        if isinstance(self.role, Follower) and isinstance(walk, LiveWalk):
            self.role.stop()
            self.role = None
            self.head = make_trace(walk.model, head.prompt, head.constraint)
            self.accept(self.player.part())
        return self.tell()

    @property
    def trace(self) -> Trace:
        """The record up to the cursor, with the current settings."""
        now = self.player.settings
        steps = self.player.steps[: self.player.cursor]
        return replace(self.head, steps=steps, seed=now.seed, temperature=now.temperature, guide=self.guide)

    @property
    def text(self) -> str:
        """The output up to the cursor."""
        return self.trace.text

    @property
    def guide(self) -> Guide | None:
        """The current guide."""
        return self.panels.guide

    def take(self, count: int = 1) -> Self:
        """Take steps immediately; stop where the decode ends or fails."""
        for _ in range(count):
            if self.player.at_end or not self._try(self.player.forward):
                break
        return self.tell()

    def go(self, cursor: int) -> Self:
        """Go to a step that was taken."""
        self.playing = False
        self.accept(self.player.go(cursor))
        return self.tell()

    def turn(self, branch: int) -> Self:
        """Return to a run that was left, at the place where it parts from the current one."""
        known = 0 <= branch < len(self.player.branches)
        return self._stop_and(lambda: self.player.turn(branch) if known else self.player)

    def reset(self) -> Self:
        """Go back to the prompt and forget all steps."""
        return self._stop_and(lambda: self.player.reset())

    def choose(self, token: int) -> Self:
        """Take this token as the next one."""
        return self._stop_and(lambda: self.player.choose(token))

    def _stop_and(self, change: Callable[[], Player]) -> Self:
        self.playing = False
        self._try(change)
        return self.tell()

    def change(self, **settings: Any) -> Self:
        """Change temperature, seed and other settings for the steps that follow."""
        self._try(lambda: self.player.change(**settings))
        return self.tell()

    def edit(self, text: str, kind: str = "") -> Self:
        """Change the constraint of the steps that follow; if it rejects a token that was taken, call `go_back`."""
        if self._editor is None:
            raise SettingError("stage.edit", seen="a stage without a box", expected="gv.stage(..., edit=text)")
        self._editor.read(kind or guess_kind(text), text)
        return self

    def go_back(self) -> Self:
        """Go back to the first token that the edited constraint rejects, and use the constraint from there."""
        if self._editor is not None:
            self._editor.go_back()
        return self

    def adopt(self, guide: Guide, cursor: int | None = None) -> Self:
        """Replace the guide; the steps from the first token that it rejects are removed."""
        if self._try(lambda: self.player.adopt(guide)):
            self.player = self.player.go(self.player.cursor if cursor is None else cursor)
            since = f" from step {self.player.cursor + 1} on" * bool(self.player.cursor)
            name = name_text(self._editor.kind, self._editor.text) if self._editor else "another guide"
            self.begin(replace(self.head, constraint=name + since), guide)
        return self.tell()

    def play(self, hurry: bool = False) -> Self:
        """Take steps until paused, at `speed` steps per second or, with `hurry`, as fast as the model can."""
        if self.follows:
            return self.tell()
        if is_still() or running_loop() is None:
            return self.take(self.player.settings.max_tokens + 1)
        self.playing, self.note = not self.player.at_end, ""
        self._runner.run(hurry)
        return self.tell()

    def pause(self) -> Self:
        """Stop; a step that has begun is finished."""
        self.playing = False
        return self.tell()

    def close(self) -> None:
        """Stop, and release the model; the steps stay as a picture."""
        self.display.close()

    def _release(self) -> None:
        self.playing = False
        if self.role is not None:
            self.role.stop()
            self.role = None
        self.player, self._editor, self._page = self.player.close(), None, panels.Page()
        if isinstance(self.panels, panels.Panels):
            self.panels = self.panels.close()
        self.note = "This cell was run again: use the newer stage."
        self.tell()

    def __repr__(self) -> str:
        return draw_stage(self.trace).text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        kept = replace(self.trace, steps=self.player.steps, source=kept_source(self.trace.source))
        panels, cursor = self.panels, self.player.cursor
        figure = draw_stage(kept, cursor, machine=panels.drawn, split=panels.split(self.player), stack=self._stack)
        still = isinstance(self.player.walk, ClosedWalk) and self.role is None
        return self.display.bundle(figure, still=still, **wanted)

    def _hear(self, said: Any) -> None:
        if self.role is not None and self.role.hear(said, self):
            return
        moves: dict[str, Callable[[], Any]] = {"play": self.play, "pause": self.pause, "reset": self.reset}
        moves |= {"end": lambda: self.play(hurry=True), "step": lambda: self._take_by_hand(None)}
        moves |= {"go_back": self.go_back, "page": self._send_page}
        match said:
            case {"do": str(do)} if do in moves:
                moves[do]()
            case {"do": "go", "cursor": int(cursor), "turn": int(turn)}:
                self._turn = turn
                self.go(cursor)
            case {"do": "turn", "branch": int(branch)}:
                self.turn(branch)
            case {"do": "choose", "token": int(token), "cursor": int(cursor)}:
                self.player = self.player.go(cursor)
                self._take_by_hand(token)
            case {"do": "set", "name": "speed", "value": int() | float() as value} if value in panels.SPEEDS:
                self.speed = value
                self.tell()
            case {"do": "set", "name": "temperature" | "seed" as name, "value": int() | float() as value}:
                self.change(**{name: value})
            case {"do": "edit", "kind": str(kind), "text": str(text)} if self._editor is not None:
                self._page.text = text
                self._editor.read(kind, text)
            case {"do": "map"} if isinstance(self.panels, panels.Panels):
                self.panels.hear(said, self.player, self._page)
                self.display.tell()

    def _send_page(self) -> None:
        """Send the whole run to the page as a page that plays it, to be saved."""
        try:
            text = panels.page_of(self._run, self.player.cursor)
            self.display.widget.send({"file": {"name": "run.html", "type": "text/html", "text": text}})
        except GuidedVizError as error:
            self._answer(str(error))
            self.tell()

    @property
    def _run(self) -> Trace:
        """All steps, as a record."""
        walk = self.player.walk
        run = walk.trace if isinstance(walk, ReplayWalk) else replace(self.trace, steps=self.player.steps)
        return run if self.guide is None else replace(run, guide=self.guide)

    def _record(self) -> dict[str, Any]:
        """All steps, for a page that plays them alone."""
        run = self._run
        shown = run.shown or panels.show_run(run)
        return shown | {"head": shown["head"] | {"constraint": self._packed_head["constraint"]}}

    def _take_by_hand(self, token: int | None) -> None:
        """Take a step, or another token for the step at the cursor."""
        self.playing = False
        self._runner.nudge()
        if token is not None and (why := self.panels.explain(self.player, token)):
            self._answer(why=why)
        elif self._try(lambda: self.player):
            self._runner.take(token)
        self.tell()

    def _answer(self, note: str = "", why: PackedWhy | None = None) -> None:
        """Replace what the page says about the last request."""
        self.note, self._why = note, why

    def _try(self, change: Callable[[], Player]) -> bool:
        try:
            if self.follows:
                expected, hint = "to follow the teacher's run", f'"{ALONE}", or stage.branch()'
                raise SettingError("this stage", seen="a move of its own", expected=expected, hint=hint)
            self.accept(change())
        except GuidedVizError as error:
            self._answer(str(error))
            return False
        return True

    def accept(self, player: Player) -> None:
        """Go on from this player."""
        self.player = player
        self._answer()

    def tell(self, wake: bool = True) -> Self:
        """Tell the page and the runner that something has moved."""
        if wake:
            self._runner.nudge()
        if self._editor is not None:
            self._editor.moved()
        if isinstance(self.role, Publisher):
            self.role.moved(self)
        if self.display.wire is not None:
            self.display.tell()
            self._keep_soon()
        return self

    def _keep_soon(self) -> None:
        """Save the state in the notebook once nothing has moved for a while."""
        if self._keeper:
            self._keeper.cancel()
        if loop := running_loop():
            self._keeper = loop.call_later(0.7, lambda: None if self.playing else self.display.save())

    def _news(self, everything: bool) -> dict[str, Any]:
        if everything or (self._page.masks.full and not self._shared_with(self._page)):
            self._page = panels.Page()
        if not self.follows:
            self._runner.wake()
        return self._tell_page(self._page)

    def _shared_with(self, page: panels.Page) -> int:
        return shared_steps(page.player.taken, self.player.taken) if page.player else 0

    def _tell_page(self, page: panels.Page) -> dict[str, Any]:
        """The current state, and of the rest what this page lacks."""
        same, before = self._shared_with(page), page.player
        how = {"playing": self.playing, "speed": self.speed, "note": self.note, "why": self._why, "turn": self._turn}
        how["lesson"] = self.role.bar() if self.role is not None else None
        news = self.panels.news(self.player, same, page) | {**panels.pack_player(self.player), **how}
        news |= panels.pack_times(self.player.steps)
        if before and news["add"] and before.peek is self.player.taken[same]:
            news["add"] = [None, *news["add"][1:]]  # the page has it: it was the next step
        if page.head != (head := self._packed_head):
            news["head"] = page.head = head
        if self._editor:
            news["edit"] = box = self._editor.pack()
            if page.text == (text := box["text"]):
                del box["text"]  # a person may be typing there
            page.text = text
        page.player = self.player
        return news

    @property
    def _packed_head(self) -> PackedHead:
        head = panels.pack_head(self.head, self.player)
        return {**head, "live": head["live"] and not self.follows}


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
    show: int | None = None,
    jump_forward: bool | str = False,
    draft: Any = None,
    edit: str = "",
    stack: bool = False,
    share: bool = False,
    follow: bool = False,
) -> Stage:
    """A live stage for a model, or the replay of a trace; `steps` are taken before it is shown.

    It opens at the place after `show` tokens, live as well as in the picture of a saved notebook, which shows all steps
    where nobody can click.
    With a guide the stage also shows its machine and its stack; a trace needs the guide it was recorded with.
    `constraint` names the constraint. `jump_forward` appends forced tokens without the model, and `draft` guesses
    tokens that it judges together, as in `gv.decode`.
    `edit` adds a box with this text (regex, JSON Schema or GBNF) to change the constraint in. Without a guide the text
    is the constraint. With `stack` the map of a split also shows which tokens depend on the stack.
    With `share` the teacher shows the stage to the class, on the host of the model, and `gv.stage(model, follow=True)`
    follows it live until the student goes on alone.
    """
    given = dict(locals())
    for name, wish in (("stack", stack), ("share", share), ("follow", follow)):
        expect(wish, bool, f"gv.stage, {name}", "True or False")
    for name, count in (("steps", steps), ("show", show)):
        if count is not None and not (isinstance(count, int) and count >= 0):
            raise SettingError(f"gv.stage, {name}", seen=quoted(count), expected="a whole number from 0 up")
    if isinstance(model, Trace):
        return _replay(model, guide, given)
    check_model(model, "gv.stage, model")
    check_utf8("gv.stage, constraint", constraint)
    check_utf8("gv.stage, edit", edit)
    if follow:
        return _follow(model, prompt, guide, share)
    if not prompt:
        raise SettingError("gv.stage, prompt", seen="no prompt", expected="gv.stage(model, prompt, guide)")
    settings = settings_for(model, temperature, top_k, top_p, seed, max_tokens, bias, jump_forward, draft)
    if guide is not None:
        check_fit(guide, model.vocabulary, model.name)
    box = (guess_kind(edit), edit) if edit else None
    if box and guide is None:
        guide, constraint = compile_guide(*box, model.vocabulary), constraint or name_text(*box)
    player = Player(LiveWalk(model, prompt, guide), settings)
    constraint = constraint or (name_guide(guide) if guide else "")
    head = make_trace(model, prompt, constraint, seed, temperature)
    shown = Stage(player, head, guide, steps=steps, show=show, box=box, stack=stack)
    return shown.join(Publisher(find_host(model, "gv.stage, share"), model.vocabulary.fingerprint)) if share else shown


def _follow(model: Model, prompt: str, guide: Guide | None, share: bool) -> Stage:
    """A stage that follows the teacher's; without a guide it takes the teacher's."""
    where, expected = "gv.stage, follow", "gv.stage(model, follow=True): the prompt is the teacher's"
    if prompt or share:
        raise SettingError(where, seen="share" if share else "a prompt", expected=expected)
    if guide is not None:
        check_fit(guide, model.vocabulary, model.name)
    role = Follower(model, find_host(model, where), guide)
    head = make_trace(model, "")
    return Stage(Player(ClosedWalk(), Settings()), head, None, steps=0).join(role)


def _replay(trace: Trace, guide: Guide | None, given: dict[str, Any]) -> Stage:
    """A stage that replays a trace and refuses settings of its own."""
    opened = {name: given.pop(name) for name in ("steps", "show", "stack")}
    del given["model"], given["guide"]
    defaults = {"prompt": "", **(stage.__kwdefaults__ or {})}
    if name := next((name for name, value in given.items() if value != defaults[name]), ""):
        where, seen = f"gv.stage(trace), {name}", quoted(given[name])
        raise SettingError(where, seen=seen, expected="no settings: a recording has its own")
    if guide is not None:
        check_guide(guide)
    return Stage(Player(ReplayWalk(trace), recorded_settings(trace)), trace, guide, **opened)
