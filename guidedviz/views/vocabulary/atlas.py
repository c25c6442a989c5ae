"""The atlas of a vocabulary: the byte order of its tokens, their cells on the map, and the named regions.

Tokens follow in byte order along a curve through all cells, so tokens with a common prefix are neighbours. Ids without
text (special, EOS, empty) come last. A region is named after the first characters of its tokens.

The curve generalises Hilbert's to rectangles (J. Červený, 2019): cut a long rectangle into two parts and a squarer one
into three, such that each part ends where the next begins.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import ceil, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import BLANK_SIGNS
from guidedviz.markup import NOTHING, Element, node
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.vocabulary import Vocabulary

Cells = npt.NDArray[np.int32]
MAP_ASPECT = 2.0  # width divided by height of a map


def size_for(count: int) -> tuple[int, int]:
    """Width and height of a rectangle for `count` cells; both are even, so that no step is diagonal.

    >>> size_for(128_256), size_for(4_096), size_for(30)
    ((506, 254), (90, 46), (8, 4))
    """
    half = sqrt(count / MAP_ASPECT) / 2
    height = 2 * max(1, round(half))
    width = 2 * ceil(count / height / 2)
    return max(2, width), height


@lru_cache(maxsize=64)
def curve(width: int, height: int) -> Cells:
    """Column and row of every cell, from the top left corner to the top right one.

    >>> curve(4, 2).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0], [2, 0], [2, 1], [3, 1], [3, 0]]
    """
    places = np.concatenate(_curve_parts(width, height), dtype=np.int32)
    places.flags.writeable = False
    return places


def _curve_parts(width: int, height: int) -> list[Cells]:
    if height == 1 or width == 1:
        every = np.ones((width, height))
        return [np.argwhere(every).astype(np.int32)]
    half = _even_half(width)
    if 2 * width > 3 * height:
        right = np.add(curve(width - half, height), (half, 0))
        return [curve(half, height), right]
    low = _even_half(height)
    down = curve(low, half)[:, ::-1]
    along = np.add(curve(width, height - low), (0, low))
    up = curve(low, width - half)[:, ::-1]
    return [down, along, np.subtract((width - 1, low - 1), up)]


def _even_half(length: int) -> int:
    half = length // 2
    if half % 2 and length > 2:
        return half + 1
    return half


# --- the kind of a piece, by its first character ---


NO_TEXT = "no text"


def kind(piece: bytes) -> str:
    """The kind of a piece's first character, or of the one after a leading blank.

    >>> [kind(p) for p in (b" the", b"42", b"\\n", "ж".encode(), b"\\xe4\\xb8", b"\\x80", b'{"', "é".encode())]
    ['␣a–z', '0–9', 'blanks', 'Cyrillic', 'CJK', 'inner bytes', 'signs', 'Latin']
    """
    if piece[:1] != b" " or len(piece) == 1:
        return _kind_of_start(piece[:4])
    name = _kind_of_start(piece[1:5])
    return name if name == "blanks" else f"␣{name}"


@lru_cache(maxsize=65536)
def _kind_of_start(start: bytes) -> str:
    """The kind of the first character; an incomplete one is completed to some character."""
    for end in (b"", b"\x80", b"\xbf", b"\x80\x80", b"\xbf\xbf", b"\x80\x80\x80", b"\xbf\xbf\xbf"):
        whole = start + end
        text = whole.decode("utf-8", "ignore")
        if text and whole.startswith(text[0].encode()):
            return _kind_of_character(text[0])
    return "inner bytes"


def _kind_of_character(character: str) -> str:
    if character.isascii():
        return _kind_of_ascii(character)
    if unicodedata.category(character)[0] not in "LM":
        return "signs"
    script = unicodedata.name(character, "other").split()[0].title()
    return script.replace("Cjk", "CJK")


def _kind_of_ascii(character: str) -> str:
    if character.isdigit():
        return "0–9"
    if character.islower():
        return "a–z"
    if character.isupper():
        return "A–Z"
    if character.isspace() or not character.isprintable():
        return "blanks"
    return "signs"


# --- lines between cells, and around a few ---


def borders(grid: npt.NDArray[Any]) -> str:
    """The lines between different cells, as an SVG path.

    >>> borders(np.array([[1, 1], [1, 2]]))
    'M1 1h1M1 1v1'
    """
    across = grid[1:] != grid[:-1]
    along = grid[:, 1:] != grid[:, :-1]
    moves = [f"M{x} {y}h{length}" for y, x, length in _find_runs(across)]
    moves += [f"M{x} {y}v{length}" for x, y, length in _find_runs(along.T)]
    return "".join(moves)


def _find_runs(lines: Mask) -> Iterator[tuple[int, int, int]]:
    """The runs of True, as the border after their row, their start and their length."""
    framed = np.pad(lines.astype(np.int8), ((0, 0), (1, 1)))
    edges = np.argwhere(np.diff(framed, axis=1)).tolist()
    begins = edges[::2]
    ends = edges[1::2]
    for (row, start), (_, stop) in zip(begins, ends, strict=True):
        yield row + 1, start, stop - start


AROUND_CELLS = 3.5  # pixels between a small cell and its line


def draw_outline(grid: Mask, cell: float, dashes: str) -> Element:
    """A line around the cells of a picture; `cell` is the width of a cell in pixels.

    >>> bool(draw_outline(np.zeros((2, 2), dtype=bool), 1.0, "none"))
    False
    """
    if not grid.any():
        return NOTHING

    def in_cells(pixels: float) -> str:
        return f"{pixels / cell:.3g}"

    spread = widen(grid, int(AROUND_CELLS / cell))
    placed = f"scale({cell:.5g}) translate(-1 -1)"
    look = {"d": borders(np.pad(spread, 1)), "fill": "none", "transform": placed, "class_": "gv-outline"}
    seam = node("path", **look, stroke="var(--gv-page)", stroke_width=in_cells(3.2))
    line = {"stroke": "var(--gv-ink)", "stroke_width": in_cells(1.6)}
    if dashes != "none":
        line["stroke_dasharray"] = " ".join(in_cells(int(n)) for n in dashes.split())
    return seam + node("path", **look, **line)


def widen(grid: Mask, cells: int) -> Mask:
    """The cells and their neighbours within a distance."""
    spread = np.pad(grid, cells)
    for axis in (0, 1):
        windows = sliding_window_view(spread, 2 * cells + 1, axis)
        spread = np.asarray(windows.any(-1), dtype=np.bool_)
    return spread


# --- the atlas ---


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
        columns, rows = self.cells.T
        picture[rows, columns] = values
        return picture

    def ordered(self, mask: Mask) -> Mask:
        """A mask by id as a mask in byte order."""
        return mask[self.vocabulary.order]

    @cached_property
    def moves(self) -> bytes:
        """The moves of the curve from the top left corner, two bits per cell: right, down, left, up."""
        steps = np.diff(curve(self.width, self.height), axis=0)
        across, down = steps.T
        code = np.where(across != 0, 1 - across, 2 - down)
        bits = np.stack([code & 1, code >> 1], 1).astype(np.uint8)
        return np.packbits(bits.ravel(), bitorder="little").tobytes()

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The named parts of the curve, with positions for their names."""
        return tuple(settle(self, *stretch) for stretch in _stretches(self))

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
    pieces = [vocabulary.pieces[token] for token in vocabulary.order[:text]]
    for own, group in groupby(pieces, kind):
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
    columns, rows = cells.T + 1
    inside[rows, columns] = 1
    sums = inside.cumsum(0).cumsum(1)  # of all cells above and to the left
    middle = cells.mean(0) + 0.5
    letter_width, letter_height = LETTER_CELLS
    for zoom in (0.25, 0.5, 1, 2, 4, 8):
        scale = made.width / 114 / zoom
        wide = max(1, round(letter_width * len(name) * scale))
        high = max(1, round(letter_height * scale))
        if high >= made.height or wide >= made.width:
            continue
        right = sums[:, wide:] - sums[:, :-wide]
        count = right[high:] - right[:-high]
        corners = np.argwhere(count == wide * high)[:, ::-1]
        spots = np.add(corners, (wide / 2, high / 2))
        if len(spots):
            far = ((spots - middle) ** 2).sum(1)
            x, y = spots[far.argmin()].tolist()
            return Region(name, start, stop, x, y, float(wide))
    return Region(name, start, stop)


