"""The forms of an answer, one of a few texts or a number, and what is said of it beside the truth."""

from contextlib import suppress
from dataclasses import dataclass
from math import inf, nan
from numbers import Real
from typing import Any

from guidedviz.errors import SettingError, quoted

Answer = str | float


@dataclass(frozen=True)
class Grade:
    """Whether an answer is right, the truth in words, and what is said of the answer."""

    right: bool
    truth: str
    words: str


UNGRADED = Grade(False, "", "")


@dataclass(frozen=True)
class ChoiceForm:
    """One of a few texts."""

    texts: tuple[str, ...]
    hint = ""

    def read(self, value: Any, where: str) -> str:
        """A value as one of the choices."""
        if str(value) not in self.texts:
            raise SettingError(where, seen=quoted(value), expected=f"one of {quoted(list(self.texts))}")
        return str(value)

    def grade(self, answer: Answer, truth: Answer) -> Grade:
        """Right if it is the true choice.

        >>> ChoiceForm(("a DFA", "a stack")).grade("a DFA", "a stack").words
        '✗ Your answer: a DFA. True: a stack.'
        """
        if answer == truth:
            return Grade(True, str(truth), f"✓ Right: {truth}")
        return Grade(False, str(truth), f"✗ Your answer: {answer}. True: {truth}.")


@dataclass(frozen=True)
class Number:
    """A number from 0 up, right if it is at most `within` away from the truth."""

    within: float = 0
    texts = ()

    @property
    def hint(self) -> str:
        """What counts as right."""
        return f"Up to {say_answer(self.within)} away counts as right." if self.within else ""

    def read(self, value: Any, where: str) -> float:
        """A value as a finite number from 0."""
        read = nan
        if not isinstance(value, bool) and isinstance(value, Real):
            with suppress(OverflowError):  # a whole number that no float can hold
                read = float(value)
        if not 0 <= read < inf:
            raise SettingError(where, seen=quoted(value), expected="a number from 0 up")
        return int(read) if read.is_integer() else read

    def grade(self, answer: Answer, truth: Answer) -> Grade:
        """Right if it is near enough.

        >>> Number(within=2).grade(4, 2).words
        '✓ Near enough: your answer is 4, the true number is 2. Up to 2 away counts as right.'
        >>> Number().grade(1000, 2).words
        '✗ Your answer is 1,000, the true number is 2: 998 away.'
        """
        away = abs(float(answer) - float(truth))
        both = f"our answer is {say_answer(answer)}, the true number is {say_answer(truth)}"
        if away == 0:
            words = f"✓ Right: {say_answer(truth)}"
        elif away <= self.within:
            words = f"✓ Near enough: y{both}. {self.hint}"
        else:
            words = f"✗ Y{both}: {say_answer(away)} away. {self.hint}".strip()
        return Grade(away <= self.within, say_answer(truth), words)


def say_answer(value: Answer) -> str:
    """A number for people; a text as it is.

    >>> say_answer(128256), say_answer(0.30000000000000004), say_answer(-2.0)
    ('128,256', '0.3', '-2')
    """
    if isinstance(value, str):
        return value
    exact = float(value).is_integer() and abs(float(value)) < 1e15
    if exact:
        return f"{int(value):,}"
    return f"{float(value):.6g}"
