"""The whole vocabulary as a map: every token is a cell, legal tokens are sea and illegal ones land.

The cells of one kind are one small PNG used as an SVG mask, so that the colours remain those of the theme. Important
cells have an outline, and below the map they are enlarged.
"""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

import numpy as np

from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import name_node
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.split import Split
from guidedviz.tokens.verdicts import DEPENDENT
from guidedviz.views.figure import Figure, drawing, heading, moved, rect, soft, write, write_legend
from guidedviz.views.vocabulary.atlas import Atlas, Region, atlas
from guidedviz.views.vocabulary.kinds import (
    SOLID,
    Kind,
    _independent,
    count_regions,
    ink_on,
    legal_kinds,
    outlined_cells,
    say_kinds,
    say_mask,
)
from guidedviz.views.vocabulary.outline import AROUND, draw_outline, widen
from guidedviz.views.vocabulary.stencil import write_stencil
from guidedviz.views.words import label

READABLE = 20.0  # larger cells contain the text of their tokens
WIDTH, EDGE = 920.0, 16.0
LARGEST = 44.0  # pixels of a cell
FEW, DOT = 100, 8.0  # so few cells are marked by dots of this width


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
    land = node("g", *(write_stencil(made, kind) for kind in kinds), _lines(made, cell), transform=f"scale({cell:.5g})")
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
