"""The contents of a tokenizer or a rank file; `Vocabulary` validates them and adds the methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

LONGEST = 2**16  # bytes of a token; each byte of the longest one is a level of the trie


class Contents(NamedTuple):
    """The arguments of a `Vocabulary`."""

    pieces: Sequence[bytes]
    eos: Iterable[int]
    special: Iterable[int]
    tokenizer_size: int | None = None
