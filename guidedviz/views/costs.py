"""What a decode cost, token by token: the milliseconds of the forward pass, of the mask and of drawing a token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from guidedviz.decoding.trace import Step, Trace
from guidedviz.machines.visible import counted
from guidedviz.views.badge import write_badge
from guidedviz.views.figure import Figure, drawing, node, shorten, wide, write
from guidedviz.views.map import share
from guidedviz.views.stage import check_trace
from guidedviz.views.words import label, milliseconds

EDGE, LEFT, SPAN, TOP, HIGH, GAP = 16.0, 74.0, 860.0, 106.0, 110.0, 22.0
WIDEST, NARROWEST = 26.0, 15.0  # of a step; more steps than fit go on below
MOST_STEPS = 300
LONG = 10  # characters of a token
ABOVE = 2.5  # a bar this many times as high as most is cut
NAMES = "forward", "mask", "sample"
COLOURS = "blue", "gold", "green"
HATCH = "gv-costs-mask"


def draw_costs(trace: Trace) -> Figure:
    """A bar a token, the parts of its time one above the other. The words tell no time, as times differ between runs.

    >>> import guidedviz as gv
    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 1.0])
    >>> draw_costs(gv.record(toy, "a", max_tokens=3)).text.partition(";")[0]
    'costs of 3 steps: forward, mask and sample of each'
    """
    check_trace(trace, "draw_costs")
    shown = trace.steps[:MOST_STEPS]
    top, bands = find_top(times_asked(shown)), list(_bands(shown))
    letters = max([2.0, *(wide(_name(step), 11) for step in shown)])
    high = HIGH + letters + GAP + 14
    parts = [_pattern(), *_head(trace), *_legend(top, shown)]
    for number, band in enumerate(bands):
        bars = node("g", *_draw_band(band, top, _pitch(bands)), transform=f"translate({LEFT:g} 0)")
        parts.append(node("g", *_grid(top), bars, transform=f"translate(0 {TOP + high * number:g})"))
    y = TOP + high * len(bands)
    left = len(trace.steps) - len(shown)
    parts += [write(LEFT, y, f"⋮ {counted(left, 'more step')}, not drawn", 12, fill="var(--gv-soft)")] * bool(left)
    said = _say(trace)
    return Figure(drawing(LEFT + SPAN + EDGE, y + 18 * bool(left), *parts, alt=said), said, said)


def total(step: Step) -> float:
    """All milliseconds of a step."""
    return sum(parts_of(step))


def parts_of(step: Step) -> tuple[float, float, float]:
    """Its forward, mask and sample."""
    return step.forward_ms, step.mask_ms, step.sample_ms


def times_asked(steps: Sequence[Step]) -> list[float]:
    """The milliseconds of the steps for which the model was asked; forced ones would only make the bars small."""
    return [total(step) for step in steps if step.how != "forced"] or list(map(total, steps))


def find_top(totals: Sequence[float]) -> float:
    """The highest bar that is not far above most others; those that are will be cut.

    >>> find_top([2.0, 3.0, 2.0, 400.0]), find_top([4.0, 5.0]), find_top([0.0, 0.0, 6.0]), find_top([])
    (3.0, 5.0, 6.0, 1.0)
    """
    taking = sorted(ms for ms in totals if ms > 0)
    if not taking:
        return 1.0
    limit = ABOVE * taking[len(taking) // 2]
    return max((ms for ms in totals if ms <= limit), default=0.0) or 1.0


def _pitch(bands: Sequence[Sequence[Step]]) -> float:
    return max(NARROWEST, min(WIDEST, SPAN / max(1, len(bands[0]))))


def _bands(steps: Sequence[Step]) -> Iterator[Sequence[Step]]:
    """As many steps as fit side by side, shared out evenly."""
    rows = max(1, -(-len(steps) // int(SPAN // NARROWEST)))
    each = max(1, -(-len(steps) // rows))
    yield from (steps[first : first + each] for first in range(0, max(1, len(steps)), each))


def _name(step: Step) -> str:
    return "⊘" if step.how == "none" else shorten(label(step.piece), LONG)


# --- the drawing ---


def _head(trace: Trace) -> Iterator[str]:
    size = trace.vocabulary_size
    yield write_badge(EDGE, 24, trace.source, trace.model, trace.device, size, trace.date)
    constraint = shorten(trace.constraint, 40)
    yield write(LEFT + SPAN, 24, constraint, 13, fill="var(--gv-soft)", text_anchor="end")
    yield write(EDGE, 50, "what each token cost", 13, font_weight="bold")
    yield write(EDGE + 164, 50, " ".join(_sums(trace.steps)), 13)


def _sums(steps: Sequence[Step]) -> Iterator[str]:
    """The whole, and every part of it."""
    sums = [sum(parts) for parts in zip(*map(parts_of, steps), strict=True)] or [0.0, 0.0, 0.0]
    whole = sum(sums)
    yield f"{counted(len(steps), 'step')} in {milliseconds(whole)}:"
    said = [
        f"{name} {milliseconds(ms)} ({share(ms / whole if whole else 0.0)})"
        for name, ms in zip(NAMES, sums, strict=True)
    ]
    yield ", ".join(said)


def _legend(top: float, shown: Sequence[Step]) -> Iterator[str]:
    x = EDGE
    for place, name in enumerate(NAMES):
        yield _bar(x, 64, 12, 12, place)
        yield write(x + 18, 74, name, 12, fill="var(--gv-soft)")
        x += 44 + 7.0 * len(name)
    cut = sum(total(step) > top for step in shown)
    if cut:
        yield _tear(x + 4, 72, 14)
        yield write(x + 28, 74, f"cut: {counted(cut, 'bar')} far above most others", 12, fill="var(--gv-soft)")


def _pattern() -> str:
    """Lines on the mask's colour, so that the parts differ by more than colour."""
    line = node("path", d="M-1 5L5 -1", stroke="var(--gv-page)", stroke_width=1.2)
    return node("defs", node("pattern", line, id=HATCH, width=4, height=4, patternUnits="userSpaceOnUse"))


