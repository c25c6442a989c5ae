"""The parse tree of a text or a prefix, built from the Earley machine's chart.

Every row in the chart stores the finished row that first moved its dot. That row is older, so the tree is built from
right to left without a search, and a rule that derives itself causes no cycle. The tree of a prefix has open branches:
the unfinished rules, each inside the first row that waited for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines.earley.earley import SKIPPED, Dotted, Earley, EarleyState
from guidedviz.machines.earley.productions import START, Productions
from guidedviz.machines.machine import next_bytes
from guidedviz.machines.visible import visible, visible_bytes


@dataclass(frozen=True)
class ParseLeaf:
    """Bytes that a rule matches itself, without a call."""

    data: bytes
    start: int
    end: int

    def __str__(self) -> str:
        return f'"{visible(self.data)}"'


@dataclass(frozen=True, eq=False, repr=False)
class ParseTree:
    """A rule and its parts; compared by identity, because the tree may be deep."""

    name: str
    start: int
    end: int
    children: tuple[ParseTree | ParseLeaf, ...]
    open: bool  # not finished yet
    ambiguous: bool  # its text has more than one derivation

    def __repr__(self) -> str:
        marks = ", open" * self.open + ", ambiguous" * self.ambiguous
        return f"ParseTree({self.name}, {self.start}-{self.end}{marks})"

    def __str__(self) -> str:
        lines = ((depth, part.title if isinstance(part, ParseTree) else part) for depth, part in walk(self))
        return "\n".join(f"{'  ' * depth}{line}" for depth, line in lines)

    @property
    def title(self) -> str:
        """The name, with signs where it is open or ambiguous."""
        return self.name + "…" * self.open + "?" * self.ambiguous


def walk(branch: ParseTree) -> Iterator[tuple[int, ParseTree | ParseLeaf]]:
    """Every branch and leaf with its depth, a branch before its parts."""
    todo: list[tuple[int, ParseTree | ParseLeaf]] = [(0, branch)]
    while todo:
        depth, part = todo.pop()
        yield depth, part
        if isinstance(part, ParseTree):
            todo.extend((depth + 1, child) for child in reversed(part.children))


def derivation(machine: Any, data: bytes) -> ParseTree:
    """The parse tree of a text or a prefix; if it is ambiguous, the first tree found.

    >>> print(derivation(gv.earley('root ::= "[" (item ("," item)*)? "]"\\nitem ::= [0-9]+ | root'), b"[12,[3"))
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
    if not isinstance(machine, Earley):
        seen = type(machine).__name__
        raise PatternError("derivation", seen=seen, expected="an Earley machine", hint="gv.earley(text)")
    columns = machine.columns(data)
    if len(columns) <= len(data):
        raise _unread(machine, columns[-1], data)
    return _TreeBuilder(machine.productions, columns, data).tree()


def _unread(machine: Earley, last: EarleyState, data: bytes) -> PatternError:
    place = last.number
    read, byte = visible(data[max(0, place - 20) : place]), visible(data[place : place + 1])
    expected = visible_bytes(next_bytes(machine, last)) if last.readers else "the end of the text"
    return PatternError(f"derivation, byte {place}", seen=f"{byte} after {read}" if read else byte, expected=expected)


class _Phrase(NamedTuple):
    """One phrase of the tree: its row, and the position of the dot."""

    phrase: int
    row: Dotted | None  # None: the phrase is empty
    dot: int
    opened: int | None = None  # its index in the open rows


@dataclass
class _Node:
    """A branch under construction."""

    name: str
    start: int
    end: int
    open: bool
    ambiguous: bool = False
    parts: list[ParseTree | range] = field(default_factory=list)

    def read(self, place: int) -> None:
        """Add one byte of the rule itself; adjacent bytes become one leaf."""
        last = self.parts[-1] if self.parts else None
        if isinstance(last, range):
            self.parts[-1] = range(last.start, place + 1)
        else:
            self.parts.append(range(place, place + 1))

    def branch(self, data: bytes) -> ParseTree:
        children = (
            ParseLeaf(data[part.start : part.stop], part.start, part.stop) if isinstance(part, range) else part
            for part in self.parts
        )
        return ParseTree(self.name, self.start, self.end, tuple(children), self.open, self.ambiguous)


class _TreeBuilder:
    """Builds the tree from the columns; an explicit stack replaces recursion, so depth is not limited."""

    def __init__(self, productions: Productions, columns: list[EarleyState], data: bytes) -> None:
        self.productions, self.columns, self.data = productions, columns, data
        self.open_rows = [] if columns[-1].accepting else self.find_open_rows()

    def find_open_rows(self) -> list[Dotted]:
        """The first unfinished row at the last byte, and around each row the first row that waited for it."""
        last, phrase_at = self.columns[-1], self.productions.phrase_at
        begun = (row for row in last.items if row[1] is not last and self.productions.after[row[0]] is not None)
        rows = [next(begun, (self.productions.starts[START + 1][0], last))]
        while phrase_at[rows[-1][0]] != START:
            spot, origin = rows[-1]
            rows.append(origin.waiting[phrase_at[spot]][0])
        return rows[::-1]

    def tree(self) -> ParseTree:
        nodes = [_Node("", 0, 0, False)]
        finished = _Phrase(START, (START + 1, self.columns[0]), len(self.data))
        todo: list[_Phrase | int | None] = [self.open(0) if self.open_rows else finished]
        while todo:
            match todo.pop():
                case None:  # the branch has all its parts
                    branch = nodes.pop().branch(self.data)
                    nodes[-1].parts.append(branch)
                case int(place):
                    nodes[-1].read(place)
                case _Phrase() as reading:
                    if self.productions.phrases[reading.phrase].written:
                        nodes.append(self.node(reading))
                        todo.append(None)
                    parts, ambiguous = self.parts(reading)
                    nodes[-1].ambiguous |= ambiguous
                    todo.extend(parts)
        return next(part for part in nodes[0].parts if isinstance(part, ParseTree))

    def open(self, number: int) -> _Phrase:
        """An open row; its dot is where the next inner row begins."""
        spot, origin = self.open_rows[number]
        inside = self.open_rows[number + 1 : number + 2]
        dot = inside[0][1].number if inside else len(self.data)
        return _Phrase(self.productions.phrase_at[spot], (spot, origin), dot, number)

    def node(self, reading: _Phrase) -> _Node:
        is_open = reading.opened is not None
        start = reading.row[1].number if reading.row else reading.dot
        name = self.productions.phrases[reading.phrase].rule
        return _Node(name, start, len(self.data) if is_open else reading.dot, is_open)

    def parts(self, reading: _Phrase) -> tuple[list[_Phrase | int], bool]:
        """The parts of a row, the last one first, and whether the row is ambiguous."""
        if reading.row is None:
            return [], reading.phrase in self.productions.empty_twice
        inside = len(self.open_rows) if reading.opened is None else reading.opened + 1
        parts: list[_Phrase | int] = [self.open(inside)] if inside < len(self.open_rows) else []
        (end, origin), place, ambiguous = reading.row, reading.dot, False
        for spot in range(end, self.productions.row_at[end], -1):
            row, symbol = (spot, origin), self.productions.after[spot - 1]
            ambiguous |= row in self.columns[place].doubts
            by = self.columns[place].items[row]
            if isinstance(symbol, int) and by is not None:
                parts.append(_Phrase(symbol, None if by[0] == SKIPPED else by, place))
                place = by[1].number
            else:
                place -= 1
                parts.append(place)
        return parts, ambiguous
