"""All texts of a small task as a tree whose boxes are as wide as their probabilities, before and after a mask."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from guidedviz.decoding.distribution import Branch, Task, branch
from guidedviz.decoding.sampling import probability
from guidedviz.errors import expect
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, drawing, soft, wide, write
from guidedviz.views.words import label

LEFT, WIDE, ROW, TOP = 16.0, 748.0, 30.0, 34.0
PANELS = {  # attribute of a branch, and what the panel shows
    "free": "no mask",
    "masked": "illegal tokens removed at each step",
    "conditioned": "the target: illegal texts removed at the end",
}
LEAST = 1e-4  # a smaller probability is neither drawn nor said
Box = tuple[float, float, int, str, bool]  # left and width from 0 to 1, row, words, legal


def draw_text_tree(task: Task) -> Figure:
    """Three panels: the model's distribution, the masked one, and the target. One row per token.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [2, 0] if tokens[-1] == 0 else [0, 0])
    >>> print(draw_text_tree(Task(toy, "b", gv.guide(gv.regex("ab|b[ab]"), toy.vocabulary))).text)
    free: ab 0.06, ba 0.25, bb 0.25, illegal 0.44
    masked: ab 0.50, ba 0.25, bb 0.25
    conditioned: ab 0.11, ba 0.45, bb 0.45
    """
    tree = branch(expect(task, Task, "draw_text_tree, task", "a task of decoding.distribution"))
    pieces, parts, said, y = task.model.vocabulary.pieces, list[Element](), list[str](), 0.0
    for panel, about in PANELS.items():
        boxes = list(_boxes(tree, panel, pieces, 0.0))
        parts += [write(LEFT, y + 22, panel, font_weight="bold"), soft(LEFT + 96, y + 22, about)]
        parts += [part for box in boxes for part in _draw(box, y + TOP)]
        said.append(f"{panel}: " + ", ".join(_leaves(tree, panel, pieces)))
        y += TOP + ROW * (1 + max(row for _, _, row, _, _ in boxes)) + 10
    text = "\n".join(said)
    return Figure(drawing(LEFT * 2 + WIDE, y + 4, *parts, alt=text), text, text)


def _boxes(tree: Branch, panel: str, pieces: tuple[bytes, ...], x: float, row: int = 0) -> Iterator[Box]:
    """The boxes below a branch, from the left; in the first panel the illegal rest is the last of each row."""
    share = attrgetter(panel)
    for one in (one for one in tree.branches if share(one) > LEAST):
        yield x, share(one), row, label(pieces[one.tokens[-1]]), True
        yield from _boxes(one, panel, pieces, x, row + 1)
        x += share(one)
    if panel == "free" and tree.illegal > LEAST:
        yield x, tree.illegal, row, "illegal", False


def _draw(box: Box, top: float) -> Iterator[Element]:
    left, share, row, words, legal = box
    x, y, width = LEFT + WIDE * left, top + ROW * row, WIDE * share
    dash = {} if legal else {"stroke_dasharray": "4 3"}
    fill = "var(--gv-card)" if legal else "none"
    stroke = "var(--gv-blue)" if legal else "var(--gv-orange)"
    yield node("rect", x=x, y=y, width=max(0.6, width - 1), height=ROW - 3, rx=2, fill=fill, stroke=stroke, **dash)
    for said in (f"{words} {probability(share)}", words):
        if wide(said, 13) < width - 4:
            yield write(x + width / 2, y + 18, said, 13, mono=True, text_anchor="middle")
            return


def _leaves(tree: Branch, panel: str, pieces: tuple[bytes, ...]) -> Iterator[str]:
    """Each text with its probability, in the order of the boxes; then all that is illegal."""
    share, waits, illegal = attrgetter(panel), [tree], 0.0
    while waits:
        one = waits.pop()
        waits += reversed(one.branches)
        illegal += one.illegal
        if not one.branches and share(one) > LEAST:
            yield f"{label(b''.join(pieces[token] for token in one.tokens))} {probability(share(one))}"
    if panel == "free" and illegal > LEAST:
        yield f"illegal {probability(illegal)}"
