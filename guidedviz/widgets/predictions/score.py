"""The score of a notebook: how many of its predictions were right."""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakSet

from guidedviz.headless import for_site
from guidedviz.markup import node
from guidedviz.widgets.display import Display, bundle_with_widget
from guidedviz.widgets.predictions.answers import Answer, Grade


class Asked(Protocol):
    """A question, the answer that a person committed to, and its grade."""

    answer: Answer | None
    grade: Grade | None


Key = tuple[str, str]  # the cell's id and the question
ASKED: dict[Key, Asked] = {}  # the predictions of this kernel, which belongs to one notebook
_SHOWN: WeakSet[Score] = WeakSet()


def score() -> Score:
    """The score of this notebook's predictions: "7 of 9 predictions right". It follows each new answer."""
    return Score()


class Score:
    """What `gv.score` returns."""

    def __init__(self) -> None:
        self.display = Display("score", lambda everything: {"words": self.words})
        _SHOWN.add(self)

    @property
    def grades(self) -> list[bool]:
        """Whether each committed answer was right."""
        return [asked.grade.right for asked in ASKED.values() if asked.grade]

    @property
    def words(self) -> str:
        """The score in words."""
        right, made = sum(self.grades), len(self.grades)
        left = len(ASKED) - made
        if for_site():  # nobody can answer there
            return f"Predictions on this page: {left}. In the notebook you answer first, and your score stands here."
        if not made:
            return f"No predictions yet: {left} to answer." if left else "No predictions yet."
        said = f"{right} of {made} prediction{'s' * (made != 1)} right"
        return f"{said}; {left} not answered yet." if left else f"{said}."

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        bundle = {"text/plain": self.words, "text/html": str(node("p", node("strong", self.words)))}
        return bundle_with_widget(bundle, lambda: self.display.widget, **wanted)


def tell_scores() -> None:
    """Update each score that is shown."""
    for shown in list(_SHOWN):
        shown.display.tell()
        shown.display.save()
