"""The parse tree of a text or a prefix, built from the Earley machine's chart.

Every row in the chart stores the finished row that first moved its dot. That row is older, so the tree is built from
right to left without a search, and a rule that derives itself causes no cycle. The tree of a prefix has open branches:
the unfinished rules, each inside the first row that waited for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise

from guidedviz.errors import PatternError, expect
from guidedviz.machines.earley.earley import Dotted, Earley, EarleyState
from guidedviz.machines.earley.productions import Phrase
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


@dataclass(eq=False, repr=False)
class ParseTree:
    """A rule and its parts; compared by identity, because the tree may be deep."""

    name: str
    start: int
    end: int
    open: bool = False  # not finished yet
    ambiguous: bool = False  # its text has more than one derivation
    children: list["ParseTree | ParseLeaf"] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(f"{'  ' * depth}{_title(part)}" for depth, part in walk(self))

    def read(self, data: bytes, place: int) -> None:
        """Add one byte of the rule itself; adjacent bytes become one leaf."""
        last = self.children[-1] if self.children else None
        start = last.start if isinstance(last, ParseLeaf) else place
        if isinstance(last, ParseLeaf):
            self.children.pop()
        self.children.append(ParseLeaf(data[start : place + 1], start, place + 1))


def _title(part: ParseTree | ParseLeaf) -> str:
    return str(part) if isinstance(part, ParseLeaf) else part.name + "…" * part.open + "?" * part.ambiguous


def walk(branch: ParseTree) -> Iterator[tuple[int, ParseTree | ParseLeaf]]:
    """Every branch and leaf with its depth, a branch before its parts."""
    todo: list[tuple[int, ParseTree | ParseLeaf]] = [(0, branch)]
    while todo:
        depth, part = todo.pop()
        yield depth, part
        if isinstance(part, ParseTree):
            todo.extend((depth + 1, child) for child in reversed(part.children))


def derivation(machine: Earley, data: bytes) -> ParseTree:
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
    expect(machine, Earley, "derivation", "an Earley machine", "gv.earley(text)")
    columns = machine.chart(data)
    last, place = columns[-1], len(columns) - 1
    if place < len(data):
        read, byte = visible(data[max(0, place - 20) : place]), visible(data[place : place + 1])
        expected = visible_bytes(next_bytes(machine, last)) if last.readers else "the end of the text"
        seen = f"{byte} after {read}" if read else byte
        raise PatternError(f"derivation, byte {place}", seen=seen, expected=expected)
    start = Dotted(machine.phrases[0].rows[0], 1, columns[0])
    return _build(columns, data, [start] if last.accepting else _open_rows(last, start))


def _open_rows(last: EarleyState, start: Dotted) -> list[Dotted]:
    """The first unfinished row at the last byte, and around each row the first row that waited for it."""
    begun = (item for item in last.items if item.origin is not last and item.after is not None)
    first = (item for item in last.items if item.row.phrase is start.row.phrases[0])  # of an empty text
    rows = [next(chain(begun, first))]
    while rows[-1].row is not start.row:
        rows.append(rows[-1].origin.waiting[rows[-1].row.phrase][0])
    return rows[::-1]


def _build(columns: list[EarleyState], data: bytes, outer: list[Dotted]) -> ParseTree:
    """The tree of these rows, each open inside the one before; a stack replaces recursion, so depth is not limited."""
    inside = dict(pairwise(outer))
    whole = ParseTree("", 0, len(data))
    todo: list[tuple[ParseTree, Dotted | Phrase | int, int]] = []  # a branch, its next part, where that ends

    def put_open(branch: ParseTree, item: Dotted) -> None:
        todo.append((branch, item, inside[item].origin.number if item in inside else len(data)))

    put_open(whole, outer[0])
    while todo:
        branch, part, place = todo.pop()
        if isinstance(part, int):
            branch.read(data, part)
        elif isinstance(part, Phrase):
            branch = _branch(branch, part, place, place)
            branch.ambiguous |= part.empty_twice
        else:
            is_open = part.after is not None
            branch = _branch(branch, part.row.phrase, part.origin.number, len(data) if is_open else place, is_open)
            if part in inside:
                put_open(branch, inside[part])
            for dot in range(part.dot, 0, -1):
                item, column = part._replace(dot=dot), columns[place]
                branch.ambiguous |= item in column.doubts
                cause = column.items[item]
                place = place - 1 if cause is None else cause.origin.number if isinstance(cause, Dotted) else place
                todo.append((branch, place if cause is None else cause, column.number))
    return next(part for part in whole.children if isinstance(part, ParseTree))


def _branch(branch: ParseTree, phrase: Phrase, start: int, end: int, is_open: bool = False) -> ParseTree:
    """A new branch for a rule; a part of a rule adds its parts to the branch of the rule."""
    if phrase.part is None:
        branch.children.append(branch := ParseTree(phrase.rule, start, end, is_open))
    return branch
