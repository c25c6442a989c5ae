"""A stack is a value: a cell holds the call that is open, and points to the cells below. Nothing is ever copied.

    root ::= "(" root ")" | "x"         after "((" the text stands at node 1; below lies one call of root, made at
                                        node 1: cell -> bottom. After "((x)" the state is that of "(x": the same object.

What is possible at a node, whatever lies below it, is its closure: all calls are followed until a byte is read. Node 1
calls root, so there "(" leads to 1 and "x" to 2, both in a root that was opened here, and this root returns to node 3.
A tail call, with nothing after it in its rule, is not pushed, so a list that ends in itself stays flat: in
`root ::= "a" root | "b"` the text "aaaa" stands on the bottom alone. After a tail call of another rule the node belongs
to that rule, and the cell still to the rule that called.

Several stacks may be possible at once, and they share their cells (Tomita's graph-structured stack, 1985). All calls of
one rule from one node are one cell with several cells below it, so a rule may call itself first (GLL, Scott and
Johnstone, 2010).

Next: `machines/pushdown/step.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import count
from threading import RLock

from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import ANY_COUNT, Counts
from guidedviz.machines.visible import name_nodes

# A position in a closure: a node, and the rule of the innermost call opened on the way to it; None: no call was opened.
# On a stack it becomes a configuration: a node, and the cell of its innermost call.
Position = tuple[int, int | None]
Positions = tuple[Position, ...]


@dataclass(frozen=True)
class Closure:
    """What is possible at a node, whatever lies below it."""

    kinds: bytes  # of every byte
    of_kind: dict[int, Positions]  # kind of byte -> where it leads
    returns: dict[int, Positions]  # rule called here -> where its calls return
    depth: dict[int | None, int]  # for display: rule called here -> how many calls this opens, along the first path

    @cached_property
    def reads(self) -> dict[int, Positions]:
        """Where each byte leads."""
        return {byte: self.of_kind[kind] for byte, kind in enumerate(self.kinds) if kind in self.of_kind}


def close_node(nodes: RuleNodes, kinds: bytes, node: int) -> Closure:
    """Follow all calls from a node; a rule that is called several times is followed once.

    >>> nodes = gv.grammar('root ::= "(" root ")" | "x"').nodes
    >>> found = close_node(nodes, nodes.kinds, 1)
    >>> found.reads, found.returns
    ({40: ((1, 0),), 120: ((2, 0),)}, {0: ((3, None),)})
    """
    of_kind: dict[int, Positions] = {}
    returns: dict[int, dict[Position, None]] = defaultdict(dict)
    depth: dict[int | None, int] = {None: 0}
    found: dict[Position, None] = {(node, None): None}
    waiting = list(found)
    for at, opened in waiting:  # it grows
        for low, high, target in nodes.edges[at]:
            position = target, opened
            for kind in kinds_between(kinds, low, high):
                others = of_kind.get(kind, ())
                if position not in others:
                    of_kind[kind] = (*others, position)
        for rule, after in nodes.calls[at]:
            entered = opened
            if not _is_tail_call(nodes, rule, after):
                entered = rule
                depth.setdefault(rule, 1 + depth[opened])
                returns[rule][after, opened] = None
            behind: list[Position] = [(nodes.starts[rule], entered)]
            if rule in nodes.skipped:  # the called rule may be empty
                behind.insert(0, (after, opened))
            waiting += [one for one in behind if one not in found]
            found |= dict.fromkeys(behind)
    return Closure(
        kinds,
        of_kind,
        dict(zip(returns, map(tuple, returns.values()), strict=True)),
        depth,
    )


@lru_cache(maxsize=1024)
def kinds_between(kinds: bytes, low: int, high: int) -> tuple[int, ...]:
    """The kinds of these bytes, each once."""
    return tuple(dict.fromkeys(kinds[low : high + 1]))


def _is_tail_call(nodes: RuleNodes, rule: int, after: int) -> bool:
    """Whether nothing comes after a call: then the rule that calls need not be kept on the stack."""
    return after in nodes.byteless and nodes.counts[rule] is None


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Cell:
    """An open call of a rule made at a node, and the cells that may lie below it; compared by identity."""

    number: int  # of the call; cells that differ only in their counts share it
    node: int  # where the call was made
    rule: int  # that was called
    below: Cells
    depth: int  # of the first stack with this top
    sure: bool = False  # one of its stacks stands on a bottom that is sure (`unknown_bottom.py`)
    guessed: bool = False  # one of its stacks stands on a bottom that is guessed
    counts: Counts = ANY_COUNT  # how many parts of the rule were read before this one


Configuration = tuple[int, Cell]  # a node, and the open call that it is in
Cells = tuple[Cell, ...]
Configurations = tuple[Configuration, ...]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class State:
    """The configurations that can go on: nodes, each with the tops of its stacks; compared by identity."""

    number: int
    tops: tuple[tuple[int, Cells], ...]  # of the configurations that can read a byte
    accepting: bool  # one configuration has ended with an empty stack
    sure: bool  # one of the stacks stands on a sure bottom
    guessed: bool  # one of the stacks that read the last byte stands on a guessed bottom
    bottom: Cell  # of its machine, to recognise the states of another one
    moves: dict[int, State | None] = field(default_factory=dict)  # kind of byte -> next state; the steps taken so far
    # next state by the positions a byte leads to, which bytes of several kinds may share
    reached: dict[object, State | None] = field(default_factory=dict)

    def __repr__(self) -> str:
        return name_nodes([node for node, _ in self.tops])

    @property
    def configurations(self) -> Configurations:
        """Each node with the top of each of its stacks; that of the first stack first."""
        return tuple((node, cell) for node, cells in self.tops for cell in cells)


class Stacks:
    """The cells met so far: one per call and what lies below it. `forget` empties the table; held cells stay valid."""

    def __init__(self, nodes: RuleNodes, kinds: bytes, first_counts: Sequence[Counts]) -> None:
        self.nodes = nodes
        self.kinds = kinds
        self.first_counts = first_counts  # of each rule, when it is called
        self.lock = RLock()  # a page asks for masks and pictures at once
        self.bottoms: dict[Cell, Configurations] = {}  # where a text goes on after the rule of an unknown bottom
        self.work = 0  # done so far; a move from stack to stack counts 1, and other steps what they cost beside it
        self._numbers = count()
        self.forget()

    def forget(self) -> None:
        """Start with empty tables."""
        self.kept = 0  # entries of the tables
        self.closures: dict[int, Closure] = {}
        self._cells: dict[tuple[int, int, Cells, Counts], Cell] = {}

    def add_bottom(self, rule: int = 0, sure: bool = False, guessed: bool = False) -> Cell:
        """A new cell of a rule with nothing below it."""
        number = next(self._numbers)
        # in place of a node a negative number, another one for each bottom, so that `recount` tells them apart
        bottom = Cell(number, -1 - number, rule, (), 1, sure, guessed)
        self.bottoms[bottom] = ()
        return bottom

    def closure(self, node: int) -> Closure:
        """The closure of a node, computed once."""
        found = self.closures.get(node)
        if found is None:
            with self.lock:
                found = close_node(self.nodes, self.kinds, node)
                self.closures[node] = found
                size = len(found.of_kind) + sum(map(len, found.returns.values()))
                self.kept += size
                self.work += 5 * size
        return found

    def cell(self, node: int, rule: int, below: Cells) -> Cell:
        """The one cell of a call."""
        counts = self.first_counts[rule]
        key = node, rule, below, counts
        with self.lock:
            found = self._cells.get(key)
            if found is None:
                found = Cell(
                    next(self._numbers),
                    node,
                    rule,
                    below,
                    depth=below[0].depth + self.closure(node).depth[rule],
                    sure=any(cell.sure for cell in below),
                    guessed=any(cell.guessed for cell in below),
                    counts=counts,
                )
                self._keep(key, found)
            return found

    def recount(self, cell: Cell, counts: Counts) -> Cell:
        """The same call with other counts."""
        if counts == cell.counts:
            return cell
        key = cell.node, cell.rule, cell.below, counts
        with self.lock:
            found = self._cells.get(key)
            if found is None:
                found = replace(cell, counts=counts)
                if cell in self.bottoms:
                    self.bottoms[found] = self.bottoms[cell]
                self._keep(key, found)
            return found

    def _keep(self, key: tuple[int, int, Cells, Counts], cell: Cell) -> None:
        self._cells[key] = cell
        self.kept += 1

    def below(self, cell: Cell) -> Iterator[Configuration]:
        """The configurations in which a text may go on when this call has ended; none at the machine's bottom."""
        after_bottom = self.bottoms.get(cell)
        if after_bottom is not None:
            yield from after_bottom
            return
        for after, rule in self.closure(cell.node).returns[cell.rule]:
            self.work += len(cell.below)
            if rule is None:  # the caller was open before
                for under in cell.below:
                    yield after, under
            else:  # the caller was opened at the same node
                yield after, self.cell(cell.node, rule, cell.below)

    def list_below(self, cell: Cell) -> Configurations:
        """The same for a picture, which another thread may draw."""
        with self.lock:
            return tuple(self.below(cell))
