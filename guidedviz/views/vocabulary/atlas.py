"""The atlas of a vocabulary: the byte order of its tokens, their cells on the map, and the named regions.

Tokens follow in byte order along the curve, so tokens with a common prefix are neighbours. Ids without text (special,
EOS, empty) come last. A region is named after the first characters of its tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby

import numpy as np
import numpy.typing as npt

from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.vocabulary.curve import Cells, curve, size_for
from guidedviz.views.vocabulary.outline import borders
from guidedviz.views.vocabulary.regions import NO_TEXT, kind

LETTER_CELLS = (1.1, 2.4)  # width and height of a letter, in cells of a map 114 cells wide


@dataclass(frozen=True)
class Region:
    """Tokens start .. stop in byte order; the name is centred at (x, y), where `room` cells are free."""

    name: str
    start: int
    stop: int
    x: float = 0.0
    y: float = 0.0
    room: float = 0.0  # 0 where no name fits


@dataclass(frozen=True, eq=False)
class Atlas:
    """The byte order of a vocabulary and its cells on the map."""

    vocabulary: Vocabulary
    width: int
    height: int

    def __len__(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def cells(self) -> Cells:
        """Column and row of every token in byte order; the last cells of the curve may be empty."""
        return curve(self.width, self.height)[: len(self)]

    def grid(self, values: npt.NDArray[np.generic], empty: int = 0) -> npt.NDArray[np.int32]:
        """Values in byte order as a picture."""
        picture = np.full((self.height, self.width), empty, dtype=np.int32)
        picture[self.cells[:, 1], self.cells[:, 0]] = values
        return picture

    def ordered(self, mask: Mask) -> Mask:
        """A mask by id as a mask in byte order."""
        return mask[self.vocabulary.order]

    @cached_property
    def moves(self) -> bytes:
        """The moves of the curve from the top left corner, two bits per cell: right, down, left, up."""
        across, down = np.diff(curve(self.width, self.height), axis=0).T
        code = np.where(across != 0, 1 - across, 2 - down).astype(np.uint8)
        bits = np.stack([code & 1, code >> 1], 1).ravel()
        return np.packbits(bits, bitorder="little").tobytes()

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The named parts of the curve, with positions for their names."""
        return tuple(settle(self, name, start, stop) for name, start, stop in _stretches(self))

    @cached_property
    def borders(self) -> str:
        """The lines between regions, as an SVG path in cells."""
        sizes = [place.stop - place.start for place in self.regions]
        number = np.repeat(np.arange(len(self.regions)), sizes)
        return borders(self.grid(number, empty=-1))


@lru_cache(maxsize=8)
def atlas(vocabulary: Vocabulary) -> Atlas:
    """The map of a vocabulary, built once.

    >>> made = atlas(Vocabulary([b"b", b"</s>", b"ab", b"a"], eos={1}))
    >>> made.vocabulary.order.tolist(), made.width, made.height, [place.name for place in made.regions]
    ([3, 2, 0, 1], 2, 2, ['a–z', 'no text'])
    """
    return Atlas(vocabulary, *size_for(len(vocabulary)))


def _stretches(made: Atlas) -> Iterator[tuple[str, int, int]]:
    """Neighbours of one kind; a part too short to be visible joins the one before it."""
    vocabulary = made.vocabulary
    text = len(vocabulary.text_ids)
    least = max(1, len(made) // 1500)
    name = ""  # of the part that begins at `start`
    start = place = 0
    for own, group in groupby(kind(vocabulary.pieces[token]) for token in vocabulary.order[:text]):
        count = sum(1 for _ in group)
        if name and own != name and count >= least:
            yield name, start, place
            start = place
        if start == place:
            name = own
        place += count
    if name:
        yield name, start, place
    if text < len(made):
        yield NO_TEXT, text, len(made)


def settle(made: Atlas, name: str, start: int, stop: int) -> Region:
    """The region with the position nearest its centre where its name fits, in the largest size that fits."""
    cells = made.cells[start:stop]
    inside = np.zeros((made.height + 1, made.width + 1), dtype=np.int32)
    inside[cells[:, 1] + 1, cells[:, 0] + 1] = 1
    sums = inside.cumsum(0).cumsum(1)  # of all cells above and to the left
    middle = cells.mean(0) + 0.5
    for zoom in (0.25, 0.5, 1, 2, 4, 8):
        scale = made.width / 114 / zoom
        wide = max(1, round(LETTER_CELLS[0] * len(name) * scale))
        high = max(1, round(LETTER_CELLS[1] * scale))
        if high >= made.height or wide >= made.width:
            continue
        right = sums[:, wide:] - sums[:, :-wide]
        count = right[high:] - right[:-high]
        spots = np.argwhere(count == wide * high)[:, ::-1] + (wide / 2, high / 2)
        if len(spots):
            x, y = spots[((spots - middle) ** 2).sum(1).argmin()]
            return Region(name, start, stop, float(x), float(y), float(wide))
    return Region(name, start, stop)
