"""The prompt and the tokens of a run in one strip, coloured by probability."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from guidedviz.decoding.recording import PackedStep
from guidedviz.decoding.trace import TRACE_HINT, Trace, taken_back
from guidedviz.errors import expect, shorten
from guidedviz.markup import NOTHING, node, together
from guidedviz.views.figure import Drawn, Figure, drawing, moved, rect, soft, wide, write
from guidedviz.views.step_words import pack_step
from guidedviz.views.words import prompt_parts, reading, special_name

WIDTH, EDGE, GAP, PAD = 920.0, 16.0, 10.0, 12.0
INNER = WIDTH - 2 * EDGE
CHIP, BETWEEN = 44.0, 4.0  # the height of a token, and the room after it
LINES, WORDS = re.compile(".{1,88}"), re.compile("[^ ↵]{0,87}[ ↵]|[^ ↵]{1,88}")  # of a prompt
SPECIAL = "special token"


def draw_strip(trace: Trace, *, mass: bool = False) -> Figure:
    """The prompt and the tokens in one strip, coloured by probability.

    With `mass` each token shows the Z of its step, the legal mass, instead of its own probability.
    """
    expect(trace, Trace, "draw_strip", "a trace", TRACE_HINT)
    steps, count = _pack(trace), len(trace.steps)
    svg, height = _strip(steps, trace, mass=mass)
    alt = f"{_title(trace)} Prompt {_say_prompt(trace)}. Output {_quote(trace, count)}."
    said = (f"{step['label']} {step['massText']}" for step in steps if mass)
    alt += " Z per step: " * mass + " · ".join(said)
    return Figure(drawing(WIDTH, height + 12, moved(0, 6, svg), alt=alt), _summary(trace, count), alt)


def _pack(trace: Trace) -> list[PackedStep]:
    """The steps as the page gets them."""
    return [pack_step(step, back) for step, back in zip(trace.steps, taken_back(trace.steps), strict=True)]


def _title(trace: Trace) -> str:
    return f"{trace.source}: {trace.model} on {trace.device}, {trace.vocabulary_size:,} tokens."


def _say_prompt(trace: Trace) -> str:
    return "".join(f"({SPECIAL} {part})" if place % 2 else part for place, part in enumerate(prompt_parts(trace)))


def _quote(trace: Trace, cursor: int) -> str:
    return f'"{reading(replace(trace, steps=trace.steps[:cursor]).text)}"'


def _summary(trace: Trace, cursor: int) -> str:
    end = trace.steps[cursor - 1].end if cursor else ""
    return f"Stage: {trace.model}, {cursor} steps, {_quote(trace, cursor)}" + (f" ({end})" if end else "")


def _place(trace: Trace, cursor: int) -> str:
    return f"step {cursor} of {len(trace.steps)}"


def _row(*panels: tuple[str, float, Drawn]) -> Drawn:
    """Panels of one height side by side: names, widths and what is inside, which keeps away from the edges."""
    height, x, cards = max(height for *_, (_, height) in panels) + 2 * PAD, EDGE, []
    for part, width, (svg, _) in panels:
        ground = rect(0, 0, width, height, 8, fill="var(--gv-card)", stroke="var(--gv-line)")
        cards.append(moved(x, 0, ground, moved(PAD, PAD, svg), data_part=part))
        x += width + GAP
    return together(cards), height


def _strip(
    steps: Sequence[PackedStep], trace: Trace, cursor: int | None = None, words: str = "", mass: bool = False
) -> Drawn:
    """The prompt and the tokens, those after the cursor pale, and below them the words about its step."""
    drawn = [*_prompt(prompt_parts(trace))]
    gone = {place for step in steps[:cursor] for place in step["back"]}
    for place, step in enumerate(steps):
        shown = (step["mass"], step["massText"]) if mass else (step["masked"], step["maskedText"])
        pale = cursor is not None and place >= cursor
        special = bool(trace.parts) and step["end"] == "eos"
        drawn.append(_chip(step, special, cursor == place + 1, pale or place in gone, place in gone, *shown))
    x, y, chips = 0.0, 0.0, []
    for svg, width in drawn:
        if x + width > INNER - 2 * PAD:
            x, y = 0.0, y + CHIP + BETWEEN
        chips.append(moved(x, y, svg))
        x += width + BETWEEN
    said = soft(0, y + CHIP + 18, shorten(words, 130), 13) if words else NOTHING
    return _row(("text", INNER, (together([*chips, said]), y + CHIP + 22 * bool(words))))


def _prompt(parts: Sequence[str]) -> Iterator[Drawn]:
    """The prompt in lines; where it has special tokens, which are chips, in words."""
    plain = len(parts) == 1
    for place, part in enumerate(parts):
        if place % 2:
            yield _special(part, 26)
            continue
        for piece in (LINES if plain else WORDS).findall(part):
            gap = 6.0 if plain else -BETWEEN * piece.endswith(" ")
            yield soft(0, 26, piece, 15, mono=True), wide(piece, 15) + gap


def _special(text: str, y: float) -> Drawn:
    """The name of a special token on a chip."""
    name = special_name(text)
    width = wide(name, 13) + 16
    ground = rect(0, y - 15, width, 21, 10.5, fill="var(--gv-soft)")
    words = write(width / 2, y, name, 13, mono=True, text_anchor="middle", fill="var(--gv-page)")
    return node("g", ground, words, role="img", aria_label=f"{SPECIAL} {text}", data_part="special"), width


def _chip(step: PackedStep, special: bool, current: bool, pale: bool, gone: bool, share: float, said: str) -> Drawn:
    """A token, and below it how it came; one that is taken back is struck through."""
    how, words, dropped = step["how"], shorten(step["label"], 80), shorten(step["dropped"], 24)
    asked = how in ("sampled", "accepted")
    below = {"none": "end", "sampled": said, "accepted": f"✓ {said}"}.get(how, how)
    below = "taken back" if gone else below
    left = wide(dropped, 12) + 6 if dropped else 0.0  # of what is below
    name, long = _special(words, 20) if special else (NOTHING, wide(words, 15))
    width = max(long, left + 0.9 * wide(below, 12)) + 12
    fill = {"fill": "var(--gv-blue)", "fill_opacity": 0.08 + 0.42 * share if asked else 0.0}
    strange = current or how in ("inserted", "none")
    line = {"stroke": "var(--gv-orange)" if strange else "var(--gv-line)", "stroke_width": 2.5 if current else 1}
    dash, struck = "3 2" if how == "forced" and not current else None, "line-through" if gone else None
    box = rect(0, 0, width, CHIP, 4, **fill, **line, stroke_dasharray=dash)
    text = write(width / 2, 20, words, 15, mono=True, text_anchor="middle", text_decoration=struck)
    parts = [box, moved((width - long) / 2, 0, name) if special else text]
    parts.append(soft((width + left) / 2, 37, below, text_anchor="middle"))
    if dropped:
        parts.append(soft(6, 37, dropped, mono=True, text_decoration="line-through"))
    if how == "accepted":
        parts.append(node("path", d=f"M2 {CHIP - 1:g}H{width - 2:g}", stroke="var(--gv-green)", stroke_width=3))
    return node("g", *parts, opacity=0.6 if pale else 1, data_part="token"), width
