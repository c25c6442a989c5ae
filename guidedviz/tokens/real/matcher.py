"""The shape that every real engine is given here: compile what is asked, then a text under way."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.real.asked import Asked
from guidedviz.tokens.vocabulary import Vocabulary

PLACE = re.compile(r"^\[[0-9:]+\] \S+: ")  # the hour and the line of its own source that an error begins with
Words = npt.NDArray[np.int32]


class Matcher(Protocol):
    """One text under way; `take` changes it, and after a False it is of no more use."""

    def fill(self) -> Any: ...  # the mask as 32 ids a word, into words that are used again
    def mask(self) -> Mask: ...
    def take(self, token: int) -> bool: ...
    def may_end(self) -> bool: ...
    def copy(self) -> Matcher: ...


Compile = Callable[[Asked], Matcher]


def load(name: str, module: str = "") -> Any:
    """An engine's package, or a module of it."""
    try:
        return import_module(module or name.replace("-", "_"))
    except ImportError as error:
        hint = "pip install 'guidedviz[engines]'"
        raise SettingError(f"engine {name!r}", seen=str(error), expected="the package installed", hint=hint) from error


def installed(name: str) -> str:
    """The version of a package, "" where it is not here."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def refusal(name: str, said: object) -> PatternError:
    """The error of a constraint that an engine cannot take, in its own words."""
    said = PLACE.sub("", str(said)).strip() or type(said).__name__
    return PatternError(f"engine {name!r}", seen=said.splitlines()[0][:200], expected="a constraint that it takes")


def need_eos(name: str, vocabulary: Vocabulary) -> list[int]:
    """The EOS ids, for an engine that must have one."""
    if not vocabulary.eos:
        raise SettingError(f"engine {name!r}", seen="a vocabulary without EOS", expected="at least one EOS id")
    return sorted(vocabulary.eos)


def empty_words(vocabulary: Vocabulary) -> Words:
    """Room for a mask, 32 ids a word."""
    return np.zeros((1, (len(vocabulary) + 31) // 32), dtype=np.int32)


def unpack_words(words: Words, size: int) -> Mask:
    """The mask that stands in the words; read-only."""
    mask = np.unpackbits(words.view(np.uint8), count=size, bitorder="little").astype(np.bool_)
    mask.flags.writeable = False
    return mask
