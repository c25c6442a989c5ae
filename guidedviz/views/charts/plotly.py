"""A chart as Plotly's JSON, which a notebook shows: plain lists, and text in the colour of JupyterLab's theme."""

import html
from math import log10
from typing import Any

from guidedviz.markup import printable
from guidedviz.views.charts.chart import Axis, Chart, Series
from guidedviz.views.theme import LIGHT

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
