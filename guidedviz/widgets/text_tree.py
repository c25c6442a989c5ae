"""The tree of all texts, which is pruned on the page: one slider says when illegal texts are removed."""

from guidedviz.decoding.samplers import Task
from guidedviz.views.charts.text_tree import draw_text_tree, say_panels, tree_boxes
from guidedviz.views.figure import Figure
from guidedviz.widgets.display import Display, Message, Shown


def text_tree(task: Task) -> "TextTree":
    """All texts of a small task as boxes: illegal ones are removed never, at each step, or at the end.

    A box is as wide as its probability: `gv.text_tree(gv.decoding.Task(model, "month ", guide))`.
    """
    return TextTree(task)


class TextTree(Shown):
    """What `gv.text_tree` returns."""

    def __init__(self, task: Task) -> None:
        self.boxes = tree_boxes(task)
        self.display = Display("tree", saved=self._everything)

    @property
    def figure(self) -> Figure:
        """The three stops of the slider, as a still picture."""
        return draw_text_tree(self.boxes)

    def _everything(self) -> Message:
        boxes = [{**box._asdict(), "legal": box.text is not None} for box in self.boxes]
        words = [line.partition(": ")[2] for line in say_panels(self.boxes)]
        return {"boxes": boxes, "words": words}
