"""Build a table once or walk the trie at each step: the total cost of many masks, and where the table is cheaper."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import ceil, floor, log10

from guidedviz.decoding.records import AtLeastZero, check_number
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.views.charts.chart import LINES, Axis, Chart, Series
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

DECADES = 6  # of masks
Costs = Mapping[str, tuple[float, float]]  # milliseconds before the first mask, and for each
Crossing = tuple[float, float, str]  # a number of masks, the time there, and what is cheaper from there on


def break_even(one: tuple[float, float], other: tuple[float, float]) -> float | None:
    """The number of masks that cost the same both ways; None if one way is always cheaper.

    >>> break_even((40, 0.02), (0, 1.02)), break_even((40, 2), (0, 1))
    (40.0, None)
    """
    slower = other[1] - one[1]
    masks = (one[0] - other[0]) / slower if slower else -1.0
    return masks if masks > 1 else None


def draw_break_even(costs: Costs, pairs: Iterable[tuple[str, str]] | None = None) -> Figure:
    """One line per way on logarithmic axes, and a dot where two lines cross: all, or those of the given pairs.

    >>> print(draw_break_even({"table": (40, 0.02), "walk": (0, 1.02)}).text)
    the cost of many masks
    table: 40 ms before the first mask, 0.02 ms for each
    walk: 0 ms before the first mask, 1.02 ms for each
    table is cheaper than walk after 40 masks
    """
    expect(pairs, Iterable | None, "draw_break_even, pairs", "pairs of names", "[('table', 'walk')]")
    expect(costs, Mapping, "draw_break_even, costs", "names with their costs", "{'table': (40, 0.02)}")
    _check_costs(costs)
    y = _time_axis(costs)
    masks = tuple(10 ** (step / 8) for step in range(8 * DECADES + 1))
    series = list[Series]()
    said = ["the cost of many masks"]
    for (name, (first, each)), (colour, look) in zip(costs.items(), LINES, strict=False):
        times = tuple(max(y.low, first + each * n) for n in masks)
        series.append(Series(name, "line", masks, times, colour=colour, look=look))
        said.append(f"{name}: {first:.3g} ms before the first mask, {each:.3g} ms for each")
    crossings = list(_find_crossings(costs, combinations(costs, 2) if pairs is None else pairs))
    if crossings:
        xs, ys, hover = zip(*crossings, strict=True)
        words = tuple(f"{n:,.0f}" for n in xs)
        series.append(Series("break-even", "dots", xs, ys, hover, "ink", "hollow", words=words))
        said += hover
    ticks = tuple((10.0**n, f"{10**n:,}") for n in range(DECADES + 1))
    x = Axis("masks", 1, 10.0**DECADES, ticks, log=True)
    chart = Chart(said[0], x, y, tuple(series), width=620.0, height=270.0)
    return draw_chart(chart, "\n".join(said), live=True)


def _check_costs(costs: Mapping[str, object]) -> None:
    if not 0 < len(costs) <= len(LINES):
        raise SettingError("draw_break_even, costs", seen=f"{len(costs)} costs", expected=f"1 to {len(LINES)}")
    for name, cost in costs.items():
        where = f"draw_break_even, {quoted(name)}"
        if not isinstance(cost, tuple | list) or len(cost) != 2:
            expected = "milliseconds before the first mask, and per mask"
            raise SettingError(where, seen=quoted(cost), expected=expected)
        for ms in cost:
            check_number(AtLeastZero, ms, where)


def _time_axis(costs: Costs) -> Axis:
    """Powers of ten from the least total to the largest."""
    totals = [first + each for first, each in costs.values()]
    totals += [first + each * 10.0**DECADES for first, each in costs.values()]
    low = floor(log10(max(1e-6, min(totals))))
    high = ceil(log10(max(*totals, 1e-5)))
    ticks = tuple((10.0**n, _say_time(10.0**n)) for n in range(low, high + 1))
    return Axis("total time", 10.0**low, 10.0 ** max(high, low + 1), ticks, log=True)


def _find_crossings(costs: Costs, pairs: Iterable[tuple[str, str]]) -> Iterator[Crossing]:
    """Where the lines of each pair cross; a pair with a way that was not measured is left out."""
    for pair in pairs:
        if not isinstance(pair, tuple) or not costs.keys() >= {*pair}:
            continue
        one, other = sorted(pair, key=lambda name: -costs[name][0])
        masks = break_even(costs[one], costs[other])
        if masks is not None and masks <= 10**DECADES:
            first, each = costs[one]
            yield masks, first + each * masks, f"{one} is cheaper than {other} after {masks:,.0f} masks"


def _say_time(ms: float) -> str:
    """A power of ten.

    >>> [_say_time(10.0**power) for power in (-3, 1, 4)]
    ['1 µs', '10 ms', '10 s']
    """
    if ms < 1:
        return f"{ms * 1000:g} µs"
    if ms < 1000:
        return f"{ms:g} ms"
    return f"{ms / 1000:,.0f} s"
