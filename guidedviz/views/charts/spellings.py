"""The spellings of a forced run as a lattice, and a table of the likeliest with their probabilities.

The bytes stand from left to right. An arc above them is a token that can spell a part of the run, and a spelling is a
path of arcs from the left end to the right end. Paths share arcs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.spellings import Spelling, Spellings
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, drawing, soft, write, write_box
from guidedviz.views.words import characters, label, write_badge

MOST = 48  # bytes that are drawn
FAINT = 0.001  # a less likely arc is drawn only if it is canonical
LEFT, SPAN, PITCH, BEYOND_WIDE = 16.0, 600.0, 44.0, 44.0
HIGH, BOX, THICK = 90.0, 28.0, 12.0
ROWS, ROW, TOP, BAR = 8, 25.0, 84.0, 80.0
SIGNS = {"canonical": ("★", "green"), "longest": ("▲", "gold")}
HOW = "an arc is a token over its bytes, as thick as the probability that passes through it"
BEYOND = "; a dashed one goes beyond the run"
Span = tuple[int, int]  # the first byte of a token and its end


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

    def x(self, at: float) -> float:
        """The left end of a byte; all positions after the last byte are one.

        >>> scale = Scale(4, True)
        >>> scale.x(0), scale.x(4), scale.x(5), scale.x(9)
        (16.0, 192.0, 236.0, 236.0)
        """
        return LEFT + self.pitch * min(at, self.shown) + (BEYOND_WIDE if at > self.shown else 0)


def draw_spellings(record: Spellings) -> Figure:
    """The lattice of the tokens, and a table of the likeliest spellings and of those with a name.

    >>> toy = gv.ToyModel([b"a", b"b", b"ab", b";"], lambda tokens: [0, 0, 1, 0])
    >>> found = gv.spellings(toy, ";", gv.guide(gv.regex("ab;"), toy.vocabulary))
    >>> print(draw_spellings(found).text)
    spellings of ab; by toy, TOY: 2 end with the run; 2 looked at in 4 passes
    ab ;   0.731  0.31 nats  canonical, longest
    a b ;  0.269  1.31 nats
    """
    expect(record, Spellings, "draw_spellings", "spellings", "gv.spellings(model, prompt, guide)")
    rows, scale = spelling_rows(record), Scale(len(record.run), record.count_beyond > 0)
    how, left_out, counts = HOW + BEYOND * scale.beyond, _say_left_out(record, rows), _say_counts(record)
    arcs, ground = _arcs(record, scale)
    numbers = max(scale.x(scale.size) + (BEYOND_WIDE + 16) * (scale.beyond or scale.size > MOST), 100.0) + 104
    source = record.source, record.model, record.device, record.vocabulary_size, record.date
    parts = [write_badge(LEFT, 24, *source), soft(LEFT, 66, counts), soft(LEFT, TOP, how)]
    parts.append(write(LEFT, 47, f"the spellings of {shorten(label(record.run), 40)}", 13, font_weight="bold"))
    parts += [*arcs, *_boxes(record.run, scale, ground)]
    y = ground + 52
    for x, words, anchor in ((LEFT, "spelling", "start"), (numbers, "p", "end"), (numbers + BAR + 66, "nats", "end")):
        parts.append(soft(x, y, words, text_anchor=anchor))
    source_words = f", {record.source}" * (record.source != "LIVE")  # a saved notebook is not live any more
    lines = [f"spellings of {shorten(label(record.run), 60)} by {record.model}{source_words}: {counts}"]
    spelled = [" ".join(map(label, row.pieces)) for row in rows]
    longest, y, broad = max(map(len, spelled), default=0), y + 20, 0.0
    for words, row in zip(spelled, rows, strict=True):
        odds, nats, names = probability(row.probability, 3), _say_cost(row), _names(row)
        lines.append(f"{words:{longest}}  {odds}  {nats} nats  {', '.join(names)}".rstrip())
        parts += _blocks(row, scale, y, SIGNS[names[0]][1] if names else "")
        long = {"width": max(0.5, BAR * row.probability), "height": 9, "fill": "var(--gv-blue)"}
        parts += [
            write(numbers, y + 5, odds, 13, True, text_anchor="end"),
            node("rect", x=numbers + 10, y=y - 4, **long),
        ]
        parts.append(write(numbers + BAR + 66, y + 5, nats, 13, mono=True, text_anchor="end"))
        x = numbers + BAR + 94
        for name in names:
            parts += [_sign(name, x, y + 5), write(x + 12, y + 5, name, 13)]
            x += 40 + 7.2 * len(name)
        y, broad = y + ROW, max(broad, x)
    parts += [soft(LEFT, y + 10 + 18 * n, words) for n, words in enumerate(left_out)]
    width = max(broad, numbers + BAR + 80, *(6.4 * len(words) for words in (counts, how, *left_out))) + 2 * LEFT
    text = "\n".join([*lines, *left_out])
    return Figure(drawing(width, y + 14 + 18 * len(left_out), *parts, alt=text.replace("\n", ". ")), text, text)


def find_spans(pieces: Sequence[bytes]) -> list[Span]:
    """The first byte and the end of each token.

    >>> find_spans([b"or", b"der"])
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
        for start, end in find_spans(part.pieces):
            span = start, min(end, len(record.run) + 1)
            flows[span] = flows.get(span, 0.0) + part.probability
    return flows


