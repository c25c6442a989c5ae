"""Sets of strings, before JSON escapes: patterns and formats, their intersections, and their lengths."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from typing import ClassVar, Self

from guidedviz.errors import PatternError
from guidedviz.machines import syntax
from guidedviz.machines.grammars.counted import copy_net
from guidedviz.machines.regular.algebra import difference, intersection
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import code_machine, code_net, sources_of
from guidedviz.machines.regular.nfa import build_nfa, count_states
from guidedviz.machines.schema.json_text import escape
from guidedviz.machines.schema.places import NoValue, refusal
from guidedviz.machines.syntax import EMPTY, NOTHING, Chars, Range, Repeat, Tree, concat
from guidedviz.machines.work import distances

# Measured on Llama 3, whose longest token has 128 bytes, compiling and all masks along an e-mail address: with at most
# 128 characters copies take 0.6 of the time of counting, with 255 six times as long.
MOST_COPIES = 2_000  # states of the copies of a pattern for its lengths; a larger product is counted
LONG, FEW_COPIES = 200, 200  # characters; states of the copies for lengths above
MOST_CLASSES = 128  # kinds of keys


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
