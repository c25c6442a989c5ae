"""A pattern as a syntax tree over characters; the NFA encodes characters as bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, NoReturn

from guidedviz.errors import PatternError
from guidedviz.machines.graph import Numbers, T, grouped, reach
from guidedviz.machines.ranges import LAST, Range, Ranges, merge_ranges, shape_chars
from guidedviz.machines.work import spend


@dataclass(frozen=True)
class Chars:
    """One character in these ranges of code points; an empty tuple matches nothing."""

    ranges: Ranges

    @cached_property
    def weight(self) -> Weight:
        return Weight(shape_chars(self.ranges)[0])


@dataclass(frozen=True)
class Concat:
    """A sequence of parts; an empty tuple is the empty text."""

    parts: tuple[Tree, ...]
    weight: Weight = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", weigh(self.parts, max(0, len(self.parts) - 1)))


@dataclass(frozen=True)
class Either:
    """A choice between options."""

    options: tuple[Tree, ...]
    weight: Weight = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", weigh(self.options))


@dataclass(frozen=True)
class Repeat:
    """The part, repeated `low` to `high` times; None means no upper bound."""

    part: Tree
    low: int
    high: int | None
    position: int | None = None  # of the quantifier in the pattern's text, for errors
    weight: Weight = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        inner = self.part.weight
        states = self.states(inner.states)
        weight = inner._replace(states=states)
        if self.high == 0:
            weight = Weight()
        elif self.is_counted and states > inner.largest:
            blame = str(self) if self.position is None else f"{self} at position {self.position}"
            weight = Weight(states, states, blame, inner.letters)
        object.__setattr__(self, "weight", weight)

    @property
    def is_counted(self) -> bool:
        """Whether the part is copied."""
        return (self.high or self.low) > 1

    def states(self, each: int) -> int:
        """The states of the copies of a part that takes so many."""
        copies = max(self.low, 1) if self.high is None else self.high
        joints = self.low + 1 if self.high is None else max(0, self.high - 1)
        return copies * each + joints

    def __str__(self) -> str:
        for sign, times in COUNTS.items():
            if times == (self.low, self.high):
                return sign
        if self.low == self.high:
            return f"{{{self.low}}}"
        return f"{{{self.low},{'' if self.high is None else self.high}}}"


Times = tuple[int, int | None]  # at least, at most; None means no upper bound
COUNTS: dict[str, Times] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
COUNTED = re.compile(r"\{[ \t]*([0-9]{1,9})[ \t]*(?:(,)[ \t]*([0-9]{0,9})[ \t]*)?\}")


def read_count(text: str) -> Times | None:
    """The lowest and the highest count of a quantifier; None if it is none.

    >>> read_count("+"), read_count("{2,5}"), read_count("{3}"), read_count("{,3}")
    ((1, None), (2, 5), (3, 3), None)
    """
    found = COUNTED.fullmatch(text)
    if not found:
        return COUNTS.get(text)
    low, comma, high = found.groups()
    if comma and not high:
        return int(low), None
    return int(low), int(high or low)


@dataclass(frozen=True)
class Net:
    """An automaton with parts as edges: every path from place 0 to the last place is a text."""

    places: int
    edges: tuple[tuple[int, Tree, int], ...]  # from, part, to
    less: Less | None = field(default=None, compare=False, repr=False)  # the same texts
    weight: Weight = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", weigh([part for _, part, _ in self.edges], self.places))


class Less(NamedTuple):
    """The texts of a tree but for a few: the automaton of such a difference is written down."""

    tree: Tree
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Call:
    """A call of the rule with this name."""

    name: str
    span: tuple[int, int] | None = None  # position of the name in the grammar's text

    @property
    def weight(self) -> Weight:
        return Weight(letters=(self,))  # it does not stay, or both would hold each other


@dataclass(frozen=True)
class Tick:
    """One more part in the text of a rule that counts them: at most `most`, of which `rest` or more follow this one.

    A length beside a pattern: the rule is the pattern's automaton, and a tick stands after each of its characters.
    """

    most: int
    rest: int

    @property
    def weight(self) -> Weight:
        return Weight(letters=(self,))


class Weight(NamedTuple):
    """What the automaton of a tree takes; each tree holds its own, because parts are shared and asked about often."""

    states: int = 0  # that `build_nfa` adds
    largest: int = 0  # the states of the counted repeat that has the most
    blame: str = ""  # this repeat, for errors
    letters: tuple[Call | Tick, ...] = ()  # the parts that are no characters, in order


def weigh(parts: Collection[Tree], states: int = 0) -> Weight:
    """The weight of some parts, and of so many states between them.

    >>> weigh([Repeat(ANY_CHARACTER, 0, 9), Repeat(Call("a"), 1, 5)]).blame
    '{0,9}'
    """
    spend(2 * len(parts))
    largest = Weight()
    letters: dict[Call | Tick, None] = {}
    for part in parts:
        weight = part.weight
        states += weight.states
        if weight.largest > largest.largest:
            largest = weight
        if weight.letters:
            letters |= dict.fromkeys(weight.letters)
    return Weight(states, largest.largest, largest.blame, tuple(letters))


Tree = Chars | Concat | Either | Repeat | Net | Call | Tick
EMPTY: Tree = Concat(())
NOTHING: Tree = Chars(())
ANY_CHARACTER = Chars(((0, LAST),))
ANYTHING = Repeat(ANY_CHARACTER, 0, None)


def literal(text: str) -> Tree:
    """Exactly this text."""
    spend(4 * len(text))
    return concat(*map(one_character, text))


@lru_cache(maxsize=4096)
def one_character(char: str) -> Chars:
    """This character; equal characters are one object, so a long text takes little memory."""
    return Chars(((ord(char), ord(char)),))


def concat(*parts: Tree) -> Tree:
    """A flat sequence; if a part matches nothing, the whole matches nothing.

    >>> concat(literal("a"), EMPTY, concat(literal("b"), literal("c"))) == literal("abc")
    True
    """
    flat: list[Tree] = []
    for part in parts:
        if isinstance(part, Concat):
            flat.extend(part.parts)
        else:
            flat.append(part)
    if any(isinstance(part, Chars) and not part.ranges for part in flat):
        return NOTHING
    if len(flat) == 1:
        return flat[0]
    return Concat(tuple(flat))


def either(*options: Tree) -> Tree:
    """A flat choice of different options; single characters become one class.

    >>> either(literal("a"), NOTHING, either(literal("b"), literal("xy"))).options
    (Chars(ranges=((97, 98),)), Concat(parts=(Chars(ranges=((120, 120),)), Chars(ranges=((121, 121),)))))
    """
    flat: list[Tree] = []
    for option in options:
        if isinstance(option, Either):
            flat.extend(option.options)
        else:
            flat.append(option)
    spend(2 * len(flat))
    ranges: list[Range] = []
    others: dict[Call | int, Tree] = {}
    for option in flat:
        if isinstance(option, Chars):
            ranges.extend(option.ranges)
        else:
            others[option if isinstance(option, Call) else id(option)] = option
    kept = list(others.values())
    if ranges:
        kept.insert(0, Chars(merge_ranges(ranges)))
    if not kept:
        return NOTHING
    if len(kept) == 1:
        return kept[0]
    return Either(tuple(kept))


NetMoves = Iterator[tuple[Tree, T]]  # a part, and the place behind it


def build_net(start: T, moves: Callable[[T], Iterable[tuple[Tree, T]]], may_end: Callable[[T], bool]) -> Tree:
    """An automaton by its moves, from place to place, as a net without dead ends; NOTHING if no text ends.

    >>> a = Chars(((97, 97),))
    >>> net = build_net(0, lambda place: [(a, place + 1)] if place < 2 else [], lambda place: place == 1)
    >>> [(source, target) for source, _, target in net.edges]
    [(0, 1), (1, 3)]
    """
    numbers = Numbers(start)
    edges = []
    for place in numbers.met:  # it grows
        for part, target in moves(place):
            edges.append((numbers[place], part, numbers[target]))
    spend(2 * len(edges))
    last = len(numbers)
    for place, number in numbers.items():
        if may_end(place):
            edges.append((number, EMPTY, last))
    sources = grouped((target, source) for source, _, target in edges)
    live = reach([last], sources.__getitem__)
    if 0 not in live:
        return NOTHING
    return Net(last + 1, tuple([edge for edge in edges if edge[2] in live]))


def no_rules(part: Call | Tick) -> NoReturn:
    """Raise the error for a rule call, or a counted length, in a pattern that has no rules."""
    if isinstance(part, Call):
        seen = f"a call of the rule {part.name}"
        expected = "a pattern without rule calls"
    else:
        seen = f"a length of at most {part.most:,} beside a pattern"
        expected = "a smaller maxLength, or gv.json_schema, which counts"
    raise PatternError("pattern", seen=seen, expected=expected)


def all_parts(tree: Tree) -> Iterator[Tree]:
    """Every part of a tree that is not left out by {0}, the whole first; a part that stands at two places comes once.

    >>> [type(part).__name__ for part in all_parts(Concat((Repeat(Call("a"), 0, 0), Either((Call("b"),)))))]
    ['Concat', 'Repeat', 'Either', 'Call']
    """
    stack = [tree]
    seen = set()  # an inlined rule is one object at all its places
    while stack:
        part = stack.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            stack.extend(reversed(direct_parts(part)))


def has_ticks(tree: Tree) -> bool:
    """Whether a rule with this tree counts its own parts."""
    return any(isinstance(part, Tick) for part in tree.weight.letters)


def direct_parts(tree: Tree) -> tuple[Tree, ...]:
    """The direct parts of a tree that are not left out by {0}."""
    match tree:
        case Concat(parts) | Either(parts):
            return parts
        case Repeat(part, _, high):
            return () if high == 0 else (part,)
        case Net(_, edges):
            return tuple(part for _, part, _ in edges)
    return ()


def map_parts(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with every direct part changed."""
    match tree:
        case Concat(parts):
            return concat(*map(change, parts))
        case Either(options):
            return either(*map(change, options))
        case Repeat(part):
            return replace(tree, part=change(part))
        case Net(places, edges):
            spend(2 * len(edges))
            changed = tuple([(source, change(part), target) for source, part, target in edges])
            return tree if changed == edges else Net(places, changed)
    return tree


def map_calls(tree: Tree, change: Callable[[Call], Tree]) -> Tree:
    """The tree with every call replaced."""
    if isinstance(tree, Call):
        return change(tree)
    return map_parts(tree, lambda part: map_calls(part, change))


def is_one_character(tree: Tree) -> bool:
    """Whether the tree is exactly one character."""
    if not isinstance(tree, Chars) or len(tree.ranges) != 1:
        return False
    low, high = tree.ranges[0]
    return low == high


def optional(part: Tree) -> Tree:
    """The part or the empty text."""
    return EMPTY if part in (EMPTY, NOTHING) else Repeat(part, 0, 1)
