"""When jump-forward pays: speed-up over the share of fixed tokens, the text of one share, and its passes both ways."""

from __future__ import annotations

from collections.abc import Iterator

from guidedviz.decoding.payoff import (
    PLACES,
    Parts,
    Passes,
    Payoff,
    Timed,
    find_place,
    fixed_share,
    group_passes,
    ideal,
)
from guidedviz.errors import SettingError
from guidedviz.views.figure import Figure, drawing, node, shorten, wide, write
from guidedviz.views.payoff_plot import HEIGHT, WIDTH, draw_legend, draw_plot, say_times
from guidedviz.views.words import label, milliseconds

COLUMN, LANES, SAID = 340.0, 576.0, 634.0  # the room of the text, of the passes, and where it is said how many
EDGE, HEAD, TEXT, GAP = 14.0, 66.0, 100.0, 1.0
LINE = 25.0  # of the text


def draw_payoff(payoff: Payoff, fraction: float = 0.7, rows: int = 1) -> Figure:
    """The curves and the measured points, the handle at one share; to the right its text, below its passes.

    >>> from guidedviz.decoding.payoff import Cost
    >>> previews = ((("{", True), ('"', True), ("a", False), ("}", True)),) * 20
    >>> toy = Payoff(Cost(9.0, 1.0), (), previews, "toy", "cpu", "2026-11-22", "canonical", "TOY")
    >>> print(draw_payoff(toy, 0.75).text)
    jump-forward, TOY: toy; cpu
    75% fixed: 4 tokens, 1 pass instead of 4; not measured here, the cost model says 3.08×, ideal 4.00×
    """
    check_payoff(payoff, "draw_payoff")
    if not isinstance(rows, int) or rows < 1:
        raise SettingError("rows", seen=repr(rows), expected="a whole number from 1")
    at = find_place(fraction)
    run = find_run(payoff, at, rows)
    parts = run.parts if run else payoff.previews[at]
    said = say_place(payoff, at, rows)
    text = f"{_say_origin(payoff)}\n{said}"
    plot = node("g", *draw_plot(payoff, PLACES[at], rows), transform=f"translate(0 {HEAD - 8:g})")
    lines = max(HEIGHT + HEAD, HEAD + TEXT + 10 + LINE * len(list(_wrap(parts))))
    others = any(run.rows != rows for run in payoff.runs)
    legend = draw_legend(WIDTH + 4, HEAD + 4, say_speedups(payoff, at, rows), others)
    inside = [*_head(payoff, said), plot, *legend, *_text(parts), *_lanes(payoff, parts, rows, run, lines)]
    return Figure(drawing(WIDTH + COLUMN + EDGE, lines + 100, *inside, alt=text.replace("\n", ". ")), text, text)


def check_payoff(payoff: object, where: str) -> None:
    """A picture needs runs, or at least what their tasks look like."""
    if not isinstance(payoff, Payoff):
        hint = "gv.Payoff.load(path)"
        raise SettingError(where, seen=repr(payoff), expected="runs that were timed: a gv.Payoff", hint=hint)


def find_run(payoff: Payoff, at: int, rows: int) -> Timed | None:
    """The last live run of a place."""
    runs = (run for run in reversed(payoff.runs) if find_place(run.asked) == at and run.rows == rows)
    return next(runs, None)


def say_speedups(payoff: Payoff, at: int, rows: int) -> dict[str, str]:
    """What each line of the plot says at a place."""
    run = find_run(payoff, at, rows)
    share = run.fraction if run else fixed_share(payoff.previews[at])
    said = {"ideal": say_times(ideal(share)), "model": say_times(payoff.cost.speedup(share, rows))}
    return said | {"measured": say_times(run.speedup) if run else "–"}


def say_place(payoff: Payoff, at: int, rows: int) -> str:
    """A place in a sentence."""
    run = find_run(payoff, at, rows)
    parts = run.parts if run else payoff.previews[at]
    passes = len(group_passes(parts, run.jump_passes if run else None).read)
    says = say_speedups(payoff, at, rows)
    measured = f"measured {says['measured']}" if run else "not measured here"
    side = f", {rows} texts side by side" if rows > 1 else ""
    count = f"{say_passes(passes)} instead of {run.naive_passes if run else len(parts)}"
    share = run.fraction if run else fixed_share(parts)
    return (
        f"{share:.0%} fixed: {len(parts)} tokens{side}, {count}; {measured}, "
        f"the cost model says {says['model']}, ideal {says['ideal']}"
    )


def say_passes(count: int) -> str:
    """How many passes.

    >>> say_passes(1), say_passes(19)
    ('1 pass', '19 passes')
    """
    return f"{count} pass{'es' * (count != 1)}"


def _say_origin(payoff: Payoff) -> str:
    where = "live" if payoff.source == "LIVE" else payoff.source
    return f"jump-forward, {where}: {payoff.model}; {payoff.device}"


