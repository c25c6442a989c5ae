"""A chart is a plain record of its axes and marks, and `draw_chart` makes its only picture, an SVG.

Values beyond an axis are drawn at its end.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, log10
from typing import Any, Literal

from guidedviz.errors import shorten
from guidedviz.markup import NOTHING, Element, node, printable
from guidedviz.views.figure import Figure, drawing, soft, wide, write
from guidedviz.views.theme import LIGHT

Mark = Literal["line", "dots", "bars", "spans"]
Look = Literal["solid", "dashed", "dotted", "mixed", "hatched", "hollow"]


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with a label at each tick; on a log scale equal steps are equal factors."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False
    grid: bool = True
    mono: bool = False  # the labels are tokens

    def share(self, value: float) -> float:
        """Where a value is between both ends, from 0 to 1.

        >>> Axis("", 1, 100, (), log=True).share(10), Axis("", 0, 4, ()).share(9)
        (0.5, 1.0)
        """
        value = min(self.high, max(self.low, value))
        scale: Callable[[float], float] = log10 if self.log else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


def round_step(span: float, most: int) -> float:
    """The smallest round number (1, 2 or 5 times a power of ten) of which `most` cover a span.

    >>> round_step(35, 8), round_step(1200, 6)
    (5.0, 200.0)
    """
    return next(n * 10.0**power for power in range(-4, 9) for n in (1, 2, 5) if most * n * 10.0**power >= span)


def round_ticks(low: float, high: float, most: int) -> tuple[tuple[float, str], ...]:
    """A few round numbers from `low` to `high`.

    >>> round_ticks(3, 10, 4)
    ((4.0, '4'), (6.0, '6'), (8.0, '8'), (10.0, '10'))
    """
    step = round_step(high - low, most)
    return tuple((step * n, f"{step * n:g}") for n in range(ceil(low / step), int(high / step) + 1))


@dataclass(frozen=True)
class Series:
    """Marks of one kind: bars go up from `start` to y around x, spans go right from `start` to x around y."""

    name: str
    mark: Mark
    x: tuple[float, ...]
    y: tuple[float, ...]
    hover: tuple[str, ...] = ()  # one text per dot, bar or span, shown where the pointer is
    colour: str = "blue"
    look: Look = "solid"
    start: tuple[float, ...] = ()  # the low end of each bar or span; the end of the axis if empty
    words: tuple[str, ...] = ()  # one text per mark, on the drawing
    thick: float = 0.8  # of a bar or span, in units of the axis across it
    part: str = ""  # the name by which a page finds these marks; "newest": the page scrolls to them

    def begins(self, axis: Axis) -> tuple[float, ...]:
        """The low ends of bars and spans along this axis."""
        return self.start or (axis.low,) * len(self.x)


Box = tuple[float, float, float, str]  # start, end, lane, and the text that is shown where the pointer is


def spans(
    name: str, boxes: Sequence[Box], colour: str, look: Look = "solid", thick: float = 0.7, words: Sequence[str] = ()
) -> Series:
    """Boxes in lanes as one series."""
    low, up, lanes, hover = map(tuple, zip(*boxes, strict=True)) if boxes else ((), (), (), ())
    return Series(name, "spans", up, lanes, hover if any(hover) else (), colour, look, low, tuple(words), thick)


SpanKind = tuple[str, str, Look]  # a name, its colour and its look


def spans_by_kind(kinds: Sequence[SpanKind], boxes: Iterable[tuple[str, Box]]) -> tuple[Series, ...]:
    """One series per kind that has a box of some width."""
    found: dict[str, list[Box]] = {name: [] for name, *_ in kinds}
    for name, box in boxes:
        found[name] += [box] * (box[1] > box[0])
    return tuple(spans(name, found[name], colour, look) for name, colour, look in kinds if found[name])


@dataclass(frozen=True)
class Chart:
    """A title, lines of text below it, two axes and what stands between them."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()
    width: float = 760.0  # of the plot, without labels
    height: float = 260.0


