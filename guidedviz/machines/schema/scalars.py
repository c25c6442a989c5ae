"""Strings and numbers as JSON text (RFC 8259): patterns, lengths and escapes; bounds and steps, digit by digit.

An unrestricted string may use every escape, also lone surrogates. Where characters are counted, a surrogate pair is one
character and a lone surrogate is refused. Characters from a pattern or format are escaped only where JSON requires it.

A bounded number has no exponent: to compare `0.001e3` with a bound one must count zeros, and a DFA cannot count. A
minus sign is allowed only if the bounds allow negative numbers; `-0` then counts as `0`.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, lru_cache, reduce
from math import ceil, floor
from typing import Any, ClassVar, Self

from guidedviz.errors import PatternError
from guidedviz.machines import syntax
from guidedviz.machines.grammars.counted import copy_net, map_parts
from guidedviz.machines.regular.algebra import difference, intersection
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import code_machine, code_net, sources_of
from guidedviz.machines.regular.nfa import build_nfa, count_states
from guidedviz.machines.schema.document import NotEnforced, NoValue, below, kind_of, refusal
from guidedviz.machines.syntax import EMPTY, NOTHING, Chars, Range, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.work import distances, spend

Spaced = Callable[[Tree, str], Tree]  # a piece of JSON with the whitespace allowed after it
SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
MUST = ((0, 31), (34, 34), (92, 92))  # characters that must be escaped
PLAIN = Chars(syntax.other_ranges(MUST))
# Measured on Llama 3, whose longest token has 128 bytes, compiling and all masks along an e-mail address: with at most
# 128 characters copies take 0.6 of the time of counting, with 255 six times as long.
MOST_COPIES = 2_000  # states of the copies of a pattern for its lengths; a larger product is counted
LONG, FEW_COPIES = 200, 200  # characters; states of the copies for lengths above
MOST_CLASSES = 128  # kinds of keys
DIGIT, NONZERO = Chars(((48, 57),)), Chars(((49, 57),))
MOST_REMAINDERS = 4_000
SIGNS = frozenset((-1, 0, 1))
State = tuple[int, ...]
Reading = tuple[str, tuple[State, ...]]  # what was read last, the state of each rule


@dataclass(frozen=True)
class TextSet:
    """A set of strings, before JSON escapes; two are equal if their names are."""

    name: Hashable
    read: Callable[[], Tree] = field(compare=False)

    @cached_property
    def tree(self) -> Tree:
        return self.read()

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))

    def has(self, text: str) -> bool:
        return self.machine.accepts(text.encode())


@dataclass(frozen=True, eq=False)
class Matching:
    """A string belongs to a set, or not."""

    texts: TextSet
    wanted: bool
    path: str
    kind: ClassVar = "string"

    def negations(self) -> Iterator[tuple[Self, ...]]:
        yield (replace(self, wanted=not self.wanted),)

    def allows(self, value: str) -> bool:
        return self.texts.has(value) == self.wanted


# --- one character --------------------------------------------------------------------------------------------------


def hexes(digits: str) -> Tree:
    """One of these hexadecimal digits, in upper or lower case."""
    return either(*map(literal, digits + digits.upper()))


def escaped(short: str, code: Tree) -> Tree:
    """A backslash with one of these letters, or with `u` and a code."""
    return concat(literal("\\"), either(*map(literal, short), concat(literal("u"), code)))


HEX = hexes("0123456789abcdef")
HIGH, LOW = (concat(hexes("d"), hexes(third), Repeat(HEX, 2, 2)) for third in ("89ab", "cdef"))  # a surrogate pair
BELOW = concat(hexes("d"), hexes("01234567"), Repeat(HEX, 2, 2))
CODE = either(concat(hexes("0123456789abcef"), Repeat(HEX, 3, 3)), BELOW, concat(HIGH, literal("\\u"), LOW))
ONE_CHARACTER = either(PLAIN, escaped('"\\/bfnrt', CODE))  # for minLength and maxLength


def in_quotes(tree: Tree) -> Tree:
    """The tree inside quotation marks."""
    return concat(literal('"'), tree, literal('"'))


def escape(tree: Tree) -> Tree:
    r"""The same texts as JSON string contents, with escapes.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.grammars.show import show_regex
    >>> show_regex(escape(parse_regex('a["\n]')))
    'a\\\\(?:["n]|u00(?:0[Aa]|22))'
    """
    if isinstance(tree, Chars):
        return escape_chars(tree.ranges)
    if isinstance(tree, Repeat):
        return Repeat(escape(tree.part), tree.low, tree.high)  # its position is one in the pattern's own text
    changed = map_parts(tree, escape)
    return concat(*changed.parts) if isinstance(changed, syntax.Concat) else changed


@lru_cache(maxsize=256)
def escape_chars(ranges: tuple[Range, ...]) -> Tree:
    """One of these characters: itself, or its escape."""
    plain = Chars(syntax.common_ranges(ranges, PLAIN.ranges))
    must = [chr(code) for low, high in syntax.common_ranges(ranges, MUST) for code in range(low, high + 1)]
    if not must:
        return plain
    codes: dict[str, str] = defaultdict(str)  # first hex digit -> possible digits behind it
    for code in (f"{ord(char):02x}" for char in must):
        codes[code[0]] += code[1]
    short = [literal(SHORT[char]) for char in must if char in SHORT]
    ends = either(*(concat(literal(first), hexes(second)) for first, second in codes.items()))
    return either(plain, concat(literal("\\"), either(*short, concat(literal("u00"), ends))))


# --- automata, and sets of strings before escapes ---------------------------------------------------------------------


machine_over_characters = lru_cache(maxsize=256)(code_machine)


def string_texts(found: Sequence[Matching], bounds: syntax.Times, tick: bool = False) -> Tree:
    """The contents of a string with patterns and a length, before JSON escapes.

    `tick`: a large length beside a pattern may be counted; the tree must then be a rule of its own.
    """
    low, high = bounds
    if not found:
        return Repeat(syntax.ANY_CHARACTER, low, high)
    wanted = [each.texts.tree for each in found if each.wanted]
    if low or not wanted:
        wanted.append(Repeat(syntax.ANY_CHARACTER, low, None))
    try:
        tree = overlap(wanted, [each.texts.tree for each in found if not each.wanted], high, tick)
    except PatternError as error:
        raise refusal(found[0].path, error.seen, error.expected, error.hint) from error
    if tree == NOTHING:
        raise NoValue(found[0].path, "a pattern, format or length that no string meets", "some string")
    return tree


def overlap(trees: list[Tree], banned: Sequence[Tree] = (), high: int | None = None, tick: bool = False) -> Tree:
    """A tree for the texts that all trees match and no banned one; one of the trees if it is the strictest.

    `high`: of these the texts of at most so many characters, which `tick` allows to count instead of copies.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.grammars.show import show_regex
    >>> show_regex(overlap([parse_regex("[a-z]+"), parse_regex("(?s:.{2,4})")]))
    '[a-z]{2,4}'
    >>> show_regex(overlap([parse_regex("(ab)*"), parse_regex("(?s:.{2,4})")]))
    'ab(?:ab)?'
    """
    if len(trees) == 1 and not banned and high is None:
        return trees[0]
    if not banned and (run := common_run([*trees, Repeat(syntax.ANY_CHARACTER, 0, high)])) is not None:
        return run
    machines = list(map(machine_over_characters, trees))
    common = reduce(difference, map(machine_over_characters, banned), reduce(intersection, machines))
    if high is not None and has_longer(common, high):
        return at_most_long(common, high, tick)
    return trees[machines.index(common)] if common in machines else code_net(common)


def common_run(trees: list[Tree]) -> Tree | None:
    """The intersection if each tree repeats one class of characters: the common class, the common counts."""
    runs = [Repeat(tree, 1, 1) if isinstance(tree, Chars) else tree for tree in trees]
    ranges: tuple[Range, ...] = ((0, syntax.LAST),)
    low, high = 0, None
    for run in runs:
        if not (isinstance(run, Repeat) and isinstance(run.part, Chars)):
            return None
        ranges, low = syntax.common_ranges(ranges, run.part.ranges), max(low, run.low)
        high = run.high if high is None else high if run.high is None else min(high, run.high)
    return Repeat(Chars(ranges), low, high) if high is None or low <= high else NOTHING


def has_longer(machine: DFA, high: int) -> bool:
    """Whether a minimal machine has texts of more than `high` letters."""
    level = {machine.initial} if machine.accepting else set[int]()
    for _ in range(min(high + 1, len(machine))):  # a longer path has a loop
        level = {target for state in level for _, _, target in machine.edges[state]}
    return bool(level)


def at_most_long(machine: DFA, high: int, tick: bool) -> Tree:
    """The texts of a machine over characters that have at most `high` characters: copied states, or ticks.

    A tick stands after each character, and the machine counts them.
    """
    net = code_net(machine)
    rests = distances(machine.accepting, sources_of(machine.edges).__getitem__)  # from each state to the end
    if not isinstance(net, syntax.Net) or rests[machine.initial] > high:
        return NOTHING
    ticks = {state: syntax.Tick(high, rest) for state, rest in rests.items()}
    edges = ((source, part if part == EMPTY else concat(part, ticks[to]), to) for source, part, to in net.edges)
    counted = syntax.Net(net.places, tuple(edges))
    most = MOST_COPIES if high < LONG else FEW_COPIES
    return counted if tick and count_states(escape(net)) * high > most else copy_net(counted)


def split_texts(start: Tree, trees: Sequence[Tree]) -> list[tuple[Tree, frozenset[int]]]:
    r"""The texts of the first tree, grouped by which of the others they match.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.grammars.show import show_regex
    >>> any_text, trees = parse_regex("(?s:.*)"), [parse_regex("a?"), parse_regex("a+")]
    >>> [(show_regex(tree), sorted(of)) for tree, of in split_texts(any_text, trees)]
    [('a', [0, 1]), ('aaa*', [1]), ('', [0]), ('a*[^a][\\s\\S]*', [])]
    """
    found = [(machine_over_characters(start), frozenset[int]())]
    for place, tree in enumerate(trees):
        if len(found) > MOST_CLASSES:
            raise PatternError("pattern", seen=f"more than {MOST_CLASSES} kinds of keys", expected="fewer patterns")
        machine = machine_over_characters(tree)
        inside = [(intersection(known, machine), of | {place}) for known, of in found]
        outside = [(difference(known, machine), of) for known, of in found]
        found = [(known, of) for known, of in (*inside, *outside) if known.accepting]
    return [(code_net(known), of) for known, of in found]


# --- constants ------------------------------------------------------------------------------------------------------


def plain_text(value: Any) -> str:
    """A scalar in one spelling: no optional escapes, numbers without an exponent.

    >>> plain_text("é"), plain_text(1.0), plain_text(1e-7)
    ('"é"', '1', '0.0000001')
    """
    if kind_of(value) == "integer":
        return str(int(value))
    if kind_of(value) == "fraction":
        return format(Decimal(str(value)), "f")
    return json.dumps(value, ensure_ascii=False)


def key_text(key: str, token: Spaced) -> Tree:
    """A property name and its colon."""
    return concat(token(literal(plain_text(key)), ""), token(literal(":"), ":"))


def bracket(signs: str, inside: Tree, token: Spaced) -> Tree:
    """A tree in brackets or braces."""
    return concat(token(literal(signs[0]), ""), inside, token(literal(signs[1]), ""))


# --- numbers --------------------------------------------------------------------------------------------------------


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


SOME = Repeat(DIGIT, 1, None)
INTEGER = concat(optional(literal("-")), either(literal("0"), concat(NONZERO, Repeat(DIGIT, 0, None))))
EXPONENT = concat(either(literal("e"), literal("E")), optional(either(literal("+"), literal("-"))), SOME)
SCALARS: dict[str, Tree] = {  # the rules of strings, numbers and blanks in unrestricted JSON
    "string": in_quotes(Repeat(syntax.Call("char"), 0, None)),
    "char": either(PLAIN, escaped('"\\/bfnrt', Repeat(HEX, 4, 4))),
    "number": concat(INTEGER, optional(concat(literal("."), SOME)), optional(EXPONENT)),
    "integer": INTEGER,
    "ws": Repeat(Chars(((9, 10), (13, 13), (32, 32))), 0, None),
}
