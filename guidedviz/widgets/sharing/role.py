"""What a stage does in a class: it is shown to the students, or it follows the teacher's."""

from __future__ import annotations

from typing import Any, Protocol

from guidedviz.decoding.player import Player
from guidedviz.decoding.trace import Trace
from guidedviz.tokens.guide import Guide
from guidedviz.widgets.display import Display


class Shown(Protocol):
    """What a role needs of its stage."""

    player: Player
    note: str
    display: Display

    @property
    def head(self) -> Trace: ...
    @property
    def guide(self) -> Guide | None: ...
    def begin(self, head: Trace, guide: Guide | None) -> Any: ...
    def accept(self, player: Player) -> None: ...
    def branch(self) -> Any: ...
    def forbids(self, token: int) -> bool: ...
    def tell(self, wake: bool = True) -> Any: ...


class Role(Protocol):
    """The part of a stage in a class; `follows` says that its steps come from elsewhere."""

    follows: bool

    def start(self, stage: Shown) -> None: ...
    def moved(self, stage: Shown) -> None: ...  # the stage has moved
    def hear(self, said: Any, stage: Shown) -> bool: ...  # whether what the page says is answered here
    def bar(self) -> dict[str, Any]: ...  # words and keys on the page
    def stop(self) -> None: ...


def make_bar(words: str, **keys: str) -> dict[str, Any]:
    """A line on the page, and its keys: what each says to the kernel, and its label."""
    return {"words": words, "keys": [[do, label] for do, label in keys.items()]}
