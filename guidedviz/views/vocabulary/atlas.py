"""The position of every token on the map of a vocabulary, and its named regions.

Tokens follow in byte order along a curve that fills a rectangle, so tokens with a common prefix are neighbours. Ids
without text (special, EOS, empty) come last. A region is named after the first characters of its tokens.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import ceil, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.tokens.trie import Mask
from guidedviz.tokens.vocabulary import Vocabulary

# A curve through every cell of a rectangle, on which consecutive cells are adjacent.
#
# It generalises Hilbert's curve to rectangles (J. Červený, 2019): cut a long rectangle into two parts and a squarer one
# into three, such that each part ends where the next begins.


Cells = npt.NDArray[np.int32]
ASPECT = 2.0  # width divided by height of a map


def size_for(count: int) -> tuple[int, int]:
    """Width and height of a rectangle for `count` cells; both are even, so that no step is diagonal.

    >>> size_for(128_256), size_for(4_096), size_for(30)
    ((506, 254), (90, 46), (8, 4))
    """
    height = 2 * max(1, round(sqrt(count / ASPECT) / 2))
    return max(2, 2 * ceil(count / height / 2)), height


@lru_cache(maxsize=64)
def curve(width: int, height: int) -> Cells:
    """Column and row of every cell, from the top left corner to the top right one.

    >>> curve(4, 2).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0], [2, 0], [2, 1], [3, 1], [3, 0]]
    """
    places = np.concatenate(_parts(width, height), dtype=np.int32)
    places.flags.writeable = False
    return places


def _parts(width: int, height: int) -> list[Cells]:
    if height == 1:
        return [np.stack([np.arange(width), np.zeros(width, dtype=int)], 1)]
    if width == 1:
        return [np.stack([np.zeros(height, dtype=int), np.arange(height)], 1)]
    half, low = _even_half(width), _even_half(height)
    if 2 * width > 3 * height:
        return [curve(half, height), np.add(curve(width - half, height), (half, 0))]
    down, up = curve(low, half)[:, ::-1], curve(low, width - half)[:, ::-1]
    return [down, np.add(curve(width, height - low), (0, low)), np.subtract((width - 1, low - 1), up)]


def _even_half(length: int) -> int:
    half = length // 2
    return half + 1 if half % 2 and length > 2 else half


LETTER = (1.1, 2.4)  # width and height of a letter, in cells of a map 114 cells wide
NO_TEXT = "no text"


@dataclass(frozen=True)
class Region:
    """Tokens start .. stop in byte order; the name is centred at (x, y), where `room` cells are free."""

    name: str
    start: int
    stop: int
    x: float = 0.0
    y: float = 0.0
    room: float = 0.0  # 0 where no name fits

    def __len__(self) -> int:
        return self.stop - self.start


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
        step = np.diff(curve(self.width, self.height), axis=0)
        code = np.where(step[:, 0] != 0, 1 - step[:, 0], 2 - step[:, 1]).astype(np.uint8)
        bits = np.stack([code & 1, code >> 1], 1).ravel()
        return np.packbits(bits, bitorder="little").tobytes()

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The named parts of the curve, with positions for their names."""
        return tuple(settle(self, name, start, stop) for name, start, stop in _stretches(self))

    @cached_property
    def borders(self) -> str:
        """The lines between regions, as an SVG path in cells."""
        number = np.repeat(np.arange(len(self.regions)), list(map(len, self.regions)))
        return borders(self.grid(number, empty=-1))


@lru_cache(maxsize=8)
def atlas(vocabulary: Vocabulary) -> Atlas:
    """The map of a vocabulary, built once.

    >>> made = atlas(Vocabulary([b"b", b"</s>", b"ab", b"a"], eos={1}))
    >>> made.vocabulary.order.tolist(), made.width, made.height, [place.name for place in made.regions]
    ([3, 2, 0, 1], 2, 2, ['a–z', 'no text'])
    """
    return Atlas(vocabulary, *size_for(len(vocabulary)))


# --- names of regions ---


