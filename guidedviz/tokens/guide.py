"""A guide: machine x vocabulary. Everything that decides which token may come next has this shape."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from guidedviz.tokens.vocabulary import Vocabulary

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Explanation:
    """Why a token is legal or not: its bytes one by one, and the one where it died."""

    token: int
    piece: bytes
    legal: bool
    died_at: int | None  # index of the byte that no complete output allows; None if every byte passed
    expected: str  # what was expected there, in words
    states: tuple[str, ...]  # the state before each byte that passed, and the one after the last
    stack: tuple[str, ...]
    reason: str  # one sentence


class Guide(Protocol):
    """States are values: `advance` returns a new one, an old one stays good."""

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
