"""The spellings of a forced run as a lattice, and a table of the likeliest with their probabilities.

The bytes stand from left to right. An arc above them is a token that can spell a part of the run, and a spelling is a
path of arcs from the left end to the right end. Paths share arcs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import log
from typing import Any

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.spellings import Spelling, Spellings
from guidedviz.errors import SettingError, expect, shorten
from guidedviz.machines.visible import byte_name, counted, visible
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, drawing, soft, wide, write
from guidedviz.views.words import label, write_badge

MOST = 48  # bytes that are drawn
FAINT = 0.001  # a less likely arc is drawn only if it is canonical
LEFT, SPAN, PITCH, BEYOND_WIDE = 16.0, 600.0, 44.0, 44.0
HIGH, BOX, THICK = 90.0, 28.0, 12.0
SIGNS = {"canonical": ("★", "green"), "longest": ("▲", "gold"), "forced": ("»", "orange")}
HALO: Any = {"paint_order": "stroke", "stroke": "var(--gv-page)", "stroke_width": 3}  # of a sign on an arc
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
        return LEFT + self.pitch * min(at, self.shown) + (BEYOND_WIDE if at > self.shown else 0)

    @property
    def end(self) -> float:
        """The right end of the bytes."""
        more = self.beyond or self.size > self.shown
        return self.x(self.size) + (BEYOND_WIDE + 16 if more else 0)


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
    return write(x, y, sign, 14, text_anchor="middle", fill=f"var(--gv-{colour})", **HALO)


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
        yield _box(x, BEYOND_WIDE, ground, fill="none", stroke="var(--gv-soft)", stroke_dasharray="5 3")
        yield soft(x + BEYOND_WIDE / 2, ground + 20, "…", 14, text_anchor="middle")


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


ROWS = 8
ROW, TOP, BAR = 25.0, 84.0, 80.0
HOW = "an arc is a token over its bytes, as thick as the probability that passes through it"
BEYOND = "; a dashed one goes beyond the run"
LEFT_OVER = "forced, the rest is the model's"


@dataclass(frozen=True)
class SpellingRow:
    """A spelling or the beginning of one, with its names."""

    tokens: tuple[int, ...]
    pieces: tuple[bytes, ...]
    probability: float
    names: tuple[str, ...]

    @property
    def nats(self) -> str:
        """Its cost: minus the logarithm of its probability."""
        return f"{-log(self.probability) + 0.0:.2f}" if self.probability else "∞"


def draw_spellings(record: Spellings, forced: Sequence[int] = ()) -> Figure:
    """The lattice and the table; `forced` are the tokens that a jump appends: a spelling or its beginning.

    >>> toy = gv.ToyModel([b"a", b"b", b"ab", b";"], lambda tokens: [0, 0, 1, 0])
    >>> found = gv.spellings(toy, ";", gv.guide(gv.regex("ab;"), toy.vocabulary))
    >>> print(draw_spellings(found).text)
    spellings of ab; by toy, TOY: 2 end with the run; 2 looked at in 4 passes
    ab ;   0.731  0.31 nats  canonical, longest
    a b ;  0.269  1.31 nats
    """
    _check(record, forced)
    rows, scale = spelling_rows(record, tuple(forced)), Scale(len(record.run), record.count_beyond > 0)
    left_out = _left_out(record, rows)
    arcs, ground = draw_arcs(record, scale, TOP)
    table = ground + 72
    low = table + ROW * len(rows)
    numbers = max(scale.end, 100.0) + 104  # where they end
    parts = [*_head(record), *arcs, *draw_boxes(record.run, scale, ground), *_titles(numbers, table - 20)]
    parts += [part for n, row in enumerate(rows) for part in _row(row, scale, numbers, table + ROW * n)]
    parts += [soft(LEFT, low + 10 + 18 * n, words) for n, words in enumerate(left_out)]
    text = "\n".join([_say(record), *_say_rows(rows), *left_out])
    names = max((sum(40 + 7.2 * len(name) for name in row.names) for row in rows), default=0.0)
    width = max(numbers + BAR + 90 + names, *(6.4 * len(words) for words in (_counts(record), HOW + BEYOND, *left_out)))
    size = width + 2 * LEFT, low + 14 + 18 * len(left_out)
    svg = drawing(*size, *parts, alt=text.replace("\n", ". "))
    return Figure(svg, text, text)


def _check(record: object, forced: object) -> None:
    expect(record, Spellings, "draw_spellings", "spellings", "gv.spellings(model, prompt, guide)")
    if not isinstance(forced, Iterable):
        hint = "forced=found.canonical.tokens"
        raise SettingError("draw_spellings, forced", seen=repr(forced), expected="a list of tokens", hint=hint)


def spelling_rows(record: Spellings, forced: tuple[int, ...] = (), most: int = ROWS) -> tuple[SpellingRow, ...]:
    """The likeliest spellings, and every spelling with a name."""
    named = [(spelling, _names(spelling, forced)) for spelling in record.spellings]
    kept = [pair for pair in named if pair[1]]
    kept += [pair for pair in named if not pair[1]][: most - len(kept)]
    rows = [SpellingRow(s.tokens, s.pieces, s.probability, names) for s, names in kept]
    rows.sort(key=lambda row: -row.probability)
    if forced and not any("forced" in row.names for row in rows):
        rows.append(_beginning(record, forced))
    return tuple(rows)


def _names(spelling: Spelling, forced: tuple[int, ...]) -> tuple[str, ...]:
    told = (spelling.canonical, spelling.longest, spelling.tokens == forced)
    return tuple(name for name, is_so in zip(SIGNS, told, strict=True) if is_so)


def _beginning(record: Spellings, forced: tuple[int, ...]) -> SpellingRow:
    """The beginning of a spelling, whose rest the model chooses."""
    for part in record.spellings + record.open:
        if part.tokens[: len(forced)] == forced:
            return SpellingRow(forced, part.pieces[: len(forced)], record.through(forced), (LEFT_OVER,))
    expected, hint = f"tokens that begin a spelling of {label(record.run)}", "forced=found.canonical.tokens"
    raise SettingError("draw_spellings, forced", seen=repr(forced), expected=expected, hint=hint)


def _head(record: Spellings) -> Iterator[Element]:
    """The source, the run, and how to read the picture."""
    size = record.vocabulary_size
    yield write_badge(LEFT, 24, record.source, record.model, record.device, size, record.date)
    yield write(LEFT, 47, f"the spellings of {shorten(label(record.run), 40)}", 13, font_weight="bold")
    yield soft(LEFT, 66, _counts(record))
    yield soft(LEFT, 84, HOW + BEYOND * (record.count_beyond > 0))


def _titles(numbers: float, y: float) -> Iterator[Element]:
    for x, words, anchor in ((LEFT, "spelling", "start"), (numbers, "p", "end"), (numbers + BAR + 66, "nats", "end")):
        yield soft(x, y, words, text_anchor=anchor)


def _row(row: SpellingRow, scale: Scale, numbers: float, y: float) -> Iterator[Element]:
    """One block per token below its bytes, then the numbers and the names."""
    colour = SIGNS[_sign(row.names[0])][1] if row.names else ""
    for piece, (start, end) in zip(row.pieces, spans(row.pieces), strict=True):
        if start < scale.shown:
            yield _block(piece, scale.x(start), scale.x(end), y, colour, end > scale.size)
    yield write(numbers, y + 5, probability(row.probability, 3), 13, mono=True, text_anchor="end")
    long = max(0.5, BAR * row.probability)
    yield node("rect", x=numbers + 10, y=y - 4, width=long, height=9, rx=1.5, fill="var(--gv-blue)")
    yield write(numbers + BAR + 66, y + 5, row.nats, 13, mono=True, text_anchor="end")
    x = numbers + BAR + 94
    for name in row.names:
        yield draw_sign(x, y + 5, _sign(name)) + write(x + 12, y + 5, name, 13)
        x += 40 + 7.2 * len(name)


def _sign(name: str) -> str:
    return name.partition(",")[0]


def _block(piece: bytes, left: float, right: float, y: float, colour: str, beyond: bool) -> Element:
    """A token with as much of its text as fits."""
    width = right - left - 3
    look = {"stroke": f"var(--gv-{colour or 'soft'})", "stroke_width": 1.8 if colour else 1}
    dash = {"stroke_dasharray": "5 3"} if beyond else {}
    box = node("rect", x=left + 1.5, y=y - 10, width=width, height=ROW - 5, rx=4, fill="none", **look, **dash)
    room, words = int((width - 2) / wide("n", 12)), label(piece)
    words = words if len(words) <= room else shorten(words, room) if room > 3 else "…"
    inside = write((left + right) / 2, y + 4, words, 12, mono=True, text_anchor="middle")
    return node("g", node("title", label(piece)), box, inside)


def _left_out(record: Spellings, rows: Sequence[SpellingRow]) -> list[str]:
    """The spellings without a row, in words."""
    shown = {row.tokens for row in rows}
    others = [s.probability for s in record.spellings if s.tokens not in shown]
    count, odds = len(others) + record.faint[0], sum(others) + record.faint[1]
    said = [f"and {count:,} more: {probability(odds, 3)}"] if count else []
    said += [f"dead ends, after which no token is legal: {probability(record.lost, 3)}"] if record.lost else []
    said += [f"not looked at: {probability(record.rest, 3)}"] if record.rest else []
    if record.back:
        taken = counted(record.back, "token")
        said.append(f"the tokenizer's own is none of these: it would take back {taken} of the output before the run")
    return said


def _counts(record: Spellings) -> str:
    beyond = f", {record.count_beyond:,} go beyond it" if record.count_beyond else ""
    passes = "pass" if record.passes == 1 else "passes"
    seen = len(record.spellings) + record.faint[0]
    return f"{record.count:,} end with the run{beyond}; {seen:,} looked at in {record.passes:,} {passes}"


def _say(record: Spellings) -> str:
    source = f", {record.source}" if record.source != "LIVE" else ""  # a saved notebook is not live any more
    return f"spellings of {shorten(label(record.run), 60)} by {record.model}{source}: {_counts(record)}"


def _say_rows(rows: Sequence[SpellingRow]) -> Iterator[str]:
    spelled = [" ".join(map(label, row.pieces)) for row in rows]
    longest = max(map(len, spelled), default=0)
    for words, row in zip(spelled, rows, strict=True):
        yield f"{words:{longest}}  {probability(row.probability, 3)}  {row.nats} nats  {', '.join(row.names)}".rstrip()
