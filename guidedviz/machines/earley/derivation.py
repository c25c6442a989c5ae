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
        lines = []
        for depth, part in walk_tree(self):
            indent = "".ljust(2 * depth)
            lines.append(indent + _branch_title(part))
        return "\n".join(lines)

    def read(self, data: bytes, place: int) -> None:
        """Add one byte of the rule itself; adjacent bytes become one leaf."""
        start = place
        last = self.children[-1] if self.children else None
        if isinstance(last, ParseLeaf):
            start = last.start
            self.children.pop()
        end = place + 1
        self.children.append(ParseLeaf(data[start:end], start, end))


def _branch_title(part: ParseTree | ParseLeaf) -> str:
    if isinstance(part, ParseLeaf):
        return str(part)
    title = part.name
    if part.open:
        title += "…"
    if part.ambiguous:
        title += "?"
    return title


def walk_tree(branch: ParseTree) -> Iterator[tuple[int, ParseTree | ParseLeaf]]:
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
    last = columns[-1]
    if last.number < len(data):
        raise _not_possible(machine, last, data)
    start = Dotted(machine.whole, 1, columns[0])
    return _build(columns, data, [start] if last.accepting else _open_rows(last, start))


def _not_possible(machine: Earley, last: EarleyState, data: bytes) -> PatternError:
    """The error for a text whose byte after the last column is not allowed."""
    place = last.number
    seen = visible(data[place : place + 1])
    if place:
        seen += " after " + visible(data[max(0, place - 20) : place])
    expected = visible_bytes(next_bytes(machine, last)) if last.readers else "the end of the text"
    return PatternError(f"derivation, byte {place}", seen=seen, expected=expected)


def _open_rows(last: EarleyState, start: Dotted) -> list[Dotted]:
    """The first unfinished row at the last byte, and around each row the first row that waited for it."""
    begun = (item for item in last.items if item.origin is not last and item.after is not None)
    first = (item for item in last.items if item.row.phrase is start.row.phrases[0])  # of an empty text
    rows = [next(chain(begun, first))]
    while rows[-1].row is not start.row:
        inner = rows[-1]
        around = inner.origin.waiting[inner.row.phrase]
        rows.append(around[0])
    return rows[::-1]


Task = tuple[ParseTree, Dotted | Phrase | int, int]  # a branch, its next part, and the column where that ends


def _build(columns: list[EarleyState], data: bytes, outer: list[Dotted]) -> ParseTree:
    """The tree of these rows, each open inside the one before; a stack replaces recursion, so depth is not limited."""
    inside = dict(pairwise(outer))
    whole = ParseTree("", 0, len(data))
    waiting: list[Task] = [(whole, outer[0], len(data))]
    while waiting:
        branch, part, end = waiting.pop()
        if isinstance(part, int):
            branch.read(data, part)
        elif isinstance(part, Phrase):
            branch = _branch(branch, part, end, end)
            branch.ambiguous |= part.empty_twice
        else:
            is_open = part.after is not None
            branch = _branch(branch, part.row.phrase, part.origin.number, len(data) if is_open else end, is_open)
            if part in inside:
                waiting.append((branch, inside[part], len(data)))
                end = inside[part].origin.number
            waiting.extend(_parts_before_dot(columns, branch, part, end))
    return next(part for part in whole.children if isinstance(part, ParseTree))


def _parts_before_dot(columns: list[EarleyState], branch: ParseTree, item: Dotted, end: int) -> Iterator[Task]:
    """The parts of a row that were read up to a column, from right to left."""
    for dot in range(item.dot, 0, -1):
        column = columns[end]
        here = item._replace(dot=dot)
        branch.ambiguous |= here in column.doubts
        cause = column.items[here]
        if cause is None:
            yield branch, end - 1, end
            end -= 1
        else:
            yield branch, cause, end
            if isinstance(cause, Dotted):
                end = cause.origin.number


def _branch(branch: ParseTree, phrase: Phrase, start: int, end: int, is_open: bool = False) -> ParseTree:
    """A new branch for a rule; a part of a rule adds its parts to the branch of the rule."""
    if phrase.part is not None:
        return branch
    inner = ParseTree(phrase.rule, start, end, is_open)
    branch.children.append(inner)
    return inner
