"""The whole vocabulary as a map: every token is a cell, legal tokens are sea and illegal ones land.

The cells of one kind are one small PNG used as an SVG mask, so that the colours remain those of the theme. Important
cells have an outline, and below the map they are enlarged. On the map of a split a token is accepted, rejected, or
depends on the stack; a table has the counts of these for all nodes, and the storage.
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
from guidedviz.machines.pushdown.pda import say_waits
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.visible import counted, name_node
from guidedviz.machines.work import grouped
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.split import ACCEPTED, DEPENDENT, REJECTED, NodeSplit, Split
from guidedviz.tokens.trie import Mask
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, figure_of, heading, moved, rect, soft, wide, write, write_legend
from guidedviz.views.vocabulary.atlas import Atlas, Region, atlas, borders
from guidedviz.views.words import align, label, share

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
    legend, *_ = write_legend(((_sign(kind), f"{kind.name} {kind.count:,}") for kind in kinds), 0, foot)
    return head + body + together(legend), foot + 14


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
    shown, long, parts = ranks[: COLUMNS * ROWS], width / COLUMNS, []
    said = f"enlarged: {len(shown):,} of the {len(ranks):,} outlined cells, each with the text of its token"
    parts.append(soft(0, 12, said))
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
SPLIT_HINT = "gv.build_split(machine, vocabulary)"


def draw_split(split: Split, at: int, title: str = "") -> Figure:
    """All tokens at a node, with an unknown stack.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split(nested, 0).text)
    Split, node n0 of root: of 6 tokens 2 are accepted, 1 rejected, 3 context-dependent
    """
    expect(title, str, "draw_split, title", "a text")
    expect(split, Split, "draw_split, split", "a split", SPLIT_HINT)
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


# The nodes of a split as a table: how many tokens each accepts, rejects and leaves to the stack, and the storage.


MOST = 60  # rows: of more, those with the most context-dependent tokens and bytes
LINE, FIRST = 21.0, 70.0
HEAD = ("node", "waits for", "accepted", "rejected", "dependent", "kept as", "bytes")
NUMBERS = (2, 3, 4, 6)


def split_rows(split: Split) -> list[list[NodeSplit]]:
    """Nodes of one rule with equal masks in a row; by rule, those with the most context-dependent tokens first.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> [[part.node for part in row] for row in split_rows(nested)]
    [[0], [1], [3]]
    """
    rule_of = split.pda.nodes.rule_of
    alike = grouped(((rule_of[part.node], id(part.accepted.data), id(part.dependent)), part) for part in split.build())
    return sorted(alike.values(), key=lambda row: (rule_of[row[0].node], *_most(row)))


def _most(row: Sequence[NodeSplit]) -> tuple[int, int]:
    """The order of rows: the most context-dependent tokens and bytes first."""
    return -len(row[0].dependent), -row[0].nbytes


def _say_row(split: Split, row: Sequence[NodeSplit]) -> tuple[str, ...]:
    first, more = row[0], f" +{len(row) - 1}" * (len(row) > 1)
    accepted, dependent = first.accepted.count, len(first.dependent)
    numbers = f"{accepted:,}", f"{first.accepted.size - accepted - dependent:,}", f"{dependent:,}" if dependent else "–"
    waits = shorten(say_waits(split.pda, first.node), 24)
    return f"{name_node(first.node)}{more}", waits, *numbers, first.accepted.kind, f"{first.nbytes:,}"


def draw_split_nodes(split: Split) -> Figure:
    """The table of all nodes, with its memory compared to one bit per node and token.

    >>> v = gv.Vocabulary([b"(", b")", b"x", b"x)", b"x))", b"x)))"])
    >>> nested = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), v)
    >>> print(draw_split_nodes(nested).text)
    Split: 3 nodes over 6 tokens, 2 with context-dependent tokens; 23 bytes kept, 770% of a dense table's 3
    node  waits for  accepted  rejected  dependent  kept as  bytes
    root
    n0    ( or x            2         1          3  bits        13
    n1    ( or x            3         1          2  bits         9
    n3    )                 1         5          –  bits         1
    """
    expect(split, Split, "draw_split_nodes, split", "a split", SPLIT_HINT)
    rows, rule = split_rows(split), ""
    most_asked = sorted(rows, key=_most)[:MOST]
    shown, total = [row for row in rows if row in most_asked], _say_total(split, rows)
    head, *table = align([HEAD, *(_say_row(split, row) for row in shown)], NUMBERS)
    lines = [(head, {"fill": "var(--gv-soft)"})]  # each with its look
    for row, words in zip(shown, table, strict=True):
        if rule != (rule := split.pda.nodes.name_of(row[0].node)):
            lines.append((shorten(rule, 40), {"font_weight": "bold"}))
        lines.append((words, {"fill": "var(--gv-gold)", "font_weight": "bold"} if row[0].dependent.size else {}))
    parts = [heading(EDGE, 24, "what each node knows", ""), soft(EDGE, 44, total)]
    parts += [write(EDGE, FIRST + LINE * n, words, 12, mono=True, **look) for n, (words, look) in enumerate(lines)]
    width = max(6.4 * len(total), wide(head, 12)) + 2 * EDGE
    said = "\n".join([f"Split: {total}", *(words for words, _ in lines)])
    return figure_of(width, FIRST + LINE * len(lines), said, *parts)


def _say_total(split: Split, rows: Sequence[Sequence[NodeSplit]]) -> str:
    asking, nodes = (sum(map(len, part)) for part in ([row for row in rows if len(row[0].dependent)], rows))
    kept, dense = split.nbytes, split.dense_nbytes
    said = f"{counted(nodes, 'node')} over {len(split.vocabulary):,} tokens, {asking:,} with context-dependent tokens; "
    said += f"{kept:,} bytes kept, {share(kept / dense)} of a dense table's {dense:,}"
    return said + (f"; {len(rows) - MOST:,} more rows are not shown" if len(rows) > MOST else "")
