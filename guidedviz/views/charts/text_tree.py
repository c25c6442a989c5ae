"""All texts of a small task as three trees: without a mask, with one, and as the task asks for them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidedviz.decoding.distribution import Branch, branch
from guidedviz.decoding.samplers import Task
from guidedviz.decoding.sampling import probability
from guidedviz.errors import expect, shorten
from guidedviz.markup import Element
from guidedviz.views.charts.bars import BARS_WIDTH
from guidedviz.views.figure import EDGE, Figure, Style, bold, figure_of, soft, wide, write_box
from guidedviz.views.words import label

WORDS_BELOW = 120  # characters below a panel
LEAST_SHARE = 1e-4  # a smaller probability is neither drawn nor said
PANELS = {  # when illegal texts are removed, as the page's slider says it, and what comes of it
    "never": "the model without a mask",
    "at each step": "masked decoding",
    "at the end": "the target",
}
ILLEGAL = "illegal"
Span = tuple[float, float]  # where a box begins, from 0 to 1, and its probability, which is its width


class TreeBox(NamedTuple):
    """A token after those in the rows above it."""

    row: int
    words: str
    text: str | None  # "" if it is not complete, None for all that is illegal
    spans: tuple[Span, ...]  # of each panel


def draw_text_tree(boxes: Sequence[TreeBox]) -> Figure:
    """Three panels: the model's distribution, the masked one, and the target. One row per token.

    A box is as wide as its probability. The line below a panel names its texts: some boxes are too narrow for a name.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [2, 0] if tokens[-1] == 0 else [0, 0])
    >>> boxes = tree_boxes(Task(toy, "b", gv.guide(gv.regex("ab|b[ab]"), toy.vocabulary)))
    >>> print(draw_text_tree(boxes).text)
    never: ab 0.06, ba 0.25, bb 0.25, illegal 0.44
    at each step: ab 0.50, ba 0.25, bb 0.25
    at the end: ab 0.11, ba 0.45, bb 0.45
    """
    said = list(say_panels(boxes))
    high = 30.0 * max(box.row for box in boxes) + 96
    parts = [bold(EDGE, 22, "illegal texts are removed", 14)]
    for panel, (name, about) in enumerate(PANELS.items()):
        top = panel * high + 26
        parts.append(bold(EDGE, top + 22, name))
        parts.append(soft(EDGE + 96, top + 22, about))
        drawn = [box for box in boxes if box.spans[panel][1] > LEAST_SHARE]
        parts += [_write_text_box(box, panel, top + 34) for box in drawn]
        _, _, texts = said[panel].partition(": ")
        parts.append(soft(EDGE, top + high - 14, shorten(texts, WORDS_BELOW)))
    return figure_of(BARS_WIDTH, 3 * high + 34, "\n".join(said), *parts)


def tree_boxes(task: Task) -> list[TreeBox]:
    """The boxes of all texts, each before those below it."""
    tree = branch(expect(task, Task, "gv.text_tree, task", "a task of decoding.distribution"))
    starts = tuple(0.0 for _ in PANELS)
    return list(_grow_boxes(tree, task.model.vocabulary.pieces, starts, 0))


def _grow_boxes(tree: Branch, pieces: Sequence[bytes], starts: tuple[float, ...], row: int) -> Iterator[TreeBox]:
    """The boxes below a branch, from the left; what is illegal is the last of them, and only the first panel has it."""
    for one in tree.branches:
        shares = (one.free, one.masked, one.conditioned)
        if max(shares) > LEAST_SHARE:
            read = [pieces[token] for token in one.tokens]
            text = "" if one.branches else label(b"".join(read))
            spans = tuple(zip(starts, shares, strict=True))
            yield TreeBox(row, label(read[-1]), text, spans)
            yield from _grow_boxes(one, pieces, starts, row + 1)
            starts = tuple(map(sum, spans))
    if tree.illegal > LEAST_SHARE:
        free, *others = starts
        gone = [(start, 0.0) for start in others]
        yield TreeBox(row, ILLEGAL, None, ((free, tree.illegal), *gone))


def _write_text_box(box: TreeBox, panel: int, top: float) -> Element:
    left, share = box.spans[panel]
    room = BARS_WIDTH - 2 * EDGE
    width = room * share - 1
    long = f"{box.words} {probability(share)}"
    fitting = long if wide(long) < width - 3 else box.words
    look: Style = {"stroke": "var(--gv-blue)"}
    if box.text is None:
        look = {"stroke": "var(--gv-magenta)", "fill": "none", "stroke_dasharray": "4 3"}
    x = EDGE + room * left
    y = top + 30 * box.row
    return write_box(x, y, width, 27, fitting, **look)


def say_panels(boxes: Sequence[TreeBox]) -> Iterator[str]:
    """Per panel each complete text with its probability, and that of all that is illegal."""
    for panel, name in enumerate(PANELS):
        said = []
        gone = 0.0
        for box in boxes:
            _, share = box.spans[panel]
            if box.text is None:
                gone += share
            elif box.text and share > LEAST_SHARE:
                said.append(f"{box.text} {probability(share)}")
        if gone:
            said.append(f"{ILLEGAL} {probability(gone)}")
        yield f"{name}: {', '.join(said)}"
