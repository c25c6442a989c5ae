"""Throughput over the share of constrained requests: a line per simulated policy, dots for published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from guidedviz.errors import SettingError, expect
from guidedviz.serving.workload import check_number
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Look, Mark, Series, round_step, round_ticks
from guidedviz.views.figure import Figure

TICKS = 6
LOOKS: tuple[tuple[str, Look], ...] = (("blue", "solid"), ("orange", "dashed"), ("green", "dotted"), ("gold", "mixed"))
Runs = Mapping[str, Mapping[float, float]]  # per policy: share of constrained requests -> throughput


def draw_throughput(
    simulated: Runs, published: Runs | None = None, title: str = "", unit: str = "requests per second"
) -> Figure:
    """A line per policy, and dots of the same colour where a number was published for it.

    >>> print(draw_throughput({"V1": {0: 103, 1: 70}}, {"V1": {0: 103.16, 1: 69.36}}).text)
    requests per second by the share of constrained requests
    V1, simulated: 0% 103.0, 100% 70.0
    V1, published: 0% 103.2, 100% 69.4
    """
    published = published or {}
    for runs in (simulated, published):
        expect(runs, Mapping, "draw_throughput", "throughputs by share, per policy", '{"V1": {0: 103, 1: 70}}')
        for row in runs.values():
            given: Mapping[object, object] = expect(row, Mapping, "draw_throughput", "throughputs by share")
            for share, height in given.items():
                check_number("draw_throughput, share", share, "a share from 0 to 1")
                check_number("draw_throughput, throughput", height, "a number from 0")
    if not simulated or not all(simulated.values()) or not published.keys() <= simulated.keys():
        raise SettingError("draw_throughput", seen="no numbers", expected="one or more shares per policy")
    most = max(value for runs in (simulated, published) for row in runs.values() for value in row.values()) or 1.0
    step = round_step(most, TICKS)
    top = step * ceil(most / step)
    x = Axis("constrained requests", 0.0, 1.0, tuple((n / 5, f"{n * 20}%") for n in range(6)), grid=False)
    series, said = [], [title or f"{unit} by the share of constrained requests"]
    for (name, row), (colour, look) in zip(simulated.items(), LOOKS, strict=False):
        for kind, values in (("simulated", row), ("published", published.get(name, {}))):
            if values:
                shares, heights = zip(*sorted(values.items()), strict=True)
                points = [f"{share:.0%} {height:.1f}" for share, height in zip(shares, heights, strict=True)]
                said.append(f"{name}, {kind}: {', '.join(points)}")
                hover = tuple(f"{name}, {kind}: {point}" for point in points)
                line = kind == "simulated"
                mark: Mark = "line" if line else "dots"
                series.append(Series(name * line, mark, shares, heights, hover, colour, look if line else "solid"))
    notes = ("lines: simulated · dots: published",) if published else ("simulated",)
    return draw_chart(
        Chart(said[0], x, Axis(unit, 0.0, top, round_ticks(0.0, top, TICKS)), tuple(series), notes), "\n".join(said)
    )
