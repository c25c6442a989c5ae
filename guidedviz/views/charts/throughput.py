"""The throughput of a server over the share of constrained requests.

A line per simulated policy, and dots for published numbers.
"""

from collections.abc import Mapping, Sequence
from math import ceil

from guidedviz.decoding.records import AtLeastZero, Share, check_number
from guidedviz.errors import SettingError, expect
from guidedviz.views.charts.chart import LINES, Axis, Chart, Series, round_ticks
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

MOST_RATES = 6  # labels of the vertical axis
Runs = Mapping[str, Mapping[float, float]]  # per policy: share of constrained requests -> throughput


def draw_throughput(simulated: Runs, published: Runs) -> Figure:
    """A line per policy, and dots of the same colour where a number was published for it.

    >>> print(draw_throughput({"V1": {0: 103, 1: 70}}, {"V1": {0: 103.16, 1: 69.36}}).text)
    requests per second by the share of constrained requests
    V1, simulated: 0% 103.0, 100% 70.0
    V1, published: 0% 103.2, 100% 69.4
    """
    _check_runs(simulated, published)
    series = list[Series]()
    said = ["requests per second by the share of constrained requests"]
    for (name, row), (colour, look) in zip(simulated.items(), LINES, strict=False):
        shares, heights, points = _sorted_points(row)
        hover = tuple(f"{name}, simulated: {point}" for point in points)
        said.append(f"{name}, simulated: {', '.join(points)}")
        series.append(Series(name, "line", shares, heights, hover, colour, look))
        if published.get(name):
            shares, heights, points = _sorted_points(published[name])
            hover = tuple(f"{name}, published: {point}" for point in points)
            said.append(f"{name}, published: {', '.join(points)}")
            series.append(Series("", "dots", shares, heights, hover, colour, look))
    x = Axis("constrained requests", 0.0, 1.0, tuple((n / 5, f"{n * 20}%") for n in range(6)), grid=False)
    notes = ("lines: simulated · dots: published",)
    chart = Chart(said[0], x, _rate_axis([*simulated.values(), *published.values()]), tuple(series), notes)
    return draw_chart(chart, "\n".join(said))


def _check_runs(simulated: Runs, published: Runs) -> None:
    for runs in (simulated, published):
        expect(runs, Mapping, "draw_throughput", "throughputs by share, per policy", '{"V1": {0: 103, 1: 70}}')
        for row in runs.values():
            given: Mapping[object, object] = expect(row, Mapping, "draw_throughput", "throughputs by share")
            for part, height in given.items():
                check_number(Share, part, "draw_throughput, share")
                check_number(AtLeastZero, height, "draw_throughput, throughput")
    if not simulated or not all(simulated.values()) or not published.keys() <= simulated.keys():
        raise SettingError("draw_throughput", seen="no numbers", expected="one or more shares per policy")


def _sorted_points(row: Mapping[float, float]) -> tuple[tuple[float, ...], tuple[float, ...], list[str]]:
    """The shares in order, their throughputs, and each pair in words."""
    shares = tuple(sorted(row))
    heights = tuple(row[share] for share in shares)
    return shares, heights, [f"{share:.0%} {row[share]:.1f}" for share in shares]


def _rate_axis(rows: Sequence[Mapping[float, float]]) -> Axis:
    """From 0 to the first round number above all throughputs."""
    most = max(height for row in rows for height in row.values()) or 1.0
    step = round_ticks(most, MOST_RATES)[1][0]
    top = step * ceil(most / step)
    return Axis("requests per second", 0.0, top, round_ticks(top, MOST_RATES))
