"""The decimal texts of the multiples of a number: a net whose places are remainders, read digit by digit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from guidedviz.errors import PatternError
from guidedviz.machines.tree import EMPTY, Chars, Net, Range, Tree, concat, literal, merge_ranges, optional
from guidedviz.machines.work import spend

MOST_PLACES = 4_000
DOT = ord(".")
Place = tuple[str, int, int]  # what was read last, digits after the point, remainder


def multiples(step: Decimal, whole: bool = False) -> Tree:
    """The multiples of a decimal number, without an exponent; only the integers among them if `whole`.

    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> gv.regex(show_regex(multiples(Decimal("0.5"), whole=True))) == gv.regex("-?(0|[1-9][0-9]*)")
    True
    >>> gv.regex(show_regex(multiples(Decimal("0.5")))) == gv.regex(r"-?(0|[1-9][0-9]*)(\\.[05]0*)?")
    True
    """
    top, bottom = step.as_integer_ratio()
    digits = 0
    while not whole and 10**digits % bottom:
        digits += 1
    modulus = top * 10**digits // bottom if not whole else top
    if modulus * (digits + 2) > MOST_PLACES:
        seen = f"multiples of {step}"
        raise PatternError("multipleOf", seen=seen, expected=f"a step of at most {MOST_PLACES // (digits + 2):,} units")
    return concat(optional(literal("-")), remainder_net(modulus, digits, whole))


def remainder_net(modulus: int, digits: int, whole: bool) -> Tree:
    """The numbers that are a multiple if the point is moved by `digits` places."""
    numbers: dict[Place, int] = {("start", 0, 0): 0}
    edges: dict[tuple[int, int], list[Range]] = defaultdict(list)
    for place in (queue := list(numbers)):
        spend(60)
        for char, target in moves(place, modulus, digits, whole):
            if target not in numbers:
                numbers[target] = len(numbers)
                queue.append(target)
            edges[numbers[place], numbers[target]].append((char, char))
    last = len(numbers)
    ends = [
        (number, EMPTY, last)
        for (read, after, rest), number in numbers.items()
        if read not in ("start", "point") and rest * 10 ** (digits - after) % modulus == 0
    ]
    joined = [(source, Chars(merge_ranges(chars)), target) for (source, target), chars in edges.items()]
    return Net(last + 1, (*joined, *ends))


def moves(place: Place, modulus: int, digits: int, whole: bool) -> Iterator[tuple[int, Place]]:
    """The characters that may follow, each with the next place."""
    read, after, rest = place
    for digit in range(10):
        value = (10 * rest + digit) % modulus
        if read == "start":
            yield 48 + digit, ("whole" if digit else "zero", 0, value)
        elif read == "whole":
            yield 48 + digit, ("whole", 0, value)
        elif read in ("point", "fraction") and after < digits:
            yield 48 + digit, ("fraction", after + 1, value)
        elif read in ("point", "fraction") and digit == 0:
            yield 48, ("fraction", after, rest)
    if read in ("whole", "zero") and not whole:
        yield DOT, ("point", 0, rest)
