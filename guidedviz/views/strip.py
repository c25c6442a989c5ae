"""The prompt and the tokens of a run in one strip of chips, coloured by probability."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from guidedviz.decoding.recording import PackedStep
from guidedviz.decoding.trace import TRACE_HINT, Trace, taken_back
from guidedviz.errors import expect, shorten
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import EDGE, Drawn, Figure, centred, drawing, moved, rect, ruled, soft, wide
from guidedviz.views.step_words import pack_step
from guidedviz.views.theme import paint
from guidedviz.views.words import prompt_parts, reading, special_name

STAGE_WIDTH = 920.0
PANEL_GAP = 10.0
PADDING = 12.0  # inside a panel
STAGE_INNER = STAGE_WIDTH - 2 * EDGE
Panel = tuple[str, float, Drawn]  # its name, its width, and what is inside


def draw_strip(trace: Trace, *, mass: bool = False) -> Figure:
    """The prompt and the tokens in one strip, coloured by probability.

    With `mass` each token shows its step and the Z of it, the legal mass, instead of its own probability.
    """
    expect(trace, Trace, "draw_strip", "a trace", TRACE_HINT)
    steps = pack_trace(trace)
    words = ""
    if mass:
        words = "below each token: its step, and Z, the share of the probability that the mask kept at this step"
    svg, height = write_strip(steps, trace, words=words, mass=mass)
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
    said = f"{trace.source}: {trace.model} on {trace.device}"
    said += f", {trace.vocabulary_size:,} tokens. Prompt "
    for place, part in enumerate(prompt_parts(trace)):
        said += f"({SPECIAL} {part})" if place % 2 else part
    return f"{said}. Output {_quote_output(trace, cursor)}"


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
    shown = len(steps) if cursor is None else cursor
    back = {place for step in steps[:shown] for place in step["back"]}
    drawn = list(write_prompt(prompt_parts(trace)))
    for place, step in enumerate(steps):
        share = step["mass"] if mass else step["masked"]
        said = f"{place + 1} · {step['massText']}" if mass else step["maskedText"]
        special = is_special(step, trace)
        current = cursor == place + 1
        gone = place in back
        drawn.append(write_chip(Chip(step, share, said, special, current, gone or place >= shown, gone)))
    parts, y = wrap_chips(drawn)
    if words:
        parts.append(soft(0, y + 18, shorten(words, 130), 13))
        y += 22
    return write_panels(("text", STAGE_INNER, (together(parts), y)))


def is_special(step: PackedStep, trace: Trace) -> bool:
    """Whether a token is special: one that the constraint names, or the end of an answer in a chat."""
    ends_chat = bool(trace.prompt_parts) and step["end"] == "eos"
    return ends_chat or step["token"] in step.get("names", ())


def wrap_chips(chips: Sequence[Drawn]) -> tuple[list[Element], float]:
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


# --- chips ---


CHIP_HEIGHT = 44.0
CHIP_GAP = 4.0  # after each chip
PROMPT_WORDS = re.compile("[^ ↵]{0,87}[ ↵]|[^ ↵]{1,88}")  # one that is longer than a line is broken
SPECIAL = "special token"
CAME_BELOW = {"none": "end", "inserted": "inserted", "forced": "forced"}  # what is said below a token that is not drawn
HOW_COLOURS = {"inserted": "gold", "none": "magenta", "forced": "ink"}  # of a token that the model did not choose


@dataclass(frozen=True)
class Chip:
    """A token of a run, the number that colours it, and how it is shown."""

    step: PackedStep
    share: float
    said: str  # the number in words
    special: bool  # a special token
    current: bool
    pale: bool
    gone: bool  # taken back


def write_prompt(parts: Sequence[str]) -> Iterator[Drawn]:
    """The words of the prompt, and chips for its special tokens."""
    for place, part in enumerate(parts):
        if place % 2:
            yield write_special(part, 26)
            continue
        for word in PROMPT_WORDS.findall(part):
            gap = -CHIP_GAP if word.endswith(" ") else 0.0
            yield soft(0, 26, word, 15, mono=True), wide(word, 15) + gap


def write_special(text: str, y: float) -> Drawn:
    """The name of a special token on a chip, and its width."""
    name = special_name(text)
    width = wide(name) + 16
    ground = rect(0, y - 15, width, 21, 10.5, fill="var(--gv-soft)")
    words = centred(width / 2, y, name, mono=True, fill="var(--gv-page)")
    about = f"{SPECIAL} {text}"
    return node("g", ground, words, role="img", aria_label=about, data_part="special"), width


def write_chip(chip: Chip) -> Drawn:
    """A token, and below it how it came; one that is taken back is struck through. And its width."""
    how = chip.step["how"]
    words = shorten(chip.step["label"], 80)
    dropped = shorten(chip.step["dropped"], 24)
    below = CAME_BELOW.get(how, chip.said)
    if how == "accepted":
        below = f"✓ {chip.said}"
    if chip.gone:
        below = "taken back"
    left = wide(dropped, 12) + 6 if dropped else 0.0  # of what is below
    name, long = write_special(words, 20)
    if not chip.special:
        long = wide(words, 15)
    width = max(long, left + 0.9 * wide(below, 12)) + 12
    parts = [_write_ground(chip, width)]
    if chip.special:
        parts.append(moved((width - long) / 2, 0, name))
    else:
        struck = "line-through" if chip.gone else None
        parts.append(centred(width / 2, 20, words, 15, mono=True, text_decoration=struck))
    parts.append(centred((width + left) / 2, 37, below, 12))
    if dropped:
        parts.append(soft(6, 37, dropped, mono=True, text_decoration="line-through"))
    if how == "accepted":
        parts.append(ruled(2, CHIP_HEIGHT - 1, width - 4, stroke="var(--gv-green)", stroke_width=3))
    return node("g", *parts, opacity=0.9 if chip.pale else 1, data_part="token"), width


def _write_ground(chip: Chip, width: float) -> Element:
    """The box of a token; the likelier it was, the darker it is."""
    how = chip.step["how"]
    opacity = 0.0
    if how in ("sampled", "accepted", "given") and not chip.gone:
        opacity = 0.08 + 0.42 * chip.share
    colour = "orange" if chip.current else HOW_COLOURS.get(how, "line")
    line = {"stroke": paint(colour), "stroke_width": 2.5 if chip.current else 1}
    dashes = "3 2" if how == "forced" and not chip.current else None
    fill = {"fill": "var(--gv-blue)", "fill_opacity": opacity}
    return rect(0, 0, width, CHIP_HEIGHT, 4, **fill, **line, stroke_dasharray=dashes)
