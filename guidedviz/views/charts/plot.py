"""`draw_chart` draws a chart as SVG, and as Plotly's JSON, which a notebook shows.

The JSON has plain lists, and text in the colour of JupyterLab's theme.
"""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log10
from textwrap import wrap
from typing import Any

from guidedviz.errors import expect, shorten
from guidedviz.markup import NOTHING, Element, node, printable
from guidedviz.views.charts.chart import Axis, Chart, Series
from guidedviz.views.figure import (
    EDGE,
    Figure,
    Style,
    bold,
    centred,
    circle_at,
    drawing,
    path_of,
    ruled,
    soft,
    soft_centred,
    soft_right,
    upright,
    wide,
    write,
    write_legend,
    write_polyline,
)
from guidedviz.views.theme import LIGHT, paint

NOTE_LINE = 18.0  # the height of a line of text
LEGEND_LINE = 26.0
NARROWEST_LABEL = 10.0  # pixels that a label of the x axis needs at least
TURNED_ROOM = 10  # characters of a label that is turned
HALO: Style = {"stroke": "var(--gv-page)", "stroke_width": 4, "paint_order": "stroke"}  # of words on lines
DASHES = {"dashed": "7 4", "dotted": "2 4", "mixed": "10 3 2 3"}


@dataclass(frozen=True)
class PlotFrame:
    """The place of a plot in a drawing."""

    chart: Chart
    left: float
    top: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of a value."""
        across = self.chart.x.share(x)
        down = 1 - self.chart.y.share(y)
        right = self.left + self.chart.width * across
        return right, self.top + self.chart.height * down


def draw_chart(chart: Chart, text: str, live: bool = False) -> Figure:
    """The chart as a figure: its drawing, its words, and the numbers that a notebook shows with Plotly."""
    expect(chart.title, str, "title", "a text")
    lines = NOTE_LINE * (1 + len(chart.notes))
    labels = max((wide(words, 12) for _, words in chart.y.ticks), default=0.0)
    left = EDGE + labels + 12
    top = EDGE + lines + LEGEND_LINE + (NOTE_LINE if chart.y.title else 6)
    parts = [bold(EDGE, 24, shorten(chart.title, 100), 14)]
    for number, words in enumerate(chart.notes, 1):
        parts.append(write(EDGE, 24 + NOTE_LINE * number, words))
    signs = ((_write_series_sign(series), series.name) for series in chart.series if series.name)
    legend, end, _ = write_legend(signs, EDGE, 24 + lines)
    parts += legend
    parts += write_plot(PlotFrame(chart, left, top))
    below = NOTE_LINE + 6 if chart.x.title else 8.0
    low = top + chart.height + _label_room(chart) + below
    longest = max((6.8 * len(words) for words in chart.notes), default=0.0)
    width = 2 * EDGE + max(left + chart.width, end, longest)
    alt = text.replace("\n", ". ")
    sheet = drawing(width, low, *parts, alt=alt)
    return Figure(sheet, text, alt, live, plotly_json(chart))


def _write_series_sign(series: Series) -> Element:
    """The sign of a series in the legend."""
    if series.kind in ("bars", "spans"):
        return _write_mark_box(series, "", 4, -6, 12, 12)
    dashes = DASHES.get(series.look, "none")
    look = {"stroke": paint(series.colour), "stroke_width": 2, "stroke_dasharray": dashes}
    if series.kind == "line":
        return path_of("M-4,0h24", **look)
    return circle_at(10, 0, 4.5, fill=_dot_fill(series), **look)


def write_plot(frame: PlotFrame) -> Iterator[Element]:
    """The axes and the marks of a chart."""
    hatched = dict.fromkeys(series.colour for series in frame.chart.series if series.look == "hatched")
    for colour in hatched:
        line = path_of("M-1 5L5 -1", stroke="var(--gv-page)", stroke_width=1.2)
        name = f"gv-hatch-{colour}"
        yield node("defs", node("pattern", line, width=4, height=4, id=name, patternUnits="userSpaceOnUse"))
    yield from _write_y(frame)
    yield from _write_x(frame)
    for series in frame.chart.series:
        if series.kind == "line":
            yield _write_line(frame, series)
        elif series.kind == "dots":
            yield _write_series_dots(frame, series)
        else:
            yield from _write_boxes(frame, series)


def _write_y(frame: PlotFrame) -> Iterator[Element]:
    chart = frame.chart
    for value, words in chart.y.ticks:
        x, y = frame.at(chart.x.low, value)
        if chart.y.grid:
            yield ruled(x, y, chart.width, stroke="var(--gv-line)")
        yield soft_right(x - 8, y + 4, words)
    if chart.y.title:
        left = EDGE if frame.left > 60 else 6
        yield soft(left, frame.top - 14, chart.y.title)


def _write_x(frame: PlotFrame) -> Iterator[Element]:
    chart = frame.chart
    ground = frame.top + chart.height
    yield ruled(frame.left, ground, chart.width, stroke="var(--gv-soft)")
    turned = _are_turned(chart)
    for value, words in chart.x.ticks[:: _label_step(chart)]:
        x, _ = frame.at(value, chart.y.low)
        if chart.x.grid:
            yield upright(x, frame.top, chart.height + 5, stroke="var(--gv-line)")
        if turned:
            turn = f"rotate(-90 {x + 4:.1f} {ground + 7:g})"
            said = shorten(words, TURNED_ROOM)
            yield soft_right(x + 4, ground + 7, said, mono=True, transform=turn)
        else:
            yield soft_centred(x, ground + 18, words, mono=chart.x.mono)
    if chart.x.title:
        low = ground + _label_room(chart) + NOTE_LINE - 2
        yield soft_centred(frame.left + chart.width / 2, low, chart.x.title)


def _label_step(chart: Chart) -> int:
    """Of how many labels of the x axis one is written: of all, or of as many as have room."""
    if not chart.x.mono:
        return 1
    room = chart.width / max(1, len(chart.x.ticks))
    return max(1, ceil(NARROWEST_LABEL / room))


def _are_turned(chart: Chart) -> bool:
    """Whether labels that are tokens are turned, because one is too wide."""
    room = chart.width / max(1, len(chart.x.ticks)) - 2
    return chart.x.mono and any(wide(words, 12) > room for _, words in chart.x.ticks)


def _label_room(chart: Chart) -> float:
    if not _are_turned(chart):
        return 22.0
    longest = max(wide(shorten(words, TURNED_ROOM), 12) for _, words in chart.x.ticks)
    return 8 + longest


def _write_line(frame: PlotFrame, series: Series) -> Element:
    points = [frame.at(mark.x, mark.y) for mark in series.marks]
    look = {"stroke": paint(series.colour), "stroke_dasharray": DASHES.get(series.look, "none")}
    return write_polyline(points, stroke_width=2.2, **look, data_part=series.part or None)


def _write_series_dots(frame: PlotFrame, series: Series) -> Element:
    dots: list[Element] = []
    look = {"fill": _dot_fill(series), "r": 4.5, "stroke_width": 1.6, "stroke": paint(series.colour)}
    for mark in series.marks:
        cx, cy = frame.at(mark.x, mark.y)
        dots.append(node("circle", _write_hover(mark.hover), cx=cx, cy=cy, **look))
        if mark.words:
            dots.append(centred(cx, cy - 10, mark.words, 12, **HALO))
    return node("g", *dots, data_part=series.part or None)


def _write_boxes(frame: PlotFrame, series: Series) -> Iterator[Element]:
    """Bars with their words above them, or spans with their words inside where there is room."""
    bars = series.kind == "bars"
    half = series.thick / 2
    for x, y, low, hover, words in series.marks:
        if bars:
            left, base = frame.at(x - half, low)
            right, top = frame.at(x + half, y)
            width = right - left
        else:
            left, base = frame.at(low, y - half)
            right, top = frame.at(x, y + half)
            width = max(1.0, right - left - 1)
        if base - top > 0.05:
            yield _write_mark_box(series, hover, left, top, width, base - top)
        if bars and words:
            yield centred((left + right) / 2, top - 5, words, 10)
        elif words and wide(words, 11) + 4 < width:
            look = {"fill": "var(--gv-on)", "text_anchor": "middle"}
            middle = left + width / 2
            yield write(middle, (top + base) / 2 + 4, words, 11, mono=True, **look)


def _dot_fill(series: Series) -> str:
    return paint("page" if series.look == "hollow" else series.colour)


def _write_hover(words: str) -> Element:
    return node("title", words) if words else NOTHING


def _write_mark_box(series: Series, said: str, x: float, y: float, width: float, height: float) -> Element:
    """One bar or span: solid, hatched, or an outline."""
    place = {"x": x, "y": y, "width": width, "height": height}
    colour = paint(series.colour)
    hover = _write_hover(said)
    if series.look == "hollow":
        line = min(1.2, height / 2)
        return node("rect", hover, **place, fill=colour, fill_opacity=0.25, stroke=colour, stroke_width=line)
    over = NOTHING
    if series.look == "hatched":
        over = node("rect", **place, fill=f"url(#gv-hatch-{series.colour})")
    return node("g", hover, node("rect", **place, fill=colour), over)


# --- Plotly's JSON ---


PlotlyJson = dict[str, Any]
PLOTLY_DASHES = {"dashed": "dash", "dotted": "dot", "mixed": "dashdot"}
LAB_INK = "var(--jp-ui-font-color1, #444)"
PLOTLY_COLOURS = LIGHT | {"ink": "#808080", "soft": "#808080"}  # on light and on dark paper
GRID_COLOUR = "rgba(128,128,128,0.3)"
TRANSPARENT = "rgba(0,0,0,0)"
PLOTLY_FONT = "system-ui, sans-serif"
PLOTLY_LAYOUT: PlotlyJson = {  # of every chart
    "template": {"data": {"scatter": [{"type": "scatter"}]}},  # what template="none" stands for
    "paper_bgcolor": TRANSPARENT,
    "plot_bgcolor": TRANSPARENT,
    "font": {"family": PLOTLY_FONT, "size": 12, "color": "#777777"},
    "barmode": "overlay",
    "uniformtext": {"mode": "hide", "minsize": 9},
    "bargap": 0,
    "hovermode": "closest",
    "legend": {  # below all else: it never meets the title
        "orientation": "h",
        "x": 0,
        "xref": "container",
        "y": 0,
        "yref": "container",
        "yanchor": "bottom",
    },
    "hoverlabel": {"bgcolor": LIGHT["ink"], "font": {"color": LIGHT["page"]}},
}
PLOTLY_WRAP = (32, 38)  # characters of a line of the title and of a note: Plotly wraps no text, and a phone is narrow
PLOTLY_LEGEND_LINE = 19
PLOTLY_TITLE = {
    "x": 0,
    "xref": "container",
    "xanchor": "left",
    "y": 1,
    "yref": "container",
    "yanchor": "top",
    "pad": {"t": 20},
}


def plotly_json(chart: Chart) -> PlotlyJson:
    """The chart as Plotly's JSON."""
    title_wide, note_wide = PLOTLY_WRAP
    lines = [f"<b>{_escape_words(line)}</b>" for line in wrap(chart.title, title_wide)]
    for note in chart.notes:
        lines += [f"<span style='font-size:12px'>{_escape_words(line)}</span>" for line in wrap(note, note_wide)]
    title = {"text": _in_ink("<br>".join(lines)), "font": {"size": 14}, "automargin": False}
    top = 30 + NOTE_LINE * len(lines)
    layout = PLOTLY_LAYOUT | {"title": PLOTLY_TITLE | title}
    layout["xaxis"] = _plotly_axis(chart.x)
    layout["yaxis"] = _plotly_axis(chart.y)
    layout["margin"] = {"l": 60, "r": 40, "t": top, "b": 50 if chart.x.title else 34}
    named = sum(bool(series.name) for series in chart.series)
    layout["height"] = top + chart.height + 50 + PLOTLY_LEGEND_LINE * named  # on a phone each name has its line
    return {"data": list(map(_plotly_trace, chart.series)), "layout": layout}


