"""The highlighted parts of a diagram, by the machine's own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from guidedviz.sketches.sketch import Arrow


@dataclass(frozen=True)
class Highlight:
    """The current states, the path to them with the numbers of its bytes, and the open calls of a grammar."""

    now: frozenset[int] = frozenset()
    met: frozenset[int] = frozenset()
    arrows: frozenset[tuple[int, int]] = frozenset()
    numbers: tuple[tuple[tuple[int, int], str], ...] = ()
    cross: tuple[int, str] | None = None  # the state where a text died, and the byte that it could not read
    calls: tuple[tuple[str, int], ...] = ()  # keys of open calls, with how often each is open
    last: frozenset[str] = frozenset()  # keys of last calls, which leave nothing on the stack
    back: frozenset[int] = frozenset()  # the nodes where the callers continue
    rules: frozenset[str] = frozenset()  # the current rules
    opened: frozenset[str] = frozenset()  # the rules on the stack
    counts: tuple[tuple[str, str], ...] = ()  # the open counted rules, each with its counter


UNLIT = Highlight()


def highlight_path(path: Sequence[int], died: str = "") -> Highlight:
    """The highlight of a path; its arrows are numbered if there are several.

    >>> highlight_path([0, 1, 1]).numbers
    (((0, 1), '1'), ((1, 1), '2'))
    """
    if not path:
        return Highlight()
    pairs = list(pairwise(path))
    numbers: dict[tuple[int, int], list[int]] = {}
    for number, pair in enumerate(pairs, 1):
        numbers.setdefault(pair, []).append(number)
    said = tuple((pair, say_numbers(found)) for pair, found in numbers.items()) if len(pairs) + bool(died) > 1 else ()
    cross = (path[-1], died) if died else None
    return Highlight(frozenset(path[-1:]), frozenset(path), frozenset(pairs), said, cross)


def say_numbers(numbers: Sequence[int]) -> str:
    """The steps that took an arrow, as its label.

    >>> say_numbers([1]), say_numbers([1, 2]), say_numbers([1, 2, 3, 4, 5])
    ('1', '1 2', '1 2 … 5')
    """
    return " ".join(map(str, numbers)) if len(numbers) <= 3 else f"{numbers[0]} {numbers[1]} … {numbers[-1]}"


def arrow_key(arrow: Arrow) -> str:
    """The key of an arrow on the page; it differs for arrows that read, that are free, and that call a rule.

    >>> arrow_key(Arrow(0, 1, ((97, 97),))), arrow_key(Arrow(0, 1, ())), arrow_key(Arrow(0, 1, (), "array"))
    ('0-1', '0~1', '0:array')
    """
    if arrow.call:
        return f"{arrow.source}:{arrow.call}"
    source, target = arrow_ends(arrow)
    return f"{source}{'-' if arrow.ranges else '~'}{target}"


def arrow_ends(arrow: Arrow) -> tuple[int, int]:
    """The states before and after an arrow's first byte; two chains between the same states differ in them.

    >>> arrow_ends(Arrow(0, 3, ((97, 97), (98, 98), (99, 99)), through=(1, 2)))
    (0, 1)
    """
    return arrow.source, arrow.through[0] if arrow.through else arrow.target
