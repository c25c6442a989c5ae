"""What of a diagram is lit, in the machine's own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from guidedviz.machines.sketch import Arrow


@dataclass(frozen=True)
class Light:
    """What is lit: the states now, those met on the way there, the arrows taken with their numbers, open calls."""

    now: frozenset[int] = frozenset()
    met: frozenset[int] = frozenset()
    arrows: frozenset[tuple[int, int]] = frozenset()
    numbers: tuple[tuple[tuple[int, int], str], ...] = ()
    cross: tuple[int, str] | None = None  # the state where a text died, and the byte that could not come
    calls: tuple[tuple[str, int], ...] = ()  # the keys of open calls, and how often each is open
    last: frozenset[str] = frozenset()  # the keys of calls that left nothing on the stack
    back: frozenset[int] = frozenset()  # the nodes where open calls will go on
    rules: frozenset[str] = frozenset()  # the rules that one is in now
    opened: frozenset[str] = frozenset()  # the rules that wait on the stack


DARK = Light()


def light_path(path: Sequence[int], died: str = "") -> Light:
    """The light of a way through the machine; arrows are numbered if there is more than one.

    >>> light_path([0, 1, 1]).numbers
    (((0, 1), '1'), ((1, 1), '2'))
    """
    if not path:
        return Light()
    pairs = list(pairwise(path))
    numbers: dict[tuple[int, int], list[int]] = {}
    for number, pair in enumerate(pairs, 1):
        numbers.setdefault(pair, []).append(number)
    said = tuple((pair, say_numbers(found)) for pair, found in numbers.items()) if len(pairs) + bool(died) > 1 else ()
    cross = (path[-1], died) if died else None
    return Light(frozenset(path[-1:]), frozenset(path), frozenset(pairs), said, cross)


def say_numbers(numbers: Sequence[int]) -> str:
    """Which steps took an arrow.

    >>> say_numbers([1]), say_numbers([1, 2]), say_numbers([1, 2, 3, 4, 5])
    ('1', '1 2', '1 2 … 5')
    """
    return " ".join(map(str, numbers)) if len(numbers) <= 3 else f"{numbers[0]} {numbers[1]} … {numbers[-1]}"


def arrow_key(arrow: Arrow) -> str:
    """An arrow's name on the page; a free edge or the call of a rule may lie beside one that reads.

    >>> arrow_key(Arrow(0, 1, ((97, 97),))), arrow_key(Arrow(0, 1, ())), arrow_key(Arrow(0, 1, (), "array"))
    ('0-1', '0~1', '0:array')
    """
    if arrow.call:
        return f"{arrow.source}:{arrow.call}"
    source, target = arrow_ends(arrow)
    return f"{source}{'-' if arrow.ranges else '~'}{target}"


def arrow_ends(arrow: Arrow) -> tuple[int, int]:
    """The state before an arrow's first byte and the one after it: chains between the same states differ in it.

    >>> arrow_ends(Arrow(0, 3, ((97, 97), (98, 98), (99, 99)), through=(1, 2)))
    (0, 1)
    """
    return arrow.source, arrow.through[0] if arrow.through else arrow.target
