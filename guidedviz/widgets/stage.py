"""`gv.stage`: watch a model decode, stop it, go back, choose another token.

The stage connects the player, whose states are values, with the page, which shows them.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

from guidedviz.decoding.conversation import Conversation
from guidedviz.decoding.inserted import cut_inserted
from guidedviz.decoding.loop import check_fit, make_trace, settings_for
from guidedviz.decoding.player import ClosedWalk, LiveWalk, Player, ReplayWalk, recorded_settings, shared_steps
from guidedviz.decoding.recording import PackedHead
from guidedviz.decoding.sampling import LIVE_SETTINGS, Settings
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError, SettingError, expect, quoted
from guidedviz.files import text_of
from guidedviz.front_end import in_notebook, in_terminal
from guidedviz.machines.source import guess_kind
from guidedviz.models.model import Model, check_model, check_utf8
from guidedviz.models.remote import find_host
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.views.dependence import draw_dependence
from guidedviz.views.figure import Figure
from guidedviz.views.stage import draw_stage
from guidedviz.views.stage_text import write_stage
from guidedviz.views.step_words import forbidden_candidates
from guidedviz.views.words import kept_source, label
from guidedviz.widgets import panels
from guidedviz.widgets.display import Display, Message, is_still
from guidedviz.widgets.looked_at import LookedAt, find_dependence
from guidedviz.widgets.map import Masks
from guidedviz.widgets.other_runs import OtherRuns
from guidedviz.widgets.runner import Editor, Runner, compile_guide, name_text, running_loop
from guidedviz.widgets.sharing import ALONE, Follower, Publisher
from guidedviz.widgets.talk import Talk

GO_ON = "next: stage.take() a step, stage.choose(id) another token, stage.play() all steps; then print(stage)"
AT_END = "the run has ended: stage.go(n) to a step, stage.choose(id) another token there; then print(stage)"
REPLAY = "a recorded run: stage.go(n) to a step, stage.take() the next one; then print(stage)"
LOOK_AT_IT = 'in a browser: stage.trace.page("run.html"); in a notebook it is live'
SAVED_AFTER = 0.7  # seconds in which nothing moved


class Stage:
    """What `gv.stage` returns: a player, a cursor, and a page that shows them."""

    def __init__(
        self,
        player: Player,
        head: Trace,
        shown: panels.Panels | panels.RecordedPanels,
        stack: bool = False,
    ) -> None:
        self.player = player
        self.head = head
        self.panels = shown
        self.playing = False
        self.speed = 4.0
        self.note = ""
        self._refused = ""  # what was wrong with the last setting of the page
        self.editor: Editor | None = None
        self.role: Publisher | Follower | None = None  # in a class
        self.talk: Talk | None = None
        self._stack = stack
        self._why: Message | None = None
        self._runner = Runner(self)
        self._looked = LookedAt(self)
        self._others = OtherRuns(self)
        self._page = panels.Page()
        self._turn = 0  # the last move of the page that was heard
        self._keeper: asyncio.TimerHandle | None = None
        kept = {"saved": lambda: self._tell_page(panels.Page()), "record": self._record}
        self.display = Display("stage", self._news, self._hear, **kept, on_close=self._release)

    def open(self, steps: int | None, show: int | None) -> Self:
        """Take steps, and go to the place after `show` tokens; a recording and a picture have all steps."""
        is_known = isinstance(self.player.walk, ReplayWalk) and steps is None
        if steps is None:
            steps = self.player.settings.max_tokens + 1 if is_still() or is_known else 0
        self.take(max(steps, show or 0))
        if is_known and not is_still():
            self.go(show or 0)
        if show is not None:
            self.display.opens_at = show
            self.go(show)
        return self

    def join(self, role: Publisher | Follower) -> Self:
        """Show this stage to a class, or follow the teacher's."""
        self.role = role
        role.start(self)
        return self.tell()

    @property
    def follows(self) -> bool:
        """Whether the steps are the teacher's."""
        return isinstance(self.role, Follower)

    @property
    def is_alone(self) -> bool:
        """Whether the run is one's own: of no class and no conversation."""
        return self.role is None and self.talk is None

    def begin(self, head: Trace, guide: Guide | None) -> None:
        """Show another run, or go on under another guide."""
        self.head = head
        self.panels = panels.Panels(guide, None, self._stack)

    def branch(self) -> Self:
        """Stop following the teacher, and go on from here; the teacher's run is kept as one that was left."""
        walk = self.player.walk
        if isinstance(self.role, Follower) and isinstance(walk, LiveWalk):
            self.role.stop()
            self.role = None
            self.head = make_trace(walk.model, self.head.prompt, self.head.constraint)
            self.accept(self.player.part())
        return self.tell()

    @property
    def trace(self) -> Trace:
        """The record up to the cursor, with the current settings."""
        run = self._whole
        return replace(run, steps=run.steps[: self.player.cursor])

    @property
    def _whole(self) -> Trace:
        """The record of all steps, with the current settings."""
        return panels.trace_of(self.head, self.player, self.guide)

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
        """Return to a run that was left: a branch where it parts from the current one, another run as it was."""
        if branch in range(len(self.player.branches)):
            return self._stop_and(lambda: self.player.turn(branch))
        if branch in range(len(self._others.runs)):
            self._others.turn(branch)
        return self.tell()

    def restart(self, prompt: str) -> Self:
        """Begin a run with another prompt, of a chat with another question; the run so far can be returned to."""
        return self._attempt(lambda: self._others.restart(prompt))

    def use_model(self, name: str) -> Self:
        """Begin a run with another model, for whose vocabulary the machine is read anew."""
        return self._attempt(lambda: self._others.use_model(name))

    def put_beside(self, branch: int) -> Self:
        """Show a run that was left beside the current one; -1 for none."""
        self._others.put_beside(branch)
        return self.tell()

    def _attempt(self, change: Callable[[], None]) -> Self:
        """Do something, or say on the page why it cannot be done."""
        try:
            change()
        except GuidedVizError as error:
            self._answer(str(error))
        return self.tell()

    def reset(self) -> Self:
        """Go back to the prompt and forget all steps."""
        return self._stop_and(self.player.reset)

    def choose(self, token: int) -> Self:
        """Take this token as the next one."""
        return self._stop_and(lambda: self.player.choose(token))

    def insert(self, text: str) -> Self:
        """Put this text next, in the model's tokens; the mask must allow all of it."""
        return self._stop_and(lambda: self.player.choose(*cut_inserted(self.player, text)))

    def looked_at(self) -> Figure:
        """Draw what the token at the cursor depends on: each token before it is left out."""
        return draw_dependence(find_dependence(self.player))

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
        if self.editor is None:
            raise SettingError("stage.edit", seen="a stage without a box", expected="gv.stage(..., edit=text)")
        self.editor.read(kind or guess_kind(text), text)
        return self

    def go_back(self) -> Self:
        """Go back to the first token that the edited constraint rejects, and use the constraint from there."""
        if self.editor:
            self.editor.go_back()
        return self

    def answer(self, *texts: str) -> Self:
        """Let the model read the results of its calls, or these texts in their place, and begin its next turn."""
        return self._attempt(partial(self._go_on, texts))

    def _go_on(self, texts: tuple[str, ...]) -> None:
        if self.talk is None:
            hint = "gv.stage(gv.decoding.Conversation(model, question, tools))"
            raise SettingError("stage.answer", seen="a stage without a conversation", expected="one", hint=hint)
        self.talk.go_on(*texts)

    def visit(self, turn: int, cursor: int) -> Self:
        """Go to a step of a turn of the conversation; who takes another way from there drops the later turns."""
        if self.talk is not None and self.talk.visit(turn):
            self.accept(self.player.go(cursor))
        return self.tell()

    def show_run(self, head: Trace, guide: Guide | None, player: Player) -> None:
        """Show another run, or another turn of the conversation."""
        self.playing = False
        if isinstance(player.walk, LiveWalk) and self.editor:
            self.editor.turn(player.walk.model.vocabulary)
        if self.guide and guide and self.guide.vocabulary is not guide.vocabulary:
            self._page.masks = Masks()  # the map is another one
        self.begin(head, guide)
        self.accept(player)

    def adopt(self, guide: Guide, name: str, cursor: int) -> Self:
        """Replace the guide, and go to a step; the steps from the first token that it rejects are removed."""
        if self._try(lambda: self.player.adopt(guide).go(cursor)):
            if self.player.cursor:
                name += f" from step {self.player.cursor + 1} on"
            self.begin(replace(self.head, constraint=name), guide)
        return self.tell()

    def play(self, hurry: bool = False) -> Self:
        """Take steps until paused, at `speed` steps per second or, with `hurry`, as fast as the model can."""
        if self.follows:
            return self.tell()
        if is_still() or running_loop() is None:
            return self.take(self.player.settings.max_tokens + 1)
        self.playing = not self.player.at_end
        self.note = ""
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
        self.player = self.player.close()
        self.editor = None
        self.talk = None
        self._looked = LookedAt(self)
        self._others = OtherRuns(self)
        self._page = panels.Page()
        if isinstance(self.panels, panels.Panels):
            self.panels = self.panels.close()
        self.note = "This cell was run again: use the newer stage."
        self.tell()

    def __repr__(self) -> str:
        return draw_stage(self.trace).text

    def __str__(self) -> str:
        text = write_stage(self._whole, self.player.cursor, self.note, self._say_forbidden())
        if in_notebook():
            return text
        then = AT_END if self.player.at_end else GO_ON
        if isinstance(self.player.walk, ReplayWalk):
            then = REPLAY
        return f"{text}\n{then}\n{LOOK_AT_IT}"

    def _say_forbidden(self) -> str:
        """Why the likeliest forbidden token of the step that the text shows cannot come; "" if none is forbidden."""
        place = min(self.player.cursor, len(self.player.taken) - 1)
        if place < 0:
            return ""
        for candidate in forbidden_candidates(self.player.taken[place].step)[:1]:
            why = self.panels.explain(self.player, candidate.token)
            if why:
                return f"forbidden: “{label(candidate.piece)}” · {why['reason']}"
        return ""

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        if in_terminal():
            return {"text/plain": str(self)}
        kept = replace(self._whole, source=kept_source(self.head.source))
        split = self.panels.split(self.player) if self._stack else None
        mapped = None if self.panels.drawn else self.guide
        box = self.editor.text if self.editor else ""
        figure = draw_stage(kept, self.player.cursor, self.panels.drawn, split, mapped, box)
        still = isinstance(self.player.walk, ClosedWalk) and self.role is None
        return self.display.bundle(figure, still=still, **wanted)

    def _hear(self, said: Any) -> None:
        if self.role is not None and self.role.hear(said, self):
            return
        moves: dict[str, Callable[[], Any]] = {
            "play": self.play,
            "end": partial(self.play, hurry=True),
            "pause": self.pause,
            "step": self._take_by_hand,
            "reset": self.reset,
            "go_back": self.go_back,
            "page": partial(self._attempt, self._send_page),
            "look": self._looked.ask,
        }
        match said:
            case {"do": str(do)} if do in moves:
                self._move(moves[do])
            case {"do": "go", "cursor": int(cursor), "turn": int(turn)}:
                self._turn = turn
                self.go(cursor)
            case {"do": "choose", "token": int(token), "cursor": int(cursor)}:
                self.player = self.player.go(cursor)
                self._take_by_hand(token)
            case {"do": "set", "name": str(name), "value": int() | float() | None as value}:
                self._set(name, value)
            case {"do": "edit" | "answer" | "visit" | "insert"}:
                self._hear_text(said)
            case {"do": "turn" | "beside" | "prompt" | "model"}:
                self._hear_run(said)
            case {"do": "map"} if isinstance(self.panels, panels.Panels):
                self.panels.hear(said, self.player, self._page)
                self.display.tell()

    def _move(self, act: Callable[[], Any]) -> None:
        """Do what a button asks. Who left a field by this button has not read yet what was wrong there."""
        refused = self._refused
        self._refused = ""
        act()
        if refused:
            self._answer(refused)
            self.tell()

    def _hear_text(self, said: Any) -> None:
        """Take what a person wrote: a constraint, results for the model or what comes next; or go to another turn."""
        match said:
            case {"do": "visit", "turn": int(turn), "cursor": int(cursor)}:
                self.visit(turn, cursor)
            case {"do": "edit", "kind": str(kind), "text": str(text)} if self.editor:
                self._page.text = text
                self.editor.read(kind, text)
            case {"do": "answer", "texts": list(texts)}:
                self.answer(*texts)
            case {"do": "insert", "text": str(text)}:
                self._attempt(lambda: self._take_by_hand(*cut_inserted(self.player, text)))

    def _hear_run(self, said: Any) -> None:
        """Begin another run, or show one that was left."""
        match said:
            case {"do": "turn", "branch": int(branch)}:
                self.turn(branch)
            case {"do": "beside", "branch": int(branch)}:
                self.put_beside(branch)
            case {"do": "prompt", "text": str(text)}:
                self.restart(text)
            case {"do": "model", "name": str(name)}:
                self._others.ask_model(name)

    def _set(self, name: str, value: float | None) -> None:
        """Change what a control of the page shows."""
        if name == "speed" and value in panels.SPEEDS:
            self.speed = value
            self.tell()
        elif name in LIVE_SETTINGS:
            self.change(**{name: value})
            self._refused = self.note

    def _send_page(self) -> None:
        """Send the whole run to the page as a page that plays it, to be saved."""
        text = panels.page_of(self._run, self.player.cursor)
        self.display.widget.send({"file": {"name": "run.html", "type": "text/html", "text": text}})

    @property
    def _run(self) -> Trace:
        """All steps, as a record."""
        walk = self.player.walk
        run = walk.trace if isinstance(walk, ReplayWalk) else self._whole
        return run if self.guide is None else replace(run, guide=self.guide)

    def _record(self) -> Message:
        """All steps, for a page that plays them alone."""
        if self.talk:
            return self.talk.record()
        run = self._run
        shown = panels.shown_run(run)
        return shown | {"head": shown["head"] | {"constraint": self._packed_head["constraint"]}}

    def _take_by_hand(self, *tokens: int) -> None:
        """Take a step, or put these tokens at the cursor; one that is forbidden is explained."""
        self.playing = False
        self._runner.nudge()
        why = self.panels.explain(self.player, tokens[0]) if tokens else None
        if why:
            self._answer(why=why)
        elif self._try(lambda: self.player):
            self._runner.take(*tokens)
        self.tell()

    def _answer(self, note: str = "", why: Message | None = None) -> None:
        """Replace what the page says about the last request."""
        self.note = note
        self._why = why

    def _try(self, change: Callable[[], Player]) -> bool:
        try:
            if self.follows:
                expected = "to follow the teacher's run"
                hint = f'"{ALONE}", or stage.branch()'
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
        if self.editor is not None:
            self.editor.moved()
        if self.talk is not None:
            self.talk.moved()
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
        loop = running_loop()
        if loop:
            self._keeper = loop.call_later(SAVED_AFTER, lambda: None if self.playing else self.display.save())

    def _news(self, everything: bool) -> Message:
        if everything or (self._page.masks.full and not self._shared_with(self._page)):
            self._page = panels.Page()
        if not self.follows:
            self._runner.wake()
        return self._tell_page(self._page)

    def _shared_with(self, page: panels.Page) -> int:
        return shared_steps(page.player.taken, self.player.taken) if page.player else 0

    def _tell_page(self, page: panels.Page) -> Message:
        """The current state, and of the rest what this page lacks."""
        same = self._shared_with(page)
        news = self.panels.news(self.player, same, page)
        if page.player and news["add"] and page.player.peek is self.player.taken[same]:
            news["add"] = [None, *news["add"][1:]]  # the page has it: it was the next step
        news |= panels.pack_player(self.player)
        news |= {"playing": self.playing, "speed": self.speed, "note": self.note, "why": self._why, "turn": self._turn}
        news["lesson"] = self.role.bar() if self.role else None
        head = self._packed_head
        if page.head != head:
            page.head = head
            news["head"] = head
        news["branches"] += self._others.pack()
        news |= self._tell_asked(page)
        if self.talk:
            news["results"] = self.talk.pack()
        if self.editor:
            box = self.editor.pack()
            text = box["text"]
            if page.text == text:
                del box["text"]  # a person may be typing there
            page.text = text
            news["edit"] = box
        page.player = self.player
        return news

    def _tell_asked(self, page: panels.Page) -> Message:
        """What a person has asked to see, where the page lacks it."""
        news: Message = {}
        looked = self._looked.pack()
        if page.looked is not looked:
            page.looked = looked
            news["looked"] = looked
        beside = self._others.pack_beside()
        if page.beside != beside:
            page.beside = beside
            news["beside"] = beside
        return news

    @property
    def _packed_head(self) -> PackedHead:
        head = panels.pack_head(self.head, self.player)
        head["live"] = head["live"] and not self.follows
        self._others.offer(head)
        if self.talk:
            self.talk.write_tape(head, self.talk.now)
        return head


