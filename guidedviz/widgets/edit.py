"""The box in which a person edits the constraint while the model decodes.

A text compiles in a thread. A text with an error changes nothing. A constraint that rejects a token which was already
taken waits until the person goes back to that token or replaces it.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from guidedviz.decoding.player import Run
from guidedviz.errors import PatternError, SettingError, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.source import KINDS, compile_text, guess_kind, say_error
from guidedviz.tokens.guide import Explanation, Guide, guide, keep_budget
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.words import label, reading
from guidedviz.widgets.runner import LiveStage, running_loop, say_failure

COMPILERS = ThreadPoolExecutor(2, "guidedviz-compile")  # two, so that a new text does not wait for an old one


class Editor:
    """The text of the box and its state: "", "compiling", "wrong", "waits" or "runs"."""

    def __init__(self, stage: LiveStage, vocabulary: Vocabulary, kind: str, text: str) -> None:
        self.kind, self.text, self.state, self.error = kind, text, "", ""
        self._stage, self._vocabulary = stage, vocabulary
        self._task: asyncio.Task[None] | None = None
        self._waits: tuple[Guide, Run, Explanation] | None = None  # for the person to go back; the steps and why

    def type(self, kind: str, text: str) -> None:
        """Compile another text in a thread and drop the one before."""
        if self._task:
            self._task.cancel()
        if not (loop := running_loop()):
            return self.read(kind, text)
        self._begin(kind, text)
        self._task = loop.create_task(self._compile())
        self._stage.tell()

    def read(self, kind: str, text: str) -> None:
        """Compile another text immediately."""
        self._begin(kind, text)
        try:
            self._settle(compile_guide(kind, text, self._vocabulary))
        except (PatternError, SettingError) as error:
            self._fail(error)
        self._stage.tell()

    def _begin(self, kind: str, text: str) -> None:
        self.kind, self.text, self.state, self.error, self._waits = kind, text, "compiling", "", None

    async def _compile(self) -> None:
        given = self.kind, self.text, self._vocabulary
        try:
            self._settle(await asyncio.get_running_loop().run_in_executor(COMPILERS, compile_guide, *given))
        except Exception as error:  # whatever a text does, the old constraint stays
            self._fail(error)
        self._stage.tell()

    def _settle(self, new: Guide) -> None:
        """Use a new constraint from the cursor on, or wait if it rejects a token that was taken."""
        new, player = keep_budget(self._stage.guide, new), self._stage.player
        kept = player.adopt(new)
        place = len(kept.taken)
        if place >= player.cursor or player.taken[place].step.how == "none":
            return self._use(new, None)
        why = new.explain(kept.point(place).state, player.taken[place].step.token)
        self.state, self._waits = "waits", (new, player.taken[: place + 1], why)

    def _use(self, new: Guide, cursor: int | None) -> None:
        self.state, self._waits = "runs", None
        self._stage.adopt(new, cursor)

    def go_back(self) -> None:
        """Go back to the first token that the new constraint rejects, and use the constraint from there."""
        if self._waits:
            new, steps, _ = self._waits
            self._use(new, len(steps) - 1)

    def moved(self) -> None:
        """Compare again if the rejected token was replaced."""
        if self._waits and self._stage.player.taken[: len(self._waits[1])] != self._waits[1]:
            self._settle(self._waits[0])

    def _fail(self, error: Exception) -> None:
        said = isinstance(error, PatternError) and say_error(self.kind, self.text, error)
        self.state, self.error = "wrong", said or say_failure(error)

    def pack(self) -> dict[str, Any]:
        """What the page shows of the box."""
        box = {"kind": self.kind, "text": self.text, "state": self.state, "error": self.error}
        if not self._waits:
            return box | {"rejects": None, "place": None}
        _, steps, why = self._waits
        return box | {"rejects": [label(why.piece), why.reason], "place": len(steps) - 1}


def compile_guide(kind: str, text: str, vocabulary: Vocabulary) -> Guide:
    """The guide of a text."""
    return guide(compile_text(kind, text), vocabulary)


def read_wish(wish: bool | str | tuple[str, str], guide: Guide | None) -> tuple[str, str] | None:
    """The kind and the text that `gv.stage(edit=...)` asks for; None for no box.

    >>> read_wish("[0-9]+", None), read_wish(("grammar", ""), None), read_wish(False, None)
    (('regex', '[0-9]+'), ('grammar', ''), None)
    """
    if isinstance(wish, str):
        return guess_kind(wish), wish
    if isinstance(wish, tuple) and len(wish) == 2:
        kind, text = wish
        if kind not in KINDS:
            raise SettingError("gv.stage, edit", seen=repr(kind), expected=", ".join(KINDS))
        return kind, text
    if wish not in (True, False, None):
        expected = "a text, a pair of its kind and the text, True or False"
        raise SettingError("gv.stage, edit", seen=type(wish).__name__, expected=expected)
    machine = guide.machine if guide else None
    text = machine.grammar.text if isinstance(machine, PDA) else ""
    return ("grammar" if text else "regex", text) if wish else None


def name_text(kind: str, text: str) -> str:
    """A constraint in one line.

    >>> name_text("regex", "[0-9]+")
    'regex [0-9]+'
    """
    return f"{kind} {shorten(reading(' '.join(text.split())), 60)}"
