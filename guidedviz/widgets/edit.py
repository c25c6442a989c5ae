"""The constraint as a text on the stage: typed while the model decodes, compiled aside, taken over where it can be.

What is typed wrongly changes nothing: the constraint before keeps running. What rejects a token that was taken waits
until the person goes back there.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from guidedviz.decoding.sampling import Floats, apply_logit_bias, softmax
from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.source import KINDS, compile_text, guess_kind, say_error
from guidedviz.tokens.budget import BudgetGuide, within
from guidedviz.tokens.compare import Difference, compare_guides, mask_after
from guidedviz.tokens.engines import guide
from guidedviz.tokens.guide import Guide, Mask
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import shorten
from guidedviz.views.words import label, reading, short
from guidedviz.widgets.player import LiveWalk, Player
from guidedviz.widgets.show import running_loop

COMPILERS = ThreadPoolExecutor(2, "guidedviz-compile")  # a second, so that a new text need not wait for an old one
SHOWN = 5  # tokens that are named of those that became legal, and of those that became illegal


@dataclass(frozen=True)
class Edit:
    """A text that compiled, the steps it was compared with, and what it changes."""

    guide: Guide
    difference: Difference
    masks: tuple[Mask, Mask]  # at the place of the difference, under the old guide and under the new
    odds: Floats  # the model's, at the same place
    player: Player


class Host(Protocol):
    """The stage, as an editor needs it."""

    player: Player
    playing: bool

    @property
    def guide(self) -> Guide | None: ...
    def adopt(self, guide: Guide, cursor: int | None = None) -> Any: ...
    def play(self) -> Any: ...
    def tell(self) -> Any: ...


class Editor:
    """What stands in the box, and what came of it: "", "compiling", "wrong", "waits" or "runs"."""

    def __init__(self, host: Host, vocabulary: Vocabulary, workers: Executor, kind: str, text: str) -> None:
        self.kind, self.text, self.state, self.error = kind, text, "", ""
        self.edit: Edit | None = None
        self._at: Player | None = None  # the player when it was found what the edit changes
        self._host, self._vocabulary, self._workers = host, vocabulary, workers
        self._task: asyncio.Task[None] | None = None
        self._plays_on = False
        self._told: dict[str, Any] = {}
        self._new_text = True  # one that the page did not send

    def hear(self, said: dict[str, Any]) -> None:
        """What the page says about the box."""
        if said.get("do") == "edit":
            self.type(str(said["kind"]), str(said["text"]))
        elif said.get("do") == "go_back":
            self.go_back()

    def type(self, kind: str, text: str) -> None:
        """Another text; the one before is forgotten wherever its compile stands."""
        if self._task:
            self._task.cancel()
        if not (loop := running_loop()):
            return self.read(kind, text)
        self._begin(kind, text)
        self._task = loop.create_task(self._follow(kind, text))
        self._host.tell()

    def read(self, kind: str, text: str) -> None:
        """The same at once, for a notebook."""
        self._begin(kind, text)
        self._new_text = True
        try:
            new = keep_budget(self._host.guide, compile_guide(kind, text, self._vocabulary))
            self._settle(compare(self._host.player, self._host.guide, new))
        except (PatternError, SettingError) as error:
            self._fail(error)
        self._host.tell()

    def go_back(self) -> None:
        """To the token that the new constraint rejects first, and on under it."""
        if self.edit and self.state == "waits":
            self._take(self.edit.difference.position)

    def _begin(self, kind: str, text: str) -> None:
        self.kind, self.text, self.state, self.error, self.edit = kind, text, "compiling", "", None

    async def _follow(self, kind: str, text: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            new = await loop.run_in_executor(COMPILERS, compile_guide, kind, text, self._vocabulary)
            new = keep_budget(self._host.guide, new)
            self._plays_on |= self._host.playing
            self._host.playing = False
            edit = None
            while edit is None or edit.player is not self._host.player:
                edit = await loop.run_in_executor(self._workers, compare, self._host.player, self._host.guide, new)
            self._settle(edit)
        except Exception as error:  # whatever a text does, the notebook and the old constraint live on
            self._fail(error)
        self._host.tell()
        if self._plays_on and self.state != "waits":
            self._host.play()
        self._plays_on = False

    def _settle(self, edit: Edit) -> None:
        self.edit, self._at = edit, self._host.player
        self.state = "waits"
        if not edit.difference.rejected:
            self._take(None)

    def _take(self, cursor: int | None) -> None:
        if self.edit:
            self.state = "runs"
            self._host.adopt(self.edit.guide, cursor)
            self._at = self._host.player

    def _fail(self, error: Exception) -> None:
        said = isinstance(error, PatternError) and say_error(self.kind, self.text, error)
        self.state, self.error = "wrong", said or f"{type(error).__name__}: {error}"

    def moved(self) -> None:
        """Look again where the token that was rejected has made room for another."""
        if self.state == "waits" and self.edit and not self._same(self.edit.difference.position + 1):
            self.type(self.kind, self.text)

    # --- what the page is told ---

    def news(self, everything: bool) -> dict[str, Any]:
        """The box, if anything about it is new."""
        told = {"state": self.state, "error": self.error, **self._changes()}
        if told == self._told and not everything and not self._new_text:
            return {}
        text = {"kind": self.kind, "text": self.text} if everything or self._new_text else {}  # else the page has it
        self._told, self._new_text = told, False
        return {"edit": {**text, **told}}

    def shown(self) -> Edit | None:
        """The edit whose changes are to be seen now: while the cursor is where they were found."""
        at = self._at.cursor if self._at else -1
        return self.edit if self._host.player.cursor == at and self._same(at) else None

    def _same(self, count: int) -> bool:
        """Whether the first steps are those that the edit was compared with."""
        return self._at is not None and self._host.player.taken[:count] == self._at.taken[:count]

    def _changes(self) -> dict[str, Any]:
        rejected = self.edit.difference.rejected if self.edit and self.state == "waits" else None
        return {
            "rejects": [label(rejected.piece), rejected.reason] if rejected else None,
            "place": self.edit.difference.position if self.edit and rejected else None,
            "changes": pack_changes(self.edit) if self.edit and self.shown() else None,
        }


def compile_guide(kind: str, text: str, vocabulary: Vocabulary) -> Guide:
    """The guide of a typed text."""
    return guide(compile_text(kind, text), vocabulary)


def keep_budget(old: Guide | None, new: Guide) -> Guide:
    """The new guide, within as many tokens as the one before."""
    return within(new, old.initial.left) if isinstance(old, BudgetGuide) else new


def compare(player: Player, old: Guide | None, new: Guide) -> Edit:
    """What a new guide changes after the tokens up to the cursor, and how likely they are to the model."""
    if not isinstance(player.walk, LiveWalk):
        raise SettingError("another constraint", seen="a recording", expected="a live stage")
    tokens = [taken.step.token for taken in player.taken[: player.cursor] if taken.step.how != "none"]
    found = compare_guides(old, new, tokens)
    logits = player.walk.model.logits(list(player.point(found.position).tokens))
    after = mask_after(new, tokens[: found.position])
    before = after.copy()
    before[list(found.became_legal)], before[list(found.became_illegal)] = False, True
    return Edit(new, found, (before, after), softmax(apply_logit_bias(logits, player.settings.bias)), player)


def pack_changes(edit: Edit) -> dict[str, Any]:
    """How many tokens became legal and illegal, and the likeliest of them."""
    found = edit.difference
    return {
        "step": found.position + 1,
        "legal": [len(found.became_legal), likeliest(edit, found.became_legal)],
        "illegal": [len(found.became_illegal), likeliest(edit, found.became_illegal)],
    }


def likeliest(edit: Edit, tokens: tuple[int, ...]) -> list[list[Any]]:
    """The few of these tokens that the model likes best, each with its probability."""
    ids = np.array(tokens, dtype=np.int64)
    best = ids[np.argsort(-edit.odds[ids], kind="stable")[:SHOWN]].tolist()
    return [[label(edit.guide.vocabulary.pieces[token]), short(float(edit.odds[token]))] for token in best]


def read_wish(wish: bool | str | tuple[str, str], guide: Guide | None) -> tuple[str, str] | None:
    """The kind and the text of the box, as `gv.stage(edit=...)` was told; None for no box.

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
    grammar = getattr(getattr(guide, "machine", None), "grammar", None)
    text = str(getattr(grammar, "text", ""))
    return ("grammar" if text else "regex", text) if wish else None


def name_text(kind: str, text: str) -> str:
    """A typed constraint in a line.

    >>> name_text("regex", "[0-9]+")
    'regex [0-9]+'
    """
    return f"{kind} {shorten(reading(' '.join(text.split())), 60)}"