def _plotly_axis(axis: Axis) -> PlotlyJson:
    scale = log10 if axis.log else float
    low = scale(axis.low)
    high = scale(axis.high)
    room = (high - low) / 200  # for the last grid line
    title = {"text": _in_ink(_escape_words(axis.title))}
    found: PlotlyJson = {"type": "log" if axis.log else "linear", "range": [low, high + room], "title": title}
    found["tickvals"] = [value for value, _ in axis.ticks]
    found["ticktext"] = [_in_ink(_escape_words(words)) for _, words in axis.ticks]
    found["tickfont"] = {"family": "monospace" if axis.mono else PLOTLY_FONT}
    return found | {"showgrid": axis.grid, "gridcolor": GRID_COLOUR, "zeroline": False, "automargin": True}


def _plotly_trace(series: Series) -> PlotlyJson:
    """One series as a trace of Plotly."""
    name = _in_ink(_escape_words(series.name))
    marks = series.marks
    trace: PlotlyJson = {"name": name, "showlegend": bool(series.name)}
    trace["hovertext"] = [_escape_words(mark.hover) for mark in marks]
    trace["hoverinfo"] = "text" if any(trace["hovertext"]) else "skip"
    trace |= {"x": [mark.x for mark in marks], "y": [mark.y for mark in marks]}
    if series.kind == "line":
        return trace | _plotly_line(series)
    if series.kind == "dots":
        return trace | _plotly_dots(series)
    along = "y" if series.kind == "bars" else "x"
    trace["base"] = [mark.start for mark in marks]
    trace[along] = [end - mark.start for end, mark in zip(trace[along], marks, strict=True)]
    return trace | _plotly_bars(series)


