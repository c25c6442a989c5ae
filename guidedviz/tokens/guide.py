"""The protocol of guides (machine x vocabulary): every object that decides which token may come next has this shape."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

from guidedviz.errors import SettingError, shorten
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Explanation:
    """Why a token is legal or not: its bytes one by one, and the byte that is refused."""

    token: int
    piece: bytes
    legal: bool
    died_at: int | None  # index of the byte that no complete output allows; None if every byte passed
    expected: str  # what was expected there, in words
    states: tuple[str, ...]  # the state before each byte that passed, and the one after the last
    stack: tuple[str, ...]
    reason: str  # one sentence


class Guide(Protocol):
    """States are values: `advance` returns a new state, and an old one stays valid."""

    vocabulary: Vocabulary

    @property
    def initial(self) -> Hashable: ...
    def mask(self, state: Any) -> Mask: ...
    def advance(self, state: Any, token: int) -> Hashable: ...
    def is_accepting(self, state: Any) -> bool: ...
    def forced(self, state: Any) -> bytes: ...
    def path(self, state: Any, token: int) -> tuple[Hashable, ...]: ...
    def explain(self, state: Any, token: int) -> Explanation: ...
    def label(self, state: Any) -> str: ...
    def stack(self, state: Any) -> tuple[str, ...]: ...


def check_guide(guide: Any, where: str = "guide", hint: str = "gv.guide(machine, vocabulary)") -> None:
    """Refuse what is not a guide.

    >>> check_guide("[0-9]+", "draw_map, guide")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_map, guide: saw str, expected a guide; try: gv.guide(machine, vocabulary)
    """
    methods = (callable(getattr(guide, name, None)) for name in ("mask", "advance"))
    if not all(methods) or not isinstance(getattr(guide, "vocabulary", None), Vocabulary):
        raise SettingError(where, seen=type(guide).__name__, expected="a guide", hint=hint)


def name_guide(guide: Any) -> str:
    """What a guide is, in a few words.

    >>> name_guide(gv.guide(gv.regex("[0-9]"), gv.Vocabulary([b"1"])))
    'DFA(2 states, 1 accepting)'
    """
    machine = getattr(guide, "machine", None)
    parts = [str(getattr(guide, "name", "")), "" if machine is None else shorten(repr(machine), 60)]
    return " · ".join(filter(None, parts)) or type(guide).__name__
