"""All texts of a small task as three trees: without a mask, with one, and as the task asks for them."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from guidedviz.decoding.distribution import Branch, Task, branch
from guidedviz.decoding.sampling import probability
from guidedviz.errors import expect
from guidedviz.markup import Element
from guidedviz.views.charts.bars import EDGE, WIDE
from guidedviz.views.figure import Figure, figure_of, soft, wide, write, write_box
from guidedviz.views.words import label

LEAST = 1e-4  # a smaller probability is neither drawn nor said
PANELS = {  # attribute of a branch, and what the panel shows
    "free": "no mask",
    "masked": "illegal tokens removed at each step",
    "conditioned": "the target: illegal texts removed at the end",
}
# left and width from 0 to 1, row, words, and the text: "" if it is not complete, None for all that is illegal
TreeBox = tuple[float, float, int, str, str | None]


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
    parts, lines, top = list[Element](), list[str](), 0.0
    for panel, about in PANELS.items():
        boxes = list(_boxes(tree, panel, task.model.vocabulary.pieces))
        parts += [write(EDGE, top + 22, panel, font_weight="bold"), soft(EDGE + 96, top + 22, about)]
        for left, share, row, words, text in boxes:
            x, width = EDGE + (WIDE - 2 * EDGE) * left, (WIDE - 2 * EDGE) * share - 1
            long = f"{words} {probability(share)}"
            line: dict[str, Any] = {"stroke": "var(--gv-blue)"}
            if text is None:
                line = {"stroke": "var(--gv-orange)", "fill": "none", "stroke_dasharray": "4 3"}
            fitting = long if wide(long) < width - 3 else words
            parts.append(write_box(x, top + 34 + 30 * row, width, 27, fitting, **line))
        told = [f"{text} {probability(share)}" for _, share, _, _, text in boxes if text]
        gone = sum(share for _, share, _, _, text in boxes if text is None)
        lines.append(f"{panel}: " + ", ".join(told + [f"illegal {probability(gone)}"] * bool(gone)))
        top += 74 + 30 * max(row for _, _, row, _, _ in boxes)
    return figure_of(WIDE, top + 4, "\n".join(lines), *parts)


def _boxes(tree: Branch, panel: str, pieces: Sequence[bytes], x: float = 0.0, row: int = 0) -> Iterator[TreeBox]:
    """The boxes below a branch, from the left; in the first panel the illegal rest is the last of each row."""
    share = attrgetter(panel)
    for one in (one for one in tree.branches if share(one) > LEAST):
        text = "" if one.branches else label(b"".join(pieces[token] for token in one.tokens))
        yield x, share(one), row, label(pieces[one.tokens[-1]]), text
        yield from _boxes(one, panel, pieces, x, row + 1)
        x += share(one)
    if panel == "free" and tree.illegal > LEAST:
        yield x, tree.illegal, row, "illegal", None
