"""The whole vocabulary as a map: every token is a cell, legal tokens are sea and illegal ones land.

The cells of one kind are one small PNG used as an SVG mask, so that the colours remain those of the theme. Around them:
an outline of important cells, callouts of likely tokens, and an enlarged part.
"""

from __future__ import annotations

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

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import Step
from guidedviz.errors import expect, shorten
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write
from guidedviz.views.vocabulary.atlas import Atlas, Region, atlas, borders, settle
from guidedviz.views.words import label, shown_candidates

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
LARGE = 8.0  # around larger cells it is their edge, in ink


def draw_outline(grid: Mask, cell: float, colour: str, dashes: str) -> Element:
    """A line around the cells of a picture; `cell` is the width of a cell in pixels.

    >>> bool(draw_outline(np.zeros((2, 2), dtype=bool), 1.0, "gold", "none"))
    False
    """
    if not grid.any():
        return NOTHING
    line = "ink" if cell >= LARGE else colour
    path = borders(np.pad(widen(grid, 0 if cell >= LARGE else ceil(AROUND / cell)), 1))
    look = {"d": path, "fill": "none", "transform": f"scale({cell:.5g}) translate(-1 -1)", "class_": "gv-outline"}
    seam = node("path", **look, stroke="var(--gv-page)", stroke_width=f"{3.2 / cell:.3g}")
    dashed = {} if dashes == "none" else {"stroke_dasharray": " ".join(f"{int(n) / cell:.3g}" for n in dashes.split())}
    return seam + node("path", **look, stroke=f"var(--gv-{line})", stroke_width=f"{1.6 / cell:.3g}", **dashed)


def widen(grid: Mask, cells: int) -> Mask:
    """The cells and their neighbours within a distance."""
    spread = np.pad(grid, cells)
    for axis in (0, 1):
        spread = np.asarray(sliding_window_view(spread, 2 * cells + 1, axis).any(-1), dtype=np.bool_)
    return spread


# Callouts: the likeliest tokens of a step, each with a mark on its cell and a label above or below the map.
#
# There a label covers no cell. A thin line joins the two. A dot in a disc is a legal token, a cross in a square an
# illegal one. The page has the same placement in map-marks.js.


BAND = 32.0  # pixels above and below the map
LABEL_HIGH = 20.0  # of a label
LABEL_GAP = 8.0  # between two labels
SIGN = 14.0  # the width of the mark in a label
HALF = 5.5  # half of the width of the mark itself
SIZE = 12.0  # of the text
MOST_LETTERS = 16
LIKELY = 0.01  # a less likely token has no callout, unless it was chosen
READABLE = 20.0  # larger cells contain the text of their tokens: the mark is in their corner
Spots = Sequence[tuple[float, float, float]]  # x and y of a cell, and the width of its label


@dataclass(frozen=True)
class Callout:
    """A likely token, and the middle of its cell in cells."""

    x: float
    y: float
    name: str
    said: str
    legal: bool
    chosen: bool

    @property
    def width(self) -> float:
        """The width of its label."""
        return wide(f"{self.name} {self.said}", SIZE) + SIGN + 14


@dataclass(frozen=True)
class CalloutPlace:
    """Where a label is: the number of its callout, above (0) or below (1) the map, and its left edge."""

    callout: int
    band: int
    left: float


def callouts(made: Atlas, step: Step) -> tuple[Callout, ...]:
    """The chosen token and then the likely ones, the likeliest first; none where the model was not asked."""
    likely = [c for c in shown_candidates(step) if c.raw >= LIKELY or c.token == step.token]
    found = sorted(likely, key=lambda c: (c.token != step.token, -c.raw))
    places = (made.cells[made.rank[[c.token for c in found]]] + 0.5).tolist() if found else []
    return tuple(
        Callout(x, y, shorten(label(c.piece), MOST_LETTERS), probability(c.raw), c.legal, c.token == step.token)
        for c, (x, y) in zip(found, places, strict=True)
    )