EDGE, LINE, LEGEND = 16.0, 18.0, 26.0
NARROW, SHORT = 10.0, 10  # pixels per tick label; characters of a label that is turned
DASHES = {"dashed": "7 4", "dotted": "2 4", "mixed": "10 3 2 3"}


@dataclass(frozen=True)
class PlotFrame:
    """The place of a plot in a drawing."""

    chart: Chart
    left: float
    top: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of a value."""
        chart = self.chart
        return self.left + chart.width * chart.x.share(x), self.top + chart.height * (1 - chart.y.share(y))


def draw_chart(chart: Chart, text: str, live: bool = False) -> Figure:
    """The chart as a figure: its drawing, its words, and the numbers that a notebook shows with Plotly."""
    left = EDGE + max((wide(words, 12) for _, words in chart.y.ticks), default=0.0) + 12
    top = EDGE + LINE * (1 + len(chart.notes)) + LEGEND + (LINE if chart.y.title else 6)
    frame = PlotFrame(chart, left, top)
    parts = [write(EDGE, 24, shorten(chart.title, 100), 14, font_weight="bold")]
    parts += [write(EDGE, 24 + LINE * n, words, 13) for n, words in enumerate(chart.notes, 1)]
    parts += [*write_legend(chart, EDGE, 24 + LINE * (1 + len(chart.notes))), *write_plot(frame)]
    low = top + chart.height + _label_room(chart) + (LINE + 6 if chart.x.title else 8)
    width = max(left + chart.width + 2 * EDGE, *(2 * EDGE + 6.8 * len(words) for words in ("", *chart.notes)))
    alt = text.replace("\n", ". ")
    return Figure(drawing(width, low, *parts, alt=alt), text, alt, live, plotly_json(chart))


def write_legend(chart: Chart, x: float, y: float) -> Iterator[Element]:
    """The sign and the name of each series."""
    for series in chart.series:
        if series.name:
            yield _sign(series, x, y - 4) + soft(x + 24, y, series.name)
            x += 44 + 6.8 * len(series.name)


def write_plot(frame: PlotFrame) -> Iterator[Element]:
    """The axes and the marks of a chart."""
    yield from (_hatch(series) for series in frame.chart.series if series.look == "hatched")
    yield from _write_y(frame)
    yield from _write_x(frame)
    for series in frame.chart.series:
        yield from MARKS[series.mark](frame, series)


def _write_y(frame: PlotFrame) -> Iterator[Element]:
    chart = frame.chart
    for value, words in chart.y.ticks:
        x, y = frame.at(chart.x.low, value)
        if chart.y.grid:
            yield node("path", d=f"M{x:g},{y:.1f}h{chart.width:g}", stroke="var(--gv-line)")
        yield soft(x - 8, y + 4, words, mono=chart.y.mono, text_anchor="end")
    if chart.y.title:
        yield soft(EDGE if frame.left > 60 else 6, frame.top - 14, chart.y.title)


def _write_x(frame: PlotFrame) -> Iterator[Element]:
    chart, ground = frame.chart, frame.top + frame.chart.height
    yield node("path", d=f"M{frame.left:g},{ground:g}h{chart.width:g}", stroke="var(--gv-soft)")
    each, turned = _label_step(chart)
    for value, words in chart.x.ticks[::each]:
        x, _ = frame.at(value, chart.y.low)
        if chart.x.grid:
            yield node("path", d=f"M{x:.1f},{frame.top:g}v{chart.height + 5:g}", stroke="var(--gv-line)")
        look: dict[str, Any] = {"fill": "var(--gv-soft)", "text_anchor": "end" if turned else "middle"}
        look |= {"transform": f"rotate(-90 {x + 4:.1f} {ground + 7:g})"} if turned else {}
        place = (x + 4, ground + 7) if turned else (x, ground + 18)
        yield write(*place, shorten(words, SHORT) if turned else words, 12, chart.x.mono, **look)
    if chart.x.title:
        low = ground + _label_room(chart) + LINE - 2
        yield soft(frame.left + chart.width / 2, low, chart.x.title, text_anchor="middle")


def _label_step(chart: Chart) -> tuple[int, bool]:
    """How many labels of the x axis go by for one that has room, and whether labels are turned."""
    room = chart.width / max(1, len(chart.x.ticks))
    turned = chart.x.mono and any(wide(words, 12) > room - 2 for _, words in chart.x.ticks)
    return max(1, -int(-NARROW // room)) if chart.x.mono else 1, turned


def _label_room(chart: Chart) -> float:
    _, turned = _label_step(chart)
    return 8 + max(wide(shorten(words, SHORT), 12) for _, words in chart.x.ticks) if turned else 22.0


def _write_line(frame: PlotFrame, series: Series) -> Iterator[Element]:
    points = (frame.at(*point) for point in zip(series.x, series.y, strict=True))
    way = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    look: dict[str, Any] = {"stroke_dasharray": DASHES[series.look]} if series.look in DASHES else {}
    yield node(
        "path", d=way, fill="none", stroke=f"var(--gv-{series.colour})", stroke_width=2.2, **look, **_part(series)
    )


def _part(series: Series) -> dict[str, str]:
    return {"data_newest": ""} if series.part == "newest" else {"data_part": series.part} if series.part else {}


def _write_dots(frame: PlotFrame, series: Series) -> Iterator[Element]:
    def dots() -> Iterator[Element]:
        halo: dict[str, Any] = {"stroke": "var(--gv-page)", "stroke_width": 4, "paint_order": "stroke"}
        for n, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            cx, cy = frame.at(x, y)
            radius, fill = (4.0, "page") if series.look == "hollow" else (5.0, series.colour)
            size = {"r": radius, "stroke_width": 1.6, "stroke": f"var(--gv-{series.colour})"}
            yield node("circle", *_title(series, n), cx=cx, cy=cy, **size, fill=f"var(--gv-{fill})")
            if series.words:
                yield write(cx, cy - 10, series.words[n], 12, text_anchor="middle", **halo)

    yield node("g", *dots(), **_part(series))


def _write_bars(frame: PlotFrame, series: Series) -> Iterator[Element]:
    high = frame.chart.y.high
    for n, (x, low, up) in enumerate(zip(series.x, series.begins(frame.chart.y), series.y, strict=True)):
        left, top = frame.at(x - series.thick / 2, up)
        right, base = frame.at(x + series.thick / 2, low)
        if base - top > 0.05:
            yield node("g", _box(series, n, left, top, right - left, base - top), **_part(series))
        if low < high < up:  # the bar is cut
            yield _tear(left, frame.top + 10, right - left)
        if series.words and series.words[n]:
            yield write((left + right) / 2, top - 5, series.words[n], 10, text_anchor="middle")


def _write_spans(frame: PlotFrame, series: Series) -> Iterator[Element]:
    for n, (low, up, lane) in enumerate(zip(series.begins(frame.chart.x), series.x, series.y, strict=True)):
        left, top = frame.at(low, lane + series.thick / 2)
        right, base = frame.at(up, lane - series.thick / 2)
        width = max(1.0, right - left - 1)
        yield _box(series, n, left, top, width, base - top)
        if series.words and wide(series.words[n], 11) + 4 < width:
            look = {"fill": "var(--gv-on)", "text_anchor": "middle"}
            yield write(left + width / 2, (top + base) / 2 + 4, series.words[n], 11, mono=True, **look)


MARKS: dict[str, Callable[[PlotFrame, Series], Iterator[Element]]] = {
    "line": _write_line,
    "dots": _write_dots,
    "bars": _write_bars,
    "spans": _write_spans,
}


def _box(series: Series, n: int, x: float, y: float, width: float, height: float) -> Element:
    """One bar or span: solid, hatched, or an outline."""
    place = {"x": x, "y": y, "width": width, "height": height}
    colour = f"var(--gv-{series.colour})"
    if series.look == "hollow":
        look = {"fill": colour, "fill_opacity": 0.25, "stroke": colour, "stroke_width": min(1.2, height / 2)}
        return node("rect", *_title(series, n), **place, **look)
    over = node("rect", **place, fill=f"url(#gv-hatch-{series.colour})") if series.look == "hatched" else NOTHING
    return node("g", *_title(series, n), node("rect", **place, fill=colour), over)


def _title(series: Series, n: int) -> list[Element]:
    return [node("title", series.hover[n])] if series.hover else []


def _hatch(series: Series) -> Element:
    """Lines over the colour, so that the parts differ by more than colour."""
    line = node("path", d="M-1 5L5 -1", stroke="var(--gv-page)", stroke_width=1.2)
    name = f"gv-hatch-{series.colour}"
    return node("defs", node("pattern", line, id=name, width=4, height=4, patternUnits="userSpaceOnUse"))


def _tear(x: float, y: float, width: float) -> Element:
    """A zigzag over a bar that is cut."""
    way = f"M{x - 2:g} {y + 3:g}l{width / 4 + 1:g} -6l{width / 4 + 1:g} 6l{width / 4 + 1:g} -6l{width / 4 + 1:g} 6"
    draw = partial(node, "path", d=way, fill="none")
    return draw(stroke="var(--gv-page)", stroke_width=5) + draw(stroke="var(--gv-ink)", stroke_width=1.4)


def _sign(series: Series, x: float, y: float) -> Element:
    """The mark of a series in the legend."""
    colour = f"var(--gv-{series.colour})"
    if series.mark == "line":
        dash = {"stroke_dasharray": DASHES[series.look]} if series.look in DASHES else {}
        return node("path", d=f"M{x - 4:g},{y:g}h24", stroke=colour, stroke_width=2.2, **dash)
    if series.mark == "dots":
        fill = "var(--gv-page)" if series.look == "hollow" else colour
        return node("circle", cx=x + 10, cy=y, r=4.5, fill=fill, stroke=colour, stroke_width=1.6)
    plain = Series("", "bars", (), (), colour=series.colour, look=series.look)
    return _box(plain, 0, x + 4, y - 6, 12, 12)


# A chart as JSON for Plotly: plain lists, no random names, text in the colour of JupyterLab's theme.


PLOTLY_DASHES = {"dashed": "dash", "dotted": "dot", "mixed": "dashdot"}
INK = "var(--jp-ui-font-color1, #444)"
HOVER = {"bgcolor": LIGHT["ink"], "font": {"color": LIGHT["page"]}}
COLOURS = LIGHT | {"ink": "#808080", "soft": "#808080"}  # on light and on dark paper
NO_TEMPLATE = {"data": {"scatter": [{"type": "scatter"}]}}  # what template="none" stands for
GRID = "rgba(128,128,128,0.3)"


def plotly_json(chart: Chart) -> dict[str, Any]:
    """The chart as Plotly's JSON: plain lists, no random names, text colours that follow JupyterLab's theme."""
    said = "<br>".join(
        [f"<b>{_plain(chart.title)}</b>", *(f"<span style='font-size:13px'>{_plain(n)}</span>" for n in chart.notes)]
    )
    top = 80 + 20 * len(chart.notes)
    layout: dict[str, Any] = {
        "template": NO_TEMPLATE,
        "title": {"text": _ink(said), "x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "container",
                  "yanchor": "top", "pad": {"t": 20}, "font": {"size": 15}, "automargin": False},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "#777777"},
        "xaxis": _plotly_axis(chart.x),
        "yaxis": _plotly_axis(chart.y),
        "legend": {"orientation": "h", "x": 0, "y": 1 + 18 / chart.height, "yanchor": "bottom", "xanchor": "left"},
        "margin": {"l": 60, "r": 40, "t": top, "b": 50 if chart.x.title else 34},
        "height": top + chart.height + 50,
        "barmode": "overlay",
        "uniformtext": {"mode": "hide", "minsize": 9},
        "bargap": 0,
        "hovermode": "closest",
        "hoverlabel": HOVER,
        "showlegend": True,
    }  # fmt: skip
    if notes := [note for series in chart.series if series.mark == "bars" for note in _notes(chart.y, series)]:
        layout["annotations"] = notes
    return {"data": [_trace(chart, series) for series in chart.series], "layout": layout}


def _plotly_axis(axis: Axis) -> dict[str, Any]:
    low, high = (log10(end) if axis.log else end for end in (axis.low, axis.high))
    return {
        "type": "log" if axis.log else "linear",
        "range": [low, high + (high - low) / 200],  # with room for the last grid line
        "title": {"text": _ink(_plain(axis.title))},
        "tickvals": [value for value, _ in axis.ticks],
        "ticktext": [_ink(_plain(words)) for _, words in axis.ticks],
        "showgrid": axis.grid,
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": True,
    } | ({"tickfont": {"family": "monospace"}} if axis.mono else {})


def _notes(axis: Axis, series: Series) -> Iterator[dict[str, Any]]:
    """The words above bars."""
    for x, y, words in zip(series.x, series.y, series.words, strict=False):
        if words:
            place = log10(min(axis.high, y)) if axis.log else min(axis.high, y)
            yield {"x": x, "y": place, "yshift": 8, "text": _ink(_plain(words)), "showarrow": False}


def _trace(chart: Chart, series: Series) -> dict[str, Any]:
    """One series as a trace of Plotly."""
    colour = COLOURS[series.colour]
    trace: dict[str, Any] = {"name": _ink(_plain(series.name)), "showlegend": bool(series.name)}
    trace |= {"x": list(series.x), "y": list(series.y), "type": "scatter"}
    told = [_plain(words) for words in series.hover]
    trace |= {"hovertext": told, "hovertemplate": "%{hovertext}<extra></extra>"} if told else {"hoverinfo": "skip"}
    match series.mark:
        case "line":
            line = {"color": colour, "dash": PLOTLY_DASHES.get(series.look, "solid"), "width": 2.2}
            return trace | {"mode": "lines", "line": line}
        case "dots":
            symbol = "circle-open" if series.look == "hollow" else "circle"
            marker = {"color": colour, "size": 9, "symbol": symbol, "line": {"color": colour, "width": 1.6}}
            words = {"mode": "markers+text", "text": [_ink(_plain(w)) for w in series.words]} if series.words else {}
            return trace | {"mode": "markers", "marker": marker, "textposition": "top center"} | words
        case "bars":
            low = series.start or (0.0,) * len(series.y)
            trace |= {"y": [up - down for down, up in zip(low, series.y, strict=True)], "base": list(low)}
            return trace | {"type": "bar", "width": series.thick, "marker": _fill(series)}
    low = series.begins(chart.x)
    trace |= {"x": [up - down for down, up in zip(low, series.x, strict=True)], "base": list(low), "orientation": "h"}
    inside = {"text": [_plain(words) for words in series.words], "textposition": "inside", "insidetextanchor": "middle"}
    return trace | {"type": "bar", "width": series.thick, "marker": _fill(series)} | (inside if series.words else {})


def _fill(series: Series) -> dict[str, Any]:
    colour = COLOURS[series.colour]
    if series.look == "hollow":
        red, green, blue = bytes.fromhex(colour.removeprefix("#"))
        return {"color": f"rgba({red},{green},{blue},0.4)", "line": {"color": colour, "width": 1}}
    lines = {"shape": "/", "fillmode": "overlay", "fgcolor": LIGHT["page"], "size": 5, "solidity": 0.3}
    return {"color": colour} | ({"pattern": lines} if series.look == "hatched" else {})


def _plain(words: str) -> str:
    """A text that Plotly neither reads as tags nor as TeX.

    >>> _plain("<b>$x$")
    '&lt;b&gt;&#36;x&#36;'
    """
    return html.escape(printable(words), quote=False).replace("$", "&#36;").replace("\n", "<br>")


def _ink(words: str) -> str:
    """Markup in the text colour of JupyterLab's theme; Plotly itself cannot follow it."""
    return f'<span style="color:{INK}">{words}</span>' if words else ""
