"""How much of the vocabulary is legal, state by state."""

from __future__ import annotations

from math import ceil, log10

from guidedviz.tokens.guide import Guide
from guidedviz.views.figure import Figure, drawing, node, shorten, write
from guidedviz.views.map import share
from guidedviz.views.token_table import finite_index

MOST = 400  # states that get a bar
LEFT, TOP, HIGH, SPAN = 72.0, 44.0, 150.0, 832.0
NOTE = "each line is ten times the one below it · a ring marks a state where the text may end"


def draw_density(guide: Guide, title: str = "") -> Figure:
    """The share of legal tokens in each state, on a scale where every line is ten times the one below.

    >>> import guidedviz as gv
    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> draw_density(gv.guide(gv.regex("[0-9]+"), v)).text
    'Density: 2 states over 6 tokens; q0 33%, q1 50%'
    """
    counts, size = finite_index(guide).legal.tolist(), len(guide.vocabulary)
    shown, decades = counts[:MOST], max(1, ceil(log10(size)))
    wide = min(34.0, SPAN / len(shown))
    about = f"{len(counts):,} states over {size:,} tokens"
    parts = [write(16, 24, "legal tokens, state by state", 13, font_weight="bold")]
    parts += [write(224, 24, title or about, 13, fill="var(--gv-soft)"), *_scale(decades, wide * len(shown))]
    for state, count in enumerate(shown):
        part = max(0.02, 1 + log10(count / size) / decades) if count else 0.0
        parts += _bar(guide, state, HIGH * part, LEFT + wide * state, wide)
    parts.append(write(16, TOP + HIGH + 36, NOTE, 12, fill="var(--gv-soft)"))
    said = ", ".join(f"{guide.label(state)} {share(count / size)}" for state, count in enumerate(shown))
    text = f"Density: {about}; {said}" + (f"; {len(counts) - MOST:,} more have no bar" if len(counts) > MOST else "")
    return Figure(drawing(920, TOP + HIGH + 52, *parts, alt=text), shorten(text, 400), text)


def _scale(decades: int, long: float) -> list[str]:
    parts = []
    for decade in range(decades + 1):
        y = TOP + HIGH * decade / decades
        parts.append(node("line", x1=LEFT, x2=LEFT + long, y1=y, y2=y, stroke="var(--gv-line)"))
        parts.append(write(LEFT - 8, y + 4, share(10.0**-decade), 11, fill="var(--gv-soft)", text_anchor="end"))
    return parts


def _bar(guide: Guide, state: int, tall: float, x: float, wide: float) -> list[str]:
    base, middle = TOP + HIGH, x + wide / 2
    size = {"x": x + wide * 0.1, "y": base - tall, "width": wide * 0.8, "height": tall}
    parts = [node("rect", **size, fill="var(--gv-sea)")] if tall else []
    if wide >= 14:
        name = guide.label(state)[:4] if wide >= 22 else str(state)
        parts.append(write(middle, base + 14, name, 10, text_anchor="middle", fill="var(--gv-soft)"))
    if guide.is_accepting(state):
        look = {"fill": "none", "stroke": "var(--gv-orange)", "stroke_width": 1.6}
        parts.append(node("circle", cx=middle, cy=base - tall - 6, r=3, **look))
    return parts
