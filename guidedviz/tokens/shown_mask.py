"""A mask that shows itself: how many tokens are legal, and which; in all else it is the array of bools that it was."""

from typing import Any

import numpy as np

from guidedviz import lazy
from guidedviz.errors import shorten
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.vocabulary import Vocabulary

MOST_NAMED = 12  # legal tokens that are named
LONGEST_NAMED = 60  # characters of their names


class ShownMask(np.ndarray[Any, np.dtype[np.bool_]]):
    """An array of bools, one per token of a vocabulary."""

    vocabulary: Vocabulary | None = None
    _repr_html_ = lazy.show_html

    def __array_finalize__(self, made_from: Any) -> None:
        self.vocabulary = getattr(made_from, "vocabulary", None)

    def __array_wrap__(self, result: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What is computed from a mask; a sum is a plain number.

        >>> mask = show_mask(np.array([True, False]), gv.Vocabulary([b"a", b"b"]))
        >>> mask.sum(), mask | ~mask
        (np.int64(1), mask(2 of 2 tokens are legal: a b))
        """
        if result.ndim == 0:
            return result[()]
        return super().__array_wrap__(result, context)

    @property
    def is_whole(self) -> bool:
        """Whether it has one bool per token; a part of a mask is shown as any array."""
        return self.vocabulary is not None and self.dtype == np.bool_ and self.shape == (len(self.vocabulary),)

    def __repr__(self) -> str:
        if self.vocabulary is None or not self.is_whole:
            return repr(self.view(np.ndarray))
        names = name_legal(self, self.vocabulary)
        named = f": {names}" if names else ""
        return f"mask({np.count_nonzero(self):,} of {len(self):,} tokens are legal{named})"


def name_legal(mask: Mask, vocabulary: Vocabulary) -> str:
    """The first legal tokens of a mask.

    >>> name_legal(np.array([True, False, True]), gv.Vocabulary([b"a", b"b", b" c"]))
    'a ␣c'
    """
    legal = np.flatnonzero(mask).tolist()
    names = " ".join(map(vocabulary.display, legal[:MOST_NAMED]))
    if len(legal) > MOST_NAMED:
        names += " …"
    return shorten(names, LONGEST_NAMED)


def show_mask(mask: Mask, vocabulary: Vocabulary) -> Mask:
    """The same mask, which shows itself.

    >>> show_mask(np.array([True, False, True]), gv.Vocabulary([b"a", b"b", b" c"]))
    mask(2 of 3 tokens are legal: a ␣c)
    """
    shown = mask.view(ShownMask)
    shown.vocabulary = vocabulary
    return shown
