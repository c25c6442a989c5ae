"""The whole vocabulary as a map: every token is a cell, legal tokens are sea and illegal ones land.

Tokens follow in byte order along a curve that fills a rectangle, so tokens with a common prefix are neighbours. Ids
without text (special, EOS, empty) come last. A region is named after the first characters of its tokens. The cells of
one kind are one small PNG used as an SVG mask, so that the colours remain those of the theme. Important cells have an
outline, and below the map they are enlarged. On the map of a split a token is accepted, rejected, or depends on the
stack.
"""

import base64
import struct
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import ceil, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.visible import name_node
from guidedviz.machines.work import grouped
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.split import Split
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, REJECTED
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, heading, moved, rect, soft, write, write_legend
from guidedviz.views.words import label, share

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
        number = np.repeat(np.arange(len(self.regions)), [place.stop - place.start for place in self.regions])
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


# A black-and-white picture as a PNG, without an imaging library.


def write_png(picture: npt.NDArray[np.bool_]) -> bytes:
    """A PNG with one bit per pixel: white where True.

    >>> write_png(np.eye(2, dtype=bool))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width = picture.shape
    rows = np.packbits(picture, axis=1)
    lines = np.pad(rows, ((0, 0), (1, 0)))  # every line starts with its filter: none
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


# A line around a few important cells, wide enough to be visible on a map of 128,000.


AROUND = 3.5  # pixels between a small cell and its line


def draw_outline(grid: Mask, cell: float, dashes: str) -> Element:
    """A line around the cells of a picture; `cell` is the width of a cell in pixels.

    >>> bool(draw_outline(np.zeros((2, 2), dtype=bool), 1.0, "none"))
    False
    """
    if not grid.any():
        return NOTHING
    path = borders(np.pad(widen(grid, int(AROUND / cell)), 1))
    look = {"d": path, "fill": "none", "transform": f"scale({cell:.5g}) translate(-1 -1)", "class_": "gv-outline"}
    seam = node("path", **look, stroke="var(--gv-page)", stroke_width=f"{3.2 / cell:.3g}")
    dash = None if dashes == "none" else " ".join(f"{int(n) / cell:.3g}" for n in dashes.split())
    return seam + node("path", **look, stroke="var(--gv-ink)", stroke_width=f"{1.6 / cell:.3g}", stroke_dasharray=dash)


def widen(grid: Mask, cells: int) -> Mask:
    """The cells and their neighbours within a distance."""
    spread = np.pad(grid, cells)
    for axis in (0, 1):
        spread = np.asarray(sliding_window_view(spread, 2 * cells + 1, axis).any(-1), dtype=np.bool_)
    return spread


READABLE = 20.0  # larger cells contain the text of their tokens
WIDTH, EDGE = 920.0, 16.0
LARGEST = 44.0  # pixels of a cell
FEW, DOT = 100, 8.0  # so few cells are marked by dots of this width


@dataclass(frozen=True)
class Kind:
    """The cells of one colour, in byte order, and their name."""

    name: str
    colour: str
    cells: Mask
    outline: str = ""  # the dashes of a line around them; empty for no line

    @property
    def count(self) -> int:
        """The number of cells."""
        return int(self.cells.sum())


def draw_map(guide: Guide, state: Any = None, title: str = "") -> Figure:
    """The legal tokens of a state, by default the initial one, on a map of the whole vocabulary.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_map(gv.guide(gv.regex("[0-9]+"), v)).text
    'Vocabulary map, q0: 2 of 6 tokens legal (33%), EOS illegal'
    """
    check_guide(guide, "draw_map, guide")
    expect(title, str, "draw_map, title", "a text")
    state = guide.initial if state is None else state
    made, mask = atlas(guide.vocabulary), guide.mask(state)
    name = shorten(guide.label(state), 40)
    text = f"Vocabulary map, {name}: {say_mask(guide.vocabulary, mask)}"
    legal, every = count_regions(made, made.ordered(mask)), count_regions(made, np.ones(len(made), dtype=np.bool_))
    more = ", ".join(f"{place} {legal[place]:,} of {count:,}" for place, count in every.items())
    return map_figure(made, legal_kinds(made.ordered(mask)), title or name, text, more)


def legal_kinds(mask: Mask) -> tuple[Kind, ...]:
    """The two kinds of a mask."""
    return Kind("legal", "sea", mask), Kind("illegal", "land", ~mask)


def say_mask(vocabulary: Vocabulary, mask: Mask) -> str:
    """The number of legal tokens, and whether the text may end."""
    count, ends = int(mask.sum()), sorted(vocabulary.eos)
    end = f", EOS {'legal' if mask[ends].any() else 'illegal'}" if ends else ""
    return f"{count:,} of {len(mask):,} tokens legal ({share(count / max(1, len(mask)))}){end}"


def count_regions(made: Atlas, cells: Mask) -> dict[str, int]:
    """How many of these cells each region has, for people who cannot see the map."""
    parts = grouped((place.name, int(cells[place.start : place.stop].sum())) for place in made.regions)
    return {name: sum(counts) for name, counts in parts.items()}


def map_figure(made: Atlas, kinds: Sequence[Kind], title: str, text: str, more: str) -> Figure:
    """A map as a figure."""
    svg, height = write_map(made, kinds, title, WIDTH - 2 * EDGE)
    alt = f"{text}. By place: {more}." if more else f"{text}."
    return Figure(drawing(WIDTH, height + 24, moved(EDGE, 24, svg), alt=alt), text, alt)


def write_map(made: Atlas, kinds: Sequence[Kind], title: str, width: float) -> tuple[Element, float]:
    """A map with a title above and, below, the outlined tokens and a legend with counts; and its height."""
    cell = min(LARGEST, width / made.width)
    head = heading(0, 0, "the whole vocabulary", f"{len(made):,} tokens in byte order along a Hilbert curve · {title}")
    names = _texts(made, kinds, cell) if cell >= READABLE else _names(made, kinds, cell)
    land = node("g", *(_stencil(made, kind) for kind in kinds), _lines(made, cell), transform=f"scale({cell:.5g})")
    for kind in kinds:
        land += draw_outline(made.grid(kind.cells) > 0, cell, kind.outline) if kind.outline else NOTHING
        land += together(_dots(made, kind, cell))
    listed, high = (NOTHING, 0.0) if cell >= READABLE else list_outlined(made, kinds, width)
    foot = cell * made.height + high + 36
    body = moved(0, 14, land, *names, moved(0, cell * made.height + 10, listed))
    legend, *_ = write_legend(((_sign(kind), f"{kind.name} {kind.count:,}") for kind in kinds), 0, foot)
    return head + body + together(legend), foot + 14


def _dots(made: Atlas, kind: Kind, cell: float) -> Iterator[Element]:
    """Dots on cells that would be too few and too small to be visible."""
    if kind.colour == "land" or kind.outline or kind.count > FEW or cell >= DOT:
        return
    for x, y in ((made.cells[kind.cells] + 0.5) * cell).tolist():
        yield node("circle", cx=x, cy=y, r=DOT / 2, fill=f"var(--gv-{kind.colour})", stroke="var(--gv-page)")


def _stencil(made: Atlas, kind: Kind) -> Element:
    """The cells of one kind: a rectangle of its colour behind a mask."""
    png = write_png(made.grid(kind.cells).astype(np.bool_))
    name = f"gv-{zlib.crc32(png):08x}"
    size = {"width": made.width, "height": made.height}
    address = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    image = node("image", href=address, **size, image_rendering="pixelated")
    hole = node("mask", image, id=name, maskUnits="userSpaceOnUse", x=0, y=0, **size)
    return hole + node("rect", **size, fill=f"var(--gv-{kind.colour})", mask=f"url(#{name})")


def _lines(made: Atlas, cell: float) -> Element:
    """The borders of regions; in a small map, of cells, with the curve."""
    look = {"fill": "none", "stroke": "var(--gv-page)"}
    borders = node("path", d=made.borders, **look, stroke_width=1.2 / cell, opacity=0.7)
    if cell < READABLE:
        return borders
    cells = "".join(f"M{x} 0v{made.height}" for x in range(made.width + 1))
    cells += "".join(f"M0 {y}h{made.width}" for y in range(made.height + 1))
    points = " ".join(f"{x + 0.5:g},{y + 0.5:g}" for x, y in made.cells.tolist())
    curve = node("polyline", points=points, **look, stroke_width=0.05, opacity=0.6)
    return node("path", d=cells, **look, stroke_width=0.05) + curve


def _names(made: Atlas, kinds: Sequence[Kind], cell: float) -> list[Element]:
    """The names of regions where they fit and cover no outlined cell."""
    outlined = widen(made.grid(outlined_cells(kinds)) > 0, int(2 * AROUND / cell) + 1)

    def is_clear(place: Region) -> bool:
        wide, high = 3.6 * len(place.name) / cell, 8 / cell
        rows = slice(max(0, int(place.y - high)), ceil(place.y + high))
        columns = slice(max(0, int(place.x - wide)), ceil(place.x + wide))
        return place.room * cell >= 6.2 * len(place.name) and not outlined[rows, columns].any()

    return [
        write(p.x * cell, p.y * cell + 4, p.name, 12, text_anchor="middle", **ink_on(kinds, p.start, p.stop))
        for p in made.regions
        if is_clear(p)
    ]


def outlined_cells(kinds: Sequence[Kind]) -> Mask:
    """The cells of the kinds with a line around them."""
    cells = [kind.cells if kind.outline else np.zeros_like(kind.cells) for kind in kinds]
    return np.asarray(np.logical_or.reduce(cells), dtype=np.bool_)


def ink_on(kinds: Sequence[Kind], start: int, stop: int) -> dict[str, Any]:
    """The text colour for the most frequent kind of these cells, with an outline in the colour of the cells."""
    ground = max(kinds, key=lambda kind: int(kind.cells[start:stop].sum())).colour
    ink, ground = {"land": ("ink", "land"), "sea": ("foam", "sea")}.get(ground, ("ink", "page"))
    seam = {"stroke": f"var(--gv-{ground})", "stroke_width": 3, "stroke_linejoin": "round", "paint_order": "stroke"}
    return {"fill": f"var(--gv-{ink})", **seam}


def _texts(made: Atlas, kinds: Sequence[Kind], cell: float) -> list[Element]:
    """The text of every token, on a map of a small vocabulary."""
    parts = []
    for rank, token in enumerate(made.vocabulary.order.tolist()):
        x, y = ((made.cells[rank] + 0.5) * cell).tolist()
        words = shorten(label(made.vocabulary.pieces[token]), int(cell // 7))
        parts.append(write(x, y + 4, words, 12, mono=True, text_anchor="middle", **ink_on(kinds, rank, rank + 1)))
    return parts


def _sign(kind: Kind) -> Element:
    line = {"stroke": "var(--gv-ink)", "stroke_dasharray": kind.outline} if kind.outline else {}
    return rect(4, -5, 10, 10, 2, fill=f"var(--gv-{kind.colour})", **line)


# The outlined cells of a map, enlarged, each with the text of its token.


COLUMNS, ROWS = 10, 6  # cells that are enlarged, at most
BOX = 24.0  # the height of an enlarged cell


def list_outlined(made: Atlas, kinds: Sequence[Kind], width: float) -> tuple[Element, float]:
    """The outlined cells in byte order, and the height of the list."""
    ranks = np.flatnonzero(outlined_cells(kinds)).tolist()
    if not ranks:
        return NOTHING, 0.0
    shown, long = ranks[: COLUMNS * ROWS], width / COLUMNS
    said = f"enlarged: {len(shown):,} of the {len(ranks):,} outlined cells, each with the text of its token"
    parts = [soft(0, 12, said)]
    for place, rank in enumerate(shown):
        x, y = long * (place % COLUMNS), 20 + BOX * (place // COLUMNS)
        kind = next(kind for kind in kinds if kind.outline and kind.cells[rank])
        look = {"fill": f"var(--gv-{kind.colour})", "fill_opacity": 0.2, "stroke": f"var(--gv-{kind.colour})"}
        dash = None if kind.outline == SOLID else kind.outline
        parts.append(rect(x + 1, y + 1, long - 3, BOX - 3, 3, **look, stroke_width=2.4, stroke_dasharray=dash))
        words = shorten(label(made.vocabulary.pieces[made.vocabulary.order[rank]]), int(long / 7.5))
        parts.append(write(x + long / 2, y + 16, words, 12, mono=True, text_anchor="middle", font_weight="bold"))
    return together(parts), 28 + BOX * ceil(len(shown) / COLUMNS)


# --- a split on the map: a token is accepted, rejected, or depends on the stack; and its nodes as a table ---


SOLID, DASHED = "none", "3 2"


def draw_split(split: Split, at: int, title: str = "") -> Figure:
    """All tokens at a node, with an unknown stack.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split(nested, 0).text)
    Split, node n0 of root: of 6 tokens 2 are accepted, 1 rejected, 3 context-dependent
    """
    expect(title, str, "draw_split, title", "a text")
    expect(split, Split, "draw_split, split", "a split", "gv.build_split(machine, vocabulary)")
    node = int(expect(at, int | np.integer, "draw_split, at", "a node"))
    made, verdicts = atlas(split.vocabulary), split.node(node).verdicts
    dependent = Kind("context-dependent", "gold", made.ordered(verdicts == DEPENDENT), outline=SOLID)
    kinds = (*_independent(made, verdicts), dependent)
    name = f"node {name_node(node)} of {split.pda.nodes.name_of(node)}"
    asking = count_regions(made, dependent.cells)
    more = ", ".join(f"{place} {count:,} context-dependent" for place, count in asking.items() if count)
    return map_figure(made, kinds, title or name, f"Split, {name}: {say_kinds(kinds)}", more)


def split_kinds(split: Split, made: Atlas, state: State) -> tuple[Kind, ...]:
    """The tokens at a state by the verdicts of the nodes and, for context-dependent tokens, of the stack."""
    verdicts, legal = split.answers(state), split.mask(state)
    asked = verdicts == DEPENDENT
    return (
        *_independent(made, verdicts),
        Kind("context-dependent, legal", "gold", made.ordered(asked & legal), outline=SOLID),
        Kind("context-dependent, illegal", "orange", made.ordered(asked & ~legal), outline=DASHED),
    )


def _independent(made: Atlas, verdicts: Any) -> tuple[Kind, Kind]:
    legal, illegal = (made.ordered(verdicts == verdict) for verdict in (ACCEPTED, REJECTED))
    return Kind("accepted", "sea", legal), Kind("rejected", "land", illegal)


def say_kinds(kinds: Sequence[Kind]) -> str:
    """The number of tokens of each kind."""
    legal, illegal, *asked = (kind.count for kind in kinds)
    said = f"of {legal + illegal + sum(asked):,} tokens {legal:,} are accepted, {illegal:,} rejected"
    if not sum(asked):
        return f"{said}, none is context-dependent"
    if len(asked) == 1:
        return f"{said}, {asked[0]:,} context-dependent"
    return f"{said}, {sum(asked):,} context-dependent: {asked[0]:,} legal, {asked[1]:,} illegal"
