"""Numbers as JSON text: an automaton reads the digits and compares them with bounds, steps and constants on the way.

A bounded number has no exponent: to compare `0.001e3` with a bound one must count zeros, and a DFA cannot count. A
minus sign is allowed only if the bounds allow negative numbers; `-0` then counts as `0`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from guidedviz.errors import PatternError
from guidedviz.machines.regular.assertions import build_net
from guidedviz.machines.schema.strings import overlap
from guidedviz.machines.tree import (
    EMPTY,
    NOTHING,
    Chars,
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

DIGIT, NONZERO = Chars(((48, 57),)), Chars(((49, 57),))
MOST_REMAINDERS = 4_000
Reading = tuple[str, tuple[tuple[int, ...], ...]]  # what was read last, the state of each condition


@dataclass(frozen=True)
class Bound:
    """A lower or upper bound; `strict` if the bound itself is excluded."""

    value: Decimal
    strict: bool = False


class DigitComparison:
    """The number is smaller than another one, equal or larger, as `wanted` allows (-1, 0, 1); both are at least zero.

    The state: digits compared so far, their comparison, 1 behind the decimal point.
    """

    start = (0, 0, 0)

    def __init__(self, value: Decimal, *wanted: int) -> None:
        self.whole, _, fraction = format(value.copy_abs(), "f").partition(".")
        self.fraction, self.wanted = fraction.rstrip("0"), wanted

    def digit(self, state: tuple[int, ...], digit: int) -> tuple[int, ...]:
        read, found, behind = state
        own = self.fraction if behind else self.whole
        if behind and found:
            return state
        if read >= len(own):  # one more digit is more, if it is no zero behind the point
            return (read, int(digit > 0), 1) if behind else (len(own) + 1, 1, 0)
        more = digit - int(own[read])
        return read + 1, found or (more > 0) - (more < 0), behind

    def point(self, state: tuple[int, ...]) -> tuple[int, ...]:
        read, found, _ = state
        return 0, -1 if read < len(self.whole) else found, 1

    def fits(self, state: tuple[int, ...]) -> bool:
        read, found, _ = state if state[2] else self.point(state)
        return (found or (-1 if read < len(self.fraction) else 0)) in self.wanted


class Multiple:
    """The number is a multiple of a step, or is not. The state: remainder, digits read behind the point; () if not."""

    start: tuple[int, ...] = (0, -1)

    def __init__(self, step: Decimal, wanted: bool, whole: bool) -> None:
        top, bottom = step.as_integer_ratio()
        self.places, self.wanted = 0, wanted
        while not whole and 10**self.places % bottom:
            self.places += 1
        self.modulus = top if whole else top * 10**self.places // bottom
        if self.modulus * (self.places + 2) > MOST_REMAINDERS:
            expected = f"a step of at most {MOST_REMAINDERS // (self.places + 2):,} units"
            raise PatternError("multipleOf", seen=f"multiples of {step}", expected=expected)

    def digit(self, state: tuple[int, ...], digit: int) -> tuple[int, ...]:
        if not state or state[1] == self.places:
            return () if digit else state
        rest, behind = state
        return (10 * rest + digit) % self.modulus, behind + (behind >= 0)

    def point(self, state: tuple[int, ...]) -> tuple[int, ...]:
        return state[0], 0

    def fits(self, state: tuple[int, ...]) -> bool:
        exact = bool(state) and state[0] * 10 ** (self.places - max(0, state[1])) % self.modulus == 0
        return exact == self.wanted


def number_tree(
    low: Bound | None,
    high: Bound | None,
    whole: bool = False,
    steps: Iterable[tuple[Decimal, bool]] = (),
    banned: Iterable[Decimal] = (),
) -> Tree:
    """The numbers between two bounds that are multiples of steps, or are not, and none of some constants; no exponent.

    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(number_tree(Bound(Decimal(8)), Bound(Decimal(12), strict=True), whole=True))
    '[89]|1[01]'
    >>> half = number_tree(None, None, steps=[(Decimal("0.5"), True)])
    >>> gv.regex(show_regex(half)) == gv.regex(r"-?(0|[1-9][0-9]*)(\\.[05]0*)?")
    True
    """
    steps, banned = list(steps), list(banned)
    if whole:
        first = None if low is None else math.floor(low.value) + 1 if low.strict else math.ceil(low.value)
        last = None if high is None else math.ceil(high.value) - 1 if high.strict else math.floor(high.value)
        if not steps and not banned:
            return integers(first, last)
        low, high = (None if end is None else Bound(Decimal(end)) for end in (first, last))
    sides = []
    for sign in (-1, 1):
        floor, top = (low, high) if sign > 0 else (high, low)
        if top is not None and (top.value * sign < 0 or (sign < 0 and top.value == 0)):
            continue
        rules = [DigitComparison(value, -1, 1) for value in banned if value * sign >= 0]
        if floor is not None and floor.value * sign >= 0:
            rules.append(DigitComparison(floor.value, 1, *([] if floor.strict else [0])))
        if top is not None:
            rules.append(DigitComparison(top.value, -1, *([] if top.strict else [0])))
        nets = [digits_net([Multiple(step, wanted, whole)], whole) for step, wanted in dict.fromkeys(steps)]
        nets += [digits_net(rules, whole)] if rules or not nets else []
        sides.append(concat(literal("-" if sign < 0 else ""), overlap(nets)))
    return either(*sides)


def digits_net(rules: Sequence[DigitComparison | Multiple], whole: bool) -> Tree:
    """The numbers without a sign that keep all these rules."""

    def moves(reading: Reading) -> Iterator[tuple[Tree, Reading]]:
        read, states = reading
        ranges: dict[Reading, list[Range]] = defaultdict(list)
        spend(10 + 30 * len(rules))
        for digit in range(10) if read != "zero" else ():
            after = tuple(rule.digit(state, digit) for rule, state in zip(rules, states, strict=True))
            last = ("whole" if digit else "zero") if read == "start" else "fraction" if read == "point" else read
            ranges[last, after].append((48 + digit, 48 + digit))
        for target, chars in ranges.items():
            yield Chars(merge_ranges(chars)), target
        if read in ("zero", "whole") and not whole:
            yield literal("."), ("point", tuple(rule.point(state) for rule, state in zip(rules, states, strict=True)))

    def may_end(reading: Reading) -> bool:
        fits = all(rule.fits(state) for rule, state in zip(rules, reading[1], strict=True))
        return fits and reading[0] not in ("start", "point")

    return build_net(("start", tuple(rule.start for rule in rules)), moves, may_end)


def any_number() -> Tree:
    """Any number, also with an exponent."""
    some = Repeat(DIGIT, 1, None)
    exponent = concat(either(literal("e"), literal("E")), optional(either(literal("+"), literal("-"))), some)
    return concat(integers(None, None), optional(concat(literal("."), some)), optional(exponent))


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
    middle = [concat(Chars(((48 + first, 48 + last),)), digits(size, size))] if first <= last else []
    return [*below, *middle, *above]


def digits(low: int, high: int | None) -> Tree:
    """From low to high digits."""
    return EMPTY if high == 0 else DIGIT if low == high == 1 else Repeat(DIGIT, low, high)
