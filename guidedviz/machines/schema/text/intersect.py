"""The intersection of several trees, over characters.

Characters that all trees treat alike become one letter. The DFAs over these letters are intersected, and the result is
a net of states whose edges are classes of characters again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, reduce

from guidedviz.errors import PatternError
from guidedviz.machines.regular.algebra import difference, intersection
from guidedviz.machines.regular.assertions import split_letters
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import build_nfa, count_states
from guidedviz.machines.schema.text.json_text import escape, map_chars
from guidedviz.machines.schema.text.lengths import count_rests, longest_text, tick_net
from guidedviz.machines.tree import (
    EMPTY,
    LAST,
    NOTHING,
    Chars,
    Net,
    Range,
    Repeat,
    Tree,
    common_ranges,
    merge_ranges,
)
from guidedviz.machines.work import spend

MOST_LETTERS = 128  # a letter is a one-byte character
# Measured on Llama 3, whose longest token has 128 bytes, compiling and all masks along an e-mail address: with at most
# 128 characters copies take 0.6 of the time of counting, with 255 six times as long.
MOST_COPIES = 2_000  # states of the copies of a pattern for its lengths; a larger product is counted
LONG, FEW_COPIES = 200, 200  # characters; states of the copies for lengths above
MOST_PRODUCT = 50_000  # states; about a second


def overlap(trees: list[Tree], banned: Iterable[Tree] = (), high: int | None = None, tick: bool = False) -> Tree:
    """A tree for the texts that all trees match and no banned one; one of the trees if it is the strictest.

    `high`: of these the texts of at most so many characters, which `tick` allows to count instead of copies.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(overlap([parse_regex("[a-z]+"), parse_regex("(?s:.{2,4})")]))
    '[a-z]{2,4}'
    >>> show_regex(overlap([parse_regex("(ab)*"), parse_regex("(?s:.{2,4})")]))
    'ab(?:ab)?'
    """
    without = list(banned)
    if len(trees) == 1 and not without and high is None:
        return trees[0]
    every = Repeat(Chars(((0, LAST),)), 0, high)
    if not without and (run := common_run([*trees, every])) is not None:
        return run
    letters = find_letters([*trees, *without])
    machines = [letter_machine(tree, letters) for tree in trees]
    common = reduce(difference, [letter_machine(tree, letters) for tree in without], reduce(intersection, machines))
    if high is not None and longest_text(common) > high:
        return at_most(common, letters, high, tick)
    return trees[machines.index(common)] if common in machines else letter_net(common, letters)


def at_most(machine: DFA, letters: list[Chars], high: int, tick: bool) -> Tree:
    """The texts of a machine over letters with at most so many characters."""
    net = letter_net(machine, letters)
    most = MOST_COPIES if high < LONG else min(FEW_COPIES, MOST_COPIES)
    if tick and isinstance(net, Net) and count_states(escape(net)) * high > most:
        return tick_net(net, machine, high) if count_rests(machine)[0] <= high else NOTHING
    if len(machine) * high > MOST_PRODUCT:
        seen = f"a length of at most {high:,} beside a pattern with {len(machine):,} states"
        expected = f"at most {MOST_PRODUCT:,} copies of states"
        raise PatternError("pattern", seen=seen, expected=expected, hint="a smaller length")
    every = letter_machine(Repeat(Chars(((0, LAST),)), 0, high), letters)
    return letter_net(intersection(machine, every), letters)


def split_texts(trees: list[Tree]) -> list[tuple[Tree, frozenset[int]]]:
    r"""All texts, grouped by which of the trees they match.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> [(show_regex(tree), sorted(of)) for tree, of in split_texts([parse_regex("a?"), parse_regex("a+")])]
    [('a', [0, 1]), ('aaa*', [1]), ('', [0]), ('a*[^a][\\s\\S]*', [])]
    """
    every = Repeat(Chars(((0, LAST),)), 0, None)
    letters = find_letters([*trees, every])
    found = [(letter_machine(every, letters), frozenset[int]())]
    for place, tree in enumerate(trees):
        if len(found) > MOST_LETTERS:
            raise PatternError("pattern", seen=f"more than {MOST_LETTERS} kinds of keys", expected="fewer patterns")
        machine = letter_machine(tree, letters)
        inside = [(intersection(known, machine), of | {place}) for known, of in found]
        outside = [(difference(known, machine), of) for known, of in found]
        found = [(known, of) for known, of in (*inside, *outside) if known.accepting]
    return [(letter_net(known, letters), of) for known, of in found]


def find_letters(trees: list[Tree]) -> list[Chars]:
    """The classes of characters that all trees treat alike."""
    found = dict.fromkeys(chars.ranges for tree in trees for chars in classes(tree))
    letters = list(map(Chars, split_letters(found)))
    if len(letters) > MOST_LETTERS:
        raise PatternError("pattern", seen=f"{len(letters)} kinds of characters", expected=f"at most {MOST_LETTERS}")
    return letters


def common_run(trees: list[Tree]) -> Tree | None:
    """The intersection if each tree repeats one class of characters: the common class, the common counts."""
    runs = [Repeat(tree, 1, 1) if isinstance(tree, Chars) else tree for tree in trees]
    ranges: tuple[Range, ...] = ((0, LAST),)
    low, high = 0, None
    for run in runs:
        if not (isinstance(run, Repeat) and isinstance(run.part, Chars)):
            return None
        ranges, low = common_ranges(ranges, run.part.ranges), max(low, run.low)
        high = run.high if high is None else high if run.high is None else min(high, run.high)
    return Repeat(Chars(ranges), low, high) if high is None or low <= high else NOTHING


def classes(tree: Tree) -> list[Chars]:
    """Every class of characters in a tree."""
    found: list[Chars] = []

    def keep(chars: Chars) -> Tree:
        found.append(chars)
        return chars

    map_chars(tree, keep)
    return found


def letter_machine(tree: Tree, letters: list[Chars]) -> DFA:
    """The DFA over class numbers."""

    @cache
    def change(chars: Chars) -> Tree:
        spend(5 * len(letters))
        firsts = enumerate(letter.ranges[0][0] for letter in letters)  # a letter is in a class, or no part of it is
        numbers = [n for n, first in firsts if any(low <= first <= high for low, high in chars.ranges)]
        return Chars(merge_ranges((number, number) for number in numbers))

    return minimise(build_dfa(build_nfa(map_chars(tree, change))))


def letter_net(dfa: DFA, letters: list[Chars]) -> Tree:
    """A DFA over class numbers as a net: states joined by classes of characters."""
    if not dfa.accepting:
        return NOTHING
    edges: list[tuple[int, Tree, int]] = [(state, EMPTY, len(dfa)) for state in sorted(dfa.accepting)]
    for state, row in enumerate(dfa.edges):
        for low, high, target in row:
            ranges = merge_ranges(pair for letter in letters[low : high + 1] for pair in letter.ranges)
            edges.append((state, Chars(ranges), target))
    return Net(len(dfa) + 1, tuple(edges))
