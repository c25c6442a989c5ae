"""A question to which a person commits an answer before the truth is computed and shown, and the score of a notebook.

The first answer counts. It is kept by the kernel for a cell that runs again, and in the notebook's widget state, where
the page finds it after the kernel was restarted. Where nobody can answer, the truth stands folded in a `<details>`.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Literal, Self
from weakref import WeakSet

from guidedviz.errors import GuidedVizError, SettingError, expect, quoted
from guidedviz.extras import for_site
from guidedviz.markup import Element, node, printable, with_marks
from guidedviz.models.reports import report
from guidedviz.views.figure import Figure, show_figure
from guidedviz.widgets.display import Display, Message, bundle_with_widget, is_still, this_cell
from guidedviz.widgets.grade import UNGRADED, Answer, ChoiceForm, Grade, Number, say_answer
from guidedviz.widgets.runner import running_loop, say_failure

Key = tuple[str, str]  # the cell's id and the question
ASKED: dict[Key, "Prediction"] = {}  # the predictions of this kernel, which belongs to one notebook
_SHOWN: WeakSet["Score"] = WeakSet()
LOCKED_FOR = 0.05  # seconds in which the page shows that the answer is locked, before the truth is computed
SCALE = re.compile(r"(?:\w+ ){0,2}[\d.]")  # "265", "about 10", "more than 95"
CLOSING = re.compile(r"(?:none|neither|nothing|both|all|it depends)\b")  # of the other choices
PREDICT_HINT = 'gv.predict("How many?", number=3), or choices=["yes", "no"], answer="yes"'


def predict(
    question: str,
    *,
    choices: Iterable[str | float] | None = None,
    answer: Any = None,
    number: float | Callable[[], float] | None = None,
    within: float = 0,
    reveal: "Reveal | None" = None,
) -> "Prediction":
    """Ask for a choice or a number; once the person has committed, show the truth and the `reveal`.

    `answer` is the true choice, `number` the true number, 0 or more; each may be a function, called after the
    commitment.
    `reveal` is a text, a Figure, a function (its prints are shown, too), or a list of these. Texts may have `code`,
    *emphasis*, **strong** words and <sup>. The question decides the order in which the choices stand.

    >>> gv.predict("States of `ab`?", number=3, reveal="One before each byte, one after the last.").commit(2)
    Predict: States of `ab`?
    ✗ Your answer is 2, the true number is 3: 1 away.
    One before each byte, one after the last.
    """
    expect(question, str, "gv.predict, question", "a text")
    if (choices is None) == (number is None):
        seen = "neither" if choices is None else "both"
        raise SettingError("gv.predict", seen=seen, expected="choices or a number", hint=PREDICT_HINT)
    form: ChoiceForm | Number
    if choices is None:
        form = _read_within(within)
        name = "number"
        truth: Any = number
    else:
        form = ChoiceForm(_mix(question, _read_choices(choices)))
        name = "answer"
        truth = answer
    if not callable(truth):
        form.read(truth, f"gv.predict, {name}")
    list(unfold(reveal, call=False))
    return Prediction(question, form, truth, reveal)


class Prediction:
    """What `gv.predict` returns."""

    def __init__(self, question: str, form: ChoiceForm | Number, truth: Any, reveal: Any) -> None:
        self.question = printable(question)
        self.form = form
        self._truth = truth
        self._reveal = reveal
        self.answer: Answer | None = None
        self.grade: Grade | None = None
        self.parts: list[RevealPart] = []
        self.note = ""
        self._key = this_cell()[0][0], question
        earlier = ASKED.get(self._key)
        self.display = Display("predict", self._news, self._hear, on_close=self._leave)
        ASKED[self._key] = self
        if earlier and self._lock(earlier.answer):
            self._unfold()
        else:
            self._report()

    def _report(self) -> None:
        """Tell the class where a student stands who gave a nickname."""
        report(self.question, "open" if self.answer is None else "answered", self.form.texts, self.answer)

    def commit(self, answer: Any) -> Self:
        """Commit to an answer, and show the truth; a later answer changes nothing."""
        self.form.read(answer, "Prediction.commit, answer")
        if self._lock(answer):
            self._unfold()
        return self

    def _lock(self, answer: Any) -> bool:
        """Whether this is an answer, and the first one."""
        try:
            read = self.form.read(answer, "")
        except GuidedVizError:
            return False
        if self.answer is not None:
            return False
        self.answer = read
        self._report()
        return True

    def _hear(self, heard: Any) -> None:
        match heard:
            case {"do": "commit", "answer": answer} if self._lock(answer):
                self.display.tell()  # locked; the truth may take a while
                loop = running_loop()
                if loop:
                    loop.call_later(LOCKED_FOR, self._unfold)
                else:
                    self._unfold()

    def _unfold(self) -> None:
        """Compute the truth and the reveal."""
        try:
            self.grade = self.form.grade(self.answer or 0, self._find_truth())
            self.parts = list(unfold(self._reveal))
        except Exception as error:  # a function of the notebook may fail
            self.note = say_failure(error)
        for display in [self.display, *(score.display for score in _SHOWN)]:
            display.tell()
            display.save()

    def _find_truth(self) -> Answer:
        truth = self._truth() if callable(self._truth) else self._truth
        return self.form.read(truth, "gv.predict, the true answer")

    def _leave(self) -> None:
        if ASKED.get(self._key) is self:
            del ASKED[self._key]

    def _news(self, everything: bool) -> Message:
        choices = list(map(printable, self.form.texts))
        news: Message = {"question": self.question, "choices": choices, "hint": self.form.hint}
        said = "" if self.answer is None else say_answer(self.answer)
        news |= {"answer": self.answer, "said": said, "note": self.note}
        news |= asdict(self.grade or UNGRADED)
        news["parts"] = [part.pack() for part in self.parts]
        return news

    def __repr__(self) -> str:
        lines = [f"Predict: {self.question}"]
        if self.answer is None:
            lines += [f"  ○ {text}" for text in self.form.texts]
        if self.grade:
            lines.append(self.grade.words)
        lines += [part.text for part in self.parts]
        if self.note:
            lines.append(self.note)
        return "\n".join(lines)

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        parts = [node("p", node("strong", "Predict."), " ", with_marks(self.question))]
        if self.form.texts:
            parts.append(node("ul", *(node("li", with_marks(text)) for text in self.form.texts)))
        hints = [self.form.hint] if self.form.hint else []
        if not for_site():
            hints.append("Run this cell to commit to an answer.")
        if hints:
            parts.append(node("p", node("small", " ".join(hints))))
        if is_still():
            truth = node("p", node("strong", with_marks(say_answer(self._find_truth()))))
            revealed = (part.html for part in unfold(self._reveal))
            parts.append(node("details", node("summary", "Answer"), truth, *revealed))
        bundle = {"text/plain": repr(self), "text/html": str(node("div", *parts))}
        return bundle_with_widget(bundle, lambda: self.display.widget, **wanted)


def _read_choices(choices: Iterable[Any]) -> tuple[str, ...]:
    if isinstance(choices, str) or not isinstance(choices, Iterable):
        raise _no_choices(choices)
    texts = tuple(str(choice) for choice in choices)
    if len(texts) < 2 or len(set(texts)) < len(texts) or not all(text.strip() for text in texts):
        raise _no_choices([*texts])
    return texts


def _mix(question: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """The choices in an order that only the question decides. Numbers keep theirs, and so does a last "none" or "all".

    >>> _mix("Which?", ("a", "b", "c", "none")), _mix("How many?", ("about 2", "about 20"))
    (('b', 'c', 'a', 'none'), ('about 2', 'about 20'))
    """
    if all(map(SCALE.match, choices)):
        return choices
    closing = choices[-1:] if CLOSING.match(choices[-1]) else ()
    mixed = list(choices[: len(choices) - len(closing)])
    Random(question.encode("utf-8", "surrogatepass")).shuffle(mixed)
    return (*mixed, *closing)


def _no_choices(seen: Any) -> SettingError:
    expected = "two or more different texts"
    return SettingError("gv.predict, choices", seen=quoted(seen), expected=expected, hint=PREDICT_HINT)


def _read_within(within: Any) -> Number:
    return Number(Number().read(within, "gv.predict, within"))


# What unfolds after a commitment, in parts: paragraphs, what a function printed, and drawings.

Reveal = str | Figure | Callable[[], Any] | Sequence[Any]


@dataclass(frozen=True)
class RevealPart:
    """One part of a reveal."""

    kind: Literal["text", "print", "drawing"]
    text: str
    figure: Figure | None = None

    @property
    def html(self) -> Element:
        """The part as HTML."""
        if self.figure:
            return show_figure(self.figure)
        if self.kind == "text":
            return node("p", with_marks(self.text))
        return node("pre", self.text, style="font-family:monospace")

    def pack(self) -> list[Any]:
        """The part as the page takes it."""
        shapes = self.figure.drawing.shapes if self.figure else None
        return [self.kind, self.text, shapes]


def unfold(reveal: Any, call: bool = True) -> Iterator[RevealPart]:
    """The parts of a reveal; a function is called, and what it prints comes before what it returns.

    Without `call` a function has no parts.

    >>> [part.text for part in unfold(["a line\\n  broken\\n\\nnext", lambda: print("1\\n2")])]
    ['a line broken', 'next', '1\\n2']
    """
    match reveal:
        case None:
            return
        case str():
            yield from _paragraphs(reveal)
        case Figure():
            yield RevealPart("drawing", reveal.alt, reveal)
        case list() | tuple():
            for part in reveal:
                yield from unfold(part, call)
        case _ if callable(reveal):
            if call:
                yield from _call(reveal)
        case _:
            raise SettingError("gv.predict, reveal", seen=quoted(reveal), expected="a text, a Figure or a function")


def _paragraphs(text: str) -> Iterator[RevealPart]:
    """The paragraphs of a text, which empty lines part."""
    for paragraph in re.split(r"\n\s*\n", text):
        words = " ".join(paragraph.split())
        if words:
            yield RevealPart("text", printable(words))


def _call(function: Callable[[], Any]) -> Iterator[RevealPart]:
    """What a function prints, and the parts of what it returns."""
    with redirect_stdout(io.StringIO()) as printed:
        result = function()
    text = printed.getvalue().rstrip("\n")
    if text:
        yield RevealPart("print", printable(text))
    yield from unfold(result)


# The score of a notebook: how many of its predictions were right.


def score() -> "Score":
    """The score of this notebook's predictions: "7 of 9 predictions right". It follows each new answer."""
    return Score()


class Score:
    """What `gv.score` returns."""

    def __init__(self) -> None:
        self.display = Display("score", lambda everything: {"words": repr(self)})
        _SHOWN.add(self)

    def __repr__(self) -> str:
        grades = [asked.grade.right for asked in ASKED.values() if asked.grade]
        made = len(grades)
        left = len(ASKED) - made
        if for_site():  # nobody can answer there
            return f"Predictions on this page: {left}. In the notebook you answer first, and your score stands here."
        if not made:
            return f"No predictions yet: {left} to answer." if left else "No predictions yet."
        predictions = "prediction" if made == 1 else "predictions"
        said = f"{sum(grades)} of {made} {predictions} right"
        if left:
            return f"{said}; {left} not answered yet."
        return f"{said}."

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        bundle = {"text/plain": repr(self), "text/html": str(node("p", node("strong", repr(self))))}
        return bundle_with_widget(bundle, lambda: self.display.widget, **wanted)
