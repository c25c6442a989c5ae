"""Horizontal bars of any numbers, one or more per label; the rows of other pictures are made of the same bars."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guidedviz.decoding.distribution import Estimate
from guidedviz.decoding.sampling import probability
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.figure import EDGE, Figure, figure_of, rect, soft_right, wide, write
from guidedviz.views.theme import paint
from guidedviz.views.words import reading

BARS_WIDTH = 780.0  # of a picture of bars
LABEL_ROOM = 24  # characters of a label
WHISKER = {"stroke": "var(--gv-ink)", "stroke_width": 1.5, "fill": "none"}
Values = Sequence[float | Estimate]


@dataclass(frozen=True)
class BarScale:
    """The lowest and the highest value, and the pixels between them."""

    low: float
    high: float
    start: float
    span: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + self.span * (value - self.low) / (self.high - self.low)


class BarRow(NamedTuple):
    """A label with its numbers, also in words."""

    name: str
    values: Values
    said: str


def draw_bars(
    labels: Sequence[str], series: Mapping[str, Values], *, title: str = "", marked: Collection[int] = ()
) -> Figure:
    """Horizontal bars, one or more per label: the first outlined, the others filled; values may be negative.

    An estimate has a line over its bar, from the low to the high end of its interval.

    >>> draw_bars(["a", "b"], {"before": [0.2, 0.8], "after": [1, 0]}, title="mask").text
    'mask: a before 0.20 after 1, b before 0.80 after 0'
    """
    _check_bars(labels, series)
    expect(title, str, "draw_bars, title", "a text")
    expect(marked, Collection, "draw_bars, marked", "numbers of labels", "{0, 2}")
    bold = set(marked)
    rows = _read_rows(labels, series)
    scale = _fit_scale(rows)

    parts: list[Element] = []
    top = 8.0
    if title:
        parts.append(write(EDGE, 20, title, 13, font_weight="bold"))
        top += 22
    if len(series) > 1:
        parts += write_bar_names(list(series), BARS_WIDTH - EDGE, 38 if title else 20)
        top += 18
    pitch = 8.0 * len(series) + 14
    for place, row in enumerate(rows):
        y = top + pitch * place
        middle = y + pitch / 2 + 2
        parts.append(write_name(scale.start - 10, middle, row.name, bold=place in bold, room=LABEL_ROOM))
        parts += _write_bars(scale, y + 5, row.values)
        parts.append(soft_right(BARS_WIDTH - EDGE, middle, row.said))
    end = top + pitch * len(rows)
    if scale.low < 0:
        parts.append(node("path", d=f"M{scale.at(0.0):g} {top:g}V{end:g}", stroke="var(--gv-soft)"))
    told = ", ".join(_say_bars(row, series) for row in rows)
    return figure_of(BARS_WIDTH, end + 10, f"{title}: {told}" if title else told, *parts)


def _check_bars(labels: Sequence[str], series: Mapping[str, Values]) -> None:
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


def _read_rows(labels: Sequence[str], series: Mapping[str, Values]) -> list[BarRow]:
    between = " → " if next(iter(series), "").startswith("before") else " | "
    rows = []
    for place, label in enumerate(labels):
        values = [numbers[place] for numbers in series.values()]
        said = between.join(_say_number(float(value)) for value in values)
        rows.append(BarRow(reading(label), values, said))
    return rows


def _fit_scale(rows: Sequence[BarRow]) -> BarScale:
    """The scale between the labels and the numbers."""
    low = 0.0
    high = 1e-9
    start = 60.0
    numbers = 0
    for row in rows:
        for value in row.values:
            low = min(low, float(value))
            high = max(high, value.high if isinstance(value, Estimate) else float(value))
        start = max(start, wide(shorten(row.name, LABEL_ROOM), 14))
        numbers = max(numbers, len(row.said))
    start += 34
    return BarScale(low, high, start, BARS_WIDTH - start - numbers * 7.0 - 2 * EDGE)


def _write_bars(scale: BarScale, y: float, row: Values) -> Iterator[Element]:
    """The bars of one label; a single bar is filled."""
    for place, value in enumerate(row):
        left, right = sorted((scale.at(0.0), scale.at(float(value))))
        yield write_bar(left, y + 8 * place, right - left, 7.0, place if len(row) > 1 else 1)
        if isinstance(value, Estimate):
            low = f"{scale.at(value.low):g} {y + 0.5 + 8 * place:g}"
            yield node("path", d=f"M{low}v6m0 -3H{scale.at(value.high):g}m0 -3v6", **WHISKER)


def _say_bars(row: BarRow, names: Iterable[str]) -> str:
    values = [str(value) if isinstance(value, Estimate) else _say_number(float(value)) for value in row.values]
    return f"{row.name} {' '.join(map('{} {}'.format, names, values))}"


def _say_number(value: float) -> str:
    return probability(value) if 0 <= value <= 1 else f"{value:.1f}".removesuffix(".0")


def write_name(x: float, y: float, words: str, struck: bool = False, bold: bool = False, room: int = 13) -> Element:
    """The label to the left of a bar; a struck one of a single character has a cross before it instead of a line."""
    crossed = struck and len(words) == 1
    cross = write(x - 14, y, "✕", fill="var(--gv-orange)", text_anchor="end") if crossed else NOTHING
    line = "line-through" if struck and not crossed else None
    look = {"fill": "var(--gv-soft)" if struck else "var(--gv-ink)", "font_weight": "bold" if bold else None}
    return cross + write(x, y, shorten(words, room), 14, True, text_anchor="end", text_decoration=line, **look)


def write_bar(x: float, y: float, long: float, high: float, place: int, struck: bool = False) -> Element:
    """One bar: the first of a row is an outline, a forbidden one is dashed."""
    if long <= 0:
        return NOTHING
    if place == 0:
        dashes = "2 2" if struck else "none"
        return rect(x, y, long, high, 1.5, fill="none", stroke="var(--gv-soft)", stroke_dasharray=dashes)
    colours = ("blue", "gold", "green")
    return rect(x, y, long, high, 1.5, fill=paint(colours[(place - 1) % 3]))


def write_bar_names(names: Sequence[str], right: float, y: float) -> list[Element]:
    """The legend of the bars in a row, aligned to the right edge."""
    parts = []
    x = right
    for place, name in reversed(list(enumerate(names))):
        parts.append(soft_right(x, y, name))
        x -= 7.0 * len(name) + 18
        parts.append(write_bar(x, y - 8, 12, 7.0, place))
        x -= 14
    return parts
