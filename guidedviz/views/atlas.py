"""Where every token lies on the map of a vocabulary, and what the places are called.

Tokens stand in the order of their bytes along a curve that fills a rectangle, so tokens that begin alike lie together,
and every beginning is a place. Ids that are no text (special, EOS, empty) come last. Names of places are read off the
tokens: what most tokens there begin with.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.tokens.guide import Mask
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.curve import Places, curve, size_for

Ints = npt.NDArray[np.int32]
LETTER = (1.1, 2.4)  # width and height that a letter of a name needs, in cells of a map 114 cells wide
NO_TEXT = "no text"


@dataclass(frozen=True)
class Place:
    """Tokens start .. stop in byte order; the name stands around (x, y), where `room` cells are free for it."""

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
    """Byte order, and the way from there to cells and back."""

    vocabulary: Vocabulary
    order: Ints  # the ids in byte order
    width: int
    height: int

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def rank(self) -> Ints:
        """The place in byte order of every id."""
        rank = np.empty(len(self), dtype=np.int32)
        rank[self.order] = np.arange(len(self))
        return rank

    @cached_property
    def cells(self) -> Places:
        """Column and row of every token in byte order; the last cells of the curve may stay empty."""
        return curve(self.width, self.height)[: len(self)]

    def grid(self, values: npt.NDArray[np.generic], empty: int = 0) -> npt.NDArray[np.int32]:
        """Values in byte order as a picture, row by row."""
        picture = np.full((self.height, self.width), empty, dtype=np.int32)
        picture[self.cells[:, 1], self.cells[:, 0]] = values
        return picture

    def ordered(self, mask: Mask) -> Mask:
        """A mask by id as a mask in byte order."""
        return mask[self.order]

    @cached_property
    def moves(self) -> bytes:
        """The curve as its moves, two bits a cell: right, down, left, up; it starts in the top left corner."""
        step = np.diff(curve(self.width, self.height), axis=0)
        code = np.where(step[:, 0] != 0, 1 - step[:, 0], 2 - step[:, 1]).astype(np.uint8)
        bits = np.stack([code & 1, code >> 1], 1).ravel()
        return np.packbits(bits, bitorder="little").tobytes()

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The named stretches of the curve, and where a name fits."""
        return tuple(_settle(self, name, start, stop) for name, start, stop in _stretches(self))

    def place_of(self, rank: int) -> Place:
        """The place where a token lies."""
        return next(place for place in self.places if place.start <= rank < place.stop)

    @cached_property
    def borders(self) -> str:
        """The lines between places, as an SVG path in cells."""
        number = np.repeat(np.arange(len(self.places)), list(map(len, self.places)))
        return borders(self.grid(number, empty=-1))


@lru_cache(maxsize=8)
def atlas(vocabulary: Vocabulary) -> Atlas:
    """The map of a vocabulary, made once.

    >>> made = atlas(Vocabulary([b"b", b"</s>", b"ab", b"a"], eos={1}))
    >>> made.order.tolist(), made.width, made.height, [place.name for place in made.places]
    ([3, 2, 0, 1], 2, 2, ['a–z', 'no text'])
    """
    text = sorted(vocabulary.text_ids, key=vocabulary.pieces.__getitem__)
    known = set(text)
    order = [*text, *(token for token in range(len(vocabulary)) if token not in known)]
    return Atlas(vocabulary, np.array(order, dtype=np.int32), *size_for(len(order)))


# --- the names of places ---


def kind(piece: bytes) -> str:
    """What a piece begins with, in a word; after one blank, what comes after it.

    >>> [kind(p) for p in (b" the", b"42", b"\\n", "ж".encode(), b"\\xe4\\xb8", b"\\x80", b'{"', "é".encode())]
    ['␣a–z', '0–9', 'blanks', 'Cyrillic', 'CJK', 'inner bytes', 'signs', 'Latin']
    """
    blank = piece[:1] == b" " and len(piece) > 1
    name = _kind_of_start(piece[blank : blank + 4])
    return f"␣{name}" if blank and name != "blanks" else name


@lru_cache(maxsize=65536)
def _kind_of_start(start: bytes) -> str:
    """The kind of the first character; one that is cut is any character that begins so."""
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
    """Neighbours of one kind; what is too short to be seen goes with what stands before it."""
    vocabulary, text = made.vocabulary, len(made.vocabulary.text_ids)
    kinds = [kind(vocabulary.pieces[token]) for token in made.order[:text]]
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


def _settle(made: Atlas, name: str, start: int, stop: int) -> Place:
    """The place with the spot nearest its middle where its name fits, at the largest size that does."""
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
            return Place(name, start, stop, float(x), float(y), float(wide))
    return Place(name, start, stop)


def borders(grid: npt.NDArray[Any]) -> str:
    """The lines between cells that differ, as an SVG path.

    >>> borders(np.array([[1, 1], [1, 2]]))
    'M1 1h1M1 1v1'
    """
    across = (f"M{x} {y}h{long}" for y, x, long in _runs(grid[1:] != grid[:-1]))
    along = (f"M{x} {y}v{long}" for x, y, long in _runs((grid[:, 1:] != grid[:, :-1]).T))
    return "".join((*across, *along))


def _runs(lines: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Where True stands, row by row: the border after that row, where it starts, how long it is."""
    rows, edges = np.nonzero(np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1))), axis=1))
    for number, start, stop in zip(rows[::2].tolist(), edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield number + 1, start, stop - start


def pack_bits(bits: Sequence[bool] | Mask) -> bytes:
    """A mask as bytes, eight tokens a byte, the first in the lowest bit.

    >>> pack_bits([True, False, False, True])
    b'\\t'
    """
    return np.packbits(np.asarray(bits, dtype=np.bool_), bitorder="little").tobytes()
