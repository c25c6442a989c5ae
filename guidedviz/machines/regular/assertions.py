"""Anchors, word boundaries and lookarounds: assertions read no character, and still describe a regular language.

    (?=a)[ab]           is read as M[ab]: the mark M stands where the lookaround is asserted
    [^M]*M(?!a)[^M]*    M is at a wrong place: no a follows
    Ma                  what is left of M[ab] without these texts
    a                   the marks are erased

A mark is a letter beyond the characters, so all this is done by machines. A lookaround may contain marks itself; those
are settled first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from guidedviz.machines.ranges import LAST
from guidedviz.machines.regular.algebra import Pair, code_machine, code_net, difference, pair_moves
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.syntax import ANYTHING, EMPTY, Chars, NetMoves, Tree, all_parts, build_net, concat
from guidedviz.machines.work import working_on

FIRST_MARK = LAST + 2  # not next to a character, or an edge could have both
NO_MARK = 0


@dataclass(frozen=True)
class Lookaround:
    """The text after a position begins with a text of the tree (ahead), or the text before it ends with one."""

    tree: Tree
    ahead: bool
    said: str = field(default="", compare=False)  # its kind and its place in the pattern, for errors


def guard(number: int, negated: bool) -> Chars:
    """The mark of a place where the lookaround with this number must hold, or must not."""
    mark = FIRST_MARK + 2 * number + negated
    return Chars(((mark, mark),))


def resolve(tree: Tree, lookarounds: Sequence[Lookaround]) -> Tree:
    """The same texts as a tree without marks; a lookaround may contain marks of those before it.

    >>> from guidedviz.machines.syntax import literal
    >>> no_a = guard(0, negated=True)
    >>> resolve(concat(no_a, Chars(((97, 98),))), [Lookaround(literal("a"), ahead=True)])
    Net(places=3, edges=((0, Chars(ranges=((98, 98),)), 1), (1, Concat(parts=()), 2)))
    """
    with working_on(tree.weight.blame):
        return code_net(_Settling(lookarounds).settle(tree, NO_MARK))


@dataclass
class _Settling:
    """The lookarounds of a pattern, and where the mark of each is wrong, as far as that is known."""

    lookarounds: Sequence[Lookaround]
    wrong: dict[int, DFA] = field(default_factory=dict)

    def settle(self, tree: Tree, kept: int) -> DFA:
        """The texts of a tree whose marks are at right places; then all marks but one are erased."""
        machine = code_machine(tree)
        for mark in sorted(marks_of(tree) - {kept}):
            number = (mark - FIRST_MARK) // 2
            with working_on(self.lookarounds[number].said):
                if mark not in self.wrong:
                    self.wrong[mark] = self.wrong_places(mark)
                misplaced = code_machine(_misplaced(machine, self.wrong[mark]))
                machine = difference(machine, misplaced)
        return code_machine(_erase_marks(machine, kept))

    def wrong_places(self, mark: int) -> DFA:
        """Any text with one mark, at a place where the lookaround does not hold, or does if it is negated."""
        number, negated = divmod(mark - FIRST_MARK, 2)
        around = self.lookarounds[number]
        here = guard(number, bool(negated))
        sides = (here, around.tree) if around.ahead else (around.tree, here)
        holds = self.settle(concat(ANYTHING, *sides, ANYTHING), mark)
        if negated:
            return holds
        anywhere = code_machine(concat(ANYTHING, here, ANYTHING))
        return difference(anywhere, holds)


def marks_of(tree: Tree) -> set[int]:
    """The marks in a tree.

    >>> marks_of(concat(Chars(((97, 97),)), guard(2, negated=True))) == {FIRST_MARK + 5}
    True
    """
    found = set()
    for part in all_parts(tree):
        if isinstance(part, Chars) and part.ranges:
            low, _ = part.ranges[0]
            if low > LAST:
                found.add(low)
    return found


def _misplaced(machine: DFA, wrong: DFA) -> Tree:
    """The texts of a machine with some mark at a wrong place; all other marks do not matter there."""

    def moves(pair: Pair) -> NetMoves[Pair]:
        for low, high, (target, place) in pair_moves(machine, wrong, pair):
            letters = Chars(((low, high),))
            if target is not None and low > LAST:
                yield letters, (target, pair[1])
            if target is not None and place is not None:
                yield letters, (target, place)

    def may_end(pair: Pair) -> bool:
        state, place = pair
        return state in machine.accepting and place in wrong.accepting

    return build_net((0, 0), moves, may_end)


def _erase_marks(machine: DFA, kept: int) -> Tree:
    """The texts of a machine without all marks but one."""

    def moves(state: int) -> NetMoves[int]:
        for low, high, target in machine.edges[state]:
            if low <= LAST:
                yield Chars(((low, high),)), target
                continue
            if low <= kept <= high:
                yield Chars(((kept, kept),)), target
            if (low, high) != (kept, kept):
                yield EMPTY, target

    return build_net(machine.initial, moves, machine.is_accepting)
