"""Earley's algorithm as a textbook has it: an item is a tuple, a column is a list of items, a chart a list of columns.

Next: earley.py does the same work for any grammar in GBNF, fast and with nullable rules (Jay Earley, 1970).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self

Rules = Mapping[str, Sequence[tuple[str, ...]]]  # the alternatives of each rule; other symbols are text


class Item(NamedTuple):
    """An alternative of a rule, with a dot after the symbols that were read (a ? for each step past the last one).

    >>> print(Item("sum", ("sum", "+", "digit"), 1, 0))
    sum → sum • + digit (from 0)
    """

    rule: str
    symbols: tuple[str, ...]
    dot: int
    origin: int

    @property
    def wanted(self) -> str | None:
        """The symbol after the dot; None if the item is finished."""
        if self.dot < len(self.symbols):
            return self.symbols[self.dot]
        return None

    @property
    def moved(self) -> Self:
        """The item with its dot moved by one."""
        return self._replace(dot=self.dot + 1)

    def __str__(self) -> str:
        read = list(self.symbols[: self.dot])
        while len(read) < self.dot:
            read.append("?")
        words = " ".join([*read, "•", *self.symbols[self.dot :]])
        return f"{self.rule} → {words} (from {self.origin})"


Chart = list[list[Item]]


def begin(rules: Rules, item: Item, place: int) -> list[Item]:
    """The alternatives of the rule that an item waits for, with their dots at the start.

    >>> print(*begin({"digit": [("1",), ("2",)]}, Item("sum", ("digit",), 0, 0), 3), sep="; ")
    digit → • 1 (from 3); digit → • 2 (from 3)
    """
    rule = item.wanted or ""
    return [Item(rule, symbols, 0, place) for symbols in rules.get(rule, ())]


def predict(rules: Rules, column: Iterable[Item], place: int) -> list[Item]:
    """The column with all items that may begin at its place, each once.

    >>> rules = {"sum": [("sum", "+", "digit"), ("digit",)], "digit": [("1",)]}
    >>> for item in predict(rules, [Item("start", ("sum",), 0, 0)], 0):
    ...     print(item)
    start → • sum (from 0)
    sum → • sum + digit (from 0)
    sum → • digit (from 0)
    digit → • 1 (from 0)
    """
    filled = list(column)
    for item in filled:  # it grows
        filled += [new for new in begin(rules, item, place) if new not in filled]
    return filled


def scan(column: Iterable[Item], read: str) -> list[Item]:
    """The first items of the next column: those that wait for what was read, with their dots moved.

    >>> print(*scan([Item("sum", ("sum", "+", "digit"), 1, 0)], "+"))
    sum → sum + • digit (from 0)
    """
    return [item.moved for item in column if item.wanted == read]


def complete(chart: Chart, done: Item) -> list[Item]:
    """The items that waited for the finished rule in the column where it began, with their dots moved."""
    return [item.moved for item in chart[done.origin] if item.wanted == done.rule]
