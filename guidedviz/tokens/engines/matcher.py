"""The interface of every real engine: compile a constraint, then read a text token by token."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError
from guidedviz.extras import need
from guidedviz.tokens.arrays import Mask, unpack
from guidedviz.tokens.engines.constraint import Asked
from guidedviz.tokens.vocabulary import Vocabulary

PLACE = re.compile(r"^\[[0-9:]+\] \S+: ")  # the time and source line at the start of an error message
Words = npt.NDArray[np.int32]


class Matcher(Protocol):
    """The engine's state after some tokens of a text. `take` changes it; after `take` returns False it is unusable."""

    def fill(self) -> Any: ...  # write the mask, 32 ids per word, into a reused buffer
    def mask(self) -> Mask: ...
    def take(self, token: int) -> bool: ...
    def may_end(self) -> bool: ...
    def copy(self) -> Matcher: ...


Compile = Callable[[Asked], Matcher]


def load(name: str, module: str = "") -> Any:
    """An engine's package, or a module of it."""
    return need(module or name.replace("-", "_"), "engines", f"engine {name!r}")


def refusal(name: str, said: object) -> PatternError:
    """The error for a constraint that an engine rejects, with the engine's message."""
    said = PLACE.sub("", str(said)).strip() or type(said).__name__
    return PatternError(f"engine {name!r}", seen=said.splitlines()[0][:200], expected="a constraint that it supports")


def need_eos(name: str, vocabulary: Vocabulary) -> list[int]:
    """The EOS ids, for an engine that needs at least one."""
    if not vocabulary.eos:
        raise SettingError(f"engine {name!r}", seen="a vocabulary without EOS", expected="at least one EOS id")
    return sorted(vocabulary.eos)


def empty_words(vocabulary: Vocabulary) -> Words:
    """A buffer for a mask, 32 ids per word."""
    return np.zeros((1, (len(vocabulary) + 31) // 32), dtype=np.int32)


def unpack_words(words: Words, size: int) -> Mask:
    """The mask in a buffer; read-only."""
    return unpack(words.view(np.uint8)[0], size)
