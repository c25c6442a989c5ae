"""The next token before and after the mask: a picture of its own, and a panel of the stage's still picture.

What it says stands in the packed step, as on the page.
"""

from collections.abc import Sequence
from textwrap import wrap

from guidedviz.decoding.recording import PackedRest, PackedRow, PackedStep
from guidedviz.decoding.trace import Step
from guidedviz.errors import expect, shorten
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.charts.bars import EDGE, WIDE, write_bar, write_bar_names, write_name
from guidedviz.views.figure import Figure, drawing, moved, rect, soft, wide, write
from guidedviz.views.step_words import pack_step

HEAD, ROW, FACT = 46.0, 26.0, 22.0  # heights
NAME, LETTER = 132.0, 6.6  # the most that a label takes, and pixels per character of a number, about
UNASKED = "The text is fixed here, so the model is not asked and there is no distribution."
Drawn = tuple[Element, float]  # elements that start at y = 0, and their height


def draw_distribution(step: Step, title: str = "next token") -> Figure:
    """The likeliest tokens before and after the mask; forbidden tokens are struck through."""
    expect(step, Step, "draw_distribution", "a step of a trace", "trace.steps[0]")
    expect(title, str, "draw_distribution, title", "a text")
    packed = pack_step(step)
    svg, height = write_next(packed, title, WIDE - 2 * EDGE, f"{step.legal:,} legal")
    alt = say_next(packed, title)
    text = alt if step.how == "forced" else f"{title}: {step.legal} legal, Z {packed['massText']}"
    return Figure(drawing(WIDE, height + EDGE, moved(EDGE, 8, svg), alt=alt), text, alt)


def say_next(step: PackedStep, title: str) -> str:
    """The same in words."""
    if step["how"] == "forced":
        return f"{title}: {step['label']}. {UNASKED}"
    rows = (f"{row.label} {row.rawText} to {row.drawnText}" for row in step["rows"])
    changed = f" ({step['changes']})" if step.get("changes") else ""
    before = f"{title}, probability before and {step['after']}{changed}"
    return f"{before}: {', '.join(rows)}. Legal mass Z {step['massText']}."


def write_next(step: PackedStep, title: str, width: float, legal: str, facts: Sequence[tuple[str, str]] = ()) -> Drawn:
    """The panel of the next token: what applies to all, the rows, and below them facts as names and values."""
    unasked = step["how"] == "forced"
    said = "the model was not asked" if unasked else f"Z {step['massText']} · {legal}"
    parts = [write(0, 13, title, 13, font_weight="bold"), soft(width, 13, said, 13, text_anchor="end")]
    if unasked:
        rows = [write(0, 40, shorten(step["label"], int(width / 8.5)), 14, mono=True, font_weight="bold")]
        rows += [soft(0, 64 + 18 * number, line) for number, line in enumerate(wrap(UNASKED, int(width / 6.6)))]
        y = 64.0 + 18 * (len(rows) - 1)
    else:
        parts += [_tag(step.get("changes", ""))]
        parts += [] if step["free"] else write_bar_names(["before", step["after"]], width, 36)
        rows, y = _rows(step, width), HEAD + ROW * (len(step["rows"]) + 1)
    for name, value in facts:
        y += FACT
        room = int((width - 8 * len(name) - 16) / 7.5)
        rows += [soft(0, y - 6, name, 13), write(width, y - 6, shorten(value, room), 13, text_anchor="end")]
    return together(parts + rows), y


def _tag(changes: str) -> Element:
    """What besides the mask changed the probabilities."""
    if not changes:
        return NOTHING
    box = rect(0, 22, 6.4 * len(changes) + 18, 20, 10, fill="none", stroke="var(--gv-gold)", stroke_width=1.5)
    return node("g", box, write(8, 36, changes, 12), data_part="changes")


def _rows(step: PackedStep, width: float) -> list[Element]:
    """One row per candidate and one for all others; the full scale of a bar is at least a third of the width."""
    free, named = step["free"], step["rows"]
    shown: list[PackedRow | PackedRest] = [*named, step["rest"]]
    said = [row.rawText + f" → {row.drawnText}" * (not free) for row in shown]
    number = LETTER * max(map(len, said)) + 8
    longest = max((wide(row.label, 14) for row in named), default=0.0)
    name = max(78.0, min(NAME, longest + 4, width * 2 / 3 - number - 24))
    start, span = name + 22, width - name - 22 - number
    rows = []
    for place, row in enumerate(shown):
        parts, struck = list[Element](), False
        if isinstance(row, PackedRow):
            chosen, struck = row.token == step["token"], not row.legal
            parts += [write(0, 17, "▸", 13, fill="var(--gv-orange)")] * chosen
            parts.append(write_name(name + 14, 17, row.label, struck, chosen, int(name / 8.5)))
        else:
            parts.append(soft(name + 14, 17, "all others", text_anchor="end"))
        parts.append(rect(start, 2, span, ROW - 5, 3, fill="var(--gv-page)", data_part="bar"))  # the full scale
        if free:
            parts.append(write_bar(start, 6, row.raw * span, 13.0, 1, False))
        else:
            parts.append(write_bar(start, 4, row.raw * span, 7.0, 0, struck))
            parts.append(write_bar(start, 13, row.drawn * span, 8.0, 1, struck))
        parts.append(soft(width, 17, said[place], text_anchor="end"))
        rows.append(moved(0, HEAD + ROW * place, *parts, data_part="row" if place < len(named) else None))
    return rows
