"""What a call gave, as values of built-in types only, so that no method of a student's class runs outside the guard."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from guidedviz.errors import escaped, quoted
from guidedviz.machines.visible import counted

MOST_ITEMS = 100_000  # items and characters of one value
MOST_DEPTH = 50  # collections inside each other

Function = Callable[..., Any]  # a student's, or a reference
Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Failed:
    """Takes the place of a value where a function raised or was stopped, or where it gave an object of another kind."""

    said: str
    kinds: tuple[str, ...] = ()  # the exception's class and its base classes

    def __repr__(self) -> str:
        return self.said


TOO_MANY = Failed(f"it does not end: it gave more than {MOST_ITEMS:,} items")
TOO_LONG = Failed(f"it gave a text of more than {MOST_ITEMS:,} characters")
TOO_LARGE = Failed("MemoryError: it uses too much memory; does it collect items without end?", ("MemoryError",))


class Stop(BaseException):
    """Interrupts a thread."""


class TooMuch(Exception):
    """A value has more items or characters than `MOST_ITEMS`; what is said of it."""


def attempt(function: Function, arguments: Arguments) -> Any:
    """The value of a call as built-in values, or how it failed.

    >>> attempt(lambda: (n * n for n in range(3)), ()), attempt(exit, ()), attempt(count, ())
    ([0, 1, 4], SystemExit: None, it does not end: it gave more than 100,000 items)
    """
    try:
        return _plain_value(function(*arguments), count())
    except Stop:
        raise
    except MemoryError:
        return TOO_LARGE
    except TooMuch as error:
        return error.args[0]
    except BaseException as error:  # SystemExit and KeyboardInterrupt too
        said = _say_error(error, len(arguments))
        return Failed(said, tuple(kind.__name__ for kind in type(error).__mro__))


def _say_error(error: BaseException, count: int) -> str:
    """An exception's class and words; of a call that could not be made, with how many arguments it was called."""
    try:
        said = escaped(str(error)[:200])
        said = f"{type(error).__name__}: {said}".rstrip(": ")
    except Exception:  # its __str__ fails
        return type(error).__name__
    inside = error.__traceback__ and error.__traceback__.tb_next
    if isinstance(error, TypeError) and not inside and "argument" in said:
        return f"{said}; the check calls it with {counted(count, 'argument')}"
    return said


def _plain_value(value: Any, items: Iterator[int], depth: int = 0) -> Any:
    """A value as built-in values only, so that no method of a student's class runs outside the guard."""
    if next(items) > MOST_ITEMS:
        raise TooMuch(TOO_MANY)
    if depth > MOST_DEPTH:
        raise RecursionError(f"more than {MOST_DEPTH} collections inside each other")
    kind = type(value)
    if value is None or value is ... or kind in (bool, float, Failed):
        return value
    if isinstance(value, str | bytes | bytearray):
        return _plain_text(value)
    if hasattr(kind, "__array__"):  # of NumPy, torch, pandas
        return _plain_value(np.asarray(value).tolist(), items, depth + 1)
    if hasattr(kind, "__index__"):
        return _plain_integer(int(value))
    if hasattr(kind, "__float__"):
        return float(value)
    return _plain_collection(value, partial(_plain_value, items=items, depth=depth + 1))


def _plain_text(value: str | bytes | bytearray) -> str | bytes:
    if len(value) > MOST_ITEMS:
        raise TooMuch(TOO_LONG)
    return str(value) if isinstance(value, str) else bytes(value)


def _plain_integer(value: int) -> int | Failed:
    if value.bit_length() >= 10_000:
        return Failed("a number of thousands of digits")
    return value


def _plain_collection(value: Any, plain: Callable[[Any], Any]) -> Any:
    """A collection as the built-in one that is nearest to it; another object in words."""
    if isinstance(value, Mapping):
        return {plain(key): plain(one) for key, one in value.items()}
    if not isinstance(value, Iterable):
        return Failed(quoted(value))
    for kind in (tuple, set, frozenset):
        if isinstance(value, kind):
            return kind(map(plain, value))
    return [plain(one) for one in value]


def differ(before: Arguments, after: Arguments) -> bool:
    """Did an argument change?"""
    for one, other in zip(before, after, strict=True):
        if isinstance(one, np.ndarray):
            if not np.array_equal(one, other):
                return True
        elif one != other:
            return True
    return False
