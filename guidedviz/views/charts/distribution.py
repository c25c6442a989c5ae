"""The likeliest tokens before and after the mask, as bars; forbidden tokens are struck through."""

from __future__ import annotations

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import Candidate, Step
from guidedviz.errors import expect
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.charts.bars import write_bar, write_bar_names, write_name
from guidedviz.views.figure import Figure, drawing, moved, soft, write
from guidedviz.views.words import after_name, is_free, label, others, shown_candidates

EDGE, ROW, WIDE = 16.0, 22.0, 780.0
UNASKED = "Nothing else may come next, so the model was not asked: there is no distribution."
Drawn = tuple[Element, float]  # elements that starts at y = 0, and its height


def draw_distribution(step: Step, count: int = 9, title: str = "next token") -> Figure:
    """The likeliest tokens before and after the mask; forbidden tokens are struck through."""
    expect(step, Step, "draw_distribution", "a step of a trace", "trace.steps[0]")
    expect(count, int, "draw_distribution, count", "a number of tokens")
    expect(title, str, "draw_distribution, title", "a text")
    svg, height = write_distribution(step, count, title, WIDE)
    if step.how == "forced":
        said = f"{title}: {label(step.piece)}. {UNASKED}"
        return Figure(drawing(WIDE, height + EDGE, moved(0, 8, svg), alt=said), said, said)
    rows = ", ".join(_say_candidate(c) for c in shown_candidates(step, count))
    alt = f"{title}, probability before and {after_name(step)}: {rows}. Legal mass Z {probability(step.mass)}."
    text = f"{title}: {step.legal} legal, Z {probability(step.mass)}"
    return Figure(drawing(WIDE, height + EDGE, moved(0, 8, svg), alt=alt), text, alt)


def _say_candidate(c: Candidate) -> str:
    after = probability(c.drawn) if c.legal else "forbidden"
    return f"{label(c.piece)} {probability(c.raw)} to {after}"


def write_distribution(step: Step, count: int, title: str, width: float, card: float | None = None) -> Drawn:
    """The same as a part of a drawing: on a card, or alone with the legal mass below it."""
    if step.how == "forced":
        return _write_unasked(step, title, width, card)
    shown = shown_candidates(step, count)
    top, height = 38.0, 38 + ROW * (len(shown) + 1) + (8 if card is not None else 38)
    left = (card or 0) + 12
    right = (card or 0) + width - (12 if card is None else 30)
    parts = [write_card(card, width - 10, height)] if card is not None else []
    free = is_free(step)
    parts += [write(left, 20, title, 13, font_weight="bold")]
    parts += [] if free else write_bar_names(["before", after_name(step)], right, 20)
    for place, c in enumerate(shown):
        parts.append(_candidate(c, c.token == step.token, left, right, top + ROW * place, free))
    rest = others(step, shown)
    y = top + ROW * len(shown)
    parts.append(_pair(left, right, y, rest[0], rest[1], False, free))
    parts.append(soft(left + 120, y + 14, "all others", text_anchor="end"))
    if card is None:
        parts.append(write_meter(left, right, height - 18, step.mass))
    return together(parts), height


def _write_unasked(step: Step, title: str, width: float, card: float | None) -> Drawn:
    """The same for a forced step, which has no distribution; as high as the panel beside it."""
    left, height = (card or 0) + 12, 146.0
    parts = [write_card(card, width - 10, height)] if card is not None else []
    name = write_name(left + 120, 52, label(step.piece), False, True)
    parts += [write(left, 20, title, 13, font_weight="bold"), name, soft(left, 84, UNASKED)]
    return together(parts), height


def _candidate(c: Candidate, chosen: bool, left: float, right: float, y: float, free: bool) -> Element:
    mark = write(left, y + 14, "▸", 13, fill="var(--gv-orange)") if chosen else NOTHING
    name = write_name(left + 120, y + 14, label(c.piece), not c.legal, chosen)
    return mark + name + _pair(left, right, y, c.raw, c.drawn, not c.legal, free)


def _pair(left: float, right: float, y: float, raw: float, drawn: float, struck: bool, free: bool) -> Element:
    span = right - left - 240
    if free:
        said = soft(right, y + 14, probability(raw), text_anchor="end")
        return write_bar(left + 130, y + 5, raw * span, 9.0, 1, False) + said
    bars = write_bar(left + 130, y + 3, raw * span, 6.0, 0, struck)
    bars += write_bar(left + 130, y + 10, drawn * span, 7.0, 1, struck)
    odds = f"{probability(raw)} → {'forbidden' if struck else probability(drawn)}"
    return bars + soft(right, y + 14, odds, text_anchor="end")


def write_meter(left: float, right: float, y: float, mass: float) -> Element:
    """The legal mass Z as a meter."""
    start, said = left + 92, probability(mass)
    span = right - start - max(48.0, 8.2 * len(said) + 8)
    back = node("rect", x=start, y=y - 4, width=span, height=8, rx=2, fill="var(--gv-line)")
    bar = node("rect", x=start, y=y - 4, width=span * mass, height=8, rx=2, fill="var(--gv-gold)")
    number = write(right, y + 4, said, 13, font_weight="bold", text_anchor="end")
    return write(left, y + 4, "legal mass Z", 12) + back + bar + number


def write_card(x: float, width: float, height: float) -> Element:
    """The background of one part of a stage."""
    return node("rect", x=x, y=0, width=width, height=height, rx=8, fill="var(--gv-card)", stroke="var(--gv-line)")
