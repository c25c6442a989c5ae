"""Anchors, word boundaries and lookarounds: assertions read no character, and still describe a regular language.

Each lookaround gets a letter of its own beyond the characters, its mark, which stands where it is asserted. Of the
marked texts of the pattern, those are taken away in which some mark is at a wrong place; then the marks are erased.
Where a mark is wrong says a machine, too: for `(?=a)` it accepts any text with one mark and no `a` behind it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

from guidedviz.machines import syntax
from guidedviz.machines.regular.algebra import Pair, difference, pair_moves
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nets import build_net, code_machine, code_net
from guidedviz.machines.syntax import ANYTHING, Range, Tree

FIRST_MARK = syntax.LAST + 2  # not next to a character, or an edge could have both


@dataclass(frozen=True)
class Lookaround:
    """The text after a position begins with a text of the tree (ahead), or the text before it ends with one."""

    tree: Tree
    ahead: bool


def guard(number: int, negated: bool) -> syntax.Chars:
    """The mark of a place where the lookaround with this number must hold, or must not."""
    mark = FIRST_MARK + 2 * number + negated
    return syntax.Chars(((mark, mark),))


def resolve(tree: Tree, lookarounds: Sequence[Lookaround]) -> Tree:
    """The same texts as a tree without marks; a lookaround may contain marks of those before it.

    >>> no_a = guard(0, negated=True)
    >>> resolve(syntax.concat(no_a, syntax.Chars(((97, 98),))), [Lookaround(syntax.literal("a"), ahead=True)])
    Net(places=3, edges=((0, Chars(ranges=((98, 98),)), 1), (1, Concat(parts=()), 2)))
    """
    return code_net(_settle(tree, lookarounds, 0))


def _settle(tree: Tree, lookarounds: Sequence[Lookaround], kept: int) -> DFA:
    """The texts of a tree whose marks are at right places, without all marks but one."""
    machine = code_machine(tree)
    chars = {low for part in syntax.walk(tree) if isinstance(part, syntax.Chars) for low, _ in part.ranges}
    for mark in sorted(low for low in chars - {kept} if low > syntax.LAST):
        machine = difference(machine, code_machine(_misplaced(machine, _wrong_places(mark, lookarounds))))

    def moves(state: int) -> Iterator[tuple[Tree, int]]:
        for low, high, target in machine.edges[state]:
            if low <= syntax.LAST or low <= kept <= high:
                yield syntax.Chars(((kept, kept) if low > syntax.LAST else (low, high),)), target
            if low > syntax.LAST and (low, high) != (kept, kept):
                yield syntax.EMPTY, target

    return code_machine(build_net(machine.initial, moves, machine.is_accepting))


def _wrong_places(mark: int, lookarounds: Sequence[Lookaround]) -> DFA:
    """Any text with one mark, at a place where the lookaround does not hold, or does if it is negated."""
    number, negated = divmod(mark - FIRST_MARK, 2)
    around, here = lookarounds[number], guard(number, bool(negated))
    sides = (here, around.tree) if around.ahead else (around.tree, here)
    holds = _settle(syntax.concat(ANYTHING, *sides, ANYTHING), lookarounds, mark)
    return holds if negated else difference(code_machine(syntax.concat(ANYTHING, here, ANYTHING)), holds)


def _misplaced(machine: DFA, wrong: DFA) -> Tree:
    """The texts of a machine with some mark at a wrong place; all other marks do not matter there."""

    def moves(pair: Pair) -> Iterator[tuple[Tree, Pair]]:
        for low, high, (target, place) in pair_moves(machine, wrong, pair):
            letters = syntax.Chars(((low, high),))
            if target is not None and low > syntax.LAST:
                yield letters, (target, pair[1])
            if target is not None and place is not None:
                yield letters, (target, place)

    start: Pair = 0, 0
    return build_net(start, moves, lambda pair: pair[0] in machine.accepting and pair[1] in wrong.accepting)


# Anchors and word boundaries as lookarounds of one character; `$` needs two, because a newline may follow it.


WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
ANY = syntax.ANY_CHARACTER
WORDS, NEWLINE, IN_LINE = map(syntax.Chars, (WORD, ((10, 10),), syntax.other_ranges([(10, 10)])))
BEFORE_LAST_LINE = syntax.Either((IN_LINE, syntax.Concat((NEWLINE, ANY))))  # what may not follow `$`
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

    def beside(ahead: bool, negated: bool, chars: syntax.Chars = WORDS) -> Tree:
        return guard(Lookaround(chars, ahead), negated)

    if boundary:
        return syntax.Either(tuple(syntax.Concat((beside(False, one), beside(True, not one))) for one in (False, True)))
    neighbours = (beside(ahead, False, ANY) for ahead in (False, True))
    some = syntax.EMPTY if EMPTY_IS_BOUNDARY_FREE else syntax.Either(tuple(neighbours))
    both, none = (syntax.Concat((beside(False, one), beside(True, one))) for one in (False, True))
    return syntax.Either((both, syntax.Concat((none, some))))
