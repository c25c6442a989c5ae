"""The other runs of a stage: those that were left for another token, another prompt or another model.

A run that was left for another token is a branch of the player. Another prompt and another model begin a whole run, and
the one before it is kept here with its guide. A person may put one of all these beside the shown run, or return to it.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from guidedviz.decoding.loop import make_trace
from guidedviz.decoding.player import MOST_BRANCHES, LiveWalk, Player, TakenSteps
from guidedviz.decoding.recording import PackedBranch, PackedHead
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError, SettingError, shorten
from guidedviz.models.chat import Prompt
from guidedviz.models.gguf import SMOLLM2
from guidedviz.models.load import EMBEDDED, load_model
from guidedviz.models.model import Model, has_template
from guidedviz.tokens.budget import keep_budget
from guidedviz.tokens.build_guide import guide as make_guide
from guidedviz.tokens.guide import Guide
from guidedviz.views.words import reading
from guidedviz.widgets.display import Message
from guidedviz.widgets.panels import pack_beside, pack_branch
from guidedviz.widgets.runner import LiveStage, begin_work, say_failure

PROMPT_START = 24  # characters of a prompt that name its run
OFFERED = (*EMBEDDED, SMOLLM2)  # models that a page may ask for by name
NEW_STAGE = "gv.stage(model, prompt, guide)"


class LeftRun(NamedTuple):
    """A whole run that was left."""

    head: Trace
    guide: Guide | None
    player: Player
    name: str  # its model, and the begin of its prompt


class OtherRuns:
    """The runs of a stage besides the one that it shows."""

    def __init__(self, stage: LiveStage) -> None:
        self._stage = stage
        self._left: list[LeftRun] = []
        self._models: dict[str, Model] = {}  # that were shown here, by name
        self._beside: TakenSteps = ()  # the run that is put beside the shown one
        self._question: tuple[str, str | None] = ("", "")  # a prompt, and what a person may edit of it

    @property
    def runs(self) -> list[TakenSteps]:
        """The steps of all other runs: the branches of the player, then the whole runs."""
        return [*self._stage.player.branches, *(run.player.taken for run in self._left)]

    def restart(self, text: str) -> None:
        """Begin a run with another prompt."""
        walk = self._live_walk("another prompt")
        prompt = self._rewrite(walk.model, text)
        self._begin(walk.model, prompt, self._stage.guide, self._stage.player)

    def use_model(self, name: str) -> None:
        """Begin a run with another model, whose guide reads the same machine."""
        self._show_model(*self._load(name))

    def ask_model(self, name: str) -> None:
        """Do the same for a page, which may ask for a name that it was offered: in the worker where there is a loop."""
        name = self._offered.get(name, "")
        if not name:
            return
        self._stage.note = f"loading {name} …"
        self._stage.tell()
        begin_work(partial(self._load, name), partial(self._finish, self._stage.player.walk))

    def turn(self, place: int) -> None:
        """Return to a whole run; the shown one is kept in its place."""
        run = self._left.pop(place - len(self._stage.player.branches))
        self._keep()
        self._stage.show_run(run.head, run.guide, run.player)

    def put_beside(self, place: int) -> None:
        """Put another run beside the shown one, or none."""
        runs = self.runs
        self._beside = runs[place] if place in range(len(runs)) else ()

    def pack(self) -> list[PackedBranch]:
        """The whole runs for the page, each named by its model and its prompt."""
        return [self._pack_run(run) for run in self._left]

    def _pack_run(self, run: LeftRun) -> PackedBranch:
        packed = pack_branch(Player(run.player.walk, run.player.settings), run.player.taken)
        return packed._replace(text=f"{run.name} · {packed.text}")

    def pack_beside(self) -> Message | None:
        """Two runs token by token around the place where they part."""
        places = [place for place, run in enumerate(self.runs) if run is self._beside]
        if not (places and self._beside):
            return None
        shown = self._stage.player.steps
        other = tuple(taken.step for taken in self._beside)
        return pack_beside(shown, other, places[0])

    def offer(self, head: PackedHead) -> None:
        """Say on the page what may be changed: the prompt, and the model."""
        walk = self._stage.player.walk
        if not (self._stage.is_alone and isinstance(walk, LiveWalk)):
            return
        text = self._editable(self._stage.head.prompt)
        if text is not None:
            head["asked"] = text
        head["models"] = tuple(self._offered)

    @property
    def _offered(self) -> dict[str, str]:
        """The names of models by what is shown of them: the present one first, then those that were here, then ours."""
        names = [self._stage.head.model, *self._models, *OFFERED]
        return {shorten(reading(name), PROMPT_START): name for name in names}

    def _live_walk(self, where: str) -> LiveWalk:
        walk = self._stage.player.walk
        if not isinstance(walk, LiveWalk):
            raise SettingError(where, seen="a recording", expected="a live stage", hint=NEW_STAGE)
        if not self._stage.is_alone:
            seen = "a stage of a conversation or of a class"
            raise SettingError(where, seen=seen, expected="a stage of one's own", hint=NEW_STAGE)
        return walk

    def _editable(self, prompt: str) -> str | None:
        """What a person may edit of a prompt: all of a plain text, the question of a chat; None for other chats."""
        known, text = self._question
        if known is not prompt:
            text = _question_of(self._stage.player.walk, prompt)
            self._question = prompt, text
        return text

    def _rewrite(self, model: Model, text: str) -> str:
        """The prompt with another text, in the chat template if it had one."""
        prompt = self._stage.head.prompt
        if isinstance(text, Prompt) or not isinstance(prompt, Prompt):
            return text
        if self._editable(prompt) is None:
            hint = "gv.stage(model, model.chat(messages), guide)"
            seen = "a prompt of several messages or with tools"
            raise SettingError("another prompt", seen=seen, expected="a text or one question", hint=hint)
        if not text:
            raise SettingError("another prompt", seen="no text", expected="a question", hint="write at least a word")
        return _ask(model, text)

    def _load(self, name: str) -> tuple[Model, Guide | None]:
        """A model, and the guide of the same machine for its vocabulary."""
        self._live_walk("another model")
        model = self._models.get(name) or load_model(name)
        old = self._stage.guide
        if old is None:
            return model, None
        if old.machine is None:
            seen = "a guide without a machine"
            raise SettingError("another model", seen=seen, expected="gv.guide(machine, vocabulary)", hint=NEW_STAGE)
        return model, keep_budget(old, make_guide(old.machine, model.vocabulary))

    def _finish(self, before: Any, loaded: Callable[[], tuple[Model, Guide | None]]) -> None:
        """Show the model that was loaded, unless another run or constraint is shown by now."""
        stage = self._stage
        stage.note = ""
        try:
            found = loaded()
            if stage.player.walk is before:
                self._show_model(*found)
        except Exception as error:  # the notebook goes on whatever a folder has
            stage.note = say_failure(error)
        stage.tell()

    def _show_model(self, model: Model, guide: Guide | None) -> None:
        prompt = self._rewrite(model, self._editable(self._stage.head.prompt) or "")
        for shown in (self._live_walk("another model").model, model):
            self._models[shown.name] = shown
        settings = replace(self._stage.player.settings, bias={}, draft=None)  # they name tokens of the other model
        self._begin(model, prompt, guide, replace(self._stage.player, settings=settings))

    def _begin(self, model: Model, prompt: str, guide: Guide | None, before: Player) -> None:
        now = before.settings
        player = Player(LiveWalk(model, prompt, guide), now)
        head = make_trace(model, prompt, self._stage.head.constraint, now.seed, now.temperature)
        self._keep()
        self._stage.show_run(head, guide, player)

    def _keep(self) -> None:
        """Keep the shown run, if it has any token."""
        stage = self._stage
        if not stage.player.taken:
            return
        asked = self._editable(stage.head.prompt) or stage.head.prompt
        name = f"{reading(stage.head.model)} · {shorten(reading(asked), PROMPT_START)}"
        self._left.append(LeftRun(stage.head, stage.guide, stage.player, name))
        self._left = self._left[-MOST_BRANCHES:]


def _ask(model: Model, text: str) -> str:
    """A question in the chat template of a model that has one; else the text itself."""
    asked: Any = model
    return asked.chat(text) if has_template(model) else text


def _question_of(walk: Any, prompt: str) -> str | None:
    """The text of a plain prompt, or the question that a chat template made a prompt of; None where it is no other."""
    if not isinstance(prompt, Prompt):
        return prompt
    template = getattr(getattr(walk, "model", None), "template", None)
    if template is None:  # a host would be asked
        return None
    for part in reversed(prompt.parts[:-1:2]):
        for text in (part, part.partition("\n")[2]):
            with suppress(GuidedVizError):
                if text.strip() and template.read(text) == prompt:
                    return text
    return None