def stage(
    model: Model | Trace | Conversation,
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
    repetition_penalty: float = 1.0,
    edit: str = "",
    stack: bool = False,
    share: bool = False,
    follow: bool = False,
) -> Stage:
    """A live stage for a model or a conversation, or the replay of a trace; `steps` are taken before it is shown.

    It opens at the place after `show` tokens, live as well as in the picture of a saved notebook, which shows all steps
    where nobody can click.
    With a guide the stage also shows its machine and its stack; a trace has that of its own run, one from a file none.
    `constraint` names the constraint. `jump_forward` appends forced tokens without the model, and `draft` guesses
    tokens that it judges together, as in `gv.decode`.
    `edit` adds a box with this text (regex, JSON Schema, GBNF or Lark) to change the constraint in. Without a guide the
    text is the constraint. With `stack` the map of a split also shows which tokens depend on the stack.
    A `gv.decoding.Conversation` brings its prompts and guides. At the end of a turn its calls are run, a person may
    change the results, and with a press, or `stage.answer()`, the model reads them and its next turn begins.
    With `share` the teacher shows the stage to the class, on the host of the model, and `gv.stage(model, follow=True)`
    follows it live until the student goes on alone.
    """
    given = dict(locals())
    _check_options(given)
    if isinstance(model, Conversation):
        return _begin_talk(model, given)
    if isinstance(model, Trace):
        return _replay(model, guide, given).open(steps, show)
    check_model(model, "gv.stage, model")
    check_utf8("gv.stage, constraint", constraint)
    prompt = text_of(prompt, "gv.stage, prompt")
    edit = text_of(edit, "gv.stage, edit")
    check_utf8("gv.stage, edit", edit)
    if follow:
        return _follow_teacher(model, prompt, guide, share)
    if not prompt:
        raise SettingError("gv.stage, prompt", seen="no prompt", expected="gv.stage(model, prompt, guide)")
    settings = settings_for(model, given)
    guide, constraint = _read_constraint(model, guide, edit, constraint)
    player = Player(LiveWalk(model, prompt, guide), settings)
    head = make_trace(model, prompt, constraint, seed, temperature)
    shown = Stage(player, head, panels.Panels(guide, None, stack), stack)
    if edit:
        shown.editor = Editor(shown, model.vocabulary, guess_kind(edit), edit)
    shown.open(steps, show)
    if not share:
        return shown
    return shown.join(Publisher(find_host(model, "gv.stage, share"), model.vocabulary.fingerprint))


