"""The next token before and after the mask: a picture of its own, and a panel of the stage's still picture.

What it says stands in the packed step, as on the page.
"""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from guidedviz.decoding.recording import PackedRest, PackedRow, PackedStep
from guidedviz.decoding.trace import Step
from guidedviz.errors import expect, shorten
from guidedviz.markup import Element, node, together
from guidedviz.views.charts.bars import BARS_WIDTH, write_bar, write_bar_names, write_name
from guidedviz.views.figure import EDGE, Drawn, Figure, drawing, moved, rect, soft, soft_right, wide, write
from guidedviz.views.step_words import pack_step

ROWS_TOP = 46.0  # where the rows begin
CANDIDATE = 26.0  # the height of a row
FACT = 22.0  # the height of a fact
NAME_ROOM = 132.0  # the most that a label takes
DIGIT_WIDTH = 6.6  # pixels per character of a number, about
NOT_ASKED_WORDS = "The text is fixed here, so the model is not asked and there is no distribution."


def draw_distribution(step: Step, title: str = "next token") -> Figure:
    """The likeliest tokens before and after the mask; forbidden tokens are struck through."""
    expect(step, Step, "draw_distribution", "a step of a trace", "trace.steps[0]")
    expect(title, str, "draw_distribution, title", "a text")
    packed = pack_step(step)
    svg, height = write_next(packed, title, BARS_WIDTH - 2 * EDGE, f"{step.legal:,} legal")
    alt = say_next(packed, title)
    text = alt if step.how == "forced" else f"{title}: {step.legal} legal, Z {packed['massText']}"
    return Figure(drawing(BARS_WIDTH, height + EDGE, moved(EDGE, 8, svg), alt=alt), text, alt)


def say_next(step: PackedStep, title: str) -> str:
    """The same in words."""
    if step["how"] == "forced":
        return f"{title}: {step['label']}. {NOT_ASKED_WORDS}"
    rows = (f"{row.label} {row.rawText} to {row.drawnText}" for row in step["rows"])
    before = f"{title}, probability before and {step['after']}"
    if step.get("changes"):
        before += f" ({step['changes']})"
    return f"{before}: {', '.join(rows)}. Legal mass Z {step['massText']}."


def write_next(step: PackedStep, title: str, width: float, legal: str, facts: Sequence[tuple[str, str]] = ()) -> Drawn:
    """The panel of the next token: what applies to all, the rows, and below them facts as names and values."""
    parts = [write(0, 13, title, 13, font_weight="bold")]
    if step["how"] == "forced":
        parts.append(soft_right(width, 13, "the model was not asked", 13))
        parts.append(write(0, 40, shorten(step["label"], int(width / 8.5)), 14, mono=True, font_weight="bold"))
        lines = wrap(NOT_ASKED_WORDS, int(width / 6.6))
        parts += [soft(0, 64 + 18 * number, line) for number, line in enumerate(lines)]
        y = 64.0 + 18 * len(lines)
    else:
        parts.append(soft_right(width, 13, f"Z {step['massText']} · {legal}", 13))
        if step.get("changes"):
            parts.append(_write_tag(step["changes"]))
        if not step["free"]:
            parts += write_bar_names(["before", step["after"]], width, 36)
        parts += _write_rows(step, width)
        y = ROWS_TOP + CANDIDATE * (len(step["rows"]) + 1)
    for name, value in facts:
        y += FACT
        room = int((width - 8 * len(name) - 16) / 7.5)
        parts += [soft(0, y - 6, name, 13), write(width, y - 6, shorten(value, room), 13, text_anchor="end")]
    return together(parts), y


def _write_tag(changes: str) -> Element:
    """What besides the mask changed the probabilities."""
    box = rect(0, 22, 6.4 * len(changes) + 18, 20, 10, fill="none", stroke="var(--gv-gold)", stroke_width=1.5)
    return node("g", box, write(8, 36, changes, 12), data_part="changes")


def _write_rows(step: PackedStep, width: float) -> Iterator[Element]:
    """One row per candidate and one for all others; the full scale of a bar is at least a third of the width."""
    shown: list[PackedRow | PackedRest] = [*step["rows"], step["rest"]]
    said = [row.rawText if step["free"] else f"{row.rawText} → {row.drawnText}" for row in shown]
    number = DIGIT_WIDTH * max(map(len, said)) + 8
    longest = max((wide(row.label, 14) for row in step["rows"]), default=0.0)
    name = max(78.0, min(NAME_ROOM, longest + 4, width * 2 / 3 - number - 24))
    start = name + 22
    span = width - start - number
    for place, row in enumerate(shown):
        if isinstance(row, PackedRow):
            parts = _write_candidate(row, row.token == step["token"], name)
            struck = not row.legal
            part = "row"
        else:
            parts = [soft_right(name + 14, 17, "all others")]
            struck = False
            part = None
        parts.append(rect(start, 2, span, CANDIDATE - 5, 3, fill="var(--gv-page)", data_part="bar"))  # the full scale
        if step["free"]:
            parts.append(write_bar(start, 6, row.raw * span, 13.0, 1))
        else:
            parts.append(write_bar(start, 4, row.raw * span, 7.0, 0, struck))
            parts.append(write_bar(start, 13, row.drawn * span, 8.0, 1))
        parts.append(soft_right(width, 17, said[place]))
        yield moved(0, ROWS_TOP + CANDIDATE * place, *parts, data_part=part)


def _write_candidate(row: PackedRow, chosen: bool, name: float) -> list[Element]:
    label = write_name(name + 14, 17, row.label, not row.legal, chosen, int(name / 8.5))
    return [write(0, 17, "▸", 13, fill="var(--gv-orange)"), label] if chosen else [label]
