"""All texts of a small task as three trees: without a mask, with one, and as the task asks for them."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from guidedviz.decoding.distribution import Branch, branch
from guidedviz.decoding.samplers import Task
from guidedviz.decoding.sampling import probability
from guidedviz.errors import expect
from guidedviz.markup import Element
from guidedviz.views.charts.bars import BARS_WIDTH
from guidedviz.views.figure import EDGE, Figure, figure_of, soft, wide, write, write_box
from guidedviz.views.words import label

LEAST_SHARE = 1e-4  # a smaller probability is neither drawn nor said
PANELS = {  # attribute of a branch, and what the panel shows
    "free": "no mask",
    "masked": "illegal tokens removed at each step",
    "conditioned": "the target: illegal texts removed at the end",
}


class TreeBox(NamedTuple):
    """A token after those in the rows above it."""

    left: float  # from 0 to 1
    share: float  # its probability, which is its width
    row: int
    words: str
    text: str | None  # "" if it is not complete, None for all that is illegal


def draw_text_tree(task: Task) -> Figure:
    """Three panels: the model's distribution, the masked one, and the target. One row per token.

    A box is as wide as its probability.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [2, 0] if tokens[-1] == 0 else [0, 0])
    >>> print(draw_text_tree(Task(toy, "b", gv.guide(gv.regex("ab|b[ab]"), toy.vocabulary))).text)
    free: ab 0.06, ba 0.25, bb 0.25, illegal 0.44
    masked: ab 0.50, ba 0.25, bb 0.25
    conditioned: ab 0.11, ba 0.45, bb 0.45
    """
    tree = branch(expect(task, Task, "draw_text_tree, task", "a task of decoding.distribution"))
    parts = list[Element]()
    lines = list[str]()
    top = 0.0
    for panel, about in PANELS.items():
        boxes = list(_grow_boxes(tree, panel, task.model.vocabulary.pieces))
        parts.append(write(EDGE, top + 22, panel, font_weight="bold"))
        parts.append(soft(EDGE + 96, top + 22, about))
        parts += [_write_text_box(box, top + 34 + 30 * box.row) for box in boxes]
        lines.append(f"{panel}: {', '.join(_say_texts(boxes))}")
        top += 74 + 30 * max(box.row for box in boxes)
    return figure_of(BARS_WIDTH, top + 4, "\n".join(lines), *parts)


def _write_text_box(box: TreeBox, y: float) -> Element:
    x = EDGE + (BARS_WIDTH - 2 * EDGE) * box.left
    width = (BARS_WIDTH - 2 * EDGE) * box.share - 1
    long = f"{box.words} {probability(box.share)}"
    fitting = long if wide(long) < width - 3 else box.words
    if box.text is None:
        line: dict[str, Any] = {"stroke": "var(--gv-magenta)", "fill": "none", "stroke_dasharray": "4 3"}
        return write_box(x, y, width, 27, fitting, **line)
    return write_box(x, y, width, 27, fitting, stroke="var(--gv-blue)")


def _say_texts(boxes: Sequence[TreeBox]) -> Iterator[str]:
    """Each complete text with its probability, and that of all that is illegal."""
    for box in boxes:
        if box.text:
            yield f"{box.text} {probability(box.share)}"
    gone = sum(box.share for box in boxes if box.text is None)
    if gone:
        yield f"illegal {probability(gone)}"


def _grow_boxes(tree: Branch, panel: str, pieces: Sequence[bytes], x: float = 0.0, row: int = 0) -> Iterator[TreeBox]:
    """The boxes below a branch, from the left; in the first panel the illegal rest is the last of each row."""
    for one in tree.branches:
        share = getattr(one, panel)
        if share > LEAST_SHARE:
            read = [pieces[token] for token in one.tokens]
            text = "" if one.branches else label(b"".join(read))
            yield TreeBox(x, share, row, label(read[-1]), text)
            yield from _grow_boxes(one, panel, pieces, x, row + 1)
            x += share
    if panel == "free" and tree.illegal > LEAST_SHARE:
        yield TreeBox(x, tree.illegal, row, "illegal", None)