def _read_constraint(model: Model, guide: Guide | None, edit: str, name: str) -> tuple[Guide | None, str]:
    """The guide, which the text of the box gives where there is no other, and its name."""
    if guide is not None:
        check_fit(guide, model.vocabulary, model.name)
        return guide, name or name_guide(guide)
    if edit:
        kind = guess_kind(edit)
        return compile_guide(kind, edit, model.vocabulary), name or name_text(kind, edit)
    return None, name


def _check_options(given: dict[str, Any]) -> None:
    for name in ("stack", "share", "follow"):
        expect(given[name], bool, f"gv.stage, {name}", "True or False")
    for name in ("steps", "show"):
        count = given[name]
        if count is not None and not (isinstance(count, int) and count >= 0):
            raise SettingError(f"gv.stage, {name}", seen=quoted(count), expected="a whole number from 0 up")


STILL_TURNS = 8  # of a conversation in a notebook that nobody can click
NOT_OF_TALKS = ("prompt", "guide", "edit", "share", "follow")


def _begin_talk(talk: Conversation, given: dict[str, Any]) -> Stage:
    """A stage on the first turn of a conversation; where nobody can click, on the last."""
    settings = {name: value for name, value in given.items() if name not in ("model", "steps", "show", *NOT_OF_TALKS)}
    for name in NOT_OF_TALKS:
        if given[name]:
            where = f"gv.stage(conversation), {name}"
            raise SettingError(where, seen=quoted(given[name]), expected="none: a conversation brings its own")
    prompt, guide = talk.next_turn()
    shown = stage(talk.model, prompt, guide, steps=0, **settings)
    shown.talk = Talk(shown, talk)
    shown.open(given["steps"], given["show"])
    turns = STILL_TURNS if is_still() else 0
    for _ in range(turns):
        if shown.talk.is_ready:
            shown.answer().take(given["max_tokens"] + 1)
    return shown


