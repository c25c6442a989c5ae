"""Anchors, word boundaries and lookarounds: assertions read no character, and still describe a regular language.

A run maps every state that a part can be in to a condition on the text that follows: a Boolean formula over states of
lookaheads. When a character is read, each of these states is replaced by what it requires of the rest (the derivative
of Brzozowski, 1964). Runs are finitely many, so they are the states of a DFA. Without lookaheads all conditions are
true, and this is the subset construction.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import DFA, MOST_STATES, build_dfa, merge_edges
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import NFA, Edge, Shape, build_nfa
from guidedviz.machines.tree import (
    EMPTY,
    LAST,
    NOTHING,
    WITH_BYTES,
    Call,
    Chars,
    Concat,
    Either,
    Net,
    Range,
    Tree,
    common_ranges,
    merge_ranges,
    other_ranges,
)
from guidedviz.machines.work import spend

# Machines over characters instead of bytes: an edge is a range of code points.
#
# A tree that is computed from such a machine can still be escaped or intersected, as JSON Schema does with patterns.


def shape_codes(chars: Chars) -> Shape:
    """One edge per range of code points; surrogates have no bytes.

    >>> shape_codes(Chars(((0x41, 0x41), (0xD000, 0xE000))))
    (0, ((0, 65, 65, 1), (0, 53248, 55295, 1), (0, 57344, 57344, 1)))
    """
    return 0, tuple((0, low, high, 1) for low, high in common_ranges(chars.ranges, WITH_BYTES))


def code_machine(tree: Tree, letter: Callable[[Call], int]) -> DFA:
    """The minimal machine over characters; a call is an edge with its own letter above the last code point."""
    return minimise(build_dfa(build_nfa(tree, letter, shape_codes)))


def split_letters(found: Iterable[Iterable[Range]]) -> list[tuple[Range, ...]]:
    """The coarsest classes from which all these classes are composed.

    >>> split_letters([[(1, 9)], [(5, 12), (20, 20)]])
    [((1, 4),), ((5, 9),), ((10, 12), (20, 20))]
    """
    changes: dict[int, set[int]] = defaultdict(set)  # code point -> the classes that begin or end there
    for number, ranges in enumerate(found):
        for low, high in merge_ranges(ranges):
            changes[low] ^= {number}
            changes[high + 1] ^= {number}
    inside: frozenset[int] = frozenset()
    letters: dict[frozenset[int], list[Range]] = defaultdict(list)
    for low, after in pairwise(sorted(changes)):
        inside ^= changes[low]
        letters[inside].append((low, after - 1))
    return [tuple(ranges) for classes, ranges in letters.items() if classes]


def code_net(dfa: DFA) -> Tree:
    """A machine over characters as a tree: its states, joined by classes of characters."""
    if not dfa.accepting:
        return NOTHING
    edges: list[tuple[int, Tree, int]] = [(state, EMPTY, len(dfa)) for state in sorted(dfa.accepting)]
    for state, row in enumerate(dfa.edges):
        ranges: dict[int, list[Range]] = defaultdict(list)
        for low, high, target in row:
            ranges[target].append((low, high))
        edges += [(state, Chars(merge_ranges(found)), target) for target, found in ranges.items()]
    return Net(len(dfa) + 1, tuple(edges))


# Boolean functions of atoms as decision diagrams (Bryant, 1986): equal functions are the same number.
#
# A diagram asks for one atom, and continues with one of two diagrams. Atoms are asked for in ascending order.


FALSE, TRUE = 0, 1
Atom = tuple[int, int]


class Formulas:
    """Builds formulas. 0 is false and 1 is true. `spend` is called with the work of every operation.

    >>> formulas = Formulas(lambda work: None)
    >>> a, b = formulas.atom((0, 0)), formulas.atom((0, 1))
    >>> formulas.both(a, b) == formulas.both(b, a)
    True
    """

    def __init__(self, spend: Callable[[int], None]) -> None:
        self.spend = spend
        self.nodes: list[tuple[Atom, int, int]] = [((-1, -1), 0, 0), ((-1, -1), 1, 1)]  # atom, if true, if false
        self.numbers: dict[tuple[Atom, int, int], int] = {}
        self.known: dict[tuple[int, int, int], int] = {}

    def atom(self, atom: Atom) -> int:
        """The formula that is true when the atom is."""
        return self._node(atom, TRUE, FALSE)

    def _node(self, atom: Atom, yes: int, no: int) -> int:
        if yes == no:
            return yes
        node = (atom, yes, no)
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[node]

    def choose(self, condition: int, yes: int, no: int) -> int:
        """`yes` if the condition is true, otherwise `no`."""
        if condition in (FALSE, TRUE) or yes == no:
            return yes if condition == TRUE or yes == no else no
        key = (condition, yes, no)
        if key not in self.known:
            self.spend(3)
            atom = min(self.nodes[formula][0] for formula in key if formula > TRUE)
            true = self.choose(*(self._given(formula, atom, True) for formula in key))
            false = self.choose(*(self._given(formula, atom, False) for formula in key))
            self.known[key] = self._node(atom, true, false)
        return self.known[key]

    def _given(self, formula: int, atom: Atom, holds: bool) -> int:
        """The formula when an atom that is not after its first one holds, or does not."""
        first, yes, no = self.nodes[formula]
        return formula if first != atom else yes if holds else no

    def both(self, one: int, other: int) -> int:
        return self.choose(one, other, FALSE)

    def either(self, one: int, other: int) -> int:
        return self.choose(one, TRUE, other)

    def negate(self, one: int) -> int:
        return self.choose(one, FALSE, TRUE)

    def replace(self, formula: int, value: Callable[[Atom], int], done: dict[int, int]) -> int:
        """The formula with every atom replaced by a formula; results are kept in `done`."""
        if formula <= TRUE:
            return formula
        if formula not in done:
            self.spend(1)
            atom, yes, no = self.nodes[formula]
            true, false = self.replace(yes, value, done), self.replace(no, value, done)
            done[formula] = self.choose(value(atom), true, false)
        return done[formula]


MOST_WORK = 500_000  # followed edges and new formulas; about a second
Run = dict[int, int]  # state of a part -> the condition on the text that follows
State = tuple[frozenset[tuple[int, int]], ...]  # the run of every lookbehind, and of the pattern


@dataclass(frozen=True)
class Lookaround:
    """The text after a position begins with a text of the tree (ahead), or the text before it ends with one."""

    tree: Tree
    ahead: bool


def guard(number: int, negated: bool) -> Call:
    """A leaf that reads nothing, where the lookaround with this number must hold, or must not."""
    return Call(str(2 * number + negated))


def resolve(tree: Tree, lookarounds: Sequence[Lookaround]) -> Tree:
    """The same texts as a tree without guards; a lookaround may contain guards of those before it.

    >>> from guidedviz.machines.tree import concat, literal
    >>> resolve(concat(guard(0, True), Chars(((97, 98),))), [Lookaround(literal("a"), ahead=True)])
    Net(places=3, edges=((1, Concat(parts=()), 2), (0, Chars(ranges=((98, 98),)), 1)))
    """
    try:
        return code_net(minimise(_Runs(tree, lookarounds).build()))
    except RecursionError as error:
        raise too_large("a formula that is too deep") from error


def too_large(seen: str) -> PatternError:
    """The error for lookarounds with too large a machine."""
    hint = "fewer or shorter lookarounds, or a grammar"
    return PatternError("regex", seen=f"assertions with {seen}", expected="a machine that fits", hint=hint)


class Part(NamedTuple):
    """An NFA over characters; an epsilon edge is its target and the guard on it, or None."""

    edges: tuple[tuple[Edge, ...], ...]
    free: tuple[tuple[tuple[int, int | None], ...], ...]


def build_part(tree: Tree, letters: dict[Chars, None]) -> Part:
    """The NFA of a part; its classes of characters are added to `letters`."""

    def shape(chars: Chars) -> Shape:
        letters[chars] = None
        return shape_codes(chars)

    nfa = build_nfa(tree, lambda call: LAST + 1 + int(call.name), shape)
    if not any(low > LAST for row in nfa.edges for low, _, _ in row):
        nfa = joined_ends(minimise(build_dfa(nfa)))  # a condition then has fewer atoms
    edges = tuple(tuple(edge for edge in row if edge[0] <= LAST) for row in nfa.edges)
    guarded = ([(target, low - LAST - 1) for low, _, target in row if low > LAST] for row in nfa.edges)
    plain = ([(target, None) for target in targets] for targets in nfa.epsilon)
    return Part(edges, tuple((*one, *other) for one, other in zip(plain, guarded, strict=True)))


def joined_ends(dfa: DFA) -> NFA:
    """The same machine with one accepting state."""
    places = [state + (state > 0) for state in range(len(dfa))]
    rows = [tuple((low, high, places[target]) for low, high, target in row) for row in dfa.edges]
    free = [(NFA.accepting,) if state in dfa.accepting else () for state in range(len(dfa))]
    return NFA((rows[0], (), *rows[1:]), (free[0], (), *free[1:]))


class _Runs:
    """The runs of the lookbehinds and of the pattern, which is the last part."""

    def __init__(self, tree: Tree, lookarounds: Sequence[Lookaround]) -> None:
        letters: dict[Chars, None] = {}
        self.parts = [build_part(part, letters) for part in (*(around.tree for around in lookarounds), tree)]
        self.letters = split_letters(chars.ranges for chars in letters)
        self.main = len(lookarounds)
        self.kept = [*(number for number, around in enumerate(lookarounds) if not around.ahead), self.main]
        self.formulas = Formulas(self.spend)
        self.work = 0

    def build(self) -> DFA:
        """The DFA over characters."""
        start = self.close_all({self.main: {NFA.initial: TRUE}})
        numbers, edges, accepting = {start: 0}, list[tuple[Edge, ...]](), set[int]()
        for state in (queue := [start]):
            if _Reading(self, state, None).may_end():
                accepting.add(numbers[state])
            row = []
            for ranges in self.letters:
                after = _Reading(self, state, ranges[0][0]).after()
                if after is None:
                    continue
                if after not in numbers:
                    numbers[after] = len(numbers)
                    queue.append(after)
                row += [(low, high, numbers[after]) for low, high in ranges]
            edges.append(merge_edges(row))
            if len(numbers) > MOST_STATES:
                raise too_large(f"more than {MOST_STATES:,} states")
        return DFA(tuple(edges), frozenset(accepting))

    def close_all(self, runs: dict[int, Run]) -> State:
        """The state after these runs have followed their epsilon edges; a lookbehind may begin at every position."""
        closed: dict[int, Run] = {}
        for number in self.kept:
            begun = {} if number == self.main else {NFA.initial: TRUE}
            closed[number] = self.close(number, {**runs.get(number, {}), **begun}, closed)
        return tuple(frozenset(run.items()) for run in closed.values())

    def close(self, number: int, run: Run, closed: Mapping[int, Run]) -> Run:
        """Follow the epsilon edges of a part; `closed` are the runs of the lookbehinds before it."""
        free, waiting = self.parts[number].free, list(run)
        while waiting:
            state = waiting.pop()
            self.spend(len(free[state]))
            for target, guarded in free[state]:
                condition = run[state]
                if guarded is not None:
                    condition = self.formulas.both(condition, self.truth(guarded, closed))
                before = run.get(target, FALSE)
                if (wider := self.formulas.either(before, condition)) != before:
                    run[target] = wider
                    waiting.append(target)
        return run

    def truth(self, guarded: int, closed: Mapping[int, Run]) -> int:
        """The formula for a guard at this position."""
        number, negated = divmod(guarded, 2)
        holds = closed[number].get(NFA.accepting, FALSE) if number in closed else self.formulas.atom((number, 0))
        return self.formulas.negate(holds) if negated else holds

    def spend(self, work: int) -> None:
        spend(2 * work)
        self.work += work
        if self.work > MOST_WORK:
            raise too_large(f"more than {MOST_WORK:,} steps from NFA to DFA")


class _Reading:
    """One character, or the end (None), read in a state."""

    def __init__(self, machine: _Runs, state: State, char: int | None) -> None:
        self.machine, self.formulas, self.char = machine, machine.formulas, char
        self.runs = {number: dict(run) for number, run in zip(machine.kept, state, strict=True)}
        self.atoms: dict[Atom, int] = {}
        self.done: dict[int, int] = {}

    def may_end(self) -> bool:
        """Whether the text may end here."""
        return self.derive(self.runs[self.machine.main].get(NFA.accepting, FALSE)) == TRUE

    def after(self) -> State | None:
        """The state after the character; None if nothing can be read."""
        moved = {number: self.move(number, run) for number, run in self.runs.items()}
        return self.machine.close_all(moved) if moved[self.machine.main] else None

    def move(self, number: int, run: Run) -> Run:
        """The run of a part after the character, before it follows epsilon edges."""
        moved: Run = {}
        for state, condition in run.items():
            for target in self.targets(number, state):
                if (derived := self.derive(condition)) != FALSE:
                    moved[target] = self.formulas.either(moved.get(target, FALSE), derived)
        return moved

    def targets(self, number: int, state: int) -> Iterator[int]:
        edges = self.machine.parts[number].edges[state]
        self.machine.spend(len(edges))
        return (target for low, high, target in edges if self.char is not None and low <= self.char <= high)

    def derive(self, formula: int) -> int:
        """What a condition requires of the text after the character."""
        return self.formulas.replace(formula, self.derive_atom, self.done)

    def derive_atom(self, atom: Atom) -> int:
        """What a state of a lookahead requires of the text after the character; once it accepts, nothing."""
        if atom not in self.atoms:
            number, state = atom
            closed = self.machine.close(number, {state: TRUE}, self.runs)
            formula = self.derive(closed.get(NFA.accepting, FALSE))
            for target, condition in self.move(number, closed).items():
                formula = self.formulas.either(
                    formula, self.formulas.both(condition, self.formulas.atom((number, target)))
                )
            self.atoms[atom] = formula
        return self.atoms[atom]


# Anchors and word boundaries as lookarounds of one character; `$` needs two, because a newline may follow it.


WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
ANY, WORDS, NEWLINE, IN_LINE = (Chars(r) for r in (((0, LAST),), WORD, ((10, 10),), other_ranges([(10, 10)])))
BEFORE_LAST_LINE = Either((IN_LINE, Concat((NEWLINE, ANY))))  # what may not follow `$`
BOUNDARIES = (op.AT_BOUNDARY, op.AT_NON_BOUNDARY)
EMPTY_IS_BOUNDARY_FREE = re.fullmatch(r"\B", "") is not None  # since Python 3.14

Guard = Callable[[Lookaround, bool], Tree]  # lookaround, whether it is negated -> a leaf


def anchor_tree(where: Any, flags: int, search: bool, guard: Guard) -> Tree:
    """An anchor or a word boundary; when searching, `$` is only at the very end of the text."""
    if where in BOUNDARIES:
        return boundary_tree(where is op.AT_BOUNDARY, guard)
    lines = bool(flags & re.MULTILINE)
    if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
        return guard(Lookaround(IN_LINE if lines and where is op.AT_BEGINNING else ANY, ahead=False), True)
    if where is op.AT_END and (lines or not search):
        return guard(Lookaround(IN_LINE if lines else BEFORE_LAST_LINE, ahead=True), True)
    return guard(Lookaround(ANY, ahead=True), True)


def boundary_tree(boundary: bool, guard: Guard) -> Tree:
    """Exactly one neighbour is a word character, or both or none are."""

    def beside(ahead: bool, negated: bool, chars: Chars = WORDS) -> Tree:
        return guard(Lookaround(chars, ahead), negated)

    if boundary:
        return Either(tuple(Concat((beside(False, one), beside(True, not one))) for one in (False, True)))
    some = Concat(()) if EMPTY_IS_BOUNDARY_FREE else Either((beside(False, False, ANY), beside(True, False, ANY)))
    both, none = (Concat((beside(False, one), beside(True, one))) for one in (False, True))
    return Either((both, Concat((none, some))))
