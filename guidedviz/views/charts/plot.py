"""A chart is a plain record of its axes and marks. `draw_chart` makes its still, an SVG, and its numbers for Plotly.

Values beyond an axis are drawn at its end.
"""

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log10
from typing import Any, Literal

from guidedviz.errors import expect, shorten
from guidedviz.machines.work import grouped
from guidedviz.markup import NOTHING, Element, node, printable
from guidedviz.views.figure import Figure, drawing, soft, wide, write, write_legend
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


def round_ticks(high: float, most: int) -> tuple[tuple[float, str], ...]:
    """A few round numbers from 0 to `high`: multiples of 1, 2 or 5 times a power of ten.

    >>> round_ticks(9, 4)
    ((0.0, '0'), (5.0, '5'))
    """
    steps = (n * 10.0**power for power in range(-4, 9) for n in (1, 2, 5))
    step = next(step for step in steps if most * step >= high)
    return tuple((step * n, f"{step * n:g}") for n in range(int(high / step) + 1))


def lanes_axis(names: Sequence[str]) -> Axis:
    """A vertical axis with one lane per name, from the top."""
    ticks = tuple((float(len(names) - place), name) for place, name in enumerate(names))
    return Axis("", 0.4, len(names) + 0.6, ticks, grid=False)


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
    start: tuple[float, ...] = ()  # the low end of each bar or span
    words: tuple[str, ...] = ()  # one text per mark, on the drawing
    thick: float = 0.8  # of a bar or span, in units of the axis across it
    part: str = ""  # the name by which a page finds these marks


Box = tuple[float, float, float, str]  # start, end, lane, and the text that is shown where the pointer is
SpanKind = tuple[str, str, Look]  # a name, its colour and its look


def spans_by_kind(kinds: Iterable[SpanKind], boxes: Iterable[tuple[str, Box]]) -> tuple[Series, ...]:
    """Boxes in lanes: a series per kind that has a box of some width; a solid box with room has its text up to ":"."""
    found = grouped((name, box) for name, box in boxes if box[1] > box[0])
    made = []
    for name, colour, look in (kind for kind in kinds if found[kind[0]]):
        low, up, lanes, told = zip(*found[name], strict=True)
        words = tuple(said.partition(":")[0] for said in told) if look == "solid" else ()
        made.append(Series(name, "spans", up, lanes, told if any(told) else (), colour, look, low, words, 0.7))
    return tuple(made)


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
HALO: dict[str, Any] = {"stroke": "var(--gv-page)", "stroke_width": 4, "paint_order": "stroke"}  # of words on lines
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
    expect(chart.title, str, "title", "a text")
    left = EDGE + max((wide(words, 12) for _, words in chart.y.ticks), default=0.0) + 12
    top = EDGE + LINE * (1 + len(chart.notes)) + LEGEND + (LINE if chart.y.title else 6)
    parts = [write(EDGE, 24, shorten(chart.title, 100), 14, font_weight="bold")]
    parts += [write(EDGE, 24 + LINE * n, words, 13) for n, words in enumerate(chart.notes, 1)]
    signs = ((_sign(series), series.name) for series in chart.series if series.name)
    legend, end, _ = write_legend(signs, EDGE, 24 + LINE * (1 + len(chart.notes)))
    parts += legend
    parts += write_plot(PlotFrame(chart, left, top))
    low = top + chart.height + _label_room(chart) + (LINE + 6 if chart.x.title else 8)
    width = 2 * EDGE + max(left + chart.width, end, *(6.8 * len(words) for words in chart.notes))
    alt = text.replace("\n", ". ")
    return Figure(drawing(width, low, *parts, alt=alt), text, alt, live, plotly_json(chart))


def _sign(series: Series) -> Element:
    """The sign of a series in the legend."""
    look: dict[str, Any] = {"stroke": f"var(--gv-{series.colour})", "stroke_width": 2}
    look["stroke_dasharray"] = DASHES.get(series.look, "none")
    match series.mark:
        case "line":
            return node("path", d="M-4,0h24", **look)
        case "dots":
            return node("circle", cx=10, cy=0, r=4.5, fill=_dot_fill(series), **look)
    return _box(replace(series, hover=()), 0, 4, -6, 12, 12)


