"""The box in which a person edits the constraint while the model decodes.

A text compiles in a thread. A text with an error changes nothing. A constraint that rejects a token which was already
taken waits until the person goes back to that token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from guidedviz.decoding.player import GuideEdit, Player, try_guide
from guidedviz.decoding.sampling import probability
from guidedviz.errors import PatternError, SettingError, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.source import KINDS, compile_text, guess_kind, say_error
from guidedviz.tokens.budget import keep_budget
from guidedviz.tokens.guide import Guide, guide
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.words import label, reading
from guidedviz.widgets.runner import LiveStage, running_loop, say_failure

COMPILERS = ThreadPoolExecutor(2, "guidedviz-compile")  # two, so that a new text does not wait for an old one
SHOWN = 5  # tokens named per change


class Editor:
    """The text of the box and its state: "", "compiling", "wrong", "waits" or "runs"."""

    def __init__(self, stage: LiveStage, vocabulary: Vocabulary, workers: Executor, kind: str, text: str) -> None:
        self.kind, self.text, self.state, self.error = kind, text, "", ""
        self.edit: GuideEdit | None = None
        self._at: Player | None = None  # the player when the changes were found
        self._stage, self._vocabulary, self._workers = stage, vocabulary, workers
        self._task: asyncio.Task[None] | None = None
        self._plays_on = False

    def type(self, kind: str, text: str) -> None:
        """Compile another text in a thread and drop the one before."""
        if self._task:
            self._task.cancel()
        if not (loop := running_loop()):
            return self.read(kind, text)
        self._begin(kind, text)
        self._task = loop.create_task(self._follow(kind, text))
        self._stage.tell()

    def read(self, kind: str, text: str) -> None:
        """Compile another text immediately."""
        self._begin(kind, text)
        try:
            new = keep_budget(self._stage.guide, compile_guide(kind, text, self._vocabulary))
            self._settle(try_guide(self._stage.player, self._stage.guide, new))
        except (PatternError, SettingError) as error:
            self._fail(error)
        self._stage.tell()

    def go_back(self) -> None:
        """Go back to the first token that the new constraint rejects, and use the constraint from there."""
        if self.edit and self.state == "waits":
            self._take(self.edit.difference.position)

    def _begin(self, kind: str, text: str) -> None:
        self.kind, self.text, self.state, self.error, self.edit = kind, text, "compiling", "", None

    async def _follow(self, kind: str, text: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            new = await loop.run_in_executor(COMPILERS, compile_guide, kind, text, self._vocabulary)
            new = keep_budget(self._stage.guide, new)
            self._plays_on |= self._stage.playing
            self._stage.playing = False
            edit = None
            while edit is None or edit.player is not self._stage.player:
                edit = await loop.run_in_executor(self._workers, try_guide, self._stage.player, self._stage.guide, new)
            self._settle(edit)
        except Exception as error:  # whatever a text does, the old constraint stays
            self._fail(error)
        self._stage.tell()
        if self._plays_on and self.state != "waits":
            self._stage.play()
        self._plays_on = False

    def _settle(self, edit: GuideEdit) -> None:
        self.edit, self._at = edit, self._stage.player
        self.state = "waits"
        if not edit.difference.rejected:
            self._take(None)

    def _take(self, cursor: int | None) -> None:
        if self.edit:
            self.state = "runs"
            self._stage.adopt(self.edit.guide, cursor)
            self._at = self._stage.player

    def _fail(self, error: Exception) -> None:
        said = isinstance(error, PatternError) and say_error(self.kind, self.text, error)
        self.state, self.error = "wrong", said or say_failure(error)

    def moved(self) -> None:
        """Compare again if the rejected token was replaced."""
        if self.state == "waits" and self.edit and not self._same(self.edit.difference.position + 1):
            self.type(self.kind, self.text)

    def pack(self) -> dict[str, Any]:
        """What the page shows of the box."""
        rejected = self.edit.difference.rejected if self.edit and self.state == "waits" else None
        return {
            "kind": self.kind,
            "text": self.text,
            "state": self.state,
            "error": self.error,
            "rejects": [label(rejected.piece), rejected.reason] if rejected else None,
            "place": self.edit.difference.position if self.edit and rejected else None,
            "changes": pack_changes(self.edit) if self.edit and self.shown() else None,
        }

    def shown(self) -> GuideEdit | None:
        """The edit, while the cursor is where its changes were found."""
        at = self._at.cursor if self._at else -1
        return self.edit if self._stage.player.cursor == at and self._same(at) else None

    def _same(self, count: int) -> bool:
        """Whether the first `count` steps are those that the edit was compared with."""
        return self._at is not None and self._stage.player.taken[:count] == self._at.taken[:count]


def compile_guide(kind: str, text: str, vocabulary: Vocabulary) -> Guide:
    """The guide of a text."""
    return guide(compile_text(kind, text), vocabulary)


def pack_changes(edit: GuideEdit) -> dict[str, Any]:
    """How many tokens became legal and illegal, and the likeliest of each."""
    found, pieces = edit.difference, edit.guide.vocabulary.pieces

    def pack(tokens: Sequence[int]) -> list[Any]:
        best = edit.likeliest(tokens, SHOWN)
        return [len(tokens), [[label(pieces[token]), probability(odds)] for token, odds in best]]

    return {"step": found.position + 1, "legal": pack(found.became_legal), "illegal": pack(found.became_illegal)}


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
