"""The tokens that a forced run takes back, and the tokens in their place, byte below byte."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from guidedviz.decoding.trace import TRACE_HINT, Step, Trace, standing
from guidedviz.errors import expect
from guidedviz.machines.visible import counted
from guidedviz.markup import Element
from guidedviz.views.figure import Figure, figure_of, soft, write, write_box, write_legend
from guidedviz.views.words import label

BYTE_WIDTH = 15.0
NEAR_BYTES = 48  # bytes per row
TOKEN_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {  # what a box means, and how it looks
    "kept": ("stays", {"stroke": "var(--gv-soft)"}),
    "gone": ("taken back", {"stroke": "var(--gv-orange)", "stroke_width": 2}),
    "put": ("appended without a pass", {"stroke": "var(--gv-blue)", "stroke_width": 2, "stroke_dasharray": "5 3"}),
}
MARKS = {"kept": ("", ""), "gone": ("[", "]"), "put": ("{", "}")}


class RetokenisedRun(NamedTuple):
    """The tokens before a jump and after it; the first `kept` stay."""

    before: list[bytes]
    after: list[bytes]
    kept: int


def draw_rollback(trace: Trace) -> Figure:
    """Per jump that takes tokens back two rows: the tokens before it and after it.

    >>> toy = gv.ToyModel([b"n", b"o", b"no", b"t", b"!"], lambda tokens: [5, 4, 3, 2, 1])
    >>> guide = gv.guide(gv.regex("(n|x)o[t!]"), toy.vocabulary)
    >>> print(draw_rollback(gv.record(toy, "t", guide, temperature=0, jump_forward=True)).text)
    retokenisation: 1 jump takes tokens back
    before: [n]
    after: {no}
    """
    steps: tuple[Step, ...] = expect(trace, Trace, "draw_rollback", "a trace", TRACE_HINT).steps
    jumps = list(_find_jumps(steps))
    takes = "takes" if len(jumps) == 1 else "take"
    title = f"retokenisation: {counted(len(jumps), 'jump')} {takes} tokens back"
    parts = [write(16, 24, title, 13, font_weight="bold")]
    signs = ((write_box(0, -6, 16, 12, **style), means) for means, style in TOKEN_LOOKS.values())
    parts += write_legend(signs, 16, 46)[0]
    lines = [title]
    y = 56.0
    width = 460.0
    for jump in jumps:
        first = _first_near(jump)
        for name, pieces, new in (("before", jump.before, "gone"), ("after", jump.after, "put")):
            looks = ["kept" if number < jump.kept else new for number in range(len(pieces))]
            shown = list(zip(pieces, looks, strict=True))[first:]
            parts += [soft(16, y + 18, name, 13), *_write_retokenised(shown, y)]
            marked = [label(piece).join(MARKS[look]) for piece, look in shown]
            lines.append(" ".join([f"{name}:", *marked]))
            width = max(width, 88 + BYTE_WIDTH * sum(len(piece) for piece, _ in shown))
            y += 40
        y += 8
    return figure_of(width, y, "\n".join(lines), *parts)


def _find_jumps(steps: Sequence[Step]) -> Iterator[RetokenisedRun]:
    """The jumps that take tokens back; a jump ends at the next step that is not forced."""
    for place, step in enumerate(steps):
        if step.back:
            end = place + 1
            while end < len(steps) and steps[end].how == "forced":
                end += 1
            before = [one.piece for one in standing(steps[:place])]
            after = [one.piece for one in standing(steps[:end])]
            yield RetokenisedRun(before, after, len(before) - step.back)


def _first_near(jump: RetokenisedRun) -> int:
    """The first token that is shown: of a long text only those near the change."""
    first = 0
    while first < jump.kept and sum(map(len, jump.after[first:])) > NEAR_BYTES:
        first += 1
    return first


def _write_retokenised(shown: Sequence[tuple[bytes, str]], y: float) -> Iterator[Element]:
    x = 72.0
    for piece, look in shown:
        width = BYTE_WIDTH * len(piece)
        _, style = TOKEN_LOOKS[look]
        yield write_box(x, y, width - 3, 26.0, label(piece), struck=look == "gone", **style)
        x += width
