"""Horizontal bars of any numbers, one or more per label; the rows of other pictures are made of the same bars."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guidedviz.decoding.distribution import Estimate
from guidedviz.decoding.recording import PackedRow, PackedStep
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import Step
from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.markup import NOTHING, Element, together
from guidedviz.views.figure import (
    EDGE,
    Drawn,
    Figure,
    Style,
    bold,
    figure_of,
    moved,
    path_of,
    rect,
    soft,
    soft_right,
    upright,
    wide,
    write,
    write_right,
)
from guidedviz.views.step_words import FULL_MASS, OTHERS, pack_step
from guidedviz.views.theme import paint
from guidedviz.views.words import reading, share

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
        above = value - self.low
        return self.start + self.span * above / (self.high - self.low)


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

    >>> gv.draw_bars(["a", "b"], {"before": [0.2, 0.8], "after": [1, 0]}, title="mask").text
    'mask: a before 0.20 after 1, b before 0.80 after 0'
    """
    _check_bars(labels, series)
    expect(title, str, "draw_bars, title", "a text")
    expect(marked, Collection, "draw_bars, marked", "numbers of labels", "{0, 2}")
    chosen = set(marked)
    rows = _read_rows(labels, series)
    scale = _fit_scale(rows)

    parts: list[Element] = []
    top = 8.0
    if title:
        parts.append(bold(EDGE, 20, title))
        top += 22
    if len(series) > 1:
        parts += write_bar_names(list(series), BARS_WIDTH - EDGE, 38 if title else 20)
        top += 18
    pitch = 8.0 * len(series) + 14
    for place, row in enumerate(rows):
        y = top + pitch * place
        middle = y + pitch / 2 + 2
        is_marked = place in chosen
        name = write_name(scale.start - 10, middle, row.name, bold=is_marked, room=LABEL_ROOM)
        parts.append(name)
        parts += _write_bars(scale, y + 5, row.values)
        parts.append(soft_right(BARS_WIDTH - EDGE, middle, row.said))
    end = top + pitch * len(rows)
    if scale.low < 0:
        zero = scale.at(0.0)
        parts.append(upright(zero, top, end - top, stroke="var(--gv-soft)"))
    told = ", ".join(_say_bars(row, series) for row in rows)
    if title:
        told = f"{title}: {told}"
    return figure_of(BARS_WIDTH, end + 10, told, *parts)


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
    between = " | "
    if next(iter(series), "").startswith("before"):
        between = " → "
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
    room = numbers * 7.0 + 2 * EDGE
    return BarScale(low, high, start, BARS_WIDTH - start - room)


def _write_bars(scale: BarScale, y: float, row: Values) -> Iterator[Element]:
    """The bars of one label; a single bar is filled."""
    first = 0 if len(row) > 1 else 1
    zero = scale.at(0.0)
    for number, value in enumerate(row, first):
        end = scale.at(float(value))
        yield write_bar(min(zero, end), y, abs(end - zero), 7.0, number)
        if isinstance(value, Estimate):
            low = f"{scale.at(value.low):g} {y + 0.5:g}"
            high = f"{scale.at(value.high):g}"
            yield path_of(f"M{low}v6m0 -3H{high}m0 -3v6", **WHISKER)
        y += 8


def _say_bars(row: BarRow, names: Iterable[str]) -> str:
    said = []
    for name, value in zip(names, row.values, strict=True):
        number = str(value) if isinstance(value, Estimate) else _say_number(float(value))
        said.append(f"{name} {number}")
    return f"{row.name} {' '.join(said)}"


def _say_number(value: float) -> str:
    if 0 <= value <= 1:
        return probability(value)
    return f"{value:,.1f}".removesuffix(".0")


