"""The parse tree of what was read so far, out of the Earley machine's chart.

Every row in the chart knows what moved its dot first, and that was there before it: so the tree is read off from right
to left without a search, and a rule that stands for itself cannot lead in circles. A beginning has open branches: the
rules that are not finished, each inside the first row that waited for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.columns import SKIPPED, Dotted, State
from guidedviz.machines.earley import Earley, check_earley
from guidedviz.machines.machine import next_bytes
from guidedviz.machines.productions import START, Productions
from guidedviz.machines.visible import visible, visible_bytes


@dataclass(frozen=True)
class Leaf:
    """Bytes that stand in a rule itself."""

    data: bytes
    start: int
    end: int

    def __str__(self) -> str:
        return f'"{visible(self.data)}"'


@dataclass(frozen=True, eq=False, repr=False)
class Branch:
    """A rule and what it was read as; compared by identity, for it may be deep."""

    name: str
    start: int
    end: int
    children: tuple[Branch | Leaf, ...]
    open: bool  # not finished yet
    ambiguous: bool  # what was read of it could be read in a second way

    def __repr__(self) -> str:
        marks = ", open" * self.open + ", ambiguous" * self.ambiguous
        return f"Branch({self.name}, {self.start}-{self.end}{marks})"

    def __str__(self) -> str:
        signs = (("…" * part.open + "?" * part.ambiguous) if isinstance(part, Branch) else "" for _, part in walk(self))
        names = ((depth, part.name if isinstance(part, Branch) else part) for depth, part in walk(self))
        return "\n".join(f"{'  ' * depth}{name}{sign}" for (depth, name), sign in zip(names, signs, strict=True))


def walk(branch: Branch) -> Iterator[tuple[int, Branch | Leaf]]:
    """Every branch and leaf and how deep it stands, a branch before its parts."""
    todo: list[tuple[int, Branch | Leaf]] = [(0, branch)]
    while todo:
        depth, part = todo.pop()
        yield depth, part
        if isinstance(part, Branch):
            todo.extend((depth + 1, child) for child in reversed(part.children))


def derivation(machine: Any, data: bytes) -> Branch:
    """The tree of a text or of a beginning; of several the one that was found first.

    >>> from guidedviz.machines.earley import earley
    >>> print(derivation(earley('root ::= "[" (item ("," item)*)? "]"\\nitem ::= [0-9]+ | root'), b"[12,[3"))
    root…
      "["
      item
        "12"
      ","
      item…
        root…
          "["
          item…
            "3"
    """
    check_earley(machine, "derivation")
    columns = machine.columns(data)
    if len(columns) <= len(data):
        raise _unread(machine, columns[-1], data)
    return _Reader(machine.productions, columns, data).tree()


def _unread(machine: Earley, last: State, data: bytes) -> PatternError:
    place = last.number
    read, byte = visible(data[max(0, place - 20) : place]), visible(data[place : place + 1])
    expected = visible_bytes(next_bytes(machine, last)) if last.readers else "the end of the text"
    return PatternError(f"derivation, byte {place}", seen=f"{byte} after {read}" if read else byte, expected=expected)


class _Reading(NamedTuple):
    """What a phrase was read as: by this row, its dot at this position."""

    phrase: int
    row: Dotted | None  # None: as nothing
    dot: int
    opened: int | None = None  # its number among the open rows


@dataclass
class _Node:
    """A branch while its parts come in."""

    name: str
    start: int
    end: int
    open: bool
    ambiguous: bool = False
    parts: list[Branch | range] = field(default_factory=list)

    def read(self, place: int) -> None:
        """One byte of the rule itself; bytes that follow each other are one leaf."""
        last = self.parts[-1] if self.parts else None
        if isinstance(last, range):
            self.parts[-1] = range(last.start, place + 1)
        else:
            self.parts.append(range(place, place + 1))

    def branch(self, data: bytes) -> Branch:
        children = (
            Leaf(data[part.start : part.stop], part.start, part.stop) if isinstance(part, range) else part
            for part in self.parts
        )
        return Branch(self.name, self.start, self.end, tuple(children), self.open, self.ambiguous)


class _Reader:
    """Reads the tree off the columns; what is still to do waits in a list, so that depth is no matter."""

    def __init__(self, productions: Productions, columns: list[State], data: bytes) -> None:
        self.productions, self.columns, self.data = productions, columns, data
        self.open_rows = [] if columns[-1].accepting else self.find_open_rows()

    def find_open_rows(self) -> list[Dotted]:
        """The first row that goes on after the last byte, and around it always the first row that waited for it."""
        last, phrase_at = self.columns[-1], self.productions.phrase_at
        begun = (row for row in last.items if row[1] is not last and self.productions.after[row[0]] is not None)
        rows = [next(begun, (self.productions.starts[START + 1][0], last))]
        while phrase_at[rows[-1][0]] != START:
            spot, origin = rows[-1]
            rows.append(origin.waiting[phrase_at[spot]][0])
        return rows[::-1]

    def tree(self) -> Branch:
        nodes = [_Node("", 0, 0, False)]
        finished = _Reading(START, (START + 1, self.columns[0]), len(self.data))
        todo: list[_Reading | int | None] = [self.open(0) if self.open_rows else finished]
        while todo:
            match todo.pop():
                case None:  # all parts of the branch are in
                    branch = nodes.pop().branch(self.data)
                    nodes[-1].parts.append(branch)
                case int(place):
                    nodes[-1].read(place)
                case _Reading() as reading:
                    if self.productions.phrases[reading.phrase].written:
                        nodes.append(self.node(reading))
                        todo.append(None)
                    parts, ambiguous = self.parts(reading)
                    nodes[-1].ambiguous |= ambiguous
                    todo.extend(parts)
        return next(part for part in nodes[0].parts if isinstance(part, Branch))

    def open(self, number: int) -> _Reading:
        """An open row; its dot stands where the next one inside it begins."""
        spot, origin = self.open_rows[number]
        inside = self.open_rows[number + 1 : number + 2]
        dot = inside[0][1].number if inside else len(self.data)
        return _Reading(self.productions.phrase_at[spot], (spot, origin), dot, number)

    def node(self, reading: _Reading) -> _Node:
        is_open = reading.opened is not None
        start = reading.row[1].number if reading.row else reading.dot
        name = self.productions.phrases[reading.phrase].rule
        return _Node(name, start, len(self.data) if is_open else reading.dot, is_open)

    def parts(self, reading: _Reading) -> tuple[list[_Reading | int], bool]:
        """What a row was read as, its last part first, and whether it could be read in a second way."""
        if reading.row is None:
            return [], reading.phrase in self.productions.empty_twice
        inside = len(self.open_rows) if reading.opened is None else reading.opened + 1
        parts: list[_Reading | int] = [self.open(inside)] if inside < len(self.open_rows) else []
        (end, origin), place, ambiguous = reading.row, reading.dot, False
        for spot in range(end, self.productions.row_at[end], -1):
            row, symbol = (spot, origin), self.productions.after[spot - 1]
            ambiguous |= row in self.columns[place].doubts
            by = self.columns[place].items[row]
            if isinstance(symbol, int) and by is not None:
                parts.append(_Reading(symbol, None if by[0] == SKIPPED else by, place))
                place = by[1].number
            else:
                place -= 1
                parts.append(place)
        return parts, ambiguous
