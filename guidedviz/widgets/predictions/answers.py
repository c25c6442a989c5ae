"""The two forms of an answer, a choice and a number: what can be answered, and when an answer is right."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, Protocol

from guidedviz.errors import SettingError, quoted

Answer = str | float


@dataclass(frozen=True)
class Grade:
    """Whether an answer is right, the truth in words, and what is said of the answer."""

    right: bool
    truth: str
    words: str


class Form(Protocol):
    """What can be answered."""

    def read(self, value: Any, where: str) -> Answer: ...
    def grade(self, answer: Answer, truth: Answer) -> Grade: ...


@dataclass(frozen=True)
class ChoiceForm:
    """One of a few texts."""

    texts: tuple[str, ...]

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
    """A number, right if it is at most `within` away from the truth."""

    within: float = 0

    def read(self, value: Any, where: str) -> float:
        """A value as a finite number."""
        if isinstance(value, bool) or not isinstance(value, Real) or not _is_finite(value):
            raise SettingError(where, seen=quoted(value), expected="a number")
        read = float(value)
        return int(read) if read.is_integer() else read

    def grade(self, answer: Answer, truth: Answer) -> Grade:
        """Right if it is near enough.

        >>> Number(within=2).grade(4, 2).words
        '✓ Near enough: your answer is 4, the true number is 2. Up to 2 away counts as right.'
        >>> Number().grade(1000, 2).words
        '✗ Your answer is 1,000, the true number is 2: 998 away.'
        """
        away = abs(float(answer) - float(truth))
        counts = f" Up to {say_number(self.within)} away counts as right." if self.within else ""
        both = f"our answer is {say_number(answer)}, the true number is {say_number(truth)}"
        if away == 0:
            words = f"✓ Right: {say_number(truth)}"
        elif away <= self.within:
            words = f"✓ Near enough: y{both}.{counts}"
        else:
            words = f"✗ Y{both}: {say_number(away)} away.{counts}"
        return Grade(away <= self.within, say_number(truth), words)


def say_number(value: Answer) -> str:
    """A number for people.

    >>> say_number(128256), say_number(0.30000000000000004), say_number(-2.0)
    ('128,256', '0.3', '-2')
    """
    exact = float(value).is_integer() and abs(float(value)) < 1e15
    return f"{int(value):,}" if exact else f"{float(value):.6g}"


def _is_finite(value: Real) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False