def kind(piece: bytes) -> str:
    """The kind of a piece's first character, or of the one after a leading blank.

    >>> [kind(p) for p in (b" the", b"42", b"\\n", "ж".encode(), b"\\xe4\\xb8", b"\\x80", b'{"', "é".encode())]
    ['␣a–z', '0–9', 'blanks', 'Cyrillic', 'CJK', 'inner bytes', 'signs', 'Latin']
    """
    blank = piece[:1] == b" " and len(piece) > 1
    name = _kind_of_start(piece[blank : blank + 4])
    return f"␣{name}" if blank and name != "blanks" else name


@lru_cache(maxsize=65536)
def _kind_of_start(start: bytes) -> str:
    """The kind of the first character; an incomplete one is completed to some character."""
    for end in (b"", b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf", b"\x80\x80\x80", b"\xbf\xbf\xbf"):
        text = (start + end).decode("utf-8", "ignore")
        if text and (start + end).startswith(text[0].encode()):
            return _kind_of_character(text[0])
    return "inner bytes"


def _kind_of_character(character: str) -> str:
    if character.isascii():
        named = (("0–9", character.isdigit()), ("a–z", character.islower()), ("A–Z", character.isupper()))
        blank = character.isspace() or not character.isprintable()
        return next((name for name, holds in named if holds), "blanks" if blank else "signs")
    if unicodedata.category(character)[0] not in "LM":
        return "signs"
    script = unicodedata.name(character, "other").split()[0].title()
    return script.replace("Cjk", "CJK")


def _stretches(made: Atlas) -> Iterator[tuple[str, int, int]]:
    """Neighbours of one kind; a part too short to be visible joins the one before it."""
    vocabulary, text = made.vocabulary, len(made.vocabulary.text_ids)
    kinds = [kind(vocabulary.pieces[token]) for token in vocabulary.order[:text]]
    least = max(1, len(made) // 1500)
    runs: list[tuple[str, int]] = []
    for name, group in groupby([*kinds, *[NO_TEXT] * (len(made) - text)]):
        count = sum(1 for _ in group)
        if runs and (runs[-1][0] == name or (count < least and name != NO_TEXT)):
            runs[-1] = (runs[-1][0], runs[-1][1] + count)
        else:
            runs.append((name, count))
    start = 0
    for name, count in runs:
        yield name, start, (start := start + count)


def settle(made: Atlas, name: str, start: int, stop: int) -> Region:
    """The region with the position nearest its centre where its name fits, in the largest size that fits."""
    inside = np.zeros((made.height + 1, made.width + 1), dtype=np.int32)
    cells = made.cells[start:stop]
    inside[cells[:, 1] + 1, cells[:, 0] + 1] = 1
    sums, middle = inside.cumsum(0).cumsum(1), cells.mean(0) + 0.5
    for zoom in (0.25, 0.5, 1, 2, 4, 8):
        scale = made.width / 114 / zoom
        wide, high = (max(1, round(letters * scale)) for letters in (LETTER[0] * len(name), LETTER[1]))
        if high >= made.height or wide >= made.width:
            continue
        free = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide] == wide * high
        spots = np.argwhere(free)[:, ::-1] + (wide / 2, high / 2)
        if len(spots):
            x, y = spots[((spots - middle) ** 2).sum(1).argmin()]
            return Region(name, start, stop, float(x), float(y), float(wide))
    return Region(name, start, stop)


def borders(grid: npt.NDArray[Any]) -> str:
    """The lines between different cells, as an SVG path.

    >>> borders(np.array([[1, 1], [1, 2]]))
    'M1 1h1M1 1v1'
    """
    across = (f"M{x} {y}h{long}" for y, x, long in _runs(grid[1:] != grid[:-1]))
    along = (f"M{x} {y}v{long}" for x, y, long in _runs((grid[:, 1:] != grid[:, :-1]).T))
    return "".join((*across, *along))


def _runs(lines: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """The runs of True, as the border after their row, their start and their length."""
    rows, edges = np.nonzero(np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1))), axis=1))
    for number, start, stop in zip(rows[::2].tolist(), edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield number + 1, start, stop - start
