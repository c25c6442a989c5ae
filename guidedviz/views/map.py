"""The whole vocabulary as a map: every token is a cell, and a mask is land and sea.

The cells of one kind travel as one small picture that serves as a stencil, so that the colours stay the theme's.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.tokens.guide import Guide, Mask
from guidedviz.views.atlas import Atlas, atlas
from guidedviz.views.figure import Figure, drawing, node, shorten, write
from guidedviz.views.png import as_address, write_png
from guidedviz.views.shore import draw_shore
from guidedviz.views.words import label

WIDTH, EDGE = 920.0, 16.0
LARGEST = 44.0  # pixels of a cell
READABLE = 20.0  # from here on a cell has room for its token's text
FEW, DOT = 100, 8.0  # so few cells get a dot each, of this width


@dataclass(frozen=True)
class Kind:
    """The cells of one colour: what they are called, and which they are, in byte order."""

    name: str
    colour: str
    cells: Mask
    opacity: float = 1.0
    shore: str = ""  # the dashes of a line around them; none where they have no line

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.cells.sum())


def draw_map(guide: Guide, state: Any = None, title: str = "") -> Figure:
    """Which tokens are legal in a state, the initial one by default: all of the vocabulary at a glance.

    >>> import guidedviz as gv
    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_map(gv.guide(gv.regex("[0-9]+"), v)).text
    'Vocabulary map, q0: 2 of 6 tokens legal (33%), EOS illegal'
    """
    state = guide.initial if state is None else state
    made, mask = atlas(guide.vocabulary), guide.mask(state)
    name = shorten(guide.label(state), 40)
    text = f"Vocabulary map, {name}: {say_mask(guide, mask)}"
    return map_figure(made, legal_kinds(made.ordered(mask)), title or name, text, _by_place(made, mask))


def draw_xor(guide: Guide, a: Any, b: Any, title: str = "") -> Figure:
    """Where the masks of two states differ.

    >>> import guidedviz as gv
    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_xor(gv.guide(gv.regex(r"[0-9]+(\\.5)?"), v), 0, 1).text
    'Vocabulary map, q0 xor q1: 3 of 6 tokens differ: 0 legal only in q0, 3 only in q1; 2 legal in both'
    """
    made, names = atlas(guide.vocabulary), [shorten(guide.label(state), 24) for state in (a, b)]
    before, after = (made.ordered(guide.mask(state)) for state in (a, b))
    kinds = xor_kinds(before, after, *names)
    only_a, only_b, both = (kind.count for kind in kinds[:3])
    said = f"{only_a + only_b:,} of {len(made):,} tokens differ: {only_a:,} legal only in {names[0]}, "
    said += f"{only_b:,} only in {names[1]}; {both:,} legal in both"
    head = f"{names[0]} ⊕ {names[1]}"
    return map_figure(made, kinds, title or head, f"Vocabulary map, {names[0]} xor {names[1]}: {said}", "")


def legal_kinds(mask: Mask) -> tuple[Kind, ...]:
    """Land and sea."""
    return Kind("legal", "sea", mask), Kind("illegal", "land", ~mask)


def xor_kinds(a: Mask, b: Mask, first: str, second: str) -> tuple[Kind, ...]:
    """Four kinds of cells; the two that differ stand out."""
    return (
        Kind(f"only {first}", "orange", a & ~b),
        Kind(f"only {second}", "sea", b & ~a),
        Kind("both", "soft", a & b, 0.5),
        Kind("neither", "land", ~(a | b)),
    )


def say_mask(guide: Guide, mask: Mask) -> str:
    """How many tokens are legal, and whether the text may end."""
    count, ends = int(mask.sum()), sorted(guide.vocabulary.eos)
    end = f", EOS {'legal' if mask[ends].any() else 'illegal'}" if ends else ""
    return f"{count:,} of {len(mask):,} tokens legal ({share(count / max(1, len(mask)))}){end}"


def share(part: float) -> str:
    """A share of the whole as a percentage with two digits that count, and never a zero that is none.

    >>> share(0.9637), share(0.5), share(0.0000312), share(0.0), share(0.99996)
    ('96%', '50%', '0.0031%', '0%', '>99.9%')
    """
    if 0.99 <= part < 1:
        return ">99.9%" if part > 0.999 else f"{100 * part:.1f}%"
    return f"{float(f'{100 * part:.2g}'):.10g}%"


def _by_place(made: Atlas, mask: Mask) -> str:
    """The legal tokens of every place, for a person who hears the map."""
    sums = np.concatenate([[0], made.ordered(mask).cumsum()])
    counts: dict[str, list[int]] = {}
    for place in made.places:
        found = counts.setdefault(place.name, [0, 0])
        found[0] += int(sums[place.stop] - sums[place.start])
        found[1] += len(place)
    return ", ".join(f"{name} {legal:,} of {count:,}" for name, (legal, count) in counts.items())


def map_figure(made: Atlas, kinds: Sequence[Kind], title: str, text: str, more: str) -> Figure:
    """The map of a few kinds of cells as a figure."""
    svg, height = write_map(made, kinds, title, WIDTH - 2 * EDGE)
    alt = f"{text}. By place: {more}." if more else f"{text}."
    body = node("g", svg, transform=f"translate({EDGE:g} 24)")
    return Figure(drawing(WIDTH, height + 24, body, alt=alt), text, alt)


def write_map(made: Atlas, kinds: Sequence[Kind], title: str, width: float) -> tuple[str, float]:
    """The map below a line of words, what its colours mean and how many there are of each below it; and its height."""
    cell = min(LARGEST, width / made.width)
    high = cell * made.height
    about = f"{len(made):,} tokens in byte order along a Hilbert curve · {title}"
    head = write(0, 0, "the whole vocabulary", 13, font_weight="bold")
    head += write(164, 0, about, 13, fill="var(--gv-soft)")
    names = _texts(made, kinds, cell) if cell >= READABLE else _names(made, kinds, cell)
    land = node("g", *(_stencil(made, kind) for kind in kinds), _lines(made, cell), transform=f"scale({cell:.5g})")
    land += "".join(
        draw_shore(made.grid(kind.cells) > 0, cell, kind.colour, kind.shore) for kind in kinds if kind.shore
    )
    land += "".join(dot for kind in kinds for dot in _dots(made, kind, cell))
    map_ = node("g", land, *names, transform="translate(0 14)")
    return head + map_ + _legend(kinds, high + 36), high + 50


def _dots(made: Atlas, kind: Kind, cell: float) -> Iterator[str]:
    """A few cells in a wide land would not be seen: each gets a dot, as a small town does."""
    if kind.colour == "land" or kind.shore or kind.count > FEW or cell >= DOT:
        return
    for x, y in ((made.cells[kind.cells] + 0.5) * cell).tolist():
        look = {"fill": f"var(--gv-{kind.colour})", "stroke": "var(--gv-page)", "opacity": kind.opacity}
        yield node("circle", cx=x, cy=y, r=DOT / 2, **look)


def _stencil(made: Atlas, kind: Kind) -> str:
    """One colour through the holes of one picture."""
    png = write_png(made.grid(kind.cells).astype(np.bool_))
    name = f"gv-{zlib.crc32(png):08x}"
    size = {"width": made.width, "height": made.height}
    image = node("image", href=as_address(png), **size, style="image-rendering:pixelated")
    hole = node("mask", image, id=name, maskUnits="userSpaceOnUse", x=0, y=0, **size)
    colour = {"fill": f"var(--gv-{kind.colour})", "opacity": kind.opacity}
    return hole + node("rect", **size, **colour, mask=f"url(#{name})")


def _lines(made: Atlas, cell: float) -> str:
    """The borders of places, and in a small map those of cells."""
    look = {"fill": "none", "stroke": "var(--gv-page)"}
    borders = node("path", d=made.borders, **look, stroke_width=1.2 / cell, opacity=0.7)
    if cell < READABLE:
        return borders
    cells = "".join(f"M{x} 0v{made.height}" for x in range(made.width + 1))
    cells += "".join(f"M0 {y}h{made.width}" for y in range(made.height + 1))
    return node("path", d=cells, **look, stroke_width=0.05) + _thread(made)


def _thread(made: Atlas) -> str:
    """The curve itself, so that the order of the bytes can be followed."""
    points = " ".join(f"{x + 0.5:g},{y + 0.5:g}" for x, y in made.cells.tolist())
    look = {"fill": "none", "stroke": "var(--gv-page)", "stroke_width": 0.05, "opacity": 0.6}
    return node("polyline", points=points, **look)


def _names(made: Atlas, kinds: Sequence[Kind], cell: float) -> list[str]:
    return [
        write(p.x * cell, p.y * cell + 4, p.name, 11, text_anchor="middle", **_ink(kinds, p.start, p.stop))
        for p in made.places
        if p.room * cell >= 6.2 * len(p.name)
    ]


def _ink(kinds: Sequence[Kind], start: int, stop: int) -> dict[str, Any]:
    """Text in a colour that reads on what most cells here are, with a seam of that ground around it."""
    ground = max(kinds, key=lambda kind: int(kind.cells[start:stop].sum())).colour
    ink, ground = {"land": ("ink", "land"), "sea": ("foam", "sea")}.get(ground, ("ink", "page"))
    seam = {"stroke": f"var(--gv-{ground})", "stroke_width": 3, "stroke_linejoin": "round", "paint_order": "stroke"}
    return {"fill": f"var(--gv-{ink})", **seam}


def _texts(made: Atlas, kinds: Sequence[Kind], cell: float) -> list[str]:
    """In a small vocabulary every cell has room for its token."""
    parts = []
    for rank, token in enumerate(made.order.tolist()):
        x, y = ((made.cells[rank] + 0.5) * cell).tolist()
        words = shorten(label(made.vocabulary.pieces[token]), int(cell // 7))
        look = {"text_anchor": "middle", **_ink(kinds, rank, rank + 1)}
        parts.append(write(x, y + 4, words, 11, mono=True, **look))
    return parts


def _legend(kinds: Sequence[Kind], y: float) -> str:
    parts, x = [], 0.0
    for kind in kinds:
        words = f"{kind.name} {kind.count:,}"
        colour = {"fill": f"var(--gv-{kind.colour})", "opacity": kind.opacity}
        line = {"stroke": "var(--gv-ink)", "stroke_dasharray": kind.shore} if kind.shore else {}
        parts.append(node("rect", x=x, y=y - 9, width=10, height=10, rx=2, **colour, **line))
        parts.append(write(x + 16, y, words, 12, fill="var(--gv-soft)"))
        x += 34 + 6.6 * len(words)
    return "".join(parts)