def place_labels(spots: Spots, width: float, height: float) -> list[CalloutPlace]:
    """A place for each label, given as x and y of its cell and its own width, the most important first.

    A label is on the side that is nearer to its cell, or else on the other; one for which neither has room is left out.
    On each side they are in the order of their cells, so no two lines cross.

    >>> [(p.callout, p.band, p.left) for p in place_labels([(50, 10, 60), (60, 20, 60), (50, 90, 60)], 200, 100)]
    [(0, 0, 10.0), (1, 0, 78.0), (2, 1, 20.0)]
    """
    bands: tuple[list[int], list[int]] = ([], [])
    for number, (_, y, wanted) in enumerate(spots):
        near = int(y > height / 2)
        for band in (near, 1 - near):
            if sum(spots[other][2] + LABEL_GAP for other in bands[band]) + wanted <= width:
                bands[band].append(number)
                break
    return [
        place
        for band in (0, 1)
        for place in _place_row(spots, sorted(bands[band], key=lambda n: spots[n][0]), band, width)
    ]


def _place_row(spots: Spots, row: Sequence[int], band: int, width: float) -> list[CalloutPlace]:
    """The labels of one side without overlap; the largest distance from a cell is as small as possible."""
    if not row:
        return []
    x, _, sizes = np.array([spots[number] for number in row]).T
    before = np.cumsum(sizes + LABEL_GAP) - sizes - LABEL_GAP  # what the labels on the left need
    free = np.clip(x - sizes / 2 - before, 0, width - before[-1] - sizes[-1])
    right, left = np.maximum.accumulate(free), np.minimum.accumulate(free[::-1])[::-1]
    lefts = before + (right + left) / 2
    return [CalloutPlace(number, band, at) for number, at in zip(row, lefts.tolist(), strict=True)]


def draw_callouts(calls: Sequence[Callout], cell: float, height: float, width: float) -> tuple[Element, float, float]:
    """Lines, marks and labels of a map of this height, and the room that they need above and below it.

    Labels may be as far right as `width`.
    """
    corner = 0.5 * cell - 5 if cell >= READABLE else 0.0
    spots = [(call.x * cell + corner, call.y * cell - corner, call.width) for call in calls]
    places = place_labels(spots, width, height)
    lines = together(_line(*spots[place.callout], place, height) for place in places)
    marks = together(_mark(*spots[place.callout][:2], calls[place.callout].legal) for place in places)
    labels = together(_label(calls[place.callout], place, height) for place in places)
    above, below = (BAND if any(place.band == band for place in places) else 0.0 for band in (0, 1))
    return lines + marks + labels, above, below


def _line(x: float, y: float, wanted: float, place: CalloutPlace, height: float) -> Element:
    """From a cell straight to the edge of the map, and then to its label."""
    edge, end = (height, height + BAND - LABEL_HIGH) if place.band else (0.0, LABEL_HIGH - BAND)
    at = min(max(x, place.left + 4), place.left + wanted - 4)
    path = {"d": f"M{x:.5g} {y:.5g}V{edge:.5g}L{at:.5g} {end:.5g}", "fill": "none"}
    seam = node("path", **path, stroke="var(--gv-page)", stroke_width=3)
    return seam + node("path", **path, stroke="var(--gv-ink)", stroke_width=1)


def _mark(x: float, y: float, legal: bool) -> Element:
    """A dot in a disc, or a cross in a square."""
    look = {"fill": "var(--gv-page)", "stroke": "var(--gv-ink)"}
    if legal:
        dot = node("circle", cx=x, cy=y, r=3.5, fill="var(--gv-blue)")
        return node("circle", cx=x, cy=y, r=HALF, **look) + dot
    cross = {"d": f"M{x - 3:.5g} {y - 3:.5g}l6 6m0 -6l-6 6", "stroke": "var(--gv-orange)", "stroke_width": 2}
    return node("rect", x=x - HALF, y=y - HALF, width=2 * HALF, height=2 * HALF, **look) + node("path", **cross)


def _label(call: Callout, place: CalloutPlace, height: float) -> Element:
    top = height + BAND - LABEL_HIGH if place.band else -BAND
    colour = "ink" if call.chosen else "blue" if call.legal else "orange"
    look: dict[str, Any] = {"stroke": f"var(--gv-{colour})"}
    look |= {"stroke_width": 2} if call.chosen else {} if call.legal else {"stroke_dasharray": "3 2"}
    box = node("rect", x=place.left, y=top, width=call.width, height=LABEL_HIGH, rx=4, fill="var(--gv-page)", **look)
    x, base = place.left + 6 + SIGN, top + 14
    bold = {"font_weight": "bold"} if call.chosen else {}
    name = write(x, base, call.name, SIZE, mono=True, **bold)
    said = soft(x + wide(f"{call.name} ", SIZE), base, call.said, SIZE, mono=True)
    return box + _mark(place.left + 10, top + LABEL_HIGH / 2, call.legal) + name + said


