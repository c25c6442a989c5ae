"""Distributions: bars of any numbers, the next token before and after the mask, all texts of a small task, and the
whole vocabulary with the thresholds of biases.

The next token is a picture of its own and a panel of the stage's still picture. What it says stands in the packed
step, as on the page.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import exp, floor, log10
from operator import attrgetter
from textwrap import wrap
from typing import Any

import numpy as np

from guidedviz.decoding.distribution import Branch, Estimate, Task, branch
from guidedviz.decoding.recording import PackedRest, PackedRow, PackedStep
from guidedviz.decoding.sampling import Floats, probability
from guidedviz.decoding.trace import Step
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.charts.plot import HALO, Axis, Chart, PlotFrame, Series, write_plot
from guidedviz.views.figure import Figure, drawing, figure_of, moved, rect, soft, wide, write, write_box
from guidedviz.views.words import label, pack_step, reading

EDGE, WIDE = 16.0, 780.0
WHISKER = {"stroke": "var(--gv-ink)", "stroke_width": 1.5, "fill": "none"}
Values = Sequence[float | Estimate]


def draw_bars(
    labels: Sequence[str], series: Mapping[str, Values], *, title: str = "", marked: Collection[int] = ()
) -> Figure:
    """Horizontal bars, one or more per label: the first outlined, the others filled; values may be negative.

    An estimate has a line over its bar, from the low to the high end of its interval.

    >>> draw_bars(["a", "b"], {"before": [0.2, 0.8], "after": [1, 0]}, title="mask").text
    'mask: a before 0.20 after 1, b before 0.80 after 0'
    """
    _check(labels, series)
    expect(title, str, "draw_bars, title", "a text")
    expect(marked, Collection, "draw_bars, marked", "numbers of labels", "{0, 2}")
    named, bold = list(map(reading, labels)), set(marked)
    rows = [[values[at] for values in series.values()] for at in range(len(labels))]
    every = [value for row in rows for value in row]
    low = min([0.0, *map(float, every)])
    high = max([1e-9, *(value.high if isinstance(value, Estimate) else float(value) for value in every)])
    between = " → " if next(iter(series), "").startswith("before") else " | "
    said = [between.join(_number(float(value)) for value in row) for row in rows]
    start = max([60.0, *(wide(shorten(words, 24), 14) for words in named)]) + 34
    span = WIDE - start - max([0, *map(len, said)]) * 7.0 - 2 * EDGE

    def at(value: float) -> float:
        return start + span * (value - low) / (high - low)

    parts = [write(EDGE, 20, title, 13, font_weight="bold")] if title else []
    names = list(series) if len(series) > 1 else []
    parts += write_bar_names(names, WIDE - EDGE, 20 + 18 * bool(title))
    pitch, top = 8.0 * len(series) + 14, 8.0 + 22 * bool(title) + 18 * bool(names)
    for index, row in enumerate(rows):
        y = top + pitch * index
        parts.append(write_name(start - 10, y + pitch / 2 + 2, named[index], False, index in bold, 24))
        for place, value in enumerate(row):
            left, right = sorted((at(0.0), at(float(value))))
            kind = place if len(series) > 1 else 1
            parts.append(write_bar(left, y + 5 + 8 * place, right - left, 7.0, kind, False))
            if isinstance(value, Estimate):
                way = f"M{at(value.low):g} {y + 5.5 + 8 * place:g}v6m0 -3H{at(value.high):g}m0 -3v6"
                parts.append(node("path", d=way, **WHISKER))
        parts.append(soft(WIDE - EDGE, y + pitch / 2 + 2, said[index], text_anchor="end"))
    end = top + pitch * len(rows)
    if low < 0:
        parts.append(node("path", d=f"M{at(0.0):g} {top:g}V{end:g}", stroke="var(--gv-soft)"))
    values = (" ".join(f"{name} {_say(value)}" for name, value in zip(series, row, strict=True)) for row in rows)
    told = ", ".join(map(" ".join, zip(named, values, strict=True)))
    text = f"{title}: {told}" if title else told
    return figure_of(WIDE, end + 10, text, *parts)


def _check(labels: Sequence[str], series: Mapping[str, Values]) -> None:
    """Refuse labels that are not texts, and series without one number per label."""
    texts: Sequence[object] = expect(labels, list | tuple, "draw_bars, labels", "a list of texts")
    if not all(isinstance(label, str) for label in texts):
        raise SettingError("draw_bars, labels", seen=quoted(labels), expected="a list of texts")
    expect(series, Mapping, "draw_bars, series", "names with their numbers", "{'before': [0.2, 0.8]}")
    for name, values in series.items():
        try:
            numbers = list(map(float, values))
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != len(labels):
            raise SettingError(f"draw_bars, series {quoted(name)}", seen=quoted(values), expected="a number per label")


def _say(value: float | Estimate) -> str:
    return str(value) if isinstance(value, Estimate) else _number(float(value))


def _number(value: float) -> str:
    return probability(value) if 0 <= value <= 1 else f"{value:.1f}".removesuffix(".0")


def write_name(x: float, y: float, words: str, struck: bool, bold: bool, room: int = 13) -> Element:
    """The label to the left of a bar; a struck one of a single character has a cross before it instead of a line."""
    crossed = struck and len(words) == 1
    cross = write(x - 14, y, "✕", fill="var(--gv-orange)", text_anchor="end") if crossed else NOTHING
    look = {"fill": "var(--gv-soft)" if struck else "var(--gv-ink)", "font_weight": "bold" if bold else None}
    line = "line-through" if struck and not crossed else None
    return cross + write(x, y, shorten(words, room), 14, True, text_anchor="end", text_decoration=line, **look)


def write_bar(x: float, y: float, long: float, high: float, place: int, struck: bool) -> Element:
    """One bar: the first of a row is an outline, a forbidden one is dashed."""
    look = {"fill": f"var(--gv-{('blue', 'gold', 'green')[(place - 1) % 3]})"}
    if place == 0:
        look = {"fill": "none", "stroke": "var(--gv-soft)", "stroke_dasharray": "2 2" if struck else "none"}
    return rect(x, y, long, high, 1.5, **look) if long > 0 else NOTHING


def write_bar_names(names: Sequence[str], right: float, y: float) -> list[Element]:
    """The legend of the bars in a row, aligned to the right edge."""
    parts, x = [], right
    for place, name in reversed(list(enumerate(names))):
        parts.append(soft(x, y, name, text_anchor="end"))
        x -= 7.0 * len(name) + 18
        parts.append(write_bar(x, y - 8, 12, 7.0, place, False))
        x -= 14
    return parts


# --- the next token ---


HEAD, ROW, FACT = 46.0, 26.0, 22.0  # heights
NAME, LETTER = 132.0, 6.6  # the most that a label takes, and pixels per character of a number, about
UNASKED = "The text is fixed here, so the model is not asked and there is no distribution."
Drawn = tuple[Element, float]  # elements that start at y = 0, and their height


def draw_distribution(step: Step, title: str = "next token") -> Figure:
    """The likeliest tokens before and after the mask; forbidden tokens are struck through."""
    expect(step, Step, "draw_distribution", "a step of a trace", "trace.steps[0]")
    expect(title, str, "draw_distribution, title", "a text")
    packed = pack_step(step)
    svg, height = write_next(packed, title, WIDE - 2 * EDGE, f"{step.legal:,} legal")
    alt = say_next(packed, title)
    text = alt if step.how == "forced" else f"{title}: {step.legal} legal, Z {packed['massText']}"
    return Figure(drawing(WIDE, height + EDGE, moved(EDGE, 8, svg), alt=alt), text, alt)


def say_next(step: PackedStep, title: str) -> str:
    """The same in words."""
    if step["how"] == "forced":
        return f"{title}: {step['label']}. {UNASKED}"
    rows = (f"{row.label} {row.rawText} to {row.drawnText}" for row in step["rows"])
    changed = f" ({step['changes']})" if step.get("changes") else ""
    before = f"{title}, probability before and {step['after']}{changed}"
    return f"{before}: {', '.join(rows)}. Legal mass Z {step['massText']}."


def write_next(step: PackedStep, title: str, width: float, legal: str, facts: Sequence[tuple[str, str]] = ()) -> Drawn:
    """The panel of the next token: what applies to all, the rows, and below them facts as names and values."""
    unasked = step["how"] == "forced"
    said = "the model was not asked" if unasked else f"Z {step['massText']} · {legal}"
    parts = [write(0, 13, title, 13, font_weight="bold"), soft(width, 13, said, 13, text_anchor="end")]
    if unasked:
        rows = [write(0, 40, shorten(step["label"], int(width / 8.5)), 14, mono=True, font_weight="bold")]
        rows += [soft(0, 64 + 18 * number, line) for number, line in enumerate(wrap(UNASKED, int(width / 6.6)))]
        y = 64.0 + 18 * (len(rows) - 1)
    else:
        parts += [_tag(step.get("changes", ""))]
        parts += [] if step["free"] else write_bar_names(["before", step["after"]], width, 36)
        rows, y = _rows(step, width), HEAD + ROW * (len(step["rows"]) + 1)
    for name, value in facts:
        y += FACT
        room = int((width - 8 * len(name) - 16) / 7.5)
        rows += [soft(0, y - 6, name, 13), write(width, y - 6, shorten(value, room), 13, text_anchor="end")]
    return together(parts + rows), y


def _tag(changes: str) -> Element:
    """What besides the mask changed the probabilities."""
    if not changes:
        return NOTHING
    box = rect(0, 22, 6.4 * len(changes) + 18, 20, 10, fill="none", stroke="var(--gv-gold)", stroke_width=1.5)
    return node("g", box, write(8, 36, changes, 12), data_part="changes")


def _rows(step: PackedStep, width: float) -> list[Element]:
    """One row per candidate and one for all others; the full scale of a bar is at least a third of the width."""
    free, named = step["free"], step["rows"]
    shown: list[PackedRow | PackedRest] = [*named, step["rest"]]
    said = [row.rawText + f" → {row.drawnText}" * (not free) for row in shown]
    number = LETTER * max(map(len, said)) + 8
    longest = max((wide(row.label, 14) for row in named), default=0.0)
    name = max(78.0, min(NAME, longest + 4, width * 2 / 3 - number - 24))
    start, span = name + 22, width - name - 22 - number
    rows = []
    for place, row in enumerate(shown):
        parts, struck = list[Element](), False
        if isinstance(row, PackedRow):
            chosen, struck = row.token == step["token"], not row.legal
            parts += [write(0, 17, "▸", 13, fill="var(--gv-orange)")] * chosen
            parts.append(write_name(name + 14, 17, row.label, struck, chosen, int(name / 8.5)))
        else:
            parts.append(soft(name + 14, 17, "all others", text_anchor="end"))
        parts.append(rect(start, 2, span, ROW - 5, 3, fill="var(--gv-page)", data_part="bar"))  # the full scale
        if free:
            parts.append(write_bar(start, 6, row.raw * span, 13.0, 1, False))
        else:
            parts.append(write_bar(start, 4, row.raw * span, 7.0, 0, struck))
            parts.append(write_bar(start, 13, row.drawn * span, 8.0, 1, struck))
        parts.append(soft(width, 17, said[place], text_anchor="end"))
        rows.append(moved(0, HEAD + ROW * place, *parts, data_part="row" if place < len(named) else None))
    return rows


# --- all texts of a small task ---


LEAST = 1e-4  # a smaller probability is neither drawn nor said
PANELS = {  # attribute of a branch, and what the panel shows
    "free": "no mask",
    "masked": "illegal tokens removed at each step",
    "conditioned": "the target: illegal texts removed at the end",
}
# left and width from 0 to 1, row, words, and the text: "" if it is not complete, None for all that is illegal
TreeBox = tuple[float, float, int, str, str | None]


def draw_text_tree(task: Task) -> Figure:
    """Three panels: the model's distribution, the masked one, and the target. One row per token.

    A box is as wide as its probability.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [2, 0] if tokens[-1] == 0 else [0, 0])
    >>> print(draw_text_tree(Task(toy, "b", gv.guide(gv.regex("ab|b[ab]"), toy.vocabulary))).text)
    free: ab 0.06, ba 0.25, bb 0.25, illegal 0.44
    masked: ab 0.50, ba 0.25, bb 0.25
    conditioned: ab 0.11, ba 0.45, bb 0.45
    """
    tree = branch(expect(task, Task, "draw_text_tree, task", "a task of decoding.distribution"))
    parts, lines, top = list[Element](), list[str](), 0.0
    for panel, about in PANELS.items():
        boxes = list(_boxes(tree, panel, task.model.vocabulary.pieces))
        parts += [write(EDGE, top + 22, panel, font_weight="bold"), soft(EDGE + 96, top + 22, about)]
        for left, share, row, words, text in boxes:
            x, width = EDGE + (WIDE - 2 * EDGE) * left, (WIDE - 2 * EDGE) * share - 1
            long = f"{words} {probability(share)}"
            line: dict[str, Any] = {"stroke": "var(--gv-blue)"}
            if text is None:
                line = {"stroke": "var(--gv-orange)", "fill": "none", "stroke_dasharray": "4 3"}
            fitting = long if wide(long) < width - 3 else words
            parts.append(write_box(x, top + 34 + 30 * row, width, 27, fitting, **line))
        told = [f"{text} {probability(share)}" for _, share, _, _, text in boxes if text]
        gone = sum(share for _, share, _, _, text in boxes if text is None)
        lines.append(f"{panel}: " + ", ".join(told + [f"illegal {probability(gone)}"] * bool(gone)))
        top += 74 + 30 * max(row for _, _, row, _, _ in boxes)
    return figure_of(WIDE, top + 4, "\n".join(lines), *parts)


def _boxes(tree: Branch, panel: str, pieces: Sequence[bytes], x: float = 0.0, row: int = 0) -> Iterator[TreeBox]:
    """The boxes below a branch, from the left; in the first panel the illegal rest is the last of each row."""
    share = attrgetter(panel)
    for one in (one for one in tree.branches if share(one) > LEAST):
        text = "" if one.branches else label(b"".join(pieces[token] for token in one.tokens))
        yield x, share(one), row, label(pieces[one.tokens[-1]]), text
        yield from _boxes(one, panel, pieces, x, row + 1)
        x += share(one)
    if panel == "free" and tree.illegal > LEAST:
        yield x, tree.illegal, row, "illegal", None


# --- the whole vocabulary on a log scale, with each bias as a threshold ---
#
# A bias b multiplies the probability of its token by e to the b, before all are scaled to a sum of one. So the token
# gets ahead of the likeliest token without a bias exactly if it is above that one's probability divided by e to the b.


LEFT, TOP, SPAN, HIGH = 112.0, 90.0, 510.0, 204.0
POINTS, DEEPEST = 160, 12  # of the curve; powers of ten below 1
NAME_END, BAR = 150.0, 330.0  # the end of a name, the full scale of a bar


def draw_threshold(
    pieces: Sequence[bytes], before: Floats, after: Floats, bias: Mapping[int, float], title: str
) -> Figure:
    """All tokens by their probability before the bias, the threshold of each bias, and what the bias changes.

    >>> before, after = np.array([0.7, 0.2, 0.1]), np.array([0.28, 0.6, 0.12])
    >>> print(draw_threshold([b"a", b"b", b"c"], before, after, {1: 2.0}, "toy").text)
    toy: a before 0.70 after 0.28, b +2 before 0.20 after 0.60; bias +2: 3 above
    """
    shown = sorted({*bias, int(before.argmax())}, key=lambda token: (-before[token], token))
    unbiased = np.delete(before, [token for token, amount in bias.items() if amount])
    rival = float(unbiased.max(initial=0.0)) or 1.0
    rows = [(label(pieces[token]), bias.get(token, 0.0), before[token], after[token]) for token in shown]
    told = [f"{f'{name} {_sign(b)}'.strip()} before {probability(p)} after {probability(q)}" for name, b, p, q in rows]
    levels = {amount: rival / exp(amount) for amount in sorted({b for b in bias.values() if b > 0} or {0.0})}
    lines = {level: f"bias {_sign(b) or 0}: {(before > level).sum():,} above" for b, level in levels.items()}
    frame = PlotFrame(_chart(-np.sort(-before)), LEFT, TOP)
    parts = [write(EDGE, 24, title, 13, font_weight="bold"), soft(EDGE, 48, "probability before the bias")]
    parts += [*write_plot(frame), *_lines(frame, lines)]
    parts += _dots(frame, [(name, int((before > p).sum()) + 1, p, p * exp(b) > rival) for name, b, p, _ in rows])
    y = TOP + HIGH + 62
    parts += write_bar_names(["before", "after"], WIDE - EDGE, y - 8)
    rest, left = (max(0.0, 1 - float(p[shown].sum())) for p in (before, after))
    rows.append(("all others", 0.0, rest, left))
    parts += [moved(0, y + ROW * place, *_row(*row)) for place, row in enumerate(rows)]
    text = "; ".join([f"{title}: {', '.join(told)}", *lines.values()])
    return figure_of(WIDE, y + ROW * len(rows) + 10, text, *parts)


def _lines(frame: PlotFrame, lines: Mapping[float, str]) -> Iterator[Element]:
    """A line per probability, and its words at the right, from the top down."""
    free = 0.0
    for level, words in lines.items():
        y = frame.at(1, level)[1]
        free = max(free + 14, y + 4)
        yield node("path", d=f"M{LEFT:g},{y:.1f}h{SPAN:g}", stroke="var(--gv-orange)", stroke_dasharray="7 4")
        yield write(LEFT + SPAN + 10, free, words, 12, fill="var(--gv-orange)")


def _dots(frame: PlotFrame, tokens: Sequence[tuple[str, int, float, bool]]) -> Iterator[Element]:
    """A dot per named token, filled if its bias is enough; a label that would cover one further right stands higher."""
    taken = list[tuple[float, float]]()
    for name, rank, p, wins in reversed(tokens):
        x, y = frame.at(rank, p)
        at, end = y - 9, x + 12 + wide(name)
        while any(left < end and abs(at - other) < 15 for left, other in taken):
            at -= 3
        taken.append((x + 8, at))
        fill = f"var(--gv-{'orange' if wins else 'page'})"
        yield node("path", d=f"M{x:.1f},{y:.1f}L{x + 8:.1f},{at:.1f}", stroke="var(--gv-soft)")
        yield node("circle", cx=x, cy=y, r=5, fill=fill, stroke="var(--gv-orange)", stroke_width=2)
        yield write(x + 10, at, name, 13, True, **HALO)


def _chart(falling: Floats) -> Chart:
    """The curve of all probabilities, the largest first."""
    count, deep = len(falling), max(1, -floor(log10(max(float(falling[-1]), 10.0**-DEEPEST))))
    ranks = [*(10**n for n in range(9) if 10**n < count / 2), count]
    x = Axis("tokens, the likeliest first", 1, max(2, count), tuple((n, f"{n:,}") for n in ranks), log=True, grid=False)
    powers = [10.0**-n for n in range(0, deep + 1, 2 if deep > 5 else 1)]
    y = Axis("", 10.0**-deep, 1, tuple((p, probability(p)) for p in powers), log=True)
    places = np.unique(np.geomspace(1, count, POINTS).astype(int))
    curve = tuple(np.maximum(falling[places - 1], 10.0**-deep).tolist())
    return Chart("", x, y, (Series("", "line", tuple(places.tolist()), curve, colour="blue"),), (), SPAN, HIGH)


def _row(name: str, bias: float, before: float, after: float) -> list[Element]:
    """A row of the table: a name, two bars, the bias and both probabilities, in columns that do not move."""
    return [
        write_name(NAME_END, 17, name, False, bool(bias)),
        rect(NAME_END + 12, 2, BAR, 21, 3, fill="var(--gv-card)"),
        write_bar(NAME_END + 12, 4, before * BAR, 7.0, 0, False),
        write_bar(NAME_END + 12, 13, after * BAR, 8.0, 1, False),
        write(NAME_END + BAR + 70, 17, _sign(bias), 13, text_anchor="end", fill="var(--gv-orange)"),
        soft(WIDE - EDGE, 17, f"{probability(before)} → {probability(after)}", text_anchor="end"),
    ]


def _sign(bias: float) -> str:
    return f"{bias:+g}".replace("-", "−") if bias else ""
