"""The bytes of a forced run from left to right, with an arc above them for each token that can spell a part of it.

Each spelling is a path of arcs from the left end to the right end. Paths share arcs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.spellings import Spellings
from guidedviz.machines.visible import byte_name, counted, visible
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import soft, write

MOST = 48  # bytes that are drawn
FAINT = 0.001  # a less likely arc is drawn only if it is canonical
LEFT, SPAN, PITCH, BEYOND = 16.0, 600.0, 44.0, 44.0
HIGH, BOX, THICK = 90.0, 28.0, 12.0
SIGNS = {"canonical": ("★", "green"), "longest": ("▲", "gold"), "forced": ("»", "orange")}
EDGE: Any = {"paint_order": "stroke", "stroke": "var(--gv-page)", "stroke_width": 3}  # of a sign on an arc
Span = tuple[int, int]


@dataclass(frozen=True)
class Scale:
    """The positions of the bytes of a run."""

    size: int  # bytes
    beyond: bool  # whether some token ends beyond them

    @property
    def shown(self) -> int:
        """The number of bytes that are drawn."""
        return min(self.size, MOST)

    @property
    def pitch(self) -> float:
        """The width of a byte."""
        return min(PITCH, SPAN / self.shown)

    def x(self, at: int) -> float:
        """The left end of a byte; all positions after the last byte are one.

        >>> scale = Scale(4, True)
        >>> scale.x(0), scale.x(4), scale.x(5), scale.x(9)
        (16.0, 192.0, 236.0, 236.0)
        """
        return LEFT + self.pitch * min(at, self.shown) + (BEYOND if at > self.shown else 0)

    @property
    def end(self) -> float:
        """The right end of the bytes."""
        more = self.beyond or self.size > self.shown
        return self.x(self.size) + (BEYOND + 16 if more else 0)


def spans(pieces: Sequence[bytes]) -> list[Span]:
    """The first byte and the end of each token.

    >>> spans([b"or", b"der"])
    [(0, 2), (2, 5)]
    """
    return list(pairwise(accumulate(map(len, pieces), initial=0)))


def find_flows(record: Spellings) -> dict[Span, float]:
    """The probability that passes through each span of bytes; a span beyond the run ends one byte after it.

    >>> toy = gv.ToyModel([b"a", b"b", b"ab", b";"], lambda tokens: [0, 0, 0, 0])
    >>> find_flows(gv.spellings(toy, ";", gv.guide(gv.regex("ab;"), toy.vocabulary)))
    {(0, 1): 0.5, (1, 2): 0.5, (2, 3): 1.0, (0, 2): 0.5}
    """
    flows: dict[Span, float] = {}
    for part in record.spellings + record.open:
        for start, end in spans(part.pieces):
            span = start, min(end, len(record.run) + 1)
            flows[span] = flows.get(span, 0.0) + part.probability
    return flows


def draw_arcs(record: Spellings, scale: Scale, top: float) -> tuple[list[Element], float]:
    """The arcs, thin ones first and canonical ones last, and the y of their feet."""
    own = set(spans(record.canonical.pieces)) if record.canonical else set()
    flows = {s: p for s, p in find_flows(record).items() if s[0] < scale.shown and (p >= FAINT or s in own)}
    order = sorted(flows, key=lambda span: (span in own, flows[span]))
    ground = top + max((_height(span, scale) for span in order), default=0.0) + 34  # the sign above the highest
    return [_arc(record.run, span, flows[span], span in own, scale, ground) for span in order], ground


def _height(span: Span, scale: Scale) -> float:
    """The height of an arc; an arc beyond the run passes above the signs."""
    return min(HIGH, 10 + 0.32 * (scale.x(span[1]) - scale.x(span[0]))) + (22 if span[1] > scale.size else 0)


def _arc(run: bytes, span: Span, p: float, canonical: bool, scale: Scale, ground: float) -> Element:
    """All tokens with these bytes at this place; an arc beyond the run is dashed."""
    thick = 1.2 + min(THICK, 0.3 * scale.pitch) * p
    left, right = scale.x(span[0]) + 1.5 + thick / 2, scale.x(span[1]) - 1.5 - thick / 2
    up, beyond = _height(span, scale), span[1] > len(run)
    far = ground - up / 0.75  # the top of such a Bézier curve is at three quarters of its handles
    way = f"M{left:.5g},{ground:g}C{left:.5g},{far:.5g} {right:.5g},{far:.5g} {right:.5g},{ground:g}"
    look = {"stroke": f"var(--gv-{'green' if canonical else 'blue'})", "opacity": round(0.45 + 0.5 * p, 2)}
    dash = {"stroke_dasharray": "11 5"} if beyond else {}
    title = node("title", f"{visible(run[slice(*span)])}{'…' if beyond else ''}: {probability(p, 3)}")
    sign = draw_sign((left + right) / 2, ground - up - thick / 2 - 4, "canonical") if canonical else NOTHING
    return node("g", title, node("path", d=way, fill="none", stroke_width=thick, **look, **dash), sign)


def draw_sign(x: float, y: float, name: str) -> Element:
    """The sign of a named spelling."""
    sign, colour = SIGNS[name]
    return write(x, y, sign, 14, text_anchor="middle", fill=f"var(--gv-{colour})", **EDGE)


def draw_boxes(run: bytes, scale: Scale, ground: float) -> Iterator[Element]:
    """One box per byte, and one for bytes beyond the run or not shown."""
    for at in range(scale.shown):
        box = _box(scale.x(at), scale.pitch, ground, fill="var(--gv-card)", stroke="var(--gv-line)")
        yield node("g", node("title", f"byte {at}: {byte_name(run[at])}"), box)
    yield from _letters(run[: scale.shown], scale, ground + 22)
    x = scale.x(scale.shown)
    if scale.size > scale.shown:
        yield soft(x + 6, ground + 22, f"+{counted(scale.size - scale.shown, 'byte')}")
    elif scale.beyond:
        yield _box(x, BEYOND, ground, fill="none", stroke="var(--gv-soft)", stroke_dasharray="5 3")
        yield soft(x + BEYOND / 2, ground + 20, "…", 14, text_anchor="middle")


def _box(x: float, width: float, ground: float, **look: str) -> Element:
    return node("rect", x=x + 1, y=ground + 3, width=width - 2, height=BOX, rx=3, **look)


def _letters(data: bytes, scale: Scale, y: float) -> Iterator[Element]:
    """Each character in the middle of its bytes; a character with a long name is a box."""
    at = 0
    for character in data.decode("utf-8", "surrogateescape"):
        raw = character.encode("utf-8", "surrogateescape")
        name, x = visible(raw), (scale.x(at) + scale.x(at + len(raw))) / 2
        yield write(x, y, name if len(name) == 1 else "▯", 14, mono=True, text_anchor="middle")
        at += len(raw)
