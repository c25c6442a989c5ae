"""The whole request of every schema in every engine as a chart: on how many schemas an engine is at most so slow."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.views.charts.plot import Axis, Chart, Look, Series, draw_chart
from guidedviz.views.figure import Figure

LOOKS: tuple[tuple[str, Look], ...] = (("orange", "solid"), ("blue", "dashed"), ("green", "dotted"), ("gold", "mixed"))


def draw_requests(schemas: Mapping[str, Mapping[str, Any]]) -> Figure:
    """One line per engine, the fastest schema first; a line ends where the engine refuses the other schemas.

    >>> rows = {"a": {"ours": {"whole": 0.02}, "theirs": {"said": "refused"}}, "b": {"ours": {"whole": 0.01}}}
    >>> print(draw_requests(rows).text)
    the whole request: a compile and all masks of a text
    ours: 2 of 2 schemas, median 15 ms
    theirs: 0 of 2 schemas
    """
    if not schemas:
        raise SettingError("draw_requests", seen="no schemas", expected="the figures of a run")
    names = dict.fromkeys(name for row in schemas.values() for name in row)
    times = {
        name: sorted(row[name]["whole"] * 1e3 for row in schemas.values() if "whole" in row.get(name, {}))
        for name in names
    }
    every = [each for found in times.values() for each in found] or [1.0]
    low, high = floor(log10(min(every))), max(ceil(log10(max(every))), floor(log10(min(every))) + 1)
    ticks = tuple((10.0**n, f"{10.0**n:g} ms") for n in range(low, high + 1))
    x = Axis("schemas", 0, len(schemas), tuple((len(schemas) * n / 4, f"{25 * n} %") for n in range(5)))
    series, said = [], ["the whole request: a compile and all masks of a text"]
    for (name, found), (colour, look) in zip(times.items(), LOOKS, strict=False):
        hover = tuple(f"{name}: {n} schemas in at most {each:,.3g} ms each" for n, each in enumerate(found, 1))
        series.append(
            Series(name, "line", tuple(map(float, range(1, len(found) + 1))), tuple(found), hover, colour, look)
        )
        middle = (found[(len(found) - 1) // 2] + found[len(found) // 2]) / 2 if found else 0.0
        said.append(f"{name}: {len(found)} of {len(schemas)} schemas" + (f", median {middle:.3g} ms" if found else ""))
    chart = Chart(said[0], x, Axis("", 10.0**low, 10.0**high, ticks, log=True), tuple(series), height=300.0)
    return draw_chart(chart, "\n".join(said))
