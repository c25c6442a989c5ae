"""Numbers between two bounds as a tree of JSON texts, built digit by digit.

A bounded number has no exponent: to compare `0.001e3` with a bound one must count zeros, and a DFA cannot count. A
minus sign is allowed only if the bounds allow negative numbers; `-0` then counts as `0`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from guidedviz.errors import PatternError
from guidedviz.machines.tree import (
    EMPTY,
    NOTHING,
    Chars,
    Net,
    Range,
    Repeat,
    Tree,
    concat,
    either,
    literal,
    merge_ranges,
    optional,
)
from guidedviz.machines.work import spend

DIGIT = Chars(((48, 57),))
NONZERO = Chars(((49, 57),))
ZEROS = Repeat(literal("0"), 0, None)
ANY_TAIL = Repeat(DIGIT, 0, None)
SOME_TAIL = concat(ZEROS, NONZERO, ANY_TAIL)  # digits that are not all zero
ANY_FRACTION = optional(concat(literal("."), Repeat(DIGIT, 1, None)))
NO_FRACTION = optional(concat(literal("."), Repeat(literal("0"), 1, None)))
SIGN, E = either(literal("+"), literal("-")), either(literal("e"), literal("E"))
EXPONENT = optional(concat(E, optional(SIGN), Repeat(DIGIT, 1, None)))


@dataclass(frozen=True)
class Bound:
    """A lower or upper bound; `strict` if the bound itself is excluded."""

    value: Decimal
    strict: bool = False

    def negate(self) -> Bound:
        return Bound(self.value.copy_negate(), self.strict)

    def split(self) -> tuple[int, str]:
        """The integer part, and the fraction digits without trailing zeros."""
        whole, _, fraction = format(self.value.copy_abs(), "f").partition(".")
        return int(whole), fraction.rstrip("0")


def integers(low: int | None, high: int | None) -> Tree:
    """The integers from low to high; None means no bound.

    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(integers(0, 120)), show_regex(integers(None, None))
    ('0|[1-9][0-9]?|1[01][0-9]|120', '-?(?:0|[1-9][0-9]*)')
    """
    if low is not None and high is not None and low > high:
        return NOTHING
    least, most = max(0, low or 0), None if low is None else -low
    positive = NOTHING if high is not None and high < 0 else naturals(least, high)
    if most is not None and most <= 0:
        return positive
    negative = naturals(max(0, -(high or 0)), most)
    if negative == positive:
        return concat(optional(literal("-")), positive)
    return either(concat(literal("-"), negative), positive)


def naturals(low: int, high: int | None) -> Tree:
    """The integers from low to high, both at least zero, grouped by number of digits."""
    zero = literal("0") if low <= 0 else NOTHING
    low = max(low, 1)
    if high is not None and high < low:
        return zero
    begin, end, first, last = [], [], len(str(low)), None
    if low != 10 ** (first - 1):
        most = 10**first - 1
        begin = same_length(str(low), str(most if high is None else min(high, most)))
        first += 1
    if high is not None:
        last = len(str(high))
        if last >= first and high != 10**last - 1:
            end = same_length("1" + "0" * (last - 1), str(high))
            last -= 1
    full = last is None or first <= last
    whole = concat(NONZERO, digits(first - 1, None if last is None else last - 1)) if full else NOTHING
    return either(zero, *begin, whole, *end)


def same_length(low: str, high: str) -> list[Tree]:
    """The numbers from low to high with equally many digits: `087` to `120` is 08[7-9], 09[0-9], ..."""
    if not low:
        return [EMPTY]
    if low[0] == high[0]:
        return [concat(literal(low[0]), rest) for rest in same_length(low[1:], high[1:])]
    first, last, size = int(low[0]), int(high[0]), len(low) - 1
    below, above = [], []
    if low[1:] != "0" * size:
        below = [concat(literal(low[0]), rest) for rest in same_length(low[1:], "9" * size)]
        first += 1
    if high[1:] != "9" * size:
        above = [concat(literal(high[0]), rest) for rest in same_length("0" * size, high[1:])]
        last -= 1
    return [*below, *([concat(digit(first, last), digits(size, size))] if first <= last else []), *above]


def digit(low: int, high: int) -> Tree:
    """One digit from low to high; NOTHING if the range is empty."""
    return Chars(((48 + low, 48 + high),)) if low <= high else NOTHING


def digits(low: int, high: int | None) -> Tree:
    """Exactly `count` digits."""
    return EMPTY if high == 0 else DIGIT if low == high == 1 else Repeat(DIGIT, low, high)


def decimals(low: Bound | None, high: Bound | None) -> Tree:
    """The numbers from low to high; None means no bound. Exponents are allowed only without bounds.

    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(decimals(Bound(Decimal("0.5")), Bound(Decimal(2), strict=True)))
    '0\\\\.[5-9][0-9]*|1(?:\\\\.[0-9]+)?'
    """
    if low is None and high is None:
        return concat(integers(None, None), ANY_FRACTION, EXPONENT)
    if low is not None and high is not None and low.value > high.value:
        return NOTHING
    zero = Bound(Decimal(0))
    positive = NOTHING
    if high is None or high.value >= 0:
        positive = magnitudes(zero if low is None or low.value < 0 else low, high)
    if low is not None and low.value >= 0:
        return positive
    floor = zero if high is None or high.value > 0 else high.negate()
    return either(concat(literal("-"), magnitudes(floor, low.negate() if low else None)), positive)


def magnitudes(low: Bound, high: Bound | None) -> Tree:
    """The numbers from low to high, both at least zero."""
    whole, fraction = low.split()
    least = at_least(fraction, low.strict)
    if high is None:
        return join(whole, None, least)
    top, top_fraction = high.split()
    if whole == top:
        return concat(literal(str(whole)), between(fraction, top_fraction, low.strict, high.strict))
    return either(join(whole, top - 1, least), concat(literal(str(top)), at_most(top_fraction, high.strict)))


def join(whole: int, last: int | None, least: Tree) -> Tree:
    """Numbers from `whole` with a fraction of at least `least`, up to `last` with any fraction."""
    if least == ANY_FRACTION:
        return concat(naturals(whole, last), ANY_FRACTION)
    more = NOTHING if last is not None and last <= whole else concat(naturals(whole + 1, last), ANY_FRACTION)
    return either(concat(literal(str(whole)), least), more)


def at_least(fraction: str, strict: bool) -> Tree:
    """Point and digits of at least this fraction; optional if zero is enough."""
    if not fraction and not strict:
        return ANY_FRACTION
    return concat(literal("."), either(*tails_from(fraction, strict)))


def at_most(fraction: str, strict: bool) -> Tree:
    """Point and digits of at most this fraction, or no point."""
    if not fraction:
        return NOTHING if strict else NO_FRACTION
    first, rest = fraction[0], fraction[1:]
    less = concat(digit(0, int(first) - 1), ANY_TAIL)
    return optional(concat(literal("."), either(less, concat(literal(first), either(*tails_to(rest, strict))))))


def tails_from(fraction: str, strict: bool) -> list[Tree]:
    """Digits that are at least these, compared as fractions."""
    if strict or not fraction:
        same, end = fraction, SOME_TAIL if strict else ANY_TAIL
    else:
        same, end = fraction[:-1], concat(digit(int(fraction[-1]), 9), ANY_TAIL)
    more = [concat(start, repeat(char, size), digit(int(char) + 1, 9), ANY_TAIL) for start, char, size in runs(same)]
    return [*more, concat(literal(same), end)]


def tails_to(fraction: str, strict: bool) -> list[Tree]:
    """Digits that are at most these, compared as fractions."""
    less = [
        concat(start, repeat(char, size), optional(concat(digit(0, int(char) - 1), ANY_TAIL)))
        for start, char, size in runs(fraction)
    ]
    return less if strict else [*less, concat(literal(fraction), ZEROS)]


def repeat(char: str, size: int) -> Tree:
    """Fewer than `size` repeats of a digit."""
    return EMPTY if size == 1 else Repeat(literal(char), 0, size - 1)


def runs(fraction: str) -> Iterator[tuple[Tree, str, int]]:
    """For each run of one digit: the digits before it, the digit, its length."""
    place = 0
    for char, group in groupby(fraction):
        size = len(list(group))
        yield literal(fraction[:place]), char, size
        place += size


def between(low: str, high: str, low_strict: bool, high_strict: bool) -> Tree:
    """Point and digits from one fraction to another."""
    if not low and not low_strict:
        return at_most(high, high_strict)
    if low == high:
        exactly = concat(literal("." + low), ZEROS)
        return NOTHING if low_strict or high_strict else exactly
    padded = low.ljust(len(high), "0")
    place = next(place for place, char in enumerate(high) if char != padded[place])
    same, first, last = high[:place], int(padded[place]), int(high[place])
    equal = [] if low_strict else [literal(same[:size]) for size in range(len(low), place + 1)]
    below = [concat(literal(same + padded[place]), tail) for tail in tails_from(low[place + 1 :], low_strict)]
    middle = concat(literal(same), digit(first + 1, last - 1), ANY_TAIL)
    above = [concat(literal(same + high[place]), tail) for tail in tails_to(high[place + 1 :], high_strict)]
    return concat(literal("."), either(*equal, *below, middle, *above))


# --- The decimal texts of the multiples of a number: a net whose places are remainders, read digit by digit.


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
