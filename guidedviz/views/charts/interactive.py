"""A chart as JSON for Plotly: plain lists, no random names, text in the colour of JupyterLab's theme."""

from __future__ import annotations

import html
from collections.abc import Iterator
from math import log10
from typing import Any

from guidedviz.markup import printable
from guidedviz.views.charts.series import Axis, Chart, Series
from guidedviz.views.theme import LIGHT

DASHES = {"dashed": "dash", "dotted": "dot", "mixed": "dashdot"}
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
            line = {"color": colour, "dash": DASHES.get(series.look, "solid"), "width": 2.2}
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
