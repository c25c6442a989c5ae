"""The whole vocabulary as a map: every token is a cell, legal tokens are sea and illegal ones land.

The cells of one kind are one small PNG used as an SVG mask, so that the colours remain those of the theme.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from guidedviz.errors import expect, shorten
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, write
from guidedviz.views.vocabulary.atlas import Atlas, Region, atlas, settle
from guidedviz.views.vocabulary.callouts import Callout, callout_legend, draw_callouts
from guidedviz.views.vocabulary.outline import AROUND, draw_outline, widen
from guidedviz.views.vocabulary.png import as_address, write_png
from guidedviz.views.words import label

WIDTH, EDGE = 920.0, 16.0
LARGEST = 44.0  # pixels of a cell
READABLE = 20.0  # larger cells contain the text of their tokens
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
    return map_figure(made, legal_kinds(made.ordered(mask)), title or name, text, _by_place(made, mask))


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
    kinds = xor_kinds(before, after, *names)
    only_a, only_b, both = (kind.count for kind in kinds[:3])
    said = f"{only_a + only_b:,} of {len(made):,} tokens differ: {only_a:,} legal only in {names[0]}, "
    said += f"{only_b:,} only in {names[1]}; {both:,} legal in both"
    head = f"{names[0]} ⊕ {names[1]}"
    return map_figure(made, kinds, title or head, f"Vocabulary map, {names[0]} xor {names[1]}: {said}", "")


def legal_kinds(mask: Mask) -> tuple[Kind, ...]:
    """The two kinds of a mask."""
    return Kind("legal", "sea", mask), Kind("illegal", "land", ~mask)


def xor_kinds(a: Mask, b: Mask, first: str, second: str) -> tuple[Kind, ...]:
    """The four kinds of two masks."""
    return (
        Kind(f"only {first}", "orange", a & ~b),
        Kind(f"only {second}", "sea", b & ~a),
        Kind("both", "soft", a & b, 0.5),
        Kind("neither", "land", ~(a | b)),
    )


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


def _by_place(made: Atlas, mask: Mask) -> str:
    """The number of legal tokens of every region, for people who cannot see the map."""
    sums = np.concatenate([[0], made.ordered(mask).cumsum()])
    counts: dict[str, list[int]] = {}
    for place in made.regions:
        found = counts.setdefault(place.name, [0, 0])
        found[0] += int(sums[place.stop] - sums[place.start])
        found[1] += len(place)
    return ", ".join(f"{name} {legal:,} of {count:,}" for name, (legal, count) in counts.items())


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
    image = node("image", href=as_address(png), **size, image_rendering="pixelated")
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