def _bar(x: float, y: float, width: float, high: float, place: int) -> str:
    """One part of a bar: the forward plain, the mask hatched, the sample an outline."""
    size = {"x": x, "y": y, "width": width, "height": high}
    colour = f"var(--gv-{COLOURS[place]})"
    if NAMES[place] == "sample":
        return node("rect", **size, fill=colour, fill_opacity=0.25, stroke=colour, stroke_width=min(1.2, high / 2))
    solid = node("rect", **size, fill=colour)
    return solid + node("rect", **size, fill=f"url(#{HATCH})") if NAMES[place] == "mask" else solid


def _tear(x: float, y: float, width: float) -> str:
    """Where a bar is cut."""
    way = f"M{x - 2:g} {y + 3:g}l{width / 4 + 1:g} -6l{width / 4 + 1:g} 6l{width / 4 + 1:g} -6l{width / 4 + 1:g} 6"
    return node("path", d=way, fill="none", stroke="var(--gv-page)", stroke_width=5) + node(
        "path", d=way, fill="none", stroke="var(--gv-ink)", stroke_width=1.4
    )


def _grid(top: float) -> Iterator[str]:
    for part in (0.0, 0.5, 1.0):
        y = HIGH * (1 - part)
        yield node(
            "path", d=f"M{LEFT - 4:g} {y:g}H{LEFT + SPAN:g}", stroke="var(--gv-line)", opacity=1 if part == 0 else 0.5
        )
        words = milliseconds(top * part) if part else "0"
        yield write(LEFT - 8, y + 4, words, 11, fill="var(--gv-soft)", text_anchor="end")


def _draw_band(band: Sequence[Step], top: float, pitch: float) -> Iterator[str]:
    for place, step in enumerate(band):
        x = pitch * place
        title = node("title", escape("\n".join(_hover(step))))
        yield node("g", title, *_draw_step(step, top, pitch), transform=f"translate({x:g} 0)")


def _draw_step(step: Step, top: float, pitch: float) -> Iterator[str]:
    yield node("rect", width=pitch, height=HIGH, fill_opacity=0)  # to be pointed at
    y, width = HIGH, pitch - 3
    for place, ms in enumerate(parts_of(step)):
        high = min(y, HIGH * ms / top)
        y -= high
        yield _bar(1.5, y, width, high, place) if high > 0.05 else ""
    if total(step) > top:
        yield _tear(1.5, 14, width)
        yield write(pitch / 2, -5, _short(total(step)), 10, text_anchor="middle")
    yield _token(step, pitch)


def _token(step: Step, pitch: float) -> str:
    """Below its bar; upright where it fits."""
    words, x = _name(step), pitch / 2
    look = {"fill": f"var(--gv-{'soft' if step.how == 'forced' else 'ink'})"}
    if wide(words, 11) < pitch - 4:
        return write(x, HIGH + 16, words, 11, mono=True, text_anchor="middle", **look)
    turned = f"rotate(-90 {x:g} {HIGH:g})"
    return write(x - 7, HIGH + 4, words, 11, mono=True, text_anchor="end", transform=turned, **look)


def _short(ms: float) -> str:
    """A time without its unit, in milliseconds.

    >>> _short(12.34), _short(1234.5)
    ('12', '1,234')
    """
    return f"{ms:,.0f}" if ms >= 10 else f"{ms:.2g}"


def _hover(step: Step) -> Iterator[str]:
    how = "" if step.how == "sampled" else f", {step.how}"
    yield f"step {step.position}: {_name(step)}{how}, {milliseconds(total(step))}"
    yield from (f"  {name} {milliseconds(ms)}" for name, ms in zip(NAMES, parts_of(step), strict=True))


def _say(trace: Trace) -> str:
    """What is the same in every run; which part is the largest may not be, where two are close."""
    sums = {name: sum(parts) for name, parts in zip(NAMES, zip(*map(parts_of, trace.steps), strict=True), strict=False)}
    said = f"costs of {counted(len(trace.steps), 'step')}: forward, mask and sample of each"
    if not sums or not sum(sums.values()):
        return f"{said}; no time was measured"
    largest = max(sums, key=sums.__getitem__)
    clear = 2 * sums[largest] > sum(sums.values())
    return f"{said}; {largest + ' is the largest part' if clear else 'no part is more than half'}"
