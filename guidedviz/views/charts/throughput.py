"""The throughput of a server over the share of constrained requests.

A line per simulated policy, and dots for published numbers.
"""

from collections.abc import Mapping
from math import ceil

from guidedviz.decoding.records import AtLeastZero, Share, check_number
from guidedviz.errors import SettingError, expect
from guidedviz.views.charts.break_even import LOOKS
from guidedviz.views.charts.chart import Axis, Chart, Mark, Series, round_ticks
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

TICKS = 6
Runs = Mapping[str, Mapping[float, float]]  # per policy: share of constrained requests -> throughput


def draw_throughput(simulated: Runs, published: Runs) -> Figure:
    """A line per policy, and dots of the same colour where a number was published for it.

    >>> print(draw_throughput({"V1": {0: 103, 1: 70}}, {"V1": {0: 103.16, 1: 69.36}}).text)
    requests per second by the share of constrained requests
    V1, simulated: 0% 103.0, 100% 70.0
    V1, published: 0% 103.2, 100% 69.4
    """
    for runs in (simulated, published):
        expect(runs, Mapping, "draw_throughput", "throughputs by share, per policy", '{"V1": {0: 103, 1: 70}}')
        for row in runs.values():
            given: Mapping[object, object] = expect(row, Mapping, "draw_throughput", "throughputs by share")
            for part, height in given.items():
                check_number(Share, part, "draw_throughput, share")
                check_number(AtLeastZero, height, "draw_throughput, throughput")
    if not simulated or not all(simulated.values()) or not published.keys() <= simulated.keys():
        raise SettingError("draw_throughput", seen="no numbers", expected="one or more shares per policy")
    most = max(value for runs in (simulated, published) for row in runs.values() for value in row.values()) or 1.0
    step = round_ticks(most, TICKS)[1][0]
    top = step * ceil(most / step)
    series, said = list[Series](), ["requests per second by the share of constrained requests"]
    for (name, row), (colour, look) in zip(simulated.items(), LOOKS, strict=False):
        kinds: tuple[tuple[str, Mark, Mapping[float, float]], ...]
        kinds = ("simulated", "line", row), ("published", "dots", published.get(name, {}))
        for kind, mark, values in kinds:
            if values:
                shares, heights = zip(*sorted(values.items()), strict=True)
                points = [f"{share:.0%} {height:.1f}" for share, height in zip(shares, heights, strict=True)]
                said.append(f"{name}, {kind}: {', '.join(points)}")
                hover = tuple(f"{name}, {kind}: {point}" for point in points)
                series.append(Series(name * (mark == "line"), mark, shares, heights, hover, colour, look))
    x = Axis("constrained requests", 0.0, 1.0, tuple((n / 5, f"{n * 20}%") for n in range(6)), grid=False)
    y = Axis("requests per second", 0.0, top, round_ticks(top, TICKS))
    notes = ("lines: simulated · dots: published",)
    return draw_chart(Chart(said[0], x, y, tuple(series), notes), "\n".join(said))