# --- the search: by text, by regex, by bytes, by id ---


SEARCHES = "text, /regex/, 0xE2 82, #id"


def search_tokens(vocabulary: Vocabulary, query: str) -> Mask:
    """The mask of the tokens that match a query; visible signs such as ␣ stand for blanks.

    >>> v = Vocabulary([b" the", b"then", b"42", b"\\xe2\\x82"])
    >>> [np.flatnonzero(search_tokens(v, q)).tolist() for q in ("the", "␣", "/[0-9]+/", "0xE282", "#2", "")]
    [[0, 1], [0], [2], [3], [2], []]
    """
    if not query:
        return np.zeros(len(vocabulary), dtype=np.bool_)
    if re.fullmatch(r"#\d+", query):
        ids = np.arange(len(vocabulary))
        return np.asarray(ids == int(query[1:]))
    if re.fullmatch("/.+/", query, re.DOTALL):
        accepts = regex(query[1:-1]).accepts
        return np.fromiter(map(accepts, vocabulary.pieces), dtype=np.bool_)
    needle = _read_bytes(query)
    return np.fromiter((needle in piece for piece in vocabulary.pieces), dtype=np.bool_)


def read_signs(text: str) -> bytes:
    """Typed text as bytes; ␣ ↵ ⇥ and the other signs are replaced by the characters they stand for.

    >>> read_signs("a␣b↵")
    b'a b\\n'
    """
    characters = {ord(sign): character for character, sign in BLANK_SIGNS.items()}
    return text.translate(characters).encode("utf-8", "replace")


def _read_bytes(query: str) -> bytes:
    if not query.startswith("0x"):
        return read_signs(query)
    try:
        return bytes.fromhex(query[2:])
    except ValueError:
        hint = "two hex digits per byte, 0xE2 82"
        raise SettingError(f"search {quoted(query)}", seen="no bytes", expected=hint) from None