def _plotly_line(series: Series) -> PlotlyJson:
    dash = PLOTLY_DASHES.get(series.look, "solid")
    line = {"color": PLOTLY_COLOURS[series.colour], "width": 2, "dash": dash}
    return {"type": "scatter", "mode": "lines", "line": line}


def _plotly_dots(series: Series) -> PlotlyJson:
    colour = PLOTLY_COLOURS[series.colour]
    symbol = "circle-open" if series.look == "hollow" else "circle"
    marker = {"color": colour, "size": 9, "symbol": symbol, "line": {"color": colour, "width": 2}}
    words = [_in_ink(_escape_words(mark.words)) for mark in series.marks]
    text = {"text": words, "textposition": "top center", "mode": "markers+text"}
    return text | {"marker": marker, "type": "scatter", "cliponaxis": False}


def _plotly_bars(series: Series) -> PlotlyJson:
    orientation = "v" if series.kind == "bars" else "h"
    colour = PLOTLY_COLOURS[series.colour]
    fill: PlotlyJson = {"color": colour}
    if series.look == "hollow":
        fill = {"color": TRANSPARENT, "line": {"color": colour, "width": 1.5}}
    if series.look == "hatched":
        fill["pattern"] = {"shape": "/", "fillmode": "replace", "size": 5, "solidity": 0.5}
    words = [_escape_words(mark.words) for mark in series.marks]
    text = {"text": words, "textposition": "inside", "insidetextanchor": "middle"}
    return text | {"type": "bar", "orientation": orientation, "width": series.thick, "marker": fill}


def _escape_words(words: str) -> str:
    """A text that Plotly neither reads as tags nor as TeX.

    >>> _escape_words("<b>$x$")
    '&lt;b&gt;&#36;x&#36;'
    """
    return html.escape(printable(words), quote=False).replace("$", "&#36;").replace("\n", "<br>")


def _in_ink(words: str) -> str:
    """Markup in the text colour of JupyterLab's theme; Plotly itself cannot follow it."""
    return f'<span style="color:{LAB_INK}">{words}</span>' if words else ""
