"""The prompt and the tokens of a run in one strip, coloured by probability."""

from collections.abc import Sequence
from dataclasses import replace

from guidedviz.decoding.recording import PackedStep
from guidedviz.decoding.trace import TRACE_HINT, Trace, taken_back
from guidedviz.errors import expect, shorten
from guidedviz.markup import Element, together
from guidedviz.views.chips import CHIP_GAP, CHIP_HEIGHT, SPECIAL, Chip, write_chip, write_prompt
from guidedviz.views.figure import EDGE, Drawn, Figure, drawing, moved, rect, soft
from guidedviz.views.step_words import pack_step
from guidedviz.views.words import prompt_parts, reading

STAGE_WIDTH = 920.0
PANEL_GAP = 10.0
PADDING = 12.0  # inside a panel
STAGE_INNER = STAGE_WIDTH - 2 * EDGE
Panel = tuple[str, float, Drawn]  # its name, its width, and what is inside


def draw_strip(trace: Trace, *, mass: bool = False) -> Figure:
    """The prompt and the tokens in one strip, coloured by probability.

    With `mass` each token shows the Z of its step, the legal mass, instead of its own probability.
    """
    expect(trace, Trace, "draw_strip", "a trace", TRACE_HINT)
    steps = pack_trace(trace)
    svg, height = write_strip(steps, trace, mass=mass)
    alt = f"{say_run(trace, len(steps))}."
    if mass:
        said = [f"{step['label']} {step['massText']}" for step in steps]
        alt += f" Z per step: {' · '.join(said)}"
    sheet = drawing(STAGE_WIDTH, height + 12, moved(0, 6, svg), alt=alt)
    return Figure(sheet, say_summary(trace, len(steps)), alt)


def pack_trace(trace: Trace) -> list[PackedStep]:
    """The steps as the page gets them."""
    return list(map(pack_step, trace.steps, taken_back(trace.steps)))


def say_run(trace: Trace, cursor: int) -> str:
    """Where a run comes from, its prompt and its output."""
    origin = f"{trace.source}: {trace.model} on {trace.device}, {trace.vocabulary_size:,} tokens."
    prompt = list(prompt_parts(trace))
    prompt[1::2] = [f"({SPECIAL} {name})" for name in prompt[1::2]]
    return f"{origin} Prompt {''.join(prompt)}. Output {_quote_output(trace, cursor)}"


def say_summary(trace: Trace, cursor: int) -> str:
    """The run in one line."""
    said = f"Stage: {trace.model}, {cursor} steps, {_quote_output(trace, cursor)}"
    end = trace.steps[cursor - 1].end if cursor else ""
    return f"{said} ({end})" if end else said


def _quote_output(trace: Trace, cursor: int) -> str:
    output = replace(trace, steps=trace.steps[:cursor]).text
    return f'"{reading(output)}"'


def write_panels(*panels: Panel) -> Drawn:
    """Panels of one height side by side; what is inside keeps away from the edges."""
    height = max(height for *_, (_, height) in panels) + 2 * PADDING
    x = EDGE
    cards = []
    for part, width, (svg, _) in panels:
        ground = rect(0, 0, width, height, 8, fill="var(--gv-card)", stroke="var(--gv-line)")
        cards.append(moved(x, 0, ground, moved(PADDING, PADDING, svg), data_part=part))
        x += width + PANEL_GAP
    return together(cards), height


def write_strip(
    steps: Sequence[PackedStep], trace: Trace, cursor: int | None = None, words: str = "", mass: bool = False
) -> Drawn:
    """The prompt and the tokens, those after the cursor pale, and below them the words about its step."""
    drawn = list(write_prompt(prompt_parts(trace)))
    back = {place for step in steps[:cursor] for place in step["back"]}
    for place, step in enumerate(steps):
        gone = place in back
        pale = gone or (cursor is not None and place >= cursor)
        special = bool(trace.parts) and step["end"] == "eos"
        share, said = (step["mass"], step["massText"]) if mass else (step["masked"], step["maskedText"])
        drawn.append(write_chip(Chip(step, share, said, special, cursor == place + 1, pale, gone)))
    parts, y = _wrap_chips(drawn)
    if words:
        parts.append(soft(0, y + 18, shorten(words, 130), 13))
        y += 22
    return write_panels(("text", STAGE_INNER, (together(parts), y)))


def _wrap_chips(chips: Sequence[Drawn]) -> tuple[list[Element], float]:
    """Chips in lines, and the height of these."""
    parts = []
    x = y = 0.0
    for svg, width in chips:
        if x + width > STAGE_INNER - 2 * PADDING:
            x = 0.0
            y += CHIP_HEIGHT + CHIP_GAP
        parts.append(moved(x, y, svg))
        x += width + CHIP_GAP
    return parts, y + CHIP_HEIGHT
