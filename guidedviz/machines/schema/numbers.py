"""Bounds and steps of numbers, digit by digit.

A bounded number has no exponent: to compare `0.001e3` with a bound one must count zeros, and a DFA cannot count. A
minus sign is allowed only if the bounds allow negative numbers; `-0` then counts as `0`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import ceil, floor
from typing import ClassVar, Self

from guidedviz.machines import syntax
from guidedviz.machines.schema.places import NotEnforced, NoValue, below
from guidedviz.machines.syntax import NOTHING, Chars, Range, Tree, concat, either, literal
from guidedviz.machines.work import spend

MOST_REMAINDERS = 4_000
SIGNS = frozenset((-1, 0, 1))
State = tuple[int, ...]
Reading = tuple[str, tuple[State, ...]]  # what was read last, the state of each rule


@dataclass(frozen=True, eq=False)
class NumberBound:
    """The number minus the value has one of these signs: {0, 1} is a minimum, {-1} an exclusive maximum.

    The state compares two numbers that are at least zero: digits compared so far, the sign, 1 behind the point.
    """

    value: Decimal
    signs: frozenset[int]
    path: str
    kind: ClassVar = "number"
    start: ClassVar[State] = (0, 0, 0)

    def negations(self) -> Iterator[tuple[Self, ...]]:
        yield (replace(self, signs=SIGNS - self.signs),)

    def allows(self, number: Decimal) -> bool:
        return (number > self.value) - (number < self.value) in self.signs

    def of_size(self, sign: int) -> Self:
        """The same for the sizes of numbers with this sign."""
        return replace(self, value=self.value.copy_abs(), signs=frozenset(sign * each for each in self.signs))

    @property
    def rounded(self) -> Self:
        """The same for integers: a minimum is the lowest integer that it allows."""
        if -1 in self.signs or 1 not in self.signs:
            return self
        low = ceil(self.value) if 0 in self.signs else floor(self.value) + 1
        return replace(self, value=Decimal(low), signs=frozenset((0, 1)))

    @cached_property
    def digits(self) -> tuple[str, str]:
        """The digits before and behind the point."""
        whole, _, fraction = format(self.value, "f").partition(".")
        return whole, fraction.rstrip("0")

    def digit(self, state: State, digit: int) -> State:
        read, found, behind = state
        own = self.digits[behind]
        if behind and found:
            return state
        if read >= len(own):  # one more digit is more, if it is no zero behind the point
            return (read, int(digit > 0), 1) if behind else (len(own) + 1, 1, 0)
        more = digit - int(own[read])
        return read + 1, found or (more > 0) - (more < 0), behind

    def point(self, state: State) -> State:
        read, found, _ = state
        return 0, -1 if read < len(self.digits[0]) else found, 1

    def fits(self, state: State) -> bool:
        read, found, _ = state if state[2] else self.point(state)
        return (found or (-1 if read < len(self.digits[1]) else 0)) in self.signs


@dataclass(frozen=True, eq=False)
class MultipleOf:
    """The number is a multiple of a step, or is not. The state: remainder, digits read behind the point; () if not."""

    step: Decimal
    wanted: bool
    path: str
    kind: ClassVar = "number"
    start: ClassVar[State] = (0, -1)

    def negations(self) -> Iterator[tuple[Self, ...]]:
        yield (replace(self, wanted=not self.wanted),)

    def allows(self, number: Decimal) -> bool:
        (top, bottom), (size, parts) = number.as_integer_ratio(), self.step.as_integer_ratio()
        return (top * parts % (bottom * size) == 0) == self.wanted

    @cached_property
    def units(self) -> tuple[int, int]:
        """The digits behind the point that matter, and the step in units of the last one."""
        top, bottom = self.step.as_integer_ratio()
        places = next(places for places in range(bottom) if 10**places % bottom == 0)
        if (size := top * 10**places // bottom) * (places + 2) > MOST_REMAINDERS:
            expected = f"a step of at most {MOST_REMAINDERS // (places + 2):,} units"
            raise NotEnforced(below(self.path, "multipleOf"), f"multiples of {self.step}", expected)
        return places, size

    def digit(self, state: State, digit: int) -> State:
        places, size = self.units
        if not state or state[1] == places:
            return () if digit else state
        return (10 * state[0] + digit) % size, state[1] + (state[1] >= 0)

    def point(self, state: State) -> State:
        return state[0], 0

    def fits(self, state: State) -> bool:
        places, size = self.units
        exact = bool(state) and state[0] * 10 ** (places - max(0, state[1])) % size == 0
        return exact == self.wanted


NumberRule = NumberBound | MultipleOf


def number_tree(rules: Sequence[NumberRule], kinds: Collection[str], path: str = "#") -> Tree:
    """The integers, the fractions, or both kinds of numbers that keep these rules, without an exponent.

    >>> from guidedviz.machines.grammars.show import show_regex
    >>> bounds = [NumberBound(Decimal(8), frozenset((0, 1)), "#"), NumberBound(Decimal(12), frozenset((-1,)), "#")]
    >>> show_regex(number_tree(bounds, {"integer"}))
    '[89]|1[01]'
    >>> half = number_tree([MultipleOf(Decimal("0.5"), True, "#")], {"integer", "fraction"})
    >>> gv.regex(show_regex(half)) == gv.regex(r"-?(0|[1-9][0-9]*)(\\.[05]0*)?")
    True
    """
    bounds, whole = [rule for rule in rules if isinstance(rule, NumberBound)], "fraction" not in kinds
    if whole:
        rules = [rule.rounded if isinstance(rule, NumberBound) else rule for rule in rules]
    elif "integer" not in kinds:
        rules = [*rules, MultipleOf(Decimal(1), False, path)]
    tree = either(*(one_side(sign, rules, whole) for sign in (-1, 1)))
    if tree == NOTHING:
        at, kind = bounds[0].path if bounds else path, "integer" if whole else "number"
        raise NoValue(at, f"bounds with no {kind} between them", "a minimum not above the maximum")
    return tree


def one_side(sign: int, rules: Iterable[NumberRule], whole: bool) -> Tree:
    """The numbers with this sign that keep the rules; zero has both."""
    kept: list[NumberRule] = []
    for rule in rules:
        if isinstance(rule, NumberBound):
            if (rule.value * sign < 0 or (rule.value == 0 and sign < 0)) and sign not in rule.signs:
                return NOTHING
            if rule.value * sign >= 0:
                kept.append(rule.of_size(sign))
        else:
            kept.append(rule)
    return concat(literal("-" if sign < 0 else ""), digits_net(kept, whole))


def digits_net(rules: Sequence[NumberRule], whole: bool) -> Tree:
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
            yield Chars(syntax.merge_ranges(chars)), target
        if read in ("zero", "whole") and not whole:
            yield literal("."), ("point", tuple(rule.point(state) for rule, state in zip(rules, states, strict=True)))

    def may_end(reading: Reading) -> bool:
        fits = all(rule.fits(state) for rule, state in zip(rules, reading[1], strict=True))
        return fits and reading[0] not in ("start", "point")

    return syntax.build_net(("start", tuple(rule.start for rule in rules)), moves, may_end)
