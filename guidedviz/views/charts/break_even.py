"""Build a table once or walk the trie at each step: the total cost of many masks, and where the table is cheaper."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from math import ceil, floor, log10

from guidedviz.decoding.records import AtLeastZero, check_number
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.views.charts.chart import Axis, Chart, Look, Series
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

DECADES = 6  # of masks
LOOKS: tuple[tuple[str, Look], ...] = (("blue", "solid"), ("orange", "dashed"), ("green", "dotted"), ("gold", "mixed"))
Costs = Mapping[str, tuple[float, float]]  # milliseconds before the first mask, and for each


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
    if not 0 < len(costs) <= len(LOOKS):
        raise SettingError("draw_break_even, costs", seen=f"{len(costs)} costs", expected=f"1 to {len(LOOKS)}")
    for name, cost in costs.items():
        where, expected = f"draw_break_even, {quoted(name)}", "milliseconds before the first mask, and per mask"
        if not isinstance(cost, tuple | list) or len(cost) != 2:
            raise SettingError(where, seen=quoted(cost), expected=expected)
        for ms in cost:
            check_number(AtLeastZero, ms, where)
    totals = [first + each * 10.0**power for first, each in costs.values() for power in (0, DECADES)]
    low, high = floor(log10(max(1e-6, min(totals)))), ceil(log10(max(*totals, 1e-5)))
    x = Axis("masks", 1, 10.0**DECADES, tuple((10.0**n, f"{10**n:,}") for n in range(DECADES + 1)), log=True)
    ticks = tuple((10.0**n, _say_time(10.0**n)) for n in range(low, high + 1))
    y = Axis("total time", 10.0**low, 10.0 ** max(high, low + 1), ticks, log=True)
    masks = tuple(10 ** (step / 8) for step in range(8 * DECADES + 1))
    series, said = list[Series](), ["the cost of many masks"]
    for (name, (first, each)), (colour, look) in zip(costs.items(), LOOKS, strict=False):
        times = tuple(max(y.low, first + each * n) for n in masks)
        series.append(Series(name, "line", masks, times, colour=colour, look=look))
        said.append(f"{name}: {first:.3g} ms before the first mask, {each:.3g} ms for each")
    found: list[tuple[float, float, str]] = []  # a number of masks, the time there, and who is cheaper from there on
    for pair in combinations(costs, 2) if pairs is None else pairs:
        if not isinstance(pair, tuple) or not costs.keys() >= {*pair}:
            continue  # a way that was not measured
        one, other = sorted(pair, key=lambda name: -costs[name][0])
        even = break_even(costs[one], costs[other])
        if even is not None and even <= 10**DECADES:
            told = f"{one} is cheaper than {other} after {even:,.0f} masks"
            found.append((even, costs[one][0] + costs[one][1] * even, told))
    if found:
        xs, ys, hover = zip(*found, strict=True)
        words = tuple(f"{n:,.0f}" for n in xs)
        series.append(Series("break-even", "dots", xs, ys, hover, "ink", "hollow", words=words))
        said += hover
    chart = Chart(said[0], x, y, tuple(series), width=620.0, height=270.0)
    return draw_chart(chart, "\n".join(said), live=True)


def _say_time(ms: float) -> str:
    """A power of ten.

    >>> [_say_time(10.0**power) for power in (-3, 1, 4)]
    ['1 µs', '10 ms', '10 s']
    """
    return f"{ms * 1000:g} µs" if ms < 1 else f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:,.0f} s"