def callout_legend(y: float) -> Element:
    """What the marks mean."""
    words = ("likely, legal", "likely, illegal")
    signs = [_mark(5 + 130 * n, y - 4, not n) + soft(16 + 130 * n, y, said) for n, said in enumerate(words)]
    return together(signs) + soft(276, y, "with the probability before the mask")


WIDTH, EDGE = 920.0, 16.0
LARGEST = 44.0  # pixels of a cell
FEW, DOT = 100, 8.0  # so few cells are marked by dots of this width


@dataclass(frozen=True)
class Kind:
    """The cells of one colour, in byte order, and their name."""

    name: str
    colour: str
    cells: Mask
    opacity: float = 1.0
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


def draw_xor(guide: Guide, a: Any, b: Any, title: str = "") -> Figure:
    """The tokens on which the masks of two states differ.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_xor(gv.guide(gv.regex(r"[0-9]+(\\.5)?"), v), 0, 1).text
    'Vocabulary map, q0 xor q1: 3 of 6 tokens differ: 0 legal only in q0, 3 only in q1; 2 legal in both'
    """
    check_guide(guide, "draw_xor, guide")
    expect(title, str, "draw_xor, title", "a text")
    made, names = atlas(guide.vocabulary), [shorten(guide.label(state), 24) for state in (a, b)]
    before, after = (made.ordered(guide.mask(state)) for state in (a, b))
    kinds = (
        Kind(f"only {names[0]}", "orange", before & ~after),
        Kind(f"only {names[1]}", "sea", after & ~before),
        Kind("both", "soft", before & after, 0.5),
        Kind("neither", "land", ~(before | after)),
    )
    only_a, only_b, both = (kind.count for kind in kinds[:3])
    said = f"{only_a + only_b:,} of {len(made):,} tokens differ: {only_a:,} legal only in {names[0]}, "
    said += f"{only_b:,} only in {names[1]}; {both:,} legal in both"
    head = f"{names[0]} ⊕ {names[1]}"
    return map_figure(made, kinds, title or head, f"Vocabulary map, {names[0]} xor {names[1]}: {said}", "")


def legal_kinds(mask: Mask) -> tuple[Kind, ...]:
    """The two kinds of a mask."""
    return Kind("legal", "sea", mask), Kind("illegal", "land", ~mask)


def say_mask(vocabulary: Vocabulary, mask: Mask) -> str:
    """The number of legal tokens, and whether the text may end."""
    count, ends = int(mask.sum()), sorted(vocabulary.eos)
    end = f", EOS {'legal' if mask[ends].any() else 'illegal'}" if ends else ""
    return f"{count:,} of {len(mask):,} tokens legal ({share(count / max(1, len(mask)))}){end}"


def share(part: float) -> str:
    """A percentage with two significant digits; it is 0% or 100% only if exact.

    >>> share(0.9637), share(0.5), share(0.0000312), share(0.0), share(0.99996)
    ('96%', '50%', '0.0031%', '0%', '>99.9%')
    """
    if 0.99 <= part < 1:
        return ">99.9%" if part > 0.999 else f"{100 * part:.1f}%"
    return f"{float(f'{100 * part:.2g}'):.10g}%"


def count_regions(made: Atlas, cells: Mask) -> Counter[str]:
    """How many of these cells each region has, for people who cannot see the map."""
    counts: Counter[str] = Counter()
    for place in made.regions:
        counts[place.name] += int(cells[place.start : place.stop].sum())
    return counts


def map_figure(
    made: Atlas, kinds: Sequence[Kind], title: str, text: str, more: str, inset: tuple[Element, float] = (NOTHING, 0.0)
) -> Figure:
    """A map as a figure."""
    svg, height = write_map(made, kinds, title, WIDTH - 2 * EDGE, inset=inset)
    alt = f"{text}. By place: {more}." if more else f"{text}."
    body = moved(EDGE, 24, svg)
    return Figure(drawing(WIDTH, height + 24, body, alt=alt), text, alt)