def write_plot(frame: PlotFrame) -> Iterator[Element]:
    """The axes and the marks of a chart."""
    hatched = dict.fromkeys(series.colour for series in frame.chart.series if series.look == "hatched")
    for colour in hatched:
        line = node("path", d="M-1 5L5 -1", stroke="var(--gv-page)", stroke_width=1.2)
        hatch = {"id": f"gv-hatch-{colour}", "patternUnits": "userSpaceOnUse"}
        yield node("defs", node("pattern", line, width=4, height=4, **hatch))
    yield from _write_y(frame)
    yield from _write_x(frame)
    for series in frame.chart.series:
        yield from WRITERS.get(series.mark, _write_boxes)(frame, series)


def _write_y(frame: PlotFrame) -> Iterator[Element]:
    chart = frame.chart
    for value, words in chart.y.ticks:
        x, y = frame.at(chart.x.low, value)
        if chart.y.grid:
            yield node("path", d=f"M{x:g},{y:.1f}h{chart.width:g}", stroke="var(--gv-line)")
        yield soft(x - 8, y + 4, words, text_anchor="end")
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
        if turned:
            turn = f"rotate(-90 {x + 4:.1f} {ground + 7:g})"
            yield soft(x + 4, ground + 7, shorten(words, SHORT), mono=True, text_anchor="end", transform=turn)
        else:
            yield soft(x, ground + 18, words, mono=chart.x.mono, text_anchor="middle")
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
    look = {"stroke": f"var(--gv-{series.colour})", "stroke_dasharray": DASHES.get(series.look, "none")}
    yield node("path", d=way, fill="none", stroke_width=2.2, **look, data_part=series.part or None)


def _write_dots(frame: PlotFrame, series: Series) -> Iterator[Element]:
    dots: list[Element] = []
    look: dict[str, Any] = {"r": 4.5, "stroke_width": 1.6, "stroke": f"var(--gv-{series.colour})"}
    for n, point in enumerate(zip(series.x, series.y, strict=True)):
        cx, cy = frame.at(*point)
        dots.append(node("circle", *_title(series, n), cx=cx, cy=cy, fill=_dot_fill(series), **look))
        if series.words:
            dots.append(write(cx, cy - 10, series.words[n], 12, text_anchor="middle", **HALO))
    yield node("g", *dots, data_part=series.part or None)


def _write_boxes(frame: PlotFrame, series: Series) -> Iterator[Element]:
    """Bars with their words above them, or spans with their words inside where there is room."""
    bars, half = series.mark == "bars", series.thick / 2
    for n, (x, y, low) in enumerate(zip(series.x, series.y, series.start, strict=True)):
        corners = ((x - half, low), (x + half, y)) if bars else ((low, y - half), (x, y + half))
        (left, base), (right, top) = (frame.at(*corner) for corner in corners)
        width = right - left if bars else max(1.0, right - left - 1)
        if base - top > 0.05:
            yield _box(series, n, left, top, width, base - top)
        words = series.words[n] if series.words else ""
        if bars and words:
            yield write((left + right) / 2, top - 5, words, 10, text_anchor="middle")
        elif words and wide(words, 11) + 4 < width:
            look = {"fill": "var(--gv-on)", "text_anchor": "middle"}
            yield write(left + width / 2, (top + base) / 2 + 4, words, 11, mono=True, **look)


WRITERS = {"line": _write_line, "dots": _write_dots}


def _dot_fill(series: Series) -> str:
    return f"var(--gv-{'page' if series.look == 'hollow' else series.colour})"


def _title(series: Series, n: int) -> list[Element]:
    return [node("title", series.hover[n])] if series.hover else []


def _box(series: Series, n: int, x: float, y: float, width: float, height: float) -> Element:
    """One bar or span: solid, hatched, or an outline."""
    place = {"x": x, "y": y, "width": width, "height": height}
    colour = f"var(--gv-{series.colour})"
    if series.look == "hollow":
        look = {"fill": colour, "fill_opacity": 0.25, "stroke": colour, "stroke_width": min(1.2, height / 2)}
        return node("rect", *_title(series, n), **place, **look)
    over = node("rect", **place, fill=f"url(#gv-hatch-{series.colour})") if series.look == "hatched" else NOTHING
    return node("g", *_title(series, n), node("rect", **place, fill=colour), over)


# --- the same for Plotly: plain lists, no random names, text in the colour of JupyterLab's theme ---


