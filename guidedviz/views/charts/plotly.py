"""A chart as Plotly's JSON, which a notebook shows: plain lists, and text in the colour of JupyterLab's theme."""

import html
from math import log10
from typing import Any

from guidedviz.markup import printable
from guidedviz.views.charts.chart import Axis, Chart, Series
from guidedviz.views.theme import LIGHT

PLOTLY_DASHES = {"dashed": "dash", "dotted": "dot", "mixed": "dashdot"}
LAB_INK = "var(--jp-ui-font-color1, #444)"
PLOTLY_COLOURS = LIGHT | {"ink": "#808080", "soft": "#808080"}  # on light and on dark paper
GRID_COLOUR = "rgba(128,128,128,0.3)"
TRANSPARENT = "rgba(0,0,0,0)"
PLOTLY_FONT = "system-ui, sans-serif"
PLOTLY_LAYOUT: dict[str, Any] = {  # of every chart
    "template": {"data": {"scatter": [{"type": "scatter"}]}},  # what template="none" stands for
    "paper_bgcolor": TRANSPARENT,
    "plot_bgcolor": TRANSPARENT,
    "font": {"family": PLOTLY_FONT, "size": 12, "color": "#777777"},
    "barmode": "overlay",
    "uniformtext": {"mode": "hide", "minsize": 9},
    "bargap": 0,
    "hovermode": "closest",
    "hoverlabel": {"bgcolor": LIGHT["ink"], "font": {"color": LIGHT["page"]}},
}
PLOTLY_TITLE = {
    "x": 0,
    "xref": "paper",
    "xanchor": "left",
    "y": 1,
    "yref": "container",
    "yanchor": "top",
    "pad": {"t": 20},
}


def plotly_json(chart: Chart) -> dict[str, Any]:
    """The chart as Plotly's JSON."""
    lines = [f"<b>{_escape_words(chart.title)}</b>"]
    lines += [f"<span style='font-size:13px'>{_escape_words(note)}</span>" for note in chart.notes]
    top = 80 + 20 * len(chart.notes)
    layout = PLOTLY_LAYOUT | {
        "title": PLOTLY_TITLE | {"text": _in_ink("<br>".join(lines)), "font": {"size": 15}, "automargin": False},
        "xaxis": _plotly_axis(chart.x),
        "yaxis": _plotly_axis(chart.y),
        "legend": {"orientation": "h", "x": 0, "y": 1 + 18 / chart.height, "yanchor": "bottom", "xanchor": "left"},
        "margin": {"l": 60, "r": 40, "t": top, "b": 50 if chart.x.title else 34},
        "height": top + chart.height + 50,
    }
    return {"data": list(map(_plotly_trace, chart.series)), "layout": layout}


def _plotly_axis(axis: Axis) -> dict[str, Any]:
    low, high = axis.low, axis.high
    if axis.log:
        low, high = log10(axis.low), log10(axis.high)
    return {
        "type": "log" if axis.log else "linear",
        "range": [low, high + (high - low) / 200],  # with room for the last grid line
        "title": {"text": _in_ink(_escape_words(axis.title))},
        "tickvals": [value for value, _ in axis.ticks],
        "ticktext": [_in_ink(_escape_words(words)) for _, words in axis.ticks],
        "tickfont": {"family": "monospace" if axis.mono else PLOTLY_FONT},
        "showgrid": axis.grid,
        "gridcolor": GRID_COLOUR,
        "zeroline": False,
        "automargin": True,
    }


def _plotly_trace(series: Series) -> dict[str, Any]:
    """One series as a trace of Plotly."""
    trace: dict[str, Any] = {
        "name": _in_ink(_escape_words(series.name)),
        "showlegend": bool(series.name),
        "hovertext": list(map(_escape_words, series.hover)),
        "hoverinfo": "text" if series.hover else "skip",
        "x": [*series.x],
        "y": [*series.y],
    }
    if series.mark == "line":
        return trace | _plotly_line(series)
    words = list(map(_escape_words, series.words))
    if series.mark == "dots":
        return trace | _plotly_dots(series) | {"text": [*map(_in_ink, words)], "textposition": "top center"}
    along = "y" if series.mark == "bars" else "x"
    trace[along] = [up - down for down, up in zip(series.start, trace[along], strict=True)]
    return trace | _plotly_bars(series) | {"text": words, "textposition": "inside", "insidetextanchor": "middle"}


def _plotly_line(series: Series) -> dict[str, Any]:
    dash = PLOTLY_DASHES.get(series.look, "solid")
    line = {"color": PLOTLY_COLOURS[series.colour], "width": 2, "dash": dash}
    return {"type": "scatter", "mode": "lines", "line": line}


def _plotly_dots(series: Series) -> dict[str, Any]:
    colour = PLOTLY_COLOURS[series.colour]
    symbol = "circle-open" if series.look == "hollow" else "circle"
    marker = {"color": colour, "size": 9, "symbol": symbol, "line": {"color": colour, "width": 2}}
    return {"marker": marker, "type": "scatter", "mode": "markers+text"}


def _plotly_bars(series: Series) -> dict[str, Any]:
    orientation = "v" if series.mark == "bars" else "h"
    fill: dict[str, Any] = {"color": PLOTLY_COLOURS[series.colour], "opacity": 0.4 if series.look == "hollow" else 1.0}
    if series.look == "hatched":
        fill["pattern"] = {"shape": "/", "fillmode": "overlay", "fgcolor": LIGHT["page"], "size": 5, "solidity": 0.3}
    bars = {"base": [*series.start], "type": "bar", "orientation": orientation}
    return bars | {"width": series.thick, "marker": fill}


def _escape_words(words: str) -> str:
    """A text that Plotly neither reads as tags nor as TeX.

    >>> _escape_words("<b>$x$")
    '&lt;b&gt;&#36;x&#36;'
    """
    return html.escape(printable(words), quote=False).replace("$", "&#36;").replace("\n", "<br>")


def _in_ink(words: str) -> str:
    """Markup in the text colour of JupyterLab's theme; Plotly itself cannot follow it."""
    return f'<span style="color:{LAB_INK}">{words}</span>' if words else ""
