"""The whole vocabulary as a map: every token is a cell, legal tokens are sea and illegal ones land.

The cells of one kind are one small PNG used as an SVG mask, so that the colours remain those of the theme. Important
cells have an outline, and below the map they are enlarged.
"""

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from guidedviz.errors import expect, shorten
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, write
from guidedviz.views.vocabulary.atlas import Atlas, Region, atlas, borders
from guidedviz.views.words import label, share

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
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(*part) for part in ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    )


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
    dashed = {} if dashes == "none" else {"stroke_dasharray": " ".join(f"{int(n) / cell:.3g}" for n in dashes.split())}
    return seam + node("path", **look, stroke="var(--gv-ink)", stroke_width=f"{1.6 / cell:.3g}", **dashed)


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


def count_regions(made: Atlas, cells: Mask) -> Counter[str]:
    """How many of these cells each region has, for people who cannot see the map."""
    counts: Counter[str] = Counter()
    for place in made.regions:
        counts[place.name] += int(cells[place.start : place.stop].sum())
    return counts


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
    return head + body + _legend(kinds, foot), foot + 14


def _dots(made: Atlas, kind: Kind, cell: float) -> Iterator[Element]:
    """Dots on cells that would be too few and too small to be visible."""
    if kind.colour == "land" or kind.outline or kind.count > FEW or cell >= DOT:
        return
    for x, y in ((made.cells[kind.cells] + 0.5) * cell).tolist():
        look = {"fill": f"var(--gv-{kind.colour})", "stroke": "var(--gv-page)"}
        yield node("circle", cx=x, cy=y, r=DOT / 2, **look)


def _stencil(made: Atlas, kind: Kind) -> Element:
    """The cells of one kind: a rectangle of its colour behind a mask."""
    png = write_png(made.grid(kind.cells).astype(np.bool_))
    name = f"gv-{zlib.crc32(png):08x}"
    size = {"width": made.width, "height": made.height}
    address = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    image = node("image", href=address, **size, image_rendering="pixelated")
    hole = node("mask", image, id=name, maskUnits="userSpaceOnUse", x=0, y=0, **size)
    colour = {"fill": f"var(--gv-{kind.colour})"}
    return hole + node("rect", **size, **colour, mask=f"url(#{name})")


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
        look = {"text_anchor": "middle", **ink_on(kinds, rank, rank + 1)}
        parts.append(write(x, y + 4, words, 12, mono=True, **look))
    return parts


def _legend(kinds: Sequence[Kind], y: float) -> Element:
    parts, x = [], 0.0
    for kind in kinds:
        words = f"{kind.name} {kind.count:,}"
        colour = {"fill": f"var(--gv-{kind.colour})"}
        line = {"stroke": "var(--gv-ink)", "stroke_dasharray": kind.outline} if kind.outline else {}
        parts.append(node("rect", x=x, y=y - 9, width=10, height=10, rx=2, **colour, **line))
        parts.append(soft(x + 16, y, words))
        x += 34 + 6.6 * len(words)
    return together(parts)


# The outlined cells of a map, enlarged, each with the text of its token.


COLUMNS, ROWS = 10, 6  # cells that are enlarged, at most
BOX = 24.0  # the height of an enlarged cell


def list_outlined(made: Atlas, kinds: Sequence[Kind], width: float) -> tuple[Element, float]:
    """The outlined cells in byte order, and the height of the list."""
    ranks = np.flatnonzero(outlined_cells(kinds)).tolist()
    if not ranks:
        return NOTHING, 0.0
    shown, long, parts = ranks[: COLUMNS * ROWS], width / COLUMNS, []
    said = f"enlarged: {len(shown):,} of the {len(ranks):,} outlined cells, each with the text of its token"
    parts.append(soft(0, 12, said))
    for place, rank in enumerate(shown):
        x, y = long * (place % COLUMNS), 20 + BOX * (place // COLUMNS)
        kind = next(kind for kind in kinds if kind.outline and kind.cells[rank])
        line = {"stroke": f"var(--gv-{kind.colour})", "stroke_width": 2.4}
        line |= {"stroke_dasharray": kind.outline} if kind.outline != "none" else {}
        size = {"x": x + 1, "y": y + 1, "width": long - 3, "height": BOX - 3, "rx": 3}
        parts.append(node("rect", **size, fill=f"var(--gv-{kind.colour})", fill_opacity=0.2, **line))
        words = shorten(label(made.vocabulary.pieces[made.vocabulary.order[rank]]), int(long / 7.5))
        parts.append(write(x + long / 2, y + 16, words, 12, mono=True, text_anchor="middle", font_weight="bold"))
    return together(parts), 28 + BOX * ceil(len(shown) / COLUMNS)