def _head(payoff: Payoff, said: str) -> Iterator[str]:
    yield write(EDGE, 22, "jump-forward: what fixed tokens save", 13, font_weight="bold")
    where = "live" if payoff.source == "LIVE" else f"{payoff.source}, {payoff.date}"
    about = f"{where} · {payoff.model} · {payoff.device}"
    yield write(WIDTH + COLUMN, 22, about, 12, fill="var(--gv-soft)", text_anchor="end")
    yield write(EDGE, 44, said, 13)


def _wrap(parts: Parts) -> Iterator[list[tuple[float, float, str, bool]]]:
    """Lines of tokens: where each begins, how wide it is, and what it says."""
    line: list[tuple[float, float, str, bool]] = []
    x = 0.0
    for text, fixed in parts:
        said = shorten(label(text.encode()), 30)
        width = wide(said, 13) + 6
        if line and x + width > COLUMN:
            yield line
            line, x = [], 0.0
        line.append((x, width, said, fixed))
        x += width + 2
    if line:
        yield line


def _text(parts: Parts) -> Iterator[str]:
    """The tokens in boxes: fixed ones grey, free ones blue and underlined."""
    left, top = WIDTH + 4, HEAD + TEXT
    free = sum(not fixed for _, fixed in parts)
    yield _box(left, top - 27, 12, 14, True)
    yield write(left + 18, top - 16, f"{len(parts) - free} fixed", 12, fill="var(--gv-soft)")
    yield _box(left + 90, top - 27, 12, 14, False)
    yield write(left + 108, top - 16, f"{free} free: the model chooses", 12, fill="var(--gv-soft)")
    for number, line in enumerate(_wrap(parts)):
        y = top + LINE * number
        for x, width, said, fixed in line:
            yield _box(left + x, y, width, 21, fixed)
            colour = "var(--gv-soft)" if fixed else "var(--gv-ink)"
            yield write(left + x + 3, y + 15, said, 13, mono=True, fill=colour)


def _box(x: float, y: float, width: float, high: float, fixed: bool) -> str:
    if fixed:
        return node("rect", x=x, y=y, width=width, height=high, rx=3, fill="var(--gv-card)", stroke="var(--gv-line)")
    tint = node("rect", x=x, y=y, width=width, height=high, rx=3, fill="var(--gv-sky)", fill_opacity=0.25)
    return tint + node("path", d=f"M{x:.1f},{y + high - 1:.1f}h{width:.1f}", stroke="var(--gv-blue)", stroke_width=2.4)


def _lanes(payoff: Payoff, parts: Parts, rows: int, run: Timed | None, top: float) -> Iterator[str]:
    """Both ways on one clock: a high box is what a pass costs by itself, a low one what its tokens add."""
    count = run.naive_passes if run else len(parts)
    naive, jump = Passes((1,) * count, 0), group_passes(parts, run.jump_passes if run else None)
    own, each = payoff.cost.prices(rows)
    scale = LANES / (count * (own + each))
    left = EDGE + 96
    for place, (name, passes) in enumerate((("token by token", naive), ("jump-forward", jump))):
        y = top + 14 + 30 * place
        yield write(EDGE, y + 13, name, 12, fill="var(--gv-soft)")
        high, low = _lane(passes, own * scale, each * scale, left, y)
        yield node("path", d=high, fill="var(--gv-blue)")
        yield node("path", d=low, fill="var(--gv-gold)")
        took = f", {milliseconds((run.naive_ms, run.jump_ms)[place])}" if run else ""
        yield write(left + SAID, y + 13, say_passes(len(passes.read)) + took, 12, fill="var(--gv-soft)")
    if run:
        x = left + min(SAID - 8, LANES * run.jump_ms / run.naive_ms)
        yield node("path", d=f"M{x:.1f},{top + 39:g}v28", stroke="var(--gv-orange)", stroke_width=2.4)
    yield from _keys(left, top + 86, run)


def _lane(passes: Passes, own: float, each: float, x: float, y: float) -> tuple[str, str]:
    """The boxes of the passes themselves, and those of their tokens."""
    high, low = [], []
    for count in passes.read:
        high.append(_slab(x, y, own, 18))
        low.append(_slab(x + own, y + 9, count * each, 9))
        x += own + count * each
    low += [_slab(x, y + 9, passes.rest * each, 9)] * bool(passes.rest)
    return "".join(high), "".join(low)


def _slab(x: float, y: float, width: float, high: int) -> str:
    wide = max(0.4, width - GAP)
    return f"M{x:.2f},{y:g}h{wide:.2f}v{high}h-{wide:.2f}z"


def _keys(left: float, y: float, run: Timed | None) -> Iterator[str]:
    yield node("rect", x=left, y=y - 10, width=8, height=14, fill="var(--gv-blue)")
    yield write(left + 14, y + 2, "a pass", 12, fill="var(--gv-soft)")
    yield node("rect", x=left + 74, y=y - 3, width=14, height=7, fill="var(--gv-gold)")
    yield write(left + 94, y + 2, "the tokens that it reads, at the price of the cost model", 12, fill="var(--gv-soft)")
    if run:
        yield node("path", d=f"M{left + 440:g},{y - 11:g}v16", stroke="var(--gv-orange)", stroke_width=2.4)
        yield write(left + 448, y + 2, "measured", 12, fill="var(--gv-soft)")
