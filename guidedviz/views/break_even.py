"""Build once or walk each time: what a number of masks costs in all, and from which number on the table is cheaper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import ceil, floor, log10
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.views.figure import Figure, drawing, node, wide, write

LEFT, TOP, SPAN, HIGH = 86.0, 56.0, 620.0, 270.0
DECADES = 6  # of masks
NEAR = 15.0  # names that stand closer move apart
LOOKS = (("blue", ""), ("orange", "7 4"), ("green", "2 4"), ("gold", "10 3 2 3"))
Costs = Mapping[str, tuple[float, float]]  # milliseconds before the first mask, and for each


def break_even(one: tuple[float, float], other: tuple[float, float]) -> float | None:
    """How many masks cost the same both ways; None if one of the two is always cheaper.

    >>> break_even((40, 0.02), (0, 1.02)), break_even((40, 2), (0, 1))
    (40.0, None)
    """
    slower = other[1] - one[1]
    masks = (one[0] - other[0]) / slower if slower else -1.0
    return masks if masks > 1 else None


def draw_break_even(costs: Costs, title: str = "") -> Figure:
    """A line for each way; every grid line is ten times the one before, and a dot marks where two lines cross.

    >>> print(draw_break_even({"table": (40, 0.02), "walk": (0, 1.02)}).text)
    the cost of many masks
    table: 40 ms before the first mask, 0.02 ms for each
    walk: 0 ms before the first mask, 1.02 ms for each
    table is cheaper than walk after 40 masks
    """
    if not 0 < len(costs) <= len(LOOKS):
        raise SettingError("draw_break_even", seen=f"{len(costs)} costs", expected=f"1 to {len(LOOKS)}")
    totals = [first + each * 10.0**power for first, each in costs.values() for power in (0, DECADES)]
    low, high = floor(log10(max(1e-6, min(totals)))), ceil(log10(max(*totals, 1e-5)))

    def place(masks: float, total: float) -> tuple[float, float]:
        share = (log10(max(total, 10.0**low)) - low) / max(1, high - low)
        return LEFT + SPAN * log10(masks) / DECADES, TOP + HIGH * (1 - share)

    parts = [write(14, 24, title or "the cost of many masks", 13, font_weight="bold"), *_grid(low, high)]
    ends = _apart(
        {name: place(10.0**DECADES, first + each * 10.0**DECADES)[1] for name, (first, each) in costs.items()}
    )
    for (name, (first, each)), (colour, dashes) in zip(costs.items(), LOOKS, strict=False):
        points = [place(10 ** (step / 8), first + each * 10 ** (step / 8)) for step in range(8 * DECADES + 1)]
        way = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        look = {"stroke_dasharray": dashes} if dashes else {}
        parts.append(node("path", d=way, fill="none", stroke=f"var(--gv-{colour})", stroke_width=2.2, **look))
        parts.append(write(LEFT + SPAN + 10, ends[name] + 4, name, 13, font_weight="bold"))
    for one, _, masks in _crossings(costs):
        x, y = place(masks, costs[one][0] + costs[one][1] * masks)
        parts.append(node("circle", cx=x, cy=y, r=4.5, fill="var(--gv-page)", stroke="var(--gv-ink)", stroke_width=1.8))
        halo: dict[str, Any] = {"stroke": "var(--gv-page)", "stroke_width": 4, "paint_order": "stroke"}
        parts.append(write(x, y - 10, f"{masks:,.0f}", 12, text_anchor="middle", **halo))
    said = "\n".join(_say(costs, title))
    width = LEFT + SPAN + 30 + max(wide(name) for name in costs)
    return Figure(drawing(width, TOP + HIGH + 50, *parts, alt=said), said, said)


def _grid(low: int, high: int) -> Iterator[str]:
    for power in range(DECADES + 1):
        x = LEFT + SPAN * power / DECADES
        yield node("line", x1=x, x2=x, y1=TOP, y2=TOP + HIGH, stroke="var(--gv-line)")
        yield write(x, TOP + HIGH + 18, f"{10**power:,}", 12, fill="var(--gv-soft)", text_anchor="middle")
    for power in range(low, high + 1):
        y = TOP + HIGH * (1 - (power - low) / max(1, high - low))
        yield node("line", x1=LEFT, x2=LEFT + SPAN, y1=y, y2=y, stroke="var(--gv-line)")
        yield write(LEFT - 8, y + 4, _say_time(10.0**power), 12, fill="var(--gv-soft)", text_anchor="end")
    yield write(LEFT + SPAN / 2, TOP + HIGH + 38, "masks", 12, fill="var(--gv-soft)", text_anchor="middle")
    yield write(14, TOP - 12, "time in all", 12, fill="var(--gv-soft)")


def _say_time(milliseconds: float) -> str:
    """A power of ten.

    >>> [_say_time(10.0**power) for power in (-3, 1, 4)]
    ['1 µs', '10 ms', '10 s']
    """
    if milliseconds < 1:
        return f"{milliseconds * 1000:g} µs"
    return f"{milliseconds:g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:,.0f} s"


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Names below each other that do not touch."""
    found: dict[str, float] = {}
    for name, y in sorted(heights.items(), key=lambda pair: pair[1]):
        found[name] = max([y, *(other + NEAR for other in found.values())])
    return found


def _crossings(costs: Costs) -> Iterator[tuple[str, str, float]]:
    """The one that costs more at first, the other, and where they cost the same."""
    for pair in combinations(costs, 2):
        one, other = sorted(pair, key=lambda name: -costs[name][0])
        masks = break_even(costs[one], costs[other])
        if masks is not None and masks <= 10**DECADES:
            yield one, other, masks


def _say(costs: Costs, title: str) -> Iterator[str]:
    yield title or "the cost of many masks"
    for name, (first, each) in costs.items():
        yield f"{name}: {first:.3g} ms before the first mask, {each:.3g} ms for each"
    for one, other, masks in _crossings(costs):
        yield f"{one} is cheaper than {other} after {masks:,.0f} masks"
