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

from guidedviz.errors import expect, shorten
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.visible import name_node
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.split import Split
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, REJECTED
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import (
    EDGE,
    Drawn,
    Figure,
    Style,
    bold,
    centred,
    circle_at,
    figure_of,
    heading,
    moved,
    path_of,
    rect,
    soft,
    write_legend,
)
from guidedviz.views.theme import paint
from guidedviz.views.vocabulary.atlas import AROUND_CELLS, Atlas, atlas, draw_outline, widen
from guidedviz.views.words import label, share


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


def legal_kinds(mask: Mask) -> tuple[Kind, ...]:
    """The two kinds of a mask."""
    return Kind("legal", "sea", mask), Kind("illegal", "land", ~mask)


def say_mask(vocabulary: Vocabulary, mask: Mask) -> str:
    """The number of legal tokens, and whether the text may end."""
    count = int(mask.sum())
    tokens = len(mask)
    part = share(count / max(1, tokens))
    said = f"{count:,} of {tokens:,} tokens legal ({part})"
    if not vocabulary.eos:
        return said
    ends = "legal" if mask[sorted(vocabulary.eos)].any() else "illegal"
    return f"{said}, EOS {ends}"


def count_regions(made: Atlas, cells: Mask) -> Counter[str]:
    """How many of these cells each region has, for people who cannot see the map."""
    counts = Counter[str]()
    for region in made.regions:
        inside = cells[region.start : region.stop]
        counts[region.name] += int(inside.sum())
    return counts


def outlined_cells(kinds: Sequence[Kind]) -> Mask:
    """The cells of the kinds with a line around them."""
    cells = np.zeros_like(kinds[0].cells)
    for kind in kinds:
        if kind.outline:
            cells |= kind.cells
    return cells


def ink_on(kinds: Sequence[Kind], start: int, stop: int) -> Style:
    """The text colour for the most frequent kind of these cells, with an outline in the colour of the cells."""
    counts = [int(kind.cells[start:stop].sum()) for kind in kinds]
    most = counts.index(max(counts))
    ground = kinds[most].colour
    ink = "foam" if ground == "sea" else "ink"
    seam = ground if ground in ("land", "sea") else "page"
    line = {"stroke_width": 3, "stroke_linejoin": "round", "paint_order": "stroke"}
    return {"fill": paint(ink), "stroke": paint(seam), **line}


SOLID = "none"
DASHED = "3 2"


def split_kinds(split: Split, made: Atlas, state: State) -> tuple[Kind, ...]:
    """The tokens at a state by the verdicts of the nodes and, for context-dependent tokens, of the stack."""
    verdicts = split.answers(state)
    legal = split.mask(state)
    asked = verdicts == DEPENDENT
    allowed = made.ordered(asked & legal)
    refused = made.ordered(asked & ~legal)
    return (
        *independent_kinds(made, verdicts),
        Kind("context-dependent, legal", "gold", allowed, SOLID),
        Kind("context-dependent, illegal", "magenta", refused, DASHED),
    )


def independent_kinds(made: Atlas, verdicts: Any) -> tuple[Kind, Kind]:
    accepted = made.ordered(verdicts == ACCEPTED)
    rejected = made.ordered(verdicts == REJECTED)
    return Kind("accepted", "sea", accepted), Kind("rejected", "land", rejected)


def say_kinds(kinds: Sequence[Kind]) -> str:
    """The number of tokens of each kind."""
    legal, illegal, *asked = (kind.count for kind in kinds)
    dependent = sum(asked)
    tokens = legal + illegal + dependent
    said = f"of {tokens:,} tokens {legal:,} are accepted, {illegal:,} rejected"
    if not dependent:
        return f"{said}, none is context-dependent"
    said += f", {dependent:,} context-dependent"
    if len(asked) == 1:
        return said
    allowed, refused = asked
    return f"{said}: {allowed:,} legal, {refused:,} illegal"


# --- a kind as a stencil: a PNG with one bit per cell ---


def write_stencil(made: Atlas, kind: Kind) -> Element:
    """The cells of one kind: a rectangle of its colour behind a mask."""
    png = write_png(made.grid(kind.cells).astype(np.bool_))
    name = f"gv-{zlib.crc32(png):08x}"
    size = {"width": made.width, "height": made.height}
    address = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    image = node("image", href=address, **size, image_rendering="pixelated")
    hole = node("mask", image, id=name, maskUnits="userSpaceOnUse", x=0, y=0, **size)
    shown = node("rect", **size, fill=paint(kind.colour), mask=f"url(#{name})")
    return hole + shown


