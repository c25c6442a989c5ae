"""Anchors, word boundaries and lookarounds: assertions read no character, and still describe a regular language.

A run maps every state that a part can be in to a condition on the text that follows: a Boolean formula over states of
lookaheads. When a character is read, each of these states is replaced by what it requires of the rest (the derivative
of Brzozowski, 1964). Runs are finitely many, so they are the states of a DFA. Without lookaheads all conditions are
true, and this is the subset construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.regular.characters import code_net, shape_codes, split_letters
from guidedviz.machines.regular.dfa import DFA, MOST_STATES, build_dfa, merge_edges
from guidedviz.machines.regular.formulas import FALSE, TRUE, Atom, Formulas
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import NFA, Edge, Shape, build_nfa
from guidedviz.machines.tree import LAST, Call, Chars, Tree
from guidedviz.machines.work import spend

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