def write_name(x: float, y: float, words: str, struck: bool = False, bold: bool = False, room: int = 13) -> Element:
    """The label to the left of a bar; a struck one of a single character has a cross before it instead of a line."""
    look: Style = {"text_decoration": None, "fill": "var(--gv-ink)"}
    cross = NOTHING
    if struck:
        look["fill"] = "var(--gv-magenta)"
        if len(words) == 1:
            cross = write_right(x - 14, y, "✕", fill="var(--gv-magenta)")
        else:
            look["text_decoration"] = "line-through"
    if bold:
        look["font_weight"] = "bold"
    return cross + write_right(x, y, shorten(words, room), 14, True, **look)


def write_bar(x: float, y: float, long: float, high: float, place: int) -> Element:
    """One bar: the first of a row is an outline."""
    if long <= 0:
        return NOTHING
    if place == 0:
        return rect(x, y, long, high, 1.5, fill="none", stroke="var(--gv-soft)")
    colours = ("blue", "gold", "green")
    colour = colours[(place - 1) % 3]
    return rect(x, y, long, high, 1.5, fill=paint(colour))


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


# --- the next token before and after the mask ---


ROWS_TOP = 46.0  # where the rows begin
CANDIDATE = 24.0  # the height of a row
BIN = 24.0  # the width of the bin
GROUND: Style = {
    "stroke": "var(--gv-card)",
    "stroke_width": 4,
    "paint_order": "stroke",
}  # of a number on a bar
TAKEN: Style = {
    "fill": "none",
    "stroke": "var(--gv-magenta)",
    "stroke_dasharray": "3 2",
}  # the outline of what the mask took away
FACT = 22.0  # the height of a fact
NAME_ROOM = 110.0  # the most that a label takes
DIGIT_WIDTH = 8.0  # pixels per character of a number, about
NOT_ASKED_WORDS = "The text is fixed here, so the model is not asked and there is no distribution."


def draw_distribution(step: Step, title: str = "next token") -> Figure:
    """The likeliest tokens before and after the mask; forbidden tokens are struck through."""
    expect(step, Step, "draw_distribution", "a step of a trace", "trace.steps[0]")
    expect(title, str, "draw_distribution, title", "a text")
    packed = pack_step(step)
    legal = f"{step.legal:,} legal"
    svg, height = write_next(packed, title, BARS_WIDTH - 2 * EDGE, legal)
    alt = say_next(packed, title)
    text = f"{title}: {step.legal} legal, Z {packed['massText']}"
    if step.how == "forced":
        text = alt
    return figure_of(BARS_WIDTH, height + EDGE, text, moved(EDGE, 8, svg), alt=alt)


def say_next(step: PackedStep, title: str) -> str:
    """The same in words."""
    if step["how"] == "forced":
        return f"{title}: {step['label']}. {NOT_ASKED_WORDS}"
    before = f"{title}, probability before and {step['after']}"
    if step.get("changes"):
        before += f" ({step['changes']})"
    rows = [f"{row.label} {row.rawText} to {row.drawnText}" for row in step["rows"]]
    return f"{before}: {', '.join(rows)}. Legal mass Z {step['massText']}."


def write_next(
    step: PackedStep, title: str, width: float, legal: str | None, facts: Sequence[tuple[str, str]] = ()
) -> Drawn:
    """The panel of the next token: what applies to all, the rows, and below them facts as names and values.

    `legal` says how many tokens are; None without a constraint.
    """
    parts = [bold(0, 13, title)]
    if step["how"] == "forced":
        parts.append(soft_right(width, 13, "the model was not asked", 13))
        label = shorten(step["label"], int(width / 8.5))
        parts.append(bold(0, 40, label, 14, mono=True))
        y = 56.0
    else:
        parts.append(soft_right(width, 13, legal or "no mask", 13))
        if step.get("changes"):
            parts.append(write(0, 36, step["changes"], 12, data_part="changes"))
        bars = [*step["rows"], *step["others"]]
        names = ["before", step["after"]]
        if legal is None:
            bars = list(_free_rows(bars))
        if legal is None or step.get("changes"):
            names = ["the model", "drawn from"]
        parts += write_bar_names(names, width, 36)
        parts += _write_rows(step, bars, width)
        y = ROWS_TOP + CANDIDATE * len(bars)
        if legal is not None:
            parts += _write_bin(step, width, y)
        y += 22
    for name, value in facts:
        y += FACT
        base = y - 6
        room = int((width - 8 * len(name) - 16) / 7.5)
        parts.append(soft(0, base, name, 13))
        parts.append(write_right(width, base, shorten(value, room)))
    return together(parts), y