def spelling_rows(record: Spellings) -> tuple[Spelling, ...]:
    """The likeliest spellings, and every spelling with a name."""
    named = [one for one in record.spellings if _names(one)]
    others = [one for one in record.spellings if not _names(one)][: ROWS - len(named)]
    return tuple(sorted(named + others, key=lambda one: -one.probability))


def _names(spelling: Spelling) -> list[str]:
    told = (spelling.canonical, spelling.longest)
    return [name for name, is_so in zip(SIGNS, told, strict=True) if is_so]


def _say_cost(spelling: Spelling) -> str:
    return f"{spelling.cost + 0.0:.2f}" if spelling.probability else "∞"


def _arcs(record: Spellings, scale: Scale) -> tuple[list[Element], float]:
    """The arcs, thin ones first and canonical ones last, and the y of their feet."""
    own = set(find_spans(record.canonical.pieces)) if record.canonical else set()
    flows = {s: p for s, p in find_flows(record).items() if s[0] < scale.shown and (p >= FAINT or s in own)}

    def height(span: Span) -> float:  # an arc beyond the run passes above the signs
        return min(HIGH, 10 + 0.32 * (scale.x(span[1]) - scale.x(span[0]))) + 22 * (span[1] > scale.size)

    ground, arcs = TOP + max(map(height, flows), default=0.0) + 34, []  # the sign above the highest
    for span, p in sorted(flows.items(), key=lambda flow: (flow[0] in own, flow[1])):
        thick, up, beyond = 1.2 + min(THICK, 0.3 * scale.pitch) * p, height(span), span[1] > scale.size
        left, right = scale.x(span[0]) + 1.5 + thick / 2, scale.x(span[1]) - 1.5 - thick / 2
        far = ground - up / 0.75  # the top of such a Bézier curve is at three quarters of its handles
        way = f"M{left:.5g},{ground:g}C{left:.5g},{far:.5g} {right:.5g},{far:.5g} {right:.5g},{ground:g}"
        look = {"stroke": f"var(--gv-{'green' if span in own else 'blue'})", "opacity": round(0.45 + 0.5 * p, 2)}
        look |= {"stroke_dasharray": "11 5"} if beyond else {}
        title = node("title", f"{visible(record.run[slice(*span)])}{'…' * beyond}: {probability(p, 3)}")
        sign = _sign("canonical", (left + right) / 2, ground - up - thick / 2 - 4) if span in own else NOTHING
        arcs.append(node("g", title, node("path", d=way, fill="none", stroke_width=thick, **look), sign))
    return arcs, ground


def _sign(name: str, x: float, y: float) -> Element:
    """The sign of a named spelling."""
    sign, colour = SIGNS[name]
    halo: Any = {"paint_order": "stroke", "stroke": "var(--gv-page)", "stroke_width": 3}  # it may stand on an arc
    return write(x, y, sign, 14, text_anchor="middle", fill=f"var(--gv-{colour})", **halo)


def _boxes(run: bytes, scale: Scale, ground: float) -> Iterator[Element]:
    """One box per byte with its character, and one for bytes beyond the run or not shown."""
    for at in range(scale.shown):
        yield write_box(scale.x(at) + 1, ground + 3, scale.pitch - 2, BOX, stroke="var(--gv-line)")
    for middle, name in characters(run[: scale.shown], 12.0):
        yield write(scale.x(middle), ground + 22, name, 14, mono=True, text_anchor="middle")
    x = scale.x(scale.shown)
    if scale.size > scale.shown:
        yield soft(x + 6, ground + 22, f"+{counted(scale.size - scale.shown, 'byte')}")
    elif scale.beyond:
        dashed: Any = {"fill": "none", "stroke": "var(--gv-soft)", "stroke_dasharray": "5 3"}
        yield write_box(x + 1, ground + 3, BEYOND_WIDE - 2, BOX, "…", **dashed)


def _blocks(row: Spelling, scale: Scale, y: float, colour: str) -> Iterator[Element]:
    """One block per token of a spelling, below its bytes."""
    look: Any = {"stroke": f"var(--gv-{colour or 'soft'})", "stroke_width": 1.8 if colour else 1, "fill": "none"}
    for piece, (start, end) in zip(row.pieces, find_spans(row.pieces), strict=True):
        if start < scale.shown:
            dash: Any = {"stroke_dasharray": "5 3"} if end > scale.size else {}
            width = scale.x(end) - scale.x(start) - 3
            yield write_box(scale.x(start) + 1.5, y - 10, width, ROW - 5, label(piece), **look, **dash)


def _say_left_out(record: Spellings, rows: Sequence[Spelling]) -> list[str]:
    """The spellings without a row, in words."""
    others = [one.probability for one in record.spellings if one not in rows]
    count, odds = len(others) + record.faint[0], sum(others) + record.faint[1]
    said = [f"and {count:,} more: {probability(odds, 3)}"] if count else []
    said += [f"dead ends, after which no token is legal: {probability(record.lost, 3)}"] if record.lost else []
    said += [f"not looked at: {probability(record.rest, 3)}"] if record.rest else []
    if record.back:
        taken = counted(record.back, "token")
        said.append(f"the tokenizer's own is none of these: it would take back {taken} of the output before the run")
    return said


def _say_counts(record: Spellings) -> str:
    beyond = f", {record.count_beyond:,} go beyond it" if record.count_beyond else ""
    passes = "pass" if record.passes == 1 else "passes"
    seen = len(record.spellings) + record.faint[0]
    return f"{record.count:,} end with the run{beyond}; {seen:,} looked at in {record.passes:,} {passes}"
