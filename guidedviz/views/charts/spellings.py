"""The likeliest spellings of a forced run, token below bytes."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from guidedviz.decoding.jump import Spelling, Spellings
from guidedviz.decoding.sampling import probability
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.markup import Element
from guidedviz.views.badge import write_badge
from guidedviz.views.figure import Figure, drawing, rect, soft, write, write_box
from guidedviz.views.words import characters, label

MOST = 48  # bytes that are drawn
LEFT, SPAN, PITCH, BEYOND_WIDE = 16.0, 600.0, 44.0, 44.0
BOX, BAR = 28.0, 80.0
ROWS, ROW, TOP = 4, 25.0, 78.0
X = Callable[[float], float]  # the left end of a byte in the picture


def draw_spellings(record: Spellings) -> Figure:
    """The likeliest spellings and those with a name: a row for each, its tokens below the bytes of the run.

    >>> toy = gv.ToyModel([b"a", b"b", b"ab", b";"], lambda tokens: [0, 0, 1, 0])
    >>> found = gv.spellings(toy, ";", gv.guide(gv.regex("ab;"), toy.vocabulary))
    >>> print(draw_spellings(found).text)
    spellings of ab; by toy, TOY: 2 end with the run
    ab ;   0.731  0.31 nats  canonical, longest
    a b ;  0.269  1.31 nats
    """
    expect(record, Spellings, "draw_spellings", "spellings", "gv.spellings(model, prompt, guide)")
    rows, size, beyond = spelling_rows(record), len(record.run), record.count_beyond > 0
    shown = min(size, MOST)

    def x_of(at: float) -> float:  # all positions after the last byte are one
        return LEFT + min(PITCH, SPAN / shown) * min(at, shown) + BEYOND_WIDE * (at > shown)

    left_out, counts = _say_left_out(record, rows), _say_counts(record)
    under = counts + "; a dashed token goes beyond the run" * beyond
    numbers = max(x_of(shown) + (BEYOND_WIDE + 16) * (beyond or size > shown), 100.0) + 104
    parts = [write_badge(LEFT, 24, record), soft(LEFT, 66, under)]
    parts.append(write(LEFT, 47, f"the spellings of {shorten(label(record.run), 40)}", 13, font_weight="bold"))
    parts += _boxes(record, x_of)
    y = TOP + 52
    for x, words, anchor in ((LEFT, "spelling", "start"), (numbers, "p", "end"), (numbers + BAR + 66, "nats", "end")):
        parts.append(soft(x, y, words, text_anchor=anchor))
    source_words = f", {record.source}" * (record.source != "LIVE")  # a saved notebook is not live any more
    lines = [f"spellings of {shorten(label(record.run), 60)} by {record.model}{source_words}: {counts}"]
    spelled = [" ".join(map(label, row.pieces)) for row in rows]
    longest, y, broad = max(map(len, spelled), default=0), y + 20, 0.0
    for words, row in zip(spelled, rows, strict=True):
        odds, nats, names = probability(row.probability, 3), _say_cost(row), _names(row)
        lines.append(f"{words:{longest}}  {odds}  {nats} nats  {', '.join(names)}".rstrip())
        parts += _blocks(row, size, x_of, y, "green" if names else "soft")
        parts.append(write(numbers, y + 5, odds, 13, mono=True, text_anchor="end"))
        parts.append(rect(numbers + 10, y - 4, max(0.5, BAR * row.probability), 9, fill="var(--gv-blue)"))
        parts.append(write(numbers + BAR + 66, y + 5, nats, 13, mono=True, text_anchor="end"))
        parts.append(write(numbers + BAR + 94, y + 5, " and ".join(names), 13))
        y, broad = y + ROW, max(broad, numbers + BAR + 94 + 7.2 * sum(map(len, names)) + 30)
    parts += [soft(LEFT, y + 10 + 18 * n, words) for n, words in enumerate(left_out)]
    width = max(broad, numbers + BAR + 80, *(6.4 * len(words) for words in (under, *left_out))) + 2 * LEFT
    text = "\n".join([*lines, *left_out])
    return Figure(drawing(width, y + 14 + 18 * len(left_out), *parts, alt=text.replace("\n", ". ")), text, text)


def spelling_rows(record: Spellings) -> tuple[Spelling, ...]:
    """The likeliest spellings, and every spelling with a name."""
    named = [one for one in record.spellings if _names(one)]
    others = [one for one in record.spellings if not _names(one)][: ROWS - len(named)]
    return tuple(sorted(named + others, key=lambda one: -one.probability))


def _names(spelling: Spelling) -> list[str]:
    return ["canonical"] * spelling.canonical + ["longest"] * spelling.longest


def _say_cost(spelling: Spelling) -> str:
    return f"{spelling.cost + 0.0:.2f}" if spelling.probability else "∞"


def _boxes(record: Spellings, x: X) -> Iterator[Element]:
    """One box per byte with its character, and one for bytes beyond the run or not shown."""
    more, shown = len(record.run) - MOST, record.run[:MOST]
    for at in range(len(shown)):
        yield write_box(x(at) + 1, TOP + 3, x(at + 1) - x(at) - 2, BOX, stroke="var(--gv-line)")
    for middle, name in characters(shown, 12.0):
        yield write(x(middle), TOP + 22, name, 14, mono=True, text_anchor="middle")
    if more > 0:
        yield soft(x(MOST) + 6, TOP + 22, f"+{counted(more, 'byte')}")
    elif record.count_beyond:
        dashed: Any = {"fill": "none", "stroke": "var(--gv-soft)", "stroke_dasharray": "5 3"}
        yield write_box(x(len(shown)) + 1, TOP + 3, BEYOND_WIDE - 2, BOX, "…", **dashed)


def _blocks(row: Spelling, size: int, x: X, y: float, colour: str) -> Iterator[Element]:
    """One block per token of a spelling, below its bytes."""
    look: Any = {"stroke": f"var(--gv-{colour})", "stroke_width": 1 if colour == "soft" else 1.8, "fill": "none"}
    ends = accumulate(map(len, row.pieces), initial=0)
    for piece, (start, end) in zip(row.pieces, pairwise(ends), strict=True):
        if start < MOST:
            look["stroke_dasharray"] = "5 3" if end > size else None
            yield write_box(x(start) + 1.5, y - 10, x(end) - x(start) - 3, ROW - 5, label(piece), **look)


def _say_left_out(record: Spellings, rows: Sequence[Spelling]) -> list[str]:
    """The spellings without a row, in words."""
    others = [one.probability for one in record.spellings if one not in rows]
    count, odds = len(others) + record.faint[0], sum(others) + record.faint[1]
    said = [f"and {count:,} more: {probability(odds, 3)}"] if count else []
    said += [f"dead ends, after which no token is legal: {probability(record.lost, 3)}"] if record.lost else []
    said += [f"not looked at: {probability(record.rest, 3)}"] if record.rest else []
    return said


def _say_counts(record: Spellings) -> str:
    return f"{record.count:,} end with the run" + f", {record.count_beyond:,} go beyond it" * (record.count_beyond > 0)