def _free_rows(bars: Sequence[PackedRow]) -> Iterator[PackedRow]:
    """Without a constraint only special tokens are forbidden, which nobody can write: they are not shown."""
    for row in bars:
        if row.legal and row.token == OTHERS:
            yield row._replace(label="all others")
        elif row.legal:
            yield row


def _write_rows(step: PackedStep, bars: Sequence[PackedRow], width: float) -> Iterator[Element]:
    """One row per bar: an outline before the mask, filled after it, with one number at its end."""
    start = NAME_ROOM + 22
    span = width - start - BIN - 10
    for place, row in enumerate(bars):
        if row.token == OTHERS:
            parts = [soft_right(start - 8, 17, row.label)]
        else:
            chosen = row.token == step["token"]
            parts = [write_name(NAME_ROOM + 14, 17, row.label, not row.legal, chosen)]
            if row.token in step.get("names", ()):
                parts.insert(0, _write_chip_ground(row.label))
            if chosen:
                parts.append(write(0, 17, "▸", fill="var(--gv-orange)"))
        full = rect(start, 1, span, CANDIDATE - 2, 3, fill="var(--gv-page)", data_part="bar")
        parts.append(full)
        outlined = row.raw * span
        if row.legal:
            parts.append(write_bar(start, 4, row.drawn * span, 16.0, 1))
            parts.append(write_bar(start, 2, outlined, 20.0, 0))
            said = row.drawnText
        else:
            parts.append(rect(start, 2, outlined, 20, 1.5, **TAKEN))
            said = "0"
        room = span - DIGIT_WIDTH * len(said)
        longest = max(row.raw, row.drawn) * span
        end = start + min(longest + 8, room)
        parts.append(write(end, 17, said, 14, **GROUND))
        part = None if row.token == OTHERS else "row"
        yield moved(0, ROWS_TOP + CANDIDATE * place, *parts, data_part=part)


def _write_chip_ground(label: str) -> Element:
    """The outline around a label that is the name of a special token."""
    long = wide(shorten(label, 13), 14) + 10
    left = NAME_ROOM + 19 - long
    outline = {"fill": "none", "stroke": "var(--gv-soft)", "data_part": "special"}
    return rect(left, 3, long, CANDIDATE - 6, 9, **outline)


def say_factor(factor: float) -> str:
    """A factor from 1 on with two digits: below 2 they are the digits of what it adds, as the page writes them.

    >>> [say_factor(factor) for factor in (1.0302, 1.7489, 2.53, 812.4, 33000.0)]
    ['1.03', '1.75', '2.5', '810', '33,000']
    """
    rounded = float(f"{factor:.2g}")
    if factor < 2:
        rounded = 1 + float(f"{factor - 1:.2g}")
    return f"{rounded:,.10g}"


def _write_bin(step: PackedStep, width: float, bottom: float) -> list[Element]:
    """The bin, in which what the mask removed was as high as its probability, and the factor of the legal bars."""
    if not 0 < step["mass"] <= FULL_MASS:
        return []
    removed = 1 - step["mass"]
    high = bottom - ROWS_TOP
    was = high * removed
    factor = say_factor(1 / step["mass"])
    below = bottom + 16
    outline = rect(width - BIN, ROWS_TOP, BIN, high, 3, fill="none", stroke="var(--gv-soft)")
    taken = rect(width - BIN + 3, bottom - was, BIN - 6, was, 0, **TAKEN, data_part="bin")
    part = write_right(width, below, f"removed {share(removed)}", fill="var(--gv-magenta)")
    scaled = write(0, below, f"× 1/Z = × {factor}", fill="var(--gv-blue)")
    return [outline, taken, part, scaled]