def write_map(
    made: Atlas,
    kinds: Sequence[Kind],
    title: str,
    width: float,
    calls: Sequence[Callout] = (),
    inset: tuple[Element, float] = (NOTHING, 0.0),
) -> tuple[Element, float]:
    """A map with a title above, an inset and a legend with counts below, and callouts around it; and its height."""
    cell = width_of_cell(made, width)
    high = cell * made.height
    about = f"{len(made):,} tokens in byte order along a Hilbert curve · {title}"
    head = heading(0, 0, "the whole vocabulary", about)
    names = _texts(made, kinds, cell) if cell >= READABLE else _names(made, kinds, cell)
    land = node("g", *(_stencil(made, kind) for kind in kinds), _lines(made, cell), transform=f"scale({cell:.5g})")
    for kind in kinds:
        land += draw_outline(made.grid(kind.cells) > 0, cell, kind.colour, kind.outline) if kind.outline else NOTHING
        land += together(_dots(made, kind, cell))
    around, above, below = draw_callouts(calls, cell, high, width)
    foot = high + above + below + inset[1] + 36
    legend = _legend(kinds, foot)
    if calls:
        legend, foot = legend + callout_legend(foot + 20), foot + 20
    return head + moved(0, 14 + above, land, *names, around, inset[0]) + legend, foot + 14


def width_of_cell(made: Atlas, width: float = WIDTH - 2 * EDGE) -> float:
    """The pixels of a cell on a map of this width."""
    return min(LARGEST, width / made.width)


def _dots(made: Atlas, kind: Kind, cell: float) -> Iterator[Element]:
    """Dots on cells that would be too few and too small to be visible."""
    if kind.colour == "land" or kind.outline or kind.count > FEW or cell >= DOT:
        return
    for x, y in ((made.cells[kind.cells] + 0.5) * cell).tolist():
        look = {"fill": f"var(--gv-{kind.colour})", "stroke": "var(--gv-page)", "opacity": kind.opacity}
        yield node("circle", cx=x, cy=y, r=DOT / 2, **look)


def _stencil(made: Atlas, kind: Kind) -> Element:
    """The cells of one kind: a rectangle of its colour behind a mask."""
    png = write_png(made.grid(kind.cells).astype(np.bool_))
    name = f"gv-{zlib.crc32(png):08x}"
    size = {"width": made.width, "height": made.height}
    address = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    image = node("image", href=address, **size, image_rendering="pixelated")
    hole = node("mask", image, id=name, maskUnits="userSpaceOnUse", x=0, y=0, **size)
    colour = {"fill": f"var(--gv-{kind.colour})", "opacity": kind.opacity}
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
    marked = np.logical_or.reduce([kind.cells for kind in kinds if kind.outline] or [np.zeros(len(made), np.bool_)])
    taken = widen(made.grid(marked) > 0, ceil(2 * AROUND / cell))
    return [
        write(p.x * cell, p.y * cell + 4, p.name, 12, text_anchor="middle", **ink_on(kinds, p.start, p.stop))
        for p in (_clear(made, place, taken, cell) for place in made.regions)
        if p.room * cell >= 6.2 * len(p.name)
    ]


def _clear(made: Atlas, place: Region, taken: Mask, cell: float) -> Region:
    """The region with its name beside the taken cells."""
    wide, high = 3.6 * len(place.name) / cell, 8 / cell
    rows, columns = (slice(max(0, int(at - half)), ceil(at + half)) for at, half in ((place.y, high), (place.x, wide)))
    if not place.room or not taken[rows, columns].any():
        return place
    return settle(made, place.name, place.start, place.stop, taken)


def ink_on(kinds: Sequence[Kind], start: int, stop: int) -> dict[str, Any]:
    """The text colour for the most frequent kind of these cells, with an outline in the colour of the cells."""
    ground = max(kinds, key=lambda kind: int(kind.cells[start:stop].sum())).colour
    ink, ground = {"land": ("ink", "land"), "sea": ("foam", "sea")}.get(ground, ("ink", "page"))
    seam = {"stroke": f"var(--gv-{ground})", "stroke_width": 3, "stroke_linejoin": "round", "paint_order": "stroke"}
    return {"fill": f"var(--gv-{ink})", **seam}