def _follow_teacher(model: Model, prompt: str, guide: Guide | None, share: bool) -> Stage:
    """A stage that follows the teacher's; without a guide it takes the teacher's."""
    where = "gv.stage, follow"
    if prompt or share:
        expected = "gv.stage(model, follow=True): the prompt is the teacher's"
        raise SettingError(where, seen="share" if share else "a prompt", expected=expected)
    if guide is not None:
        check_fit(guide, model.vocabulary, model.name)
    role = Follower(model, find_host(model, where), guide)
    player = Player(ClosedWalk(), Settings())
    return Stage(player, make_trace(model, ""), panels.Panels(None, None)).join(role)


def _replay(trace: Trace, guide: Guide | None, given: dict[str, Any]) -> Stage:
    """A stage that replays a trace and refuses settings of its own."""
    defaults = {"prompt": "", **(stage.__kwdefaults__ or {})}
    for name, default in defaults.items():
        if given[name] != default and name not in ("steps", "show", "stack"):
            where = f"gv.stage(trace), {name}"
            raise SettingError(where, seen=quoted(given[name]), expected="no settings: a recording has its own")
    if guide is not None:
        check_guide(guide)
    guide = guide or trace.guide
    player = Player(ReplayWalk(trace), recorded_settings(trace))
    if guide is None and trace.recording:
        return Stage(player, trace, panels.RecordedPanels(trace))
    known = trace.guide if guide is None else guide
    return Stage(player, trace, panels.Panels(known, trace, given["stack"]), given["stack"])
