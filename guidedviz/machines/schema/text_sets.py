"""Sets of strings, before JSON escapes: patterns and formats, their intersections, and their lengths.

    {"pattern": "^(ab)*$", "minLength": 2, "maxLength": 4}      ab(?:ab)?

A set is a tree, or a minimal DFA over characters; intersections and differences are those of the DFAs. A large length
beside a pattern is not unrolled: a tick stands after each character, and the pushdown machine counts the ticks.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from typing import ClassVar, Self

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.rewrite import copy_net
from guidedviz.machines.graph import Numbers, grouped, reach
from guidedviz.machines.ranges import LAST, common_ranges
from guidedviz.machines.regular.algebra import code_machine, code_net, difference, intersection
from guidedviz.machines.regular.dfa import DFA, build_dfa, merge_edges
from guidedviz.machines.regular.minimal import sources_of
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.schema.json_text import escape_tree
from guidedviz.machines.syntax import (
    ANY_CHARACTER,
    ANYTHING,
    EMPTY,
    NOTHING,
    Chars,
    Less,
    Net,
    Repeat,
    Tick,
    Tree,
    concat,
)
from guidedviz.machines.work import spend

# Measured on Llama 3, whose longest token has 128 bytes, compiling and all masks along an e-mail address: with at most
# 128 characters copies take 0.6 of the time of counting, with 255 six times as long.
MOST_COPIED_STATES = 2_000  # of the copies of a pattern for its lengths; a larger product is counted
LONG_TEXT = 200  # characters
MOST_COPIED_STATES_OF_LONG = 200  # the same for lengths from LONG_TEXT on
MOST_CLASSES = 128  # kinds of keys


TextGroups = list[tuple[Tree, frozenset[int]]]  # texts, and the numbers of the trees that match them


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


machine_over_characters = lru_cache(maxsize=256)(code_machine)


def overlap(trees: list[Tree], banned: Sequence[Tree] = (), high: int | None = None, may_count: bool = False) -> Tree:
    """A tree for the texts that all trees match and no banned one; one of the trees if it is the strictest.

    `high`: of these the texts of at most so many characters, which `may_count` allows to count instead of copies.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.grammars.show import show_regex
    >>> show_regex(overlap([parse_regex("[a-z]+"), parse_regex("(?s:.{2,4})")]))
    '[a-z]{2,4}'
    >>> show_regex(overlap([parse_regex("(ab)*"), parse_regex("(?s:.{2,4})")]))
    'ab(?:ab)?'
    """
    if not banned:
        if len(trees) == 1 and high is None:
            return trees[0]
        run = common_run([*trees, Repeat(ANY_CHARACTER, 0, high)])
        if run is not None:
            return run
    machines = list(map(machine_over_characters, trees))
    common = reduce(intersection, machines)
    common = reduce(difference, map(machine_over_characters, banned), common)
    if high is not None and has_longer(common, high):
        return at_most_long(common, high, may_count)
    return trees[machines.index(common)] if common in machines else code_net(common)


def common_run(trees: list[Tree]) -> Tree | None:
    """The intersection if each tree repeats one class of characters: the common class, the common counts."""
    ranges = ANY_CHARACTER.ranges
    low = 0
    high = None
    for tree in trees:
        run = Repeat(tree, 1, 1) if isinstance(tree, Chars) else tree
        if not isinstance(run, Repeat) or not isinstance(run.part, Chars):
            return None
        ranges = common_ranges(ranges, run.part.ranges)
        low = max(low, run.low)
        if high is None or (run.high is not None and run.high < high):
            high = run.high
    if high is not None and low > high:
        return NOTHING
    return Repeat(Chars(ranges), low, high)


def has_longer(machine: DFA, high: int) -> bool:
    """Whether a minimal machine has texts of more than `high` letters."""
    level = {machine.initial} if machine.accepting else set[int]()
    for _ in range(min(high + 1, len(machine))):  # a longer path has a loop
        level = {target for state in level for _, _, target in machine.edges[state]}
    return bool(level)


def at_most_long(machine: DFA, high: int, may_count: bool) -> Tree:
    """The texts of a machine over characters that have at most `high` characters: copied states, or ticks.

    A tick stands after each character, and the machine counts them. A tick also says how many characters the end may
    need after it: the `rest` of a `LengthLimit`.
    """
    net = code_net(machine)
    to_end = reach(machine.accepting, sources_of(machine.edges).__getitem__)  # characters, from each state
    if not isinstance(net, Net) or to_end[machine.initial] > high:
        return NOTHING
    edges = []
    for source, part, target in net.edges:
        if part != EMPTY:
            part = concat(part, Tick(high, to_end[target]))
        edges.append((source, part, target))
    counted = Net(net.places, tuple(edges))
    most = MOST_COPIED_STATES if high < LONG_TEXT else MOST_COPIED_STATES_OF_LONG
    if may_count and escape_tree(net).weight.states * high > most:
        return counted
    return copy_net(counted)


def other_texts(names: Iterable[str]) -> DFA:
    """The minimal machine over characters of all texts but these; a state is what is left of the names after a text.

    >>> other_texts(["a", "bc"]).edges[0]
    ((0, 96, 1), (97, 97, 2), (98, 98, 3), (99, 1114111, 1))
    """
    numbers = Numbers(frozenset(names))
    rows = []
    for rests in numbers.met:  # it grows
        spend(2 + sum(map(len, rests)) // 32)
        following = grouped((rest[0], rest[1:]) for rest in rests if rest)
        row = []
        low = 0
        for letter in sorted(following):
            code = ord(letter)
            if low < code:
                row.append((low, code - 1, numbers[frozenset()]))
            row.append((code, code, numbers[frozenset(following[letter])]))
            low = code + 1
        if low <= LAST:
            row.append((low, LAST, numbers[frozenset()]))
        rows.append(merge_edges(row))
    return DFA(tuple(rows), frozenset([number for rests, number in numbers.items() if "" not in rests]))


def every_text_but(names: Iterable[str]) -> Tree:
    """The texts that are none of these."""
    net = code_net(other_texts(names))
    assert isinstance(net, Net)  # some text is no name
    return replace(net, less=Less(ANYTHING, tuple(names)))


def split_texts(start: DFA, trees: Sequence[Tree]) -> TextGroups:
    r"""The texts of a machine over characters, grouped by which of the trees they match.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.grammars.show import show_regex
    >>> any_text, trees = parse_regex("(?s:.*)"), [parse_regex("a?"), parse_regex("a+")]
    >>> [(show_regex(tree), sorted(of)) for tree, of in split_texts(code_machine(any_text), trees)]
    [('a', [0, 1]), ('aaa*', [1]), ('', [0]), ('a*[^a][\\s\\S]*', [])]
    """
    groups = [(start, frozenset[int]())]
    for place, tree in enumerate(trees):
        if len(groups) > MOST_CLASSES:
            raise PatternError("pattern", seen=f"more than {MOST_CLASSES} kinds of keys", expected="fewer patterns")
        machine = machine_over_characters(tree)
        inside = [(intersection(group, machine), matched | {place}) for group, matched in groups]
        outside = [(difference(group, machine), matched) for group, matched in groups]
        groups = [(group, matched) for group, matched in (*inside, *outside) if group.accepting]
    return [(code_net(group), matched) for group, matched in groups]