def _texts(made: Atlas, kinds: Sequence[Kind], cell: float) -> list[Element]:
    """The text of every token, on a map of a small vocabulary."""
    parts = []
    for rank, token in enumerate(made.order.tolist()):
        x, y = ((made.cells[rank] + 0.5) * cell).tolist()
        words = shorten(label(made.vocabulary.pieces[token]), int(cell // 7))
        look = {"text_anchor": "middle", **ink_on(kinds, rank, rank + 1)}
        parts.append(write(x, y + 4, words, 12, mono=True, **look))
    return parts


def _legend(kinds: Sequence[Kind], y: float) -> Element:
    parts, x = [], 0.0
    for kind in kinds:
        words = f"{kind.name} {kind.count:,}"
        colour = {"fill": f"var(--gv-{kind.colour})", "opacity": kind.opacity}
        line = {"stroke": "var(--gv-ink)", "stroke_dasharray": kind.outline} if kind.outline else {}
        parts.append(node("rect", x=x, y=y - 9, width=10, height=10, rx=2, **colour, **line))
        parts.append(soft(x + 16, y, words))
        x += 34 + 6.6 * len(words)
    return together(parts)


# A part of the map enlarged, with the text of every token: the part that has most of the outlined cells.


COLUMNS, ROWS = 12, 5  # cells that are enlarged, at most
ZOOM_HIGH = 24.0  # of an enlarged cell
ZOOM_GAP = 22.0  # between the map and the enlarged part


def draw_zoom(made: Atlas, kinds: Sequence[Kind]) -> tuple[Element, float]:
    """The enlarged part below a map, a frame around it on the map, and its height; nothing where it is not needed."""
    cell = width_of_cell(made)
    outlined = np.logical_or.reduce([kind.cells for kind in kinds if kind.outline])
    if cell >= READABLE or not outlined.any():
        return NOTHING, 0.0
    left, top, wide, high = find_window(made.grid(outlined) > 0)
    column, row = made.cells.T
    inside = np.flatnonzero((left <= column) & (column < left + wide) & (top <= row) & (row < top + high))
    long, start = (WIDTH - 2 * EDGE) / wide, made.height * cell + ZOOM_GAP
    parts = [_frame(left * cell, top * cell, wide * cell, high * cell, start)]
    for rank in inside.tolist():
        kind = next(kind for kind in reversed(kinds) if kind.cells[rank])
        x, y = long * float(column[rank] - left), start + ZOOM_HIGH * float(row[rank] - top)
        parts.append(_cell(made, kinds, kind, rank, (x, y, long)))
    foot, shown = start + ZOOM_HIGH * high, outlined[inside].sum()
    said = f"enlarged: {shown:,} of the {outlined.sum():,} outlined cells, each with the text of its token"
    parts.append(soft(0, foot + 16, said))
    return together(parts), ZOOM_GAP + ZOOM_HIGH * high + 24


def find_window(grid: Mask) -> tuple[int, int, int, int]:
    """Left, top, width and height of the part of a picture that has most of the cells.

    >>> find_window(np.pad(np.ones((2, 3), dtype=bool), ((20, 3), (30, 9))))
    (25, 18, 12, 5)
    """
    high, wide = min(ROWS, grid.shape[0]), min(COLUMNS, grid.shape[1])
    sums = sliding_window_view(grid, (high, wide)).sum((2, 3))
    best = np.argwhere(sums == sums.max())
    top, left = best[((best - best.mean(0)) ** 2).sum(1).argmin()].tolist()
    return left, top, wide, high


def _frame(x: float, y: float, width: float, height: float, start: float) -> Element:
    """The frame on the map, and two lines from it to the enlarged part."""
    box = node("rect", x=x, y=y, width=width, height=height, fill="none", stroke="var(--gv-ink)", stroke_width=2)
    way = f"M{x:.5g} {y + height:.5g}L0 {start:.5g}M{x + width:.5g} {y + height:.5g}L{WIDTH - 2 * EDGE:.5g} {start:.5g}"
    line = node("path", d=way, fill="none", stroke="var(--gv-ink)", stroke_width=1, opacity=0.55)
    return line + box


def _cell(made: Atlas, kinds: Sequence[Kind], kind: Kind, rank: int, place: tuple[float, float, float]) -> Element:
    """An enlarged cell with the text of its token."""
    x, y, long = place
    size = {"x": x + 1, "y": y + 1, "width": long - 2, "height": ZOOM_HIGH - 2, "rx": 3}
    dashes = {"stroke_dasharray": kind.outline} if kind.outline not in ("", "none") else {}
    line = {"stroke": f"var(--gv-{kind.colour})", "stroke_width": 2.4} | dashes if kind.outline else {}
    box = node("rect", **size, fill=f"var(--gv-{kind.colour})", fill_opacity=0.3 if line else kind.opacity, **line)
    words = shorten(label(made.vocabulary.pieces[made.order[rank]]), int(long / 7))
    ink = {"font_weight": "bold"} if line else ink_on(kinds, rank, rank + 1)
    return box + write(x + long / 2, y + ZOOM_HIGH / 2 + 4, words, 11, mono=True, text_anchor="middle", **ink)
