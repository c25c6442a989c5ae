"""Several texts as a table: whether a machine finds each complete, a prefix, or illegal, and where."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.machine import Machine, as_machine, read_path, to_bytes
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node
from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.tokens.guide import expected_next
from guidedviz.views.figure import (
    NEAR_EDGE,
    Figure,
    Style,
    bold,
    check_count,
    figure_of,
    rect,
    ruled,
    soft,
    wide,
    write,
)
from guidedviz.views.words import align, label

MOST_VERDICTS = 40  # texts of a table
SHOWN_BEFORE = 28  # characters before the place
SHOWN_AFTER = 8
LONGEST_SAID = 90
VERDICT_ROW = 26.0
VERDICT_SIZE = 13
VERDICT_SIGNS = {"complete": ("✓", "green"), "a prefix": ("…", "blue"), "illegal": ("✗", "magenta")}


@dataclass(frozen=True)
class TextVerdict:
    """How far a machine reads a text, and what it expects there."""

    verdict: Literal["complete", "a prefix", "illegal"]
    said: str
    read: bytes
    wrong: bytes = b""  # the character with the first illegal byte
    rest: bytes = b""

    @property
    def shown(self) -> tuple[str, str, str]:
        """What fits of the text before the wrong character, that character, and what fits after it."""
        if not self.wrong:
            return shorten(label(self.read), SHOWN_BEFORE + SHOWN_AFTER), "", ""
        before = visible(self.read)
        if len(before) > SHOWN_BEFORE:
            before = "…" + before[-SHOWN_BEFORE:]
        return before, visible(self.wrong), shorten(visible(self.rest), SHOWN_AFTER + 1)


def judge_text(machine: Machine[Any], data: bytes) -> TextVerdict:
    """Read a text byte by byte, up to the first illegal one.

    >>> judge_text(gv.regex("[0-9]+"), b"12x").said, judge_text(gv.regex("[0-9]+"), b"12").said
    ('x cannot come here, only 0-9 or the end', 'complete')
    """
    *read, state = read_path(machine, data)
    place = len(read)
    wanted = expected_next(machine, state)
    if place < len(data):
        end = place + 1
        while end < len(data) and 0x80 <= data[end] < 0xC0:
            end += 1
        wrong = data[place:end]
        said = f"{visible(wrong)} cannot come here, only {wanted}"
        return TextVerdict("illegal", said, data[:place], wrong, data[end:])
    if machine.is_accepting(state):
        return TextVerdict("complete", "complete", data)
    return TextVerdict("a prefix", f"a prefix, only {wanted} can come next", data)


def draw_verdicts(machine: Any, texts: Iterable[str | bytes]) -> Figure:
    """A table of texts: each is complete, a prefix, or illegal at a character, with what can come in its place.

    It takes any machine: a regex, a grammar, a schema, or a `GuidedFSM`.

    >>> print(draw_verdicts(gv.regex("[0-9]+[.][0-9]+"), ["1.30", "1.", "1;30"]).text)
    1 of 3 texts is complete
    ✓ 1.30  complete
    … 1.    a prefix, only 0-9 can come next
    ✗ 1;30  ; cannot come here, only . 0-9
    """
    machine = machine.machine() if isinstance(machine, GuidedFSM) else as_machine(machine, "draw_verdicts")
    found = _judge_texts(machine, texts)
    complete = sum(one.verdict == "complete" for one in found)
    verb = "is" if complete == 1 else "are"
    texts = counted(len(found), "text")
    summary = f"{complete} of {texts} {verb} complete"
    cells = ["".join(one.shown) for one in found]
    widest = max(wide(shown, VERDICT_SIZE) for shown in cells)
    second = NEAR_EDGE + 52 + widest
    longest = max(len(one.said) for one in found)
    right = second + 7.4 * min(longest, LONGEST_SAID)
    width = max(right, NEAR_EDGE + 8.0 * len(summary)) + NEAR_EDGE
    drawn = [bold(NEAR_EDGE, 20, summary, VERDICT_SIZE)]
    rows = []
    for number, (one, shown) in enumerate(zip(found, cells, strict=True)):
        drawn.append(_write_row(one, second, 34 + VERDICT_ROW * number, width))
        sign, _ = VERDICT_SIGNS[one.verdict]
        rows.append((f"{sign} {shown}", one.said))
    said = "\n".join([summary, *align(rows, ())])
    return figure_of(width, 44 + VERDICT_ROW * len(found), said, *drawn)


def _judge_texts(machine: Machine[Any], texts: Iterable[str | bytes]) -> list[TextVerdict]:
    where = "draw_verdicts, texts"
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise SettingError(where, seen=type(texts).__name__, expected="a list of texts")
    some = islice(texts, MOST_VERDICTS + 1)
    found = [judge_text(machine, to_bytes(text)) for text in some]
    check_count(where, len(found), "texts", MOST_VERDICTS)
    return found


def _write_row(one: TextVerdict, second: float, y: float, width: float) -> Element:
    sign, colour = VERDICT_SIGNS[one.verdict]
    before, wrong, after = one.shown
    x = NEAR_EDGE + 26
    base = y + 18
    fill = f"var(--gv-{colour})"
    strong: Style = {"fill": fill, "font_weight": "bold"}
    parts = [ruled(NEAR_EDGE, y, width - 2 * NEAR_EDGE, stroke="var(--gv-line)", stroke_width=1)]
    parts.append(write(NEAR_EDGE + 4, base, sign, VERDICT_SIZE, **strong))
    parts.append(write(x, base, before, VERDICT_SIZE, mono=True))
    if wrong:
        left = x + wide(before, VERDICT_SIZE) + 3
        size = wide(wrong, VERDICT_SIZE)
        line = {"fill": "none", "stroke": fill, "stroke_width": 1.6}
        end = left + size + 4
        parts.append(rect(left - 1.5, y + 4, size + 3, 19, 3, **line))
        parts.append(write(left, base, wrong, VERDICT_SIZE, mono=True, **strong))
        parts.append(soft(end, base, after, VERDICT_SIZE, mono=True))
    said = shorten(one.said, LONGEST_SAID)
    return node("g", *parts, write(second, base, said, VERDICT_SIZE))
