"""Boolean functions of atoms as decision diagrams (Bryant, 1986): equal functions are the same number.

A diagram asks for one atom, and continues with one of two diagrams. Atoms are asked for in ascending order.
"""

from __future__ import annotations

from collections.abc import Callable

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
