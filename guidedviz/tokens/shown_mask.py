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

    def __array_finalize__(self, made_from: Any) -> None:
        self.vocabulary = getattr(made_from, "vocabulary", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What NumPy gives for a computation: a sum of a mask is a number and no array."""
        if array.ndim == 0:
            return array[()]
        return super().__array_wrap__(array, context)

    @property
    def is_whole(self) -> bool:
        """Whether it has one bool per token; a part of a mask is shown as any array."""
        return self.vocabulary is not None and self.dtype == np.bool_ and self.shape == (len(self.vocabulary),)

    def __repr__(self) -> str:
        if self.vocabulary is None or not self.is_whole:
            return repr(self.view(np.ndarray))
        legal = self.nonzero()[0].tolist()
        names = " ".join(map(self.vocabulary.display, legal[:MOST_NAMED]))
        if len(legal) > MOST_NAMED:
            names += " …"
        named = f": {shorten(names, LONGEST_NAMED)}" if legal else ""
        return f"mask({len(legal):,} of {len(self):,} tokens are legal{named})"

    def _repr_html_(self) -> Any:
        return lazy.load_views().html_of(self)


def show_mask(mask: Mask, vocabulary: Vocabulary) -> Mask:
    """The same mask, which shows itself.

    >>> show_mask(np.array([True, False, True]), gv.Vocabulary([b"a", b"b", b" c"]))
    mask(2 of 3 tokens are legal: a ␣c)
    """
    shown = mask.view(ShownMask)
    shown.vocabulary = vocabulary
    return shown
