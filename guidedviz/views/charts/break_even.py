"""Build a table once or walk the trie at each step: the total cost of many masks, and where the table is cheaper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import ceil, floor, inf, log10
from numbers import Real
from typing import Any

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.charts.series import Axis, Chart, Look, Series
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


def draw_break_even(costs: Costs, title: str = "", pairs: Iterable[tuple[str, str]] | None = None) -> Figure:
    """One line per way on logarithmic axes, and a dot where two lines cross: all, or those of the given pairs.

    >>> print(draw_break_even({"table": (40, 0.02), "walk": (0, 1.02)}).text)
    the cost of many masks
    table: 40 ms before the first mask, 0.02 ms for each
    walk: 0 ms before the first mask, 1.02 ms for each
    table is cheaper than walk after 40 masks
    """
    _check(costs)
    expect(title, str, "draw_break_even, title", "a text")
    title = title or "the cost of many masks"
    chosen = list(combinations(costs, 2) if pairs is None else (pair for pair in pairs if costs.keys() >= {*pair}))
    said = [title, *_say(costs, chosen)]
    return draw_chart(break_even_chart(costs, title, chosen), "\n".join(said), live=True)


def break_even_chart(costs: Costs, title: str, pairs: Iterable[tuple[str, str]]) -> Chart:
    """The lines and their crossings."""
    totals = [first + each * 10.0**power for first, each in costs.values() for power in (0, DECADES)]
    low, high = floor(log10(max(1e-6, min(totals)))), ceil(log10(max(*totals, 1e-5)))
    x = Axis("masks", 1, 10.0**DECADES, tuple((10.0**n, f"{10**n:,}") for n in range(DECADES + 1)), log=True)
    ticks = tuple((10.0**n, _say_time(10.0**n)) for n in range(low, high + 1))
    y = Axis("total time", 10.0**low, 10.0 ** max(high, low + 1), ticks, log=True)
    masks = tuple(10 ** (step / 8) for step in range(8 * DECADES + 1))
    series = []
    for (name, (first, each)), (colour, look) in zip(costs.items(), LOOKS, strict=False):
        times = tuple(max(y.low, first + each * n) for n in masks)
        hover = tuple(f"{name}: {n:,.0f} masks in {t:,.3g} ms" for n, t in zip(masks, times, strict=True))
        series.append(Series(name, "line", masks, times, hover, colour, look))
    if found := list(_crossings(costs, pairs)):
        xs = tuple(n for _, _, n in found)
        ys = tuple(costs[one][0] + costs[one][1] * n for one, _, n in found)
        hover = tuple(f"{one} is cheaper than {other} after {n:,.0f} masks" for one, other, n in found)
        words = tuple(f"{n:,.0f}" for n in xs)
        series.append(Series("break-even", "dots", xs, ys, hover, "ink", "hollow", words=words))
    return Chart(title, x, y, tuple(series), width=620.0, height=270.0)


def _check(costs: Costs) -> None:
    expect(costs, Mapping, "draw_break_even, costs", "names with their costs", "{'table': (40, 0.02)}")
    if not 0 < len(costs) <= len(LOOKS):
        raise SettingError("draw_break_even, costs", seen=f"{len(costs)} costs", expected=f"1 to {len(LOOKS)}")
    for name, cost in costs.items():
        if not _is_cost(cost):
            expected = "milliseconds before the first mask, and per mask"
            raise SettingError(f"draw_break_even, {quoted(name)}", seen=quoted(cost), expected=expected)


def _is_cost(cost: Any) -> bool:
    pair = isinstance(cost, tuple | list) and len(cost) == 2
    return pair and all(isinstance(ms, Real) and 0 <= float(ms) < inf for ms in cost)


def _say_time(milliseconds: float) -> str:
    """A power of ten.

    >>> [_say_time(10.0**power) for power in (-3, 1, 4)]
    ['1 µs', '10 ms', '10 s']
    """
    if milliseconds < 1:
        return f"{milliseconds * 1000:g} µs"
    return f"{milliseconds:g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:,.0f} s"


def _crossings(costs: Costs, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, float]]:
    """The way with the higher first cost, the other way, and the number of masks where both cost the same."""
    for pair in pairs:
        one, other = sorted(pair, key=lambda name: -costs[name][0])
        masks = break_even(costs[one], costs[other])
        if masks is not None and masks <= 10**DECADES:
            yield one, other, masks


def _say(costs: Costs, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, (first, each) in costs.items():
        yield f"{name}: {first:.3g} ms before the first mask, {each:.3g} ms for each"
    for one, other, masks in _crossings(costs, pairs):
        yield f"{one} is cheaper than {other} after {masks:,.0f} masks"
