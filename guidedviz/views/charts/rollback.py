"""Retokenisation: the tokens that a forced run takes back, and the tokens in their place, byte below byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from guidedviz.decoding.trace import Step, Trace, standing
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node
from guidedviz.views.figure import TRACE_HINT, Figure, drawing, soft, wide, write
from guidedviz.views.words import label

LEFT, TOP, ROW, HIGH, BYTE = 72.0, 56.0, 40.0, 26.0, 15.0
SHOWN = 48  # bytes per row
LOOKS = {  # colour, dashes, and what a box means
    "kept": ("soft", "", "stays"),
    "gone": ("orange", "", "taken back"),
    "put": ("blue", "5 3", "appended without a pass"),
}
Boxes = list[tuple[bytes, str]]  # pieces, each with its look


@dataclass(frozen=True)
class Rollback:
    """One jump that takes tokens back: the tokens before it, and those after it, with how many tokens stay."""

    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    kept: int


def find_rollbacks(steps: Sequence[Step]) -> list[Rollback]:
    """The jumps of a decode that take tokens back."""
    found = []
    for at, step in enumerate(steps):
        if step.back:
            last = next((end for end in range(at + 1, len(steps)) if steps[end].how != "forced"), len(steps))
            before, after = ([s.piece for s in standing(steps[:end])] for end in (at, last))
            found.append(Rollback(tuple(before), tuple(after), len(before) - step.back))
    return found


def draw_rollback(trace: Trace) -> Figure:
    """Per jump that takes tokens back two rows: the tokens before it and after it.

    >>> toy = gv.ToyModel([b"n", b"o", b"no", b"t", b"!"], lambda tokens: [5, 4, 3, 2, 1])
    >>> guide = gv.guide(gv.regex("(n|x)o[t!]"), toy.vocabulary)
    >>> print(draw_rollback(gv.record(toy, "t", guide, temperature=0, jump_forward=True)).text)
    retokenisation: 1 jump takes tokens back
    before: [n]
    after: {no}
    """
    expect(trace, Trace, "draw_rollback", "a trace", TRACE_HINT)
    jumps = find_rollbacks(trace.steps)
    title = f"retokenisation: {counted(len(jumps), 'jump')} take{'s' * (len(jumps) == 1)} tokens back"
    parts, said, y, width = [write(16, 24, title, 13, font_weight="bold")], [title], TOP, 460.0
    for jump in jumps:
        for name, boxes in _rows(jump):
            parts += [soft(16, y + 18, name, 13), *_draw(boxes, y)]
            said.append(f"{name}: " + " ".join(_spell(piece, look) for piece, look in boxes))
            width = max(width, LEFT + BYTE * sum(len(piece) for piece, _ in boxes) + 16)
            y += ROW
        y += 8
    legend = [part for place, look in enumerate(LOOKS) for part in _sign(16 + 130.0 * place, 36, look)]
    text = "\n".join(said)
    return Figure(drawing(width, y, *parts, *legend, alt=text), text, text)


def _rows(jump: Rollback) -> Iterator[tuple[str, Boxes]]:
    """Both rows, from the first byte or, in a long text, from some token before the first change."""
    sizes = list(accumulate(map(len, jump.after), initial=0))
    first = next(at for at in range(jump.kept + 1) if sizes[-1] - sizes[at] <= SHOWN or at == jump.kept)
    for name, pieces, look in (("before", jump.before, "gone"), ("after", jump.after, "put")):
        yield name, [(one, "kept" if at < jump.kept else look) for at, one in enumerate(pieces) if at >= first]


def _spell(piece: bytes, look: str) -> str:
    left, right = {"kept": ("", ""), "gone": "[]", "put": "{}"}[look]
    return f"{left}{label(piece)}{right}"


def _draw(boxes: Boxes, y: float) -> Iterator[Element]:
    """One box per token, as wide as its bytes."""
    x = LEFT
    for piece, look in boxes:
        width = BYTE * len(piece) - 3
        struck = {"text_decoration": "line-through"} if look == "gone" else {}
        words = shorten(label(piece), max(1, int(width / wide("n", 13))))
        yield _box(x, y, width, look)
        yield write(x + width / 2, y + 18, words, 13, mono=True, text_anchor="middle", **struck)
        x += BYTE * len(piece)


def _box(x: float, y: float, width: float, look: str, high: float = HIGH) -> Element:
    colour, dashes, _ = LOOKS[look]
    line = {"stroke": f"var(--gv-{colour})", "stroke_width": 1 if look == "kept" else 2}
    line |= {"stroke_dasharray": dashes} if dashes else {}
    return node("rect", x=x, y=y, width=width, height=high, rx=4, fill="var(--gv-card)", **line)


def _sign(x: float, y: float, look: str) -> Iterator[Element]:
    yield _box(x, y, 16, look, 12)
    yield soft(x + 22, y + 10, LOOKS[look][2])
