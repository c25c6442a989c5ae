"""Horizontal bars of any numbers, one or more per label; the rows of other pictures are made of the same bars."""

from collections.abc import Collection, Mapping, Sequence

from guidedviz.decoding.distribution import Estimate
from guidedviz.decoding.sampling import probability
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import Figure, figure_of, rect, soft, wide, write
from guidedviz.views.words import reading

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
