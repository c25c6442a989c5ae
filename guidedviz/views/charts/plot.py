"""`draw_chart` draws a chart as SVG: title, notes, legend, both axes and the marks of each series."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.errors import expect, shorten
from guidedviz.markup import NOTHING, Element, node
from guidedviz.views.charts.chart import Chart, Series
from guidedviz.views.charts.plotly import plotly_json
from guidedviz.views.figure import Figure, drawing, soft, wide, write, write_legend

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