def write_png(picture: npt.NDArray[np.bool_]) -> bytes:
    """A PNG with one bit per pixel: white where True.

    >>> write_png(np.eye(2, dtype=bool))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width = picture.shape
    rows = np.packbits(picture, axis=1)
    lines = np.pad(rows, ((0, 0), (1, 0)))  # every line starts with its filter: none
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    data = zlib.compress(lines.tobytes(), 9)
    chunks = {b"IHDR": head, b"IDAT": data, b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, chunks, chunks.values()))


def _png_chunk(name: bytes, data: bytes) -> bytes:
    size = struct.pack(">I", len(data))
    check = struct.pack(">I", zlib.crc32(name + data))
    return size + name + data + check


# --- the map ---


READABLE_CELL = 20.0  # larger cells contain the text of their tokens
MAP_WIDTH = 920.0
NARROW_MAP = 640.0  # a map up to this width says less above it
LARGEST_CELL = 44.0
FEW_CELLS = 100  # so few cells are marked by dots of this width
DOT_WIDTH = 8.0
ENLARGED_COLUMNS = 10
MOST_ENLARGED = 60
ENLARGED_HIGH = 24.0


def draw_map(guide: Guide, state: Any = None, title: str = "") -> Figure:
    """The legal tokens of a state, by default the initial one, on a map of the whole vocabulary.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> gv.draw_map(gv.guide(gv.regex("[0-9]+"), v)).text
    'Vocabulary map, q0: 2 of 6 tokens legal (33%), EOS illegal'
    """
    check_guide(guide, "draw_map, guide")
    expect(title, str, "draw_map, title", "a text")
    state = guide.initial if state is None else state
    name = shorten(guide.label(state), 40)
    return draw_mask(guide.vocabulary, guide.mask(state), name, title)


def draw_mask(vocabulary: Vocabulary, mask: Mask, name: str, title: str = "") -> Figure:
    """The legal tokens of a mask on a map of the whole vocabulary; `name` says where the mask is from."""
    made = atlas(vocabulary)
    cells = made.ordered(mask)
    legal = count_regions(made, cells)
    every = count_regions(made, np.ones_like(cells))
    regions = []
    for place, count in every.items():
        regions.append(f"{place} {legal[place]:,} of {count:,}")
    text = f"Vocabulary map, {name}: {say_mask(vocabulary, mask)}"
    return _map_figure(made, legal_kinds(cells), title or name, text, regions)


def draw_split(split: Split, at: int, title: str = "") -> Figure:
    """All tokens at a node, with an unknown stack.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(gv.draw_split(nested, 0).text)
    Split, node n0 of root: of 6 tokens 2 are accepted, 1 rejected, 3 context-dependent
    """
    expect(title, str, "draw_split, title", "a text")
    expect(split, Split, "draw_split, split", "a split", "gv.build_split(machine, vocabulary)")
    node = int(expect(at, int | np.integer, "draw_split, at", "a node"))
    made = atlas(split.vocabulary)
    verdicts = split.node(node).verdicts
    dependent = Kind("context-dependent", "gold", made.ordered(verdicts == DEPENDENT), outline=SOLID)
    kinds = (*independent_kinds(made, verdicts), dependent)
    asking = +count_regions(made, dependent.cells)  # those that have some
    regions = [f"{place} {count:,} context-dependent" for place, count in asking.items()]
    rule = split.pda.nodes.name_of(node)
    name = f"node {name_node(node)} of {rule}"
    text = f"Split, {name}: {say_kinds(kinds)}"
    return _map_figure(made, kinds, title or name, text, regions)


def _map_figure(made: Atlas, kinds: Sequence[Kind], title: str, text: str, regions: Sequence[str]) -> Figure:
    svg, height = write_map(made, kinds, title, MAP_WIDTH - 2 * EDGE)
    alt = f"{text}."
    if regions:
        alt += f" By place: {', '.join(regions)}."
    return figure_of(MAP_WIDTH, height + 24, text, moved(EDGE, 24, svg), alt=alt)


def write_map(made: Atlas, kinds: Sequence[Kind], title: str, width: float) -> Drawn:
    """A map with a title above and, below, the outlined tokens and a legend with counts; and its height."""
    cell = min(LARGEST_CELL, width / made.width)
    along = ": those that begin alike are neighbours" if width > NARROW_MAP else ""
    about = f"{len(made):,} tokens{along} · {title}"
    cells = [write_stencil(made, kind) for kind in kinds]
    cells.append(_write_borders(made, cell))
    scale = f"scale({cell:.5g})"
    parts = [node("g", *cells, transform=scale)]
    for kind in kinds:
        if kind.outline:
            outlined = made.grid(kind.cells) > 0
            parts.append(draw_outline(outlined, cell, kind.outline))
        elif kind.colour != "land" and kind.count <= FEW_CELLS and cell < DOT_WIDTH:
            parts += _mark_few(made, kind, cell)
    below = cell * made.height
    foot = below + 36
    if cell >= READABLE_CELL:
        parts += _write_texts(made, kinds, cell)
        parts.append(moved(0, below + 10))
    else:
        parts += _write_names(made, kinds, cell)
        enlarged, height = _enlarge_outlined(made, kinds, width)
        parts.append(moved(0, below + 10, enlarged))
        foot += height
    names = [f"{kind.name} {kind.count:,}" for kind in kinds]
    signs = zip(map(_write_kind, kinds), names, strict=True)
    legend, *_ = write_legend(signs, 0, foot)
    head = heading(0, 0, "the whole vocabulary", about)
    return together([head, moved(0, 14, *parts), *legend]), foot + 14


def _mark_few(made: Atlas, kind: Kind, cell: float) -> Iterator[Element]:
    """Dots on cells that would be too few and too small to be visible."""
    look = {"fill": paint(kind.colour), "stroke": "var(--gv-page)"}
    middles = (made.cells[kind.cells] + 0.5) * cell
    for x, y in middles.tolist():
        yield circle_at(x, y, DOT_WIDTH / 2, **look)


def _write_borders(made: Atlas, cell: float) -> Element:
    """The borders of regions; in a small map, of cells."""
    look = {"fill": "none", "stroke": "var(--gv-page)"}
    regions = path_of(made.borders, **look, stroke_width=1.2 / cell, opacity=0.7)
    if cell < READABLE_CELL:
        return regions
    lines = [f"M{x} 0v{made.height}" for x in range(made.width + 1)]
    lines += [f"M0 {y}h{made.width}" for y in range(made.height + 1)]
    return path_of("".join(lines), **look, stroke_width=0.05)


def _write_names(made: Atlas, kinds: Sequence[Kind], cell: float) -> Iterator[Element]:
    """The names of regions where they fit and cover no outlined cell."""
    around = int(2 * AROUND_CELLS / cell) + 1
    outlined = widen(made.grid(outlined_cells(kinds)) > 0, around)
    for region in made.regions:
        width = 3.6 * len(region.name) / cell
        height = 8 / cell
        rows = _cells_around(region.y, height)
        columns = _cells_around(region.x, width)
        fits = region.room * cell >= 6.2 * len(region.name)
        if fits and not outlined[rows, columns].any():
            look = ink_on(kinds, region.start, region.stop)
            x = region.x * cell
            y = region.y * cell
            yield centred(x, y + 4, region.name, 12, **look)


def _cells_around(middle: float, reach: float) -> slice:
    first = max(0, int(middle - reach))
    return slice(first, ceil(middle + reach))


def _write_texts(made: Atlas, kinds: Sequence[Kind], cell: float) -> Iterator[Element]:
    """The text of every token, on a map of a small vocabulary."""
    middles = (made.cells + 0.5) * cell
    for rank, (x, y) in enumerate(middles.tolist()):
        words = shorten(_text_at(made, rank), int(cell // 7))
        look = ink_on(kinds, rank, rank + 1)
        yield centred(x, y + 4, words, 12, mono=True, **look)


def _text_at(made: Atlas, rank: int) -> str:
    return label(made.vocabulary.pieces[made.vocabulary.order[rank]])


def _write_kind(kind: Kind) -> Element:
    line = {"stroke": "var(--gv-ink)", "stroke_dasharray": kind.outline} if kind.outline else {}
    return rect(4, -5, 10, 10, 2, fill=paint(kind.colour), **line)


def _enlarge_outlined(made: Atlas, kinds: Sequence[Kind], width: float) -> Drawn:
    """The outlined cells in byte order, enlarged, each with the text of its token; and the height of the list."""
    ranks = np.flatnonzero(outlined_cells(kinds)).tolist()
    if not ranks:
        return NOTHING, 0.0
    shown = ranks[:MOST_ENLARGED]
    pitch = width / ENLARGED_COLUMNS
    counts = f"{len(shown):,} of the {len(ranks):,} outlined cells"
    parts = [soft(0, 12, f"enlarged: {counts}, each with the text of its token")]
    for place, rank in enumerate(shown):
        row, column = divmod(place, ENLARGED_COLUMNS)
        x = pitch * column
        y = 20 + ENLARGED_HIGH * row
        outlined = [kind for kind in kinds if kind.outline]
        kind = next(kind for kind in outlined if kind.cells[rank])
        colour = paint(kind.colour)
        look = {"fill": colour, "fill_opacity": 0.2, "stroke": colour, "stroke_width": 2.4}
        if kind.outline != SOLID:
            look["stroke_dasharray"] = kind.outline
        box = rect(x + 1, y + 1, pitch - 3, ENLARGED_HIGH - 3, 3, **look)
        parts.append(box)
        words = shorten(_text_at(made, rank), int(pitch / 7.5))
        middle = x + pitch / 2
        parts.append(bold(middle, y + 16, words, 12, mono=True, text_anchor="middle"))
    rows = ceil(len(shown) / ENLARGED_COLUMNS)
    return together(parts), 28 + ENLARGED_HIGH * rows