PLOTLY_DASHES = {"dashed": "dash", "dotted": "dot", "mixed": "dashdot"}
INK = "var(--jp-ui-font-color1, #444)"
COLOURS = LIGHT | {"ink": "#808080", "soft": "#808080"}  # on light and on dark paper
GRID, CLEAR, FONT = "rgba(128,128,128,0.3)", "rgba(0,0,0,0)", "system-ui, sans-serif"
LAYOUT: dict[str, Any] = {  # of every chart
    "template": {"data": {"scatter": [{"type": "scatter"}]}},  # what template="none" stands for
    "paper_bgcolor": CLEAR,
    "plot_bgcolor": CLEAR,
    "font": {"family": FONT, "size": 12, "color": "#777777"},
    "barmode": "overlay",
    "uniformtext": {"mode": "hide", "minsize": 9},
    "bargap": 0,
    "hovermode": "closest",
    "hoverlabel": {"bgcolor": LIGHT["ink"], "font": {"color": LIGHT["page"]}},
}
TITLE = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 20}}


def plotly_json(chart: Chart) -> dict[str, Any]:
    """The chart as Plotly's JSON."""
    notes = [f"<span style='font-size:13px'>{_plain(note)}</span>" for note in chart.notes]
    said, top = "<br>".join([f"<b>{_plain(chart.title)}</b>", *notes]), 80 + 20 * len(notes)
    layout = LAYOUT | {
        "title": TITLE | {"text": _ink(said), "font": {"size": 15}, "automargin": False},
        "xaxis": _plotly_axis(chart.x),
        "yaxis": _plotly_axis(chart.y),
        "legend": {"orientation": "h", "x": 0, "y": 1 + 18 / chart.height, "yanchor": "bottom", "xanchor": "left"},
        "margin": {"l": 60, "r": 40, "t": top, "b": 50 if chart.x.title else 34},
        "height": top + chart.height + 50,
    }
    return {"data": [_trace(series) for series in chart.series], "layout": layout}


def _plotly_axis(axis: Axis) -> dict[str, Any]:
    low, high = (log10(end) if axis.log else end for end in (axis.low, axis.high))
    return {
        "type": "log" if axis.log else "linear",
        "range": [low, high + (high - low) / 200],  # with room for the last grid line
        "title": {"text": _ink(_plain(axis.title))},
        "tickvals": [value for value, _ in axis.ticks],
        "ticktext": [_ink(_plain(words)) for _, words in axis.ticks],
        "tickfont": {"family": "monospace" if axis.mono else FONT},
        "showgrid": axis.grid,
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": True,
    }


def _trace(series: Series) -> dict[str, Any]:
    """One series as a trace of Plotly."""
    told, words = ([_plain(said) for said in texts] for texts in (series.hover, series.words))
    trace: dict[str, Any] = {"name": _ink(_plain(series.name)), "showlegend": bool(series.name)}
    trace |= {"hovertext": told, "hoverinfo": "text" if told else "skip", "x": [*series.x], "y": [*series.y]}
    line: dict[str, Any] = {"color": COLOURS[series.colour], "width": 2}
    if series.mark == "line":
        line["dash"] = PLOTLY_DASHES.get(series.look, "solid")
        return trace | {"type": "scatter", "mode": "lines", "line": line}
    if series.mark == "dots":
        symbol = "circle-open" if series.look == "hollow" else "circle"
        trace |= {"marker": {"color": line["color"], "size": 9, "symbol": symbol, "line": line}}
        trace |= {"type": "scatter", "mode": "markers+text"}
        return trace | {"text": [*map(_ink, words)], "textposition": "top center"}
    along, orientation = ("y", "v") if series.mark == "bars" else ("x", "h")
    fill: dict[str, Any] = {"color": line["color"], "opacity": 0.4 if series.look == "hollow" else 1.0}
    if series.look == "hatched":
        fill["pattern"] = {"shape": "/", "fillmode": "overlay", "fgcolor": LIGHT["page"], "size": 5, "solidity": 0.3}
    trace |= {along: [up - down for down, up in zip(series.start, trace[along], strict=True)], "base": [*series.start]}
    trace |= {"type": "bar", "orientation": orientation, "width": series.thick, "marker": fill}
    return trace | {"text": words, "textposition": "inside", "insidetextanchor": "middle"}


def _plain(words: str) -> str:
    """A text that Plotly neither reads as tags nor as TeX.

    >>> _plain("<b>$x$")
    '&lt;b&gt;&#36;x&#36;'
    """
    return html.escape(printable(words), quote=False).replace("$", "&#36;").replace("\n", "<br>")


def _ink(words: str) -> str:
    """Markup in the text colour of JupyterLab's theme; Plotly itself cannot follow it."""
    return f'<span style="color:{INK}">{words}</span>' if words else ""
