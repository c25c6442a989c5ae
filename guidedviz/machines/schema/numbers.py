"""Bounds and steps of numbers as automata that read digits; their product is the tree of a number.

    {"minimum": 8, "maximum": 11}      [89]|1[01]

A bounded number has no exponent: to compare `0.001e3` with a bound one must count zeros, and a DFA cannot count. A
minus sign is allowed only if the bounds allow negative numbers; `-0` then counts as `0`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import ceil, floor
from typing import ClassVar, Self

from guidedviz.machines.ranges import merge_ranges
from guidedviz.machines.schema.values import NoValue, below, schema_error
from guidedviz.machines.syntax import EMPTY, NOTHING, Chars, NetMoves, Tree, build_net, concat, either, literal
from guidedviz.machines.work import spend

MOST_REMAINDERS = 4_000
ANY_SIGN = frozenset((-1, 0, 1))  # of the number minus a bound
NOT_EQUAL = frozenset((-1, 1))
NumberState = tuple[int, ...]
Progress = tuple[str, tuple[NumberState, ...]]  # what was read last, the state of each rule


@dataclass(frozen=True, eq=False)
class NumberBound:
    """The number minus the value has one of these signs: {0, 1} is a minimum, {-1} an exclusive maximum.

    The state compares two numbers that are at least zero: digits compared so far, the sign, 1 behind the point. For a
    value of 11, "8" leads to (1, 1, 0), because 8 is more than 1, and "80" to (2, 1, 0): 80 is more than 11. If the
    text ends after "8", the sign becomes -1, because 8 has fewer digits.
    """

    value: Decimal
    signs: frozenset[int]
    path: str
    kind: ClassVar = "number"
    start: ClassVar[NumberState] = (0, 0, 0)

    def negations(self) -> Iterator[tuple[Self, ...]]:
        yield (replace(self, signs=ANY_SIGN - self.signs),)

    def allows(self, number: Decimal) -> bool:
        return (number > self.value) - (number < self.value) in self.signs

    def of_size(self, sign: int) -> Self:
        """The same for the sizes of numbers with this sign."""
        return replace(self, value=self.value.copy_abs(), signs=frozenset(sign * each for each in self.signs))

    def rounded(self) -> Self:
        """The same for integers: a minimum is the lowest integer that it allows; other bounds stay."""
        if -1 in self.signs or 1 not in self.signs:
            return self
        low = ceil(self.value) if 0 in self.signs else floor(self.value) + 1
        return replace(self, value=Decimal(low), signs=frozenset((0, 1)))

    @cached_property
    def digits(self) -> tuple[str, str]:
        """The digits before and behind the point."""
        whole, _, fraction = format(self.value, "f").partition(".")
        return whole, fraction.rstrip("0")

    def digit(self, state: NumberState, digit: int) -> NumberState:
        read, sign, behind = state
        if behind:
            if sign:
                return state
            if read >= len(self.digits[1]):
                return read, int(digit > 0), 1
        elif read >= len(self.digits[0]):
            return len(self.digits[0]) + 1, 1, 0  # a longer number is larger
        if not sign:
            more = digit - int(self.digits[behind][read])
            sign = (more > 0) - (more < 0)
        return read + 1, sign, behind

    def point(self, state: NumberState) -> NumberState:
        read, sign, _ = state
        if read < len(self.digits[0]):
            sign = -1
        return 0, sign, 1

    def fits(self, state: NumberState) -> bool:
        read, sign, behind = state
        if not behind:
            read, sign, _ = self.point(state)
        if not sign and read < len(self.digits[1]):
            sign = -1
        return sign in self.signs


@dataclass(frozen=True, eq=False)
class MultipleOf:
    """The number is a multiple of a step, or is not. The state: remainder, digits read behind the point; () if not."""

    step: Decimal
    wanted: bool
    path: str
    kind: ClassVar = "number"
    start: ClassVar[NumberState] = (0, -1)

    def negations(self) -> Iterator[tuple[Self, ...]]:
        yield (replace(self, wanted=not self.wanted),)

    def allows(self, number: Decimal) -> bool:
        top, bottom = number.as_integer_ratio()
        size, parts = self.step.as_integer_ratio()
        is_multiple = top * parts % (bottom * size) == 0
        return is_multiple == self.wanted

    @cached_property
    def units(self) -> tuple[int, int]:
        """The digits behind the point that matter, and the step in units of the last one."""
        top, bottom = self.step.as_integer_ratio()
        places = next(places for places in range(bottom) if 10**places % bottom == 0)
        size = top * 10**places // bottom
        if size * (places + 2) > MOST_REMAINDERS:
            expected = f"a step of at most {MOST_REMAINDERS // (places + 2):,} units"
            raise schema_error(below(self.path, "multipleOf"), f"multiples of {self.step}", expected)
        return places, size

    def digit(self, state: NumberState, digit: int) -> NumberState:
        places, size = self.units
        if not state or state[1] == places:
            return () if digit else state
        remainder, behind = state
        if behind >= 0:
            behind += 1
        return (10 * remainder + digit) % size, behind

    def point(self, state: NumberState) -> NumberState:
        return state[0], 0

    def fits(self, state: NumberState) -> bool:
        if not state:
            return not self.wanted
        places, size = self.units
        remainder, behind = state
        is_multiple: bool = remainder * 10 ** (places - max(0, behind)) % size == 0
        return is_multiple == self.wanted


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
    is_whole = "fraction" not in kinds
    if is_whole:
        rules = [rule.rounded() if isinstance(rule, NumberBound) else rule for rule in rules]
    elif "integer" not in kinds:
        rules = [*rules, MultipleOf(Decimal(1), False, path)]
    tree = either(one_side(-1, rules, is_whole), one_side(1, rules, is_whole))
    if tree == NOTHING:
        paths = [rule.path for rule in rules if isinstance(rule, NumberBound)]
        kind = "integer" if is_whole else "number"
        seen = f"bounds with no {kind} between them"
        raise NoValue(paths[0] if paths else path, seen, "a minimum not above the maximum")
    return tree


def one_side(sign: int, rules: Sequence[NumberRule], is_whole: bool) -> Tree:
    """The numbers with this sign that keep the rules; zero has both."""
    kept: list[NumberRule] = []
    for rule in rules:
        if isinstance(rule, MultipleOf):
            kept.append(rule)
            continue
        is_beyond_zero = rule.value * sign < 0 or (rule.value == 0 and sign < 0)
        if is_beyond_zero and sign not in rule.signs:
            return NOTHING
        if rule.value * sign >= 0:
            kept.append(rule.of_size(sign))
    minus = literal("-") if sign < 0 else EMPTY
    return concat(minus, digits_net(kept, is_whole))


def digits_net(rules: Sequence[NumberRule], is_whole: bool) -> Tree:
    """The numbers without a sign that keep all these rules."""

    def moves(progress: Progress) -> NetMoves[Progress]:
        last, states = progress
        pairs = [*zip(rules, states, strict=True)]
        spend(10 + 30 * len(rules))
        if last != "zero":  # no number has leading zeros
            ranges = defaultdict(list)
            for digit in range(10):
                after = tuple(rule.digit(state, digit) for rule, state in pairs)
                ranges[after_digit(last, digit), after].append((48 + digit, 48 + digit))
            for target, chars in ranges.items():
                yield Chars(merge_ranges(chars)), target
        if last in ("zero", "whole") and not is_whole:
            yield literal("."), ("point", tuple(rule.point(state) for rule, state in pairs))

    def may_end(progress: Progress) -> bool:
        last, states = progress
        if last in ("start", "point"):
            return False
        return all(rule.fits(state) for rule, state in zip(rules, states, strict=True))

    return build_net(("start", tuple(rule.start for rule in rules)), moves, may_end)


def after_digit(last: str, digit: int) -> str:
    """What a digit makes of that which was read before it."""
    if last == "start":
        return "whole" if digit else "zero"
    return "fraction" if last == "point" else last
